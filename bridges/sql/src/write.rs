//! Record batches as files.

use std::io::Write;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchReader};
use datafusion_common::{DataFusionError, Result, not_impl_err};
use pilaster::any::Format;
use pilaster::bytes::{IoSink, LittleEndian};
use pilaster::column::{Memory, Table as _};
use pilaster::dataseries::write::{
    Builder, Description, Descriptions, ExtentBuffer, IndexSlot, Smallest, Writer, describe,
};
use pilaster::dataseries::{ExtentType, Mode};
use pilaster::{jay, vortex};
use pilaster_arrow::{Batches, Kept, convert};

/// Number of rows of an extent.
const EXTENT_ROWS: u64 = 1 << 14;

/// The name of the type of rows in a DataSeries file.
const TYPE: &str = "rows";

/// Returns a file with the rows of batches: Vortex, Jay or DataSeries. All batches have `schema`.
///
/// # Errors
/// A column that the format cannot store, with its name; [`DataFusionError::NotImplemented`] for other formats.
pub fn encode(format: Format, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Vec<u8>> {
    let done = match format {
        Format::Vortex => vortex_file(schema, batches),
        Format::Jay => jay_file(schema, batches),
        Format::DataSeries => dataseries_file(schema, batches),
        _ => return not_impl_err!("files of {format} are not written here; pilaster convert writes them"),
    };
    done.map_err(|e| DataFusionError::External(Box::new(e)))
}

type Done = Result<Vec<u8>, pilaster_arrow::Error>;

fn vortex_file(schema: SchemaRef, batches: Vec<RecordBatch>) -> Done {
    let mut table = Batches::from_source(Kept::new(schema, batches))?;
    let mut builder = vortex::write::Builder::new(Vec::new(), &vortex::write::WriteOptions::DEFAULT).map_err(failed)?;
    convert(&mut table, &mut builder)?;
    builder.finish().map_err(failed)
}

/// Writes a Vortex file while its rows arrive. Returns where it was written to, with all bytes passed on.
pub(crate) fn vortex_stream<R: RecordBatchReader, W: Write>(reader: R, out: W) -> Result<W, pilaster_arrow::Error> {
    let mut table = Batches::new(reader)?;
    let mut builder =
        vortex::write::Builder::new(IoSink(out), &vortex::write::WriteOptions::DEFAULT).map_err(failed)?;
    convert(&mut table, &mut builder)?;
    let IoSink(mut out) = builder.finish().map_err(failed)?;
    out.flush().map_err(failed)?;
    Ok(out)
}

fn jay_file(schema: SchemaRef, batches: Vec<RecordBatch>) -> Done {
    let mut table = Batches::from_source(Kept::new(schema, batches))?;
    let mut builder = jay::write::Builder::new(Vec::new(), &jay::write::WriteOptions::DEFAULT).map_err(failed)?;
    convert(&mut table, &mut builder)?;
    builder.finish().map_err(failed)
}

fn dataseries_file(schema: SchemaRef, mut batches: Vec<RecordBatch>) -> Done {
    let rows = batches.iter().fold(0u64, |sum, batch| sum.saturating_add(batch.num_rows() as u64));
    if batches.is_empty() {
        // The description of the type comes from a part.
        batches.push(RecordBatch::new_empty(schema.clone()));
    }
    let mut table = Batches::from_source(Kept::new(schema, batches))?;
    let mut memory = Memory::default();
    let xml = loop {
        match table.next_part(&mut memory.scratch()) {
            Ok(Some(part)) => break describe(TYPE, &part, Vec::new()).map_err(failed)?,
            Ok(None) => break Vec::new(),
            Err(e) => memory.grow(e)?,
        }
    };
    let mut memory = Memory::default();
    while let Err(e) = ExtentType::parse(&xml, &Default::default(), &mut memory.scratch()) {
        memory.grow(e)?;
    }
    let ty = ExtentType::parse(&xml, &Default::default(), &mut memory.scratch())?;
    // An extent whose strings are too long is cut.
    let slots = rows.div_ceil(EXTENT_ROWS).saturating_mul(2).saturating_add(2);
    let mut slots = vec![IndexSlot::EMPTY; usize::try_from(slots).unwrap_or(usize::MAX)];
    let types = [Description::from(&ty)];
    let writer = Writer::<LittleEndian, _, _>::with(
        Vec::new(),
        Descriptions::new(&types)?,
        &mut slots,
        Smallest::of(&[Mode::Lz4], 9)?,
    );
    let mut builder = Builder::new(writer, ExtentBuffer::growing(ty)?, EXTENT_ROWS);
    table.restart()?;
    convert(&mut table, &mut builder)?;
    builder.finish().map_err(failed)
}

fn failed(e: impl std::fmt::Display) -> pilaster_arrow::Error {
    pilaster_arrow::Error::Input(e.to_string())
}
