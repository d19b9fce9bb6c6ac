//! Scans through bytes.

use std::sync::Arc;

use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::SessionContext;
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use object_store::ObjectStoreExt as _;
use object_store::path::Path;
use pilaster_datafusion::Codec;
use url::Url;

use crate::counting::{Counting, Fault};
use crate::made::{FORMATS, batch, jay, put, trust, vortex};
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
        table(&context, "log", format, &dir.join(""), trust(format)).await.unwrap();
        let sql = "SELECT day, sum(k) AS s FROM log WHERE t BETWEEN 60000 AND 61000 AND day < '2' GROUP BY day";
        let plan = context.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
        let other = session(1);
        let travelled = travelled(&plan, &other);
        let shown = displayable(travelled.as_ref()).indent(false).to_string();
        assert!(shown.contains("predicate="), "{shown}");
        assert_eq!(shown.contains("trust_statistics"), format != "DATASERIES", "{shown}");
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

/// A file that is replaced by one of the same size, before a plan is executed that was made for the first one.
#[tokio::test]
async fn a_replaced_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let store = Counting::empty(Fault::None);
    let (first, second) = (jay(&batch(0, 1 << 16)), jay(&batch(17 * 100 * 64, 1 << 16)));
    assert_eq!(first.len(), second.len());
    for remote in [false, true] {
        let context = session(1);
        context.register_object_store(&Url::parse("mem://files").unwrap(), Arc::clone(&store) as _);
        let place = Path::from("log.jay");
        store.store.put(&place, first.clone().into()).await.unwrap();
        let path = put(dir.path(), "log.jay", &first);
        let location = if remote { "mem://files/log.jay".into() } else { path.clone() };
        table(&context, "log", "JAY", &location, "").await.unwrap();
        let plan = context.sql("SELECT sum(t) FROM log").await.unwrap().create_physical_plan().await.unwrap();
        let travelled = travelled(&plan, &context);
        // Times of change have the resolution of the clock of the system.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        std::fs::write(&path, &second).unwrap();
        store.store.put(&place, second.clone().into()).await.unwrap();
        for plan in [plan, travelled] {
            let error = collect(plan, context.task_ctx()).await.unwrap_err().to_string();
            assert!(error.contains("log.jay: ") && error.contains("cannot be fetched"), "remote: {remote}: {error}");
        }
    }
}

fn travelled(plan: &Arc<dyn ExecutionPlan>, context: &SessionContext) -> Arc<dyn ExecutionPlan> {
    let bytes = physical_plan_to_bytes_with_extension_codec(Arc::clone(plan), &Codec::default()).unwrap();
    physical_plan_from_bytes_with_extension_codec(&bytes, &context.task_ctx(), &Codec::default()).unwrap()
}

/// The value of a subquery is known to the plan only. As a join, the plan travels.
#[tokio::test]
async fn conditions_with_subqueries() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 100_000)));
    let context = session(1);
    table(&context, "log", "VORTEX", &path, "").await.unwrap();
    let sql = "SELECT count(*) AS n FROM log WHERE t > (SELECT max(t) - 5 FROM log)";
    let plan = context.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let error = physical_plan_to_bytes_with_extension_codec(Arc::clone(&plan), &Codec::default()).unwrap_err();
    let setting = "datafusion.optimizer.enable_physical_uncorrelated_scalar_subquery = false";
    assert!(error.to_string().contains(setting), "{error}");
    context.sql(&format!("SET {setting}")).await.unwrap();
    let joined = context.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    for plan in [plan, travelled(&joined, &session(1))] {
        let found = collect(plan, context.task_ctx()).await.unwrap();
        assert!(found.iter().any(|batch| format!("{batch:?}").contains("\n  5,\n")), "{found:?}");
    }
}

/// A worker does not guess what a plan of another version means.
#[tokio::test]
async fn plans_of_other_versions_are_refused() {
    use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};

    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 10)));
    let context = session(1);
    table(&context, "log", "VORTEX", &path, "").await.unwrap();
    let plan = context.sql("SELECT t FROM log").await.unwrap().create_physical_plan().await.unwrap();
    let (codec, converter, mut bytes) = (Codec::default(), DefaultPhysicalProtoConverter {}, Vec::new());
    codec.try_encode(plan, &mut bytes, &converter).unwrap();
    codec.try_decode(&bytes, &[], &context.task_ctx(), &converter).unwrap();
    // The last field, whose text ends the message.
    *bytes.last_mut().unwrap() ^= 1;
    let error = codec.try_decode(&bytes, &[], &context.task_ctx(), &converter).unwrap_err();
    assert!(error.to_string().contains("must have the same version"), "{error}");
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
