//! Record batches as files.

use std::io::Write;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use datafusion_common::{DataFusionError, Result, not_impl_err, plan_err, resources_err};
use pilaster::any::Format;
use pilaster::bytes::IoSink;
use pilaster::dataseries::Mode;
use pilaster::dataseries::write::Smallest;
use pilaster::{jay, vortex};
use pilaster_arrow::{Batches, Cause, Kept, SeriesOptions, convert, write_series};

use crate::schema::duplicate;

/// Number of rows of an extent.
const EXTENT_ROWS: u64 = 1 << 14;

/// The name of the type of rows in a DataSeries file.
const TYPE: &str = "rows";

/// Maximum number of extents of a DataSeries file that is written.
const EXTENTS: usize = 1 << 22;

/// Maximum number of bytes of rows that wait in memory until a Jay file is written, as its columns follow each other.
const JAY_BYTES: usize = 4 << 30;

/// Returns a file with the rows of batches: Vortex, Jay or DataSeries. All batches have `schema`.
///
/// # Errors
/// The errors of [`write`](write()).
pub fn encode(format: Format, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Vec<u8>> {
    write(format, RecordBatchIterator::new(batches.into_iter().map(Ok), schema), Vec::new())
}

/// Writes the rows of a reader as a file, and returns where it was written to, with all bytes passed on. Vortex and
/// DataSeries files are written while rows arrive; the rows of a Jay file are in memory until all have arrived.
///
/// ```
/// use pilaster::any::Format;
/// use pilaster_datafusion::write;
/// # use arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
/// # use std::sync::Arc;
///
/// let batch = RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(vec![1, 2])) as _)])?;
/// let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
/// let bytes = write(Format::Vortex, rows, Vec::new())?;
/// assert_eq!(&bytes[..4], b"VTXF");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Two columns of one name; a column that the format cannot store, with its name; [`DataFusionError::NotImplemented`] for other formats; errors of
/// `out`; [`DataFusionError::ResourcesExhausted`] for a Jay file of rows of more than 4 GiB.
pub fn write<R: RecordBatchReader, W: Write>(format: Format, rows: R, out: W) -> Result<W> {
    if let Some(name) = duplicate(&rows.schema()) {
        return plan_err!("two columns are called {name:?}; AS gives one of them another name");
    }
    let done = match format {
        Format::Vortex => vortex_file(rows, out),
        Format::DataSeries if rows.schema().fields().is_empty() => {
            return plan_err!("the rows have no columns, and {format} cannot store such rows");
        }
        Format::DataSeries => dataseries_file(rows, out),
        Format::Jay => jay_file(kept(rows, JAY_BYTES)?, out),
        _ => return not_impl_err!("files of {format} are not written here; pilaster convert writes them"),
    };
    let mut out = done.map_err(|e| DataFusionError::External(Box::new(e)))?;
    out.flush()?;
    Ok(out)
}

type Done<W> = Result<W, pilaster_arrow::Error>;

fn vortex_file<R: RecordBatchReader, W: Write>(rows: R, out: W) -> Done<W> {
    let mut table = Batches::new(rows)?;
    let mut builder =
        vortex::write::Builder::new(IoSink(out), &vortex::write::WriteOptions::DEFAULT).map_err(failed)?;
    convert(&mut table, &mut builder)?;
    builder.finish().map(|IoSink(out)| out).map_err(failed)
}

/// Returns rows in memory, of at most `most` bytes.
fn kept<R: RecordBatchReader>(rows: R, most: usize) -> Result<Kept> {
    let (schema, mut batches, mut size) = (rows.schema(), Vec::new(), 0usize);
    for batch in rows {
        let batch = batch?;
        for column in batch.columns() {
            size = size.saturating_add(column.to_data().get_slice_memory_size()?);
        }
        if size > most {
            return resources_err!(
                "the rows of a Jay file are in memory until it is complete, and these take more than {most} bytes; \
                 write Vortex, or several files"
            );
        }
        batches.push(batch);
    }
    Ok(Kept::new(schema, batches))
}

fn jay_file<W: Write>(rows: Kept, out: W) -> Done<W> {
    let mut table = Batches::from_source(rows)?;
    let mut builder = jay::write::Builder::new(IoSink(out), &jay::write::WriteOptions::DEFAULT).map_err(failed)?;
    convert(&mut table, &mut builder)?;
    builder.finish().map(|IoSink(out)| out).map_err(failed)
}

fn dataseries_file<R: RecordBatchReader, W: Write>(rows: R, out: W) -> Done<W> {
    // Batches have few rows.
    let options = SeriesOptions {
        name: TYPE.to_owned(),
        compress: Smallest::of(&[Mode::Lz4], 9)?,
        rows: EXTENT_ROWS,
        extents: EXTENTS,
        join: true,
    };
    write_series(&mut Batches::new(rows)?, &options, IoSink(out)).map(|IoSink(out)| out)
}

/// Returns the error of a writer that concerns no column.
fn failed(e: impl Cause) -> pilaster_arrow::Error {
    pilaster_arrow::Error::Target { column: String::new(), ty: String::new(), remedy: "", error: e.boxed() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};

    use super::*;

    #[test]
    fn rows_in_memory_are_bounded() {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100));
        let batch = RecordBatch::try_from_iter([("n", column)]).expect("a batch");
        let rows = || RecordBatchIterator::new([Ok(batch.clone()), Ok(batch.slice(0, 10))], batch.schema());
        assert!(kept(rows(), 880).is_ok());
        let error = kept(rows(), 879).map(|_| ()).expect_err("880 bytes").to_string();
        assert!(error.contains("more than 879 bytes; write Vortex"), "{error}");
    }
}
