//! The variable pool: strings, each preceded by its length (section 7).

use super::header;
use crate::column::Span;
use crate::dataseries::check::ExtentHash;
use crate::dataseries::raw::{POOL_START, entry_len, entry_pad};
use crate::error::{Error, Kind, Result, What};

/// An unpacked pool. Length words keep the byte order of the file; a length is converted when it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool<'s> {
    /// All bytes except the first four, which are always zero and never stored.
    tail: &'s [u8],
    /// Whether length words are in foreign byte order.
    swapped: bool,
}

impl<'s> Pool<'s> {
    pub(super) const fn new(tail: &'s [u8], swapped: bool) -> Self {
        Pool { tail, swapped }
    }

    /// Returns the bytes that the spans of [`span`](Self::span) refer to.
    pub(super) const fn bytes(&self) -> &'s [u8] {
        self.tail
    }

    /// Returns the size of the complete pool in bytes.
    fn len(&self) -> u64 {
        (self.tail.len() as u64).saturating_add(POOL_START as u64)
    }

    fn length(&self, word: [u8; 4]) -> Option<u32> {
        let stored = u32::from_ne_bytes(word);
        let len = if self.swapped { header::word(stored, false) } else { stored };
        (len.cast_signed() >= 0).then_some(len)
    }

    /// Walks the entries, which must fill the pool exactly.
    pub(super) fn walk(&self) -> Result<()> {
        self.entries(None)
    }

    /// Walks the entries and returns the hash of an extent with these `records` (section 3.4).
    pub(super) fn hash(&self, records: &[u8]) -> Result<u32> {
        let mut hash = ExtentHash::new();
        hash.part(records);
        hash.end_part();
        hash.part(&[0; POOL_START]);
        hash.part(self.tail);
        hash.end_part();
        self.entries(Some(&mut hash))?;
        Ok(hash.value())
    }

    /// Like [`hash`](Self::hash) for two extents, with the hash computations interleaved.
    pub(super) fn hashes([(a, records_a), (b, records_b)]: [(&Self, &[u8]); 2]) -> [Result<u32>; 2] {
        let (mut one, mut two) = (ExtentHash::new(), ExtentHash::new());
        ExtentHash::parts([&mut one, &mut two], [records_a, records_b]);
        for hash in [&mut one, &mut two] {
            hash.end_part();
            hash.part(&[0; POOL_START]);
        }
        ExtentHash::parts([&mut one, &mut two], [a.tail, b.tail]);
        [(a, one), (b, two)].map(|(pool, mut hash)| {
            hash.end_part();
            pool.entries(Some(&mut hash))?;
            Ok(hash.value())
        })
    }

    fn entries(&self, mut hash: Option<&mut ExtentHash>) -> Result<()> {
        let mut rest = self.tail;
        while let Some(word) = rest.first_chunk::<4>() {
            let next = self
                .length(*word)
                .and_then(|len| usize::try_from(entry_len(len.into())).ok())
                .and_then(|len| rest.get(len..));
            let Some(next) = next else { return Err(self.bad_entry(rest)) };
            if let Some(hash) = &mut hash {
                hash.word(word);
            }
            rest = next;
        }
        if rest.is_empty() { Ok(()) } else { Err(self.bad_entry(rest)) }
    }

    fn holds(&self, at: u32, len: u32) -> bool {
        u64::from(at).saturating_add(len.into()) <= self.tail.len() as u64
    }

    /// Returns the span of the string of a cell in [`bytes`](Self::bytes).
    #[inline]
    pub(super) fn span(&self, cell: u32) -> Result<Span> {
        if cell == 0 {
            return Ok(Span::default());
        }
        // Offsets in the pool include the four bytes that `tail` lacks. So the string begins in `tail` at the offset
        // that its length word has in the pool.
        let at = (cell as usize).checked_sub(POOL_START);
        let word = at.and_then(|at| self.tail.get(at..)).and_then(|entry| entry.first_chunk());
        match word.and_then(|word| self.length(*word)) {
            Some(len) if cell & 7 == 4 && self.holds(cell, len) => Ok(Span { at: cell, len }),
            _ => Err(bad_cell(cell)),
        }
    }

    /// Checks a string cell (section 7.3).
    #[inline]
    pub(super) fn check(&self, cell: u32) -> Result<()> {
        let whole = || {
            let rest = self.tail.get((cell as usize).checked_sub(POOL_START)?..)?;
            let len = self.length(*rest.first_chunk()?)?;
            // An entry is at least 8 bytes long, its padding at most 7.
            let entry = rest.get(..usize::try_from(entry_len(len.into())).ok()?)?;
            let last = u64::from_le_bytes(*entry.last_chunk()?);
            let pad = entry_pad(len.into());
            Some(cell & 7 == 4 && (pad == 0 || last >> (8u64.wrapping_sub(pad).wrapping_mul(8) & 63) == 0))
        };
        if cell == 0 || whole() == Some(true) { Ok(()) } else { Err(bad_cell(cell)) }
    }

    #[cold]
    fn bad_entry(&self, rest: &[u8]) -> Error {
        let at = self.len().saturating_sub(rest.len() as u64);
        let word = rest.first_chunk().map_or(0, |word| u32::from_ne_bytes(*word));
        Error::needing(Kind::Invalid, What::DATASERIES_POOL, at, word.into())
    }
}

/// Creates the error for an invalid cell. Its `at` is the value of the cell, because only the caller knows the position
/// of the cell.
#[cold]
fn bad_cell(cell: u32) -> Error {
    Error::needing(Kind::Invalid, What::DATASERIES_CELL, cell.into(), cell.into())
}
