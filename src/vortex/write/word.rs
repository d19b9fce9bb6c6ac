//! Integers as unsigned words, whatever their sign.

use alloc::vec::Vec;

use super::rows::Numbers;
use crate::column::Prim;
use crate::encoding::fastlanes::Lane;
pub(in crate::vortex) use crate::vortex::word::bits;

/// An unsigned integer of 8 to 64 bits.
pub(in crate::vortex) trait Word: Lane + Ord + Default + bytemuck::Pod {
    /// Truncates.
    fn of(bits: u64) -> Self;
}

macro_rules! words {
    ($($word:ty)*) => {$(
        impl Word for $word {
            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "that is what it is for")]
            fn of(bits: u64) -> Self {
                bits as Self
            }
        }
    )*};
}

words!(u8 u16 u32 u64);

/// Returns whether values of `prim` have a sign.
pub(in crate::vortex) const fn signed(prim: Prim) -> bool {
    matches!(prim, Prim::I8 | Prim::I16 | Prim::I32 | Prim::I64)
}

/// Numbers in the narrowest type that holds all of them.
pub(in crate::vortex) struct Narrow;

impl Narrow {
    /// Returns unsigned numbers.
    #[allow(clippy::cast_possible_truncation, reason = "the largest one fits")]
    pub fn unsigned(values: &[u64]) -> (Numbers, Prim) {
        match bits(values.iter().copied().max().unwrap_or(0)) {
            0..=8 => (Numbers::U8(values.iter().map(|v| *v as u8).collect()), Prim::U8),
            9..=16 => (Numbers::U16(values.iter().map(|v| *v as u16).collect()), Prim::U16),
            17..=32 => (Numbers::U32(values.iter().map(|v| *v as u32).collect()), Prim::U32),
            _ => (Numbers::U64(values.to_vec()), Prim::U64),
        }
    }

    /// Returns signed numbers.
    #[allow(clippy::cast_possible_truncation, reason = "the largest one fits")]
    pub fn signed(values: &[i64]) -> (Numbers, Prim) {
        let most = values.iter().map(|v| (v ^ v >> 63).cast_unsigned()).max().unwrap_or(0);
        match bits(most) {
            0..=7 => (Numbers::I8(values.iter().map(|v| *v as i8).collect()), Prim::I8),
            8..=15 => (Numbers::I16(values.iter().map(|v| *v as i16).collect()), Prim::I16),
            16..=31 => (Numbers::I32(values.iter().map(|v| *v as i32).collect()), Prim::I32),
            _ => (Numbers::I64(values.to_vec()), Prim::I64),
        }
    }

    /// Returns numbers of type `prim` from their bits.
    #[allow(clippy::cast_possible_truncation, reason = "the bits of the type")]
    pub fn of_bits<T: Word>(prim: Prim, values: &[T]) -> Numbers {
        let all = values.iter().map(|value| value.wide());
        match prim {
            Prim::I8 => Numbers::I8(all.map(|v| v as i8).collect()),
            Prim::I16 => Numbers::I16(all.map(|v| v as i16).collect()),
            Prim::I32 => Numbers::I32(all.map(|v| v as i32).collect()),
            Prim::I64 => Numbers::I64(all.map(u64::cast_signed).collect()),
            Prim::U8 => Numbers::U8(all.map(|v| v as u8).collect()),
            Prim::U16 => Numbers::U16(all.map(|v| v as u16).collect()),
            Prim::U32 => Numbers::U32(all.map(|v| v as u32).collect()),
            Prim::U64 => Numbers::U64(all.collect::<Vec<_>>()),
            Prim::F16 => Numbers::F16(all.map(|v| v as u16).collect()),
            Prim::F32 => Numbers::F32(all.map(|v| f32::from_bits(v as u32)).collect()),
            Prim::F64 => Numbers::F64(all.map(f64::from_bits).collect()),
        }
    }
}
