//! Offsets of strings and arrays: one more than rows, ascending. If a string column has no bitmap, the highest bit of
//! an end offset marks a missing row (section 4.2).

use super::Column;
use super::field::Which;
use super::numbers::{copied, is_native, part};
use crate::bytes::{Bits, Scratch};
use crate::column::{Validity, cost};
use crate::encoding::bitmap;
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::{NA_OFFSET32, NA_OFFSET64};

/// Offsets of 32 or 64 bits.
#[derive(Clone, Copy)]
pub(super) enum Offsets<'s> {
    Narrow(&'s [u32]),
    Wide(&'s [u64]),
}

const fn is_flagged32(offset: u32) -> bool {
    offset & NA_OFFSET32 != 0
}

const fn is_flagged64(offset: u64) -> bool {
    offset & NA_OFFSET64 != 0
}

/// Returns all offsets but the first.
fn ends<O>(offsets: &[O]) -> &[O] {
    offsets.get(1..).unwrap_or_default()
}

/// Returns whether offsets ascend and none exceeds `most`.
fn ascend<O: Copy + Ord + Into<u64>>(offsets: &[O], most: u64) -> bool {
    let descends = offsets.iter().zip(ends(offsets)).fold(false, |any, (start, end)| any | (start > end));
    !descends && offsets.last().is_none_or(|end| (*end).into() <= most)
}

impl<'s> Offsets<'s> {
    /// Casts bytes, which are in native byte order and aligned.
    fn new(bytes: &'s [u8], narrow: bool) -> Self {
        match narrow {
            true => Offsets::Narrow(bytemuck::try_cast_slice(bytes).unwrap_or_default()),
            false => Offsets::Wide(bytemuck::try_cast_slice(bytes).unwrap_or_default()),
        }
    }

    fn any_flagged(self) -> bool {
        match self {
            Offsets::Narrow(offsets) => bitmap::any(offsets, is_flagged32),
            Offsets::Wide(offsets) => bitmap::any(offsets, is_flagged64),
        }
    }

    /// Sets the bit of each offset without a flag.
    fn pack(self, bits: &mut [u8]) -> usize {
        match self {
            Offsets::Narrow(offsets) => bitmap::pack(offsets, bits, |offset| !is_flagged32(offset)),
            Offsets::Wide(offsets) => bitmap::pack(offsets, bits, |offset| !is_flagged64(offset)),
        }
    }

    fn ascend(self, most: u64) -> bool {
        match self {
            Offsets::Narrow(offsets) => ascend(offsets, most),
            Offsets::Wide(offsets) => ascend(offsets, most),
        }
    }

    fn get(self, i: usize) -> Option<u64> {
        match self {
            Offsets::Narrow(offsets) => offsets.get(i).map(|offset| (*offset).into()),
            Offsets::Wide(offsets) => offsets.get(i).copied(),
        }
    }

    /// Returns start and end of row `i`.
    fn row(self, i: usize) -> Option<(u64, u64)> {
        Some((self.get(i)?, self.get(i.checked_add(1)?)?))
    }
}

/// Clears all flags.
fn unflag(bytes: &mut [u8], narrow: bool) {
    match narrow {
        true => {
            let offsets = bytemuck::try_cast_slice_mut::<u8, u32>(bytes).unwrap_or_default();
            offsets.iter_mut().for_each(|offset| *offset &= !NA_OFFSET32);
        }
        false => {
            let offsets = bytemuck::try_cast_slice_mut::<u8, u64>(bytes).unwrap_or_default();
            offsets.iter_mut().for_each(|offset| *offset &= !NA_OFFSET64);
        }
    }
}

impl<'a> Column<'a> {
    /// Returns the offsets of `len` rows starting at `first`, without flags, and clears the bit in `validity` of each
    /// row with a flag. `most` is the maximum of an offset; `text` is the buffer of characters if these are offsets of
    /// strings.
    pub(super) fn offsets<'s>(
        &self,
        first: usize,
        len: usize,
        most: u64,
        text: Option<&[u8]>,
        validity: &mut Validity<'s>,
        scratch: &mut Scratch<'s>,
    ) -> Result<Offsets<'s>>
    where
        'a: 's,
    {
        let narrow = self.field().is_narrow();
        let size = if narrow { 4 } else { 8 };
        let data = part(self.data(), first, len.saturating_add(1), size)?;
        let flagged = text.is_some() && self.bitmap().is_empty();
        let native = is_native(data, size).then(|| Offsets::new(data, narrow));
        let offsets = match native {
            Some(offsets) if !flagged || !offsets.any_flagged() => offsets,
            // No flag is allowed, including the flag of the row before.
            Some(_) if self.is_full() => return Err(self.unexpected_null()),
            _ => {
                let copy = copied(data, size, scratch)?;
                if flagged {
                    let ends = Offsets::new(copy.get(size..).unwrap_or_default(), narrow);
                    if ends.any_flagged() {
                        self.mark(len, |valid| ends.pack(valid), validity, scratch)?;
                    }
                    unflag(copy, narrow);
                }
                Offsets::new(copy, narrow)
            }
        };
        if self.field().rules.tolerant {
            sound(offsets, len, most, text, validity, scratch)?;
        } else if !offsets.ascend(most) {
            return Err(self.wrong_offset(offsets, first, most));
        }
        Ok(offsets)
    }

    /// Returns an upper bound of the scratch size in bytes that [`offsets`](Self::offsets) takes.
    pub(super) fn offsets_need(&self, rows: u64, text: bool) -> u64 {
        let rules = self.field().rules;
        let size = if self.field().is_narrow() { 4 } else { 8 };
        let flagged = text && self.bitmap().is_empty() && (rules.tolerant || self.field().null_count() > 0);
        let bits = rows.div_ceil(8);
        let copy = if flagged || !is_native(self.data(), size) { cost(size, rows.saturating_add(1)) } else { 0 };
        copy.saturating_add(if flagged { bits } else { 0 }).saturating_add(if rules.tolerant { bits } else { 0 })
    }

    #[cold]
    fn wrong_offset(&self, offsets: Offsets<'_>, first: usize, most: u64) -> Error {
        let mut rows = (0..).map_while(|i| offsets.row(i));
        let i = rows.position(|(start, end)| start > end || end > most).map_or(0, |i| i.saturating_add(1));
        let size = if self.field().is_narrow() { 4 } else { 8 };
        let place = (first as u64).saturating_add(i as u64).saturating_mul(size);
        let at = self.field().buffer(Which::Data).at.saturating_add(place);
        Error::needing(Kind::Invalid, What::JAY_OFFSETS, at, offsets.get(i).unwrap_or(0))
    }
}

/// Clears the bit in `validity` of each row that cannot be read. Rows may share bytes, so that few bytes would cause
/// much work. Therefore all rows together may have at most `2 * most` bytes or child rows; further rows count as
/// missing.
fn sound<'s>(
    offsets: Offsets<'_>,
    len: usize,
    most: u64,
    text: Option<&[u8]>,
    validity: &mut Validity<'s>,
    scratch: &mut Scratch<'s>,
) -> Result<()> {
    let bits = scratch.take::<u8>(len.div_ceil(8))?;
    bits.fill(0);
    let mut left = most.saturating_mul(2);
    for i in 0..len {
        let Some((start, end)) = offsets.row(i) else { break };
        if !validity.get(i) || start > end || end > most {
            continue;
        }
        let Some(rest) = left.checked_sub(end.saturating_sub(start)) else { continue };
        left = rest;
        let is_text = || {
            let Some(text) = text else { return true };
            let bounds = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            bounds.and_then(|(start, end)| text.get(start..end)).is_some_and(|row| core::str::from_utf8(row).is_ok())
        };
        if let Some(byte) = bits.get_mut(i >> 3)
            && is_text()
        {
            *byte |= 1 << (i & 7);
        }
    }
    *validity = Validity::Bits(Bits::new(bits, 0, len)?);
    Ok(())
}
