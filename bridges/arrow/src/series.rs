//! Record batches as a DataSeries file, whose types must be described before its rows are written.

use arrow_schema::Schema;
use pilaster::bytes::{LittleEndian, Sink, WriteError};
use pilaster::column::{Memory, Table as _};
use pilaster::dataseries::ExtentType;
use pilaster::dataseries::write::{
    Builder, Description, Descriptions, ExtentBuffer, IndexSlot, Smallest, Writer, describe,
};
use pilaster::error::{Error as FileError, Kind};
use pilaster::limits::Limits;

use crate::{Batches, Error, Kept, Source, convert};

/// How a DataSeries file is written.
#[derive(Clone, Debug)]
pub struct SeriesOptions {
    /// The name of the type of the rows.
    pub name: String,
    /// The compression.
    pub compress: Smallest,
    /// Maximum number of rows of an extent.
    pub rows: u64,
    /// Maximum number of extents that the index can list.
    pub extents: usize,
    /// Whether consecutive batches of few rows become one extent, which is written when it has enough rows.
    pub join: bool,
}

/// Writes all rows of `table` to `sink`, in little-endian byte order. Each batch becomes one extent or several, which are written
/// when the batch was read, unless batches are joined.
///
/// ```
/// use std::sync::Arc;
/// use pilaster::dataseries::Mode;
/// use pilaster::dataseries::write::Smallest;
/// use pilaster_arrow::arrow_array::{Int64Array, RecordBatch, RecordBatchIterator};
/// use pilaster_arrow::{Batches, SeriesOptions, write_series};
///
/// let times: Int64Array = vec![1, 2, 3].into();
/// let batch = RecordBatch::try_from_iter([("time", Arc::new(times) as _)])?;
/// let mut table = Batches::new(RecordBatchIterator::new([Ok(batch.clone())], batch.schema()))?;
/// let compress = Smallest::of(&[Mode::Lz4], 9)?;
/// let options = SeriesOptions { name: "Tick".to_owned(), compress, rows: 1 << 14, extents: 8, join: false };
/// assert!(write_series(&mut table, &options, Vec::new())?.starts_with(b"DSv1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of [`convert()`]; [`Error::Target`] without a column if the sink fails, or if there are more extents than the index can list.
pub fn write_series<S, K>(table: &mut Batches<S>, options: &SeriesOptions, sink: K) -> Result<K, Error>
where
    S: Source,
    K: Sink<Error: std::fmt::Debug + std::fmt::Display + Send + Sync + 'static>,
{
    let mut memory = Memory::default();
    let xml = {
        // A table without rows has one part, which tells the columns.
        let mut empty = Batches::from_source(Kept::new(table.schema().clone(), []))?;
        loop {
            match empty.next_part(&mut memory.scratch()) {
                Ok(Some(part)) => {
                    let named = |e: WriteError<_>| match e {
                        WriteError::Format(e) if e.kind() == Kind::WrongType => refused(table.schema(), e),
                        e => failed(e),
                    };
                    break describe(&options.name, &part, Vec::new()).map_err(named)?;
                }
                Ok(None) => break Vec::new(),
                Err(e) => memory.grow(e)?,
            }
        }
    };
    while let Err(e) = ExtentType::parse(&xml, &Limits::DEFAULT, &mut memory.scratch()) {
        memory.grow(e)?;
    }
    let ty = ExtentType::parse(&xml, &Limits::DEFAULT, &mut memory.scratch())?;
    // The system provides zeroed memory when it is used first: slots of extents that are not written take none.
    let mut memory = vec![0; options.extents.saturating_mul(size_of::<IndexSlot>())];
    let types = [Description::from(&ty)];
    let (types, slots) = (Descriptions::new(&types)?, IndexSlot::over(&mut memory));
    let mut writer = Writer::<LittleEndian, _, _>::with(sink, types, slots, options.compress.clone());
    writer.begin().map_err(failed)?;
    let builder = Builder::new(writer, ExtentBuffer::growing(ty)?, options.rows);
    let mut builder = if options.join { builder.join() } else { builder };
    convert(table, &mut builder)?;
    builder.finish().map_err(|e| match e {
        WriteError::Format(e) if e.kind() == Kind::NoRoom => {
            let remedy = "larger extents or several files help";
            Error::Target { column: String::new(), ty: String::new(), remedy, error: Box::new(e) }
        }
        e => failed(e),
    })
}

/// Returns the error of a column that no field can hold.
fn refused(schema: &Schema, e: FileError) -> Error {
    let field = usize::try_from(e.at()).ok().and_then(|k| schema.fields().get(k));
    let (column, ty) = field.map(|field| (field.name().clone(), field.data_type().to_string())).unwrap_or_default();
    Error::Target { column, ty, remedy: "cast the column to a type of the format, or leave it out", error: Box::new(e) }
}

fn failed<E: std::fmt::Debug + std::fmt::Display + Send + Sync + 'static>(e: WriteError<E>) -> Error {
    Error::Target { column: String::new(), ty: String::new(), remedy: "", error: Box::new(e) }
}
