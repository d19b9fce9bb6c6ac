//! A file in memory, and byte windows of a file.

use super::tail::check_head;
use super::{Column, HEAD_SPAN, Meta, ReadOptions, Tail};
use crate::bytes::{FileRange, Scratch};
use crate::column;
use crate::error::{Error, Kind, Result, What};

/// Bytes of a file and their offset in it: the whole file, or the range fetched for a column.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    bytes: &'a [u8],
    at: u64,
}

impl<'a> Window<'a> {
    /// Creates a window of `bytes`, which start at offset `at` of the file.
    #[must_use]
    pub const fn new(bytes: &'a [u8], at: u64) -> Self {
        Window { bytes, at }
    }

    /// Returns the bytes of a range of the file.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the window does not contain the range.
    pub(crate) fn get(&self, span: FileRange) -> Result<&'a [u8]> {
        let missing = || Error::needing(Kind::Truncated, What::JAY_BUFFER, span.at, span.len);
        let at = span.at.checked_sub(self.at).filter(|_| span.len > 0);
        match at {
            Some(at) => FileRange { at, ..span }.find(self.bytes).ok_or_else(missing),
            None if span.len == 0 => Ok(&[]),
            None => Err(missing()),
        }
    }
}

/// A file in memory. All its rows are one part; [`Once`](column::Once) makes a table of it.
///
/// ```
/// use pilaster::bytes::{FileRange, Scratch};
/// use pilaster::column::{Part, Value};
/// use pilaster::error::What;
/// use pilaster::jay::{File, ReadOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut bytes = std::fs::read("examples/data/keyed_1.jay")?;
/// let file = File::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut []))?;
/// assert_eq!((file.rows(), file.meta().keys()), (50, 1));
/// assert_eq!(file.tail().meta, FileRange { at: 1072, len: 384 });
/// let mut memory = vec![0; file.verify_need() as usize];
/// file.verify(&mut Scratch::new(&mut memory))?;
///
/// // Damages the first character of column 1, a string column.
/// bytes[416] = 0xff;
/// let options = ReadOptions { tolerant: true, ..ReadOptions::DEFAULT };
/// let file = File::open(&bytes, &options, &mut Scratch::new(&mut []))?;
/// let mut problems = Vec::new();
/// file.problems(&mut Scratch::new(&mut memory), &mut |k, error| problems.push((k, error.what())));
/// assert_eq!(problems, [(Some(1), What::JAY_TEXT)]);
/// assert_eq!(file.column(1)?.get(1)?, Value::Text(b"ab"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    bytes: &'a [u8],
    tail: Tail,
    meta: Meta<'a>,
}

impl<'a> File<'a> {
    /// Opens `bytes`. Reads only the metadata. Releases all of `scratch` before it returns; files of up to 32 columns
    /// whose buffers are in order, as writers write them, need no scratch memory.
    ///
    /// # Errors
    /// Errors of invalid signatures and metadata; [`Kind::NoRoom`] if `scratch` is too small.
    pub fn open(bytes: &'a [u8], options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<Self> {
        let len = bytes.len() as u64;
        let end = Tail::span(len)?.of(bytes, What::JAY_TAIL)?;
        check_head(HEAD_SPAN.of(bytes, What::JAY_HEAD)?)?;
        let tail = Tail::of(end, len, options)?;
        let meta = Meta::open(tail.meta.of(bytes, What::JAY_META)?, &tail, options, scratch)?;
        Ok(File { bytes, tail, meta })
    }

    /// Returns the metadata.
    #[must_use]
    pub const fn meta(&self) -> &Meta<'a> {
        &self.meta
    }

    /// Returns the positions of metadata and data.
    #[must_use]
    pub const fn tail(&self) -> &Tail {
        &self.tail
    }

    pub(super) const fn window(&self) -> Window<'a> {
        Window::new(self.bytes, 0)
    }

    pub(super) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<'a> column::Part for File<'a> {
    type Col = Column<'a>;

    fn rows(&self) -> u64 {
        self.meta.rows()
    }

    fn width(&self) -> usize {
        self.meta.width()
    }

    fn name(&self, k: usize) -> Result<&str> {
        self.meta.name(k)
    }

    fn column(&self, k: usize) -> Result<Column<'a>> {
        Column::new(self.meta.field(k)?, self.window())
    }
}
