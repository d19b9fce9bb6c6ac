//! Opening BinaryVectors (sections 9 and 10, old releases: section 15).

use super::mask::Mask;
use super::numbers::{Form, Numbers};
use super::packed::{Packed, position};
use super::strings::{Kinds, Strings};
use super::{Chunk, Data, PAYLOAD, Vector, row_count, rows_of};
use crate::bytes::{LittleEndian, Reader};
use crate::column::Span;
use crate::encoding::line::Line;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{Header, Packing};
use crate::filo::{Element, Encoding};

type Bytes<'a> = Reader<'a, LittleEndian>;

/// Opens the payload `r` of `chunk`.
pub(super) fn open<'a>(chunk: Chunk<'a>, r: Bytes<'a>) -> Result<Vector<'a>> {
    let text = matches!(chunk.element, Element::Utf8 | Element::Blob);
    let number = matches!(chunk.element, Element::Int | Element::Long | Element::Double);
    match chunk.header {
        Header::Primitive | Header::Int if number => dense(chunk, Packed::open(r)?, Mask::None),
        Header::MaskedPrimitive | Header::MaskedInt if number => masked(chunk, r),
        Header::Repeated if number || text => repeated(chunk, r),
        Header::DeltaDelta if chunk.element == Element::Long => delta_delta(chunk, r),
        Header::Utf8 if text => utf8(chunk, r),
        Header::FixedMaxUtf8 if text => fixed_max(chunk, r),
        Header::DictUtf8 if text => dict_utf8(chunk, r),
        _ => Err(chunk.wrong_type()),
    }
}

/// Section 9.1, and 9.2 behind the mask.
fn dense<'a>(chunk: Chunk<'a>, (packed, rows): (Packed<'a>, u32), mask: Mask<'a>) -> Result<Vector<'a>> {
    let int_header = matches!(chunk.header, Header::Int | Header::MaskedInt);
    let form = match (packed.packing, chunk.element) {
        (Packing::W64, _) if int_header => return Err(packed.too_wide()),
        (Packing::W64, Element::Int) => return Err(chunk.wrong_type()),
        // Under the headers of 64-bit vectors too: that is how releases up to 0.3.2 stored ints.
        (packing, Element::Double) if packing != Packing::W64 => Form::Double,
        _ => Form::Word,
    };
    let encoding = match mask {
        Mask::None => Encoding::Packed(packed.packing),
        _ => Encoding::Masked(packed.packing),
    };
    Ok(chunk.vector(encoding, rows, mask, Data::Numbers(Numbers { form, ..Numbers::plain(packed) })))
}

/// Section 9.2.
fn masked<'a>(chunk: Chunk<'a>, mut r: Bytes<'a>) -> Result<Vector<'a>> {
    let (words, packed) = split_at_sub(chunk.bytes, &mut r)?;
    let opened = Packed::open(packed)?;
    // Whole words, and as many as the rows need.
    let need = opened.1.div_ceil(64).saturating_mul(8);
    if words.len() < need as usize {
        return Err(Error::new(Kind::Truncated, What::FiloMask, r.at()).with_need(need.into()));
    }
    dense(chunk, opened, Mask::Words(words))
}

/// Takes the offset of a sub-vector; gives the bytes up to there, and what follows.
#[inline(never)]
fn split_at_sub<'a>(bytes: &'a [u8], r: &mut Bytes<'a>) -> Result<(&'a [u8], Bytes<'a>)> {
    let at = r.at();
    let sub = r.u32(What::FiloSubVector)?;
    let start = PAYLOAD.saturating_add(sub.into());
    let parts = start.checked_sub(r.at()).and_then(|len| r.rest().split_at_checked(usize::try_from(len).ok()?));
    match parts {
        Some((before, after)) if start <= bytes.len() as u64 => Ok((before, Reader::new_at(after, start))),
        _ => Err(Error::new(Kind::Invalid, What::FiloSubVector, at).with_need(sub.into())),
    }
}

/// Sections 9.3 and 10.4.
fn repeated<'a>(chunk: Chunk<'a>, mut r: Bytes<'a>) -> Result<Vector<'a>> {
    let at = r.at();
    let rows = row_count(r.u32(What::FiloRows)?, at)?;
    let value = r.rest();
    let at = position(r.at())?;
    let packing = match (chunk.element, value.len()) {
        (Element::Int, 4) => Packing::I32,
        (Element::Long | Element::Double, 8) => Packing::W64,
        (Element::Utf8 | Element::Blob, len) => {
            let one = Kinds::One(Span { at, len: rows_of(len)? });
            let data = Data::Strings(Strings { chunk: chunk.bytes, kind: one });
            return Ok(chunk.vector(Encoding::Repeated, rows, Mask::None, data));
        }
        // The original would read the width of the type that it was asked for, past the end.
        (_, len) => return Err(Error::new(Kind::WrongType, What::FiloValue, at.into()).with_need(len as u64)),
    };
    let numbers = Numbers::plain(Packed { packing, at, data: value });
    Ok(chunk.vector(Encoding::Repeated, rows, Mask::None, Data::Numbers(Numbers { constant: true, ..numbers })))
}

/// Section 9.4.
fn delta_delta<'a>(chunk: Chunk<'a>, mut r: Bytes<'a>) -> Result<Vector<'a>> {
    let line = Line { base: r.i64(What::FiloBase)?, slope: r.i32(What::FiloSlope)? };
    let (packed, rows) = Packed::open(r)?;
    if packed.packing == Packing::W64 {
        return Err(packed.too_wide());
    }
    let data = Data::Numbers(Numbers { line, ..Numbers::plain(packed) });
    Ok(chunk.vector(Encoding::DeltaDelta(packed.packing), rows, Mask::None, data))
}

/// Section 10.1.
fn utf8<'a>(chunk: Chunk<'a>, r: Bytes<'a>) -> Result<Vector<'a>> {
    let (strings, rows) = words(chunk.bytes, r)?;
    Ok(chunk.vector(Encoding::Utf8, rows, Mask::None, Data::Strings(strings)))
}

/// The word table of section 10.1, at the start of `r`, of strings that lie in `chunk`.
#[inline(never)]
fn words<'a>(chunk: &'a [u8], mut r: Bytes<'a>) -> Result<(Strings<'a>, u32)> {
    let base = position(r.at())?;
    let count = row_count(r.u32(What::FiloRows)?, base.into())?;
    let table = u64::from(count).saturating_mul(4);
    if (r.rest().len() as u64) < table {
        return Err(Error::new(Kind::Truncated, What::FiloWords, r.at()).with_need(table));
    }
    Ok((Strings { chunk, kind: Kinds::Words { base } }, count))
}

/// Section 10.2.
fn fixed_max<'a>(chunk: Chunk<'a>, mut r: Bytes<'a>) -> Result<Vector<'a>> {
    let start = r.at();
    let size = r.u8(What::FiloSlot)?;
    if size < 2 {
        return Err(Error::new(Kind::Invalid, What::FiloSlot, start).with_need(size.into()));
    }
    let rows = rows_of(r.rest().len().checked_div(size.into()).unwrap_or(0))?;
    let data = Data::Strings(Strings { chunk: chunk.bytes, kind: Kinds::Slots { at: position(r.at())?, size } });
    Ok(chunk.vector(Encoding::FixedMaxUtf8, rows, Mask::None, data))
}

/// Section 10.3.
fn dict_utf8<'a>(chunk: Chunk<'a>, mut r: Bytes<'a>) -> Result<Vector<'a>> {
    /// The only layout that a dictionary has: variable UTF8.
    const UTF8_LAYOUT: u32 = 2;
    let at = r.at();
    let layout = r.u32(What::FiloDictionary)?;
    if layout != UTF8_LAYOUT {
        return Err(Error::new(Kind::Unsupported, What::FiloDictionary, at).with_need(layout.into()));
    }
    let (table, codes) = split_at_sub(chunk.bytes, &mut r)?;
    let end = usize::try_from(codes.at()).unwrap_or(usize::MAX);
    let (entries, count) = words(chunk.bytes.get(..end).unwrap_or(chunk.bytes), Reader::new_at(table, r.at()))?;
    let (codes, rows) = Packed::open(codes)?;
    if codes.packing == Packing::W64 {
        return Err(codes.too_wide());
    }
    let data = Data::Coded { entries, count, codes };
    Ok(chunk.vector(Encoding::DictUtf8(codes.packing), rows, Mask::None, data))
}
