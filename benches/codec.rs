//! Byte codecs compared with a copy of the decoded bytes, and with other crates for the same codecs.
//!
//! The data has 64 KiB, like an extent: text of a log, and records of numbers.

mod common;

use std::hint::black_box;

use common::{Work, heading, log, noise, records};
use pilaster::bytes::Scratch;
use pilaster::codec::HashTable;
use pilaster::unstable::codec::Codec;
use pilaster::unstable::codec::{bitshuffle, blosclz, lz4, lzf, shuffle, snappy};

const LEN: usize = 64 << 10;

fn main() {
    let data = [("log", log(LEN)), ("records", records(LEN)), ("noise", noise(LEN))];
    heading("decode");
    for (name, bytes) in &data {
        decode(name, bytes);
    }
    heading("encode without a heap");
    for (name, bytes) in &data {
        encode(name, bytes);
    }
    heading("encode with a heap");
    for (name, bytes) in &data {
        encode_on_a_host(name, bytes);
    }
    heading("shuffle");
    for size in [1, 2, 4, 8, 16, 12] {
        filters(size);
    }
}

/// Both shuffles and their inverses.
fn filters(size: usize) {
    let bytes = noise(LEN);
    let mut out = vec![0; LEN];
    type Filter = fn(usize, &[u8], &mut [u8]) -> pilaster::Result<()>;
    let all: [(&str, Filter); 4] = [
        ("unshuffle", shuffle::unshuffle),
        ("shuffle", shuffle::shuffle),
        ("bits, unshuffle", bitshuffle::unshuffle),
        ("bits, shuffle", bitshuffle::shuffle),
    ];
    for (name, filter) in all {
        Work::new(format!("{name}, items of {size}"), LEN / size, LEN, || {
            filter(size, black_box(&bytes), black_box(&mut out)).expect("room");
        })
        .run();
    }
}

fn written(codec: Codec, bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0; codec.max_len(bytes.len())];
    let len = codec.encode(bytes, &mut stream, 9).expect("room for all");
    stream.truncate(len);
    stream
}

fn decode(name: &str, bytes: &[u8]) {
    let len = bytes.len();
    for codec in Codec::ALL {
        let stream = written(codec, bytes);
        let (mut out, mut memory) = (vec![0; len], vec![0; codec.workspace_len(len)]);
        let mut rival = vec![0; len];
        let title = format!("{codec:?}, {name}, to {:.3}", stream.len() as f64 / len as f64);
        let stream = stream.as_slice();
        let work = Work::new(title, len, len, || {
            let len = codec.decode(black_box(stream), black_box(&mut out), &mut Scratch::new(&mut memory));
            assert_eq!(black_box(len), Ok(out.len()));
        });
        match codec {
            Codec::Lz4 | Codec::Lz4Hc => work.rival("lz4_flex, safe", move || {
                lz4_flex::block::decompress_into(black_box(stream), black_box(&mut rival)).expect("a block");
            }),
            Codec::Lzf => work.rival("lzf", move || {
                black_box(::lzf::decompress(black_box(stream), len)).expect("a stream");
            }),
            Codec::Snappy => work.rival("snap", move || {
                snap::raw::Decoder::new().decompress(black_box(stream), black_box(&mut rival)).expect("a block");
            }),
            Codec::Lzo => work.rival("lzo", move || {
                ::lzo::decompress_into(black_box(stream), black_box(&mut rival)).expect("a stream");
            }),
            Codec::Zlib => work.rival("miniz_oxide", move || {
                let flags = miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER
                    | miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
                let mut state = miniz_oxide::inflate::core::DecompressorOxide::new();
                let done = miniz_oxide::inflate::core::decompress(
                    &mut state,
                    black_box(stream),
                    black_box(&mut rival),
                    0,
                    flags,
                );
                assert_eq!(done.0, miniz_oxide::inflate::TINFLStatus::Done);
            }),
            _ => work,
        }
        .run();
    }
}

fn encode(name: &str, bytes: &[u8]) {
    let len = bytes.len();
    let mut table = HashTable::<4096>::new();
    let mut small = HashTable::<256>::new();
    let mut out = vec![0; lz4::max_len(len).max(lzf::max_len(len)).max(snappy::max_len(len))];
    let mut rival = vec![0; lz4_flex::block::get_maximum_output_size(len)];
    let ratio = |n: usize| n as f64 / len as f64;
    let n = lz4::encode(bytes, &mut out, &mut table).expect("room");
    Work::new(format!("LZ4, {name}, to {:.3}", ratio(n)), len, len, || {
        let _ = black_box(lz4::encode(black_box(bytes), black_box(&mut out), &mut table));
    })
    .rival("lz4_flex, safe", || {
        black_box(lz4_flex::block::compress_into(black_box(bytes), &mut rival)).expect("room");
    })
    .run();
    let n = lz4::encode(bytes, &mut out, &mut small).expect("room");
    Work::new(format!("LZ4, table of 512 bytes, {name}, to {:.3}", ratio(n)), len, len, || {
        let _ = black_box(lz4::encode(black_box(bytes), black_box(&mut out), &mut small));
    })
    .run();
    let n = lzf::encode(bytes, &mut out, &mut table).expect("room");
    Work::new(format!("LZF, {name}, to {:.3}", ratio(n)), len, len, || {
        let _ = black_box(lzf::encode(black_box(bytes), black_box(&mut out), &mut table));
    })
    .rival("lzf", || {
        let _ = black_box(::lzf::compress(black_box(bytes)));
    })
    .run();
    let n = blosclz::encode(bytes, &mut out, &mut table).expect("room");
    Work::new(format!("blosclz, {name}, to {:.3}", ratio(n)), len, len, || {
        let _ = black_box(blosclz::encode(black_box(bytes), black_box(&mut out), &mut table));
    })
    .run();
    let n = snappy::encode(bytes, &mut out, &mut table).expect("room");
    let mut rival = vec![0; snap::raw::max_compress_len(len)];
    let mut encoder = snap::raw::Encoder::new();
    Work::new(format!("Snappy, {name}, to {:.3}", ratio(n)), len, len, || {
        let _ = black_box(snappy::encode(black_box(bytes), black_box(&mut out), &mut table));
    })
    .rival("snap", || {
        black_box(encoder.compress(black_box(bytes), &mut rival)).expect("room");
    })
    .run();
}

fn encode_on_a_host(name: &str, bytes: &[u8]) {
    for codec in [Codec::Lz4Hc, Codec::Lzo, Codec::Zlib, Codec::Bzip2, Codec::Zstd] {
        let mut out = vec![0; codec.max_len(bytes.len())];
        let title = format!("{codec:?}, level 9, {name}");
        Work::new(title, bytes.len(), bytes.len(), || {
            black_box(codec.encode(black_box(bytes), black_box(&mut out), 9)).expect("room");
        })
        .run();
    }
}
