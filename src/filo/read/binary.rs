//! Opening BinaryVectors (sections 9 and 10, old releases: section 15).

use super::mask::Mask;
use super::numbers::{Form, Numbers};
use super::packed::{Packed, position};
use super::strings::{Kinds, Strings};
use super::{Data, PAYLOAD, Parts, ints, row_count, rows_of};
use crate::bytes::{LittleEndian, Reader};
use crate::column::Span;
use crate::encoding::line::Line;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{Header, Packing};
use crate::filo::{Element, Encoding};

type Bytes<'a> = Reader<'a, LittleEndian>;

/// Opens the payload `r` of the chunk `bytes`; `None` if it cannot be read as `element`.
pub(super) fn open<'a>(bytes: &'a [u8], r: Bytes<'a>, header: Header, element: Element) -> Result<Option<Parts<'a>>> {
    let text = matches!(element, Element::Utf8 | Element::Blob);
    let number = matches!(element, Element::Int | Element::Long | Element::Double);
    match header {
        Header::Primitive | Header::Int if number => dense(Packed::open(r)?, Mask::None, header, element),
        Header::MaskedPrimitive | Header::MaskedInt if number => masked(bytes, r, header, element),
        Header::Repeated if number || text => repeated(bytes, r, element),
        Header::DeltaDelta if element == Element::Long => delta_delta(r),
        Header::Utf8 if text => utf8(bytes, r),
        Header::FixedMaxUtf8 if text => fixed_max(bytes, r),
        Header::DictUtf8 if text => dict_utf8(bytes, r),
        _ => Ok(None),
    }
}

/// Sections 9.1 and 9.2 behind the mask.
fn dense<'a>(
    (packed, rows): (Packed<'a>, usize),
    mask: Mask<'a>,
    header: Header,
    element: Element,
) -> Result<Option<Parts<'a>>> {
    let masked = matches!(header, Header::MaskedPrimitive | Header::MaskedInt);
    let numbers = match (packed.packing, header) {
        (Packing::W64, Header::Int | Header::MaskedInt) => {
            return Err(Error::new(Kind::Invalid, What::FiloPacked, packed.at.into()).with_need(64));
        }
        (Packing::W64, _) if element == Element::Int => return Ok(None),
        (Packing::W64, _) => Numbers::plain(packed),
        // Under the headers of 64-bit vectors too: that is how releases up to 0.3.2 stored ints.
        _ => match ints(packed, element) {
            Some(numbers) => numbers,
            None => return Ok(None),
        },
    };
    let encoding = if masked { Encoding::Masked(packed.packing) } else { Encoding::Packed(packed.packing) };
    Ok(Some(Parts { encoding, rows: rows_of(rows)?, mask, data: Data::Numbers(numbers) }))
}

/// Section 9.2.
fn masked<'a>(bytes: &'a [u8], mut r: Bytes<'a>, header: Header, element: Element) -> Result<Option<Parts<'a>>> {
    let at = r.at();
    let sub = r.u32(What::FiloSubVector)?;
    let (words, packed) = split_at(bytes, sub, r.at(), at)?;
    let opened = Packed::open(packed)?;
    // Whole words, and as many as the rows need.
    let need = opened.1.div_ceil(64).saturating_mul(8);
    if words.len() < need {
        return Err(Error::new(Kind::Truncated, What::FiloMask, r.at()).with_need(need as u64));
    }
    dense(opened, Mask::Words(words), header, element)
}

/// The bytes from `from` up to offset `sub` of the payload, which is stored at `at`, and what follows.
fn split_at(bytes: &[u8], sub: u32, from: u64, at: u64) -> Result<(&[u8], Bytes<'_>)> {
    let wrong = Error::new(Kind::Invalid, What::FiloSubVector, at).with_need(sub.into());
    let start = PAYLOAD.saturating_add(sub.into());
    let (Ok(from), Ok(split)) = (usize::try_from(from), usize::try_from(start)) else { return Err(wrong) };
    match (bytes.get(from..split), bytes.get(split..)) {
        (Some(before), Some(after)) => Ok((before, Reader::new_at(after, start))),
        _ => Err(wrong),
    }
}

/// Sections 9.3 and 10.4.
fn repeated<'a>(bytes: &'a [u8], mut r: Bytes<'a>, element: Element) -> Result<Option<Parts<'a>>> {
    let at = r.at();
    let rows = row_count(r.u32(What::FiloRows)?, at)?;
    let value = r.rest();
    let at = position(r.at())?;
    let packing = match (element, value.len()) {
        (Element::Int, 4) => Packing::I32,
        (Element::Long | Element::Double, 8) => Packing::W64,
        (Element::Utf8 | Element::Blob, len) => {
            let one = Kinds::One(Span { at, len: rows_of(len)? });
            let data = Data::Strings(Strings { chunk: bytes, kind: one });
            return Ok(Some(Parts { encoding: Encoding::Repeated, rows, mask: Mask::None, data }));
        }
        // The original would read the width of the type that it was asked for, past the end.
        (_, len) => return Err(Error::new(Kind::WrongType, What::FiloValue, at.into()).with_need(len as u64)),
    };
    let packed = Packed { packing, at, data: value };
    let data = Data::Numbers(Numbers { constant: true, ..Numbers::plain(packed) });
    Ok(Some(Parts { encoding: Encoding::Repeated, rows, mask: Mask::None, data }))
}

/// Section 9.4.
fn delta_delta(mut r: Bytes<'_>) -> Result<Option<Parts<'_>>> {
    let line = Line { base: r.i64(What::FiloBase)?, slope: r.i32(What::FiloSlope)? };
    let (packed, rows) = Packed::open(r)?;
    if packed.packing == Packing::W64 {
        return Err(Error::new(Kind::Invalid, What::FiloPacked, packed.at.into()).with_need(64));
    }
    let numbers = Numbers { line, form: Form::Word, ..Numbers::plain(packed) };
    Ok(Some(Parts {
        encoding: Encoding::DeltaDelta(packed.packing),
        rows: rows_of(rows)?,
        mask: Mask::None,
        data: Data::Numbers(numbers),
    }))
}

/// Section 10.1.
fn utf8<'a>(bytes: &'a [u8], r: Bytes<'a>) -> Result<Option<Parts<'a>>> {
    let (strings, rows) = words(bytes, r)?;
    let data = Data::Strings(strings);
    Ok(Some(Parts { encoding: Encoding::Utf8, rows, mask: Mask::None, data }))
}

/// The word table of section 10.1, at the start of `r`, of strings that lie in `chunk`.
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
fn fixed_max<'a>(bytes: &'a [u8], mut r: Bytes<'a>) -> Result<Option<Parts<'a>>> {
    let start = r.at();
    let size = r.u8(What::FiloSlot)?;
    if size < 2 {
        return Err(Error::new(Kind::Invalid, What::FiloSlot, start).with_need(size.into()));
    }
    let rows = rows_of(r.rest().len().checked_div(size.into()).unwrap_or(0))?;
    let data = Data::Strings(Strings { chunk: bytes, kind: Kinds::Slots { at: position(r.at())?, size } });
    Ok(Some(Parts { encoding: Encoding::FixedMaxUtf8, rows, mask: Mask::None, data }))
}

/// Section 10.3.
fn dict_utf8<'a>(bytes: &'a [u8], mut r: Bytes<'a>) -> Result<Option<Parts<'a>>> {
    /// The only layout that a dictionary has: variable UTF8.
    const UTF8_LAYOUT: u32 = 2;
    let at = r.at();
    let layout = r.u32(What::FiloDictionary)?;
    if layout != UTF8_LAYOUT {
        return Err(Error::new(Kind::Unsupported, What::FiloDictionary, at).with_need(layout.into()));
    }
    let at = r.at();
    let sub = r.u32(What::FiloCodes)?;
    let (table, codes) = split_at(bytes, sub, r.at(), at)?;
    let end = usize::try_from(codes.at()).unwrap_or(usize::MAX);
    let (entries, count) = words(bytes.get(..end).unwrap_or(bytes), Reader::new_at(table, r.at()))?;
    let (codes, rows) = Packed::open(codes)?;
    if codes.packing == Packing::W64 {
        return Err(Error::new(Kind::Invalid, What::FiloCodes, codes.at.into()).with_need(64));
    }
    Ok(Some(Parts {
        encoding: Encoding::DictUtf8(codes.packing),
        rows: rows_of(rows)?,
        mask: Mask::None,
        data: Data::Coded { entries, count, codes },
    }))
}
