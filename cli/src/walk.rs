//! Row by row over all columns, with only the traits of [`pilaster::column`].

use std::ops::Range;
use std::sync::Arc;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Memory, Part, Prim, Table, Type, Value, fit};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;

use crate::args::Time;
use crate::columns::{Columns, Rules, Stored};
use crate::failure::Failure;
use crate::filter::{Expression, Filter, Literal, Operator, Test};
use crate::type_name::type_name;

/// Bytes of memory for the batches of all columns together, unless one row takes more.
const BATCH_ROOM: usize = 1 << 22;

/// The columns whose rows follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub names: Vec<String>,
    pub types: Vec<String>,
    /// Whether byte strings are printed as text if they are UTF-8.
    pub texts: bool,
}

/// Receives rows one by one.
pub trait Rows {
    /// Receives the columns, before the first row of each file.
    fn head(&mut self, _head: &Head) -> Result<(), Failure> {
        Ok(())
    }

    /// Announces new batches of all columns: the values that follow are of these.
    fn batches(&mut self, columns: usize);

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
    /// Rows by a condition.
    pub condition: Option<&'c Expression<Test>>,
    /// Whether statistics that nothing checks may rule rows out.
    pub trust: bool,
    /// Dates and times are the stored integers.
    pub stored_times: bool,
    /// Whether byte strings are printed as text if they are UTF-8.
    pub texts: bool,
    pub rules: Rules<'c>,
}

impl<'c> Choice<'c> {
    /// The rows `rows` that `time` leaves, with all columns.
    #[cfg(test)]
    pub fn of(rows: &'c Range<u64>, time: &'c Time) -> Self {
        Choice {
            rows,
            columns: None,
            time,
            condition: None,
            trust: false,
            stored_times: false,
            texts: false,
            rules: Rules::default(),
        }
    }

    /// Returns the conditions of both kinds joined. `time` names the column of times that is meant if none is named.
    fn condition(&self, time: impl FnOnce() -> Result<String, Failure>) -> Result<Option<Expression<Test>>, Failure> {
        let mut all: Vec<_> = self.condition.cloned().into_iter().collect();
        if self.time.is_given() {
            let column = match &self.time.column {
                Some(name) => name.clone(),
                None => time()?,
            };
            for (operator, bound) in [(Operator::AtLeast, &self.time.from), (Operator::Less, &self.time.until)] {
                let bound = bound.iter().map(|literal| Literal { text: literal.clone(), quoted: false });
                let compare = |literal| Test::Compare { column: column.clone(), operator, literal };
                all.extend(bound.map(compare).map(Expression::Test));
            }
        }
        Ok(if all.is_empty() { None } else { Some(Expression::And(all)) })
    }
}

/// Passes the chosen rows of `table` to `to`.
#[cfg(test)]
pub fn rows<T: Table, R: Rows>(table: &mut T, choice: Choice<'_>, to: &mut R) -> Result<u64, Failure> {
    let (mut walked, first) = (Walked::default(), table.skip(choice.rows.start)?);
    let mut walk = Walk::resume(choice, &mut walked, first);
    while walk.step(table, Pause::Never, &mut |_| {}, to)? {}
    Ok(walked.passed)
}

/// Where a walk pauses, so that the bytes that were fetched for it can be released.
#[derive(Clone, Copy)]
pub enum Pause<'f> {
    Never,
    /// After a part, if the function returns true.
    AfterPart(&'f dyn Fn() -> bool),
    /// After any row, if the function returns true. The table starts again with its only part.
    AfterRow(&'f dyn Fn() -> bool),
}

/// What remains of a walk over some rows for a walk over rows after them.
#[derive(Debug, Default)]
pub struct Walked {
    /// For one part. It grows as required.
    pub memory: Memory,
    /// The columns and the conditions on rows; known after the first part.
    pub known: Option<Arc<(Columns, Option<Filter>)>>,
    /// Number of rows up to the last part that was needed.
    pub passed: u64,
}

/// A walk over the chosen rows of a table. The memory does not grow with the number of rows.
pub struct Walk<'w> {
    choice: Choice<'w>,
    walked: &'w mut Walked,
    /// Number of rows before the next part.
    first: u64,
    /// Number of rows of that part that are done.
    done: u64,
}

impl<'w> Walk<'w> {
    /// Starts, or continues after other rows, with a table of which `first` rows are skipped. If the columns are known,
    /// they are not announced again.
    pub const fn resume(choice: Choice<'w>, walked: &'w mut Walked, first: u64) -> Self {
        Walk { choice, walked, first, done: 0 }
    }

    /// Passes rows of `table` to `to`. Returns whether the walk pauses: then the next step continues it, with the table
    /// at the same part.
    /// `progress` is called with the number of rows up to the last one that was read.
    pub fn step<T: Table, R: Rows>(
        &mut self,
        table: &mut T,
        pause: Pause<'_>,
        progress: &mut dyn FnMut(u64),
        to: &mut R,
    ) -> Result<bool, Failure> {
        let (choice, walked) = (self.choice, &mut *self.walked);
        loop {
            let first = self.first;
            walked.passed = first;
            let mut scratch = walked.memory.scratch();
            let part = match table.next_part(&mut scratch) {
                Err(e) if e.kind() == Kind::NoRoom => {
                    walked.memory.grow(e)?;
                    continue;
                }
                part => part?,
            };
            let Some(part) = part else {
                if walked.known.is_none() {
                    self.heads(table, to)?;
                }
                return Ok(false);
            };
            let (columns, filter) = &**match &walked.known {
                Some(known) => known,
                None => walked.known.insert(Arc::new(pick(&part, choice, to)?)),
            };
            let end = first.saturating_add(part.rows());
            let within = |row: u64| row.clamp(first, end).saturating_sub(first);
            let rows = within(choice.rows.start).max(self.done)..within(choice.rows.end);
            let progress = &mut |row: u64| progress(first.saturating_add(row));
            let stop: &dyn Fn() -> bool = match pause {
                Pause::AfterRow(stop) => stop,
                Pause::Never | Pause::AfterPart(_) => &|| false,
            };
            self.done = part_rows(&part, columns, filter.as_ref(), choice, rows.clone(), stop, progress, to)?;
            if self.done < rows.end {
                return Ok(true);
            }
            (self.first, self.done, walked.passed) = (end, 0, end);
            if end >= choice.rows.end {
                return Ok(false);
            }
            if let Pause::AfterPart(stop) = pause
                && stop()
            {
                return Ok(true);
            }
        }
    }

    /// Announces the columns although all rows were skipped.
    fn heads<T: Table, R: Rows>(&mut self, table: &mut T, to: &mut R) -> Result<(), Failure> {
        table.restart()?;
        loop {
            let mut scratch = self.walked.memory.scratch();
            match table.next_part(&mut scratch) {
                Err(e) if e.kind() == Kind::NoRoom => self.walked.memory.grow(e)?,
                part => return part?.map_or(Ok(()), |part| pick(&part, self.choice, to).map(drop)),
            }
        }
    }
}

/// Chooses the columns, binds the conditions on rows, and announces the names.
fn pick<P: Part, R: Rows>(part: &P, choice: Choice<'_>, to: &mut R) -> Result<(Columns, Option<Filter>), Failure> {
    let all = Columns::all(part, choice.rules)?;
    let filter = choice.condition(|| {
        let times: Vec<_> = (0..part.width()).filter_map(|k| Some((k, part.column(k).ok()?.ty()))).collect();
        let number = |ty: Type| matches!(ty, Type::Prim(Prim::I64 | Prim::F64));
        let none = || Failure::Usage("no column has 64-bit times: choose one with --time".to_owned());
        let stamp = times.iter().find(|(_, ty)| matches!(ty, Type::Timestamp(_)));
        let (k, _) = *stamp.or_else(|| times.iter().find(|(_, ty)| number(*ty))).ok_or_else(none)?;
        Ok(part.name(k)?.to_owned())
    })?;
    let filter = filter.map(|filter| Filter::bind(&filter, &|name| all.find(name), &|k| part.column(k))).transpose()?;
    let columns = all.pick(choice.columns)?;
    let types =
        columns.numbers.iter().map(|k| type_name(&Stored::new(part.column(*k)?, choice.stored_times), "vortex", false));
    let types = types.collect::<Result<Vec<_>>>()?;
    to.head(&Head { names: columns.names.clone(), types, texts: choice.texts })?;
    Ok((columns, filter))
}

/// Columns that are read side by side, each into memory of its own.
struct Side<C> {
    columns: Vec<C>,
    memories: Vec<Vec<u8>>,
}

impl<C: Column> Side<C> {
    /// The columns, with `memory` bytes for all of them together.
    fn new(columns: Vec<C>, memory: usize) -> Self {
        let share = memory.checked_div(columns.len()).unwrap_or(0).max(1 << 12);
        let memories = vec![vec![0; share]; columns.len()];
        Side { columns, memories }
    }

    /// Reads batches of all columns. `rows.end` becomes the row up to which all of them go.
    fn read<'m>(&'m mut self, rows: &mut Range<u64>) -> Result<Vec<Batch<'m, C>>>
    where
        C: 'm,
    {
        let mut batches = Vec::with_capacity(self.columns.len());
        for (column, memory) in self.columns.iter().zip(&mut self.memories) {
            let batch = read(column, rows.clone(), memory)?;
            rows.end = rows.end.min(rows.start.saturating_add(batch.len as u64));
            batches.push(batch);
        }
        Ok(batches)
    }
}

/// Passes `rows` of a part to `to`, until `stop` returns true. Returns the row after those that were read.
#[allow(clippy::too_many_arguments, reason = "the state of a walk, apart from its memory, which the part borrows")]
fn part_rows<P: Part, R: Rows>(
    part: &P,
    picked: &Columns,
    filter: Option<&Filter>,
    choice: Choice<'_>,
    rows: Range<u64>,
    stop: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(u64),
    to: &mut R,
) -> Result<u64, Failure> {
    let columns = picked.numbers.iter().map(|k| Ok(Stored::new(part.column(*k)?, choice.stored_times)));
    let tested = filter.map_or(&[][..], |filter| &filter.columns).iter().map(|k| part.column(*k));
    let mut shown = Side::new(columns.collect::<Result<Vec<_>>>()?, BATCH_ROOM);
    let mut tested = Side::new(tested.collect::<Result<Vec<_>>>()?, BATCH_ROOM);
    let mut zones = Zones { columns: tested.columns.clone(), trust: choice.trust, known: rows.start };
    let mut row = rows.start;
    let mut kept = Vec::new();
    while row < rows.end && (row == rows.start || !stop()) {
        let mut now = row..rows.end;
        if let Some(filter) = filter {
            if let Some(end) = zones.none_until(filter, row)? {
                row = end.clamp(row.saturating_add(1), rows.end);
                continue;
            }
            now.end = now.end.min(zones.known.max(row.saturating_add(1)));
            let batches = tested.read(&mut now)?;
            kept.clear();
            for i in 0..count(&now) {
                if filter.keeps(&mut |place| batches.get(place).map_or(Ok(Value::Null), |batch| batch.value(i)))? {
                    kept.push(i);
                }
            }
        }
        // Nothing is read of rows that are not shown.
        if filter.is_none() || !kept.is_empty() {
            put(&mut shown, &picked.names, &mut now, filter.map(|_| kept.as_slice()), to)?;
        }
        row = now.end;
        progress(row);
    }
    Ok(row)
}

/// Hands rows to `to`: those of the numbers in `kept`, counted from the first one, or all. `rows.end` becomes the row up
/// to which all columns were read.
fn put<C: Column, R: Rows>(
    shown: &mut Side<C>,
    names: &[String],
    rows: &mut Range<u64>,
    kept: Option<&[usize]>,
    to: &mut R,
) -> Result<(), Failure> {
    let columns = shown.columns.clone();
    let batches = shown.read(rows)?;
    to.batches(batches.len());
    let mut row = |i: usize| -> Result<(), Failure> {
        for (k, ((name, column), batch)) in names.iter().zip(&columns).zip(&batches).enumerate() {
            let put = to.value(k, name, column, batch, i);
            put.map_err(|e| Failure::in_row(name, batch.first.saturating_add(i as u64), e))?;
        }
        to.end()
    };
    match kept {
        Some(kept) => kept.iter().take_while(|i| **i < count(rows)).try_for_each(|i| row(*i)),
        None => (0..count(rows)).try_for_each(row),
    }
}

fn count(rows: &Range<u64>) -> usize {
    usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX)
}

/// Rows that no statistics rule out.
struct Zones<C> {
    columns: Vec<C>,
    trust: bool,
    /// The statistics of the rows before this one were looked at.
    known: u64,
}

impl<C: Column> Zones<C> {
    /// Memory for statistics that must be decoded.
    const MEMORY: usize = 1 << 16;
    /// Rows whose statistics are looked at together.
    const AHEAD: u64 = 1 << 16;

    /// Returns the end of the rows from `row` on that the statistics rule out, or `None` if they say so
    /// of none of them.
    fn none_until(&mut self, filter: &Filter, row: u64) -> Result<Option<u64>, Failure> {
        if row < self.known {
            return Ok(None);
        }
        let (mut at, ahead) = (row, row.saturating_add(Self::AHEAD));
        let Some((end, first)) = self.zone(filter, row)? else {
            self.known = ahead;
            return Ok(None);
        };
        // Zones that say the same are taken together.
        let mut next = Some((end, first));
        while let Some((end, may)) = next
            && may == first
            && at < ahead
        {
            at = end;
            next = self.zone(filter, at)?;
        }
        if first {
            self.known = at;
        }
        Ok((!first).then_some(at))
    }

    /// Returns the end of the zone around `row`, and whether one of its rows may be kept; `None` if nothing is known.
    fn zone(&self, filter: &Filter, row: u64) -> Result<Option<(u64, bool)>, Failure> {
        let mut end = None::<u64>;
        let mut memory = vec![0; Self::MEMORY];
        let mut scratch = Scratch::new(&mut memory);
        let may = filter.may_keep(self.trust, &mut |place| {
            let Some(column) = self.columns.get(place) else { return Ok(None) };
            let zone = match column.zone_around(row, &mut scratch) {
                // Without statistics the rows are read.
                Err(e) if e.kind() == Kind::NoRoom => None,
                zone => zone?,
            };
            if let Some(zone) = &zone {
                end = Some(end.map_or(zone.rows.end, |end| end.min(zone.rows.end)));
            }
            Ok(zone)
        })?;
        Ok(end.filter(|end| *end > row).map(|end| (end, may)))
    }
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

/// Reads as many of `rows` as fit into `memory`, at least one. Grows `memory` if one row does not fit, up to twice
/// `max_decoded`.
fn read<'m, C: Column + 'm>(column: &C, rows: Range<u64>, memory: &'m mut Vec<u8>) -> Result<Batch<'m, C>> {
    let fitting = match fit(column, rows.clone(), memory.len()) {
        Err(e) if e.kind() == Kind::NoRoom => {
            let one = rows.start..rows.start.saturating_add(1).min(rows.end);
            let need = column.need(one)?;
            if need > Limits::DEFAULT.max_decoded {
                return Err(Error::needing(Kind::Limit, What::MAX_DECODED, rows.start, Limits::DEFAULT.max_decoded));
            }
            // Some encodings take more than `memory` for one row and little more for many. With the same memory on top, a
            // batch still has many rows.
            let len = need.saturating_add(memory.len() as u64);
            memory.resize(usize::try_from(len).map_err(|_| e)?, 0);
            fit(column, rows.clone(), memory.len())?
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

#[cfg(test)]
mod tests {
    use pilaster::any::{Hints, Owned};

    use super::*;

    #[test]
    fn a_batch_has_many_rows_although_one_row_takes_more_than_the_memory() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/vortex/enc_pco_a.vortex");
        let mut owned = Owned::open(path, &Hints::default()).unwrap();
        let file = owned.file().unwrap();
        let (mut table, mut memory) = (file.table(None).unwrap(), vec![0; 1 << 16]);
        let mut scratch = Scratch::new(&mut memory);
        let part = table.next_part(&mut scratch).unwrap().unwrap();
        let column = part.column(0).unwrap();
        let need = column.need(0..1).unwrap();
        let mut memory = vec![0; usize::try_from(need).unwrap() - 1];
        assert!(read(&column, 0..column.rows(), &mut memory).unwrap().len > 100);
    }
}
