//! Writes Protocol Buffers messages, field by field.
//!
//! ```
//! use pilaster::unstable::meta::proto::{Message, write::Writer};
//!
//! let mut message = Writer::default();
//! message.uint(1, 300).bytes(2, b"ab");
//! let bytes = message.finish();
//! assert_eq!(bytes, [0x08, 0xac, 0x02, 0x12, 2, b'a', b'b']);
//! assert_eq!(Message::new(&bytes).uint(1)?, Some(300));
//! # Ok::<(), pilaster::Error>(())
//! ```

use alloc::vec::Vec;

use super::each_varint;
pub use super::zigzag;

/// Wire types of fields.
mod wire {
    pub const VARINT: u64 = 0;
    pub const FIXED64: u64 = 1;
    pub const BYTES: u64 = 2;
    pub const FIXED32: u64 = 5;
}

/// A message that is written field by field. A field of value 0 is written, too; [`some`](Writer::some) leaves it out.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Appends a number without a key, for packed fields.
    pub fn varint(&mut self, value: u64) {
        each_varint(value, |byte| self.bytes.push(byte));
    }

    fn key(&mut self, field: u32, wire: u64) {
        self.varint(u64::from(field) << 3 | wire);
    }

    /// Appends an unsigned integer, an enum or a bool.
    pub fn uint(&mut self, field: u32, value: u64) -> &mut Self {
        self.key(field, wire::VARINT);
        self.varint(value);
        self
    }

    /// Appends an unsigned integer, an enum or a bool, unless it is 0, which an absent field means.
    pub fn some(&mut self, field: u32, value: u64) -> &mut Self {
        if value == 0 { self } else { self.uint(field, value) }
    }

    /// Appends a signed integer in the zigzag form.
    pub fn sint(&mut self, field: u32, value: i64) -> &mut Self {
        self.uint(field, zigzag(value))
    }

    /// Appends the bits of a float.
    pub fn fixed32(&mut self, field: u32, bits: u32) -> &mut Self {
        self.key(field, wire::FIXED32);
        self.bytes.extend_from_slice(&bits.to_le_bytes());
        self
    }

    /// Appends the bits of a double.
    pub fn fixed64(&mut self, field: u32, bits: u64) -> &mut Self {
        self.key(field, wire::FIXED64);
        self.bytes.extend_from_slice(&bits.to_le_bytes());
        self
    }

    /// Appends a string, bytes or a message.
    pub fn bytes(&mut self, field: u32, value: &[u8]) -> &mut Self {
        self.key(field, wire::BYTES);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
        self
    }

    /// Returns the message.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::proto::{Message, unzigzag};

    #[test]
    fn numbers_read_back() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let bytes = Writer::default().uint(7, value).finish();
            assert_eq!(Message::new(&bytes).uint(7), Ok(Some(value)));
        }
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
        assert!(Writer::default().some(1, 0).finish().is_empty());
    }
}
