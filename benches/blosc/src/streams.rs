//! Raw streams beside the streams of the C libraries: LZ4 HC at level 5 beside liblz4, zlib at level 6 beside zlib.
//!
//! The data are blocks of 256 KiB, split into streams as Blosc splits them, and lines of a log. Turns of pilaster and of the original
//! alternate; the median of each counts, in CPU time of the thread.

use std::hint::black_box;

use pilaster::unstable::codec::{bitshuffle, deflate, lz4, shuffle};

use crate::record::record;
use crate::{bench, zstd};

const BLOCK: usize = 256 << 10;
const LEN: usize = 2 << 20;
const TURNS: usize = 7;

/// Encodes one stream into a buffer that is long enough. Returns its length.
type Encode = fn(&[u8], &mut [u8]) -> usize;

/// Name, ours, theirs.
const CODECS: [(&str, Encode, Encode); 2] = [("lz4hc", ours_lz4hc, theirs_lz4hc), ("zlib", ours_zlib, theirs_zlib)];

/// Prints speed and size as multiples of the C library's, of the lines whose name contains `which`.
pub fn run(which: &str) {
    println!("{:<24} MB/s   x C   ratio  size x C", "codec, data");
    for (codec, ours, theirs) in CODECS {
        for (data, streams) in data() {
            let title = format!("{codec}, {data}");
            if title.contains(which) {
                line(&title, &streams, (ours, theirs));
            }
        }
    }
}

fn data() -> Vec<(String, Vec<Vec<u8>>)> {
    let mut sets = Vec::new();
    for (name, typesize, bytes) in bench::workloads() {
        let (short, size) = (name.split('_').next().unwrap_or(name), usize::from(typesize));
        for filter in ["none", "byte", "bit"] {
            let mut streams = Vec::new();
            for block in bytes[..LEN].chunks(BLOCK) {
                let mut sorted = block.to_vec();
                match filter {
                    "byte" => shuffle::shuffle(size, block, &mut sorted).expect("equal lengths"),
                    "bit" => bitshuffle::shuffle(size, block, &mut sorted).expect("equal lengths"),
                    _ => {}
                }
                streams.extend(sorted.chunks(BLOCK / size).map(<[u8]>::to_vec));
            }
            sets.push((format!("{short}, {filter}"), streams));
        }
    }
    sets.push(("log lines".into(), zstd::log(LEN).chunks(BLOCK).map(<[u8]>::to_vec).collect()));
    sets
}

fn line(title: &str, streams: &[Vec<u8>], (ours, theirs): (Encode, Encode)) {
    let mut room = vec![0; 2 * BLOCK];
    let mut all = |encode: Encode| streams.iter().map(|stream| encode(black_box(stream), &mut room)).sum::<usize>();
    let mut times = [const { Vec::new() }; 2];
    let [mut ours_len, mut theirs_len] = [0; 2];
    let turns = std::env::var("TURNS").map_or(TURNS, |n| n.parse().expect("a number"));
    for _ in 0..turns {
        times[0].push(bench::time(|| ours_len = all(ours)));
        times[1].push(bench::time(|| theirs_len = all(theirs)));
    }
    let [ours, theirs] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let bytes: usize = streams.iter().map(Vec::len).sum();
    let size = ours_len as f64 / theirs_len as f64;
    println!(
        "{title:<24} {:6.1} {:5.2} {:7.3} {size:9.4}",
        bytes as f64 / ours / 1e6,
        theirs / ours,
        bytes as f64 / ours_len as f64
    );
    let (codec, data) = title.split_once(", ").unwrap_or((title, ""));
    record("streams", &format!("{codec}, encode"), data, theirs / ours);
    record("streams", &format!("{codec}, size"), data, size);
}

fn ours_lz4hc(src: &[u8], dst: &mut [u8]) -> usize {
    lz4::encode_hc(src, dst, 5).expect("room")
}

fn theirs_lz4hc(src: &[u8], dst: &mut [u8]) -> usize {
    let [from, to] = [src.len(), dst.len()].map(|len| i32::try_from(len).expect("a short buffer"));
    // SAFETY: both pointers are valid for the lengths that are passed with them.
    let len = unsafe { lz4_sys::LZ4_compress_HC(src.as_ptr().cast(), dst.as_mut_ptr().cast(), from, to, 5) };
    usize::try_from(len).ok().filter(|len| *len > 0).expect("room")
}

fn ours_zlib(src: &[u8], dst: &mut [u8]) -> usize {
    deflate::encode(src, dst, 6).expect("room")
}

fn theirs_zlib(src: &[u8], dst: &mut [u8]) -> usize {
    let mut len = dst.len() as std::ffi::c_ulong;
    // SAFETY: both pointers are valid for the lengths that are passed with them.
    let status =
        unsafe { libz_sys::compress2(dst.as_mut_ptr(), &raw mut len, src.as_ptr(), src.len() as std::ffi::c_ulong, 6) };
    assert_eq!(status, libz_sys::Z_OK);
    usize::try_from(len).expect("a length")
}
