//! The traits that every format implements for reading.

#[cfg(feature = "alloc")]
use alloc::string::String;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt::Debug;
use core::ops::Range;

use super::{Batch, Bookmark, Place, Type, Zone};
#[cfg(feature = "alloc")]
use super::{FromColumn, collect};
use crate::bytes::Scratch;
use crate::error::{Error, Kind, Result, What};

/// A table of a file, read part by part.
///
/// ```
/// # #[cfg(feature = "dataseries")] {
/// use pilaster::bytes::{LittleEndian, Scratch};
/// use pilaster::column::{Part, Table};
/// use pilaster::dataseries::{File, ReadOptions};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
/// let mut memory = [0; 4096];
/// let mut scratch = Scratch::new(&mut memory);
/// let file = File::<LittleEndian>::open(bytes, &ReadOptions::DEFAULT, &mut scratch)?;
/// let mut table = file.table("Tiny")?;
/// assert!(table.lists("s") && !table.lists("t"));
///
/// // Its only part has two rows, so that a skip of 100 rows skips all of it.
/// assert_eq!(table.skip(100)?, 2);
/// assert!(table.next_part(&mut scratch.scope())?.is_none());
///
/// table.restart()?;
/// let mut inner = scratch.scope();
/// let part = table.next_part(&mut inner)?.expect("the first part");
/// assert_eq!((part.rows(), part.name(2)?), (2, "i"));
///
/// # #[cfg(feature = "alloc")] {
/// // Or all parts of one column at once, in memory of the heap.
/// assert_eq!(table.to_vec::<Option<i32>>("i")?, [Some(-2), None]);
/// assert_eq!(table.to_strings("s")?, ["hello", ""]);
/// # }
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
pub trait Table {
    /// Rows that are unpacked together: a file, an extent, or the chunks of all columns with the same rows.
    type Part<'p>: Part
    where
        Self: 'p;

    /// Returns the next part, unpacked into `outer` if it is compressed, or `None` after the last one. A table without rows has one
    /// part, without rows.
    ///
    /// The part borrows the table, because some tables own the rows of their current part. Both borrows have one
    /// lifetime: pass a [`scope`](Scratch::scope) if `outer` lives longer than the part.
    ///
    /// # Errors
    /// Errors of an invalid part. After [`Kind::NoRoom`] the next call with more memory returns the same part.
    fn next_part<'p>(&'p mut self, outer: &mut Scratch<'p>) -> Result<Option<Self::Part<'p>>>
    where
        Self: 'p;

    /// Returns where the table is: before the part that [`next_part`](Self::next_part) returns next.
    fn bookmark(&self) -> Bookmark;

    /// Continues at a bookmark of this table, or of the same table of the same file that was opened again. A bookmark of another
    /// table leads to an error or to any rows.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] from a table that can only be read from its start; errors of a table that cannot be read twice.
    fn seek(&mut self, to: Bookmark) -> Result<()>;

    /// Skips parts that are completely within the next `rows` rows, without unpacking them: only their number of rows
    /// is checked. Returns the number of skipped rows. A table that cannot find the parts without unpacking skips none.
    ///
    /// # Errors
    /// Errors of an invalid part header.
    fn skip(&mut self, rows: u64) -> Result<u64> {
        let _ = rows;
        Ok(0)
    }

    /// Restarts at the first part, for builders that are fed column by column.
    ///
    /// # Errors
    /// Errors of a table that cannot be read twice.
    fn restart(&mut self) -> Result<()> {
        self.seek(Bookmark::START)
    }

    /// Announces the only columns, by number, that will be read from the next parts; all columns if `None`. A table
    /// that unpacks columns one by one leaves the others out: they have a name and a type, but no rows. Returns
    /// whether it does; other tables ignore the call.
    ///
    /// An empty choice returns the types of all columns without unpacking any. This tells the schema, also of a table without rows. The
    /// page of the tables of bcolz datasets has an example.
    fn choose(&mut self, columns: Option<&[usize]>) -> bool {
        let _ = columns;
        false
    }

    /// Returns whether the table is known to have a column `name` before a part is read. A table that learns its
    /// columns only from its parts returns `false`.
    fn lists(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Returns the values of column `name` in all parts, starting at the first part. [`FromColumn`] lists the types
    /// `T`.
    ///
    /// `st.x` is field `x` of the struct column `st`, unless a column is called `st.x`. A missing struct has missing
    /// fields.
    ///
    /// ```
    /// # #[cfg(all(feature = "vortex", feature = "alloc"))] {
    /// use pilaster::column::Table;
    ///
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/def_one_row_a.vortex"));
    /// let file = pilaster::vortex::File::open(bytes)?;
    /// let mut table = file.table()?;
    /// assert_eq!(table.to_vec::<Option<i64>>("st.q")?, [Some(1)]);
    /// # }
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::Unknown`] if no column or field has the name; errors of [`Column::to_vec`].
    #[cfg(feature = "alloc")]
    fn to_vec<T: FromColumn>(&mut self, name: &str) -> Result<Vec<T>>
    where
        Self: Sized,
    {
        collect::all(self, name)
    }

    /// Returns the texts of column `name` in all parts. If texts are missing, use `to_vec::<Option<String>>`.
    ///
    /// # Errors
    /// Errors of [`to_vec`](Self::to_vec).
    #[cfg(feature = "alloc")]
    fn to_strings(&mut self, name: &str) -> Result<Vec<String>>
    where
        Self: Sized,
    {
        self.to_vec(name)
    }
}

/// Rows of a table that are unpacked together.
///
/// ```
/// # #[cfg(feature = "vortex")] {
/// use pilaster::column::{Column, Part, Type};
/// use pilaster::error::Kind;
/// use pilaster::vortex::File;
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/def_one_row_a.vortex"));
/// let file = File::open(bytes)?;
/// let part = file.part()?;
/// assert_eq!((part.rows(), part.width()), (1, 6));
/// let mut names = (0..part.width()).map(|k| part.name(k));
/// assert!(names.eq(["i", "s", "f", "b", "l", "st"].map(Ok)));
///
/// assert_eq!(part.named("s")?.ty(), Type::Utf8);
/// assert_eq!(part.find("st")?, Some(5));
/// assert_eq!(part.column(5)?.ty(), Type::Struct(1));
/// assert_eq!(part.named("x").unwrap_err().kind(), Kind::Unknown);
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
pub trait Part: Copy {
    /// The column type of the format.
    type Col: Column;

    /// Returns the number of rows.
    fn rows(&self) -> u64;

    /// Returns the number of columns.
    fn width(&self) -> usize;

    /// Returns the name of column `k`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `k` is not below [`width`](Self::width), [`Kind::Utf8`] if the name is not valid UTF-8.
    fn name(&self, k: usize) -> Result<&str>;

    /// Returns column `k`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `k` is not below [`width`](Self::width); errors of an invalid column.
    fn column(&self, k: usize) -> Result<Self::Col>;

    /// Returns the number of the first column named `name`. A column whose name is not valid UTF-8 is skipped.
    ///
    /// # Errors
    /// Errors of [`name`](Self::name) except [`Kind::Utf8`].
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

/// A column: a small `Copy` handle. The children of a nested column are columns, too, but do not know which rows of
/// their parent are missing ([`child`](Column::child)).
///
/// ```
/// # #[cfg(feature = "vortex")] {
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column, Part, Type, Value};
/// use pilaster::vortex::File;
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/def_one_row_a.vortex"));
/// let file = File::open(bytes)?;
/// // A struct with one field.
/// let column = file.part()?.named("st")?;
/// assert_eq!((column.ty(), column.rows(), column.nullable()), (Type::Struct(1), 1, true));
/// assert_eq!((column.child_name(0)?, column.child(0)?.ty().children()), ("q", 0));
/// // Only timestamps have a time zone.
/// assert_eq!(column.zone()?, None);
///
/// let mut memory = [0; 256];
/// assert!(column.need(0..1)? <= 256);
/// let batch = column.read(0..1, &mut Scratch::new(&mut memory))?;
/// // The rows of the children are counted in `batch.of`.
/// let Value::Nested(rows) = batch.value(0)? else { panic!("not a struct") };
/// let field = batch.of.child(0)?.read(rows, &mut Scratch::new(&mut memory))?;
/// assert_eq!(field.value(0)?, Value::Int(1));
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
pub trait Column: Copy + Debug {
    /// Returns the logical type.
    fn ty(&self) -> Type;

    /// Returns whether rows may be missing.
    fn nullable(&self) -> bool;

    /// Returns the number of rows.
    fn rows(&self) -> u64;

    /// Returns the name of the time zone, or `None` if the type is no timestamp or has no zone.
    ///
    /// # Errors
    /// [`Kind::Utf8`] if the name is not valid UTF-8.
    fn zone(&self) -> Result<Option<&str>> {
        Ok(None)
    }

    /// Returns whether the rows are variants: values of any type. A variant is a struct of two byte strings, `metadata` and
    /// `value`, in the variant encoding of Apache Parquet. Only Vortex has such columns.
    fn is_variant(&self) -> bool {
        false
    }

    /// Returns child `k` of a nested column.
    ///
    /// A child does not know which rows of its parent are missing: its value there is unspecified. Check the parent's
    /// validity.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `k` is not below [`Type::children`].
    fn child(&self, k: usize) -> Result<Self> {
        Err(no_child(k, self.ty().children()))
    }

    /// Returns the name of child `k` of a struct.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `k` is not below [`Type::children`], [`Kind::Utf8`] if the name is not valid UTF-8.
    fn child_name(&self, k: usize) -> Result<&str> {
        Err(no_child(k, self.ty().children()))
    }

    /// Returns an upper bound of the scratch bytes that [`read`](Self::read) takes for `rows`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if the rows do not exist.
    fn need(&self, rows: Range<u64>) -> Result<u64>;

    /// Decodes rows starting at `rows.start`. Like `std::io::Read`, it may return fewer rows than requested, but at
    /// least one unless `rows` is empty.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if the rows do not exist, [`Kind::NoRoom`] if `scratch` is too small; errors of invalid
    /// bytes.
    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's;

    /// Returns facts about the rows around `row` without reading them, or `None` if the format stores none or the row
    /// does not exist. Statistics that must be decoded go into `scratch`.
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

    /// Returns where row `row` is stored, for [`at_place`](Self::at_place).
    ///
    /// # Errors
    /// Errors of invalid metadata.
    fn place(&self, row: u64) -> Result<Place> {
        let _ = row;
        Ok(Place::default())
    }

    /// Returns the column with reads that search their rows from a place on, so that a walk over a file of many chunks does not
    /// search all chunks for each batch. Rows before the place are found, too, and a place of another column has no effect. A place
    /// is valid as long as its file is open: the memory of a later file may have the same addresses.
    #[must_use]
    fn at_place(self, place: Place) -> Self {
        let _ = place;
        self
    }

    /// Returns whether row `row` has a value, and the number of rows starting there for which this is the same; `None`
    /// if that is known only after reading rows.
    ///
    /// ```
    /// # #[cfg(feature = "filo")] {
    /// use pilaster::column::Column;
    /// use pilaster::filo::{Element, Vector};
    ///
    /// // Three rows of the Int 7, which may be missing as far as the type says.
    /// let column = Vector::open(&[6, 6, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0], Element::Int)?.column(0)?;
    /// assert_eq!(column.known_validity(1)?, if column.nullable() { None } else { Some((true, 2)) });
    /// # }
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of invalid metadata.
    fn known_validity(&self, row: u64) -> Result<Option<(bool, u64)>> {
        let left = self.rows().checked_sub(row).filter(|left| *left > 0 && !self.nullable());
        Ok(left.map(|left| (true, left)))
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

    /// Returns the texts of `rows`. If texts are missing, use `to_vec::<Option<String>>`.
    ///
    /// # Errors
    /// Errors of [`to_vec`](Self::to_vec).
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

/// A row range of a column that is stored as codes, which are indices of a list of values.
///
/// ```
/// # #[cfg(all(feature = "filo", feature = "alloc"))] {
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column, Dictionary};
/// use pilaster::filo::write::{Plain, Rows, Strings, encode};
/// use pilaster::filo::{Element, Encoding, Packing, Vector};
///
/// // A vector of city names, stored with a dictionary.
/// let rows = Rows::all(Plain::Utf8(Strings::Slices(&[b"Bern", b"Rome", b"Bern", b"Bern"])));
/// let (mut chunk, mut memory) = ([0; 128], [0; 256]);
/// let len = encode(Encoding::DictUtf8(Packing::U4), &rows, &mut chunk, &mut Scratch::new(&mut memory))?;
/// let column = Vector::open(&chunk[..len], Element::Utf8)?.column(0)?;
/// assert_eq!(column.to_strings(1..3)?, ["Rome", "Bern"]);
///
/// // To count a name, its code is compared with the codes of all rows; their texts are not read.
/// let Some(Dictionary { first: 0, len, codes, values }) = column.dictionary(0)? else { panic!("no dictionary") };
/// let names: Vec<Option<String>> = values.to_vec(0..values.rows())?;
/// let bern = names.iter().position(|name| name.as_deref() == Some("Bern"));
/// let codes: Vec<u32> = codes.to_vec(0..len)?;
/// assert_eq!(codes.iter().filter(|code| Some(**code as usize) == bern).count(), 3);
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Dictionary<C> {
    /// The first row of the range.
    pub first: u64,
    /// Number of rows in the range.
    pub len: u64,
    /// One code per row. Its validity is the validity of the row.
    pub codes: C,
    /// The values; code 0 means the first one.
    pub values: C,
}

impl<C> Dictionary<C> {
    /// Returns the dictionary with both columns replaced by the results of `map`.
    #[must_use]
    #[allow(dead_code, reason = "formats use it")]
    pub(crate) fn map<D>(self, map: impl Fn(C) -> D) -> Dictionary<D> {
        Dictionary { first: self.first, len: self.len, codes: map(self.codes), values: map(self.values) }
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
