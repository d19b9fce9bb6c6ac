//! Elements of one width: the file's own bytes where they are aligned and the machine is
//! little-endian, else a copy in native order.

use bytemuck::Pod;

use crate::bytes::Scratch;
use crate::error::{Error, Kind, Result, What};

/// An element as it is stored.
pub(super) trait Element: Pod {
    /// The number that was loaded from little-endian bytes as if they were native.
    fn native(self) -> Self;
}

/// An element that can stand for a missing one (section 4.2).
pub(super) trait Number: Element {
    fn is_na(self) -> bool;
}

macro_rules! integers {
    ($($int:ident)*) => {$(
        impl Element for $int {
            #[cfg_attr(not(target_family = "wasm"), inline(always))]
            fn native(self) -> Self {
                $int::from_le(self)
            }
        }
    )*};
    (least: $($int:ident)*) => {
        integers! { $($int)* }
        $(impl Number for $int {
            #[cfg_attr(not(target_family = "wasm"), inline(always))]
            fn is_na(self) -> bool {
                self == $int::MIN
            }
        })*
    };
}

macro_rules! floats {
    ($($float:ident of $bits:ident;)*) => {$(
        impl Element for $float {
            #[cfg_attr(not(target_family = "wasm"), inline(always))]
            fn native(self) -> Self {
                $float::from_bits($bits::from_le(self.to_bits()))
            }
        }

        impl Number for $float {
            #[cfg_attr(not(target_family = "wasm"), inline(always))]
            fn is_na(self) -> bool {
                self.is_nan()
            }
        }
    )*};
}

integers! { u32 u64 }
integers! { least: i8 i16 i32 i64 }
floats! { f32 of u32; f64 of u64; }

/// Elements `first..first + len` of `bytes`, which can be taken as they are.
pub(super) fn borrowed<T: Element>(bytes: &[u8], first: usize, len: usize) -> Option<&[T]> {
    if cfg!(target_endian = "big") && size_of::<T>() > 1 {
        return None;
    }
    bytemuck::try_cast_slice(part::<T>(bytes, first, len).ok()?).ok()
}

/// The same in scratch memory.
pub(super) fn copied<'s, T: Element>(
    bytes: &[u8],
    first: usize,
    len: usize,
    scratch: &mut Scratch<'s>,
) -> Result<&'s mut [T]> {
    let part = part::<T>(bytes, first, len)?;
    let copy = scratch.take::<T>(len)?;
    // Both have the length of `len` elements.
    for (to, from) in bytemuck::cast_slice_mut::<T, u8>(copy).iter_mut().zip(part) {
        *to = *from;
    }
    if cfg!(target_endian = "big") {
        copy.iter_mut().for_each(|number| *number = number.native());
    }
    Ok(copy)
}

/// Elements, in one way or the other. Types of one size share the code as long as it is not part of its caller's.
#[inline(never)]
pub(super) fn elements<'a: 's, 's, T: Element>(
    bytes: &'a [u8],
    first: usize,
    len: usize,
    scratch: &mut Scratch<'s>,
) -> Result<&'s [T]> {
    match borrowed(bytes, first, len) {
        Some(elements) => Ok(elements),
        None => Ok(copied(bytes, first, len, scratch)?),
    }
}

/// An upper bound of the scratch that [`elements`] takes.
pub(super) fn need<T: Element>(bytes: &[u8], len: u64) -> u64 {
    // Elements have the alignment of the first.
    if borrowed::<T>(bytes, 0, usize::from(bytes.len() >= size_of::<T>())).is_some() {
        0
    } else {
        Scratch::cost::<T>(len)
    }
}

fn part<T>(bytes: &[u8], first: usize, len: usize) -> Result<&[u8]> {
    let bounds = first.checked_mul(size_of::<T>()).zip(len.checked_mul(size_of::<T>()));
    let part = bounds.and_then(|(from, size)| bytes.get(from..)?.get(..size));
    part.ok_or(Error::new(Kind::OutOfRange, What::Row, first as u64).with_need(bytes.len() as u64))
}
