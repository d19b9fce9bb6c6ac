//! `info`: what a file is.

use std::io::Write;

use pilaster::any::File;
use pilaster::bytes::Scratch;
use pilaster::column::{Column, Part, Table};
use pilaster::filo::raw::Packing;
use pilaster::filo::{self, Vector};

use crate::Failure;
use crate::bcolz;
use crate::dataseries;
use crate::dump::filo_name;
use crate::jay;
use crate::open::{Input, part_room};
use crate::progress::Progress;
use crate::vortex;
use crate::walk::batches;

pub fn run(input: &Input, file: &File<'_>, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "file      {}", input.path)?;
    writeln!(out, "format    {}", file.format())?;
    writeln!(out, "size      {} bytes", input.bytes.len())?;
    match file {
        File::Filo(vector) => {
            filo(vector, &input.bytes, out)?;
            columns(&mut filo::Table::new(*vector), 0, out)
        }
        File::Bcolz(chunk) => bcolz::info_chunk(chunk, out),
        File::Jay(frame) => jay::info(frame, input, out),
        File::Vortex(vortex) => {
            vortex::info(vortex, out)?;
            // A column that cannot be decoded is told of above; nothing is counted then.
            match columns(&mut vortex.table(), 0, out) {
                Err(Failure::Input(why)) => Ok(writeln!(out, "\nnot all columns can be read: {why}")?),
                done => done,
            }
        }
        File::DataSeries(series) => {
            dataseries::info(series, input.bytes.len(), out)?;
            let room = part_room(file)?;
            for ty in series.types().iter() {
                dataseries::info_type(series, &ty, out)?;
                columns(&mut series.table(ty.name())?, room, out)?;
            }
            Ok(())
        }
    }
}

fn filo(vector: &Vector<'_>, bytes: &[u8], out: &mut impl Write) -> Result<(), Failure> {
    let word = bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let encoding = vector.encoding();
    writeln!(out, "element   {}", filo_name(vector.element()))?;
    writeln!(out, "header    0x{word:08x} ({})", vector.header().name())?;
    writeln!(out, "encoding  {encoding}")?;
    if let Some(packing) = encoding.packing() {
        let sign = match packing {
            Packing::W64 => "",
            packing if packing.signed() => ", signed",
            _ => ", unsigned",
        };
        writeln!(out, "packing   {} bits{sign}", packing.bits())?;
    }
    write!(out, "rows      {}", vector.rows())?;
    if vector.rows() > 0 {
        write!(out, ", {:.2} bytes each", bytes.len() as f64 / vector.rows() as f64)?;
    }
    writeln!(out)?;
    Ok(())
}

/// What is counted of one column over all parts.
struct Count {
    name: String,
    ty: String,
    rows: u64,
    missing: u64,
}

/// Prints a line per column.
fn columns<T: Table>(table: &mut T, room: usize, out: &mut impl Write) -> Result<(), Failure> {
    let mut memory = vec![0; room];
    let mut outer = Scratch::new(&mut memory);
    let mut counts: Vec<Count> = Vec::new();
    loop {
        let mut scope = outer.scope();
        let Some(part) = table.next_part(&mut scope)? else { break };
        for k in 0..part.width() {
            let column = part.column(k)?;
            if counts.len() == k {
                counts.push(Count { name: part.name(k)?.to_owned(), ty: column.ty().to_string(), rows: 0, missing: 0 });
            }
            if let Some(count) = counts.get_mut(k) {
                count.rows = count.rows.saturating_add(column.rows());
                count.missing = count.missing.saturating_add(missing(&column)?);
            }
        }
    }
    let name = counts.iter().map(|count| count.name.len()).fold("column".len(), usize::max);
    let ty = counts.iter().map(|count| count.ty.len()).fold("type".len(), usize::max);
    writeln!(out, "\n{:name$}  {:ty$}  {:>10}  {:>10}", "column", "type", "rows", "missing")?;
    for count in &counts {
        writeln!(out, "{:name$}  {:ty$}  {:>10}  {:>10}", count.name, count.ty, count.rows, count.missing)?;
    }
    Ok(())
}

/// How many rows have no value. Reads none where none can be missing.
fn missing<C: Column>(column: &C) -> Result<u64, Failure> {
    if !column.nullable() {
        return Ok(0);
    }
    let mut progress = Progress::new(column.rows(), false);
    let (mut row, mut missing) = (0u64, 0u64);
    batches(column, 0..column.rows(), |batch| {
        missing = missing.saturating_add(batch.validity.nulls(batch.len) as u64);
        row = row.saturating_add(batch.len as u64);
        progress.at(row);
        Ok::<_, Failure>(())
    })?;
    Ok(missing)
}
