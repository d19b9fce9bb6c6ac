//! Row by row over all columns, with only the traits of [`pilaster::column`].

use std::cmp::Ordering;
use std::ops::Range;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Memory, Part, Prim, Table, Type, Value, fit};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;

use crate::args::{Instant, Time};
use crate::columns::{Columns, Rules};
use crate::failure::Failure;
use crate::progress::Progress;

/// Bytes of memory for the batches of all columns together, unless one row takes more.
const BATCH_ROOM: usize = 1 << 22;

/// Receives rows one by one.
pub trait Rows {
    /// Receives the names of the columns, before the first row.
    fn names(&mut self, _names: &[String]) -> Result<(), Failure> {
        Ok(())
    }

    /// Receives the value of the row in the `k`th column, called `name`: row `i` of `batch`.
    fn value<C: Column>(&mut self, k: usize, name: &str, column: &C, batch: &Batch<'_, C>, i: usize) -> Result<()>;

    /// Ends the row.
    fn end(&mut self) -> Result<(), Failure>;
}

/// A choice of rows and columns of a table.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'c> {
    /// Row numbers, counted over all parts.
    pub rows: &'c Range<u64>,
    /// Names of columns, in this order; all columns if `None`.
    pub columns: Option<&'c [String]>,
    /// A range of stored times.
    pub time: &'c Time,
    pub rules: Rules<'c>,
}

/// Passes the chosen rows of `table` to `to`. The memory does not grow with the number of rows. `part_len`: bytes for one
/// part.
pub fn rows<T: Table, R: Rows>(table: &mut T, choice: Choice<'_>, part_len: u64, to: &mut R) -> Result<(), Failure> {
    let mut memory = Memory::with_len(part_len)?;
    let mut outer = memory.scratch();
    let (mut first, mut known) = (table.skip(choice.rows.start)?, None);
    loop {
        let mut scope = outer.scope();
        let Some(part) = table.next_part(&mut scope)? else {
            // All rows were skipped; the names of the columns are still printed.
            table.restart()?;
            let mut scope = outer.scope();
            if known.is_none()
                && let Some(part) = table.next_part(&mut scope)?
            {
                pick(&part, choice, to)?;
            }
            return Ok(());
        };
        let (columns, time) = match &known {
            Some(known) => known,
            None => known.insert(pick(&part, choice, to)?),
        };
        let end = first.saturating_add(part.rows());
        let within = |row: u64| row.clamp(first, end).saturating_sub(first);
        let rows = within(choice.rows.start)..within(choice.rows.end);
        part_rows(&part, columns, *time, choice.time, rows, to)?;
        first = end;
        if first >= choice.rows.end {
            return Ok(());
        }
    }
}

/// Chooses the columns, and the one with the times; announces their names.
fn pick<P: Part, R: Rows>(part: &P, choice: Choice<'_>, to: &mut R) -> Result<(Columns, Option<usize>), Failure> {
    let all = Columns::all(part, choice.rules)?;
    let time = match &choice.time.column {
        _ if !choice.time.is_given() => None,
        Some(name) => Some(all.find(name)?),
        None => {
            let mut times = (0..part.width()).filter_map(|k| Some((k, part.column(k).ok()?.ty())));
            let is_time = |ty: Type| matches!(ty, Type::Prim(Prim::I64 | Prim::F64) | Type::Timestamp(_));
            let none = || Failure::Usage("no column has 64-bit times: choose one with --time".to_owned());
            Some(times.find(|(_, ty)| is_time(*ty)).ok_or_else(none)?.0)
        }
    };
    let columns = all.pick(choice.columns)?;
    to.names(&columns.names)?;
    Ok((columns, time))
}

/// Returns whether the time in row `i` is in the range; false if it is missing.
fn is_in<C: Column>(range: &Time, batch: &Batch<'_, C>, i: usize) -> Result<bool> {
    let value = batch.value(i)?;
    // Compares the value of the row with a bound.
    let beside = |bound: &Instant| match (&value, bound) {
        (Value::Int(value), Instant::Whole(bound)) => value.partial_cmp(bound),
        (Value::Int(value), Instant::Real(bound)) => (*value as f64).partial_cmp(bound),
        (Value::F64(value), Instant::Whole(bound)) => value.partial_cmp(&(*bound as f64)),
        (Value::F64(value), Instant::Real(bound)) => value.partial_cmp(bound),
        _ => None,
    };
    let from = range.from.as_ref().is_none_or(|from| beside(from).is_some_and(Ordering::is_ge));
    let to = range.until.as_ref().is_none_or(|to| beside(to).is_some_and(Ordering::is_lt));
    Ok(from && to)
}

fn part_rows<P: Part, R: Rows>(
    part: &P,
    picked: &Columns,
    time: Option<usize>,
    range: &Time,
    rows: Range<u64>,
    to: &mut R,
) -> Result<(), Failure> {
    let all = picked.numbers.iter().chain(&time);
    let columns = all.map(|k| part.column(*k)).collect::<Result<Vec<_>>>()?;
    let share = BATCH_ROOM.checked_div(columns.len()).unwrap_or(0).max(1 << 12);
    let mut memories = vec![vec![0; share]; columns.len()];
    let mut progress = Progress::new(rows.end, true);
    let mut row = rows.start;
    while row < rows.end {
        let mut stop = rows.end;
        let mut batches = Vec::with_capacity(columns.len());
        for (column, memory) in columns.iter().zip(&mut memories) {
            let batch = read(column, row..stop, memory)?;
            stop = stop.min(row.saturating_add(batch.len as u64));
            batches.push(batch);
        }
        // The column of the times is the last one, after the columns that are shown.
        let times = if time.is_some() { batches.last() } else { None };
        for i in 0..usize::try_from(stop.saturating_sub(row)).unwrap_or(usize::MAX) {
            if !times.map_or(Ok(true), |times| is_in(range, times, i))? {
                continue;
            }
            for (k, ((name, column), batch)) in picked.names.iter().zip(&columns).zip(&batches).enumerate() {
                let put = to.value(k, name, column, batch, i);
                put.map_err(|e| Failure::in_row(name, batch.first.saturating_add(i as u64), e))?;
            }
            to.end()?;
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

/// Reads as many of `rows` as fit into `memory`, at least one. Grows `memory` if one row does not fit, up to
/// `max_decoded`.
fn read<'m, C: Column + 'm>(column: &C, rows: Range<u64>, memory: &'m mut Vec<u8>) -> Result<Batch<'m, C>> {
    let fitting = match fit(column, rows.clone(), memory.len()) {
        Err(e) if e.kind() == Kind::NoRoom => {
            let one = rows.start..rows.start.saturating_add(1).min(rows.end);
            let need = column.need(one.clone())?;
            if need > Limits::DEFAULT.max_decoded {
                return Err(Error::needing(Kind::Limit, What::MAX_DECODED, rows.start, Limits::DEFAULT.max_decoded));
            }
            memory.resize(usize::try_from(need).map_err(|_| e)?, 0);
            one
        }
        other => other?,
    };
    let batch = column.read(fitting, &mut Scratch::new(memory))?;
    if batch.len == 0 && !rows.is_empty() {
        // Violates the contract of `Column::read`. Without this check the loop would not end.
        return Err(Error::new(Kind::Truncated, What::ROW, rows.start));
    }
    Ok(batch)
}
