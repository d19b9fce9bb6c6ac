//! `COPY … TO` and `INSERT INTO`: rows as new files.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, io, mem};

use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::record_batch::{RecordBatch, RecordBatchReader};
use async_trait::async_trait;
use datafusion_common::{DataFusionError, Result, exec_err};
use datafusion_common_runtime::SpawnedTask;
use datafusion_datasource::display::FileGroupDisplay;
use datafusion_datasource::file_sink_config::{FileSink, FileSinkConfig};
use datafusion_datasource::sink::DataSink;
use datafusion_datasource::write::demux::DemuxedStreamReceiver;
use datafusion_execution::object_store::ObjectStoreUrl;
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_plan::{DisplayAs, DisplayFormatType};
use object_store::buffered::BufWriter;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use pilaster::any::Format;
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Handle;
use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot;

use crate::store::shown_at;
use crate::{open, write};

/// Writes files of one format.
pub(crate) struct Sink {
    config: FileSinkConfig,
    format: Format,
}

impl Sink {
    pub const fn new(config: FileSinkConfig, format: Format) -> Self {
        Sink { config, format }
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").field("format", &self.format).finish_non_exhaustive()
    }
}

impl DisplayAs for Sink {
    fn fmt_as(&self, ty: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ty {
            DisplayFormatType::TreeRender => {
                writeln!(f, "format: {}", self.format)?;
                write!(f, "file={}", self.config.original_url)
            }
            _ => {
                write!(f, "{}Sink(file_groups=", self.format)?;
                FileGroupDisplay(&self.config.file_group).fmt_as(ty, f)?;
                f.write_str(")")
            }
        }
    }
}

/// Maximum number of files of a statement. All are open until the last row has arrived, so that all are completed or none; each
/// takes a thread while rows arrive, and up to 10 MiB of memory.
const MOST_FILES: usize = 1 << 10;

#[async_trait]
impl FileSink for Sink {
    fn config(&self) -> &FileSinkConfig {
        &self.config
    }

    async fn spawn_writer_tasks_and_join(
        &self,
        _: &Arc<TaskContext>,
        demux: SpawnedTask<Result<()>>,
        mut files: DemuxedStreamReceiver,
        store: Arc<dyn ObjectStore>,
    ) -> Result<u64> {
        let url = &self.config.object_store_url;
        let (mut writing, mut refused) = (Vec::new(), None);
        while let Some((path, rows)) = files.recv().await {
            let started = match writing.len() {
                MOST_FILES => exec_err!(
                    "more than {MOST_FILES} files in one statement; partition by columns of fewer values, or write some of the \
                     rows by each of several statements"
                ),
                _ => self.start((&path, rows), &store),
            };
            match started {
                Ok(file) => writing.push(file),
                Err(e) => {
                    refused = Some(named(url, &path, e));
                    break;
                }
            }
        }
        // If a file is refused, no more rows are wanted.
        let demux = refused.is_none().then_some(demux);
        drop(files);
        let (open, written) = joined(writing).await;
        let source = match (demux, refused) {
            (Some(demux), _) => {
                demux.join_unwind().await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e))).flatten()
            }
            (None, refused) => refused.map_or(Ok(()), Err),
        };
        // The source of rows fails, too, when a writer needs no more: the error of the writer is the reason.
        match written.and_then(|rows| source.map(|()| rows)) {
            Ok(rows) => complete(open, &store, url).await.map(|()| rows),
            Err(e) => {
                // A file that looks complete would hide that rows are missing.
                abort(open).await;
                Err(e)
            }
        }
    }
}

/// Waits for all writers. Returns the files that can be completed or given up, and the number of rows of all, or the first error.
async fn joined(writing: Vec<Writing>) -> (Vec<(Path, BufWriter)>, Result<u64>) {
    let (mut open, mut sum) = (Vec::new(), Ok(0u64));
    for Writing { path, written } in writing {
        let rows = match written.await {
            Ok(Written { writer, rows }) => {
                open.push((path, writer));
                rows
            }
            Err(_) => exec_err!("{path}: the writer ended without a result; please report this as a bug"),
        };
        sum = sum.and_then(|sum| Ok(sum.saturating_add(rows?)));
    }
    (open, sum)
}

/// Returns the error with the path of a file.
fn named(url: &ObjectStoreUrl, path: &Path, e: DataFusionError) -> DataFusionError {
    DataFusionError::Context(shown_at(url, path), Box::new(e))
}

/// Completes all files, or none.
async fn complete(files: Vec<(Path, BufWriter)>, store: &Arc<dyn ObjectStore>, url: &ObjectStoreUrl) -> Result<()> {
    let (mut files, mut done) = (files.into_iter(), Vec::new());
    while let Some((path, mut writer)) = files.next() {
        if let Err(e) = writer.shutdown().await {
            abort(files).await;
            for path in done {
                if let Err(e) = store.delete(&path).await {
                    log::warn!("{}: is left of a failed statement, and cannot be deleted: {e}", shown_at(url, &path));
                }
            }
            return Err(named(url, &path, e.into()));
        }
        done.push(path);
    }
    Ok(())
}

/// Gives up files that are not complete.
async fn abort(files: impl IntoIterator<Item = (Path, BufWriter)>) {
    for (path, mut writer) in files {
        if let Err(e) = writer.abort().await {
            log::warn!("{path}: an upload cannot be cancelled: {e}");
        }
    }
}

/// A file that a thread writes.
struct Writing {
    path: Path,
    written: oneshot::Receiver<Written>,
}

/// A file with all bytes passed on, except the last ones, which [`BufWriter::shutdown`] writes.
struct Written {
    writer: BufWriter,
    /// The number of rows.
    rows: Result<u64>,
}

impl Sink {
    /// Starts a thread for the rows of a file. The runtime has few threads that may block, and the store needs them, too.
    fn start(&self, (path, rows): (&Path, Receiver<RecordBatch>), store: &Arc<dyn ObjectStore>) -> Result<Writing> {
        let (answer, written) = oneshot::channel();
        let writer = BufWriter::new(Arc::clone(store), path.clone());
        let mut upload = Upload { writer, handle: Handle::current(), waiting: Vec::new() };
        let (at, url) = (path.clone(), self.config.object_store_url.clone());
        let (format, schema) = (self.format, Arc::clone(self.config.output_schema()));
        open::start(move || {
            let rows = put(format, schema, rows, &mut upload).map_err(|e| named(&url, &at, e));
            // Fails if the statement was cancelled.
            let _ = answer.send(Written { writer: upload.writer, rows });
        })?;
        Ok(Writing { path: path.clone(), written })
    }
}

/// Writes the rows of one file, and returns their number. Blocks.
fn put(format: Format, schema: SchemaRef, mut rows: Receiver<RecordBatch>, upload: &mut Upload) -> Result<u64> {
    let first = rows.blocking_recv();
    // Columns that are parts of the path are not in the batches.
    let schema = first.as_ref().map_or(schema, RecordBatch::schema);
    let count = Arc::new(AtomicU64::new(0));
    let arriving = Arriving { schema, first, rows, count: Arc::clone(&count) };
    write::write(format, arriving, upload)?;
    Ok(count.load(Ordering::Relaxed))
}

/// Batches that arrive while the file is written.
struct Arriving {
    schema: SchemaRef,
    first: Option<RecordBatch>,
    rows: Receiver<RecordBatch>,
    /// Number of rows so far.
    count: Arc<AtomicU64>,
}

impl Iterator for Arriving {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.first.take().or_else(|| self.rows.blocking_recv())?;
        self.count.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        Some(Ok(batch))
    }
}

impl RecordBatchReader for Arriving {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Number of bytes that are passed to a store at once.
const PIECE: usize = 1 << 20;

/// Passes the bytes of a file to a store, from a thread that may block.
pub(crate) struct Upload {
    writer: BufWriter,
    handle: Handle,
    waiting: Vec<u8>,
}

impl io::Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let waiting = mem::take(&mut self.waiting);
        Ok(self.handle.block_on(self.writer.put(waiting.into()))?)
    }
}

#[async_trait]
impl DataSink for Sink {
    fn schema(&self) -> &SchemaRef {
        self.config.output_schema()
    }

    async fn write_all(&self, data: SendableRecordBatchStream, context: &Arc<TaskContext>) -> Result<u64> {
        FileSink::write_all(self, data, context).await
    }
}
