//! Protocol Buffers messages over borrowed bytes: no heap, no schema, every field bounded.
//!
//! A message is a sequence of fields, each a key (field number and wire type) and a value. There is no index: every
//! access to a field scans the message. For messages of a few bytes this is as fast as an index, and the work is
//! bounded by the length of the message.
//!
//! | rule | kind, in `What::PROTO` |
//! |---|---|
//! | a varint has at most ten bytes and 64 bits | `Invalid` at its first byte |
//! | a number or length ends inside the message | `Truncated` |
//! | a field number is not 0 | `Invalid` at the key |
//! | the wire type is 0, 1, 2 or 5 (not the obsolete groups) | `Unsupported` at the key, with the type |
//!
//! As the format requires, unknown fields are skipped, and the last occurrence of a field counts. A field whose wire
//! type differs from the requested type is [`Kind::WrongType`].
//!
//! ```
//! use pilaster::unstable::meta::proto::Message;
//!
//! // Field 1 = 17, field 3 = a message whose field 2 is 13.
//! let message = Message::new(&[0x08, 17, 0x1a, 2, 0x10, 13]);
//! assert_eq!(message.uint(1)?, Some(17));
//! let inner = message.message(3)?.unwrap();
//! assert_eq!(inner.uint(2)?, Some(13));
//! assert_eq!(inner.uint(9)?, None);
//! # Ok::<(), pilaster::Error>(())
//! ```

#[cfg(feature = "alloc")]
pub mod write;

use crate::bytes::low8;
use crate::error::{Error, Kind, Result, What};

/// Calls `each` with the bytes of a varint.
#[cfg_attr(not(feature = "vortex"), allow(dead_code, reason = "writers use it"))]
pub(crate) fn each_varint(mut value: u64, mut each: impl FnMut(u8)) {
    let low = |value: u64| low8(crate::bytes::saturated(value & 0x7f));
    while value > 0x7f {
        each(low(value) | 0x80);
        value >>= 7;
    }
    each(low(value));
}

/// Returns the number that stands for a signed integer: small for a small distance from 0.
#[must_use]
pub const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// A message, not checked yet.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    bytes: &'a [u8],
    at: u64,
}

/// The value of a field, by wire type.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// An integer, a bool, an enum.
    Varint(u64),
    /// A float.
    Fixed32(u32),
    /// A double.
    Fixed64(u64),
    /// A string, bytes, a message, or packed numbers.
    Bytes(Message<'a>),
}

impl<'a> Message<'a> {
    /// Opens a message whose offset in a file does not matter.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Message { bytes, at: 0 }
    }

    /// Opens a message that lies at offset `at` of the file.
    #[must_use]
    pub const fn new_at(bytes: &'a [u8], at: u64) -> Self {
        Message { bytes, at }
    }

    /// Returns the offset in the file.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Returns the bytes of the message, or the contents of a string or bytes field.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns a walk over the fields, in the order of the message.
    #[must_use]
    pub const fn fields(&self) -> Fields<'a> {
        Fields { rest: self.bytes, end: self.at.wrapping_add(self.bytes.len() as u64) }
    }

    /// Returns the last field with this number; `None` if it is absent.
    ///
    /// # Errors
    /// See the [module page](self). The whole message is checked.
    pub fn field(&self, number: u32) -> Result<Option<Value<'a>>> {
        let (mut fields, mut found) = (self.fields(), None);
        while let Some((n, value)) = fields.take()? {
            if n == number {
                found = Some(value);
            }
        }
        Ok(found)
    }

    /// Returns an unsigned integer, an enum or a bool; `None` if it is absent.
    ///
    /// # Errors
    /// See the [module page](self).
    pub fn uint(&self, number: u32) -> Result<Option<u64>> {
        match self.field(number)? {
            None => Ok(None),
            Some(Value::Varint(value)) => Ok(Some(value)),
            Some(_) => Err(self.wrong(number)),
        }
    }

    /// Returns an unsigned integer of 32 bits; `None` if it is absent.
    ///
    /// # Errors
    /// See the [module page](self); [`Kind::Overflow`] if the number exceeds `u32::MAX`.
    pub fn uint32(&self, number: u32) -> Result<Option<u32>> {
        let Some(value) = self.uint(number)? else { return Ok(None) };
        let too_large = |_| Error::needing(Kind::Overflow, What::PROTO, self.at, value);
        u32::try_from(value).map(Some).map_err(too_large)
    }

    /// Returns the fields with these numbers as unsigned integers, 0 if a field is absent. One pass reads all of them.
    ///
    /// # Errors
    /// See the [module page](self).
    pub fn numbers<const N: usize>(&self, numbers: [u32; N]) -> Result<[u64; N]> {
        let mut found = [0; N];
        self.find(&numbers, &mut found)?;
        Ok(found)
    }

    pub(crate) fn find(&self, numbers: &[u32], found: &mut [u64]) -> Result<()> {
        let mut fields = self.fields();
        while let Some((n, value)) = fields.take()? {
            if let Some((_, found)) = numbers.iter().zip(found.iter_mut()).find(|(number, _)| **number == n) {
                let Value::Varint(value) = value else { return Err(self.wrong(n)) };
                *found = value;
            }
        }
        Ok(())
    }

    /// Returns a message, string or bytes; `None` if it is absent.
    ///
    /// # Errors
    /// See the [module page](self).
    pub fn message(&self, number: u32) -> Result<Option<Message<'a>>> {
        match self.field(number)? {
            None => Ok(None),
            Some(Value::Bytes(message)) => Ok(Some(message)),
            Some(_) => Err(self.wrong(number)),
        }
    }

    /// Calls `each` with every value of the repeated field `number`, packed or not, as an unsigned integer.
    ///
    /// # Errors
    /// See the [module page](self). An error of `each` ends the walk.
    pub fn uints(&self, number: u32, mut each: impl FnMut(u64) -> Result<()>) -> Result<()> {
        let mut fields = self.fields();
        while let Some((n, value)) = fields.take()? {
            match value {
                _ if n != number => {}
                Value::Varint(value) => each(value)?,
                Value::Bytes(packed) => {
                    let mut packed = packed.fields();
                    while !packed.rest.is_empty() {
                        each(packed.varint()?)?;
                    }
                }
                _ => return Err(self.wrong(number)),
            }
        }
        Ok(())
    }

    #[cold]
    fn wrong(&self, number: u32) -> Error {
        Error::needing(Kind::WrongType, What::PROTO, self.at, number.into())
    }
}

/// A walk over the fields of a message.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
    /// Offset of the end of the message in the file.
    end: u64,
}

impl<'a> Fields<'a> {
    /// Returns the offset of the next byte in the file.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.end.wrapping_sub(self.rest.len() as u64)
    }

    /// Returns number and value of the next field; `None` at the end.
    ///
    /// # Errors
    /// See the [module page](self).
    pub fn take(&mut self) -> Result<Option<(u32, Value<'a>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let at = self.at();
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).unwrap_or(0);
        if number == 0 {
            return Err(Error::needing(Kind::Invalid, What::PROTO, at, key));
        }
        let wire = key & 7;
        let len = match wire {
            0 => return Ok(Some((number, Value::Varint(self.varint()?)))),
            1 => 8,
            2 => self.varint()?,
            5 => 4,
            other => return Err(Error::needing(Kind::Unsupported, What::PROTO, at, other)),
        };
        let at = self.at();
        let parts = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let short = || Error::needing(Kind::Truncated, What::PROTO, at, len);
        let (bytes, rest) = parts.ok_or_else(short)?;
        self.rest = rest;
        let value = match (wire, bytes.first_chunk(), bytes.first_chunk()) {
            (1, Some(word), _) => Value::Fixed64(u64::from_le_bytes(*word)),
            (5, _, Some(word)) => Value::Fixed32(u32::from_le_bytes(*word)),
            _ => Value::Bytes(Message { bytes, at }),
        };
        Ok(Some((number, value)))
    }

    /// Takes a varint without a key.
    ///
    /// # Errors
    /// See the [module page](self).
    pub fn varint(&mut self) -> Result<u64> {
        let at = self.at();
        let mut value = 0u64;
        for shift in (0..64u32).step_by(7) {
            let Some((byte, rest)) = self.rest.split_first() else {
                return Err(Error::needing(Kind::Truncated, What::PROTO, at, 1));
            };
            self.rest = rest;
            let bits = u64::from(*byte & 0x7f);
            // The tenth byte holds the last bit.
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if *byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::new(Kind::Invalid, What::PROTO, at))
    }
}

/// Decodes a zigzag varint to a signed number.
#[must_use]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ (value & 1).cast_signed().wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_kind() {
        let message = Message::new_at(&[0x18, 0x0d, 0x2d, 0, 0, 0xc0, 0x3f, 0x31, 0, 0, 0, 0, 0, 0, 0, 0x40], 100);
        assert_eq!(message.uint(3).map(|number| number.map(unzigzag)), Ok(Some(-7)));
        assert!(matches!(message.field(5), Ok(Some(Value::Fixed32(bits))) if f32::from_bits(bits) == 1.5));
        assert!(matches!(message.field(6), Ok(Some(Value::Fixed64(bits))) if f64::from_bits(bits) == 2.0));
        let max = Message::new(&[0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
        assert_eq!(max.uint(4), Ok(Some(u64::MAX)));
        assert_eq!(max.uint32(4).unwrap_err().kind(), Kind::Overflow);
        assert_eq!((unzigzag(u64::MAX), unzigzag(u64::MAX - 1)), (i64::MIN, i64::MAX));
    }

    #[test]
    fn repeated_numbers_packed_or_not() {
        let mut seen = [0; 4];
        let mut count = 0;
        let message = Message::new(&[0x18, 1, 0x1a, 3, 2, 0x83, 0x01, 0x10, 9, 0x18, 4]);
        let taken = message.uints(3, |value| {
            seen[count] = value;
            count += 1;
            Ok(())
        });
        assert_eq!((taken, seen, count), (Ok(()), [1, 2, 131, 4], 4));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let error = |bytes: &[u8]| {
            let e = Message::new_at(bytes, 50).field(1).unwrap_err();
            assert_eq!(e.what(), What::PROTO);
            (e.kind(), e.at(), e.need())
        };
        assert_eq!(error(&[0x08]), (Kind::Truncated, 51, 1));
        assert_eq!(error(&[0x08, 0x80]), (Kind::Truncated, 51, 1));
        assert_eq!(error(&[0x12, 3, 1, 2]), (Kind::Truncated, 52, 3));
        assert_eq!(error(&[0x0d, 1, 2]), (Kind::Truncated, 51, 4));
        assert_eq!(error(&[0x00, 1]), (Kind::Invalid, 50, 0));
        assert_eq!(error(&[0x0b]), (Kind::Unsupported, 50, 3));
        let eleven = [0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
        assert_eq!(error(&eleven).0, Kind::Invalid);
        let e = Message::new(&[0x08, 1]).message(1).unwrap_err();
        assert_eq!((e.kind(), e.need()), (Kind::WrongType, 1));
    }
}
