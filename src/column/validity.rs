//! Which rows have a value.

use crate::bytes::Bits;

/// Which rows of a batch have a value. A missing value is always told here, never by a sentinel;
/// what the values hold in such a row is unspecified.
#[derive(Clone, Copy, Debug)]
pub enum Validity<'s> {
    /// Every row has a value.
    All,
    /// No row has one.
    None,
    /// Row `i` has one where bit `i` is 1.
    Bits(Bits<'s>),
}

impl<'s> Validity<'s> {
    /// Returns whether row `i` of the batch has a value. False after the end of a bitmap.
    #[inline]
    #[must_use]
    pub fn get(&self, i: usize) -> bool {
        match self {
            Validity::All => true,
            Validity::None => false,
            Validity::Bits(bits) => bits.get(i) == Some(true),
        }
    }

    /// How many of `rows` rows have no value.
    #[must_use]
    pub fn nulls(&self, rows: usize) -> usize {
        match self {
            Validity::All => 0,
            Validity::None => rows,
            Validity::Bits(bits) => rows.saturating_sub(bits.count_ones()),
        }
    }

    /// Returns up to 64 rows starting at row `i` as a word, 1 = has a value; zeros after the end of a bitmap.
    #[inline]
    #[must_use]
    #[cfg(feature = "filo")]
    pub(crate) fn word(&self, i: usize) -> u64 {
        match self {
            Validity::All => u64::MAX,
            Validity::None => 0,
            Validity::Bits(bits) => bits.word(i),
        }
    }
}
