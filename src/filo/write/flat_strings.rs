//! FlatBuffer kinds of strings (sections 8.5 to 8.7), written by the templates of section 17.

use super::cells::{Cells, Source};
use super::dictionary::check_codes;
use super::len::pad4;
use super::mask::Mask;
use super::out::Out;
use super::rows::Strings;
use super::texts::{Texts, check_text};
use crate::bytes::short_strings::copy;
use crate::encoding::bitpack::Packing;
use crate::error::Result;
use crate::filo::raw::Header;
use crate::filo::{Element, Encoding};

/// Returns the size in bytes of a stored string: length word, bytes, NUL, padding.
const fn string_len(text: &[u8]) -> usize {
    pad4(text.len().saturating_add(5))
}

/// Returns the length of a string block: count, offsets, strings. Missing rows are empty strings. Returns an error for
/// bytes that are not valid UTF-8, because readers decode these kinds (8.5).
fn block_len(texts: &Texts<'_>) -> Result<usize> {
    let mut len = texts.len().saturating_mul(4).saturating_add(4);
    for (i, text) in texts.iter().enumerate() {
        let text = text?.unwrap_or_default();
        check_text(text, || texts.row(i))?;
        len = len.saturating_add(string_len(text));
    }
    Ok(len)
}

impl Out<'_> {
    fn string(&mut self, text: &[u8]) -> Result<()> {
        let slot = self.take(string_len(text))?;
        if let Some((len, slot)) = slot.split_first_chunk_mut() {
            // The chunk is below 2 GiB.
            *len = u32::try_from(text.len()).unwrap_or(0).to_le_bytes();
            // NUL and padding are within the last four bytes, which may also contain text. They are cleared before the
            // text is copied.
            if let Some(end) = slot.last_chunk_mut() {
                *end = [0; 4];
            }
            copy(slot, text);
        }
        Ok(())
    }

    fn strings(&mut self, texts: &Texts<'_>) -> Result<()> {
        self.u32(texts.len())?;
        let mut slot_at = self.at();
        let slots = self.take(texts.len().saturating_mul(4))?;
        for (slot, text) in slots.as_chunks_mut::<4>().0.iter_mut().zip(texts.iter()) {
            // The chunk is below 2 GiB.
            *slot = u32::try_from(self.at().saturating_sub(slot_at)).unwrap_or(0).to_le_bytes();
            self.string(text?.unwrap_or_default())?;
            slot_at = slot_at.saturating_add(4);
        }
        Ok(())
    }
}

/// Writes a `SimpleStringVector` (section 8.5).
pub(super) fn simple_string(strings: Strings<'_>, mask: Mask<'_>, dst: &mut [u8]) -> Result<usize> {
    let texts = Texts::Rows(strings, mask);
    let block_end = block_len(&texts)?.saturating_add(28);
    let mut out = Out::chunk(Header::SimpleString, mask.flat().end(block_end), dst)?;
    out.root(16, [8, 12, 4, 8])?;
    out.offset_to(mask.flat().table(block_end))?;
    out.offset_to(28)?;
    out.strings(&texts)?;
    mask.put_flat(&mut out)?;
    out.finish()
}

/// Writes a `ConstStringVector` (section 8.6).
pub(super) fn const_string(strings: Strings<'_>, mask: Mask<'_>, dst: &mut [u8]) -> Result<usize> {
    let text = Texts::Rows(strings, mask).constant()?;
    check_text(text, || mask.first().unwrap_or(0))?;
    let text_end = string_len(text).saturating_add(32);
    let mut out = Out::chunk(Header::ConstString, mask.flat().end(text_end), dst)?;
    out.root(16, [10, 16, 4, 8, 12])?;
    out.u32(mask.rows())?;
    out.offset_to(mask.flat().table(text_end))?;
    out.offset_to(32)?;
    out.string(text)?;
    mask.put_flat(&mut out)?;
    out.finish()
}

/// Writes a [`DictString`](super::super::Encoding::DictString) chunk with a dictionary of the caller. Code `k` is
/// `dictionary[k - 1]`, code 0 a missing row. All entries must differ. Returns the length of the chunk.
///
/// # Errors
/// [`Kind::OutOfRange`](crate::error::Kind::OutOfRange) with the row whose code has no entry;
/// [`Kind::Lossy`](crate::error::Kind::Lossy) for a code that does not fit `packing`; other errors of
/// [`encode`](super::encode).
///
/// ```
/// use pilaster::filo::Packing;
/// use pilaster::filo::write::{Strings, dict_string};
///
/// let mut chunk = [0; 124];
/// let dictionary = Strings::Slices(&[b"c", b"a", b"b"]);
/// let len = dict_string(dictionary, &[3, 2, 1, 2, 3, 1, 3], Packing::I8, &mut chunk)?;
/// assert_eq!((len, chunk[0], chunk[1]), (104, 3, 1));
/// # Ok::<(), pilaster::Error>(())
/// ```
pub fn dict_string(dictionary: Strings<'_>, codes: &[u32], packing: Packing, dst: &mut [u8]) -> Result<usize> {
    let mask = check_codes(Encoding::DictString(packing), Element::String, dictionary.len(), codes)?;
    put_dict_string(&Texts::Entries(dictionary, None), &Cells { source: Source::Narrow(codes), mask }, packing, dst)
}

/// Returns the number of bytes before the codes of a `DictStringVector` (section 8.7).
fn codes_at(entries: &Texts<'_>) -> Result<usize> {
    Ok(block_len(entries)?.saturating_add(36))
}

/// Returns the size in bytes of the payload of a `DictStringVector` (section 8.7) with `codes` bytes of packed codes.
pub(super) fn dict_string_payload(entries: &Texts<'_>, codes: usize) -> Result<usize> {
    Ok(pad4(codes_at(entries)?.saturating_add(codes).saturating_add(4)))
}

/// Writes a `DictStringVector` (section 8.7).
pub(super) fn put_dict_string(
    entries: &Texts<'_>,
    codes: &Cells<'_>,
    packing: Packing,
    dst: &mut [u8],
) -> Result<usize> {
    let codes_at = codes_at(entries)?;
    let mut out = Out::chunk(Header::DictString, dict_string_payload(entries, codes.bytes(packing))?, dst)?;
    out.root(16, [12, 20, 12, 16, 4, 8])?;
    out.info(packing)?;
    out.offset_to(codes_at)?;
    out.u32(codes.mask.rows())?;
    out.offset_to(36)?;
    out.strings(entries)?;
    out.data(codes, packing, 0)?;
    out.finish()
}
