//! The chosen rows and columns of a table, read through windows, for the writer of a format.

use std::ops::Range;

use pilaster::any::{self, File};
use pilaster::bytes::{Fetch as _, Scratch};
use pilaster::column::{self, Build, Column, Feed, Part as _, Table, fit};
use pilaster::error::{Kind, What};
use pilaster::{Error, Result};

use crate::columns::{Columns, Seen};
use crate::failure::Failure;
use crate::filter::Filter;
use crate::open::Input;
use crate::pieces::{Piece, Pieces};
use crate::sieve::{self, Sieve};
use crate::slice::slice;
use crate::step::Step;
use crate::threads::Threads;

/// Number of fetched bytes after which the next window is opened.
pub const WINDOW: u64 = 8 << 20;

/// The file of a table, for a walk that releases the bytes that it has fetched.
#[derive(Clone, Copy)]
pub struct Windows<'c> {
    pub input: &'c Input<'c>,
    pub file: &'c File<'c>,
    /// The name of the table; the only one if `None`.
    pub table: Option<&'c str>,
    /// The condition on rows, and whether statistics that nothing checks may rule rows out.
    pub condition: Option<(&'c Filter, bool)>,
}

impl<'c> Windows<'c> {
    /// All rows of the table called `table`.
    pub const fn new(input: &'c Input<'c>, file: &'c File<'c>, table: Option<&'c str>) -> Self {
        Windows { input, file, table, condition: None }
    }
}

/// The chosen columns of a table.
#[derive(Clone, Copy)]
pub struct Chosen<'c> {
    pub windows: Windows<'c>,
    pub columns: &'c Columns,
}

/// The chosen columns of a part.
pub type Part<'p> = Seen<'p, any::Part<'p>>;

/// Reads rows of a part.
pub type Each<'e, E> = dyn FnMut(&Part<'_>, Run, &dyn Fn() -> bool, &mut Scratch<'_>) -> Result<u64, E> + 'e;

/// Consecutive rows of a part.
pub type Run = Range<u64>;

impl<'c> Chosen<'c> {
    /// Returns the number of rows that meet the condition.
    pub fn rows(&self, scratch: &mut Scratch<'_>) -> Result<u64> {
        let mut rows = 0u64;
        self.walk(None, &self.with_tested(&[]), scratch, &mut |part, all, full, _| {
            let (mut sieve, mut row) = (self.sieve(part, all.start)?, all.start);
            while row < all.end && (row == all.start || !full()) {
                let end = all.end.min(row.saturating_add(SPAN));
                rows = rows.saturating_add(sum(&runs(&mut sieve, row..end)?));
                row = end;
            }
            Ok::<_, Error>(row)
        })?;
        Ok(rows)
    }

    pub fn sieve<'p>(&'p self, part: &Part<'p>, row: u64) -> Result<Option<Sieve<'p, any::Column<'p>>>> {
        self.windows.condition.map(|(filter, trust)| Sieve::new(part.all(), filter, trust, row)).transpose()
    }

    /// Returns `columns` and the columns of the condition.
    fn with_tested(&self, columns: &[usize]) -> Vec<usize> {
        let tested = self.windows.condition.map_or(&[][..], |(filter, _)| &filter.columns);
        columns.iter().chain(tested).copied().collect()
    }

    /// Returns the number of column `k` in the table, and the columns of the condition.
    pub fn only(&self, k: usize) -> Vec<usize> {
        self.some(core::iter::once(k))
    }

    /// Returns the numbers of some columns in the table, and the columns of the condition.
    pub fn some(&self, columns: impl Iterator<Item = usize>) -> Vec<usize> {
        self.with_tested(&columns.filter_map(|k| self.columns.numbers.get(k).copied()).collect::<Vec<_>>())
    }

    /// Passes the first part to `each`, if there is one.
    pub fn first_part<E: From<Error>>(
        &self,
        scratch: &mut Scratch<'_>,
        each: &mut dyn FnMut(&Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut pieces = Pieces::new(self.windows.file, self.windows.table, 0..u64::MAX).map_err(format_of)?;
        let Some(mut first) = pieces.next() else { return Ok(()) };
        first.rows.end = first.rows.start.saturating_add(1);
        let mut told = false;
        self.walk(Some(&first), &self.with_tested(&self.columns.numbers), scratch, &mut |part, rows, _, _| {
            // Other parts follow those without rows.
            if !std::mem::replace(&mut told, true) {
                each(part)?;
            }
            Ok::<_, E>(rows.end)
        })
    }

    /// Passes each part, or the parts of a piece, to `each`, with the rows to read, and a function that returns whether the
    /// window is full: then `each` may stop, and returns the row to continue with, in another window. A table that can
    /// leave out columns has only the columns `wanted`.
    pub fn walk<E: From<Error>>(
        &self,
        piece: Option<&Piece<'_>>,
        wanted: &[usize],
        scratch: &mut Scratch<'_>,
        each: &mut Each<'_, E>,
    ) -> Result<(), E> {
        let Chosen { windows: Windows { input, file, table: name, .. }, columns } = *self;
        let (mut table, mut first) = match piece {
            Some(piece) => piece.table(file, name)?,
            None => (file.table(name)?, 0),
        };
        table.choose(Some(wanted));
        let Range { start: mut row, end } = piece.map_or(0..u64::MAX, |piece| piece.rows.clone());
        while first < end {
            let window = input.window();
            let full = || window.as_ref().is_some_and(|window| window.held() >= WINDOW);
            let mut scope = scratch.scope();
            match (&mut table, &window) {
                (any::Table::DataSeries(table), Some(window)) => {
                    let mut step = table.with_input(window.input());
                    let Some(part) = step.next_part(&mut scope)? else { return Ok(()) };
                    let rows = part.rows();
                    each(&columns.of(part.into()).after(first), 0..rows, &|| false, &mut scope)?;
                    table.seek(step.bookmark())?;
                    first = first.saturating_add(rows);
                }
                (any::Table::Jay(_) | any::Table::Vortex(_), Some(window)) => {
                    let file = file.with_input(window.input());
                    let mut table = file.table(None)?;
                    let Some(part) = table.next_part(&mut scope)? else { return Ok(()) };
                    let end = column::Part::rows(&part).min(end);
                    row = each(&columns.of(part), row..end, &full, &mut scope)?;
                    if row >= end {
                        return Ok(());
                    }
                }
                (table, _) => {
                    let Some(part) = table.next_part(&mut scope)? else { return Ok(()) };
                    let rows = column::Part::rows(&part);
                    // A piece has some of the rows if the file is one part.
                    let all = if first == 0 && piece.is_some() { row.min(rows)..end.min(rows) } else { 0..rows };
                    each(&columns.of(part).after(first), all, &|| false, &mut scope)?;
                    first = first.saturating_add(rows);
                }
            }
        }
        Ok(())
    }
}

/// Returns the error of a format.
pub fn format_of(failure: Failure) -> Error {
    match failure {
        Failure::Format(e) => e,
        // Cannot occur: the table was read before.
        _ => Error::new(Kind::Misuse, What::INPUT, 0),
    }
}

/// A table that several threads read in pieces.
pub struct Shared<'c> {
    pub chosen: Chosen<'c>,
    pub threads: usize,
    /// Size in bytes of the memory of a thread for a part and its batches.
    pub memory: u64,
    /// Minimum number of rows in a piece.
    step: u64,
}

impl<'c> Shared<'c> {
    /// Prepares threads for pieces of `step` rows or more. Each takes `memory` bytes for a part and its batches, and
    /// `waiting` bytes besides. `None` if one thread is better: if there are fewer than `least` pieces, or no memory for
    /// two threads.
    pub fn new(
        chosen: Chosen<'c>,
        threads: Threads,
        (memory, waiting): (usize, u64),
        step: u64,
        least: usize,
    ) -> Option<Self> {
        let memory = memory as u64;
        let threads = threads.count(u64::MAX, memory.saturating_add(WINDOW).saturating_add(waiting));
        let shared = Shared { chosen, threads, memory, step };
        // An error is met again where the rows are read.
        let is_several = threads > 1 && shared.pieces().is_ok_and(|pieces| pieces.take(least).count() == least);
        is_several.then_some(shared)
    }

    /// Returns the pieces. They are made one by one, since a small file can claim any number of rows.
    pub fn pieces(&self) -> Result<Pieces<'c>, Failure> {
        let mut pieces = Pieces::new(self.chosen.windows.file, self.chosen.windows.table, 0..u64::MAX)?;
        pieces.set_step(self.step);
        Ok(pieces)
    }
}

/// Feeds the rows of a piece to `build`, which is fed by groups.
pub fn piece<B: Build>(
    chosen: &Chosen<'_>,
    piece: &Piece<'_>,
    build: &mut B,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let most = match build.feed() {
        Feed::Groups { rows } => rows.max(1),
        Feed::Columns => u64::MAX,
    };
    by_groups(chosen, Some(piece), build, (most, &|_| false), &mut |_| {}, scratch)
}

/// Number of rows that are tested before those that are kept are fed.
pub const SPAN: u64 = 1 << 16;

/// Returns the rows of `rows` that are kept.
pub fn runs<C: Column>(sieve: &mut Option<Sieve<'_, C>>, rows: Run) -> Result<Vec<Run>> {
    let Some(sieve) = sieve else { return Ok(vec![rows]) };
    let (mut runs, mut row): (Vec<Run>, u64) = (Vec::new(), rows.start);
    while row < rows.end {
        let mut now = row..rows.end;
        for kept in sieve.test(&mut now)? {
            let kept = row.saturating_add(*kept as u64);
            match runs.last_mut() {
                Some(run) if run.end == kept => run.end = kept.saturating_add(1),
                _ => runs.push(kept..kept.saturating_add(1)),
            }
        }
        row = now.end;
    }
    Ok(runs)
}

fn sum(runs: &[Run]) -> u64 {
    runs.iter().fold(0, |sum, run| sum.saturating_add(run.end.saturating_sub(run.start)))
}

/// Takes the first `most` rows of `runs`. Returns them and the others.
fn cut(runs: &[Run], most: u64) -> (Vec<Run>, Vec<Run>) {
    let (mut first, mut others, mut left) = (Vec::new(), Vec::new(), most);
    for run in runs {
        let at = run.end.min(run.start.saturating_add(left));
        left = left.saturating_sub(at.saturating_sub(run.start));
        first.push(run.start..at);
        others.push(at..run.end);
    }
    let has_rows = |runs: Vec<Run>| runs.into_iter().filter(|run| run.start < run.end).collect();
    (has_rows(first), has_rows(others))
}

/// Feeds rows of a part in groups. A group that is too large for the builder is fed again as smaller ones; after some groups,
/// they have more rows again.
fn groups<B: Build>(
    part: &Part<'_>,
    mut runs: Vec<Run>,
    build: &mut B,
    (step, full): (&mut Step, Full<'_, B>),
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    while !runs.is_empty() {
        let (now, others) = cut(&runs, step.rows());
        let rows = sum(&now);
        build.open(rows)?;
        let fed = (0..part.width()).try_for_each(|k| {
            let fed = OneColumn::new(k, build).runs(part, &now, &|| false, scratch);
            fed.map(|_| ())
        });
        match fed {
            Err(e) if rows > 1 && full(&e) => step.refused(rows),
            fed => {
                fed?;
                build.close()?;
                runs = others;
                step.fed();
            }
        }
    }
    Ok(())
}

/// Returns whether an error of a builder says that a group has too many rows.
pub type Full<'f, B> = &'f dyn Fn(&<B as Build>::Error) -> bool;

/// Feeds the rows of a piece, or all, in groups of at most `most` rows, or of fewer if `too_large` says so of an error.
pub fn by_groups<B: Build>(
    chosen: &Chosen<'_>,
    piece: Option<&Piece<'_>>,
    build: &mut B,
    (most, too_large): (u64, Full<'_, B>),
    progress: &mut dyn FnMut(u64),
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let (mut done, mut told, mut step) = (0u64, piece.is_some(), Step::new(most));
    chosen.walk(piece, &chosen.with_tested(&chosen.columns.numbers), scratch, &mut |part, rows, full, scratch| {
        if !std::mem::replace(&mut told, true) {
            no_rows(part, build, scratch)?;
        }
        let (mut sieve, mut first) = (chosen.sieve(part, rows.start)?, rows.start);
        while first < rows.end && (first == rows.start || !full()) {
            let end = rows.end.min(first.saturating_add(most));
            let runs = runs(&mut sieve, first..end)?;
            groups(part, runs, build, (&mut step, too_large), scratch)?;
            done = done.saturating_add(end.saturating_sub(first));
            progress(done);
            first = end;
        }
        Ok(first)
    })
}

/// Feeds a group without rows, so that the builder knows the columns of a table of which no row is fed.
fn no_rows<B: Build>(part: &Part<'_>, build: &mut B, scratch: &mut Scratch<'_>) -> Result<(), B::Error> {
    build.open(0)?;
    for k in 0..part.width() {
        let column = part.column(k)?;
        let batch = column.read(0..0, &mut scratch.scope())?;
        build.batch(k, part.name(k)?, 0, &column, &batch)?;
    }
    build.close()
}

/// Returns how much `rows` read rows add to the progress over the passes that were announced. `pass`: the number of passes
/// before.
pub fn share(passes: Option<u32>, pass: u32, rows: u64) -> u64 {
    let passes = passes.unwrap_or(1);
    if pass < passes { rows.checked_div(passes.into()).unwrap_or(0) } else { 0 }
}

/// Feeds one column to a builder, in one pass.
pub struct OneColumn<'b, B> {
    pub k: usize,
    /// Number of rows that were fed.
    pub at: u64,
    /// How often the column is fed, known after its first part.
    pub passes: Option<u32>,
    /// The number of passes before this one.
    pub pass: u32,
    pub build: &'b mut B,
    /// For batches with a row that takes more memory than the scratch memory has.
    pub spare: Vec<u8>,
}

impl<'b, B: Build> OneColumn<'b, B> {
    pub const fn new(k: usize, build: &'b mut B) -> Self {
        OneColumn { k, at: 0, passes: None, pass: 0, build, spare: Vec::new() }
    }

    /// Announces the column. `part` is the first part of the table.
    pub fn open(&mut self, part: &Part<'_>) -> Result<(), B::Error> {
        if self.passes.is_none() {
            self.passes = Some(self.build.passes(&part.column(self.k)?));
            self.build.open(part.rows())?;
        }
        Ok(())
    }

    /// Returns how much `rows` read rows add to the progress over the passes that were announced.
    pub fn share(&self, rows: u64) -> u64 {
        share(self.passes, self.pass, rows)
    }

    /// Announces the column and feeds all of its rows.
    pub fn all(
        &mut self,
        chosen: &Chosen<'_>,
        progress: &mut dyn FnMut(u64),
        scratch: &mut Scratch<'_>,
    ) -> Result<(), B::Error> {
        chosen.walk(None, &chosen.only(self.k), scratch, &mut |part, rows, full, scratch| {
            self.open(part)?;
            self.rows(chosen, part, rows, full, progress, scratch)
        })
    }

    /// Feeds the rows of a piece.
    pub fn piece(&mut self, chosen: &Chosen<'_>, piece: &Piece<'_>, scratch: &mut Scratch<'_>) -> Result<(), B::Error> {
        chosen.walk(Some(piece), &chosen.only(self.k), scratch, &mut |part, rows, full, scratch| {
            self.rows(chosen, part, rows, full, &mut |_| {}, scratch)
        })
    }

    /// Feeds the rows among `rows` that meet the condition, until `full` returns true. Returns the row after those that were read.
    fn rows(
        &mut self,
        chosen: &Chosen<'_>,
        part: &Part<'_>,
        rows: Run,
        full: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(u64),
        scratch: &mut Scratch<'_>,
    ) -> Result<u64, B::Error> {
        let (mut sieve, mut first) = (chosen.sieve(part, rows.start)?, rows.start);
        while first < rows.end && (first == rows.start || !full()) {
            let span = if sieve.is_some() { SPAN } else { u64::MAX };
            let end = rows.end.min(first.saturating_add(span));
            let next = self.runs(part, &runs(&mut sieve, first..end)?, full, scratch)?.unwrap_or(end);
            progress(self.share(next.saturating_sub(first)));
            first = next;
        }
        Ok(first)
    }

    /// Feeds rows of a part until `full` returns true: then returns the row after those that were read.
    pub fn runs(
        &mut self,
        part: &Part<'_>,
        runs: &[Run],
        full: &dyn Fn() -> bool,
        scratch: &mut Scratch<'_>,
    ) -> Result<Option<u64>, B::Error> {
        let (column, name) = (part.column(self.k)?, part.name(self.k)?);
        let mut left = runs.iter().cloned().peekable();
        // The end of the runs that are read together, because they are close to each other.
        let mut end = 0;
        while let Some(run) = left.peek() {
            let start = run.start;
            if end <= start {
                let near = |end: u64, run: &Run| (run.start.saturating_sub(end) <= GAP).then_some(run.end);
                end = left.clone().try_fold(start, |end, run| near(end, &run).ok_or(end)).unwrap_or_else(|end| end);
            }
            let mut inner = scratch.scope();
            let batch = match fit(&column, start..end, inner.room()) {
                // With more scratch memory, the conversion would start again, after rows that are written.
                Err(e) if e.kind() == Kind::NoRoom => sieve::read(&column, start..end, &mut self.spare)?,
                fitting => column.read(fitting?, &mut inner)?,
            };
            if batch.len == 0 {
                // Violates the contract of `Column::read`. Without this check the loop would not end.
                return Err(Error::new(Kind::Truncated, What::ROW, start).into());
            }
            let read = start.saturating_add(batch.len as u64);
            while let Some(run) = left.peek_mut()
                && run.start < read
            {
                let rows = run.start..run.end.min(read);
                let place = |row: u64| usize::try_from(row.saturating_sub(start)).unwrap_or(usize::MAX);
                let mut batch = slice(&batch, place(rows.start)..place(rows.end))?;
                // An error names the row of the table.
                batch.first = batch.first.saturating_add(part.before());
                self.build.batch(self.k, name, self.at, &column, &batch)?;
                self.at = self.at.saturating_add(rows.end.saturating_sub(rows.start));
                run.start = rows.end;
                if run.is_empty() {
                    left.next();
                }
            }
            if full() {
                return Ok(Some(read));
            }
        }
        Ok(None)
    }
}

/// Number of rows that are read and not fed, at most, between two that are.
const GAP: u64 = 1 << 10;
