//! `info`: describes a file.

use std::io::Write;

use pilaster::column::{Column, Memory, Part, Table};

use crate::failure::Failure;
use crate::open::Input;
use crate::progress::Progress;
use crate::special::Special;
use crate::walk::batches;

pub fn run(input: &Input, special: &dyn Special, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "file      {}", input.path)?;
    if input.dataset().is_none() {
        writeln!(out, "format    {}", input.format)?;
        writeln!(out, "size      {} bytes", input.bytes().len())?;
    }
    special.info(input, out)
}

/// The counts of one column over all parts.
struct Count {
    name: String,
    ty: String,
    rows: u64,
    missing: u64,
}

/// Prints a line per column.
pub fn columns<T: Table>(table: &mut T, room: u64, out: &mut dyn Write) -> Result<(), Failure> {
    let mut memory = Memory::with_len(room)?;
    let mut outer = memory.scratch();
    let mut counts: Vec<Count> = Vec::new();
    while let Some(part) = table.next_part(&mut outer.scope())? {
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

/// Returns the number of missing rows. Reads nothing if the column is not nullable.
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
