//! Row by row over all columns, with only the traits of [`pilaster::column`].

use std::ops::Range;
use std::sync::Arc;

use pilaster::Result;
use pilaster::column::{Batch, Column, Memory, Part, Table};
use pilaster::error::{Error, Kind};

use crate::args::Wanted;
use crate::columns::{Columns, Retyped, Rules, Stored};
use crate::doubles;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::sieve::Conditions;
use crate::sieve::{BATCH_ROOM, Side, Sieve, count, read};
use crate::type_name::{Budget, type_name};

/// The columns whose rows follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub names: Vec<String>,
    pub types: Vec<String>,
    /// Whether byte strings are printed as text if they are UTF-8.
    pub texts: bool,
    /// The first column, or field of a struct, with the name of one before it, if names must differ.
    pub double: Option<String>,
}

/// Receives rows one by one.
pub trait Rows {
    /// Whether the names of columns, and of the fields of a struct, must differ.
    fn names_differ(&self) -> bool {
        false
    }

    /// Receives the columns, before the first row of each file.
    fn head(&mut self, _head: &Head) -> Result<(), Failure> {
        Ok(())
    }

    /// Announces new batches of all columns: the values that follow are of these.
    fn batches(&mut self, columns: usize) -> Result<(), Failure>;

    /// Receives the value of the row in the `k`th column, called `name`: row `i` of `batch`.
    fn value<C: Column>(&mut self, k: usize, name: &str, column: &C, batch: &Batch<'_, C>, i: usize) -> Result<()>;

    /// Ends the row.
    fn end(&mut self) -> Result<(), Failure>;

    /// Receives some rows of new batches.
    fn rows<C: Column>(&mut self, lot: &Lot<'_, '_, C>, rows: &mut dyn Iterator<Item = usize>) -> Result<(), Failure> {
        lot.one_by_one(rows, self)
    }
}

/// Batches of all columns, which start at the same row.
pub struct Lot<'l, 'm, C> {
    pub names: &'l [String],
    pub columns: &'l [C],
    pub batches: &'l [Batch<'m, C>],
    /// The number of the first row in the table.
    pub first: u64,
}

impl<C: Column> Lot<'_, '_, C> {
    /// Passes rows on value by value.
    pub fn one_by_one<R: Rows + ?Sized>(
        &self,
        rows: &mut dyn Iterator<Item = usize>,
        to: &mut R,
    ) -> Result<(), Failure> {
        to.batches(self.batches.len())?;
        for i in rows {
            for (k, ((name, column), batch)) in self.names.iter().zip(self.columns).zip(self.batches).enumerate() {
                to.value(k, name, column, batch, i).map_err(|e| self.failure(k, i, e))?;
            }
            to.end()?;
        }
        Ok(())
    }

    /// Returns the failure of row `i` of column `k`.
    #[cold]
    pub fn failure(&self, k: usize, i: usize, e: Error) -> Failure {
        Failure::in_row(self.names.get(k).map_or("", String::as_str), self.first.saturating_add(i as u64), e)
    }
}

/// A choice of rows and columns of a table.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'c> {
    /// Row numbers, counted over all parts.
    pub rows: &'c Range<u64>,
    pub wanted: &'c Wanted,
    pub conditions: &'c Conditions,
    pub retyped: Retyped,
    /// Whether byte strings are printed as text if they are UTF-8.
    pub texts: bool,
    pub rules: Rules<'c>,
    /// The types of some columns, by their numbers, that are read as others: files with equal columns have these alike.
    pub types: &'c [(usize, String)],
}

impl<'c> Choice<'c> {
    /// The rows `rows` that `conditions` leave, with all columns.
    #[cfg(test)]
    pub fn of(rows: &'c Range<u64>, conditions: &'c Conditions) -> Self {
        static ALL: Wanted = Wanted { columns: None, except: Vec::new() };
        let (retyped, rules) = (Retyped::default(), Rules::default());
        Choice { rows, wanted: &ALL, conditions, retyped, texts: false, rules, types: &[] }
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
    /// For batches, see [`Side`].
    pub memories: Vec<Vec<u8>>,
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
        self.choose(table, to)?;
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
            let stop: &dyn Fn() -> bool = match pause {
                Pause::AfterRow(stop) => stop,
                Pause::Never | Pause::AfterPart(_) => &|| false,
            };
            let course = &mut Course { before: first, stop, progress };
            let chosen = (columns, filter.as_ref());
            self.done = part_rows(&part, chosen, choice, rows.clone(), (course, &mut walked.memories), to)?;
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

    /// Announces the chosen columns and the columns of the conditions to a table that can leave out the others.
    fn choose<T: Table, R: Rows>(&mut self, table: &mut T, to: &mut R) -> Result<(), Failure> {
        if self.walked.known.is_none() && table.choose(Some(&[])) {
            let here = table.bookmark();
            self.heads(table, to)?;
            table.seek(here)?;
        }
        if let Some((columns, filter)) = self.walked.known.as_deref() {
            let tested = filter.iter().flat_map(|filter| &filter.columns);
            table.choose(Some(&columns.numbers.iter().chain(tested).copied().collect::<Vec<_>>()));
        }
        Ok(())
    }

    /// Announces the columns although no rows were read.
    fn heads<T: Table, R: Rows>(&mut self, table: &mut T, to: &mut R) -> Result<(), Failure> {
        table.restart()?;
        loop {
            let mut scratch = self.walked.memory.scratch();
            match table.next_part(&mut scratch) {
                Err(e) if e.kind() == Kind::NoRoom => self.walked.memory.grow(e)?,
                part => {
                    let known = part?.map(|part| pick(&part, self.choice, to)).transpose()?;
                    self.walked.known = known.map(Arc::new);
                    return Ok(());
                }
            }
        }
    }
}

/// Chooses the columns, binds the conditions on rows, and announces the names.
fn pick<P: Part, R: Rows>(part: &P, choice: Choice<'_>, to: &mut R) -> Result<(Columns, Option<Filter>), Failure> {
    let all = Columns::all(part, choice.rules)?;
    let filter = choice.conditions.bind(part, &all)?;
    let columns = all.pick(choice.wanted)?;
    let mut budget = Budget::default();
    let mut ty = |k: &usize| match choice.types.iter().find(|(known, _)| known == k) {
        Some((_, ty)) => Ok(ty.clone()),
        None => type_name(&Stored::new(part.column(*k)?, choice.retyped), ("vortex", false), &mut budget),
    };
    let types = columns.numbers.iter().map(&mut ty).collect::<Result<Vec<_>>>()?;
    let double = if to.names_differ() { doubles::find(part, &columns)? } else { None };
    to.head(&Head { names: columns.names.clone(), types, texts: choice.texts, double })?;
    Ok((columns, filter))
}

/// The way through the rows of a part.
struct Course<'c> {
    /// Number of rows of the table before the part.
    before: u64,
    /// Returns whether the walk pauses.
    stop: &'c dyn Fn() -> bool,
    /// Is called with the number of rows of the table that were read.
    progress: &'c mut dyn FnMut(u64),
}

/// Passes `rows` of a part to `to`, until the course stops. Takes and returns the memories of batches. Returns the row after those that were read.
fn part_rows<P: Part, R: Rows>(
    part: &P,
    (picked, filter): (&Columns, Option<&Filter>),
    choice: Choice<'_>,
    rows: Range<u64>,
    (course, memories): (&mut Course<'_>, &mut Vec<Vec<u8>>),
    to: &mut R,
) -> Result<u64, Failure> {
    let columns = picked.numbers.iter().map(|k| Ok(Stored::new(part.column(*k)?, choice.retyped)));
    let mut shown = Side::reusing(columns.collect::<Result<Vec<_>>>()?, std::mem::take(memories));
    let mut sieve =
        filter.map(|filter| Sieve::new(part, filter, choice.conditions.trust_statistics, rows.start)).transpose()?;
    let mut row = rows.start;
    while row < rows.end && (row == rows.start || !(course.stop)()) {
        let mut now = row..rows.end;
        let kept = match &mut sieve {
            Some(sieve) => Some(sieve.test(&mut now)?),
            None => None,
        };
        // Nothing is read of rows that are not shown.
        if kept.is_none_or(|kept| !kept.is_empty()) {
            put(&mut shown, (&picked.names, course.before), &mut now, kept, to)?;
        }
        row = now.end;
        (course.progress)(course.before.saturating_add(row));
    }
    *memories = shown.memories;
    Ok(row)
}

/// Hands rows to `to`: those of the numbers in `kept`, counted from the first one, or all. `rows.end` becomes the row up
/// to which all columns were read. `before`: the number of rows of the table before the part.
fn put<C: Column, R: Rows>(
    shown: &mut Side<C>,
    (names, before): (&[String], u64),
    rows: &mut Range<u64>,
    kept: Option<&[usize]>,
    to: &mut R,
) -> Result<(), Failure> {
    let columns = shown.columns.clone();
    let batches = shown.read(rows)?;
    let lot = Lot { names, columns: &columns, batches: &batches, first: before.saturating_add(rows.start) };
    match kept {
        Some(kept) => to.rows(&lot, &mut kept.iter().copied().take_while(|i| *i < count(rows))),
        None => to.rows(&lot, &mut (0..count(rows))),
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
    let mut memory = Vec::new();
    let mut row = rows.start;
    while row < rows.end {
        // A column may state the need of the first chunk alone, and the next one may take more.
        let need = usize::try_from(column.need(row..rows.end)?).unwrap_or(BATCH_ROOM).min(BATCH_ROOM);
        if memory.len() < need {
            memory.resize(need, 0);
        }
        let batch = read(column, row..rows.end, &mut memory)?;
        each(&batch)?;
        row = row.saturating_add(batch.len as u64);
    }
    Ok(())
}
