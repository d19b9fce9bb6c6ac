//! Scans through bytes.

use std::sync::Arc;

use datafusion::physical_plan::{collect, displayable};
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use pilaster_datafusion::Codec;

use crate::made::{FORMATS, batch, put};
use crate::session::{count, session, table};

#[tokio::test]
async fn a_plan_that_travelled_reads_the_same_and_prunes() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let dir = dir.path().join(extension);
        for day in 0..3 {
            put(&dir, &format!("day={day}/log.{extension}"), &write(&batch(day * 50_000, 50_000)));
        }
        let context = session(3);
        table(&context, "log", format, &dir.join(""), "'trust_statistics' 'true'").await.unwrap();
        let sql = "SELECT day, sum(k) AS s FROM log WHERE t BETWEEN 60000 AND 61000 AND day < '2' GROUP BY day";
        let plan = context.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
        let bytes = physical_plan_to_bytes_with_extension_codec(Arc::clone(&plan), &Codec::default()).unwrap();
        let other = session(1);
        let travelled =
            physical_plan_from_bytes_with_extension_codec(&bytes, &other.task_ctx(), &Codec::default()).unwrap();
        let shown = displayable(travelled.as_ref()).indent(false).to_string();
        assert!(shown.contains("predicate=") && shown.contains("trust_statistics"), "{shown}");
        let (here, there) = (
            collect(Arc::clone(&plan), context.task_ctx()).await.unwrap(),
            collect(Arc::clone(&travelled), other.task_ctx()).await.unwrap(),
        );
        assert_eq!(format!("{here:?}"), format!("{there:?}"));
        assert_eq!(count(&plan, "rows_pruned"), count(&travelled, "rows_pruned"));
        if format == "VORTEX" {
            assert!(count(&travelled, "rows_pruned") > 30_000);
        }
    }
}

#[tokio::test]
async fn plans_of_others_are_refused() {
    let context = session(1);
    let plan = context.sql("SELECT 1 + 1").await.unwrap().create_physical_plan().await.unwrap();
    use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};
    let error = Codec::default().try_encode(plan, &mut Vec::new(), &DefaultPhysicalProtoConverter {}).unwrap_err();
    assert!(error.to_string().contains("is no scan of pilaster"), "{error}");
    let bytes = [0xff; 7];
    let failed = Codec::default().try_decode(&bytes, &[], &context.task_ctx(), &DefaultPhysicalProtoConverter {});
    assert!(failed.unwrap_err().to_string().contains("cannot be decoded"));
}
