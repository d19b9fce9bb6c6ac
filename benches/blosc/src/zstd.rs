//! Zstandard frames beside the C library: parts of 256 KiB of shuffled numbers, of numbers as they are, and of texts, by level.
//! The best of alternating turns counts, in CPU time of the thread.

use std::hint::black_box;

use pilaster::bytes::Scratch;
use pilaster::unstable::codec::{shuffle, zstd};

use crate::bench;
use crate::record::record;

const PART: usize = 256 << 10;
const TURNS: usize = 5;
const LEVELS: [u8; 4] = [1, 3, 5, 9];

/// Prints speed and size as multiples of the C library's.
pub fn run(which: &str) {
    println!("{:<24} level   MB/s   x C   ratio  size x C", "data");
    for (name, bytes) in data() {
        for level in LEVELS {
            if format!("{name} {level}").contains(which) {
                line(name, &bytes, level);
            }
        }
    }
}

fn data() -> Vec<(&'static str, Vec<u8>)> {
    let mut sets = Vec::new();
    for ((name, typesize, mut bytes), plain) in
        bench::workloads().into_iter().zip(["clock, plain", "sensor, plain", "small, plain"])
    {
        bytes.truncate(8 << 20);
        let mut sorted = vec![0; bytes.len()];
        for (from, to) in bytes.chunks(PART).zip(sorted.chunks_mut(PART)) {
            shuffle::shuffle(typesize.into(), from, to).expect("equal lengths");
        }
        sets.extend([(name, sorted), (plain, bytes)]);
    }
    sets.extend([("log lines", log(8 << 20)), ("prose", prose())]);
    sets
}

/// Lines of a log, with numbers that differ.
pub fn log(n: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let mut i = 0u64;
    while text.len() < n {
        let draw = bench::random(7, i);
        let words = ["opened", "closed", "read", "written", "refused", "slow"];
        let word = words[(draw % 6) as usize];
        let line = format!(
            "2026-03-{:02} {:06}.{:03} host-{:03} {word} /data/set-{}/part-{:05}.bin {} bytes\n",
            i / 100_000 + 1,
            i * 7 % 86_400,
            draw >> 8 & 0x3ff,
            draw >> 20 & 0x7f,
            draw >> 30 & 15,
            draw >> 36 & 0x1fff,
            draw >> 44
        );
        text.extend(line.bytes());
        i += 1;
    }
    text.truncate(n);
    text
}

/// The documents of this repository.
fn prose() -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let names = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "docs/performance.md",
        "docs/python.md",
        "docs/sql.md",
        "docs/convert.md",
        "docs/fuzzing.md",
    ];
    names.iter().filter_map(|name| std::fs::read(format!("{root}/{name}")).ok()).flatten().collect()
}

fn line(name: &str, bytes: &[u8], level: u8) {
    let mut memory = vec![0; zstd::encode_scratch_len(level, PART)];
    let mut room = vec![0; zstd::max_len(PART)];
    // With a checksum, as our frames have one.
    let mut original = zstd_safe::CCtx::create();
    for parameter in [zstd_safe::CParameter::CompressionLevel(level.into()), zstd_safe::CParameter::ChecksumFlag(true)]
    {
        original.set_parameter(parameter).expect("a parameter");
    }
    let [mut ours, mut theirs] = [f64::MAX; 2];
    let [mut ours_len, mut theirs_len] = [0; 2];
    let turns = std::env::var("TURNS").map_or(TURNS, |n| n.parse().expect("a number"));
    for _ in 0..turns {
        ours_len = 0;
        ours = ours.min(bench::time(|| {
            for part in bytes.chunks(PART) {
                ours_len +=
                    zstd::encode(black_box(part), &mut room, level, &mut Scratch::new(&mut memory)).expect("room");
            }
        }));
        theirs_len = 0;
        theirs = theirs.min(bench::time(|| {
            for part in bytes.chunks(PART) {
                theirs_len += original.compress2(&mut room[..], black_box(part)).expect("room");
            }
        }));
    }
    record("zstd", &format!("{name}, speed"), &format!("level {level}"), theirs / ours);
    record("zstd", &format!("{name}, size"), &format!("level {level}"), ours_len as f64 / theirs_len as f64);
    let (speed, ratio) = (bytes.len() as f64 / ours / 1e6, bytes.len() as f64 / ours_len as f64);
    println!(
        "{name:<24} {level:>5} {speed:6.1} {:5.2} {ratio:7.3} {:9.3}",
        theirs / ours,
        ours_len as f64 / theirs_len as f64
    );
}
