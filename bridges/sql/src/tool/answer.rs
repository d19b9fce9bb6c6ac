//! Rows of an answer, printed or written to a file.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::common::{exec_datafusion_err, plan_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt as _, stream};
use pilaster::any::Format;
use pilaster_arrow::write::{Compression, Kind, Writer};
use pilaster_cli::Form;
use pilaster_datafusion::write;
use tokio::sync::mpsc;

use super::Output;
use super::files::by_extension;

/// A file for rows, in the format that its extension names.
pub struct Target<'a> {
    path: &'a Path,
    goal: Goal,
    /// Whether a file that exists is replaced.
    force: bool,
}

/// A format of files.
#[derive(Clone, Copy)]
enum Goal {
    Text(Form),
    Arrow(Kind),
    Stored(Format),
    /// Written by the tool from an Arrow file, as these formats have rules and options of their own.
    Converted(Format),
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

/// Prints all rows. Statements such as `CREATE` have no rows and no columns, and print nothing.
pub async fn printed(mut rows: SendableRecordBatchStream, format: Form, mut out: Output) -> Result<()> {
    let schema = rows.schema();
    if schema.fields().is_empty() {
        let first = loop {
            match rows.next().await.transpose()? {
                None => return Ok(()),
                Some(batch) if batch.num_rows() > 0 => break batch,
                Some(_) => {}
            }
        };
        rows = Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter([Ok(first)]).chain(rows)));
    }
    match passed(rows, move |rows| print(rows, format, &mut BufWriter::new(&mut out))).await {
        Ok(()) => Ok(()),
        Err(Failed::Rows(e) | Failed::Output(e)) => Err(e),
    }
}

/// Prints plans, which are texts of several lines: the kind of each, and its lines below.
pub async fn explained(mut rows: SendableRecordBatchStream, mut out: Output) -> Result<()> {
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                writeln!(out, "{}", array_value_to_string(column, row)?.trim_end())?;
            }
        }
    }
    Ok(out.flush()?)
}

fn print(rows: Arriving, format: Form, out: &mut dyn Write) -> Result<()> {
    pilaster_cli::print_rows(Printable::of(rows), format, out).map_err(|e| exec_datafusion_err!("{e}"))?;
    Ok(out.flush()?)
}

impl<'a> Target<'a> {
    /// Checks that rows can be written to a file of this name, before any are computed.
    pub fn new(path: &'a Path, force: bool) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let goal = match extension.to_ascii_lowercase().as_str() {
            "csv" => Goal::Text(Form::Csv),
            "json" | "jsonl" | "ndjson" => Goal::Text(Form::JsonLines),
            "parquet" => Goal::Arrow(Kind::Parquet),
            "arrow" | "feather" => Goal::Arrow(Kind::IpcFile),
            "arrows" => Goal::Arrow(Kind::IpcStream),
            "vortex" | "jay" | "ds" => Goal::Stored(by_extension(extension).unwrap_or(Format::Vortex)),
            "bcolz" => Goal::Converted(Format::Bcolz),
            "filo" => Goal::Converted(Format::Filo),
            _ => {
                return plan_err!(
                    "{}: the extension is none of vortex, jay, ds, bcolz, filo, parquet, arrow, arrows, csv, json",
                    path.display()
                );
            }
        };
        match std::fs::symlink_metadata(path) {
            Ok(_) if matches!(goal, Goal::Converted(Format::Bcolz)) => plan_err!(
                "{} exists; a dataset is written to a new directory: remove this one or name another",
                path.display()
            ),
            Ok(found) if found.is_dir() => plan_err!("{} is a directory", path.display()),
            Ok(_) if !force => plan_err!("{} exists; --force replaces it", path.display()),
            _ => Ok(Target { path, goal, force }),
        }
    }

    /// Writes all rows to a file beside its place, and moves it there when it is complete.
    pub async fn write(&self, rows: SendableRecordBatchStream) -> Result<()> {
        let dir = self.path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".pilaster-").suffix(".partial");
        if let Goal::Converted(_) = self.goal {
            let place = builder.tempdir_in(dir).map_err(|e| self.named(e))?;
            return self.convert(rows, &place.path().join("rows.arrow")).await;
        }
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let (file, part) = builder.tempfile_in(dir).map_err(|e| self.named(e))?.into_parts();
        let (goal, mut out) = (self.goal, BufWriter::new(file));
        let done = passed(rows, move |rows| {
            match goal {
                Goal::Text(format) => print(rows, format, &mut out)?,
                Goal::Arrow(kind) => arrow(rows, kind, &mut out).map_err(|e| DataFusionError::External(Box::new(e)))?,
                Goal::Stored(format) | Goal::Converted(format) => write(format, rows, &mut out).map(|_| ())?,
            }
            Ok(out.flush()?)
        });
        self.done(done.await)?;
        let moved = if self.force { part.persist(self.path) } else { part.persist_noclobber(self.path) };
        moved.map_err(|e| self.named(e.error))
    }

    /// Writes all rows to an Arrow file, and converts it as the tool does.
    async fn convert(&self, rows: SendableRecordBatchStream, between: &Path) -> Result<()> {
        let mut out = BufWriter::new(File::create(between).map_err(|e| self.named(e))?);
        let done = passed(rows, move |rows| {
            arrow(rows, Kind::IpcFile, &mut out).map_err(|e| DataFusionError::External(Box::new(e)))?;
            Ok(out.flush()?)
        });
        self.done(done.await)?;
        let mut call = vec![OsString::from("pilaster"), "convert".into()];
        if self.force {
            call.push("--force".into());
        }
        call.extend([between.into(), self.path.into()]);
        let converted = tokio::task::spawn_blocking(move || pilaster_cli::run_quietly(call));
        let converted = converted.await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))?;
        converted.map_err(|e| {
            let (text, between) = (e.to_string(), between.display().to_string());
            let why = text.trim_start_matches(&*between).trim_start_matches(": ");
            self.named(format!("{why}; write an Arrow file, which pilaster convert reads, for its options"))
        })
    }

    fn done(&self, done: Result<(), Failed>) -> Result<()> {
        done.map_err(|e| match e {
            Failed::Rows(e) => e,
            Failed::Output(e) => self.named(e),
        })
    }

    /// Returns an error of writing, without the temporary name.
    fn named(&self, e: impl Display) -> DataFusionError {
        let text = e.to_string();
        let why = text.split(" at path \"").next().unwrap_or(&text);
        exec_datafusion_err!("{}: cannot be written: {why}", self.path.display())
    }
}

fn arrow(rows: Arriving, kind: Kind, out: &mut BufWriter<File>) -> Result<(), pilaster_arrow::Error> {
    let compression = if kind == Kind::Parquet { Compression::Snappy } else { Compression::None };
    let mut writer = Writer::new(out, &rows.schema(), kind, compression)?;
    for batch in rows {
        writer.put(&batch?)?;
    }
    writer.finish().map(|_| ())
}

/// Number of batches that wait for the thread that takes them.
const WAITING: usize = 4;

/// Passes all rows to `take`, on a thread that may block. If this future is dropped, the rows end before the last one: what `take` makes of
/// them must not get its name.
async fn passed(
    mut rows: SendableRecordBatchStream,
    take: impl FnOnce(Arriving) -> Result<()> + Send + 'static,
) -> Result<(), Failed> {
    let (put, waiting) = mpsc::channel::<Result<RecordBatch, ArrowError>>(WAITING);
    let arriving = Arriving { schema: rows.schema(), waiting };
    let taking = tokio::task::spawn_blocking(move || take(arriving));
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
    let taken = taking.await.map_err(|e| output(DataFusionError::ExecutionJoin(Box::new(e))))?;
    failed.map_or(taken.map_err(Failed::Output), |e| Err(Failed::Rows(e)))
}

/// Batches that arrive while they are taken.
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

/// Batches whose intervals and durations, which no file has, are texts.
struct Printable {
    schema: SchemaRef,
    rows: Arriving,
}

impl Printable {
    fn of(rows: Arriving) -> Self {
        let fields = rows.schema.fields().iter().map(|field| match field.data_type() {
            DataType::Interval(_) | DataType::Duration(_) => {
                Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8))
            }
            _ => Arc::clone(field),
        });
        Printable { schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())), rows }
    }

    fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
            true => Ok(Arc::clone(column)),
            false => cast(column, field.data_type()),
        });
        // Rows without columns are rows, too.
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns.collect::<Result<_, _>>()?, &options)
    }
}

impl Iterator for Printable {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.rows.next()?;
        Some(batch.and_then(|batch| self.batch(&batch)))
    }
}

impl RecordBatchReader for Printable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
