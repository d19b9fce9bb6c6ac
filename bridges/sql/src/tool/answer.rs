//! Rows of an answer, printed or written to a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use datafusion::arrow::csv;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches_with_schema;
use datafusion::common::plan_err;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use futures::TryStreamExt as _;
use pilaster::any::Format;
use pilaster_arrow::write::{Compression, Kind, Writer};

use super::args::Print;
use super::files::by_extension;

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
            let batches: Vec<_> = rows.try_collect().await?;
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
            let schema = rows.schema();
            let format = by_extension(extension).unwrap_or(Format::Vortex);
            return stored(path, format, schema, rows.try_collect().await?);
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

fn stored(path: &Path, format: Format, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<()> {
    let bytes = pilaster_datafusion::encode(format, schema, batches)?;
    let part = path.with_added_extension("part");
    let written = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|e| DataFusionError::Execution(format!("{}: {e}", path.display())))
}

fn external(e: pilaster_arrow::Error) -> DataFusionError {
    DataFusionError::External(Box::new(e))
}
