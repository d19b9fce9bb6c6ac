//! A store that counts requests, fails some, and cuts some short.

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

/// A fault of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Requests from this one on fail.
    Fails(usize),
    /// Answers from this one on have a byte less.
    Short(usize),
    /// This upload fails.
    Put(usize),
}

#[derive(Debug)]
pub struct Counting {
    pub store: InMemory,
    fault: Fault,
    requests: AtomicUsize,
    bytes: AtomicUsize,
    puts: AtomicUsize,
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counting")
    }
}

impl Counting {
    pub async fn with(bytes: Vec<u8>, name: &str, fault: Fault) -> Arc<Self> {
        let counting = Counting::empty(fault);
        counting.store.put(&Path::from(name), bytes.into()).await.unwrap();
        counting
    }

    pub fn empty(fault: Fault) -> Arc<Self> {
        let none = || AtomicUsize::new(0);
        Arc::new(Counting { store: InMemory::new(), fault, requests: none(), bytes: none(), puts: none() })
    }

    pub fn taken(&self) -> (usize, usize) {
        (self.requests.swap(0, Ordering::Relaxed), self.bytes.swap(0, Ordering::Relaxed))
    }
}

#[async_trait]
impl ObjectStore for Counting {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        if self.fault == Fault::Put(self.puts.fetch_add(1, Ordering::Relaxed)) {
            return Err(object_store::Error::Generic { store: "Counting", source: "the server is down".into() });
        }
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
