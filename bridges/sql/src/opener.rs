//! Opens a file, or a byte range of it, as a stream of batches.

use std::mem;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion_common::{Result, exec_err};
use datafusion_datasource::PartitionedFile;
use datafusion_datasource::file_stream::{FileOpenFuture, FileOpener};
use datafusion_physical_expr::PhysicalExpr;
use futures::StreamExt;
use futures::stream;
use object_store::ObjectStore;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::counts::Counts;
use crate::dataset;
use crate::error::{Failure, Reason};
use crate::open;
use crate::options::Options;
use crate::order::Order;
use crate::scan::{self, Scan};
use crate::store::{Heads, Remote, shown};

/// Number of messages that wait for the consumer.
const WAITING: usize = 1;

/// Maximum number of batches in a message. Each message can wake two threads, which takes as long as decoding a few thousand rows.
const TOGETHER: usize = 4;

/// Opens the files of one partition of a scan.
pub(crate) struct Opener {
    pub store: Arc<dyn ObjectStore>,
    pub options: Options,
    /// The columns of files of the table.
    pub file_schema: SchemaRef,
    /// The columns that are read, of these.
    pub columns: SchemaRef,
    pub predicate: Option<Arc<dyn PhysicalExpr>>,
    pub limit: Option<usize>,
    pub batch_rows: usize,
    pub heads: Arc<Heads>,
    pub order: Option<Order>,
    /// The directory of a dataset, which is read instead of the file.
    pub directory: Option<PathBuf>,
    pub counts: Counts,
}

impl FileOpener for Opener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let range = range(&file)?;
        let scan = Scan {
            options: self.options.clone(),
            file_schema: Arc::clone(&self.file_schema),
            columns: Arc::clone(&self.columns),
            predicate: self.predicate.clone(),
            limit: self.limit,
            batch_rows: self.batch_rows,
            range,
            heads: Arc::clone(&self.heads),
            order: self.order.clone(),
            directory: self.directory.clone(),
        };
        let (store, meta, counts) = (Arc::clone(&self.store), file.object_meta, self.counts.clone());
        Ok(Box::pin(async move {
            let path = shown(&store, &meta);
            let remote = Remote::new(store, meta, Handle::current(), counts);
            let (put, batches) = mpsc::channel(WAITING);
            open::start(move || work(&scan, &remote, &put))?;
            Ok(stream::unfold(Some((batches, path)), next).flatten().boxed())
        }))
    }
}

/// What a thread passes on. Without an end, the rows are not complete.
enum Message {
    Batches(Vec<RecordBatch>),
    End(Result<(), Failure>),
}

/// Returns the byte range of a file.
fn range(file: &PartitionedFile) -> Result<Option<Range<u64>>> {
    let Some(range) = &file.range else { return Ok(None) };
    match (u64::try_from(range.start), u64::try_from(range.end)) {
        (Ok(start), Ok(end)) if start <= end && end <= file.object_meta.size => Ok(Some(start..end)),
        _ => exec_err!(
            "{}: the byte range {}..{} is not within the {} bytes of the file",
            file.object_meta.location,
            range.start,
            range.end,
            file.object_meta.size
        ),
    }
}

fn work(scan: &Scan, remote: &Arc<Remote>, put: &mpsc::Sender<Message>) {
    let (mut waiting, mut most) = (Vec::new(), 1);
    let put_batch = &mut |batch| {
        waiting.push(batch);
        if waiting.len() < most {
            return !put.is_closed();
        }
        // The first rows are passed on at once.
        most = most.saturating_mul(2).min(TOGETHER);
        put.blocking_send(Message::Batches(mem::take(&mut waiting))).is_ok()
    };
    let done = match &scan.directory {
        Some(directory) => dataset::run(scan, directory, remote.len(), put_batch),
        None => scan::run(scan, remote, put_batch),
    };
    let done = match done {
        Err(e) if scan.options.skip_damaged && e.is_damage() => {
            log::warn!("damaged file left out: {e}");
            remote.counts().files_skipped.add(1);
            Ok(())
        }
        done => done,
    };
    // The consumer may need no more rows.
    let _ = put.blocking_send(Message::Batches(waiting));
    let _ = put.blocking_send(Message::End(done));
}

type Waiting = Option<(mpsc::Receiver<Message>, String)>;

type Found = stream::Iter<std::vec::IntoIter<Result<RecordBatch>>>;

async fn next(waiting: Waiting) -> Option<(Found, Waiting)> {
    let (mut batches, path) = waiting?;
    match batches.recv().await {
        Some(Message::Batches(found)) => {
            let found: Vec<_> = found.into_iter().map(Ok).collect();
            Some((stream::iter(found), Some((batches, path))))
        }
        Some(Message::End(Ok(()))) => None,
        Some(Message::End(Err(e))) => Some((stream::iter(vec![Err(e.into())]), None)),
        None => {
            let ended = Err(Failure { path, reason: Reason::Ended }.into());
            Some((stream::iter(vec![ended]), None))
        }
    }
}
