//! The index extent: the offset and the type of every extent (section 10).

use super::extent::Stored;
use super::{Extent, Part, ReadOptions, Trailer};
use crate::bytes::{Endian, FileRange, Scratch};
use crate::column::Part as _;
use crate::dataseries::raw::{ALIGN, HEADER_LEN, INDEX_RECORD, INDEX_TYPE, XML_TYPE};
use crate::dataseries::types::ExtentType;
use crate::error::{Error, Kind, Result, What};

/// The index of a file: offset and type of every extent. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Index<'a> {
    part: Part<'a>,
    /// The range of the index extent itself.
    own: FileRange,
}

/// A row of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexRow<'a> {
    /// The range of the extent. The index stores its offset; the extent ends where the next one begins.
    pub span: FileRange,
    /// The name of its type.
    pub type_name: &'a [u8],
}

impl<'a> Index<'a> {
    /// Unpacks the index extent that `trailer` refers to and checks all its rows. The first row must be the type extent
    /// and the last one the index itself, with increasing offsets.
    ///
    /// # Errors
    /// Errors of an invalid extent or row; [`Kind::NoRoom`] if `scratch` is too small.
    pub fn open<E: Endian>(
        extent: &Extent<'a, E>,
        trailer: &Trailer,
        options: &ReadOptions,
        scratch: &mut Scratch<'a>,
    ) -> Result<Self> {
        Index::of(&extent.stored, E::IS_NATIVE, trailer, options, scratch)
    }

    pub(super) fn of(
        extent: &Stored<'a>,
        native: bool,
        trailer: &Trailer,
        options: &ReadOptions,
        scratch: &mut Scratch<'a>,
    ) -> Result<Self> {
        let own = extent.header.span();
        if own != trailer.index {
            let FileRange { at, len } = trailer.index;
            return Err(Error::needing(Kind::Invalid, What::DATASERIES_TRAILER, at, len));
        }
        if extent.type_name() != INDEX_TYPE.as_bytes() {
            return Err(extent.header.unknown_type());
        }
        let part = extent.unpack::<ExtentType<'_>>(&ExtentType::INDEX, native, options, scratch)?;
        let index = Index { part, own };
        index.check()?;
        Ok(index)
    }

    fn check(&self) -> Result<()> {
        let (mut before, mut name) = (0, &[][..]);
        for k in 0..self.len() {
            let bad = |at| Err(Error::needing(Kind::Invalid, What::DATASERIES_INDEX, k, at));
            let Some(at) = self.offset(k) else { return bad(0) };
            name = self.name(k)?;
            let (first, last) = (k == 0, k.saturating_add(1) == self.len());
            let named = (name == XML_TYPE.as_bytes()) == first;
            let placed = (at == HEADER_LEN as u64) == first && (at == self.own.at) == last;
            if !named || !placed || at <= before || !at.is_multiple_of(ALIGN as u64) {
                return bad(at);
            }
            before = at;
        }
        match self.len() {
            2.. if name == INDEX_TYPE.as_bytes() => Ok(()),
            len => Err(Error::new(Kind::Invalid, What::DATASERIES_INDEX, len)),
        }
    }

    /// Returns the number of extents of the file, type extent and index extent included; at least 2.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.part.rows()
    }

    /// Returns whether the index has no rows, which is never the case.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns row `k`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such row.
    pub fn get(&self, k: u64) -> Result<IndexRow<'a>> {
        let none = || Error::needing(Kind::OutOfRange, What::DATASERIES_INDEX, k, self.len());
        let at = self.offset(k).ok_or_else(none)?;
        let end = match self.offset(k.saturating_add(1)) {
            Some(end) => end,
            None => self.own.end().unwrap_or(at),
        };
        Ok(IndexRow { span: FileRange { at, len: end.saturating_sub(at) }, type_name: self.name(k)? })
    }

    fn record(&self, k: u64) -> Option<&'a [u8; INDEX_RECORD]> {
        let (records, _) = self.part.records().as_chunks::<INDEX_RECORD>();
        records.get(usize::try_from(k).ok()?)
    }

    fn offset(&self, k: u64) -> Option<u64> {
        let [.., a, b, c, d, e, f, g, h] = *self.record(k)?;
        u64::try_from(i64::from_ne_bytes([a, b, c, d, e, f, g, h])).ok()
    }

    fn name(&self, k: u64) -> Result<&'a [u8]> {
        match self.record(k) {
            Some([a, b, c, d, ..]) => self.part.string(u32::from_ne_bytes([*a, *b, *c, *d])),
            None => Ok(&[]),
        }
    }
}
