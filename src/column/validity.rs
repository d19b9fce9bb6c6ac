//! Which rows have a value.

use crate::bytes::Bits;

/// Which rows of a batch have a value. A missing row is always marked here, never by a sentinel; its value in
/// [`Values`](super::Values) is unspecified.
///
/// ```
/// use pilaster::bytes::Bits;
/// use pilaster::column::Validity;
///
/// // Row 1 of three is missing.
/// let validity = Validity::Bits(Bits::new(&[0b101], 0, 3)?);
/// assert!(validity.get(0) && !validity.get(1));
/// assert_eq!((validity.nulls(3), Validity::All.nulls(3), Validity::None.nulls(3)), (1, 0, 3));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Validity<'s> {
    /// Every row has a value.
    All,
    /// No row has a value.
    None,
    /// Row `i` has a value if bit `i` is 1.
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

    /// Returns the number of rows without a value, where `rows` is the length of the batch.
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
