//! Files in a store that counts requests, fails some, and cuts some short.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use url::Url;

use crate::made::{FORMATS, batch};
use crate::session::{count, counted, session, table, text};

/// A fault of a store.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Requests from this one on fail.
    Fails(usize),
    /// Answers from this one on have a byte less.
    Short(usize),
}

#[derive(Debug)]
struct Counting {
    store: InMemory,
    fault: Fault,
    requests: AtomicUsize,
    bytes: AtomicUsize,
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counting")
    }
}

impl Counting {
    async fn with(bytes: Vec<u8>, name: &str, fault: Fault) -> Arc<Self> {
        let store = InMemory::new();
        store.put(&Path::from(name), bytes.into()).await.unwrap();
        Arc::new(Counting { store, fault, requests: AtomicUsize::new(0), bytes: AtomicUsize::new(0) })
    }

    fn taken(&self) -> (usize, usize) {
        (self.requests.swap(0, Ordering::Relaxed), self.bytes.swap(0, Ordering::Relaxed))
    }
}

#[async_trait]
impl ObjectStore for Counting {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.store.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(&self, path: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        if options.head {
            return self.store.get_opts(path, options).await;
        }
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        if let Fault::Fails(from) = self.fault
            && number >= from
        {
            return Err(object_store::Error::Generic { store: "Counting", source: "the server is down".into() });
        }
        let found = self.store.get_opts(path, options).await?;
        let (meta, range, attributes) = (found.meta.clone(), found.range.clone(), found.attributes.clone());
        let mut bytes = found.bytes().await?;
        if let Fault::Short(from) = self.fault
            && number >= from
        {
            bytes.truncate(bytes.len().saturating_sub(1));
        }
        self.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        let payload = GetResultPayload::Stream(futures::stream::once(async { Ok(bytes) }).boxed());
        Ok(GetResult { payload, meta, range, attributes })
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.store.get_ranges(path, ranges).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

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
