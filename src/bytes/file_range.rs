//! Ranges of a file that may be larger than memory.

use crate::error::{Error, Kind, Result, What};

/// A range of a file, for instance the one that the next step of a reader needs.
///
/// The caller fetches it from a memory map, a disk or a server. If the whole file is in memory, [`of`](Self::of)
/// borrows it.
///
/// ```
/// use pilaster::bytes::FileRange;
/// use pilaster::error::What;
///
/// let footer = FileRange { at: 3, len: 2 };
/// assert_eq!(footer.end(), Some(5));
/// assert_eq!(footer.of(b"abcde", What::INPUT)?, b"de");
/// let e = footer.of(b"abcd", What::INPUT).unwrap_err();
/// assert_eq!(e.to_string(), "input at offset 3: truncated, 2 bytes needed");
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FileRange {
    /// Offset of the first byte.
    pub at: u64,
    /// Length in bytes.
    pub len: u64,
}

impl FileRange {
    /// Returns the offset after the last byte, or `None` if it exceeds `u64::MAX`.
    #[must_use]
    pub const fn end(self) -> Option<u64> {
        self.at.checked_add(self.len)
    }

    /// Returns the bytes of the range in `file`, the whole file; `None` if the file ends before the range does.
    #[must_use]
    pub(crate) fn find(self, file: &[u8]) -> Option<&[u8]> {
        let to = usize::try_from(self.end()?).ok()?;
        file.get(usize::try_from(self.at).ok()?..to)
    }

    /// Returns the bytes of the range in `file`, the whole file.
    ///
    /// # Errors
    /// [`Kind::Truncated`] about `what` if the file ends before the range does.
    pub fn of(self, file: &[u8], what: What) -> Result<&[u8]> {
        self.find(file).ok_or_else(|| Error::needing(Kind::Truncated, what, self.at, self.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_with_the_file() {
        let of = |at, len| FileRange { at, len }.of(&[1, 2, 3], What::INPUT);
        assert_eq!(of(1, 2), Ok(&[2u8, 3][..]));
        assert_eq!(of(3, 0), Ok(&[][..]));
        assert_eq!(of(2, 2).unwrap_err().need(), 2);
        assert!(of(4, 0).is_err() && of(u64::MAX, 2).is_err() && of(2, u64::MAX).is_err());
    }
}
