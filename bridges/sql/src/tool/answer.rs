//! Rows of an answer, printed or written to a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::csv;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchReader};
use datafusion::arrow::util::pretty::pretty_format_batches_with_schema;
use datafusion::common::{exec_err, plan_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use futures::{StreamExt as _, TryStreamExt as _};
use pilaster::any::Format;
use pilaster_arrow::write::{Compression, Kind, Writer};
use pilaster_datafusion::write;
use tokio::sync::mpsc;

use super::args::Print;
use super::files::by_extension;

/// Maximum number of rows of a printed table, which are kept in memory.
const PRINTED: usize = 1 << 20;

/// Where rows go.
pub struct Answer<'a> {
    pub format: Print,
    pub file: Option<&'a Path>,
}

impl Answer<'_> {
    /// Writes all rows.
    pub async fn write(&self, rows: SendableRecordBatchStream, out: &mut impl Write) -> Result<()> {
        match self.file {
            Some(path) => to_file(rows, path).await,
            None => {
                print(rows, self.format, &mut *out).await?;
                Ok(out.flush()?)
            }
        }
    }
}

async fn print(mut rows: SendableRecordBatchStream, format: Print, out: &mut impl Write) -> Result<()> {
    match format {
        // The widths of columns depend on all rows.
        Print::Table => {
            let schema = rows.schema();
            let (mut batches, mut count) = (Vec::new(), 0usize);
            while let Some(batch) = rows.try_next().await? {
                count = count.saturating_add(batch.num_rows());
                if count > PRINTED {
                    return exec_err!(
                        "a table of more than {PRINTED} rows is not printed; use --format csv, or --output"
                    );
                }
                batches.push(batch);
            }
            // Statements such as CREATE have no rows and no columns.
            if !schema.fields().is_empty() {
                writeln!(out, "{}", pretty_format_batches_with_schema(schema, &batches)?)?;
            }
        }
        Print::Csv => {
            // The names are printed even if there are no rows.
            let names = RecordBatch::new_empty(rows.schema());
            let mut writer = csv::WriterBuilder::new().with_header(true).build(out);
            writer.write(&names)?;
            while let Some(batch) = rows.try_next().await? {
                writer.write(&batch)?;
            }
        }
        Print::Json => {
            let mut writer = LineDelimitedWriter::new(out);
            while let Some(batch) = rows.try_next().await? {
                writer.write(&batch)?;
            }
            writer.finish()?;
        }
    }
    Ok(())
}

async fn to_file(mut rows: SendableRecordBatchStream, path: &Path) -> Result<()> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let kind = match extension.to_ascii_lowercase().as_str() {
        "csv" => return finish(path, async |out| print(rows, Print::Csv, out).await).await,
        "json" | "jsonl" | "ndjson" => return finish(path, async |out| print(rows, Print::Json, out).await).await,
        "parquet" => Kind::Parquet,
        "arrow" | "feather" => Kind::IpcFile,
        "arrows" => Kind::IpcStream,
        "vortex" | "jay" | "ds" => {
            let format = by_extension(extension).unwrap_or(Format::Vortex);
            return finish(path, async |out| stored(rows, format, out).await).await;
        }
        _ => {
            return plan_err!(
                "{}: the extension is none of vortex, jay, ds, parquet, arrow, arrows, csv, json",
                path.display()
            );
        }
    };
    finish(path, async |out| {
        let compression = if kind == Kind::Parquet { Compression::Snappy } else { Compression::None };
        let mut writer = Writer::new(out, &rows.schema(), kind, compression).map_err(external)?;
        while let Some(batch) = rows.try_next().await? {
            writer.put(&batch).map_err(external)?;
        }
        writer.finish().map_err(external).map(|_| ())
    })
    .await
}

/// Writes a file beside its place, and moves it there when it is complete.
async fn finish(path: &Path, write: impl AsyncFnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let part = path.with_added_extension("part");
    let named = |e: std::io::Error| DataFusionError::Execution(format!("{}: {e}", path.display()));
    let mut out = BufWriter::new(File::create(&part).map_err(named)?);
    let done = match write(&mut out).await {
        Ok(()) => out.flush().and_then(|()| std::fs::rename(&part, path)).map_err(named),
        failed => failed,
    };
    if done.is_err() {
        // The error of writing is returned.
        let _ = std::fs::remove_file(&part);
    }
    done
}

/// Number of batches that wait for the writer.
const WAITING: usize = 4;

/// Writes a file of a format of this library, on a thread that may block.
async fn stored(mut rows: SendableRecordBatchStream, format: Format, out: &mut BufWriter<File>) -> Result<()> {
    let (put, waiting) = mpsc::channel::<Result<RecordBatch, ArrowError>>(WAITING);
    let arriving = Arriving { schema: rows.schema(), waiting };
    let mut target = BufWriter::new(out.get_ref().try_clone()?);
    let writing = tokio::task::spawn_blocking(move || write(format, arriving, &mut target).map(|_| ()));
    let mut failed = None;
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(|e| {
            failed = Some(e);
            ArrowError::ExternalError("the rows are not complete".into())
        });
        let ended = batch.is_err();
        if put.send(batch).await.is_err() || ended {
            break;
        }
    }
    drop(put);
    let written = writing.await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))?;
    failed.map_or(written, Err)
}

/// Batches that arrive while the file is written.
struct Arriving {
    schema: SchemaRef,
    waiting: mpsc::Receiver<Result<RecordBatch, ArrowError>>,
}

impl Iterator for Arriving {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.waiting.blocking_recv()
    }
}

impl RecordBatchReader for Arriving {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn external(e: pilaster_arrow::Error) -> DataFusionError {
    DataFusionError::External(Box::new(e))
}
