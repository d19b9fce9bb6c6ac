//! Data and checks that are common to the tests of all codecs.

use super::*;
use crate::Result;
use crate::bytes::Scratch;
use crate::error::{Kind, What};
use std::format;
use std::vec;
use std::vec::Vec;

/// `n` bytes without a pattern.
pub(crate) fn noise(n: usize) -> Vec<u8> {
    let mut x = 0x2545_f491_4f6c_dd1du64;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 24) as u8
    };
    (0..n).map(|_| next()).collect()
}

/// `n` bytes of a log.
pub(crate) fn text(n: usize) -> Vec<u8> {
    let noise = noise(n / 16 + 4);
    let mut text = Vec::with_capacity(n + 64);
    let mut id = 0u32;
    while text.len() < n {
        let draw = noise[id as usize % noise.len()];
        text.extend(format!("sensor-{} reading {id} status {}\n", draw % 50, draw / 20).bytes());
        id += 1;
    }
    text.truncate(n);
    text
}

/// Bytes of many kinds and lengths.
pub(crate) fn samples() -> Vec<Vec<u8>> {
    let mut samples: Vec<Vec<u8>> = (0..40).flat_map(|n| [noise(n), text(n), vec![9; n]]).collect();
    for n in [64, 100, 255, 256, 257, 270, 300, 1000, 4096, 9000, 70_000, 140_001] {
        samples.extend([noise(n), text(n), vec![0; n]]);
    }
    for period in [2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 300] {
        samples.push(noise(period).repeat(3000 / period));
    }
    // Ascending numbers, as in records; noise with repeats at all distances.
    samples.push((0..20_000u64).flat_map(|i| (1_000_000 + i * 977 + i % 7).to_le_bytes()).collect());
    let mut mixed = noise(50);
    for i in 0..4000usize {
        let far = 1 + (i * i * 31 + i) % mixed.len();
        let len = 1 + i * 7 % 23;
        for _ in 0..len {
            mixed.push(mixed[mixed.len() - far]);
        }
        mixed.push(i as u8);
    }
    samples.push(mixed);
    samples
}

/// Checks that `constant` finds the outputs of one byte only, and with their exact lengths.
#[cfg(feature = "bcolz")]
pub(crate) fn constants(constant: fn(&[u8], usize) -> Option<u8>, decode: Plain, encoded: fn(&[u8]) -> Vec<u8>) {
    for n in [20, 31, 32, 33, 64, 100, 269, 270, 300, 1000, 4096, 131_072] {
        let mut bytes = vec![9; n];
        let stream = encoded(&bytes);
        decodes(decode, &stream, &bytes);
        assert_eq!([n - 1, n, n + 1].map(|len| constant(&stream, len)), [None, Some(9), None], "{n}");
        for cut in 0..stream.len() {
            assert_eq!(constant(&stream[..cut], n), None, "{cut} of {n}");
        }
        for at in [0, 1, n / 2, n - 2, n - 1] {
            bytes[at] = 8;
            assert_eq!(constant(&encoded(&bytes), n), None, "{at} of {n}");
            bytes[at] = 9;
        }
    }
    for bytes in samples().into_iter().filter(|bytes| bytes.windows(2).any(|two| two[0] != two[1])) {
        assert_eq!(constant(&encoded(&bytes), bytes.len()), None);
    }
}

/// Returns what an encoder writes to a buffer of the given length.
pub(crate) fn encoded(room: usize, mut encode: impl FnMut(&mut [u8]) -> Result<usize>) -> Vec<u8> {
    let mut dst = vec![0xee; room];
    let len = encode(&mut dst).expect("room for what was promised");
    dst.truncate(len);
    dst
}

/// Checks that an encoder fits into exactly the length of its output, and fails with a sufficient `need` in
/// less.
pub(crate) fn every_room(stream: &[u8], max: usize, mut encode: impl FnMut(&mut [u8]) -> Result<usize>) {
    for room in 0..=stream.len() {
        let mut dst = vec![0; room];
        match encode(&mut dst) {
            Ok(len) => assert_eq!((len, &dst[..]), (room, stream)),
            Err(e) => {
                assert!(room < stream.len(), "{e}");
                assert_eq!((e.kind(), e.need() as usize), (Kind::NoRoom, max));
            }
        }
    }
}

/// A decoder or an encoder without scratch.
pub(crate) type Plain = fn(&[u8], &mut [u8]) -> Result<usize>;

/// A decoder, with its scratch.
type Decode<'a> = &'a mut dyn FnMut(&[u8], &mut [u8]) -> Result<usize>;

/// Checks that both variants of a decoder decode `stream` to `bytes`.
pub(crate) fn both([fast, slow]: [Plain; 2], stream: &[u8], bytes: &[u8]) {
    decodes(fast, stream, bytes);
    decodes(slow, stream, bytes);
}

/// Returns the error of both variants of a decoder, which must be equal, for a destination of the given
/// length.
pub(crate) fn refused([fast, slow]: [Plain; 2], stream: &[u8], room: usize) -> (Kind, What, u64, u32) {
    let mut dst = vec![0; room];
    let e = fast(stream, &mut dst).unwrap_err();
    assert_eq!(Err(e), slow(stream, &mut dst));
    (e.kind(), e.what(), e.at(), e.need())
}

fn into(room: usize, dirt: u8, decode: Decode<'_>, stream: &[u8], bytes: &[u8]) {
    let mut dst = vec![dirt; room];
    let len = decode(stream, &mut dst).unwrap_or_else(|e| panic!("{e}, {} bytes in {room}", bytes.len()));
    assert!(dst[..len] == *bytes, "other bytes, {len} of {}", bytes.len());
}

/// Checks that `stream` decodes to `bytes`, once: for streams that take long.
#[cfg(all(feature = "alloc", feature = "bzip2"))]
pub(crate) fn decodes_at_once(mut decode: impl FnMut(&[u8], &mut [u8]) -> Result<usize>, stream: &[u8], bytes: &[u8]) {
    into(bytes.len(), 0xee, &mut decode, stream, bytes);
}

/// Checks that `stream` decodes to `bytes`, into a destination of that size or larger, with any contents
/// before; not into a smaller one.
pub(crate) fn decodes(mut decode: impl FnMut(&[u8], &mut [u8]) -> Result<usize>, stream: &[u8], bytes: &[u8]) {
    for (more, dirt) in [(0, 0), (0, 0xff), (1, 0x55), (200, 0xaa)] {
        into(bytes.len() + more, dirt, &mut decode, stream, bytes);
    }
    if let Some(less) = bytes.len().checked_sub(1) {
        let e = decode(stream, &mut vec![0; less]).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::NoRoom, What::DESTINATION));
        assert!((1 + less..=bytes.len()).contains(&(e.need() as usize)), "{e}");
    }
}

/// Cuts the stream everywhere and changes every byte: both variants of a decoder agree, whatever the
/// destination contained.
pub(crate) fn damage(
    mut one: impl FnMut(&[u8], &mut [u8]) -> Result<usize>,
    mut other: impl FnMut(&[u8], &mut [u8]) -> Result<usize>,
    stream: &[u8],
) {
    let mut check = |stream: &[u8]| {
        let (mut a, mut b) = (vec![0; 1000], vec![0xff; 1000]);
        let (got, expected) = (one(stream, &mut a), other(stream, &mut b));
        assert_eq!(got, expected, "{stream:02x?}");
        if let Ok(len) = got {
            assert_eq!(a[..len], b[..len], "{stream:02x?}");
        }
    };
    for cut in 0..stream.len() {
        check(&stream[..cut]);
    }
    for at in 0..stream.len() {
        let mut stream = stream.to_vec();
        let old = stream[at];
        for byte in [0, 1, 0x7f, 0x80, 0xff, old ^ 1, old ^ 0x10, old.wrapping_add(1)] {
            stream[at] = byte;
            check(&stream);
        }
    }
    check(&[stream, &[0]].concat());
}

/// A codec that encodes with a [`HashTable`].
struct Greedy {
    /// The decoder with and without its fast loop.
    decode: [Plain; 2],
    /// The encoder with tables of 256, 4096 and 65,536 slots.
    encode: [Plain; 3],
    max_len: fn(usize) -> usize,
    /// Decodes a stream of the given output length with another implementation.
    rival_decode: fn(&[u8], usize) -> Option<Vec<u8>>,
    /// Encodes a stream with another implementation; `None` if that writes no stream.
    rival_encode: fn(&[u8]) -> Option<Vec<u8>>,
}

macro_rules! greedy {
    ($codec:ident, $decode:expr, $encode:expr) => {
        Greedy {
            decode: [$codec::decode_by::<true>, $codec::decode_by::<false>],
            encode: [
                |src, dst| $codec::encode(src, dst, &mut HashTable::<256>::new()),
                |src, dst| $codec::encode(src, dst, &mut HashTable::<4096>::new()),
                |src, dst| $codec::encode(src, dst, &mut HashTable::<65_536>::new()),
            ],
            max_len: $codec::max_len,
            rival_decode: $decode,
            rival_encode: $encode,
        }
    };
}

const GREEDY: [Greedy; 4] = [
    greedy!(blosclz, |_, _| None, |_| None),
    greedy!(lz4, |block, len| Some(lz4_flex::block::decompress(block, len).unwrap()), |bytes| Some(
        lz4_flex::block::compress(bytes)
    )),
    // The other implementation decodes no empty stream, and encodes nothing whose encoding would be longer.
    greedy!(lzf, |stream, len| (len > 0).then(|| ::lzf::decompress(stream, len).unwrap()), |bytes| ::lzf::compress(
        bytes
    )
    .ok()),
    greedy!(snappy, |block, _| Some(snap::raw::Decoder::new().decompress_vec(block).unwrap()), |bytes| Some(
        snap::raw::Encoder::new().compress_vec(bytes).unwrap()
    )),
];

impl Greedy {
    fn encoded(&self, src: &[u8]) -> Vec<u8> {
        encoded((self.max_len)(src.len()), |dst| self.encode[1](src, dst))
    }
}

#[test]
fn round_trips_and_rivals() {
    for codec in GREEDY {
        for bytes in samples() {
            let stream = codec.encoded(&bytes);
            both(codec.decode, &stream, &bytes);
            if let Some(read) = (codec.rival_decode)(&stream, bytes.len()) {
                assert_eq!(read, bytes, "the rival reads ours");
            }
            if let Some(stream) = (codec.rival_encode)(&bytes) {
                both(codec.decode, &stream, &bytes);
            }
        }
    }
}

#[test]
fn matches_of_every_length() {
    for codec in GREEDY {
        for n in 1..1200 {
            both(codec.decode, &codec.encoded(&vec![3; n]), &vec![3; n]);
        }
    }
}

#[test]
fn every_table_and_every_room() {
    let bytes = text(3000);
    for Greedy { decode, encode, max_len, .. } in GREEDY {
        for encode in encode {
            both(decode, &encoded(max_len(3000), |dst| encode(&bytes, dst)), &bytes);
        }
        let [_, encode, _] = encode;
        let stream = encoded(max_len(3000), |dst| encode(&bytes, dst));
        every_room(&stream, max_len(3000), |dst| encode(&bytes, dst));
    }
}

#[test]
fn damaged_streams() {
    for codec in GREEDY {
        for bytes in [text(300), noise(60), vec![5; 600]] {
            let [fast, slow] = codec.decode;
            damage(fast, slow, &codec.encoded(&bytes));
        }
    }
}

#[cfg(feature = "alloc")]
#[test]
fn the_enum_encodes_and_decodes() {
    for codec in Codec::ALL {
        for bytes in [text(5000), Vec::new()] {
            let mut stream = vec![0; codec.max_len(bytes.len())];
            let mut memory = vec![0; codec.workspace_len(bytes.len())];
            let mut scratch = Scratch::new(&mut memory);
            let mut decoded = vec![1; bytes.len()];
            match codec.encode(&bytes, &mut stream, 9) {
                Ok(len) => {
                    let room = scratch.room();
                    assert_eq!(codec.decode(&stream[..len], &mut decoded, &mut scratch), Ok(bytes.len()));
                    assert_eq!(scratch.room(), room, "temporaries are given back");
                    assert!(decoded == bytes, "{codec:?}");
                    assert!(bytes.is_empty() || len < bytes.len() / 2);
                }
                Err(e) => {
                    assert!(!codec.supported());
                    assert_eq!(e.kind(), Kind::Unsupported);
                    assert_eq!(
                        codec.decode(&stream, &mut decoded, &mut scratch).unwrap_err().kind(),
                        Kind::Unsupported
                    );
                }
            }
        }
    }
}
