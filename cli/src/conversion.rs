//! Passes all rows of a table to the writer of a format, in bounded memory.

use pilaster::Result;
use pilaster::any::File;
use pilaster::bytes::Scratch;
use pilaster::column::{self, Bookmark, Build, Column as _, Feed, Part as _, Table};

use crate::ahead::Ahead;
use crate::beside::Beside;
use crate::columns::{Columns, Seen};
use crate::feed::{Chosen, Full, OneColumn, Windows, by_groups, share};
use crate::pieces;
use crate::progress::Progress;
use crate::threads::Threads;

/// Size in bytes of the memory that a builder may keep for the columns of a pass.
const MEMORY: u64 = 12 << 20;

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

    fn bookmark(&self) -> Bookmark {
        self.table.bookmark()
    }

    fn seek(&mut self, to: Bookmark) -> Result<()> {
        self.table.seek(to)
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
    if together(chosen, ahead, build, &mut more, scratch)? {
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

/// Feeds all columns to `build`, in each pass as many as its memory allows. Returns false, and does nothing, if that saves no
/// work, or if the builder takes one column in a pass. `progress` is called with numbers of rows, whose sum is the number of
/// rows of all columns.
fn together<B: Build>(
    chosen: &Chosen<'_>,
    ahead: Option<&Ahead<'_>>,
    build: &mut B,
    progress: &mut dyn FnMut(u64),
    scratch: &mut Scratch<'_>,
) -> Result<bool, B::Error> {
    let width = chosen.columns.numbers.len();
    if width < 2 || !matches!(chosen.windows.file, File::DataSeries(_)) {
        return Ok(false);
    }
    let mut passes = Vec::new();
    let mut takes_all = true;
    chosen.first_part(scratch, &mut |part| {
        for k in 0..width {
            let column = part.column(k)?;
            passes.push(build.passes(&column).max(1));
            takes_all &= build.beside(k, &column).is_some();
        }
        Ok::<_, B::Error>(())
    })?;
    if passes.is_empty() || !takes_all {
        return Ok(false);
    }
    // Columns of one pass wait for the last pass of the others.
    for left in (1..=passes.iter().copied().max().unwrap_or(1)).rev() {
        let mut next = passes.iter().enumerate().filter(|(_, passes)| **passes >= left).map(|(k, _)| k).peekable();
        while next.peek().is_some() {
            let (mut set, mut memory) = (Vec::new(), 0u64);
            chosen.first_part(scratch, &mut |part| {
                build.open(part.rows())?;
                while let Some(k) = next.peek() {
                    memory = memory.saturating_add(build.beside(*k, &part.column(*k)?).unwrap_or(MEMORY));
                    if memory > MEMORY && !set.is_empty() {
                        break;
                    }
                    set.extend(next.next());
                }
                Ok::<_, B::Error>(())
            })?;
            let mut share = |k: usize, rows: u64| progress(share(passes.get(k).copied(), 0, rows));
            pass(chosen, ahead, Beside::new(set.into_iter(), build), &mut share, scratch)?;
            build.close()?;
        }
    }
    Ok(true)
}

/// Feeds all rows of some columns in one pass.
fn pass<B: Build>(
    chosen: &Chosen<'_>,
    ahead: Option<&Ahead<'_>>,
    mut columns: Beside<'_, B>,
    progress: &mut dyn FnMut(usize, u64),
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let is_shared = match ahead {
        Some(ahead) => ahead.feed_beside(&mut columns, progress, scratch)?,
        None => false,
    };
    if !is_shared {
        chosen.walk(None, &columns.wanted(chosen), scratch, &mut |part, rows, _, scratch| {
            columns.part(chosen, part, rows.clone(), progress, scratch)?;
            Ok::<_, B::Error>(rows.end)
        })?;
    }
    let Beside { columns, build, .. } = columns;
    let without = columns.iter().filter(|(_, rows)| *rows == 0);
    without.map(|(k, _)| *k).try_for_each(|k| nothing(chosen, k, build, scratch))
}

/// Feeds one empty batch of a column without rows.
fn nothing<B: Build>(chosen: &Chosen<'_>, k: usize, build: &mut B, scratch: &mut Scratch<'_>) -> Result<(), B::Error> {
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
