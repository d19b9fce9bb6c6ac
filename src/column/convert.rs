//! The one loop between all pairs of formats.

use super::{Batch, Column, Part, Table, fit};
use crate::bytes::Scratch;
use crate::error::Error;

/// How a builder wants its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Feed {
    /// All columns of a group of rows, then all columns of the next group: formats with row groups.
    Groups {
        /// The most rows of a group, at least 1.
        rows: u64,
    },
    /// All rows of one column, then all of the next: formats with contiguous columns.
    Columns,
}

/// What a format implements to be written from columns.
///
/// Fed by [`Feed::Groups`]: `open(rows)`, `batch` for each column from `at` 0 on, `close`, and so on.
/// A group never crosses a part. Fed by [`Feed::Columns`]: for each column and pass, `open` with the
/// rows of the first part, `batch`es whose `at` runs through all parts, `close`.
pub trait Build {
    /// The error type of the builder and its sink.
    type Error: From<Error>;

    /// How it wants to be fed.
    fn feed(&self) -> Feed;

    /// How often column `col` is read when fed by columns: 2 where lengths come before bytes.
    fn passes<C: Column>(&self, col: &C) -> u32 {
        let _ = col;
        1
    }

    /// Starts a group of `rows` rows, or a column.
    ///
    /// # Errors
    /// Errors of the builder.
    fn open(&mut self, rows: u64) -> Result<(), Self::Error>;

    /// Writes rows of column `k`, named `name`; row 0 of the batch is row `at` of the group or column.
    ///
    /// # Errors
    /// Errors of the builder; among them a type that the format does not support.
    fn batch<C: Column>(
        &mut self,
        k: usize,
        name: &str,
        at: u64,
        col: &C,
        batch: &Batch<'_, C>,
    ) -> Result<(), Self::Error>;

    /// Ends the group or column.
    ///
    /// # Errors
    /// Errors of the builder.
    fn close(&mut self) -> Result<(), Self::Error>;
}

/// Reads all of `table` into `build`. `scratch` holds one part and one batch at a time.
///
/// # Errors
/// Errors of the table and of the builder; [`Kind::NoRoom`](crate::error::Kind::NoRoom) if `scratch` is too small for a
/// part and one row.
pub fn convert<T: Table, B: Build>(table: &mut T, build: &mut B, scratch: &mut Scratch<'_>) -> Result<(), B::Error> {
    match build.feed() {
        Feed::Groups { rows } => by_groups(table, build, rows.max(1), scratch),
        Feed::Columns => by_columns(table, build, scratch),
    }
}

fn by_groups<T: Table, B: Build>(
    table: &mut T,
    build: &mut B,
    most: u64,
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    loop {
        let mut outer = scratch.scope();
        let Some(part) = table.next_part(&mut outer)? else { return Ok(()) };
        let mut first = 0;
        while first < part.rows() {
            let end = part.rows().min(first.saturating_add(most));
            build.open(end.saturating_sub(first))?;
            for k in 0..part.width() {
                feed_column(part, k, first..end, 0, build, &mut outer)?;
            }
            build.close()?;
            first = end;
        }
    }
}

fn by_columns<T: Table, B: Build>(table: &mut T, build: &mut B, scratch: &mut Scratch<'_>) -> Result<(), B::Error> {
    let (mut k, mut pass) = (0, 0);
    loop {
        let (mut width, mut passes, mut at) = (0, 1, 0u64);
        let mut opened = false;
        table.restart()?;
        loop {
            let mut outer = scratch.scope();
            let Some(part) = table.next_part(&mut outer)? else { break };
            width = part.width();
            if k >= width {
                break;
            }
            if !opened {
                passes = build.passes(&part.column(k)?);
                build.open(part.rows())?;
                opened = true;
            }
            feed_column(part, k, 0..part.rows(), at, build, &mut outer)?;
            at = at.saturating_add(part.rows());
        }
        if opened {
            build.close()?;
        }
        pass = u32::saturating_add(pass, 1);
        if pass >= passes {
            (k, pass) = (usize::saturating_add(k, 1), 0);
        }
        if k >= width {
            return Ok(());
        }
    }
}

/// Feeds rows of one column in batches as large as the scratch memory `outer` allows. Without rows it feeds one empty
/// batch, so that the builder receives every column.
fn feed_column<P: Part, B: Build>(
    part: P,
    k: usize,
    rows: core::ops::Range<u64>,
    at: u64,
    build: &mut B,
    outer: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let column = part.column(k)?;
    let mut row = rows.start;
    loop {
        let mut inner = outer.scope();
        let fitting = fit(&column, row..rows.end, inner.room())?;
        let batch = column.read(fitting, &mut inner)?;
        build.batch(k, part.name(k)?, at.saturating_add(row.saturating_sub(rows.start)), &column, &batch)?;
        row = row.saturating_add((batch.len as u64).max(1));
        if row >= rows.end {
            return Ok(());
        }
    }
}
