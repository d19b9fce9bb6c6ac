//! Checks that each implementation reads the chunks of the other, for every compressor and shuffle and many sizes, and
//! that both return the same for damaged chunks.

use pilaster::bcolz::chunk::{Chunk, Params, encode, encode_scratch_len, max_len};
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::bytes::Scratch;

use crate::original;

/// Item sizes in bytes, and lengths with remainders of every kind.
const TYPESIZES: [u8; 13] = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33, 128, 255];
const LENGTHS: [usize; 11] = [0, 1, 127, 128, 1000, 4095, 4096, 33_001, 65_536, 131_072 + 24, 300_007];

pub fn run() {
    let (mut chunks, mut damaged, mut stricter) = (0, 0, 0);
    for compressor in Compressor::ALL {
        for shuffle in [Shuffle::None, Shuffle::Byte, Shuffle::Bit] {
            for typesize in TYPESIZES {
                for (k, len) in LENGTHS.into_iter().enumerate() {
                    // Levels and block sizes alternate.
                    let level = [5, 1, 9, 3, 7, 0, 2, 4, 6, 8][(k + usize::from(typesize)) % 10];
                    let blocksize = [None, Some(2048), None, Some(520)][(k + usize::from(level)) % 4];
                    let params = Params { compressor, level, shuffle, typesize, blocksize };
                    let bytes = data(len, typesize);
                    both_ways(&bytes, &params);
                    chunks += 2;
                    if len == 1000 || len == 4096 {
                        let (all, strict) = damages(&bytes, &params);
                        damaged += all;
                        stricter += strict;
                    }
                }
            }
        }
    }
    println!("{chunks} chunks agree; {damaged} damaged ones, {stricter} of them refused by us alone");
}

/// Returns items that increase by one, with a little noise.
fn data(len: usize, typesize: u8) -> Vec<u8> {
    let size = usize::from(typesize);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let item = |i: usize, place: usize| (i * 7 >> (8 * place.min(3))) as u8;
    (0..len)
        .map(|at| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            if state >> 60 == 0 { (state >> 40) as u8 } else { item(at / size, at % size) }
        })
        .collect()
}

fn ours(bytes: &[u8], params: &Params) -> Vec<u8> {
    let mut chunk = vec![0; max_len(bytes.len())];
    let mut memory = vec![0; encode_scratch_len(params, bytes.len())];
    let len = encode(bytes, params, &mut chunk, &mut Scratch::new(&mut memory)).expect("room");
    chunk.truncate(len);
    chunk
}

fn theirs(bytes: &[u8], params: &Params) -> Vec<u8> {
    let mut chunk = vec![0; bytes.len() + 16];
    let len = original::encode(bytes, params, &mut chunk);
    chunk.truncate(len);
    chunk
}

fn decoded(chunk: &[u8]) -> pilaster::Result<Vec<u8>> {
    let chunk = Chunk::open(chunk)?;
    let (mut bytes, mut memory) = (vec![0xee; chunk.nbytes()], vec![0xee; chunk.scratch_len()]);
    chunk.decode(&mut bytes, &mut Scratch::new(&mut memory))?;
    Ok(bytes)
}

fn both_ways(bytes: &[u8], params: &Params) {
    let chunk = theirs(bytes, params);
    let read = decoded(&chunk).unwrap_or_else(|e| panic!("theirs, {params:?}, {} bytes: {e}", bytes.len()));
    assert!(read == bytes, "theirs, {params:?}, {} bytes", bytes.len());
    let header = |chunk: &[u8]| (chunk[..2].to_vec(), chunk[2] & !2, chunk[3..12].to_vec());
    let chunk_of_ours = ours(bytes, params);
    // All fields that do not depend on the compressor: version, flags except the one for a plain copy, type size,
    // sizes.
    assert_eq!(header(&chunk_of_ours), header(&chunk), "{params:?}, {} bytes", bytes.len());
    let mut read = vec![0xee; bytes.len()];
    assert_eq!(
        original::decode(&chunk_of_ours, &mut read),
        Some(bytes.len()),
        "ours, {params:?}, {} bytes",
        bytes.len()
    );
    assert!(read == bytes, "ours, {params:?}, {} bytes", bytes.len());
}

/// Changes single bytes of a chunk. If pilaster accepts it, the original must accept it with the same result. The
/// original may accept more, because it checks less of a stream. Returns the numbers of changes, and of chunks that
/// only the original accepts.
fn damages(bytes: &[u8], params: &Params) -> (usize, usize) {
    let whole = theirs(bytes, params);
    let (mut tried, mut stricter) = (0, 0);
    for at in (0..whole.len()).filter(|at| *at < 40 || at % 7 == 0) {
        // The original does not check the length of the chunk.
        if (12..16).contains(&at) {
            continue;
        }
        for change in [1u8, 0x80, 0xff] {
            let mut chunk = whole.clone();
            chunk[at] ^= change;
            let read = decoded(&chunk);
            tried += 1;
            let Ok(claimed) = Chunk::open(&chunk).map(|chunk| chunk.nbytes()) else {
                continue;
            };
            if claimed > 1 << 20 {
                continue;
            }
            let mut original = vec![0xee; claimed];
            match (read, original::decode(&chunk, &mut original)) {
                (Ok(ours), Some(len)) => {
                    assert_eq!(ours.len(), len, "{params:?}, byte {at}");
                    assert!(ours == original, "{params:?}, byte {at}");
                }
                (Ok(_), None) => panic!("{params:?}, byte {at} ^ {change:02x}: taken by us alone"),
                (Err(_), Some(_)) => stricter += 1,
                (Err(_), None) => {}
            }
        }
    }
    (tried, stricter)
}
