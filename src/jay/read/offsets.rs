//! Offsets of strings and arrays: one more than rows, ascending. If a string column has no bitmap, the highest bit of
//! an end offset marks a missing row (section 4.2).

use super::Column;
use super::field::Which;
use super::numbers::{copied, is_native};
use crate::bytes::{Bits, Scratch, little, low32};
use crate::column::{Validity, cost};
use crate::encoding::bitmap;
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::{NA_OFFSET32, NA_OFFSET64};
use crate::simd;

/// In tolerant mode, this many consecutive rows may have at most twice the bytes or child rows that exist. Rows may share
/// them, so that few bytes would cause much work. The groups start at multiples of this number, so that the state of a
/// row does not depend on the batch.
const GROUP: usize = 256;

/// Maximum number of characters in bytes that a batch of several rows fetches.
const TEXT: u64 = 1 << 20;

/// Whether characters are fetched row by row. Firmware, without a heap, has nothing that fetches ranges: there a piece
/// must contain the whole buffer.
const PARTS: bool = cfg!(feature = "alloc");

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

/// The bytes or child rows that the rest of a group of rows may have.
pub(super) struct Shared {
    /// Maximum of an offset.
    most: u64,
    left: u64,
    /// The next row.
    row: usize,
}

impl Shared {
    /// Takes the bytes or child rows of the next row. Returns whether its offsets are valid and its group may have them.
    pub(super) fn take(&mut self, start: u64, end: u64) -> bool {
        if self.row.is_multiple_of(GROUP) {
            self.left = self.most.saturating_mul(2);
        }
        self.row = self.row.saturating_add(1);
        let len = end.checked_sub(start).filter(|_| end <= self.most);
        let rest = len.and_then(|len| self.left.checked_sub(len));
        self.left = rest.unwrap_or(self.left);
        rest.is_some()
    }
}

/// The characters of some rows.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    /// Position of the first byte in the buffer of characters.
    from: u64,
    /// Whether the offsets must be copied, because the bytes do not begin where the buffer does.
    is_part: bool,
}

impl<'a> Text<'a> {
    /// Returns the characters of a row.
    fn row(&self, start: u64, end: u64) -> Option<&'a [u8]> {
        let bounds =
            usize::try_from(start.checked_sub(self.from)?).ok().zip(usize::try_from(end.checked_sub(self.from)?).ok());
        bounds.and_then(|(start, end)| self.bytes.get(start..end))
    }
}

/// Subtracts `from` from all offsets. Offsets below it belong to rows that cannot be read.
fn rebase(bytes: &mut [u8], narrow: bool, from: u64) {
    match narrow {
        true => {
            let offsets = bytemuck::try_cast_slice_mut::<u8, u32>(bytes).unwrap_or_default();
            offsets.iter_mut().for_each(|offset| *offset = offset.saturating_sub(low32(from)));
        }
        false => {
            let offsets = bytemuck::try_cast_slice_mut::<u8, u64>(bytes).unwrap_or_default();
            offsets.iter_mut().for_each(|offset| *offset = offset.saturating_sub(from));
        }
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
    /// row with a flag. `most` is the maximum of an offset. If these are offsets of strings, they count from the start of
    /// `text`.
    pub(super) fn offsets<'s>(
        &self,
        first: usize,
        len: usize,
        most: u64,
        text: Option<Text<'_>>,
        validity: &mut Validity<'s>,
        scratch: &mut Scratch<'s>,
    ) -> Result<Offsets<'s>>
    where
        'a: 's,
    {
        let narrow = self.field().is_narrow();
        let size = if narrow { 4 } else { 8 };
        let data = self.elements(first, len.saturating_add(1), size)?;
        let flagged = text.is_some() && !self.has_bitmap();
        let part = text.filter(|text| text.is_part && PARTS);
        let native = is_native(data, size).then(|| Offsets::new(data, narrow));
        let any_flagged = native.is_some_and(|offsets| flagged && offsets.any_flagged());
        let check = |offsets: Offsets<'_>, validity: &mut Validity<'s>, scratch: &mut Scratch<'s>| {
            if self.field().rules.tolerant {
                return sound(offsets, len, &mut self.shared(first, most, text.is_some())?, text, validity, scratch);
            }
            if offsets.ascend(most) { Ok(()) } else { Err(self.wrong_offset(offsets, first, most)) }
        };
        match native {
            Some(offsets) if !any_flagged && part.is_none() => {
                check(offsets, validity, scratch)?;
                Ok(offsets)
            }
            // No flag is allowed, including the flag of the row before.
            Some(_) if any_flagged && self.is_full() => Err(self.unexpected_null()),
            _ => {
                let copy = copied(data, size, scratch)?;
                if flagged {
                    if self.is_full() && Offsets::new(copy, narrow).any_flagged() {
                        return Err(self.unexpected_null());
                    }
                    let ends = Offsets::new(copy.get(size..).unwrap_or_default(), narrow);
                    if ends.any_flagged() {
                        self.mark(len, |valid| ends.pack(valid), validity, scratch)?;
                    }
                    unflag(copy, narrow);
                }
                check(Offsets::new(copy, narrow), validity, scratch)?;
                if let Some(part) = part {
                    rebase(copy, narrow, part.from);
                }
                Ok(Offsets::new(copy, narrow))
            }
        }
    }

    /// Returns the characters of `len` rows starting at `first`: the whole buffer if the file is in memory as one slice.
    /// Otherwise only what the rows take; if that is more than [`TEXT`] bytes, `len` becomes smaller.
    pub(super) fn text(&self, first: usize, len: &mut usize) -> Result<Text<'a>> {
        let buffer = self.field().buffer(Which::Text);
        let whole = if PARTS { self.whole(Which::Text) } else { Some(self.bytes(Which::Text, 0, buffer.len)?) };
        if let Some(bytes) = whole {
            return Ok(Text { bytes, from: 0, is_part: false });
        }
        let mut ends = self.plain(first, len.saturating_add(1), self.flag())?;
        let (mut from, mut to) = (u64::MAX, 0);
        let mut start = ends.next().unwrap_or(0);
        for (i, end) in ends.enumerate() {
            // Other rows cannot be read.
            if start <= end && end <= buffer.len {
                let (low, high) = (from.min(start), to.max(end));
                if i > 0 && high.saturating_sub(low) > TEXT {
                    *len = i;
                    break;
                }
                (from, to) = (low, high);
            }
            start = end;
        }
        from = from.min(to);
        let bytes = self.bytes(Which::Text, from, to.saturating_sub(from))?;
        Ok(Text { bytes, from, is_part: true })
    }

    /// Returns the bit that marks a missing row in an offset of a string; 0 if a bitmap does.
    pub(super) const fn flag(&self) -> u64 {
        match (self.has_bitmap(), self.field().is_narrow()) {
            (true, _) => 0,
            (false, true) => NA_OFFSET32 as u64,
            (false, false) => NA_OFFSET64,
        }
    }

    /// Returns `len` offsets, starting at `first`, without `flag`.
    fn plain(&self, first: usize, len: usize, flag: u64) -> Result<impl Iterator<Item = u64>> {
        let size = if self.field().is_narrow() { 4 } else { 8 };
        let offsets: &'a [u8] = self.elements(first, len, size)?;
        Ok(offsets.chunks_exact(size).map(move |offset| little(offset) & !flag))
    }

    /// Returns what the group of row `first` may have after the rows before it. `most` is the maximum of an offset.
    pub(super) fn shared(&self, first: usize, most: u64, text: bool) -> Result<Shared> {
        let row = first.checked_sub(first % GROUP).unwrap_or(first);
        let mut shared = Shared { most, left: 0, row };
        let mut offsets =
            self.plain(row, first.saturating_sub(row).saturating_add(1), if text { self.flag() } else { 0 })?;
        let mut start = offsets.next().unwrap_or(0);
        for end in offsets {
            shared.take(start, end);
            start = end;
        }
        Ok(shared)
    }

    /// Returns an upper bound of the scratch size in bytes that [`offsets`](Self::offsets) takes.
    pub(super) fn offsets_need(&self, rows: u64, text: bool) -> u64 {
        let rules = self.field().rules;
        let size = if self.field().is_narrow() { 4 } else { 8 };
        let flagged = text && !self.has_bitmap() && (rules.tolerant || self.field().null_count() > 0);
        let bits = rows.div_ceil(8);
        let copy = if flagged || !self.is_native(size) { cost(size, rows.saturating_add(1)) } else { 0 };
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

/// Clears the bit in `validity` of each row that cannot be read, or that `shared` does not allow.
fn sound<'s>(
    offsets: Offsets<'_>,
    len: usize,
    shared: &mut Shared,
    text: Option<Text<'_>>,
    validity: &mut Validity<'s>,
    scratch: &mut Scratch<'s>,
) -> Result<()> {
    let bits = scratch.take::<u8>(len.div_ceil(8))?;
    bits.fill(0);
    for i in 0..len {
        let Some((start, end)) = offsets.row(i) else { break };
        // Missing rows count, too.
        if !shared.take(start, end) || !validity.get(i) {
            continue;
        }
        let is_text = || {
            let Some(text) = text else { return true };
            text.row(start, end).is_some_and(|row| simd::text(row).is_ok())
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
