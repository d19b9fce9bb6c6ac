//! Checksums and the check of UTF-8, compared with a copy and with other crates for the same work.

mod common;

use std::hint::black_box;

use common::{Work, heading, noise};
use pilaster::column::{Spans, VarBytes};
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
    heading("texts");
    let (ascii, cyrillic, chinese) = ("The quick brown fox. ", "Съешь ещё этих булок. ", "快速的棕色狐狸跳过懒狗。");
    for (name, words, len) in [
        ("ASCII", ascii, 20),
        ("ASCII", ascii, 110),
        ("ASCII", ascii, 64 << 10),
        ("Cyrillic", cyrillic, 20),
        ("Cyrillic", cyrillic, 50),
        ("Cyrillic", cyrillic, 110),
        ("Cyrillic", cyrillic, 1000),
        ("Cyrillic", cyrillic, 64 << 10),
        ("Chinese", chinese, 110),
        ("Chinese", chinese, 64 << 10),
    ] {
        check_texts(name, words, len);
    }
}

/// Checks 256 KiB of texts of about `len` bytes, one by one.
fn check_texts(name: &str, words: &str, len: usize) {
    let text: String = words.repeat(len / words.len() + 1);
    let text = &text[..(0..=len).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0)];
    let count = (256 << 10) / text.len();
    let data = text.repeat(count).into_bytes();
    let offsets: Vec<u32> = (0..=count).map(|k| (k * text.len()) as u32).collect();
    let texts = VarBytes { data: &data, spans: Spans::Off32(&offsets) };
    let all = |is_text: fn(&VarBytes<'_>, usize) -> bool| {
        let texts = black_box(&texts);
        assert!((0..count).all(|k| is_text(texts, k)));
    };
    Work::new(format!("UTF-8, {name}, {len} bytes"), data.len(), data.len(), || all(|texts, k| texts.text(k).is_ok()))
        .rival("core", || all(|texts, k| texts.get(k).is_ok_and(|text| str::from_utf8(text).is_ok())))
        .rival("simdutf8", || all(|texts, k| texts.get(k).is_ok_and(|text| simdutf8::basic::from_utf8(text).is_ok())))
        .run();
}
