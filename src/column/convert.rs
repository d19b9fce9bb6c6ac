//! The loop that converts tables, shared by all pairs of formats.

use super::{Batch, Column, Part, Table, fit};
use crate::bytes::Scratch;
use crate::error::{Error, Kind, What};

/// The order in which a [`Build`] receives rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Feed {
    /// All columns of a group of rows, then all columns of the next group: formats with row groups.
    Groups {
        /// Maximum number of rows in a group; 0 counts as 1.
        rows: u64,
    },
    /// All rows of one column, then all of the next: formats with contiguous columns.
    Columns,
}

/// A writer that [`convert`] feeds with columns. Each format that can be written implements it.
///
/// With [`Feed::Groups`], the calls for a group are `open(rows)`, `batch` for each column with `at` starting at 0, and
/// `close`. A group never crosses a part; a group without rows may come first. With [`Feed::Columns`], the calls for each column and pass are `open` with
/// the number of rows of the first part, `batch` with `at` counting through all parts, and `close`.
///
/// ```
/// # #[cfg(feature = "filo")] {
/// use pilaster::column::{Batch, Build, Column, Feed, Once, Values, convert};
/// # use pilaster::{Error, Result, bytes::Scratch, filo::{Element, Vector}};
///
/// /// Each value as a share of the sum of its column.
/// #[derive(Default)]
/// struct Shares { sum: i32, last_pass: bool, shares: Vec<f64> }
///
/// impl Build for Shares {
///     type Error = Error;
///     fn feed(&self) -> Feed { Feed::Columns }
///     // The first pass adds the values, the second one divides them.
///     fn passes<C: Column>(&self, _: &C) -> u32 { 2 }
///     fn open(&mut self, _: u64) -> Result<()> { Ok(()) }
///     fn batch<C: Column>(&mut self, _: usize, _: &str, _: u64, _: &C, batch: &Batch<'_, C>) -> Result<()> {
///         let Values::I32(values) = batch.values else { panic!("not Ints") };
///         match self.last_pass {
///             false => self.sum += values.iter().sum::<i32>(),
///             true => self.shares.extend(values.iter().map(|value| f64::from(*value) / f64::from(self.sum))),
///         }
///         Ok(())
///     }
///     fn close(&mut self) -> Result<()> { self.last_pass = !self.last_pass; Ok(()) }
/// }
///
/// // The Ints 1, 2 and 5.
/// let chunk = [6, 5, 0, 0, 8, 0, 0, 0, 1, 2, 5];
/// let mut table = Once::new(Vector::open(&chunk, Element::Int)?);
/// let mut shares = Shares::default();
/// convert(&mut table, &mut shares, &mut Scratch::new(&mut [0; 64]))?;
/// assert_eq!(shares.shares, [0.125, 0.25, 0.625]);
/// // Two passes are enough.
/// assert!(!shares.again());
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
pub trait Build {
    /// The error type of the builder and its sink.
    type Error: From<Error>;

    /// Returns the order in which rows are fed.
    fn feed(&self) -> Feed;

    /// Returns how often column `col` is fed with [`Feed::Columns`]: 2 if the format stores lengths before bytes.
    fn passes<C: Column>(&self, col: &C) -> u32 {
        let _ = col;
        1
    }

    /// Returns whether the column that was fed as often as [`passes`](Self::passes) says is to be fed once more, since it has
    /// many rows.
    fn again(&self) -> bool {
        false
    }

    /// Returns the size in bytes of the memory that the builder keeps for column `k` between [`open`](Self::open) and
    /// [`close`](Self::close), if several columns may be fed between them: batches of each in the order of its rows, and the
    /// first batch of a column after the first ones of the columns before it. Then `close` ends a pass of all of them. `None`,
    /// the default, if each has passes of its own. Asked before each pass. With [`Feed::Columns`].
    ///
    /// ```
    /// # #[cfg(all(feature = "bcolz", feature = "std"))] {
    /// use pilaster::bcolz::write::{Builder, FileSystem, WriteOptions};
    /// use pilaster::column::{Borrowed, Build, Prim, Type, Values};
    ///
    /// // A chunk of each column.
    /// let options = WriteOptions { chunklen: Some(1000), ..WriteOptions::DEFAULT };
    /// let builder = Builder::create(FileSystem::default(), "new", &options);
    /// assert_eq!(builder.beside(0, &Borrowed::new(Type::Prim(Prim::F64), Values::F64(&[]))), Some(8000));
    /// # }
    /// ```
    fn beside<C: Column>(&self, k: usize, col: &C) -> Option<u64> {
        let _ = (k, col);
        None
    }

    /// Takes the number of rows of a table without columns, with [`Feed::Columns`]. No other method is called then.
    ///
    /// ```
    /// # #[cfg(feature = "filo")] {
    /// use pilaster::column::Build;
    /// use pilaster::error::{Kind, Result};
    /// use pilaster::filo::{Builder, Element};
    ///
    /// let mut builder = Builder::new(|_, _: &str, _: Element, _: &[u8]| Ok(()));
    /// assert!(builder.no_columns(0).is_ok());
    /// // Vectors are columns.
    /// assert_eq!(builder.no_columns(5).unwrap_err().kind(), Kind::Lossy);
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Kind::Lossy`] if there are rows, unless the format has a place for their number.
    fn no_columns(&mut self, rows: u64) -> Result<(), Self::Error> {
        if rows > 0 { Err(Error::new(Kind::Lossy, What::ROW, 0).into()) } else { Ok(()) }
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

/// Feeds all rows of `table` to `build`. `scratch` holds one part and one batch at a time.
///
/// ```
/// # #[cfg(all(feature = "filo", feature = "jay", feature = "alloc"))] {
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Once, Table, convert};
/// use pilaster::filo::{Element, Vector};
/// use pilaster::jay::{self, write::Builder};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // The Ints 1, 2 and 5, from Filo to Jay.
/// let chunk = [6, 5, 0, 0, 8, 0, 0, 0, 1, 2, 5];
/// let mut table = Once::new(Vector::open(&chunk, Element::Int)?);
/// let mut builder = Builder::new(Vec::new(), &jay::write::WriteOptions::DEFAULT)?;
/// convert(&mut table, &mut builder, &mut Scratch::new(&mut [0; 1024]))?;
/// let bytes = builder.finish()?;
///
/// let file = jay::File::open(&bytes, &jay::ReadOptions::DEFAULT, &mut Scratch::new(&mut []))?;
/// assert_eq!(Once::new(file).to_vec::<i32>("v")?, [1, 2, 5]);
/// # Ok(())
/// # }
/// # main().unwrap();
/// # }
/// ```
///
/// # Errors
/// Errors of the table and of the builder; [`Kind::NoRoom`](crate::error::Kind::NoRoom) if `scratch` is too small for a
/// part and one row; errors of [`Build::no_columns`] for a table without columns and a builder of [`Feed::Columns`].
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
    let mut told = false;
    loop {
        let mut outer = scratch.scope();
        let Some(part) = table.next_part(&mut outer)? else { return Ok(()) };
        let mut first = 0;
        // A group without rows tells the columns of a table that has none.
        while first < part.rows() || !core::mem::replace(&mut told, true) {
            let end = part.rows().min(first.saturating_add(most));
            build.open(end.saturating_sub(first))?;
            for k in 0..part.width() {
                feed_column(part, k, first..end, 0, build, &mut outer)?;
            }
            build.close()?;
            (first, told) = (end, true);
        }
    }
}

fn by_columns<T: Table, B: Build>(table: &mut T, build: &mut B, scratch: &mut Scratch<'_>) -> Result<(), B::Error> {
    let done = one_by_one(table, build, scratch);
    table.choose(None);
    done
}

fn one_by_one<T: Table, B: Build>(table: &mut T, build: &mut B, scratch: &mut Scratch<'_>) -> Result<(), B::Error> {
    let (mut k, mut pass) = (0, 0);
    loop {
        // Otherwise a table of n columns would unpack each of them n times.
        table.choose(Some(&[k]));
        let (mut width, mut passes, mut at) = (0, 1, 0u64);
        let mut opened = false;
        table.restart()?;
        loop {
            let mut outer = scratch.scope();
            let Some(part) = table.next_part(&mut outer)? else { break };
            width = part.width();
            if k >= width {
                if width == 0 {
                    at = at.saturating_add(part.rows());
                    continue;
                }
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
        if width == 0 {
            return build.no_columns(at);
        }
        pass = u32::saturating_add(pass, 1);
        if pass >= passes && !build.again() {
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
