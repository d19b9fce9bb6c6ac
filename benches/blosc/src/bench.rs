//! Speed compared with c-blosc: numbers that are typical for data sets, in chunks of 1 MiB at level 5.
//!
//! Decoding is timed from memory (64 chunks in turn) and from cache (one chunk repeatedly). Turns of pilaster and of
//! the original alternate; the best turn of each counts, in CPU time of the thread.
//!
//! Both are built for the same target. Without AVX2, the original shuffles with SSE2.

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;
use pilaster::bcolz::chunk::{Chunk, Params, encode, encode_scratch_len};
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::bytes::Scratch;

use crate::original;
use crate::record::record;

const CHUNK: usize = 1 << 20;
const ROUNDS: usize = 7;

/// Prints the lines whose name contains `which`.
pub fn run(which: &str) {
    let title = format!("{:<32}", "workload, compressor, shuffle");
    println!("{title} {:^25}  {:^27}  {:^17}", "encode", "decode from memory", "from cache");
    println!("{:32} ratio   c  GB/s    c      GB/s     c  x memcpy    GB/s     c", "");
    for (name, typesize, bytes) in workloads() {
        // Level 0: chunks with a plain copy.
        let title = format!("{name}, stored");
        if title.contains(which) {
            line(&title, &bytes, &Params { level: 0, typesize, ..Params::DEFAULT });
        }
        for compressor in Compressor::ALL {
            for shuffle in [Shuffle::None, Shuffle::Byte, Shuffle::Bit] {
                let title = format!("{name}, {}, {shuffle:?}", compressor.name()).to_lowercase();
                if title.contains(which) {
                    line(&title, &bytes, &Params { compressor, level: 5, shuffle, typesize, blocksize: None });
                }
            }
        }
    }
}

/// Returns the finaliser of SplitMix64 of a counter.
pub fn random(seed: u64, i: u64) -> u64 {
    let mut z = seed.wrapping_add((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A clock of 1 kHz with jitter, a random walk of a sensor, small numbers: 64 MiB each.
pub fn workloads() -> [(&'static str, u8, Vec<u8>); 3] {
    const N: u64 = 8 << 20;
    let time = |i: u64| 1_600_000_000_000_000_000 + i * 1_000_000 + random(1, i) % 2001 - 1000;
    let times = (0..N).flat_map(|i| time(i).to_le_bytes()).collect();
    let mut k = 0i64;
    let mut step = |i: u64| {
        k += (random(2, i) % 21) as i64 - 10;
        20.0 + k as f64 * 0.01
    };
    let sensor = (0..N).flat_map(|i| step(i).to_le_bytes()).collect();
    let small = (0..2 * N).flat_map(|i| ((random(3, i) % 100) as i32).to_le_bytes()).collect();
    [("i64_timestamps", 8, times), ("f64_sensor", 8, sensor), ("i32_small", 4, small)]
}

fn line(title: &str, bytes: &[u8], params: &Params) {
    let mut memory = vec![0; encode_scratch_len(params, CHUNK)];
    let mut room = vec![0; CHUNK + 16];
    let slow = matches!(params.compressor, Compressor::Lz4hc | Compressor::Zlib | Compressor::Zstd);
    let sample = if slow { &bytes[..4 * CHUNK] } else { &bytes[..16 * CHUNK] };
    let mut written = 0;
    let ours = best(if slow { 2 } else { ROUNDS }, || {
        written = 0;
        for src in sample.chunks(CHUNK) {
            written += encode(black_box(src), params, &mut room, &mut Scratch::new(&mut memory)).expect("room");
        }
    });
    let mut theirs_written = 0;
    let theirs = best(if slow { 2 } else { ROUNDS }, || {
        theirs_written = 0;
        for src in sample.chunks(CHUNK) {
            theirs_written += original::encode(black_box(src), params, &mut room);
        }
    });
    let (ratio, their_ratio) = (sample.len() as f64 / written as f64, sample.len() as f64 / theirs_written as f64);
    print!("{title:<32} {ratio:5.2} {their_ratio:5.2} {:5.2} {:4.2} x", speed(sample.len(), ours), theirs / ours);
    let (work, shuffle) = title.rsplit_once(", ").unwrap_or((title, "stored"));
    let (data, compressor) = work.split_once(", ").unwrap_or((work, "stored"));
    let data = &format!("{}, {shuffle}", data.split('_').next().unwrap_or(data));
    record("blosc", &format!("{compressor}, encode"), data, theirs / ours);
    record("blosc", &format!("{compressor}, size"), data, written as f64 / theirs_written as f64);

    // Both decode chunks of the original.
    let chunks: Vec<Vec<u8>> = bytes
        .chunks(CHUNK)
        .map(|src| {
            let len = original::encode(src, params, &mut room);
            room[..len].to_vec()
        })
        .collect();
    let mut out = vec![0u8; bytes.len()];
    let [ours, theirs, copy] = decode(&chunks, bytes, &mut out);
    print!("   {:6.2} {:5.2} x {:5.2} x", speed(bytes.len(), ours), theirs / ours, copy / ours);
    record("blosc", &format!("{compressor}, decode from memory"), data, theirs / ours);
    let one = vec![chunks[0].clone(); 16];
    let repeated: Vec<&[u8]> = vec![&bytes[..CHUNK]; 16];
    let [ours, theirs] = cached(&one[0], repeated[0], &mut out[..CHUNK]);
    println!("   {:6.2} {:5.2} x", speed(CHUNK, ours), theirs / ours);
    record("blosc", &format!("{compressor}, decode from cache"), data, theirs / ours);
}

/// Times decoding of all chunks by pilaster and by the original, and a copy of the same bytes.
fn decode(chunks: &[Vec<u8>], bytes: &[u8], out: &mut [u8]) -> [f64; 3] {
    let mut memory = vec![0; 4 * CHUNK];
    let mut times = [f64::MAX; 3];
    for _ in 0..ROUNDS {
        times[0] = times[0].min(time(|| {
            for (chunk, out) in chunks.iter().zip(out.chunks_mut(CHUNK)) {
                decode_ours(chunk, out, &mut memory);
            }
        }));
        assert!(out == bytes);
        times[1] = times[1].min(time(|| {
            for (chunk, out) in chunks.iter().zip(out.chunks_mut(CHUNK)) {
                assert_eq!(original::decode(black_box(chunk), black_box(out)), Some(out.len()));
            }
        }));
        times[2] = times[2].min(time(|| black_box(&mut *out).copy_from_slice(black_box(bytes))));
    }
    times
}

fn cached(chunk: &[u8], bytes: &[u8], out: &mut [u8]) -> [f64; 2] {
    let mut memory = vec![0; 4 * CHUNK];
    let mut times = [f64::MAX; 2];
    for _ in 0..8 * ROUNDS {
        times[0] = times[0].min(time(|| decode_ours(chunk, out, &mut memory)));
        assert!(out == bytes);
        times[1] = times[1].min(time(|| {
            assert_eq!(original::decode(black_box(chunk), black_box(out)), Some(out.len()));
        }));
    }
    times
}

fn decode_ours(chunk: &[u8], out: &mut [u8], memory: &mut [u8]) {
    let chunk = Chunk::open(black_box(chunk)).expect("a chunk");
    assert_eq!(chunk.decode(black_box(out), &mut Scratch::new(memory)), Ok(out.len()));
}

fn best(rounds: usize, mut work: impl FnMut()) -> f64 {
    (0..rounds).map(|_| time(&mut work)).fold(f64::MAX, f64::min)
}

pub fn time(work: impl FnOnce()) -> f64 {
    let start = ThreadTime::now();
    work();
    start.elapsed().max(Duration::from_nanos(1)).as_secs_f64()
}

/// Returns the speed in GB/s.
fn speed(bytes: usize, seconds: f64) -> f64 {
    bytes as f64 / seconds / 1e9
}
