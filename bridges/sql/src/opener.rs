//! Opens a file, or a byte range of it, as a stream of batches.

use std::mem;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion_common::{Result, exec_err};
use datafusion_datasource::PartitionedFile;
use datafusion_datasource::file_stream::{FileOpenFuture, FileOpener};
use datafusion_execution::object_store::ObjectStoreUrl;
use datafusion_physical_expr::PhysicalExpr;
use futures::StreamExt;
use futures::stream;
use object_store::ObjectStore;
use tokio::sync::mpsc;
use tokio::task::yield_now;

use crate::counts::Counts;
use crate::dataset;
use crate::error::{Failure, Reason};
use crate::heads::Heads;
use crate::open;
use crate::options::Options;
use crate::order::Order;
use crate::scan::{self, Scan};
use crate::store::{Remote, shown_at};

/// Number of messages that wait for the consumer.
const WAITING: usize = 1;

/// Maximum number of batches in a message. Each message can wake two threads, which takes as long as decoding a few thousand rows.
const TOGETHER: usize = 2;

/// Opens the files of one partition of a scan.
pub(crate) struct Opener {
    pub store: Arc<dyn ObjectStore>,
    pub url: ObjectStoreUrl,
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
        let mut range = range(&file, &self.url)?;
        if self.options.skip_damaged
            && let Some(part) = range.take()
        {
            // The rows after damage are left out, and its readers are not known to each other: the one of the first range reads all.
            if part.start > 0 {
                return Ok(Box::pin(async { Ok(stream::empty().boxed()) }));
            }
        }
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
        let path = shown_at(&self.url, &meta.location);
        Ok(Box::pin(async move {
            let remote = Remote::new(store, meta, path.clone(), counts);
            let (put, batches) = mpsc::channel(WAITING);
            open::start(move || work(&scan, &remote, &put))?;
            Ok(stream::unfold(Some(Waiting { batches, path, since: Instant::now() }), next).flatten().boxed())
        }))
    }
}

/// What a thread passes on. Without an end, the rows are not complete.
enum Message {
    Batches(Vec<RecordBatch>),
    End(Result<(), Failure>),
}

/// Returns the byte range of a file.
fn range(file: &PartitionedFile, store: &ObjectStoreUrl) -> Result<Option<Range<u64>>> {
    let Some(range) = &file.range else { return Ok(None) };
    match (u64::try_from(range.start), u64::try_from(range.end)) {
        (Ok(start), Ok(end)) if start <= end && end <= file.object_meta.size => Ok(Some(start..end)),
        _ => exec_err!(
            "{}: the byte range {}..{} is not within the {} bytes of the file",
            shown_at(store, &file.object_meta.location),
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
            scan.heads.warn(&e);
            remote.counts().skipped(&e);
            Ok(())
        }
        done => done,
    };
    // The consumer may need no more rows.
    let _ = put.blocking_send(Message::Batches(waiting));
    let _ = put.blocking_send(Message::End(done));
}

/// A consumer of batches.
struct Waiting {
    batches: mpsc::Receiver<Message>,
    path: String,
    /// When the task of the consumer let others run.
    since: Instant,
}

/// How long a consumer may take without letting others run. A query is cancelled at these points only, and may take seconds for
/// a batch.
const TURN: Duration = Duration::from_millis(100);

type Found = stream::Iter<std::vec::IntoIter<Result<RecordBatch>>>;

async fn next(waiting: Option<Waiting>) -> Option<(Found, Option<Waiting>)> {
    let mut waiting = waiting?;
    if waiting.since.elapsed() >= TURN {
        yield_now().await;
        waiting.since = Instant::now();
    }
    match waiting.batches.recv().await {
        Some(Message::Batches(found)) => {
            let found: Vec<_> = found.into_iter().map(Ok).collect();
            Some((stream::iter(found), Some(waiting)))
        }
        Some(Message::End(Ok(()))) => None,
        Some(Message::End(Err(e))) => Some((stream::iter(vec![Err(e.into())]), None)),
        None => {
            let ended = Err(Failure::new(waiting.path, Reason::Ended).into());
            Some((stream::iter(vec![ended]), None))
        }
    }
}
