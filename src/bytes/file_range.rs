//! Ranges of a file that may be larger than memory.

use crate::error::{Error, Kind, Result, What};

/// A range of a file: what a step of a reader wants to see next.
///
/// The caller fetches it from a page, a map, a disk or a server; over a file in memory it is
/// [`of`](Self::of).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FileRange {
    /// Offset of the first byte.
    pub at: u64,
    /// How many bytes.
    pub len: u64,
}

impl FileRange {
    /// Offset behind the last byte; `None` beyond 64 bits.
    #[must_use]
    pub const fn end(self) -> Option<u64> {
        self.at.checked_add(self.len)
    }

    /// The bytes of the range in a `file` that is in memory; `None` if it ends before.
    #[must_use]
    pub(crate) fn find(self, file: &[u8]) -> Option<&[u8]> {
        let to = usize::try_from(self.end()?).ok()?;
        file.get(usize::try_from(self.at).ok()?..to)
    }

    /// The bytes of the range in a `file` that is in memory.
    ///
    /// # Errors
    /// [`Kind::Truncated`] about `what`, if the file ends before.
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
