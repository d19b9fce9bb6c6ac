//! Small protobuf messages: scalars, and metadata of encodings (format description, section 6).

use crate::bytes::low8;
use crate::meta::proto::{each_varint, zigzag};
use crate::vortex::raw::field::scalar as field;

/// Wire types of fields.
const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const BYTES: u8 = 2;
const FIXED32: u8 = 5;

/// A message of at most 12 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Short {
    bytes: [u8; 12],
    len: usize,
}

/// Returns the key of a field below 16.
const fn key(field: u32, wire: u8) -> u8 {
    low8((field << 3) as usize) | wire
}

impl Short {
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    fn push(&mut self, byte: u8) {
        if let Some(to) = self.bytes.get_mut(self.len) {
            *to = byte;
            self.len = self.len.wrapping_add(1);
        }
    }

    /// Appends a number.
    pub fn uint(mut self, field: u32, value: u64) -> Self {
        self.push(key(field, VARINT));
        each_varint(value, |byte| self.push(byte));
        self
    }

    fn fixed(mut self, key: u8, bytes: &[u8]) -> Self {
        self.push(key);
        bytes.iter().for_each(|byte| self.push(*byte));
        self
    }

    pub fn null() -> Self {
        Short::default().uint(field::NULL, 0)
    }

    pub fn boolean(value: bool) -> Self {
        Short::default().uint(field::BOOL, value.into())
    }

    /// An integer; a signed one is sign-extended.
    pub fn integer(value: u64, signed: bool) -> Self {
        match signed {
            true => Short::default().uint(field::INT, zigzag(value.cast_signed())),
            false => Short::default().uint(field::UINT, value),
        }
    }

    /// The bits of a float of 4 or 8 bytes.
    pub fn float(bits: u64, size: usize) -> Self {
        let bytes = bits.to_le_bytes();
        match size {
            4 => Short::default().fixed(key(field::F32, FIXED32), bytes.get(..4).unwrap_or_default()),
            _ => Short::default().fixed(key(field::F64, FIXED64), &bytes),
        }
    }

    /// The key and the length of a text or byte string, which follows.
    pub fn text(len: usize, utf8: bool) -> Self {
        let mut start = Short::default();
        start.push(key(if utf8 { field::STRING } else { field::BYTES }, BYTES));
        each_varint(len as u64, |byte| start.push(byte));
        start
    }
}
