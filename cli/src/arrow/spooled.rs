//! Rows that are found from start to end only, in a temporary Arrow file.

use std::io::{self, BufWriter};

use pilaster::any::Format;
use pilaster_arrow::Source as _;
use pilaster_arrow::arrow_schema::SchemaRef;
use pilaster_arrow::dictionaries::{decoded, without_dictionaries};
use pilaster_arrow::input::{FileKind, Input, InputFile, InputOptions, open};
use pilaster_arrow::write::{Compression, Kind, Writer};

use super::rows::Rows;
use super::source::{failed, refused};
use super::write::of_source;
use crate::columns::Columns;
use crate::failure::Failure;
use crate::goal::Goal;

/// Returns whether a target is fed column by column, for which the text of all columns would be parsed again and again.
pub const fn is_fed_by_columns(to: Goal) -> bool {
    matches!(to, Goal::Format(Format::Jay | Format::Bcolz))
}

/// Copies the chosen columns to a temporary file, which has no name, so that nothing is left whatever ends the process. `columns` then
/// are numbers of columns of that file.
pub fn spooled(mut source: Rows<'_>, columns: &mut Columns) -> Result<(InputFile, Input), Failure> {
    let mut read = columns.numbers.clone();
    read.sort_unstable();
    read.dedup();
    let all: Vec<usize> = (0..read.len()).collect();
    let schema = SchemaRef::from(source.schema().project(&read).map_err(|e| failed(e.into()))?);
    // A dictionary may differ between batches, which an Arrow file does not allow. The formats have none.
    let schema = without_dictionaries(&schema, &all);
    let temporary = |e: pilaster_arrow::Error| Failure::Input(format!("temporary file: {e}"));
    let made = |e: io::Error| temporary(pilaster_arrow::Error::Input(e.to_string()));
    let file = BufWriter::new(tempfile::tempfile().map_err(made)?);
    let mut writer = Writer::new(file, &schema, Kind::IpcFile, Compression::Lz4).map_err(temporary)?;
    let (rows, _) = source.open(Some(&read), 0).map_err(failed)?;
    for batch in rows {
        let batch = batch.map_err(|e| refused(&of_source(e)))?;
        writer.put(&decoded(&batch, &schema).map_err(failed)?).map_err(temporary)?;
    }
    let file = writer.finish().map_err(temporary)?.into_inner().map_err(|e| made(e.into_error()))?;
    let input = Input::seekable(file).map_err(temporary)?;
    let options = InputOptions { kind: Some(FileKind::IpcFile), ..InputOptions::default() };
    let files = open(input.clone(), options).map_err(temporary)?;
    let place = |k: &usize| read.iter().position(|known| known == k);
    columns.numbers = columns.numbers.iter().filter_map(place).collect();
    Ok((files, input))
}
