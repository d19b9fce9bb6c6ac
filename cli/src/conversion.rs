//! Passes all rows of a table to the writer of a format, in bounded memory.

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{self, Build, Column as _, Feed, Part as _, Table};

use crate::ahead::Ahead;
use crate::beside;
use crate::columns::{Columns, Seen};
use crate::feed::{Chosen, Full, OneColumn, Windows, by_groups};
use crate::pieces;
use crate::progress::Progress;
use crate::threads::Threads;

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

    fn next_part<'p>(&'p mut self, outer: &mut Scratch<'p>) -> Result<Option<Self::Part<'p>>>
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
/// has them, and with `threads` if that is faster. A group of rows of windows for which `full` says so of its error is fed again in smaller ones. The calls of `build` that have rows do not depend on the number of
/// threads, apart from the number of rows of each.
pub fn convert<T: Table, B: Build>(
    table: &mut View<'_, T>,
    threads: Threads,
    (build, full): (&mut B, Full<'_, B>),
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let Some(windows) = table.windows else {
        table.choose(None);
        return column::convert(table, build, scratch);
    };
    let chosen = Chosen { windows, columns: table.columns };
    let rows = || pieces::count(windows.file, windows.table).unwrap_or(0);
    match build.feed() {
        Feed::Groups { rows: most } => {
            let mut progress = Progress::counted(rows, true);
            by_groups(&chosen, None, build, (most.max(1), full), &mut |rows| progress.at(rows), scratch)
        }
        Feed::Columns => {
            let ahead = Ahead::new(chosen, threads, scratch.room());
            // Every column counts its rows, in every pass.
            let all = || rows().saturating_mul(chosen.columns.numbers.len() as u64);
            by_columns(&chosen, ahead.as_ref(), build, &mut Progress::counted(all, true), scratch)
        }
    }
}

fn by_columns<B: Build>(
    chosen: &Chosen<'_>,
    ahead: Option<&Ahead<'_>>,
    build: &mut B,
    progress: &mut Progress,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    if chosen.columns.numbers.is_empty() {
        return build.no_columns(chosen.rows(scratch)?);
    }
    let mut done = 0u64;
    let mut more = |rows: u64| {
        done = done.saturating_add(rows);
        progress.at(done);
    };
    if beside::feed(chosen, ahead, build, &mut more, scratch)? {
        return Ok(());
    }
    for k in 0..chosen.columns.numbers.len() {
        let (mut pass, mut passes) = (0, 1);
        while pass < passes || build.again() {
            let mut one = OneColumn::new(k, build);
            one.pass = pass;
            let is_shared = match ahead {
                Some(ahead) => ahead.feed(&mut one, &mut more, scratch)?,
                None => false,
            };
            if !is_shared {
                one.all(chosen, &mut more, scratch)?;
            }
            if let Some(stated) = one.passes {
                if one.at == 0 {
                    nothing(chosen, k, build, scratch)?;
                }
                build.close()?;
                passes = stated;
            }
            pass = u32::saturating_add(pass, 1);
        }
    }
    Ok(())
}

/// Feeds one empty batch of a column without rows.
pub fn nothing<B: Build>(
    chosen: &Chosen<'_>,
    k: usize,
    build: &mut B,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let mut fed = false;
    chosen.walk(None, &chosen.only(k), scratch, &mut |part, _, _, scratch| {
        if !std::mem::replace(&mut fed, true) {
            let column = part.column(k)?;
            let batch = column.read(0..0, &mut scratch.scope())?;
            build.batch(k, part.name(k)?, 0, &column, &batch)?;
        }
        Ok::<_, B::Error>(part.rows())
    })
}
