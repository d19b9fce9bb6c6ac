//! Small protobuf messages: scalars, and metadata of encodings (format description, section 6).

use super::field::{Field, FieldType};
use super::form::{Form, is_float};
use crate::bytes::low8;
use crate::column::Prim;
use crate::meta::proto::{each_varint, zigzag};
use crate::vortex::dtype::signed;
use crate::vortex::raw::field::scalar as field;

/// Wire types of fields.
const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const BYTES: u8 = 2;
const FIXED32: u8 = 5;

/// Returns the key of a field below 16.
const fn tag(field: u32, wire: u8) -> u8 {
    low8((field << 3) as usize) | wire
}

/// The keys of a missing value, and of integers.
pub(super) const NULL: u8 = tag(field::NULL, VARINT);
pub(super) const INT: u8 = tag(field::INT, VARINT);
pub(super) const UINT: u8 = tag(field::UINT, VARINT);

/// Returns the key of the scalar of a column.
pub(super) const fn key(column: &Field<'_>) -> u8 {
    match (column.prim(), column.ty) {
        (Some(Prim::F32), _) => tag(field::F32, FIXED32),
        (Some(prim), _) if is_float(prim) => tag(field::F64, FIXED64),
        (Some(prim), _) if signed(prim) => INT,
        (Some(_), _) => UINT,
        (None, FieldType::Bool) => tag(field::BOOL, VARINT),
        (None, FieldType::Utf8) => tag(field::STRING, BYTES),
        (None, _) => tag(field::BYTES, BYTES),
    }
}

/// A message of at most 12 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Short {
    bytes: [u8; 12],
    len: usize,
}

impl Short {
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// A key, and a number: a value, or the length of the text or byte string that follows. An [`INT`] is sign-extended.
    #[inline(never)]
    pub fn number(key: u8, value: u64) -> Self {
        let value = if key == INT { zigzag(value.cast_signed()) } else { value };
        let (mut bytes, mut len) = ([key, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1usize);
        each_varint(value, |byte| {
            if let Some(to) = bytes.get_mut(len) {
                *to = byte;
                len = len.wrapping_add(1);
            }
        });
        Short { bytes, len }
    }

    /// The value of a column, or the length of its text.
    pub fn of(form: Form, value: u64) -> Self {
        if !form.is_float() {
            return Short::number(form.key(), value);
        }
        let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
        Short { bytes: [form.key(), a, b, c, d, e, f, g, h, 0, 0, 0], len: form.size().wrapping_add(1) }
    }
}
