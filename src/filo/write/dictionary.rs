//! Finds the distinct strings of a column, in order of first appearance, and the code of each row.

use super::cells::{Cells, Source};
use super::distinct::{ENTRY_COST, Entries, Key, Slot, Table, Text};
use super::encode::{holds, wrong_type};
use super::flat_strings::{dict_string_payload, put_dict_string};
use super::mask::{Mask, ones};
use super::rows::{Rows, Strings};
use super::texts::Texts;
use super::utf8::{dict_utf8_payload, put_dict_utf8};
use super::width::{flat, packed};
use crate::bytes::{FAST, Scratch, low32};
use crate::encoding::bitpack::Packing;
use crate::encoding::min_max::MinMax;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::HEADER_LEN;
use crate::filo::{Element, Encoding};

/// Maximum number of hash-table slots probed per string. At the load used here the longest run of slots
/// stays below 400 for any number of rows, unless the strings were crafted to collide.
const MAX_PROBES: usize = 1024;

/// The dictionary of a column of strings. Its codes are in scratch memory.
#[derive(Clone, Copy, Debug)]
pub struct Dictionary<'a> {
    strings: Strings<'a>,
    element: Element,
    /// The first row of each entry.
    first: &'a [u32],
    codes: &'a [u32],
}

/// Limits above which a dictionary does not pay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Maximum number of distinct entries in the first `sample` rows.
    pub entries: usize,
    pub sample: usize,
    /// Maximum size in bytes of the entries: text, and a 32-bit word for each. Codes of 2 bits are already deducted.
    pub bytes: usize,
}

impl Bounds {
    pub const NONE: Bounds = Bounds { entries: usize::MAX, sample: 0, bytes: usize::MAX };

    /// Counts one more entry, first found in `row`. Returns false if that exceeds a limit.
    fn take(&mut self, row: u32, text: &[u8]) -> bool {
        let size = text.len().saturating_add(size_of::<u32>());
        let counts = (row as usize) < self.sample;
        match (self.entries.checked_sub(counts.into()), self.bytes.checked_sub(size)) {
            (Some(entries), Some(bytes)) => {
                *self = Bounds { entries, bytes, ..*self };
                true
            }
            _ => false,
        }
    }
}

/// Returns the scratch size in bytes that suffices for the dictionary of any `rows` strings. If few of them are
/// different, less may suffice.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::filo::write::{Plain, Rows, Strings, choose, scratch_len};
/// use pilaster::filo::{Encoding, Packing};
///
/// let rocks: [&[u8]; 6] = [b"granite", b"basalt", b"granite", b"basalt", b"granite", b"granite"];
/// let rows = Rows::all(Plain::Utf8(Strings::Slices(&rocks)));
/// let mut memory = [0; scratch_len(6)];
/// assert_eq!(choose(&rows, &mut Scratch::new(&mut memory))?, Encoding::DictUtf8(Packing::U2));
/// assert_eq!(choose(&rows, &mut Scratch::new(&mut []))?, Encoding::FixedMaxUtf8, "no scratch");
/// # Ok::<(), pilaster::Error>(())
/// ```
#[must_use]
pub const fn scratch_len(rows: usize) -> usize {
    let table = slots_for(rows).saturating_mul(SLOT_COST).saturating_add(PADDING);
    rows.saturating_mul(size_of::<u32>()).saturating_add(3).saturating_add(table)
}

/// Size in bytes of a slot and its share of the entries: three entries for four slots.
const SLOT_COST: usize = size_of::<Slot>() + ENTRY_COST * 3 / 4;

/// Maximum number of bytes lost to the alignment of slots and entries.
const PADDING: usize = 7;

/// Returns the number of slots for `entries` distinct strings: at least a quarter stays free.
const fn slots_for(entries: usize) -> usize {
    match entries.saturating_add(entries / 3).saturating_add(4).checked_next_power_of_two() {
        Some(slots) => slots,
        None => usize::MAX,
    }
}

impl<'a> Dictionary<'a> {
    /// Finds the dictionary of rows of strings.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the rows are not strings, [`Kind::NoRoom`] if `scratch` is too small, [`Kind::Limit`] if
    /// the strings were crafted to collide, and errors of [`Strings::get`].
    pub(crate) fn of(rows: &Rows<'a>, scratch: &mut Scratch<'a>) -> Result<Self> {
        let mask = Mask::new(rows)?;
        match (rows.values, rows.values.element()) {
            (super::Plain::String(strings) | super::Plain::Utf8(strings) | super::Plain::Blob(strings), element) => {
                let found = Self::find(strings, &mask, element, Bounds::NONE, scratch)?;
                found.ok_or_else(|| Error::new(Kind::NoRoom, What::SCRATCH, 0))
            }
            _ => Err(wrong_type(Encoding::DictUtf8(Packing::U2))),
        }
    }

    /// Finds the dictionary of `strings`. Returns `None` as soon as it exceeds `bounds`.
    pub(super) fn find(
        strings: Strings<'a>,
        mask: &Mask<'_>,
        element: Element,
        bounds: Bounds,
        scratch: &mut Scratch<'a>,
    ) -> Result<Option<Self>> {
        let codes = scratch.take::<u32>(mask.rows())?;
        // `slots`: the largest power of two that fits, at most `wanted`.
        let wanted = slots_for(mask.rows());
        let room = scratch.room().saturating_sub(PADDING) / SLOT_COST;
        let slots = if wanted <= room { wanted } else { room.checked_ilog2().map_or(0, |log| 1 << log) };
        let no_room = || Error::needing(Kind::NoRoom, What::SCRATCH, 0, scratch_len(mask.rows()) as u64);

        let first = scratch.take::<u32>((slots / 4).saturating_mul(3))?;
        let mut inner = scratch.scope();
        let keys = inner.take::<Key>(if FAST { first.len() } else { 0 })?;
        let table = inner.take::<Slot>(slots)?;
        if surely_beyond(strings, mask, bounds, bytemuck::must_cast_slice_mut(table))? {
            return Ok(None);
        }
        let table = Table::new(table).ok_or_else(no_room)?;
        let entries = Entries { strings, first: &mut *first, keys, len: 0 };
        let mut search = Search { table, entries, bounds };
        if !search.all(mask, codes)? {
            return Ok(None);
        }
        let len = search.entries.len as usize;
        Ok(Some(Dictionary { strings, element, first: first.get(..len).unwrap_or_default(), codes }))
    }

    /// Returns the number of distinct strings; missing rows do not count.
    #[must_use]
    pub(crate) const fn len(&self) -> usize {
        self.first.len()
    }

    /// Writes the chunk: [`DictString`](Encoding::DictString) or [`DictUtf8`](Encoding::DictUtf8), depending on the
    /// element type.
    ///
    /// # Errors
    /// Errors of [`encode`](super::encode).
    pub(crate) fn write(&self, packing: Packing, dst: &mut [u8]) -> Result<usize> {
        let codes = Cells { source: Source::Narrow(self.codes), mask: Mask::all(self.codes.len()) };
        let encoding = self.encoding(packing);
        if !holds(encoding, self.element) {
            return Err(wrong_type(encoding));
        }
        if self.is_string() {
            put_dict_string(&self.entries(), &codes, packing, dst)
        } else {
            put_dict_utf8(&self.entries(), &codes, packing, dst)
        }
    }

    const fn is_string(&self) -> bool {
        matches!(self.element, Element::String)
    }

    /// Returns the encoding that [`write`](Self::write) writes.
    #[must_use]
    pub(crate) const fn encoding(&self, packing: Packing) -> Encoding {
        if self.is_string() { Encoding::DictString(packing) } else { Encoding::DictUtf8(packing) }
    }

    /// Returns the smallest width for the codes.
    #[must_use]
    pub(crate) fn packing(&self) -> Packing {
        let codes = MinMax { min: 0, max: self.len() as i64 };
        let narrow = if self.is_string() { None } else { packed(codes) };
        narrow.unwrap_or_else(|| flat(codes))
    }

    /// Returns the length in bytes of the chunk that [`write`](Self::write) writes.
    ///
    /// # Errors
    /// Errors of [`Strings::get`].
    pub(crate) fn chunk_len(&self, packing: Packing) -> Result<usize> {
        let payload = if self.is_string() { dict_string_payload } else { dict_utf8_payload };
        Ok(payload(&self.entries(), packing.bytes(self.codes.len()))?.saturating_add(HEADER_LEN))
    }

    const fn entries(&self) -> Texts<'a> {
        Texts::Entries(self.strings, Some(self.first))
    }
}

/// The search for the codes of strings.
struct Search<'a, 't> {
    table: Table<'t>,
    entries: Entries<'a, 't>,
    bounds: Bounds,
}

impl Search<'_, '_> {
    /// Stores the codes of all rows, 0 for a missing one. Returns false if that exceeds a limit.
    fn all(&mut self, mask: &Mask<'_>, codes: &mut [u32]) -> Result<bool> {
        for (start, codes) in (0u32..).step_by(AHEAD).zip(codes.chunks_mut(AHEAD)) {
            let mut texts = [Text::EMPTY; AHEAD];
            let texts = texts.get_mut(..codes.len()).unwrap_or_default();
            let valid = mask.group(start as usize, texts.len());
            map(self.entries.strings, start as usize, valid, texts, Text::of)?;
            // A bit for each row that has no code yet. These loops change no entry, so the processor overlaps their rows.
            let mut unknown = 0u64;
            if valid.count_ones() as usize == codes.len() {
                for (i, (text, code)) in texts.iter().zip(&mut *codes).enumerate() {
                    *code = self.quick(text);
                    unknown |= u64::from(*code == 0) << i;
                }
            } else {
                codes.fill(0);
                for i in ones(valid) {
                    let (Some(text), Some(code)) = (texts.get(i), codes.get_mut(i)) else { break };
                    *code = self.quick(text);
                    unknown |= u64::from(*code == 0) << i;
                }
            }
            for i in ones(unknown) {
                let (Some(text), Some(to)) = (texts.get(i), codes.get_mut(i)) else { break };
                match self.code(start.wrapping_add(low32(i as u64)), text, mask.rows())? {
                    Some(code) => *to = code,
                    None => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    /// Returns the code of a short string whose entry is in the first slot, or 0 if it takes [`code`](Self::code).
    #[inline(always)]
    fn quick(&self, text: &Text) -> u32 {
        let slot @ [hash, code] = self.table.slots.get(self.table.home(text.hash)).copied().unwrap_or_default();
        if FAST && hash == text.hash && self.entries.has_key(slot, text) { code } else { 0 }
    }

    /// Returns the code of the string of `row`, which becomes an entry if none is equal. `None` if that exceeds a limit.
    // Not inlined: its variables would take the registers of the loop.
    #[inline(never)]
    fn code(&mut self, row: u32, text: &Text, rows: usize) -> Result<Option<u32>> {
        let no_room = || Error::needing(Kind::NoRoom, What::SCRATCH, 0, scratch_len(rows) as u64);
        let (table, entries) = (&mut self.table, &mut self.entries);
        let mut place = table.home(text.hash);
        let mut probes = 0;
        loop {
            let Some(slot) = table.slots.get_mut(place) else { return Err(no_room()) };
            let [hash, code] = *slot;
            if code == 0 {
                if !self.bounds.take(row, entries.strings.get(row as usize)?) {
                    return Ok(None);
                }
                *slot = entries.push(row, text).ok_or_else(no_room)?;
                if table.is_full(entries.len) {
                    table.grow(entries.spare());
                }
                return Ok(Some(entries.len));
            }
            if hash == text.hash && entries.is_equal(*slot, text, row)? {
                return Ok(Some(code));
            }
            probes = usize::wrapping_add(probes, 1);
            if probes > MAX_PROBES {
                return Err(Error::needing(Kind::Limit, What::FILO_DICTIONARY, row.into(), MAX_PROBES as u64));
            }
            place = table.after(place);
        }
    }
}

/// Returns true if the strings certainly exceed the bounds, false if it is unknown. Counts the distinct hashes by one
/// bit of each, which is faster than building a dictionary that is not used, and never counts too many.
fn surely_beyond(strings: Strings<'_>, mask: &Mask<'_>, bounds: Bounds, words: &mut [u32]) -> Result<bool> {
    let sample = mask.prefix(bounds.sample).rows();
    let rows = if bounds.bytes == usize::MAX { sample } else { mask.rows() };
    let wanted = rows.saturating_mul(BITS_PER_ROW).checked_next_power_of_two().unwrap_or(usize::MAX) / 32;
    let Some(words) = words.get_mut(..wanted) else { return Ok(false) };
    words.fill(0);
    let places = wanted.wrapping_sub(1);
    let (mut different, mut bytes) = (0usize, 0usize);
    for start in (0..rows).step_by(AHEAD) {
        let mut hashes = [0; AHEAD];
        let hashes = hashes.get_mut(..rows.wrapping_sub(start).min(AHEAD)).unwrap_or_default();
        let valid = mask.group(start, hashes.len());
        map(strings, start, valid, hashes, |text| Text::of(text).hash)?;
        for i in ones(valid) {
            let Some(hash) = hashes.get(i) else { break };
            let Some(word) = words.get_mut((hash >> 5) as usize & places) else { break };
            let bit = 1u32.wrapping_shl(*hash);
            let new = *word & bit == 0;
            *word |= bit;
            different = different.wrapping_add(new.into());
            if new {
                bytes =
                    bytes.saturating_add(strings.get(start.wrapping_add(i))?.len()).saturating_add(size_of::<u32>());
            }
        }
        let end = start.wrapping_add(hashes.len());
        if end <= sample && different > bounds.entries {
            return Ok(true);
        }
        let beyond = || bytes.saturating_add(codes_len(different, mask.rows())) > bounds.bytes;
        if end % ROUND == 0 && (different < end.wrapping_sub(1) / 2 || beyond()) {
            return Ok(beyond());
        }
    }
    Ok(false)
}

/// Stores the results of `of` for the strings of as many rows as `to` is long, from row `start` on, if their bit of `valid` is 1. What
/// it stores for missing rows has no meaning.
#[cfg_attr(not(pilaster_small), inline(always))]
fn map<T>(strings: Strings<'_>, start: usize, valid: u64, to: &mut [T], of: impl Fn(&[u8]) -> T) -> Result<()> {
    if let Strings::Slices(slices) = strings
        && FAST
        && valid.count_ones() as usize >= to.len() / 2
    {
        // All, without a comparison and a branch for each row.
        for (to, text) in to.iter_mut().zip(slices.get(start..).unwrap_or_default()) {
            *to = of(text);
        }
        return Ok(());
    }
    for i in ones(valid) {
        let Some(to) = to.get_mut(i) else { break };
        *to = of(strings.get(start.wrapping_add(i))?);
    }
    Ok(())
}

/// Returns by how many bytes the codes of `entries` entries at least exceed codes of 2 bits.
fn codes_len(entries: usize, rows: usize) -> usize {
    let codes = packed(MinMax { min: 0, max: entries as i64 }).unwrap_or(Packing::I32);
    codes.bytes(rows).saturating_sub(Packing::U2.bytes(rows))
}

/// Number of rows that are hashed before one of them is searched, so that the processor loads the strings of several rows
/// at a time. It takes 0.75 of the time of groups of one row, which small builds use for the sake of their stack.
const AHEAD: usize = if FAST { 16 } else { 1 };
const _: () = assert!(64_usize.is_multiple_of(AHEAD) && ROUND.is_multiple_of(AHEAD));

/// Number of bits per row of the sample. Few strings share a bit then, so nearly all distinct strings are counted.
const BITS_PER_ROW: usize = 8;

/// Number of rows after which the count is checked.
const ROUND: usize = 1024;

/// Checks the codes of a caller's dictionary: the width must be valid for the encoding, and each code must have an
/// entry.
pub(super) fn check_codes(
    encoding: Encoding,
    element: Element,
    entries: usize,
    codes: &[u32],
) -> Result<Mask<'static>> {
    if !holds(encoding, element) {
        return Err(wrong_type(encoding));
    }
    let largest = codes.iter().copied().max().unwrap_or(0);
    if largest as usize <= entries {
        return Mask::all_of(codes.len());
    }
    let row = codes.iter().position(|code| *code == largest).unwrap_or(0);
    Err(Error::needing(Kind::OutOfRange, What::FILO_CODES, row as u64, entries as u64))
}

#[cfg(test)]
mod tests;
