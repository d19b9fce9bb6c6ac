//! The functions that `blosc/bench.py` and `jay/bench.py` call through ctypes.
//!
//! Python owns all arrays; each pointer has a length. A negative result is an error.

mod blosc;
mod jay;

use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Returns the array as a slice.
///
/// # Safety
/// As [`from_raw_parts`].
unsafe fn slice<'a, T>(pointer: *const T, len: usize) -> &'a [T] {
    // SAFETY: as the caller promises; a null pointer is not passed on.
    if len == 0 { &[] } else { unsafe { from_raw_parts(pointer, len) } }
}

/// Returns the array as a mutable slice.
///
/// # Safety
/// As [`from_raw_parts_mut`].
unsafe fn slice_mut<'a>(pointer: *mut u8, len: usize) -> &'a mut [u8] {
    // SAFETY: as the caller promises; a null pointer is not passed on.
    if len == 0 { &mut [] } else { unsafe { from_raw_parts_mut(pointer, len) } }
}
