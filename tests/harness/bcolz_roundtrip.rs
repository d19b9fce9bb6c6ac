//! Bytes encoded as a chunk decode to the same bytes, for any parameters.

use pilaster::bcolz::chunk::{Chunk, Params, encode, encode_scratch_len, max_len};
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::bytes::Scratch;
use pilaster::error::{Kind, What};

use super::codec::repeated;

/// How much is encoded.
const MOST: usize = 6 << 10;
/// A block and the largest table of a match finder; a block and what a codec takes.
const MEMORY: usize = 48 << 10;

/// Bytes 0 to 4: compressor, level and shuffle, type size, block size, how often the rest is repeated.
pub fn run(data: &[u8]) {
    let Some((&[a, b, typesize, block, times], piece)) = data.split_first_chunk() else { return };
    // The others need a heap: `codec_host` has them.
    let compressor = [Compressor::Blosclz, Compressor::Lz4, Compressor::Snappy][usize::from(a) % 3];
    let params = Params {
        compressor,
        level: b % 10,
        shuffle: [Shuffle::None, Shuffle::Byte, Shuffle::Bit][usize::from(b) / 10 % 3],
        typesize,
        blocksize: (block > 0).then_some(u32::from(block) * 24),
    };
    check(repeated(piece, 1 + usize::from(times % 16), &mut [0; MOST]), &params);
}

fn check(bytes: &[u8], params: &Params) {
    let mut memory = [0xa5; MEMORY];
    let room = &mut memory[..encode_scratch_len(params, bytes.len())];
    let mut chunk = [0xee; MOST + 16];
    let len = encode(bytes, params, &mut chunk, &mut Scratch::new(room)).expect("what is promised is enough");
    assert!(len <= max_len(bytes.len()));
    assert!(super::filled(&chunk[max_len(bytes.len())..], 0xee));

    let opened = Chunk::open(&chunk[..len]).expect("a chunk");
    assert_eq!((opened.nbytes(), opened.typesize()), (bytes.len(), usize::from(params.typesize.max(1))));
    let mut decoded = [0xee; MOST];
    let room = &mut memory[..opened.scratch_len()];
    assert_eq!(opened.decode(&mut decoded, &mut Scratch::new(room)), Ok(bytes.len()), "{params:?}");
    assert!(decoded[..bytes.len()] == *bytes, "{params:?}");

    // A destination of the exact length gets the same chunk; a shorter one is an error.
    let room = &mut memory[..encode_scratch_len(params, bytes.len())];
    let mut again = [0; MOST + 16];
    assert_eq!(encode(bytes, params, &mut again[..len], &mut Scratch::new(room)), Ok(len));
    assert!(again[..len] == chunk[..len], "{params:?}");
    let e = encode(bytes, params, &mut again[..len - 1], &mut Scratch::new(room)).unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::NoRoom, What::DESTINATION));
}
