//! Scratch memory on the heap.

use alloc::vec;
use alloc::vec::Vec;

use crate::bytes::Scratch;
use crate::error::{Error, Kind, Result, What};
use crate::limits::Limits;

/// Scratch memory on the heap that grows if it was too small.
///
/// ```
/// use pilaster::column::Memory;
///
/// let mut memory = Memory::with_len(1024)?;
/// let rows = loop {
///     let taken = memory.scratch().take::<u64>(100_000).map(|rows| rows.len());
///     match taken {
///         Ok(rows) => break rows,
///         Err(e) => memory.grow(e)?,
///     }
/// };
/// assert_eq!(rows, 100_000);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Memory(Vec<u8>);

impl Memory {
    /// Smallest size in bytes after growth: enough for a batch of most columns.
    const FIRST: u64 = 1 << 16;

    /// Maximum size in bytes: two parts of the largest size that [`Limits::DEFAULT`] allows.
    const MOST: u64 = Limits::DEFAULT.max_decoded.saturating_mul(2);

    /// Allocates `len` bytes.
    ///
    /// # Errors
    /// [`Kind::Limit`] if `len` is more than twice [`Limits::max_decoded`], or above `isize::MAX`.
    pub fn with_len(len: u64) -> Result<Self> {
        match isize::try_from(len) {
            Ok(bytes) if len <= Self::MOST => Ok(Memory(vec![0; bytes.unsigned_abs()])),
            _ => Err(Error::needing(Kind::Limit, What::MAX_DECODED, 0, Limits::DEFAULT.max_decoded)),
        }
    }

    /// Returns the whole memory as a scratch buffer.
    #[must_use]
    pub fn scratch(&mut self) -> Scratch<'_> {
        Scratch::new(&mut self.0)
    }

    /// Replaces the memory by a larger one if `e` is [`Kind::NoRoom`]. The new size is the old one plus
    /// [`need`](Error::need), and at least twice the old one.
    ///
    /// # Errors
    /// `e` itself if its kind is another, or if the memory has the size that [`with_len`](Self::with_len) allows at
    /// most.
    pub fn grow(&mut self, e: Error) -> Result<()> {
        let len = self.0.len() as u64;
        let more = len.saturating_mul(2).max(len.saturating_add(e.need().into())).clamp(Self::FIRST, Self::MOST);
        if e.kind() != Kind::NoRoom || more <= len {
            return Err(e);
        }
        // The old memory is released first.
        self.0 = Vec::new();
        *self = Self::with_len(more)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_to_what_is_needed_and_not_without_end() {
        let mut memory = Memory::default();
        memory.grow(Error::needing(Kind::NoRoom, What::SCRATCH, 0, 5)).unwrap();
        assert_eq!(memory.scratch().room(), 1 << 16);
        memory.grow(Error::needing(Kind::NoRoom, What::SCRATCH, 0, 1 << 20)).unwrap();
        assert_eq!(memory.scratch().room(), (1 << 16) + (1 << 20));
        assert!(memory.grow(Error::new(Kind::Invalid, What::INPUT, 0)).is_err());
        assert_eq!(Memory::with_len(u64::MAX).unwrap_err().kind(), Kind::Limit);
    }
}
