//! Numbers. Every numeric encoding is a line and packed differences to it.

use super::packed::Packed;
use crate::bytes::low32;
use crate::encoding::Word;
use crate::encoding::linear::Line;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{Packing, QUARTER_MS};

/// Rows of the form `line + difference`. Simple vectors have a line of zeros, constant vectors a single difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers<'a> {
    pub(super) line: Line,
    pub(super) packed: Packed<'a>,
    /// Whether all rows have the value of row 0.
    pub(super) constant: bool,
    pub(super) form: Form,
}

/// The conversion of a decoded integer to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The integer is the value, or the bits of the value.
    Word,
    /// The integer is converted to a double.
    Double,
    /// The integer counts quarters of an hour; the value counts milliseconds.
    Quarters,
}

/// The result of [`Numbers::read`] for a UTC offset that is too large. It is not a multiple of a quarter of an hour, so
/// no valid offset equals it.
pub(super) const NO_ZONE: i32 = i32::MIN;

/// UTC offsets of date-times (section 8.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Zones<'a> {
    /// Offset in quarters of an hour, east positive.
    pub(super) base: i8,
    /// Differences to the base. If empty, all rows have the base.
    pub(super) packed: Packed<'a>,
}

impl<'a> Zones<'a> {
    /// Returns the offsets in milliseconds.
    pub(super) const fn offsets(&self) -> Numbers<'a> {
        let line = Line { base: self.base as i64, slope: 0 };
        let packed = match self.packed.data {
            // One difference of zero for all rows.
            [] => Packed { packing: Packing::U8, data: &[0], ..self.packed },
            _ => self.packed,
        };
        Numbers { line, packed, constant: self.packed.data.is_empty(), form: Form::Quarters }
    }
}

/// Number of values per block: the words of a block stay in the first-level cache between the loops over them.
const BLOCK: usize = 1024;

impl<'a> Numbers<'a> {
    /// Any number of zeros.
    pub(super) const ZERO: Self = Numbers { constant: true, ..Numbers::plain(Packed { data: &[0], ..Packed::NONE }) };

    pub(super) const fn plain(packed: Packed<'a>) -> Self {
        Numbers { line: Line::ZERO, packed, constant: false, form: Form::Word }
    }

    /// Returns the stored bytes of `len` rows starting at `first`, or `None` if they are not the native words of the
    /// values.
    pub(super) fn stored(&self, first: usize, len: usize) -> Option<&'a [u8]> {
        let plain = !self.constant && self.line == Line::ZERO && self.form == Form::Word;
        if !plain || cfg!(target_endian = "big") {
            return None;
        }
        let start = self.packed.packing.bytes(first);
        self.packed.data.get(start..start.checked_add(self.packed.packing.bytes(len))?)
    }

    /// Returns row `i` as a 64-bit word, or `None` if it takes [`get`](Self::get).
    #[inline(always)]
    pub(super) fn quick(&self, i: usize) -> Option<u64> {
        if self.constant {
            return None;
        }
        let word = self.packed.quick(i)?.wrapping_add(self.line.at(i));
        Some(if self.form == Form::Double { double(word) } else { word })
    }

    /// Returns row `i` as a 64-bit word.
    pub(super) fn get(&self, i: usize) -> Result<u64> {
        let i = if self.constant { 0 } else { i };
        let word = self.packed.get(i)?.wrapping_add(self.line.at(i));
        match self.form {
            Form::Word => Ok(word),
            Form::Double => Ok(double(word)),
            Form::Quarters => {
                let quarters = low32(word);
                let large = || Error::needing(Kind::Overflow, What::FILO_ZONE, self.packed.at.into(), quarters.into());
                millis(quarters).map(u64::from).ok_or_else(large)
            }
        }
    }

    /// Decodes rows starting at `first` until `out` is full.
    pub(super) fn read<W: Word>(&self, first: usize, out: &mut [W]) -> Result<()> {
        if self.constant {
            if !out.is_empty() {
                out.fill(W::truncated(self.get(0)?));
            }
            return Ok(());
        }
        let mut row = first;
        for block in out.chunks_mut(BLOCK) {
            self.packed.read(row, block)?;
            self.line.add(row, block);
            self.finish(block);
            row = row.saturating_add(BLOCK);
        }
        Ok(())
    }

    /// Converts integers to values of the form. Doubles have words of 8 bytes, UTC offsets words of 4.
    ///
    /// A UTC offset that is too large becomes [`NO_ZONE`]. It is an error only if its row is not missing, which the
    /// caller knows; a missing row may contain any value (section 8.3).
    fn finish<W: Word>(&self, words: &mut [W]) {
        let millis = |quarters: u64| millis(low32(quarters)).unwrap_or(NO_ZONE.cast_unsigned());
        match self.form {
            Form::Word => {}
            Form::Double => words.iter_mut().for_each(|word| *word = W::truncated(double(word.extended()))),
            Form::Quarters => words.iter_mut().for_each(|word| *word = W::truncated(millis(word.extended()).into())),
        }
    }

    /// Returns whether the stored numbers have the width of `word`.
    pub(super) fn is_wide(&self, word: Packing) -> bool {
        self.packed.packing.bits() == word.bits()
    }
}

/// Converts quarters of an hour to milliseconds.
fn millis(quarters: u32) -> Option<u32> {
    quarters.cast_signed().checked_mul(QUARTER_MS).map(i32::cast_unsigned)
}

/// Stored integers of a double column have at most 32 bits (section 9.1), so this is exact.
#[inline]
fn double(word: u64) -> u64 {
    f64::from(low32(word).cast_signed()).to_bits()
}
