//! Primitive values.

use super::{bad, kind, number, split};
use crate::error::{Kind, Result};

/// The types of primitives, in the upper six bits of the first byte.
mod id {
    pub const NULL: u8 = 0;
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const INT8: u8 = 3;
    pub const INT16: u8 = 4;
    pub const INT32: u8 = 5;
    pub const INT64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const DECIMAL4: u8 = 8;
    pub const DECIMAL8: u8 = 9;
    pub const DECIMAL16: u8 = 10;
    pub const DATE: u8 = 11;
    pub const TIMESTAMP_MICRO: u8 = 12;
    pub const LOCAL_MICRO: u8 = 13;
    pub const FLOAT: u8 = 14;
    pub const BINARY: u8 = 15;
    pub const TEXT: u8 = 16;
    pub const TIME: u8 = 17;
    pub const TIMESTAMP_NANO: u8 = 18;
    pub const LOCAL_NANO: u8 = 19;
    pub const UUID: u8 = 20;
}

/// Length in bytes from which a text is no short text.
const LONG: usize = 64;

/// A decimal: an integer times a negative power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// The integer.
    pub value: i128,
    /// The number of digits after the point, at most 38.
    pub scale: u8,
    /// Size of the stored integer in bytes: 4, 8 or 16.
    pub size: usize,
}

/// Maximum size in bytes of a primitive other than a text or bytes, and of what precedes these.
pub const MOST: usize = 18;

/// A value that is neither object nor array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Primitive<'a> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer, and its size in bytes: 1, 2, 4 or 8.
    Int(i64, usize),
    /// A float of 32 bits.
    Float(f32),
    /// A float of 64 bits.
    Double(f64),
    /// A decimal.
    Decimal(Scaled),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01T00:00, UTC if `true`, otherwise without a time zone.
    Micros(i64, bool),
    /// Nanoseconds since 1970-01-01T00:00, UTC if `true`, otherwise without a time zone.
    Nanos(i64, bool),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A text, which may be invalid UTF-8.
    Text(&'a [u8]),
    /// A UUID in network byte order.
    Uuid([u8; 16]),
}

/// Returns the size of the data of a primitive of type `ty`, which `rest` starts with.
pub(super) fn len(ty: u8, rest: &[u8]) -> Result<usize> {
    Ok(match ty {
        id::NULL | id::TRUE | id::FALSE => 0,
        id::INT8 => 1,
        id::INT16 => 2,
        id::INT32 | id::DATE | id::FLOAT => 4,
        id::INT64
        | id::DOUBLE
        | id::TIMESTAMP_MICRO
        | id::LOCAL_MICRO
        | id::TIME
        | id::TIMESTAMP_NANO
        | id::LOCAL_NANO => 8,
        id::DECIMAL4 => 5,
        id::DECIMAL8 => 9,
        id::DECIMAL16 => 17,
        id::UUID => 16,
        id::BINARY | id::TEXT => number(rest, 0, 4)?.saturating_add(4),
        unknown => return Err(bad(Kind::Unsupported, unknown.into())),
    })
}

impl<'a> Primitive<'a> {
    /// Parses the primitive at the start of `value`. Returns `None` if the value is an object or an array.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the value ends early, [`Kind::Unsupported`] for an unknown type.
    pub fn parse(value: &'a [u8]) -> Result<Option<Self>> {
        let (first, rest) = value.split_first().ok_or_else(|| bad(Kind::Truncated, 1))?;
        let ty = first >> 2;
        let data = match first & 3 {
            kind::PRIMITIVE => split(rest, len(ty, rest)?)?.0,
            kind::SHORT_TEXT => return Ok(Some(Primitive::Text(split(rest, ty.into())?.0))),
            _ => return Ok(None),
        };
        let word = || signed(data);
        let decimal = || {
            let (scale, value) = data.split_first().ok_or_else(|| bad(Kind::Truncated, 1))?;
            Ok(Primitive::Decimal(Scaled { value: wide(value), scale: *scale, size: value.len() }))
        };
        let long = || Ok(split(data, 4)?.1);
        Ok(Some(match ty {
            id::NULL => Primitive::Null,
            id::TRUE => Primitive::Bool(true),
            id::FALSE => Primitive::Bool(false),
            id::INT8 | id::INT16 | id::INT32 | id::INT64 => Primitive::Int(word(), data.len()),
            id::DOUBLE => Primitive::Double(f64::from_bits(word().cast_unsigned())),
            id::FLOAT => Primitive::Float(f32::from_bits(data.first_chunk().copied().map_or(0, u32::from_le_bytes))),
            id::DECIMAL4 | id::DECIMAL8 | id::DECIMAL16 => decimal()?,
            id::DATE => Primitive::Date(data.first_chunk().copied().map_or(0, i32::from_le_bytes)),
            id::TIME => Primitive::Time(word()),
            id::TIMESTAMP_MICRO | id::LOCAL_MICRO => Primitive::Micros(word(), ty == id::TIMESTAMP_MICRO),
            id::TIMESTAMP_NANO | id::LOCAL_NANO => Primitive::Nanos(word(), ty == id::TIMESTAMP_NANO),
            id::BINARY => Primitive::Bytes(long()?),
            id::TEXT => Primitive::Text(long()?),
            _ => Primitive::Uuid(data.first_chunk().copied().unwrap_or_default()),
        }))
    }

    /// Returns the bytes of the value, or for a text or bytes those before them, and their number.
    #[must_use]
    pub fn start(&self) -> ([u8; MOST], usize) {
        let mut out = [0; MOST];
        let mut put = |ty: u8, bytes: &[u8]| {
            let all = core::iter::once(ty << 2).chain(bytes.iter().copied());
            out.iter_mut().zip(all).for_each(|(to, byte)| *to = byte);
            bytes.len().saturating_add(1)
        };
        let zoned = |utc: bool, zoned: u8, local: u8| if utc { zoned } else { local };
        let len = match *self {
            Primitive::Null => put(id::NULL, &[]),
            Primitive::Bool(bit) => put(if bit { id::TRUE } else { id::FALSE }, &[]),
            Primitive::Int(value, size) => {
                let ty = match size {
                    1 => id::INT8,
                    2 => id::INT16,
                    4 => id::INT32,
                    _ => id::INT64,
                };
                put(ty, value.to_le_bytes().get(..size).unwrap_or(&value.to_le_bytes()))
            }
            Primitive::Float(value) => put(id::FLOAT, &value.to_le_bytes()),
            Primitive::Double(value) => put(id::DOUBLE, &value.to_le_bytes()),
            Primitive::Decimal(Scaled { value, scale, size }) => {
                let mut bytes = [0; 17];
                bytes
                    .iter_mut()
                    .zip(core::iter::once(scale).chain(value.to_le_bytes()))
                    .for_each(|(to, byte)| *to = byte);
                let ty = match size {
                    4 => id::DECIMAL4,
                    8 => id::DECIMAL8,
                    _ => id::DECIMAL16,
                };
                put(ty, bytes.get(..size.saturating_add(1)).unwrap_or(&bytes))
            }
            Primitive::Date(days) => put(id::DATE, &days.to_le_bytes()),
            Primitive::Time(micros) => put(id::TIME, &micros.to_le_bytes()),
            Primitive::Micros(value, utc) => {
                put(zoned(utc, id::TIMESTAMP_MICRO, id::LOCAL_MICRO), &value.to_le_bytes())
            }
            Primitive::Nanos(value, utc) => put(zoned(utc, id::TIMESTAMP_NANO, id::LOCAL_NANO), &value.to_le_bytes()),
            Primitive::Uuid(bytes) => put(id::UUID, &bytes),
            Primitive::Bytes(bytes) => return Primitive::bytes_start(bytes.len()),
            Primitive::Text(text) => return Primitive::text_start(text.len()),
        };
        (out, len)
    }

    /// Returns the bytes before a text of `len` bytes, and their number.
    #[must_use]
    pub fn text_start(len: usize) -> ([u8; MOST], usize) {
        let mut out = [0; MOST];
        if len < LONG {
            let [first, ..] = &mut out;
            *first = kind::SHORT_TEXT | crate::bytes::low8(len) << 2;
            return (out, 1);
        }
        sized_start(id::TEXT, len)
    }

    /// Returns the bytes before a byte string of `len` bytes, and their number.
    #[must_use]
    pub fn bytes_start(len: usize) -> ([u8; MOST], usize) {
        sized_start(id::BINARY, len)
    }
}

fn sized_start(ty: u8, len: usize) -> ([u8; MOST], usize) {
    let mut out = [0; MOST];
    let all = core::iter::once(ty << 2).chain(crate::bytes::low32(len as u64).to_le_bytes());
    out.iter_mut().zip(all).for_each(|(to, byte)| *to = byte);
    (out, 5)
}

/// Returns the little-endian integer in at most 16 bytes, sign-extended.
fn wide(bytes: &[u8]) -> i128 {
    let fill = if bytes.last().is_some_and(|byte| byte >> 7 == 1) { 0xff } else { 0 };
    let mut all = [fill; 16];
    all.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
    i128::from_le_bytes(all)
}

/// Returns the little-endian integer in at most 8 bytes, sign-extended.
fn signed(bytes: &[u8]) -> i64 {
    let fill = if bytes.last().is_some_and(|byte| byte >> 7 == 1) { 0xff } else { 0 };
    let mut all = [fill; 8];
    all.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
    i64::from_le_bytes(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::variant::len_of;

    #[test]
    fn primitives_read_back() {
        let decimal = |value, scale, size| Primitive::Decimal(Scaled { value, scale, size });
        let all = [
            (Primitive::Null, "00"),
            (Primitive::Bool(true), "04"),
            (Primitive::Bool(false), "08"),
            (Primitive::Int(-2, 1), "0cfe"),
            (Primitive::Int(-200, 2), "1038ff"),
            (Primitive::Int(1, 4), "1401000000"),
            (Primitive::Int(1, 8), "180100000000000000"),
            (Primitive::Float(1.5), "380000c03f"),
            (Primitive::Double(1.5), "1c000000000000f83f"),
            (decimal(1_234_567, 2, 4), "200287d61200"),
            (decimal(-123_456, 3, 8), "2403c01dfeffffffffff"),
            (Primitive::Date(18_262), "2c56470000"),
            (Primitive::Time(3_723_000_004), "44c478e8dd00000000"),
            (Primitive::Micros(-1, true), "30ffffffffffffffff"),
            (Primitive::Nanos(-1, false), "4cffffffffffffffff"),
            (Primitive::Uuid([7; 16]), "5007070707070707070707070707070707"),
        ];
        for (value, hex) in all {
            let bytes: [u8; 32] = core::array::from_fn(|i| {
                let digit =
                    |at: usize| hex.as_bytes().get(at).map_or(0, |c| (*c as char).to_digit(16).unwrap_or(0) as u8);
                digit(2 * i) << 4 | digit(2 * i + 1)
            });
            let (start, len) = value.start();
            assert_eq!(start.get(..len), bytes.get(..hex.len() / 2), "{hex}");
            assert_eq!((Primitive::parse(&bytes), len_of(&bytes)), (Ok(Some(value)), Ok(len)), "{hex}");
        }
    }

    #[test]
    fn texts_of_64_bytes_are_long() {
        for text in [&[b'x'; 63][..], &[b'x'; 64][..]] {
            let (start, len) = Primitive::Text(text).start();
            assert_eq!(len, if text.len() < 64 { 1 } else { 5 });
            let mut bytes = [0; 80];
            bytes[..len].copy_from_slice(&start[..len]);
            bytes[len..len + text.len()].copy_from_slice(text);
            assert_eq!(Primitive::parse(&bytes), Ok(Some(Primitive::Text(text))));
        }
        assert_eq!(Primitive::parse(&[21 << 2]).unwrap_err().kind(), Kind::Unsupported);
        assert_eq!(Primitive::parse(&[6 << 2, 1]).unwrap_err().kind(), Kind::Truncated);
    }
}
