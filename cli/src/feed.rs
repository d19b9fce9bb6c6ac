//! Passes the rows of a table to the writer of a format, in bounded memory.

use pilaster::any::{self, File};
use pilaster::bytes::{Fetch as _, Scratch};
use pilaster::column::{self, Build, Column as _, Feed, Part as _, Table, fit};
use pilaster::{Error, Result};

use crate::columns::{Columns, Seen};
use crate::open::Input;

/// Number of fetched bytes after which the next window is opened.
pub const WINDOW: u64 = 8 << 20;

/// The file of a table, for a walk that releases the bytes that it has fetched.
#[derive(Clone, Copy)]
pub struct Windows<'c> {
    pub input: &'c Input<'c>,
    pub file: &'c File<'c>,
    /// The name of the table; the only one if `None`.
    pub table: Option<&'c str>,
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
}

/// Feeds all rows of `table` to `build`, in the same way as the function of the library, but through windows if the table
/// has them.
pub fn convert<T: Table, B: Build>(
    table: &mut View<'_, T>,
    build: &mut B,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let Some(windows) = table.windows.filter(|windows| windows.input.window().is_some()) else {
        return column::convert(table, build, scratch);
    };
    match build.feed() {
        Feed::Groups { rows } => by_groups(&windows, table.columns, build, rows.max(1), scratch),
        Feed::Columns => by_columns(&windows, table.columns, build, scratch),
    }
}

/// The chosen columns of a part.
pub type Part<'p> = Seen<'p, any::Part<'p>>;

/// Reads rows of a part.
pub type Each<'e, E> = dyn FnMut(&Part<'_>, u64, &dyn Fn() -> bool, &mut Scratch<'_>) -> Result<u64, E> + 'e;

impl Windows<'_> {
    /// Passes each part to `each`, with the row to begin with, and a function that returns whether the window is full:
    /// then `each` may stop, and returns the row to continue with, in another window.
    pub fn each<E: From<Error>>(
        &self,
        columns: &Columns,
        scratch: &mut Scratch<'_>,
        each: &mut Each<'_, E>,
    ) -> Result<(), E> {
        let mut table = self.file.table(self.table)?;
        let mut row = 0;
        loop {
            let window = self.input.window();
            let full = || window.as_ref().is_some_and(|window| window.held() >= WINDOW);
            let mut scope = scratch.scope();
            match (&mut table, &window) {
                (any::Table::DataSeries(table), Some(window)) => {
                    let mut step = table.with_input(window.input());
                    let Some(part) = step.next_part(&mut scope)? else { return Ok(()) };
                    each(&columns.of(part.into()), 0, &|| false, &mut scope)?;
                    table.follow(&step);
                }
                (any::Table::Jay(_) | any::Table::Vortex(_), Some(window)) => {
                    let file = self.file.with_input(window.input());
                    let Some(part) = file.table(None)?.next_part(&mut scope)? else { return Ok(()) };
                    row = each(&columns.of(part), row, &full, &mut scope)?;
                    if row >= column::Part::rows(&part) {
                        return Ok(());
                    }
                }
                (table, _) => {
                    let Some(part) = table.next_part(&mut scope)? else { return Ok(()) };
                    each(&columns.of(part), 0, &|| false, &mut scope)?;
                }
            }
        }
    }
}

fn by_groups<B: Build>(
    windows: &Windows<'_>,
    columns: &Columns,
    build: &mut B,
    most: u64,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    windows.each(columns, scratch, &mut |part, row, full, scratch| {
        let mut first = row;
        while first < part.rows() && (first == row || !full()) {
            let end = part.rows().min(first.saturating_add(most));
            build.open(end.saturating_sub(first))?;
            for k in 0..part.width() {
                feed(part, k, (first, end), 0, build, &|| false, scratch)?;
            }
            build.close()?;
            first = end;
        }
        Ok(first)
    })
}

fn by_columns<B: Build>(
    windows: &Windows<'_>,
    columns: &Columns,
    build: &mut B,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    for k in 0..columns.numbers.len() {
        let (mut pass, mut passes) = (0, 1);
        while pass < passes {
            let (mut at, mut opened) = (0u64, false);
            windows.each(columns, scratch, &mut |part, row, full, scratch| {
                if !opened {
                    passes = build.passes(&part.column(k)?);
                    build.open(part.rows())?;
                    opened = true;
                }
                let done = feed(part, k, (row, part.rows()), at.saturating_add(row), build, full, scratch)?;
                if done >= part.rows() {
                    at = at.saturating_add(part.rows());
                }
                Ok::<_, B::Error>(done)
            })?;
            if opened {
                build.close()?;
            }
            pass = u32::saturating_add(pass, 1);
        }
    }
    Ok(())
}

/// Feeds rows of one column until `full` returns true. The first row has the number `at`. Returns the row after
/// those that were read. Without rows there is one empty batch.
fn feed<B: Build>(
    part: &Part<'_>,
    k: usize,
    (first, end): (u64, u64),
    at: u64,
    build: &mut B,
    full: &dyn Fn() -> bool,
    scratch: &mut Scratch<'_>,
) -> Result<u64, B::Error> {
    let column = part.column(k)?;
    let mut row = first;
    loop {
        let mut inner = scratch.scope();
        let fitting = fit(&column, row..end, inner.room())?;
        let batch = column.read(fitting, &mut inner)?;
        build.batch(k, part.name(k)?, at.saturating_add(row.saturating_sub(first)), &column, &batch)?;
        row = row.saturating_add((batch.len as u64).max(1));
        if row >= end || full() {
            return Ok(row);
        }
    }
}
