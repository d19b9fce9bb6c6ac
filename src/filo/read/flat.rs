//! Opening the FlatBuffer kinds (sections 5 to 8), through the views that the schema gives.

use super::mask::Mask;
use super::numbers::{Form, Numbers};
use super::packed::{Packed, position};
use super::strings::{Kinds, Strings};
use super::{Data, PAYLOAD, Parts, row_count, rows_of};
use crate::column::Span;
use crate::encoding::line::Line;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{self, HEADER_LEN, Header, Packing};
use crate::filo::{Element, Encoding};
use crate::generated::filo as views;
use crate::meta::flat::{Flat, Inline, Linked, Str};

/// Opens the payload of the chunk `bytes`; `None` if it cannot be read as `element`.
pub(super) fn open<'a>(bytes: &'a [u8], header: Header, element: Element) -> Result<Option<Parts<'a>>> {
    let buffer = Flat::new_at(bytes.get(HEADER_LEN..).unwrap_or_default(), PAYLOAD);
    match (header, element) {
        (
            Header::SimplePrimitive | Header::ConstPrimitive,
            Element::Boolean | Element::Int | Element::Long | Element::Float | Element::Double,
        ) => simple(buffer.root()?, header, element),
        (Header::DiffPrimitive, Element::Int | Element::Long | Element::Timestamp) => diff(buffer.root()?, element),
        (Header::DiffDateTime, Element::DateTime) => date_time(buffer.root()?).map(Some),
        (Header::SimpleString, Element::String) => simple_string(bytes, buffer.root()?).map(Some),
        (Header::ConstString, Element::String) => const_string(bytes, buffer.root()?).map(Some),
        (Header::DictString, Element::String) => dict_string(bytes, buffer.root()?).map(Some),
        _ => Ok(None),
    }
}

/// Sections 8.1 and 8.2.
fn simple(table: views::SimplePrimitiveVector<'_>, header: Header, element: Element) -> Result<Option<Parts<'_>>> {
    let rows = row_count(table.len()?.cast_unsigned(), table.at())?;
    let mask = mask(table.na_mask()?, table.at())?;
    let packed = packed(table.info()?, table.data()?, table.at())?;
    let constant = header == Header::ConstPrimitive;
    let allowed = match element {
        Element::Boolean => packed.packing == Packing::W64,
        Element::Int => packed.packing.bits() <= 32,
        Element::Float => packed.packing == Packing::U32,
        Element::Double => packed.packing == Packing::W64,
        _ => true,
    };
    if !allowed {
        return Ok(None);
    }
    let stored = if constant { 1 } else { rows as usize };
    let data = if element == Element::Boolean {
        // Words of 64 rows, not one of 64 bits for each.
        packed.check(stored.div_ceil(64))?;
        Data::Bits { words: packed.data, constant }
    } else {
        packed.check(stored)?;
        Data::Numbers(Numbers { constant, ..Numbers::plain(packed) })
    };
    let encoding = if constant { Encoding::Const(packed.packing) } else { Encoding::Simple(packed.packing) };
    Ok(Some(Parts { encoding, rows, mask, data }))
}

/// Section 8.3.
fn diff(table: views::DiffPrimitiveVector<'_>, element: Element) -> Result<Option<Parts<'_>>> {
    let rows = row_count(table.len()?.cast_unsigned(), table.at())?;
    let mask = mask(table.na_mask()?, table.at())?;
    let packed = packed(table.info()?, table.data()?, table.at())?;
    if element == Element::Int && packed.packing.bits() > 32 {
        return Ok(None);
    }
    packed.check(rows as usize)?;
    let line = Line { base: table.base()?, slope: 0 };
    let data = Data::Numbers(Numbers { line, ..Numbers::plain(packed) });
    Ok(Some(Parts { encoding: Encoding::Diff(packed.packing), rows, mask, data }))
}

/// Section 8.4.
fn date_time(table: views::DiffDateTimeVector<'_>) -> Result<Parts<'_>> {
    let missing = Error::new(Kind::Invalid, What::FiloVars, table.at());
    let vars = table.vars()?.ok_or(missing)?;
    let rows = row_count(vars.len.cast_unsigned(), table.at())?;
    let mask = mask(table.na_mask()?, table.at())?;
    let millis = packed(table.millis_info()?, table.millis()?, table.at())?;
    millis.check(rows as usize)?;
    // Absent or empty: all rows have the base offset.
    let zones = match table.tz()? {
        Some(zones) if !zones.is_empty() => Some(packed(table.tz_info()?, Some(zones), table.at())?),
        _ => None,
    };
    let offsets = match zones {
        Some(zones) => {
            zones.check(rows as usize)?;
            Numbers { form: Form::Quarters, ..Numbers::plain(zones) }
        }
        // A stored number for all rows: zero, so that the base alone counts.
        None => {
            let zero = Packed { packing: Packing::U8, at: millis.at, data: &[0] };
            Numbers { form: Form::Quarters, constant: true, ..Numbers::plain(zero) }
        }
    };
    let offsets = Numbers { line: Line { base: vars.base_tz.into(), slope: 0 }, ..offsets };
    let line = Line { base: vars.base_millis, slope: 0 };
    let encoding = Encoding::DiffDateTime { millis: millis.packing, zones: zones.map(|zones| zones.packing) };
    let data = Data::DateTime { millis: Numbers { line, ..Numbers::plain(millis) }, offsets };
    Ok(Parts { encoding, rows, mask, data })
}

/// Section 8.5.
fn simple_string<'a>(bytes: &'a [u8], table: views::SimpleStringVector<'a>) -> Result<Parts<'a>> {
    let mask = mask(table.na_mask()?, table.at())?;
    let (strings, rows) = strings(bytes, table.data()?, table.at())?;
    Ok(Parts { encoding: Encoding::SimpleString, rows, mask, data: Data::Strings(strings) })
}

/// Section 8.6.
fn const_string<'a>(bytes: &'a [u8], table: views::ConstStringVector<'a>) -> Result<Parts<'a>> {
    let rows = row_count(table.len()?.cast_unsigned(), table.at())?;
    let mask = mask(table.na_mask()?, table.at())?;
    let missing = Error::new(Kind::Invalid, What::FiloString, table.at());
    let string = table.str()?.ok_or(missing)?;
    let span = Span { at: position(string.at())?, len: rows_of(string.bytes().len())? };
    let data = Data::Strings(Strings { chunk: bytes, kind: Kinds::One(span) });
    Ok(Parts { encoding: Encoding::ConstString, rows, mask, data })
}

/// Section 8.7.
fn dict_string<'a>(bytes: &'a [u8], table: views::DictStringVector<'a>) -> Result<Parts<'a>> {
    let rows = row_count(table.len()?.cast_unsigned(), table.at())?;
    let (entries, count) = strings(bytes, table.dictionary()?, table.at())?;
    let codes = packed(table.info()?, table.codes()?, table.at())?;
    if codes.packing == Packing::W64 {
        return Err(Error::new(Kind::Invalid, What::FiloCodes, codes.at.into()).with_need(64));
    }
    codes.check(rows as usize)?;
    let encoding = Encoding::DictString(codes.packing);
    Ok(Parts { encoding, rows, mask: Mask::None, data: Data::Coded { entries, count, codes } })
}

/// A data vector (section 6) of the table at `table`.
fn packed(info: Option<views::DataInfo>, data: Option<Inline<'_, u8>>, table: u64) -> Result<Packed<'_>> {
    let wrong = Error::new(Kind::Invalid, What::FiloInfo, table);
    let info = info.ok_or(wrong)?;
    let packing = raw::packing_of_info(info.nbits, info.signed).ok_or(wrong.with_need(info.nbits.into()))?;
    let (at, data) = match data {
        Some(data) => (data.at(), data.bytes()),
        None => (table, &[][..]),
    };
    Ok(Packed { packing, at: position(at)?, data })
}

/// The NA mask (section 7) of the table at `table`, which must have one.
fn mask(mask: Option<views::NaMask<'_>>, table: u64) -> Result<Mask<'_>> {
    let mask = mask.ok_or(Error::new(Kind::Invalid, What::FiloMask, table))?;
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
fn strings<'a>(chunk: &'a [u8], list: Option<Linked<'a, Str<'a>>>, table: u64) -> Result<(Strings<'a>, u32)> {
    let (slots, count) = match list {
        Some(list) => (list.at(), list.len()),
        None => (table, 0),
    };
    Ok((Strings { chunk, kind: Kinds::Flat { slots: position(slots)? } }, row_count(rows_of(count)?, slots)?))
}
