//! Files in a store of objects.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use url::Url;

use crate::counting::{Counting, Fault};
use crate::made::{FORMATS, batch, dataseries, jay};
use crate::session::{count, counted, session, table, text};

async fn open(
    store: &Arc<Counting>,
    format: &str,
    name: &str,
    options: &str,
) -> datafusion::error::Result<datafusion::prelude::SessionContext> {
    let context = session(1);
    context.register_object_store(&Url::parse("mem://files").unwrap(), Arc::clone(store) as _);
    table(&context, "log", format, std::path::Path::new(&format!("mem://files/{name}")), options).await?;
    Ok(context)
}

#[tokio::test]
async fn opening_takes_two_requests() {
    for (format, extension, write) in FORMATS {
        let name = format!("log.{extension}");
        let bytes = write(&batch(0, 1 << 20));
        let len = bytes.len();
        let store = Counting::with(bytes, &name, Fault::None).await;
        let context = open(&store, format, &name, "").await.unwrap();
        let (requests, read) = store.taken();
        // The columns of a DataSeries file are found in its first extent.
        assert!(requests <= 2, "{format}: {requests} requests");
        assert!(read <= 512 << 10, "{format}: {read} of {len} bytes");
        // The metadata are not fetched again, and a read is not much larger than what is wanted.
        let (rows, plan) = counted(&context, "SELECT sum(t) FROM log").await.unwrap();
        assert!(format!("{rows:?}").contains("549755289600"), "{rows:?}");
        let (requests, read) = store.taken();
        assert_eq!((count(&plan, "requests"), count(&plan, "bytes_read")), (requests, read), "{format}");
        assert!(format == "DATASERIES" || read * 2 < len, "{format}: {read} of {len} bytes");
        // One column, of which a chunk or what is read at once is a request; of DataSeries, 1,049 extents.
        let most = match format {
            "VORTEX" => 17,
            // Of 128 KiB each.
            "JAY" => 64,
            _ => 1049,
        };
        assert!(requests <= most, "{format}: {requests} requests of {read} bytes");
    }
}

/// Metadata of many columns are fetched with the end of the file, for the plan; what is larger takes a third request.
#[tokio::test]
async fn opening_a_wide_file() {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..2000));
    for (columns, most) in [(2000, 2), (8000, 3)] {
        let names: Vec<_> = (0..columns).map(|k| format!("a_column_with_a_long_name_{k}")).collect();
        let wide = RecordBatch::try_from_iter(names.iter().map(|name| (name, Arc::clone(&column)))).unwrap();
        for (format, extension, write) in &FORMATS[..2] {
            let name = format!("log.{extension}");
            let store = Counting::with(write(&wide), &name, Fault::None).await;
            open(&store, format, &name, "").await.unwrap();
            let (requests, read) = store.taken();
            assert!(requests <= most, "{format}, {columns} columns: {requests} requests of {read} bytes");
        }
    }
}

/// The metadata of many files stay: opening them again takes no request.
#[tokio::test]
async fn metadata_of_many_files_are_fetched_once() {
    const FILES: usize = 600;
    for (format, extension, write, rows) in
        [("DATASERIES", "ds", dataseries as fn(&_) -> _, 6000), ("JAY", "jay", jay, 1 << 13)]
    {
        let bytes = Bytes::from(write(&batch(0, rows)));
        let store = Counting::empty(Fault::None);
        for k in 0..FILES {
            store.store.put(&Path::from(format!("logs/{k}.{extension}")), bytes.clone().into()).await.unwrap();
        }
        let context = open(&store, format, "logs/", "").await.unwrap();
        let (opened, _) = store.taken();
        assert!(opened <= FILES * 2, "{format}: {opened} requests");
        let answer = text(&context, "SELECT count(k) FROM log WHERE t < 0").await.unwrap();
        assert!(answer.contains("| 0 "), "{answer}");
        let (requests, _) = store.taken();
        // Two columns, which are no neighbours, or 6 extents; and one more, where opening the file again would take two.
        assert!(bytes.len() > 200 << 10, "{format}: {} bytes", bytes.len());
        let most = if format == "DATASERIES" { 6 + 1 } else { 2 + 1 };
        assert!(requests <= FILES * most, "{format}: {requests} requests");
    }
}

/// The types of columns come from the metadata, and each extent is fetched once.
#[tokio::test]
async fn an_extent_is_fetched_once() {
    let bytes = crate::made::dataseries(&batch(0, 200_000));
    let len = bytes.len();
    let store = Counting::with(bytes, "log.ds", Fault::None).await;
    let context = open(&store, "DATASERIES", "log.ds", "").await.unwrap();
    let opened = store.taken().1;
    assert!(opened <= 128 << 10, "{opened} bytes");
    text(&context, "SELECT sum(t) FROM log").await.unwrap();
    let read = store.taken().1;
    assert!(read <= len + len / 8, "{read} of {len} bytes");
}

/// Ranges that were fetched end within extents.
#[tokio::test]
async fn large_extents_are_fetched_once() {
    let dir = tempfile::tempdir().unwrap();
    let context = crate::session::session(1);
    let path = crate::made::put(dir.path(), "log.vortex", &crate::made::vortex(&batch(0, 1 << 20)));
    crate::session::table(&context, "log", "VORTEX", &path, "").await.unwrap();
    let copy = dir.path().join("log.ds");
    text(&context, &format!("COPY log TO '{}' STORED AS DATASERIES", copy.display())).await.unwrap();
    let bytes = std::fs::read(copy).unwrap();
    let len = bytes.len();
    assert!(len > 8 << 20, "{len} bytes");
    let store = Counting::with(bytes, "log.ds", Fault::None).await;
    let context = open(&store, "DATASERIES", "log.ds", "").await.unwrap();
    store.taken();
    text(&context, "SELECT sum(t), max(host) FROM log").await.unwrap();
    let (requests, read) = store.taken();
    assert!(read <= len + len / 32, "{read} of {len} bytes in {requests} requests");
}

#[tokio::test]
async fn rows_of_dataseries_are_counted_by_headers() {
    let store = Counting::with(crate::made::dataseries(&batch(0, 1 << 20)), "log.ds", Fault::None).await;
    let context = open(&store, "DATASERIES", "log.ds", "").await.unwrap();
    store.taken();
    let answer = text(&context, "SELECT count(*) FROM log").await.unwrap();
    assert!(answer.contains("| 1048576 "), "{answer}");
    let (requests, read) = store.taken();
    // A header has 28 bytes, and an extent 1,000 rows.
    assert!(requests <= 1049 && read <= 1049 * 28, "{read} bytes in {requests} requests");
}

#[tokio::test]
async fn a_range_of_one_percent_reads_two_percent() {
    let bytes = crate::made::vortex(&batch(0, 8 << 20));
    let len = bytes.len();
    let store = Counting::with(bytes, "log.vortex", Fault::None).await;
    let context = open(&store, "VORTEX", "log.vortex", "'trust_statistics' 'true'").await.unwrap();
    store.taken();
    let sql = "SELECT count(t), sum(k), sum(x) FROM log WHERE t BETWEEN 4000000 AND 4080000";
    let (rows, _) = counted(&context, sql).await.unwrap();
    assert!(format!("{rows:?}").contains("80001"), "{rows:?}");
    let (requests, read) = store.taken();
    assert!(read * 50 <= len, "{read} of {len} bytes in {requests} requests");
}

#[tokio::test]
async fn requests_that_fail_and_answers_that_are_cut() {
    for (format, extension, write) in FORMATS {
        let name = format!("log.{extension}");
        let bytes = write(&batch(0, 1 << 18));
        for number in 0..6 {
            for fault in [Fault::Fails(number), Fault::Short(number)] {
                let store = Counting::with(bytes.clone(), &name, fault).await;
                let error = match open(&store, format, &name, "'skip_damaged' 'true'").await {
                    Ok(context) => text(&context, "SELECT sum(t), sum(k), count(host) FROM log").await,
                    Err(e) => Err(e),
                };
                let requests = store.taken().0;
                let Err(error) = error else {
                    assert!(requests <= number, "{format}: no error with {fault:?}, in {requests} requests");
                    continue;
                };
                let error = error.to_string();
                let cause = if matches!(fault, Fault::Fails(_)) { "the server is down" } else { "the store returned" };
                assert!(
                    error.contains(&name) && error.contains(cause) && error.contains("at offset"),
                    "{format}: {error}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_file_that_changes_between_plan_and_scan_is_an_error() {
    let store = Counting::with(crate::made::jay(&batch(0, 1 << 16)), "log.jay", Fault::None).await;
    let context = open(&store, "JAY", "log.jay", "").await.unwrap();
    let plan = context.sql("SELECT sum(t) FROM log").await.unwrap().create_physical_plan().await.unwrap();
    let other = crate::made::jay(&batch(0, 1 << 15));
    store.store.put(&Path::from("log.jay"), other.into()).await.unwrap();
    let error = datafusion::physical_plan::collect(plan, context.task_ctx()).await.unwrap_err().to_string();
    assert!(error.contains("log.jay"), "{error}");
}
