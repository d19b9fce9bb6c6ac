//! A chunk as a table of one column.

use super::chunk::Chunk;
use super::{Column, Dtype};
use crate::bytes::Scratch;
use crate::column::{self, Bookmark};
use crate::error::{Error, Kind, Result, What};

/// The items of a chunk, as a table of one column. A chunk does not contain the type of its items, so the caller
/// provides the [`Dtype`].
///
/// ```
/// use pilaster::bcolz::chunk::Chunk;
/// use pilaster::bcolz::{Dtype, Items, ItemsPart};
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column as _, Part as _, Table as _, Values};
///
/// // A plain copy of the numbers 7 and 300.
/// let bytes = b"\x02\x01\x13\x02\x04\0\0\0\x04\0\0\0\x14\0\0\0\x07\0\x2c\x01";
/// let mut items = Items::new(Chunk::open(bytes)?, Dtype::parse("uint16")?)?;
/// let mut memory = vec![0; items.need() as usize];
/// let part: ItemsPart<'_> = items.next_part(&mut Scratch::new(&mut memory))?.expect("one part");
/// let mut memory = [0; 16];
/// let batch = part.column(0)?.read(0..2, &mut Scratch::new(&mut memory))?;
/// assert!(matches!(batch.values, Values::U16(&[7, 300])));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Items<'c> {
    chunk: Chunk<'c>,
    dtype: Dtype<'c>,
    done: bool,
}

impl<'c> Items<'c> {
    /// Creates a table of the items of `chunk`, which have the type `dtype`.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if the decoded size is not a multiple of the item size; [`Kind::Misuse`] for objects, which
    /// have no fixed size.
    pub fn new(chunk: Chunk<'c>, dtype: Dtype<'c>) -> Result<Self> {
        if dtype == Dtype::Object {
            return Err(Error::new(Kind::Misuse, What::BCOLZ_DTYPE, 0));
        }
        if chunk.nbytes().checked_rem(dtype.size() as usize) != Some(0) {
            return Err(Error::needing(Kind::Invalid, What::BLOSC_NBYTES, 4, chunk.nbytes() as u64));
        }
        Ok(Items { chunk, dtype, done: false })
    }

    /// Creates a table of items of unknown type: byte strings of the item size in the header.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new).
    pub(crate) fn opaque(chunk: Chunk<'c>) -> Result<Self> {
        #[allow(clippy::cast_possible_truncation, reason = "1 to 255")]
        Items::new(chunk, Dtype::Void(chunk.typesize() as u32))
    }

    /// Checks that every item of a decoded chunk can be read.
    pub(crate) fn check(dtype: Dtype<'_>, data: &[u8]) -> Result<()> {
        let rows = data.len().checked_div(dtype.size() as usize).unwrap_or(0);
        Column::new(dtype, &[], rows as u64, data)?.check()
    }

    /// Returns the number of items.
    #[must_use]
    pub(crate) fn rows(&self) -> u64 {
        self.chunk.nbytes().checked_div(self.dtype.size() as usize).unwrap_or(0) as u64
    }

    /// Returns an upper bound of the scratch bytes that [`next_part`](column::Table::next_part) takes.
    #[must_use]
    pub fn need(&self) -> u64 {
        Scratch::cost::<u64>(self.chunk.nbytes().div_ceil(8) as u64).saturating_add(self.chunk.scratch_len() as u64)
    }
}

impl<'c> column::Table for Items<'c> {
    type Part<'p>
        = ItemsPart<'p>
    where
        Self: 'p;

    fn next_part<'p>(&mut self, outer: &mut Scratch<'p>) -> Result<Option<ItemsPart<'p>>>
    where
        Self: 'p,
    {
        if self.done {
            return Ok(None);
        }
        // Aligned, so that numbers are borrowed instead of copied.
        let data: &mut [u8] = bytemuck::cast_slice_mut(outer.take::<u64>(self.chunk.nbytes().div_ceil(8))?);
        self.chunk.decode(data, outer)?;
        let data = data.get(..self.chunk.nbytes()).unwrap_or_default();
        self.done = true;
        Ok(Some(ItemsPart(Column::new(self.dtype, &[], self.rows(), data)?)))
    }

    fn bookmark(&self) -> Bookmark {
        Bookmark::new(0, self.done.into())
    }

    fn seek(&mut self, to: Bookmark) -> Result<()> {
        self.done = to != Bookmark::START;
        Ok(())
    }
}

/// All items of a chunk, decoded.
#[derive(Clone, Copy, Debug)]
pub struct ItemsPart<'p>(Column<'p>);

impl<'p> column::Part for ItemsPart<'p> {
    type Col = Column<'p>;

    fn rows(&self) -> u64 {
        column::Column::rows(&self.0)
    }

    fn width(&self) -> usize {
        1
    }

    /// Returns the empty name: a chunk has no name.
    fn name(&self, k: usize) -> Result<&str> {
        self.column(k).map(|_| "")
    }

    fn column(&self, k: usize) -> Result<Column<'p>> {
        match k {
            0 => Ok(self.0),
            _ => Err(column::no_column(k, 1)),
        }
    }
}
