#![no_main]
use pilaster_fuzz::harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::vortex_written::run(data));
