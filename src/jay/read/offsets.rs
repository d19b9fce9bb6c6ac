//! Offsets of strings and arrays: one more than rows, ascending; in strings without a bitmap the
//! highest bit of the end says that the row is missing (section 4.2).

use super::Column;
use super::field::Which;
use super::numbers::{Element, borrowed, copied, need};
use crate::bytes::{Bits, Scratch};
use crate::column::Validity;
use crate::encoding::flags;
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::{NA_OFFSET32, NA_OFFSET64};

/// An offset of 32 or 64 bits.
pub(super) trait Offset: Element + Ord {
    fn is_flagged(self) -> bool;
    fn masked(self) -> Self;
    fn wide(self) -> u64;
}

macro_rules! offsets {
    ($($word:ident flagged $flag:ident;)*) => {$(
        impl Offset for $word {
            #[cfg_attr(not(target_family = "wasm"), inline(always))]
            fn is_flagged(self) -> bool {
                self & $flag != 0
            }

            #[cfg_attr(not(target_family = "wasm"), inline(always))]
            fn masked(self) -> Self {
                self & !$flag
            }

            #[cfg_attr(not(target_family = "wasm"), inline(always))]
            fn wide(self) -> u64 {
                self.into()
            }
        }
    )*};
}

offsets! { u32 flagged NA_OFFSET32; u64 flagged NA_OFFSET64; }

impl<'a> Column<'a> {
    /// Offsets of `len` rows from `first` on, without flags, and which rows have a value. `most` is what
    /// they may reach; `text` are the characters, if these are the offsets of strings.
    pub(super) fn offsets<'s, O: Offset>(
        &self,
        first: usize,
        len: usize,
        most: u64,
        text: Option<&[u8]>,
        scratch: &mut Scratch<'s>,
    ) -> Result<(&'s [O], Validity<'s>)>
    where
        'a: 's,
    {
        let data = self.data();
        let count = len.saturating_add(1);
        let flagged = text.is_some() && self.bitmap().is_empty();
        let tolerant = self.field().rules.tolerant;
        let (offsets, validity): (&'s [O], Validity<'s>) = match borrowed::<O>(data, first, count) {
            Some(offsets) if !flagged || !flags::any(offsets, O::is_flagged) => {
                (offsets, if flagged { Validity::All } else { self.by_bitmap(first, len)? })
            }
            // Any flag is one too many, also that of the row before.
            Some(_) if self.is_full() => return Err(self.unexpected_null()),
            _ if flagged => {
                let offsets = copied::<O>(data, first, count, scratch)?;
                let ends = offsets.get(1..).unwrap_or_default();
                let validity = self.validity(ends, first, scratch, O::is_flagged)?;
                offsets.iter_mut().for_each(|offset| *offset = offset.masked());
                (offsets, validity)
            }
            _ => (copied::<O>(data, first, count, scratch)?, self.by_bitmap(first, len)?),
        };
        if tolerant {
            return Ok((offsets, sound(offsets, validity, most, text, scratch)?));
        }
        let pairs = offsets.iter().zip(offsets.get(1..).unwrap_or_default());
        let descends = pairs.fold(false, |any, (start, end)| any | (start > end));
        if descends || offsets.last().is_some_and(|end| end.wide() > most) {
            return Err(self.wrong_offset(offsets, first, most));
        }
        Ok((offsets, validity))
    }

    /// An upper bound of the scratch that [`offsets`](Self::offsets) takes.
    pub(super) fn offsets_need<O: Offset>(&self, rows: u64, text: bool) -> u64 {
        let rules = self.field().rules;
        let flagged = text && self.bitmap().is_empty() && (rules.tolerant || self.field().null_count() > 0);
        let bits = rows.div_ceil(8);
        let copy = if flagged {
            Scratch::cost::<O>(rows.saturating_add(1))
        } else {
            need::<O>(self.data(), rows.saturating_add(1))
        };
        copy.saturating_add(if flagged { bits } else { 0 }).saturating_add(if rules.tolerant { bits } else { 0 })
    }

    #[cold]
    fn wrong_offset<O: Offset>(&self, offsets: &[O], first: usize, most: u64) -> Error {
        let descends = |(start, end): (&O, &O)| start > end || end.wide() > most;
        let i = offsets.iter().zip(offsets.iter().skip(1)).position(descends).map_or(0, |i| i.saturating_add(1));
        let place = (first as u64).saturating_add(i as u64).saturating_mul(size_of::<O>() as u64);
        let at = self.field().buffer(Which::Data).at.saturating_add(place);
        Error::new(Kind::Invalid, What::JayOffsets, at).with_need(offsets.get(i).map_or(0, |offset| offset.wide()))
    }
}

/// Only those rows that can be read. Rows that share bytes would make a few of these much work, so all
/// of them together have no more than twice what there is.
fn sound<'s, O: Offset>(
    offsets: &[O],
    validity: Validity<'_>,
    most: u64,
    text: Option<&[u8]>,
    scratch: &mut Scratch<'s>,
) -> Result<Validity<'s>> {
    let len = offsets.len().saturating_sub(1);
    let bits = scratch.take::<u8>(len.div_ceil(8))?;
    bits.fill(0);
    let ends = offsets.get(1..).unwrap_or_default();
    let mut left = most.saturating_mul(2);
    for (i, (start, end)) in offsets.iter().zip(ends).enumerate() {
        if !validity.get(i) || start > end || end.wide() > most {
            continue;
        }
        let Some(rest) = left.checked_sub(end.wide().saturating_sub(start.wide())) else { continue };
        left = rest;
        let is_text = || {
            let Some(text) = text else { return true };
            let bounds = usize::try_from(start.wide()).ok().zip(usize::try_from(end.wide()).ok());
            bounds.and_then(|(start, end)| text.get(start..end)).is_some_and(|row| core::str::from_utf8(row).is_ok())
        };
        if let Some(byte) = bits.get_mut(i >> 3)
            && is_text()
        {
            *byte |= 1 << (i & 7);
        }
    }
    Ok(Validity::Bits(Bits::new(bits, 0, len)?))
}
