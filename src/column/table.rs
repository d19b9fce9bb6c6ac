//! The traits that a format implements to be read.

#[cfg(feature = "alloc")]
use alloc::string::String;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt::Debug;
use core::ops::Range;

use super::{Batch, Type, Zone};
#[cfg(feature = "alloc")]
use super::{FromColumn, collect};
use crate::bytes::Scratch;
use crate::error::{Error, Kind, Result, What};

/// A file as a walk over its parts.
pub trait Table {
    /// Rows that come unpacked together: a file, an extent, a chunk row.
    type Part<'p>: Part
    where
        Self: 'p;

    /// Returns the next part, unpacked into `outer` if it is compressed, or `None` after the last one.
    ///
    /// # Errors
    /// Errors of an invalid part. After [`Kind::NoRoom`] the next call with more memory returns the same part.
    fn next_part<'p>(&mut self, outer: &mut Scratch<'p>) -> Result<Option<Self::Part<'p>>>
    where
        Self: 'p;

    /// Skips parts that are completely within the next `rows` rows, without unpacking them: only their number of rows
    /// is checked. Returns the number of skipped rows. A table that cannot find the parts without unpacking skips none.
    ///
    /// # Errors
    /// What keeps the parts from being told apart.
    fn skip(&mut self, rows: u64) -> Result<u64> {
        let _ = rows;
        Ok(0)
    }

    /// Restarts at the first part, for builders that are fed column by column.
    ///
    /// # Errors
    /// What keeps the table from being read twice.
    fn restart(&mut self) -> Result<()>;

    /// Whether there is a column `name`, as far as the table knows without a part. One that knows its columns by its
    /// parts alone knows of none.
    fn lists(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// The values of the column `name` in all parts, from the first on. Which types `T` can be, [`FromColumn`] says.
    ///
    /// # Errors
    /// As [`Column::to_vec`], and [`Kind::Unknown`] if there is no such column.
    #[cfg(feature = "alloc")]
    fn to_vec<T: FromColumn>(&mut self, name: &str) -> Result<Vec<T>>
    where
        Self: Sized,
    {
        collect::all(self, name)
    }

    /// The texts of the column `name` in all parts.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    #[cfg(feature = "alloc")]
    fn to_strings(&mut self, name: &str) -> Result<Vec<String>>
    where
        Self: Sized,
    {
        self.to_vec(name)
    }
}

/// A table of one part that lies ready: a file or a vector whose rows are all there.
#[derive(Clone, Copy, Debug)]
pub struct Once<P> {
    part: P,
    given: bool,
}

impl<P> Once<P> {
    /// The table of `part`.
    #[must_use]
    pub const fn new(part: P) -> Self {
        Once { part, given: false }
    }
}

impl<P: Part> Table for Once<P> {
    type Part<'p>
        = P
    where
        Self: 'p;

    fn next_part<'p>(&mut self, _outer: &mut Scratch<'p>) -> Result<Option<P>>
    where
        Self: 'p,
    {
        let given = core::mem::replace(&mut self.given, true);
        Ok(if given { None } else { Some(self.part) })
    }

    fn restart(&mut self) -> Result<()> {
        self.given = false;
        Ok(())
    }
}

/// Rows that come unpacked together.
pub trait Part: Copy {
    /// The format's column.
    type Col: Column;

    /// How many rows.
    fn rows(&self) -> u64;

    /// How many columns.
    fn width(&self) -> usize;

    /// The name of column `k`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such column, [`Kind::Utf8`] if its name is not text.
    fn name(&self, k: usize) -> Result<&str>;

    /// Column `k`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such column, or what is wrong with it.
    fn column(&self, k: usize) -> Result<Self::Col>;

    /// Returns the number of the first column named `name`. A column whose name is not valid UTF-8 is skipped.
    ///
    /// # Errors
    /// What keeps the names from being read.
    fn find(&self, name: &str) -> Result<Option<usize>> {
        for k in 0..self.width() {
            match self.name(k) {
                Ok(found) if found == name => return Ok(Some(k)),
                Err(e) if e.kind() != Kind::Utf8 => return Err(e),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Returns the first column named `name`.
    ///
    /// # Errors
    /// [`Kind::Unknown`] if no column has the name; errors of [`find`](Self::find) and [`column`](Self::column).
    fn named(&self, name: &str) -> Result<Self::Col> {
        match self.find(name)? {
            Some(k) => self.column(k),
            None => Err(Error::unknown(What::COLUMN, name)),
        }
    }
}

/// A column: a small `Copy` handle, also of every child.
pub trait Column: Copy + Debug {
    /// What the rows mean.
    fn ty(&self) -> Type;

    /// Whether a row may be missing.
    fn nullable(&self) -> bool;

    /// How many rows.
    fn rows(&self) -> u64;

    /// Zone of a timestamp, if it has one.
    ///
    /// # Errors
    /// [`Kind::Utf8`] if its name is not text.
    fn zone(&self) -> Result<Option<&str>> {
        Ok(None)
    }

    /// Child `k` of a nested column.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such child.
    fn child(&self, k: usize) -> Result<Self> {
        Err(no_child(k, self.ty().children()))
    }

    /// Name of child `k` of a struct.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such child, [`Kind::Utf8`] if its name is not text.
    fn child_name(&self, k: usize) -> Result<&str> {
        Err(no_child(k, self.ty().children()))
    }

    /// An upper bound of the scratch bytes that [`read`](Self::read) takes for `rows`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if the rows do not exist.
    fn need(&self, rows: Range<u64>) -> Result<u64>;

    /// Decodes rows from `rows.start` on; may return fewer than asked, as `std::io::Read` does, but
    /// at least one unless `rows` is empty.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if the rows do not exist, [`Kind::NoRoom`] if `scratch` is too small,
    /// or what is wrong with the bytes.
    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's;

    /// Returns what is known of the rows around `row` without reading them, or `None` if the format has nothing to say
    /// or there is no such row. Statistics that must be decoded go into `scratch`.
    ///
    /// Rows are counted from the start of the part. To walk all zones, start at row 0 and continue at the end of
    /// [`Zone::rows`].
    ///
    /// # Errors
    /// Errors of invalid statistics; [`Kind::NoRoom`] if `scratch` is too small.
    fn zone_around<'s>(&self, row: u64, scratch: &mut Scratch<'s>) -> Result<Option<Zone<'s>>>
    where
        Self: 's,
    {
        let _ = (row, scratch);
        Ok(None)
    }

    /// Returns the values of `rows`. [`FromColumn`] lists the types `T`.
    ///
    /// # Errors
    /// [`Kind::WrongType`] with the type of the column if it has another, [`Kind::Lossy`] with the number of the value
    /// if one is missing and `T` is not an `Option`; errors of [`read`](Self::read).
    #[cfg(feature = "alloc")]
    fn to_vec<T: FromColumn>(&self, rows: Range<u64>) -> Result<Vec<T>> {
        let mut values = Vec::new();
        collect::append(self, rows, &mut values)?;
        Ok(values)
    }

    /// The texts of `rows`.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    #[cfg(feature = "alloc")]
    fn to_strings(&self, rows: Range<u64>) -> Result<Vec<String>> {
        self.to_vec(rows)
    }

    /// Returns the dictionary of the rows around `row`, if the column has one: codes and values as two ordinary
    /// columns. Values are read once, codes batch by batch.
    ///
    /// # Errors
    /// Errors of an invalid dictionary.
    fn dictionary(&self, row: u64) -> Result<Option<Dictionary<Self>>> {
        let _ = row;
        Ok(None)
    }
}

/// A stretch of a column that is stored as codes into a list of values.
#[derive(Clone, Copy, Debug)]
pub struct Dictionary<C> {
    /// First row that it serves.
    pub first: u64,
    /// How many rows it serves.
    pub len: u64,
    /// One code per row. Its validity is the validity of the row.
    pub codes: C,
    /// The values that the codes count, from 0.
    pub values: C,
}

impl<C> Dictionary<C> {
    /// Returns the dictionary with both columns replaced by `map`.
    #[must_use]
    #[allow(dead_code, reason = "formats use it")]
    pub(crate) fn map<D>(self, map: impl Fn(C) -> D) -> Dictionary<D> {
        Dictionary { first: self.first, len: self.len, codes: map(self.codes), values: map(self.values) }
    }
}

/// Returns the first rows of `rows` that `column` can read with `room` bytes of scratch memory: all of them, or a half,
/// a quarter and so on.
///
/// # Errors
/// [`Kind::NoRoom`] with the required size of one row if not even that fits; errors of [`Column::need`].
pub fn fit<C: Column>(column: &C, rows: Range<u64>, room: usize) -> Result<Range<u64>> {
    let Range { start, mut end } = rows;
    loop {
        let need = column.need(start..end)?;
        if need <= room as u64 {
            return Ok(start..end);
        }
        let half = end.saturating_sub(start) >> 1;
        if half == 0 {
            return Err(Error::needing(Kind::NoRoom, What::SCRATCH, start, need));
        }
        end = start.saturating_add(half);
    }
}

/// Creates the error for a column number `k` that is not below `count`.
#[allow(dead_code, reason = "formats use it")]
#[cold]
pub(crate) fn no_column(k: usize, count: usize) -> Error {
    Error::needing(Kind::OutOfRange, What::COLUMN, k as u64, count as u64)
}

#[cold]
fn no_child(k: usize, count: usize) -> Error {
    Error::needing(Kind::OutOfRange, What::CHILD, k as u64, count as u64)
}
