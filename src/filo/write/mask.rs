//! The rows that have a value, as words of 64 rows.

use super::len::{mask_bytes, pad4};
use super::out::{MAX_LEN, Out};
use super::rows::Rows;
use crate::column::Validity;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{MASK_ALL_ZEROES, MASK_SIMPLE};

/// Returns the positions of the ones of a word, the lowest first.
#[inline]
pub(super) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lowest = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        lowest
    })
}

/// The validity of rows. Their number is within the limit of the format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mask<'a> {
    validity: Validity<'a>,
    rows: usize,
    nulls: bool,
}

impl<'a> Mask<'a> {
    pub fn new(rows: &Rows<'a>) -> Result<Self> {
        let n = rows.len();
        Mask::all_of(n)?;
        if let Validity::Bits(bits) = rows.validity
            && bits.len() != n
        {
            return Err(Error::new(Kind::Misuse, What::FILO_MASK, bits.len() as u64));
        }
        Ok(Mask { validity: rows.validity, rows: n, nulls: rows.validity.nulls(n) > 0 })
    }

    /// Creates the mask of `rows` rows without missing values. Fails if `rows` exceeds `MAX_LEN`.
    pub fn all_of(rows: usize) -> Result<Self> {
        if rows > MAX_LEN {
            return Err(Error::needing(Kind::Overflow, What::FILO_ROWS, 0, rows as u64));
        }
        Ok(Mask::all(rows))
    }

    /// Creates the mask of `rows` rows without missing values; the caller has checked that `rows` is in range.
    pub const fn all(rows: usize) -> Self {
        Mask { validity: Validity::All, rows, nulls: false }
    }

    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns whether a row is missing.
    pub const fn nulls(&self) -> bool {
        self.nulls
    }

    /// Returns the mask of the first `rows` rows.
    pub fn prefix(&self, rows: usize) -> Self {
        Mask { rows: rows.min(self.rows), ..*self }
    }

    #[cfg_attr(not(pilaster_small), inline)]
    pub fn get(&self, row: usize) -> bool {
        !self.nulls || self.validity.get(row)
    }

    /// Returns a word whose bit `i` is 1 if row `64 * block + i` has a value.
    #[inline]
    pub fn present(&self, block: usize) -> u64 {
        self.validity.word(block.saturating_mul(64)) & self.existing(block)
    }

    /// Returns a word whose bit `i` is 1 if row `start + i` has a value, for up to `rows` rows of one block.
    #[inline]
    pub fn group(&self, start: usize, rows: usize) -> u64 {
        let all = if rows < 64 { !(u64::MAX << rows) } else { u64::MAX };
        self.present(start / 64) >> (start % 64) & all
    }

    /// Returns a word whose bit `i` is 1 if row `64 * block + i` is missing.
    #[inline]
    pub fn missing(&self, block: usize) -> u64 {
        !self.present(block) & self.existing(block)
    }

    /// Returns a word whose bit `i` is 1 if row `64 * block + i` exists.
    #[inline]
    const fn existing(&self, block: usize) -> u64 {
        match self.rows.saturating_sub(block.saturating_mul(64)) {
            left if left < 64 => !(u64::MAX << left),
            _ => u64::MAX,
        }
    }

    /// Returns the numbers of the blocks of 64 rows.
    pub const fn blocks(&self) -> core::ops::Range<usize> {
        0..self.rows.div_ceil(64)
    }

    /// Returns the first row that has a value.
    pub fn first(&self) -> Option<usize> {
        self.blocks().find_map(|block| lowest(self.present(block), block))
    }

    /// Returns an error if a row is missing, for encodings without a mask.
    pub fn no_nulls(&self) -> Result<()> {
        if !self.nulls {
            return Ok(());
        }
        match self.blocks().find_map(|block| lowest(self.missing(block), block)) {
            Some(row) => Err(Error::new(Kind::Lossy, What::FILO_MASK, row as u64)),
            None => Ok(()),
        }
    }

    /// Writes the NA words: 1 = missing, zeros after the last row.
    pub fn put_words(&self, out: &mut Out<'_>) -> Result<()> {
        let words = out.take(mask_bytes(self.rows))?;
        for (to, block) in words.as_chunks_mut::<8>().0.iter_mut().zip(self.blocks()) {
            *to = self.missing(block).to_le_bytes();
        }
        Ok(())
    }

    /// Returns the layout of the FlatBuffer mask block of these rows.
    pub const fn flat(&self) -> FlatMask {
        FlatMask { rows: self.rows, nulls: self.nulls }
    }

    /// Writes padding, then the mask block with its words.
    pub fn put_flat(&self, out: &mut Out<'_>) -> Result<()> {
        self.flat().put_tables(out)?;
        if self.nulls { self.put_words(out) } else { Ok(()) }
    }
}

/// The layout of a FlatBuffer mask block (section 17): vtable, table, and the words if a row is missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatMask {
    pub rows: usize,
    pub nulls: bool,
}

impl FlatMask {
    /// Returns the position of the table if the block follows offset `at`.
    pub const fn table(self, at: usize) -> usize {
        // With words, the block starts at a multiple of 8, so that the words are aligned to 8 bytes, too.
        let start = if self.nulls { at.saturating_add(7) & !7 } else { pad4(at) };
        start.saturating_add(8)
    }

    /// Returns the start of the words, or the end of the mask if it has none.
    pub const fn words(self, at: usize) -> usize {
        self.table(at).saturating_add(if self.nulls { 16 } else { 8 })
    }

    /// Returns the end of the block.
    pub const fn end(self, at: usize) -> usize {
        self.words(at).saturating_add(self.words_len())
    }

    /// Returns the size in bytes of the words.
    pub const fn words_len(self) -> usize {
        if self.nulls { mask_bytes(self.rows) } else { 0 }
    }

    /// Writes everything before the words, preceded by padding.
    pub fn put_tables(self, out: &mut Out<'_>) -> Result<()> {
        out.zeros_to(self.table(out.at()).saturating_sub(8))?;
        if !self.nulls {
            out.put([8, 0, 8, 0, 7, 0, 0, 0])?;
            return out.put([8, 0, 0, 0, 0, 0, 0, MASK_ALL_ZEROES]);
        }
        out.put([8, 0, 12, 0, 11, 0, 4, 0])?;
        out.put([8, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, MASK_SIMPLE])?;
        out.u32(self.words_len() / 8)
    }
}

/// Returns the row of the lowest set bit of a block's word.
const fn lowest(word: u64, block: usize) -> Option<usize> {
    match word {
        0 => None,
        _ => Some(block.saturating_mul(64).saturating_add(word.trailing_zeros() as usize)),
    }
}
