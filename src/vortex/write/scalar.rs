//! Scalars as protobuf messages (format description, section 6).

use alloc::vec::Vec;

use crate::column::Prim;
use crate::meta::proto::write::Writer;
use crate::vortex::raw::field::scalar as field;
use crate::vortex::write::Profile;

pub(in crate::vortex) fn null() -> Vec<u8> {
    Writer::default().uint(field::NULL, 0).finish()
}

pub(in crate::vortex) fn boolean(value: bool) -> Vec<u8> {
    Writer::default().uint(field::BOOL, value.into()).finish()
}

pub(in crate::vortex) fn signed(value: i64) -> Vec<u8> {
    Writer::default().sint(field::INT, value).finish()
}

pub(in crate::vortex) fn unsigned(value: u64) -> Vec<u8> {
    Writer::default().uint(field::UINT, value).finish()
}

/// The value of an integer type; a signed one is sign-extended.
pub(in crate::vortex) fn integer(prim: Prim, bits: u64) -> Vec<u8> {
    match prim {
        Prim::I8 | Prim::I16 | Prim::I32 | Prim::I64 => signed(bits.cast_signed()),
        _ => unsigned(bits),
    }
}

/// A half float: its bits, as an unsigned integer for old releases.
pub(in crate::vortex) fn half(bits: u16, profile: Profile) -> Vec<u8> {
    let field = if profile.edition().half_scalars { field::F16 } else { field::UINT };
    Writer::default().uint(field, bits.into()).finish()
}

pub(in crate::vortex) fn single(value: f32) -> Vec<u8> {
    Writer::default().fixed32(field::F32, value.to_bits()).finish()
}

pub(in crate::vortex) fn double(value: f64) -> Vec<u8> {
    Writer::default().fixed64(field::F64, value.to_bits()).finish()
}

pub(in crate::vortex) fn text(value: &[u8]) -> Vec<u8> {
    Writer::default().bytes(field::STRING, value).finish()
}

/// Bytes, or the little-endian integer of a decimal.
pub(in crate::vortex) fn bytes(value: &[u8]) -> Vec<u8> {
    Writer::default().bytes(field::BYTES, value).finish()
}
