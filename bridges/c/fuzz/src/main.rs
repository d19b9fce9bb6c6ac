//! Calls of the interface for C with arguments that the input chooses.

#![no_main]

use pilaster_c as _;

unsafe extern "C" {
    /// Of `tests/wild.c`. It only reads the bytes.
    safe fn pilaster_wild(data: *const u8, len: usize);
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| pilaster_wild(data.as_ptr(), data.len()));
