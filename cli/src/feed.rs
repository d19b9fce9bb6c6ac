//! Passes the rows of a table to the writer of a format, in bounded memory.

use std::ops::Range;

use pilaster::any::{self, File};
use pilaster::bytes::{Fetch as _, Scratch};
use pilaster::column::{self, Build, Column, Feed, Part as _, Table, fit};
use pilaster::error::{Kind, What};
use pilaster::{Error, Result};

use crate::columns::{Columns, Seen};
use crate::filter::Filter;
use crate::open::Input;
use crate::pieces::{self, Piece};
use crate::progress::Progress;
use crate::sieve::Sieve;
use crate::slice::slice;

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

/// A table with only the chosen columns.
pub struct View<'c, T> {
    pub table: T,
    pub columns: &'c Columns,
    /// The file of the table, to read the rows of a large one.
    pub windows: Option<Windows<'c>>,
}

impl<T: Table> Table for View<'_, T> {
    type Part<'p>
        = Seen<'p, T::Part<'p>>
    where
        Self: 'p;

    fn next_part<'p>(&mut self, outer: &mut Scratch<'p>) -> Result<Option<Self::Part<'p>>>
    where
        Self: 'p,
    {
        let columns: &'p Columns = self.columns;
        Ok(self.table.next_part(outer)?.map(|part| columns.of(part)))
    }

    fn skip(&mut self, rows: u64) -> Result<u64> {
        self.table.skip(rows)
    }

    fn restart(&mut self) -> Result<()> {
        self.table.restart()
    }

    fn choose(&mut self, columns: Option<&[usize]>) -> bool {
        let all = &self.columns.numbers;
        let chosen = columns.map(|columns| columns.iter().filter_map(|k| all.get(*k).copied()).collect::<Vec<_>>());
        self.table.choose(Some(chosen.as_ref().unwrap_or(all)))
    }
}

/// Feeds all rows of `table` to `build`, in the same way as the function of the library, but through windows if the table
/// has them.
pub fn convert<T: Table, B: Build>(
    table: &mut View<'_, T>,
    build: &mut B,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let wanted = |windows: &Windows<'_>| windows.condition.is_some() || windows.input.window().is_some();
    let Some(windows) = table.windows.filter(wanted) else {
        table.choose(None);
        return column::convert(table, build, scratch);
    };
    let rows = || pieces::count(windows.file, windows.table).unwrap_or(0);
    let columns = table.columns;
    match build.feed() {
        Feed::Groups { rows: most } => {
            let mut progress = Progress::counted(rows, true);
            by_groups(&windows, None, columns, build, most.max(1), &mut |rows| progress.at(rows), scratch)
        }
        Feed::Columns => {
            // Every column counts its rows, in every pass.
            let mut progress = Progress::counted(|| rows().saturating_mul(columns.numbers.len() as u64), true);
            by_columns(&windows, columns, build, &mut progress, scratch)
        }
    }
}

/// The chosen columns of a part.
pub type Part<'p> = Seen<'p, any::Part<'p>>;

/// Reads rows of a part.
pub type Each<'e, E> = dyn FnMut(&Part<'_>, Run, &dyn Fn() -> bool, &mut Scratch<'_>) -> Result<u64, E> + 'e;

/// Consecutive rows of a part.
pub type Run = Range<u64>;

impl Windows<'_> {
    /// Returns the number of rows that meet the condition.
    pub fn rows(&self, columns: &Columns, scratch: &mut Scratch<'_>) -> Result<u64> {
        let mut rows = 0u64;
        self.each(None, columns, scratch, &mut |part, all, full, _| {
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

    fn sieve<'p>(&'p self, part: &Part<'p>, row: u64) -> Result<Option<Sieve<'p, any::Column<'p>>>> {
        self.condition.map(|(filter, trust)| Sieve::new(part.all(), filter, trust, row)).transpose()
    }

    /// Passes each part, or the parts of a piece, to `each`, with the rows to read, and a function that returns whether the
    /// window is full: then `each` may stop, and returns the row to continue with, in another window.
    pub fn each<E: From<Error>>(
        &self,
        piece: Option<&Piece<'_>>,
        columns: &Columns,
        scratch: &mut Scratch<'_>,
        each: &mut Each<'_, E>,
    ) -> Result<(), E> {
        let (mut table, mut first) = match piece {
            Some(piece) => piece.table(self.file, self.table)?,
            None => (self.file.table(self.table)?, 0),
        };
        let Range { start: mut row, end } = piece.map_or(0..u64::MAX, |piece| piece.rows.clone());
        while first < end {
            let window = self.input.window();
            let full = || window.as_ref().is_some_and(|window| window.held() >= WINDOW);
            let mut scope = scratch.scope();
            match (&mut table, &window) {
                (any::Table::DataSeries(table), Some(window)) => {
                    let mut step = table.with_input(window.input());
                    let Some(part) = step.next_part(&mut scope)? else { return Ok(()) };
                    let rows = part.rows();
                    each(&columns.of(part.into()), 0..rows, &|| false, &mut scope)?;
                    table.follow(&step);
                    first = first.saturating_add(rows);
                }
                (any::Table::Jay(_) | any::Table::Vortex(_), Some(window)) => {
                    let file = self.file.with_input(window.input());
                    let Some(part) = file.table(None)?.next_part(&mut scope)? else { return Ok(()) };
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
                    each(&columns.of(part), all, &|| false, &mut scope)?;
                    first = first.saturating_add(rows);
                }
            }
        }
        Ok(())
    }
}

/// Feeds the rows of a piece to `build`, which is fed by groups.
pub fn piece<B: Build>(
    windows: &Windows<'_>,
    piece: &Piece<'_>,
    columns: &Columns,
    build: &mut B,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let most = match build.feed() {
        Feed::Groups { rows } => rows.max(1),
        Feed::Columns => u64::MAX,
    };
    by_groups(windows, Some(piece), columns, build, most, &mut |_| {}, scratch)
}

/// Number of rows that are tested before those that are kept are fed.
const SPAN: u64 = 1 << 16;

/// Returns the rows of `rows` that are kept.
fn runs<C: Column>(sieve: &mut Option<Sieve<'_, C>>, rows: Run) -> Result<Vec<Run>> {
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

fn by_groups<B: Build>(
    windows: &Windows<'_>,
    piece: Option<&Piece<'_>>,
    columns: &Columns,
    build: &mut B,
    most: u64,
    progress: &mut dyn FnMut(u64),
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let mut done = 0u64;
    windows.each(piece, columns, scratch, &mut |part, rows, full, scratch| {
        let (mut sieve, mut first) = (windows.sieve(part, rows.start)?, rows.start);
        while first < rows.end && (first == rows.start || !full()) {
            let end = rows.end.min(first.saturating_add(most));
            let runs = runs(&mut sieve, first..end)?;
            if !runs.is_empty() {
                build.open(sum(&runs))?;
                for k in 0..part.width() {
                    feed(part, k, &runs, &mut 0, build, &|| false, scratch)?;
                }
                build.close()?;
            }
            done = done.saturating_add(end.saturating_sub(first));
            progress(done);
            first = end;
        }
        Ok(first)
    })
}

fn by_columns<B: Build>(
    windows: &Windows<'_>,
    columns: &Columns,
    build: &mut B,
    progress: &mut Progress,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let mut done = 0u64;
    for k in 0..columns.numbers.len() {
        let (mut pass, mut passes) = (0, 1);
        while pass < passes {
            let (mut at, mut opened) = (0u64, false);
            windows.each(None, columns, scratch, &mut |part, rows, full, scratch| {
                if !opened {
                    passes = build.passes(&part.column(k)?);
                    build.open(part.rows())?;
                    opened = true;
                }
                let (mut sieve, mut first) = (windows.sieve(part, rows.start)?, rows.start);
                while first < rows.end && (first == rows.start || !full()) {
                    let span = if sieve.is_some() { SPAN } else { u64::MAX };
                    let end = rows.end.min(first.saturating_add(span));
                    let runs = runs(&mut sieve, first..end)?;
                    let next = feed(part, k, &runs, &mut at, build, full, scratch)?.unwrap_or(end);
                    done = done.saturating_add(next.saturating_sub(first).checked_div(passes.into()).unwrap_or(0));
                    progress.at(done);
                    first = next;
                }
                Ok::<_, B::Error>(first)
            })?;
            if opened && at == 0 {
                nothing(windows, columns, k, build, scratch)?;
            }
            if opened {
                build.close()?;
            }
            pass = u32::saturating_add(pass, 1);
        }
    }
    Ok(())
}

/// Feeds one empty batch of a column without rows.
fn nothing<B: Build>(
    windows: &Windows<'_>,
    columns: &Columns,
    k: usize,
    build: &mut B,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let mut fed = false;
    windows.each(None, columns, scratch, &mut |part, _, _, scratch| {
        if !std::mem::replace(&mut fed, true) {
            let column = part.column(k)?;
            let batch = column.read(0..0, &mut scratch.scope())?;
            build.batch(k, part.name(k)?, 0, &column, &batch)?;
        }
        Ok::<_, B::Error>(part.rows())
    })
}

/// Number of rows that are read and not fed, at most, between two that are.
const GAP: u64 = 1 << 10;

/// Feeds rows of one column until `full` returns true: then returns the row after those that were read. The first row has
/// the number `at`, which is increased.
fn feed<B: Build>(
    part: &Part<'_>,
    k: usize,
    runs: &[Run],
    at: &mut u64,
    build: &mut B,
    full: &dyn Fn() -> bool,
    scratch: &mut Scratch<'_>,
) -> Result<Option<u64>, B::Error> {
    let (column, name) = (part.column(k)?, part.name(k)?);
    let mut left = runs.iter().cloned().peekable();
    while let Some(run) = left.peek() {
        // Runs that are close to each other are read together.
        let start = run.start;
        let near = |end: u64, run: &Run| (run.start.saturating_sub(end) <= GAP).then_some(run.end);
        let end = left.clone().try_fold(start, |end, run| near(end, &run).ok_or(end)).unwrap_or_else(|end| end);
        let mut inner = scratch.scope();
        let fitting = fit(&column, start..end, inner.room())?;
        let batch = column.read(fitting, &mut inner)?;
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
            build.batch(k, name, *at, &column, &slice(&batch, place(rows.start)..place(rows.end))?)?;
            *at = at.saturating_add(rows.end.saturating_sub(rows.start));
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
