//! Checksums compared with a copy, and with other crates for the same checksums.

mod common;

use std::hint::black_box;

use common::{Work, heading, noise};
use pilaster::unstable::hash::{adler32, bzip_crc, lookup2};

fn main() {
    for (name, len) in [("in cache, 256 KiB", 256 << 10), ("from memory, 64 MiB", 64 << 20)] {
        let bytes = noise(len);
        heading(name);
        Work::new("adler32", len, len, || _ = black_box(adler32(black_box(&bytes))))
            .rival("simd-adler32", || _ = black_box(simd_adler32::adler32(&black_box(bytes.as_slice()))))
            .rival("adler2", || _ = black_box(adler2::adler32_slice(black_box(&bytes))))
            .run();
        Work::new("lookup2, one chain", len, len, || _ = black_box(lookup2(1972, black_box(&bytes)))).run();
        Work::new("CRC-32 of bzip2", len, len, || _ = black_box(bzip_crc(black_box(&bytes)))).run();
    }
}
