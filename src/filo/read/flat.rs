//! Opening the FlatBuffer kinds (sections 5 to 8), through the views that the schema gives.

use super::mask::Mask;
use super::numbers::{Numbers, Zones};
use super::packed::{Packed, position};
use super::strings::{Kinds, Strings};
use super::{Chunk, Data, PAYLOAD, Vector, row_count, rows_of};
use crate::column::Span;
use crate::encoding::line::Line;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{self, HEADER_LEN, Header, Packing};
use crate::filo::{Element, Encoding};
use crate::generated::filo as views;
use crate::meta::flat::{Flat, Inline, Linked, Str};

/// Opens the payload of `chunk`.
pub(super) fn open(chunk: Chunk<'_>) -> Result<Vector<'_>> {
    let buffer = Flat::new_at(chunk.bytes.get(HEADER_LEN..).unwrap_or_default(), PAYLOAD);
    match (chunk.header, chunk.element) {
        (
            Header::SimplePrimitive | Header::ConstPrimitive,
            Element::Boolean | Element::Int | Element::Long | Element::Float | Element::Double,
        ) => simple(chunk, buffer.root()?),
        (Header::DiffPrimitive, Element::Int | Element::Long | Element::Timestamp) => diff(chunk, buffer.root()?),
        (Header::DiffDateTime, Element::DateTime) => date_time(chunk, buffer.root()?),
        (Header::SimpleString, Element::String) => simple_string(chunk, buffer.root()?),
        (Header::ConstString, Element::String) => const_string(chunk, buffer.root()?),
        (Header::DictString, Element::String) => dict_string(chunk, buffer.root()?),
        _ => Err(chunk.wrong_type()),
    }
}

/// Sections 8.1 and 8.2.
fn simple<'a>(chunk: Chunk<'a>, table: views::SimplePrimitiveVector<'a>) -> Result<Vector<'a>> {
    let at = table.at();
    let rows = rows(table.len(), at)?;
    let mask = mask(table.na_mask(), at)?;
    let constant = chunk.header == Header::ConstPrimitive;
    let stored = if constant { 1 } else { rows };
    // Booleans are words of 64 rows, not one of 64 bits for each.
    let boolean = chunk.element == Element::Boolean;
    let packed = packed(table.info(), table.data(), at, if boolean { stored.div_ceil(64) } else { stored })?;
    let allowed = match chunk.element {
        Element::Boolean | Element::Double => packed.packing == Packing::W64,
        Element::Int => packed.packing != Packing::W64,
        Element::Float => packed.packing == Packing::U32,
        _ => true,
    };
    if !allowed {
        return Err(chunk.wrong_type());
    }
    let data = if boolean {
        Data::Bits { words: packed.data, constant }
    } else {
        Data::Numbers(Numbers { constant, ..Numbers::plain(packed) })
    };
    let encoding = if constant { Encoding::Const(packed.packing) } else { Encoding::Simple(packed.packing) };
    Ok(chunk.vector(encoding, rows, mask, data))
}

/// Section 8.3.
fn diff<'a>(chunk: Chunk<'a>, table: views::DiffPrimitiveVector<'a>) -> Result<Vector<'a>> {
    let at = table.at();
    let rows = rows(table.len(), at)?;
    let mask = mask(table.na_mask(), at)?;
    let packed = packed(table.info(), table.data(), at, rows)?;
    if chunk.element == Element::Int && packed.packing == Packing::W64 {
        return Err(chunk.wrong_type());
    }
    let line = Line { base: table.base()?, slope: 0 };
    let data = Data::Numbers(Numbers { line, ..Numbers::plain(packed) });
    Ok(chunk.vector(Encoding::Diff(packed.packing), rows, mask, data))
}

/// Section 8.4.
fn date_time<'a>(chunk: Chunk<'a>, table: views::DiffDateTimeVector<'a>) -> Result<Vector<'a>> {
    let at = table.at();
    let vars = table.vars()?.ok_or(Error::new(Kind::Invalid, What::FiloVars, at))?;
    let rows = rows(Ok(vars.len), at)?;
    let mask = mask(table.na_mask(), at)?;
    let millis = packed(table.millis_info(), table.millis(), at, rows)?;
    // Absent or empty: all rows have the base offset.
    let zones = match table.tz()? {
        Some(zones) if !zones.is_empty() => packed(table.tz_info(), Ok(Some(zones)), at, rows)?,
        _ => Packed { data: &[], ..millis },
    };
    let encoding = Encoding::DiffDateTime {
        millis: millis.packing,
        zones: if zones.data.is_empty() { None } else { Some(zones.packing) },
    };
    let line = Line { base: vars.base_millis, slope: 0 };
    let millis = Numbers { line, ..Numbers::plain(millis) };
    let data = Data::DateTime { millis, zones: Zones { base: vars.base_tz, packed: zones } };
    Ok(chunk.vector(encoding, rows, mask, data))
}

/// Section 8.5.
fn simple_string<'a>(chunk: Chunk<'a>, table: views::SimpleStringVector<'a>) -> Result<Vector<'a>> {
    let mask = mask(table.na_mask(), table.at())?;
    let (strings, rows) = strings(chunk.bytes, table.data(), table.at())?;
    Ok(chunk.vector(Encoding::SimpleString, rows, mask, Data::Strings(strings)))
}

/// Section 8.6.
fn const_string<'a>(chunk: Chunk<'a>, table: views::ConstStringVector<'a>) -> Result<Vector<'a>> {
    let at = table.at();
    let rows = rows(table.len(), at)?;
    let mask = mask(table.na_mask(), at)?;
    let string = table.str()?.ok_or(Error::new(Kind::Invalid, What::FiloString, at))?;
    let span = Span { at: position(string.at())?, len: rows_of(string.bytes().len())? };
    let strings = Strings { chunk: chunk.bytes, kind: Kinds::One(span) };
    Ok(chunk.vector(Encoding::ConstString, rows, mask, Data::Strings(strings)))
}

/// Section 8.7.
fn dict_string<'a>(chunk: Chunk<'a>, table: views::DictStringVector<'a>) -> Result<Vector<'a>> {
    let at = table.at();
    let rows = rows(table.len(), at)?;
    let (entries, count) = strings(chunk.bytes, table.dictionary(), at)?;
    let codes = packed(table.info(), table.codes(), at, rows)?;
    if codes.packing == Packing::W64 {
        return Err(codes.too_wide());
    }
    let data = Data::Coded { entries, count, codes };
    Ok(chunk.vector(Encoding::DictString(codes.packing), rows, Mask::None, data))
}

// What follows takes fields as the table gave them, so that one place looks at their errors.

/// The row count of the table at `table`.
#[inline(never)]
fn rows(len: Result<i32>, table: u64) -> Result<u32> {
    row_count(len?.cast_unsigned(), table)
}

/// A data vector (section 6) of `rows` numbers of the table at `table`.
#[inline(never)]
fn packed<'a>(
    info: Result<Option<views::DataInfo>>,
    data: Result<Option<Inline<'a, u8>>>,
    table: u64,
    rows: u32,
) -> Result<Packed<'a>> {
    let wrong = Error::new(Kind::Invalid, What::FiloInfo, table);
    let info = info?.ok_or(wrong)?;
    let packing = raw::packing_of_info(info.nbits, info.signed).ok_or(wrong.with_need(info.nbits.into()))?;
    let (at, data) = match data? {
        Some(data) => (data.at(), data.bytes()),
        None => (table, &[][..]),
    };
    let packed = Packed { packing, at: position(at)?, data };
    packed.check(rows)?;
    Ok(packed)
}

/// The NA mask (section 7) of the table at `table`, which must have one.
#[inline(never)]
fn mask<'a>(mask: Result<Option<views::NaMask<'a>>>, table: u64) -> Result<Mask<'a>> {
    let mask = mask?.ok_or(Error::new(Kind::Invalid, What::FiloMask, table))?;
    match mask.mask_type()? {
        views::MaskType::AllZeroes => Ok(Mask::None),
        views::MaskType::SimpleBitMask => Ok(Mask::Words(mask.bit_mask()?.map_or(&[], |words| words.bytes()))),
        views::MaskType::AllOnes => Ok(Mask::All),
        views::MaskType::Unknown(id) => {
            let id = u64::from(id.cast_unsigned());
            Err(Error::new(Kind::Unsupported, What::FiloMaskType, mask.at()).with_need(id))
        }
    }
}

/// A list of strings of the table at `table`, and how many. The frame of the list is checked here,
/// each string when it is read.
#[inline(never)]
fn strings<'a>(chunk: &'a [u8], list: Result<Option<Linked<'a, Str<'a>>>>, table: u64) -> Result<(Strings<'a>, u32)> {
    let (slots, count) = match list? {
        Some(list) => (list.at(), list.len()),
        None => (table, 0),
    };
    Ok((Strings { chunk, kind: Kinds::Flat { slots: position(slots)? } }, row_count(rows_of(count)?, slots)?))
}
