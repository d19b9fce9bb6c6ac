//! `COPY … TO` and `INSERT INTO`: rows as new files.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, io, mem};

use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::record_batch::{RecordBatch, RecordBatchReader};
use async_trait::async_trait;
use datafusion_common::{DataFusionError, Result};
use datafusion_common_runtime::SpawnedTask;
use datafusion_datasource::display::FileGroupDisplay;
use datafusion_datasource::file_sink_config::{FileSink, FileSinkConfig};
use datafusion_datasource::sink::DataSink;
use datafusion_datasource::write::demux::DemuxedStreamReceiver;
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_plan::{DisplayAs, DisplayFormatType};
use object_store::ObjectStore;
use object_store::buffered::BufWriter;
use pilaster::any::Format;
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Handle;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinError;

use crate::write;

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

/// The error of a task that was stopped with the runtime.
fn ended(e: JoinError) -> DataFusionError {
    DataFusionError::ExecutionJoin(Box::new(e))
}

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
        let mut tasks = Vec::new();
        while let Some((path, rows)) = files.recv().await {
            let (format, schema) = (self.format, Arc::clone(self.config.output_schema()));
            let writer = BufWriter::new(Arc::clone(&store), path.clone());
            tasks.push(SpawnedTask::spawn(async move {
                let named = |e| DataFusionError::Context(path.to_string(), Box::new(e));
                put(format, schema, rows, writer).await.map_err(named)
            }));
        }
        // If the rows are not complete, the error of their source is returned.
        let mut done = demux.join_unwind().await.map_err(ended)?;
        let (mut writers, mut count) = (Vec::new(), 0u64);
        for task in tasks {
            match task.join_unwind().await.map_err(ended)? {
                Ok((writer, rows)) => {
                    writers.push(writer);
                    count = count.saturating_add(rows);
                }
                Err(e) => done = done.and(Err(e)),
            }
        }
        // A file that looks complete would hide that rows are missing.
        for writer in &mut writers {
            match &done {
                Ok(()) => writer.shutdown().await?,
                Err(_) => writer.abort().await?,
            }
        }
        done.map(|()| count)
    }
}

/// Writes the rows of one file, except the last bytes, which [`BufWriter::shutdown`] writes. Returns their number.
async fn put(
    format: Format,
    schema: SchemaRef,
    mut rows: Receiver<RecordBatch>,
    writer: BufWriter,
) -> Result<(BufWriter, u64)> {
    let first = rows.recv().await;
    // Columns that are parts of the path are not in the batches.
    let schema = first.as_ref().map_or(schema, RecordBatch::schema);
    let count = Arc::new(AtomicU64::new(0));
    let arriving = Arriving { schema, first, rows, count: Arc::clone(&count) };
    let upload = Upload { writer, handle: Handle::current(), waiting: Vec::new() };
    let done = SpawnedTask::spawn_blocking(move || write::write(format, arriving, upload)).join_unwind().await;
    Ok((done.map_err(ended)??.writer, count.load(Ordering::Relaxed)))
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
