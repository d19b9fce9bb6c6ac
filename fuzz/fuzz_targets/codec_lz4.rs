#![no_main]
use pilaster_fuzz::harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::codec_lz4::run(data));
