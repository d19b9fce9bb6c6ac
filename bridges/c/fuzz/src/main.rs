//! Calls of the interface for C with arguments that the input chooses.

#![no_main]

use pilaster_c as _;

unsafe extern "C" {
    /// Makes calls that the bytes choose. It is in `tests/wild.c`, and only reads the bytes.
    safe fn pilaster_wild(data: *const u8, len: usize);
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| pilaster_wild(data.as_ptr(), data.len()));
