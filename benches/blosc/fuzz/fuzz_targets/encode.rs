//! Encodes with arbitrary parameters. Each of pilaster and c-blosc must decode the chunk of the other to the input.
#![no_main]

#[path = "../../src/original.rs"]
mod original;

use libfuzzer_sys::fuzz_target;
use pilaster::bcolz::chunk::{Chunk, Params, encode, encode_scratch_len, max_len};
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::bytes::Scratch;

// Bytes 0 to 4: compressor, level and shuffle, type size, block size, number of repetitions of the rest.
fuzz_target!(|data: &[u8]| {
    let Some((&[a, b, typesize, block, times], piece)) = data.split_first_chunk() else { return };
    let compressor = Compressor::ALL[usize::from(a) % Compressor::ALL.len()];
    let params = Params {
        compressor,
        // The highest levels of Zstandard take hundreds of megabytes.
        level: if compressor == Compressor::Zstd { b % 7 } else { b % 10 },
        shuffle: [Shuffle::None, Shuffle::Byte, Shuffle::Bit][usize::from(b) / 10 % 3],
        typesize: typesize.max(1),
        // At least 512: small blocks are many, and the LZ4 HC encoder of the original sets up a table for each.
        blocksize: (block > 0).then_some(512 + u32::from(block) * 24),
    };
    let bytes = piece.repeat(1 + usize::from(times));
    let bytes = &bytes[..bytes.len().min(1 << 15)];
    let mut chunk = vec![0xee; max_len(bytes.len())];
    let mut memory = vec![0xee; encode_scratch_len(&params, bytes.len())];
    let len = encode(bytes, &params, &mut chunk, &mut Scratch::new(&mut memory)).expect("room");
    let mut read = vec![0x55; bytes.len()];
    assert_eq!(original::decode(&chunk[..len], &mut read), Some(bytes.len()));
    assert!(read == bytes, "it reads other bytes");

    let len = original::encode(bytes, &params, &mut chunk);
    let chunk = Chunk::open(&chunk[..len]).expect("a chunk");
    let (mut read, mut memory) = (vec![0x55; bytes.len()], vec![0xee; chunk.scratch_len()]);
    assert_eq!(chunk.decode(&mut read, &mut Scratch::new(&mut memory)), Ok(bytes.len()));
    assert!(read == bytes, "we read other bytes");
});
