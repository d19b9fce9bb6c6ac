#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| pilaster_fuzz::arrow_input::run(data));
