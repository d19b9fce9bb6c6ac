//! Rows of all columns side by side, over the traits of [`pilaster::column`] alone.

use std::ops::Range;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Part, Table, fit};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;

use crate::Failure;
use crate::progress::Progress;

/// Memory for one unpacked part. Pages that nobody writes cost nothing.
pub const PART_ROOM: usize = 1 << 26;

/// Memory for the batches of all columns together, unless one row takes more.
const BATCH_ROOM: usize = 1 << 22;

/// Takes rows one by one.
pub trait Rows {
    /// The names of the columns, before the first row.
    fn names(&mut self, names: &[&str]) -> Result<(), Failure>;

    /// Row `i` of one batch per column.
    fn row<C: Column>(&mut self, columns: &[C], batches: &[Batch<'_, C>], i: usize) -> Result<(), Failure>;
}

/// Hands the first `limit` rows of `table` to `to`, in memory that does not grow with their number.
pub fn rows<T: Table, R: Rows>(table: &mut T, limit: u64, to: &mut R) -> Result<(), Failure> {
    let mut memory = vec![0; PART_ROOM];
    let mut outer = Scratch::new(&mut memory);
    let (mut left, mut named) = (limit, false);
    loop {
        let mut scope = outer.scope();
        let Some(part) = table.next_part(&mut scope)? else { return Ok(()) };
        if !named {
            let names = (0..part.width()).map(|k| part.name(k)).collect::<Result<Vec<_>>>()?;
            to.names(&names)?;
            named = true;
        }
        let rows = part.rows().min(left);
        part_rows(&part, rows, to)?;
        left = left.saturating_sub(rows);
        if left == 0 {
            return Ok(());
        }
    }
}

fn part_rows<P: Part, R: Rows>(part: &P, end: u64, to: &mut R) -> Result<(), Failure> {
    let columns = (0..part.width()).map(|k| part.column(k)).collect::<Result<Vec<_>>>()?;
    let share = BATCH_ROOM.checked_div(columns.len()).unwrap_or(0).max(1 << 12);
    let mut memories = vec![vec![0; share]; columns.len()];
    let mut progress = Progress::new(end, true);
    let mut row = 0;
    while row < end {
        let mut stop = end;
        let mut batches = Vec::with_capacity(columns.len());
        for (column, memory) in columns.iter().zip(&mut memories) {
            let batch = read(column, row..stop, memory)?;
            stop = stop.min(row.saturating_add(batch.len as u64));
            batches.push(batch);
        }
        for i in 0..usize::try_from(stop.saturating_sub(row)).unwrap_or(usize::MAX) {
            to.row(&columns, &batches, i)?;
        }
        row = stop;
        progress.at(row);
    }
    Ok(())
}

/// Reads `rows` of `column` batch by batch, in memory of its own.
pub fn batches<C: Column, E: From<Error>>(
    column: &C,
    rows: Range<u64>,
    mut each: impl FnMut(&Batch<'_, C>) -> Result<(), E>,
) -> Result<(), E> {
    if rows.is_empty() {
        return Ok(());
    }
    let need = column.need(rows.clone())?.min(BATCH_ROOM as u64);
    let mut memory = vec![0; usize::try_from(need).unwrap_or(BATCH_ROOM)];
    let mut row = rows.start;
    while row < rows.end {
        let batch = read(column, row..rows.end, &mut memory)?;
        each(&batch)?;
        row = row.saturating_add(batch.len as u64);
    }
    Ok(())
}

/// As many of `rows` as `memory` holds, at least one: for that it grows, within the limits.
fn read<'m, C: Column + 'm>(column: &C, rows: Range<u64>, memory: &'m mut Vec<u8>) -> Result<Batch<'m, C>> {
    let fitting = match fit(column, rows.clone(), memory.len()) {
        Err(e) if e.kind() == Kind::NoRoom => {
            let one = rows.start..rows.start.saturating_add(1).min(rows.end);
            let need = column.need(one.clone())?;
            if need > Limits::DEFAULT.max_decoded {
                return Err(
                    Error::new(Kind::Limit, What::MaxDecoded, rows.start).with_need(Limits::DEFAULT.max_decoded)
                );
            }
            memory.resize(usize::try_from(need).map_err(|_| e)?, 0);
            one
        }
        other => other?,
    };
    let batch = column.read(fitting, &mut Scratch::new(memory))?;
    if batch.len == 0 && !rows.is_empty() {
        // Against the contract of `Column::read`; without this the loop would not end.
        return Err(Error::new(Kind::Truncated, What::Row, rows.start));
    }
    Ok(batch)
}
