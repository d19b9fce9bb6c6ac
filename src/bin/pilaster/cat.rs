//! `head` and `cat`: rows as text.

use std::io::Write;

use pilaster::any::File;
use pilaster::column::Table;
use pilaster::filo;

use crate::Failure;
use crate::args::{Text, To};
use crate::bcolz;
use crate::csv::Csv;
use crate::dataseries;
use crate::jay;
use crate::json::Lines;
use crate::open::{Input, part_room};
use crate::walk::{self, Choice};

pub fn run(input: &Input, file: &File<'_>, how: &Text, out: &mut impl Write) -> Result<(), Failure> {
    match file {
        File::Bcolz(_) | File::Filo(_) | File::Jay(_) | File::Vortex(_) if how.table.is_some() => {
            Err(Failure::Usage("--table is for files with tables".to_owned()))
        }
        File::Bcolz(chunk) => {
            let (mut items, room) = bcolz::items(chunk, input.dtype.as_deref())?;
            table(&mut items, room, how, true, out)
        }
        File::Filo(vector) => table(&mut filo::Table::new(*vector), part_room(file)?, how, false, out),
        File::Vortex(vortex) => table(&mut vortex.table(), part_room(file)?, how, false, out),
        File::DataSeries(series) => {
            let name = dataseries::table(series, how.table.as_deref())?;
            table(&mut series.table(&name)?, part_room(file)?, how, true, out)
        }
        File::Jay(frame) => table(&mut jay::Readable::new(*frame, input)?.table(), part_room(file)?, how, false, out),
    }
}

/// The rows of a table whose parts take `room` bytes. `texts`: byte strings are shown as text where they are.
pub fn table<T: Table>(
    table: &mut T,
    room: usize,
    how: &Text,
    texts: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let choice = Choice { rows: &how.rows, columns: how.columns.as_deref(), time: &how.time };
    match how.to {
        To::Csv => walk::rows(table, choice, room, &mut Csv::new(out, how.header, &how.missing, texts)),
        To::JsonLines => walk::rows(table, choice, room, &mut Lines::new(out, texts)),
    }
}
