//! Writes rows in a given encoding.

use bytemuck::must_cast_slice;

use super::cells::{Cells, Source, lossy};
use super::dictionary::Dictionary;
use super::mask::Mask;
use super::out::Out;
use super::rows::{Plain, Rows};
use super::texts::check_rows;
use super::{binary, flat, flat_strings, utf8};
use crate::bytes::Scratch;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{Header, MAX_EMPTY_ROWS, Packing};
use crate::filo::{Element, Encoding};

/// Writes `rows` as one chunk at the start of `dst`. Returns its length, which the caller must store, because the chunk
/// does not contain it.
///
/// The two dictionary encodings take [`scratch_len`](super::scratch_len) bytes of `scratch`; all others take none.
///
/// # Errors
/// [`Kind::WrongType`] if the format does not have the encoding for this element type, [`Kind::Lossy`] with the row if
/// the encoding cannot store a value, [`Kind::NoRoom`] with the length of the chunk if `dst` is shorter, or with the
/// required size if `scratch` is too small, [`Kind::Overflow`] beyond 2 GiB or 2^31 rows.
pub fn encode(encoding: Encoding, rows: &Rows<'_>, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    if !holds(encoding, rows.values.element()) {
        return Err(wrong_type(encoding));
    }
    let mask = Mask::new(rows)?;
    check_rows(rows, &mask)?;
    encode_checked(encoding, rows, mask, dst, scratch)
}

/// Writes rows that the encoding stores, and that are text if they are UTF8.
pub(super) fn encode_checked(
    encoding: Encoding,
    rows: &Rows<'_>,
    mask: Mask<'_>,
    dst: &mut [u8],
    scratch: &mut Scratch<'_>,
) -> Result<usize> {
    let cells = |source| Cells { source, mask };
    match (encoding, rows.values) {
        (Encoding::Empty, _) => empty(&mask, dst),

        (Encoding::Diff(packing), Plain::Int(values)) => flat::diff_narrow(values, mask, packing, dst),
        (Encoding::Diff(packing), Plain::Long(values) | Plain::Timestamp(values)) => {
            flat::diff_wide(values, mask, packing, dst)
        }
        (Encoding::DiffDateTime { millis: packing, zones }, Plain::DateTime { millis, offsets }) => {
            flat::date_time(millis, offsets, mask, (packing, zones), dst)
        }
        (Encoding::DeltaDelta(packing), Plain::Long(values)) => {
            let line = binary::line_for(values, packing)?;
            binary::delta_delta(&cells(Source::WideDiff(must_cast_slice(values), line)), line, packing, dst)
        }

        (Encoding::SimpleString, Plain::String(strings)) => flat_strings::simple_string(strings, mask, dst),
        (Encoding::ConstString, Plain::String(strings)) => flat_strings::const_string(strings, mask, dst),
        (Encoding::Repeated, Plain::Utf8(strings) | Plain::Blob(strings)) => utf8::repeated(strings, mask, dst),
        (Encoding::Utf8, Plain::Utf8(strings) | Plain::Blob(strings)) => utf8::variable(strings, mask, dst),
        (Encoding::FixedMaxUtf8, Plain::Utf8(strings) | Plain::Blob(strings)) => utf8::fixed_max(strings, mask, dst),
        (Encoding::DictString(packing) | Encoding::DictUtf8(packing), _) => {
            Dictionary::of(rows, &mut scratch.scope())?.write(packing, dst)
        }

        // The other encodings do not depend on the type of numbers.
        (encoding, Plain::Boolean(bits)) => numbers(encoding, &cells(Source::Bits(bits)), Packing::W64, dst),
        (encoding, Plain::Int(values)) => {
            numbers(encoding, &cells(Source::Narrow(must_cast_slice(values))), Packing::I32, dst)
        }
        (encoding, Plain::Float(values)) => {
            numbers(encoding, &cells(Source::Narrow(must_cast_slice(values))), Packing::U32, dst)
        }
        (encoding, Plain::Long(values)) => {
            numbers(encoding, &cells(Source::Wide(must_cast_slice(values))), Packing::W64, dst)
        }
        (Encoding::Packed(packing) | Encoding::Masked(packing), Plain::Double(values)) if packing != Packing::W64 => {
            numbers(encoding, &cells(Source::Whole(values)), packing, dst)
        }
        (encoding, Plain::Double(values)) => {
            numbers(encoding, &cells(Source::Wide(must_cast_slice(values))), Packing::W64, dst)
        }
        _ => Err(wrong_type(encoding)),
    }
}

/// Writes an encoding of plain numbers. `own` is the width of the element type.
pub(super) fn numbers(encoding: Encoding, cells: &Cells<'_>, own: Packing, dst: &mut [u8]) -> Result<usize> {
    match encoding {
        Encoding::Simple(packing) => flat::simple(cells, packing, dst),
        Encoding::Const(packing) => flat::constant(cells, packing, dst),
        Encoding::Packed(packing) => binary::packed(cells, packing, dst),
        Encoding::Masked(packing) => binary::masked(cells, packing, dst),
        _ => binary::repeated(cells, own, dst),
    }
}

/// Writes a vector without values (section 4): the row count in the header word, no payload.
fn empty(mask: &Mask<'_>, dst: &mut [u8]) -> Result<usize> {
    if let Some(row) = mask.first() {
        return Err(lossy(What::FILO_HEADER, row));
    }
    let rows = u32::try_from(mask.rows()).unwrap_or(u32::MAX);
    if rows > MAX_EMPTY_ROWS {
        return Err(Error::needing(Kind::Overflow, What::FILO_ROWS, 0, rows.into()));
    }
    Out::chunk_of_word(Header::Empty.word() | rows << 8, 0, dst)?.finish()
}

#[cold]
pub(super) fn wrong_type(encoding: Encoding) -> Error {
    Error::needing(Kind::WrongType, What::FILO_ELEMENT, 0, encoding.header().word() as u64)
}

/// Returns whether the format has this encoding for this element type (section 3), in this width (section 6 for the
/// FlatBuffer kinds, 9.1 for the others).
///
/// ```
/// use pilaster::filo::Packing;
/// use pilaster::filo::{Element, Encoding, write};
///
/// assert!(write::holds(Encoding::Packed(Packing::U2), Element::Double));
/// assert!(!write::holds(Encoding::Simple(Packing::U8), Element::Double));
/// ```
#[must_use]
pub const fn holds(encoding: Encoding, element: Element) -> bool {
    match encoding {
        Encoding::Empty => true,
        Encoding::Simple(packing) | Encoding::Const(packing) => match element {
            Element::Boolean | Element::Double => matches!(packing, Packing::W64),
            Element::Float => matches!(packing, Packing::U32),
            Element::Int => is_flat_int(packing),
            Element::Long => is_flat(packing),
            _ => false,
        },
        Encoding::Diff(packing) => match element {
            Element::Int => is_flat_int(packing),
            Element::Long | Element::Timestamp => is_flat(packing),
            _ => false,
        },
        Encoding::DiffDateTime { millis, zones } => {
            let zones = match zones {
                Some(zones) => is_flat_int(zones),
                None => true,
            };
            matches!(element, Element::DateTime) && is_flat(millis) && zones
        }
        Encoding::SimpleString | Encoding::ConstString => matches!(element, Element::String),
        Encoding::DictString(packing) => matches!(element, Element::String) && is_flat_int(packing),
        Encoding::Packed(packing) | Encoding::Masked(packing) => match element {
            Element::Int => is_int(packing),
            Element::Long | Element::Double => is_int(packing) || matches!(packing, Packing::W64),
            _ => false,
        },
        Encoding::Repeated => {
            matches!(element, Element::Int | Element::Long | Element::Double | Element::Utf8 | Element::Blob)
        }
        Encoding::DeltaDelta(packing) => matches!(element, Element::Long) && is_int(packing),
        Encoding::Utf8 | Encoding::FixedMaxUtf8 => matches!(element, Element::Utf8 | Element::Blob),
        Encoding::DictUtf8(packing) => matches!(element, Element::Utf8 | Element::Blob) && is_int(packing),
    }
}

/// Returns whether FlatBuffers have this width (section 6): whole bytes.
const fn is_flat(packing: Packing) -> bool {
    !matches!(packing, Packing::U2 | Packing::U4)
}

/// Returns whether FlatBuffers store 32-bit values with this packing; unsigned 32 bits are for longs only.
const fn is_flat_int(packing: Packing) -> bool {
    is_flat(packing) && is_int(packing)
}

/// Returns whether this is a width of packed vectors (section 9.1) other than 64 bits.
const fn is_int(packing: Packing) -> bool {
    !matches!(packing, Packing::U32 | Packing::W64)
}
