//! Elements of fixed width: the file's bytes if they are aligned and the target is little-endian, else a copy in native
//! byte order.

use bytemuck::Pod;

use crate::bytes::Scratch;
use crate::column::aligned;
use crate::error::{Error, Kind, Result, What};

/// A stored element.
pub(super) trait Element: Pod {
    /// Converts a number from little-endian to native byte order.
    fn native(self) -> Self;
}

/// A number type with a value that marks a missing row (section 4.2).
pub(super) trait Number: Element {
    fn is_na(self) -> bool;
}

macro_rules! integers {
    ($($int:ident)*) => {$(
        impl Element for $int {
            fn native(self) -> Self {
                $int::from_le(self)
            }
        }
    )*};
    (least: $($int:ident)*) => {
        integers! { $($int)* }
        $(impl Number for $int {
            fn is_na(self) -> bool {
                self == $int::MIN
            }
        })*
    };
}

macro_rules! floats {
    ($($float:ident of $bits:ident;)*) => {$(
        impl Element for $float {
            fn native(self) -> Self {
                $float::from_bits($bits::from_le(self.to_bits()))
            }
        }

        impl Number for $float {
            fn is_na(self) -> bool {
                self.is_nan()
            }
        }
    )*};
}

integers! { u32 u64 }
integers! { least: i8 i16 i32 i64 }
floats! { f32 of u32; f64 of u64; }

/// Returns whether elements of `size` bytes can be used in place.
pub(super) fn is_native(bytes: &[u8], size: usize) -> bool {
    (cfg!(target_endian = "little") || size == 1) && aligned(bytes, size)
}

/// Copies all elements of `bytes`, `size` bytes each, to scratch memory, and converts them to native byte order.
pub(super) fn copied<'s>(bytes: &[u8], size: usize, scratch: &mut Scratch<'s>) -> Result<&'s mut [u8]> {
    let copy = scratch.cut(bytes.len().checked_div(size).unwrap_or(0), size, size)?;
    for (to, from) in copy.iter_mut().zip(bytes) {
        *to = *from;
    }
    if cfg!(target_endian = "big") {
        copy.chunks_exact_mut(size.max(1)).for_each(<[u8]>::reverse);
    }
    Ok(copy)
}

/// Returns the bytes of the elements `first..first + len`, `size` bytes each.
pub(super) fn part(bytes: &[u8], first: usize, len: usize, size: usize) -> Result<&[u8]> {
    let bounds = first.checked_mul(size).zip(len.checked_mul(size));
    let part = bounds.and_then(|(from, size)| bytes.get(from..)?.get(..size));
    part.ok_or_else(|| Error::needing(Kind::OutOfRange, What::ROW, first as u64, bytes.len() as u64))
}
