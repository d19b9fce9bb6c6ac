//! A whole file, and parts of one.

use super::tail::check_head;
use super::{Column, HEAD_SPAN, Meta, ReadOptions, Tail};
use crate::bytes::{FileRange, Scratch};
use crate::column;
use crate::error::{Error, Kind, Result, What};

/// Bytes of a file, and where they lie in it: all of it, or what was fetched for a column.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    bytes: &'a [u8],
    at: u64,
}

impl<'a> Window<'a> {
    /// `bytes`, which lie at offset `at` of the file.
    #[must_use]
    pub const fn new(bytes: &'a [u8], at: u64) -> Self {
        Window { bytes, at }
    }

    /// A range of the file.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if it is not inside.
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

/// A file in memory: all its rows are one part ([`Once`](column::Once) makes a table of it).
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

    /// The metadata.
    #[must_use]
    pub const fn meta(&self) -> &Meta<'a> {
        &self.meta
    }

    /// Where metadata and data lie.
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
