//! Rows of an answer, printed or written to a file.

use std::fmt::Display;
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
use datafusion::common::{exec_datafusion_err, plan_err};
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

/// A file for rows, in the format that its extension names.
pub struct Target<'a> {
    path: &'a Path,
    form: Form,
    /// Whether a file that exists is replaced.
    force: bool,
}

/// A format of files.
#[derive(Clone, Copy)]
enum Form {
    Text(Print),
    Arrow(Kind),
    Stored(Format),
}

/// Why an answer is not complete.
enum Failed {
    /// The rows cannot be computed.
    Rows(DataFusionError),
    /// They cannot be written.
    Output(DataFusionError),
}

fn output(e: impl Into<DataFusionError>) -> Failed {
    Failed::Output(e.into())
}

/// Prints all rows.
pub async fn printed(rows: SendableRecordBatchStream, format: Print, out: &mut impl Write) -> Result<()> {
    match print(rows, format, &mut *out).await {
        Ok(()) => Ok(out.flush()?),
        Err(Failed::Rows(e) | Failed::Output(e)) => Err(e),
    }
}

async fn next(rows: &mut SendableRecordBatchStream) -> Result<Option<RecordBatch>, Failed> {
    rows.try_next().await.map_err(Failed::Rows)
}

async fn print(mut rows: SendableRecordBatchStream, format: Print, out: &mut impl Write) -> Result<(), Failed> {
    match format {
        // The widths of columns depend on all rows.
        Print::Table => {
            let schema = rows.schema();
            let (mut batches, mut count) = (Vec::new(), 0usize);
            while let Some(batch) = next(&mut rows).await? {
                count = count.saturating_add(batch.num_rows());
                if count > PRINTED {
                    let most = format!("a table of more than {PRINTED} rows is not printed");
                    return Err(Failed::Rows(exec_datafusion_err!("{most}; use --format csv, or --output")));
                }
                batches.push(batch);
            }
            // Statements such as CREATE have no rows and no columns.
            if !schema.fields().is_empty() {
                let table = pretty_format_batches_with_schema(schema, &batches).map_err(output)?;
                writeln!(out, "{table}").map_err(output)?;
            }
        }
        Print::Csv => {
            // The names are printed even if there are no rows.
            let names = RecordBatch::new_empty(rows.schema());
            let mut writer = csv::WriterBuilder::new().with_header(true).build(out);
            writer.write(&names).map_err(output)?;
            while let Some(batch) = next(&mut rows).await? {
                writer.write(&batch).map_err(output)?;
            }
        }
        Print::Json => {
            let mut writer = LineDelimitedWriter::new(out);
            while let Some(batch) = next(&mut rows).await? {
                writer.write(&batch).map_err(output)?;
            }
            writer.finish().map_err(output)?;
        }
    }
    Ok(())
}

impl<'a> Target<'a> {
    /// Checks that rows can be written to a file of this name, before any are computed.
    pub fn new(path: &'a Path, force: bool) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let form = match extension.to_ascii_lowercase().as_str() {
            "csv" => Form::Text(Print::Csv),
            "json" | "jsonl" | "ndjson" => Form::Text(Print::Json),
            "parquet" => Form::Arrow(Kind::Parquet),
            "arrow" | "feather" => Form::Arrow(Kind::IpcFile),
            "arrows" => Form::Arrow(Kind::IpcStream),
            "vortex" | "jay" | "ds" => Form::Stored(by_extension(extension).unwrap_or(Format::Vortex)),
            _ => {
                return plan_err!(
                    "{}: the extension is none of vortex, jay, ds, parquet, arrow, arrows, csv, json",
                    path.display()
                );
            }
        };
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => plan_err!("{} is a directory", path.display()),
            Ok(_) if !force => plan_err!("{} exists; --force replaces it", path.display()),
            _ => Ok(Target { path, form, force }),
        }
    }

    /// Writes all rows to a file beside its place, and moves it there when it is complete.
    pub async fn write(&self, rows: SendableRecordBatchStream) -> Result<()> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".pilaster-").suffix(".partial");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let dir = self.path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let (file, part) = builder.tempfile_in(dir).map_err(|e| self.named(e))?.into_parts();
        let mut out = BufWriter::new(file);
        let done = match self.form {
            Form::Text(format) => print(rows, format, &mut out).await,
            Form::Arrow(kind) => arrow(rows, kind, &mut out).await,
            Form::Stored(format) => stored(rows, format, &mut out).await,
        };
        match done.and_then(|()| out.flush().map_err(output)) {
            Ok(()) => {}
            Err(Failed::Rows(e)) => return Err(e),
            Err(Failed::Output(e)) => return Err(self.named(e)),
        }
        drop(out);
        let moved = if self.force { part.persist(self.path) } else { part.persist_noclobber(self.path) };
        moved.map_err(|e| self.named(e.error))
    }

    /// Returns an error of writing, without the temporary name.
    fn named(&self, e: impl Display) -> DataFusionError {
        let text = e.to_string();
        let why = text.split(" at path \"").next().unwrap_or(&text);
        exec_datafusion_err!("{}: cannot be written: {why}", self.path.display())
    }
}

async fn arrow(mut rows: SendableRecordBatchStream, kind: Kind, out: &mut BufWriter<File>) -> Result<(), Failed> {
    let compression = if kind == Kind::Parquet { Compression::Snappy } else { Compression::None };
    let mut writer = Writer::new(out, &rows.schema(), kind, compression).map_err(external)?;
    while let Some(batch) = next(&mut rows).await? {
        writer.put(&batch).map_err(external)?;
    }
    writer.finish().map_err(external).map(|_| ())
}

/// Number of batches that wait for the writer.
const WAITING: usize = 4;

/// Writes a file of a format of this library, on a thread that may block.
async fn stored(mut rows: SendableRecordBatchStream, format: Format, out: &mut BufWriter<File>) -> Result<(), Failed> {
    let (put, waiting) = mpsc::channel::<Result<RecordBatch, ArrowError>>(WAITING);
    let arriving = Arriving { schema: rows.schema(), waiting };
    let mut target = BufWriter::new(out.get_ref().try_clone().map_err(output)?);
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
    let written = writing.await.map_err(|e| Failed::Output(DataFusionError::ExecutionJoin(Box::new(e))))?;
    failed.map_or(written.map_err(Failed::Output), |e| Err(Failed::Rows(e)))
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

fn external(e: pilaster_arrow::Error) -> Failed {
    Failed::Output(DataFusionError::External(Box::new(e)))
}
