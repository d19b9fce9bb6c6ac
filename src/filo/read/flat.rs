//! Opening the FlatBuffer kinds (sections 5 to 8), by the names that the schema gives.

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
use crate::meta::flat::{Flat, Inline, Linked, Str, Table};

/// Opens the payload of `chunk`.
pub(super) fn open(chunk: Chunk<'_>) -> Result<Vector<'_>> {
    let open = match (chunk.header, chunk.element) {
        (
            Header::SimplePrimitive | Header::ConstPrimitive,
            Element::Boolean | Element::Int | Element::Long | Element::Float | Element::Double,
        ) => simple,
        (Header::DiffPrimitive, Element::Int | Element::Long | Element::Timestamp) => diff,
        (Header::DiffDateTime, Element::DateTime) => date_time,
        (Header::SimpleString, Element::String) => simple_string,
        (Header::ConstString, Element::String) => const_string,
        (Header::DictString, Element::String) => dict_string,
        _ => return Err(chunk.wrong_type()),
    };
    let payload = chunk.bytes.get(HEADER_LEN..).unwrap_or_default();
    open(chunk, Fields(Flat::new_at(payload, PAYLOAD).root()?))
}

/// Sections 8.1 and 8.2.
fn simple<'a>(chunk: Chunk<'a>, table: Fields<'a>) -> Result<Vector<'a>> {
    use views::SimplePrimitiveVector as Of;
    let rows = table.rows(Of::LEN)?;
    let constant = chunk.header == Header::ConstPrimitive;
    let stored = if constant { 1 } else { rows };
    // Booleans are words of 64 rows, not one of 64 bits for each.
    let boolean = chunk.element == Element::Boolean;
    let packed = table.packed(Of::INFO, Of::DATA, if boolean { stored.div_ceil(64) } else { stored })?;
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
    Ok(chunk.vector(encoding, rows, table.mask(Of::NA_MASK)?, data))
}

/// Section 8.3.
fn diff<'a>(chunk: Chunk<'a>, table: Fields<'a>) -> Result<Vector<'a>> {
    use views::DiffPrimitiveVector as Of;
    let rows = table.rows(Of::LEN)?;
    let packed = table.packed(Of::INFO, Of::DATA, rows)?;
    if chunk.element == Element::Int && packed.packing == Packing::W64 {
        return Err(chunk.wrong_type());
    }
    let line = Line { base: table.0.scalar(Of::BASE, 0)?, slope: 0 };
    let data = Data::Numbers(Numbers { line, ..Numbers::plain(packed) });
    Ok(chunk.vector(Encoding::Diff(packed.packing), rows, table.mask(Of::NA_MASK)?, data))
}

/// Section 8.4.
fn date_time<'a>(chunk: Chunk<'a>, table: Fields<'a>) -> Result<Vector<'a>> {
    use views::DiffDateTimeVector as Of;
    let vars = table.0.inline::<views::DdtVars>(Of::VARS)?.ok_or(table.missing(What::FiloVars))?;
    let rows = row_count(vars.len.cast_unsigned(), table.0.at())?;
    let millis = table.packed(Of::MILLIS_INFO, Of::MILLIS, rows)?;
    // Absent or empty: all rows have the base offset.
    let zones = match table.bytes(Of::TZ)? {
        (_, []) => Packed { data: &[], ..millis },
        _ => table.packed(Of::TZ_INFO, Of::TZ, rows)?,
    };
    let packing = if zones.data.is_empty() { None } else { Some(zones.packing) };
    let encoding = Encoding::DiffDateTime { millis: millis.packing, zones: packing };
    let line = Line { base: vars.base_millis, slope: 0 };
    let zones = Zones { base: vars.base_tz, packed: zones };
    let data = Data::DateTime { millis: Numbers { line, ..Numbers::plain(millis) }, zones };
    Ok(chunk.vector(encoding, rows, table.mask(Of::NA_MASK)?, data))
}

/// Section 8.5.
fn simple_string<'a>(chunk: Chunk<'a>, table: Fields<'a>) -> Result<Vector<'a>> {
    use views::SimpleStringVector as Of;
    let (strings, rows) = table.strings(chunk.bytes, Of::DATA)?;
    Ok(chunk.vector(Encoding::SimpleString, rows, table.mask(Of::NA_MASK)?, Data::Strings(strings)))
}

/// Section 8.6.
fn const_string<'a>(chunk: Chunk<'a>, table: Fields<'a>) -> Result<Vector<'a>> {
    use views::ConstStringVector as Of;
    let string = table.0.string(Of::STR)?.ok_or(table.missing(What::FiloString))?;
    let span = Span { at: position(string.at())?, len: rows_of(string.bytes().len())? };
    let data = Data::Strings(Strings { chunk: chunk.bytes, kind: Kinds::One(span) });
    Ok(chunk.vector(Encoding::ConstString, table.rows(Of::LEN)?, table.mask(Of::NA_MASK)?, data))
}

/// Section 8.7.
fn dict_string<'a>(chunk: Chunk<'a>, table: Fields<'a>) -> Result<Vector<'a>> {
    use views::DictStringVector as Of;
    let rows = table.rows(Of::LEN)?;
    let (entries, count) = table.strings(chunk.bytes, Of::DICTIONARY)?;
    let codes = table.packed(Of::INFO, Of::CODES, rows)?;
    if codes.packing == Packing::W64 {
        return Err(codes.too_wide());
    }
    let data = Data::Coded { entries, count, codes };
    Ok(chunk.vector(Encoding::DictString(codes.packing), rows, Mask::None, data))
}

/// What the six tables have in common, by the numbers that their fields have.
#[derive(Clone, Copy)]
struct Fields<'a>(Table<'a>);

impl<'a> Fields<'a> {
    /// A row count.
    #[inline(never)]
    fn rows(&self, len: u8) -> Result<u32> {
        row_count(self.0.scalar(len, 0)?, self.0.at())
    }

    /// A data vector (section 6) of `rows` numbers.
    #[inline(never)]
    fn packed(&self, info: u8, data: u8, rows: u32) -> Result<Packed<'a>> {
        let wrong = self.missing(What::FiloInfo);
        let views::DataInfo { nbits, signed } = self.0.inline(info)?.ok_or(wrong)?;
        let packing = raw::packing_of_info(nbits, signed).ok_or(wrong.with_need(nbits.into()))?;
        let (at, data) = self.bytes(data)?;
        let packed = Packed { packing, at, data };
        packed.check(rows)?;
        Ok(packed)
    }

    /// Place and bytes of a byte vector; none if it is absent.
    #[inline(never)]
    fn bytes(&self, field: u8) -> Result<(u32, &'a [u8])> {
        let vector: Option<Inline<'a, u8>> = self.0.vector(field)?;
        Ok((position(vector.map_or(self.0.at(), |v| v.at()))?, vector.map_or(&[], |v| v.bytes())))
    }

    /// The NA mask (section 7), which must be there.
    #[inline(never)]
    fn mask(&self, field: u8) -> Result<Mask<'a>> {
        let mask = self.0.table::<views::NaMask<'a>>(field)?.ok_or(self.missing(What::FiloMask))?;
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

    /// A list of strings, and how many. The frame of the list is checked here, each string when it is
    /// read.
    #[inline(never)]
    fn strings(&self, chunk: &'a [u8], field: u8) -> Result<(Strings<'a>, u32)> {
        let list: Option<Linked<'a, Str<'a>>> = self.0.linked(field)?;
        let slots = list.map_or(self.0.at(), |list| list.at());
        let count = row_count(rows_of(list.map_or(0, |list| list.len()))?, slots)?;
        Ok((Strings { chunk, kind: Kinds::Flat { slots: position(slots)? } }, count))
    }

    /// That the table lacks a field.
    #[cold]
    fn missing(&self, what: What) -> Error {
        Error::new(Kind::Invalid, what, self.0.at())
    }
}
