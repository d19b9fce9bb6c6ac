//! Scratch memory on the heap.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::{Column, fit};
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
        self.replace(more)
    }

    fn replace(&mut self, len: u64) -> Result<()> {
        // The old memory is released first.
        self.0 = Vec::new();
        *self = Self::with_len(len)?;
        Ok(())
    }

    /// Returns the first of `rows` that [`Column::read`] can read at once in the memory, which grows if one row is too large.
    ///
    /// Some encodings require much memory for the first row and little more for many, such as a frame that is unpacked for all
    /// of its rows. The memory then grows until 1,024 rows fit, but not above 16 MiB, so that a frame is not unpacked for
    /// each row.
    ///
    /// ```
    /// use pilaster::column::{Borrowed, Column, Memory, Prim, Type, Values};
    ///
    /// let years = Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1870, 1848, 1882]));
    /// let (mut memory, mut row) = (Memory::default(), 0);
    /// while row < years.rows() {
    ///     let rows = memory.fit(&years, row..years.rows())?;
    ///     row += years.read(rows, &mut memory.scratch())?.len as u64;
    /// }
    /// assert_eq!(row, 3);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`fit`], [`Kind::NoRoom`] only if the memory cannot grow: [`with_len`](Self::with_len) allows no larger one.
    pub fn fit<C: Column>(&mut self, column: &C, rows: Range<u64>) -> Result<Range<u64>> {
        /// Number of rows that are worth more memory, and how much.
        const FEW: u64 = 1024;
        const MOST: u64 = 16 << 20;
        let few = rows.start..rows.end.min(rows.start.saturating_add(FEW));
        loop {
            match fit(column, rows.clone(), self.0.len()) {
                Err(e) => self.grow(e)?,
                Ok(fitting) if fitting.end >= few.end => return Ok(fitting),
                Ok(fitting) => match column.need(few.clone()) {
                    // Halves of the rows are tried, which can be fewer.
                    Ok(need) if need <= self.0.len() as u64 => return Ok(few),
                    Ok(need) if need <= MOST => self.replace(need)?,
                    _ => return Ok(fitting),
                },
            }
        }
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
