//! UTF8 vectors (section 10).

use super::binary::put_packed;
use super::cells::{Cells, Source, lossy};
use super::dictionary::check_codes;
use super::mask::Mask;
use super::out::Out;
use super::rows::Strings;
use super::texts::Texts;
use crate::bytes::short_strings::copy;
use crate::encoding::bitpack::Packing;
use crate::error::{Result, What};
use crate::filo::raw::{FIXED_NA, Header, UTF8_LEN_BITS, UTF8_MAX_LEN, UTF8_MAX_OFFSET, UTF8_NA};
use crate::filo::{Element, Encoding};

/// Maximum length in bytes of a string in a fixed-max slot. The slot size is stored in one byte, and includes a length
/// byte.
pub(super) const MAX_SLOT_TEXT: usize = 254;

/// Returns the word of a string at `offset`, and whether its length is stored before its bytes.
#[inline]
pub(super) fn word(offset: usize, len: usize) -> (u32, bool) {
    // Both are below 2^31, because a longer chunk is an error before its words are written.
    let offset = u32::try_from(offset).unwrap_or(UTF8_NA - 1);
    match u32::try_from(len) {
        Ok(len) if len <= UTF8_MAX_LEN && offset <= UTF8_MAX_OFFSET => (UTF8_NA | offset << UTF8_LEN_BITS | len, false),
        _ => (offset, true),
    }
}

/// Returns whether a string of any length at `offset` needs the long form.
pub(super) fn far(offset: usize) -> bool {
    offset > UTF8_MAX_OFFSET as usize
}

/// Returns the size in bytes of strings of variable length (section 10.1).
fn variable_len(texts: &Texts<'_>) -> Result<usize> {
    let mut at = texts.len().saturating_mul(4).saturating_add(4);
    for text in texts.iter() {
        let Some(text) = text? else { continue };
        let (_, long) = word(at, text.len());
        at = at.saturating_add(text.len()).saturating_add(if long { 4 } else { 0 });
    }
    Ok(at)
}

/// Writes count, words and strings (section 10.1). Offsets count from the position of the count.
fn put_variable(texts: &Texts<'_>, out: &mut Out<'_>) -> Result<()> {
    let start = out.at();
    out.u32(texts.len())?;
    let words = out.take(texts.len().saturating_mul(4))?;
    for (slot, text) in words.as_chunks_mut::<4>().0.iter_mut().zip(texts.iter()) {
        let Some(text) = text? else {
            *slot = UTF8_NA.to_le_bytes();
            continue;
        };
        let (word, long) = word(out.at().saturating_sub(start), text.len());
        *slot = word.to_le_bytes();
        if long {
            out.u32(text.len())?;
        }
        out.bytes(text)?;
    }
    Ok(())
}

/// Writes strings of variable length (section 10.1).
pub(super) fn variable(strings: Strings<'_>, mask: Mask<'_>, dst: &mut [u8]) -> Result<usize> {
    let texts = Texts::Rows(strings, mask);
    let mut out = Out::chunk(Header::Utf8, variable_len(&texts)?, dst)?;
    put_variable(&texts, &mut out)?;
    out.finish()
}

/// Writes strings in slots (section 10.2). A slot has the size of the longest string.
pub(super) fn fixed_max(strings: Strings<'_>, mask: Mask<'_>, dst: &mut [u8]) -> Result<usize> {
    let texts = Texts::Rows(strings, mask);
    let mut longest = 1u8;
    for (row, text) in texts.iter().enumerate() {
        let len = text?.map_or(0, <[u8]>::len);
        match u8::try_from(len) {
            Ok(len) if usize::from(len) <= MAX_SLOT_TEXT => longest = longest.max(len),
            _ => return Err(lossy(What::FILO_SLOT, row)),
        }
    }
    let size = longest.saturating_add(1);
    let slots = texts.len().saturating_mul(size.into());
    let mut out = Out::chunk(Header::FixedMaxUtf8, slots.saturating_add(1), dst)?;
    out.put([size])?;
    let group = usize::from(size).saturating_mul(SLOTS);
    for (first, slots) in (0..texts.len()).step_by(SLOTS).zip(out.take(slots)?.chunks_mut(group)) {
        slots.fill(0);
        for (row, slot) in (first..).zip(slots.chunks_exact_mut(size.into())) {
            let (len, bytes) = match texts.get(row)? {
                Some(text) => (u8::try_from(text.len()).unwrap_or(0), text),
                None => (0, &[FIXED_NA][..]),
            };
            if let Some((head, rest)) = slot.split_first_mut() {
                *head = len;
                copy(rest, bytes);
            }
        }
    }
    out.finish()
}

/// Number of slots that are cleared at a time. A `memset` per slot takes 5 % of the time of `encode_auto`.
const SLOTS: usize = 64;

/// Writes a repeated string (section 9.3).
pub(super) fn repeated(strings: Strings<'_>, mask: Mask<'_>, dst: &mut [u8]) -> Result<usize> {
    mask.no_nulls()?;
    let text = Texts::Rows(strings, mask).constant()?;
    let mut out = Out::chunk(Header::Repeated, text.len().saturating_add(4), dst)?;
    out.u32(mask.rows())?;
    out.bytes(text)?;
    out.finish()
}

/// Writes a [`DictUtf8`](super::super::Encoding::DictUtf8) chunk with a dictionary of the caller. Code `k` is
/// `dictionary[k - 1]`, code 0 a missing row. Returns the length of the chunk.
///
/// # Errors
/// Errors of [`dict_string`](super::dict_string).
///
/// ```
/// use pilaster::filo::write::{Strings, dict_utf8};
/// use pilaster::filo::{Element, Packing, Value, Vector};
///
/// let mut chunk = [0; 64];
/// let dictionary = Strings::Slices(&[b"off", b"on"]);
/// let len = dict_utf8(dictionary, &[2, 1, 0, 1], Packing::U2, &mut chunk)?;
/// let vector = Vector::open(&chunk[..len], Element::Utf8)?;
/// assert_eq!((vector.get(0)?, vector.get(2)?), (Some(Value::Bytes(b"on")), None));
/// # Ok::<(), pilaster::Error>(())
/// ```
pub fn dict_utf8(dictionary: Strings<'_>, codes: &[u32], packing: Packing, dst: &mut [u8]) -> Result<usize> {
    let mask = check_codes(Encoding::DictUtf8(packing), Element::Utf8, dictionary.len(), codes)?;
    put_dict_utf8(&Texts::Entries(dictionary, None), &Cells { source: Source::Narrow(codes), mask }, packing, dst)
}

/// Returns the number of bytes before the codes of a dictionary (section 10.3).
fn codes_at(entries: &Texts<'_>) -> Result<usize> {
    Ok(variable_len(entries)?.saturating_add(8))
}

/// Returns the size in bytes of the payload of a dictionary vector (section 10.3) with `codes` bytes of packed codes.
pub(super) fn dict_utf8_payload(entries: &Texts<'_>, codes: usize) -> Result<usize> {
    Ok(codes_at(entries)?.saturating_add(codes).saturating_add(4))
}

/// Writes a dictionary vector (section 10.3): layout of the dictionary, offset of the codes, dictionary, codes.
pub(super) fn put_dict_utf8(entries: &Texts<'_>, codes: &Cells<'_>, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    let codes_at = codes_at(entries)?;
    let mut out = Out::chunk(Header::DictUtf8, dict_utf8_payload(entries, codes.bytes(packing))?, dst)?;
    // The layout of the dictionary is named by its sub type.
    out.u32(Header::Utf8.word() >> 8)?;
    out.u32(codes_at)?;
    put_variable(entries, &mut out)?;
    put_packed(codes, packing, &mut out)?;
    out.finish()
}
