use super::*;
use crate::bcolz::{Compressor, Shuffle};
use crate::bytes::Scratch;
use crate::codec::tests::{noise, text};
use crate::error::{Kind, What};
use std::vec;
use std::vec::Vec;

fn encoded(src: &[u8], params: &Params, dirt: u8) -> Vec<u8> {
    let mut dst = vec![dirt; max_len(src.len())];
    let mut memory = vec![dirt; encode_scratch_len(params, src.len())];
    let len = encode(src, params, &mut dst, &mut Scratch::new(&mut memory)).unwrap();
    dst.truncate(len);
    dst
}

fn decoded(bytes: &[u8], dirt: u8) -> crate::Result<Vec<u8>> {
    let chunk = Chunk::open(bytes)?;
    let mut memory = vec![dirt; chunk.scratch_len()];
    let mut dst = vec![dirt; chunk.nbytes()];
    chunk.decode(&mut dst, &mut Scratch::new(&mut memory))?;
    Ok(dst)
}

/// All compressors of this build, with every shuffle and many type sizes.
fn all_params() -> impl Iterator<Item = Params> {
    let compressors = Compressor::ALL.into_iter().filter(|one| one.codec().supported());
    compressors.filter(|one| cfg!(feature = "alloc") || !one.thorough_for_test()).flat_map(|compressor| {
        [Shuffle::None, Shuffle::Byte, Shuffle::Bit].into_iter().flat_map(move |shuffle| {
            [1, 2, 3, 4, 7, 8, 12, 16, 17, 40, 255].map(|typesize| Params {
                compressor,
                shuffle,
                typesize,
                ..Params::DEFAULT
            })
        })
    })
}

impl Compressor {
    fn thorough_for_test(self) -> bool {
        self.thorough()
    }
}

#[test]
fn planes_that_are_constant_stored_and_compressed() {
    let noise = noise(10_003);
    // The lowest byte is stored, the second compressed, the others are constant; then all are constant but one at the end.
    let mixed = |size: usize| {
        let item = |i: usize| (0..size).map(move |at| (at, i));
        let byte = |(at, i): (usize, usize)| [noise[i], (i / 77) as u8, 3, 200][at.min(3)];
        (0..noise.len()).flat_map(item).map(byte).collect::<Vec<u8>>()
    };
    for (typesize, compressor) in [2, 3, 4, 8, 16].into_iter().flat_map(|size| Compressor::ALL.map(|one| (size, one))) {
        if !compressor.codec().supported() || !cfg!(feature = "alloc") && compressor.thorough_for_test() {
            continue;
        }
        let size = usize::from(typesize);
        for bytes in [mixed(size), [vec![5; 10_003 * size - 1], vec![6]].concat()] {
            for blocksize in [None, Some(4096), Some(1 << 17)] {
                let params = Params { compressor, typesize, blocksize, shuffle: Shuffle::Byte, ..Params::DEFAULT };
                let chunk = encoded(&bytes, &params, 0);
                assert!(decoded(&chunk, 0x55).as_ref() == Ok(&bytes), "{params:?}");
            }
        }
    }
}

#[test]
fn round_trips() {
    let ramp: Vec<u8> = (0..9001u32).flat_map(|i| (i * 3).to_le_bytes()).take(36_001).collect();
    let samples = [ramp.clone(), ramp[..4097].to_vec(), noise(1000), text(2048), vec![], vec![7; 127], vec![7; 128]];
    for params in all_params() {
        for (k, src) in samples.iter().enumerate() {
            // The long samples with only one type size.
            if k < 2 && params.typesize != 4 {
                continue;
            }
            let chunk = encoded(src, &params, 0);
            assert_eq!(chunk, encoded(src, &params, 0xff), "dirt makes a difference: {params:?}");
            assert_eq!(decoded(&chunk, 0x55).as_ref(), Ok(src), "{params:?}");
        }
    }
}

#[test]
fn every_size_of_a_block() {
    let src: Vec<u8> = (0..1500u32).flat_map(|i| (i * 7).to_le_bytes()).collect();
    for size in (128..400).step_by(17).chain([512, 516, 1024, 5999, 6000, 6001, u32::MAX]) {
        for typesize in [1, 2, 4, 8, 16, 24] {
            for shuffle in [Shuffle::None, Shuffle::Byte, Shuffle::Bit] {
                let params = Params { blocksize: Some(size), typesize, shuffle, ..Params::DEFAULT };
                assert_eq!(decoded(&encoded(&src, &params, 0), 0xee).as_ref(), Ok(&src), "{params:?}");
            }
        }
    }
}

#[test]
fn any_range() {
    let src: Vec<u8> = (0..2500u32).flat_map(|i| (i * 5).to_le_bytes()).chain([1, 2, 3]).collect();
    for (level, shuffle) in [(5, Shuffle::Byte), (5, Shuffle::None), (5, Shuffle::Bit), (0, Shuffle::Byte)] {
        let params = Params { level, shuffle, typesize: 4, blocksize: Some(600), ..Params::DEFAULT };
        let bytes = encoded(&src, &params, 0);
        let chunk = Chunk::open(&bytes).unwrap();
        let mut memory = vec![0x77; chunk.range_scratch_len()];
        let mut scratch = Scratch::new(&mut memory);
        for start in (0..=src.len()).step_by(97) {
            for end in (start..=src.len()).step_by(411).chain([src.len()]) {
                let mut dst = vec![0xee; end - start + 2];
                let len = chunk.decode_range(start..end, &mut dst, &mut scratch).unwrap();
                assert_eq!((len, &dst[..len]), (end - start, &src[start..end]));
                assert_eq!(dst[len..], [0xee; 2]);
            }
        }
        let e = chunk.decode_range(5..src.len() + 1, &mut [0; 20_000], &mut scratch).unwrap_err();
        assert_eq!((e.kind(), e.what(), e.need()), (Kind::OutOfRange, What::BLOSC_NBYTES, 10_003));
        let mut one = [0; 4];
        chunk.decode_items(1250..1251, &mut one, &mut scratch).unwrap();
        assert_eq!(one, 6250u32.to_le_bytes());
        assert!(chunk.decode_items(2500..2501, &mut one, &mut scratch).is_err(), "the last three bytes are no item");
    }
}

#[test]
fn every_room() {
    let src = text(600);
    for params in [Params::DEFAULT, Params { level: 0, ..Params::DEFAULT }] {
        let chunk = encoded(&src, &params, 0);
        let mut memory = vec![0; encode_scratch_len(&params, src.len())];
        for room in 0..max_len(src.len()) {
            let mut dst = vec![0; room];
            match encode(&src, &params, &mut dst, &mut Scratch::new(&mut memory)) {
                Ok(len) => assert_eq!(dst[..len], chunk),
                Err(e) => {
                    assert!(room < chunk.len());
                    assert_eq!((e.kind(), e.what(), e.need()), (Kind::NoRoom, What::DESTINATION, 616));
                }
            }
        }
    }
}

#[test]
fn an_empty_chunk_as_the_original_writes_it() {
    let params = Params { compressor: Compressor::Lz4, typesize: 4, ..Params::DEFAULT };
    let chunk = [2, 1, 0x33, 4, 0, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0];
    assert_eq!(encoded(&[], &params, 0xee), chunk);
    assert_eq!(decoded(&chunk, 0), Ok(vec![]));
}

#[test]
fn too_little_memory() {
    let src = text(1000);
    let params = Params { typesize: 4, ..Params::DEFAULT };
    let bytes = encoded(&src, &params, 0);
    let chunk = Chunk::open(&bytes).unwrap();
    let e = chunk.decode(&mut vec![0; 999], &mut Scratch::new(&mut [])).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::NoRoom, What::DESTINATION, 1000));
    let e = chunk.decode(&mut vec![0; 1000], &mut Scratch::new(&mut [0; 99])).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::NoRoom, What::SCRATCH, 1000));
}

#[test]
fn codecs_by_choice() {
    for compressor in [Compressor::Blosclz, Compressor::Lz4, Compressor::Snappy] {
        let src = text(1000);
        let bytes = encoded(&src, &Params { compressor, ..Params::DEFAULT }, 0);
        let (mut dst, mut memory) = (vec![0; 1000], vec![0; 1000]);
        let got = Chunk::open(&bytes).unwrap().decode_with(&mut dst, &mut Scratch::new(&mut memory), small);
        if compressor == Compressor::Snappy {
            let e = got.unwrap_err();
            assert_eq!((e.kind(), e.what()), (Kind::Unsupported, What::BLOSC_CODEC));
        } else {
            assert_eq!((got, &dst), (Ok(1000), &src));
        }
    }
}

/// The original ignores bytes after a zlib stream.
#[test]
#[cfg(all(feature = "alloc", feature = "deflate"))]
fn bytes_behind_a_zlib_stream() {
    let src = text(1000);
    let params = Params { compressor: Compressor::Zlib, typesize: 1, ..Params::DEFAULT };
    let mut bytes = encoded(&src, &params, 0);
    let longer = |bytes: &mut [u8], at: usize| {
        let field = bytes[at..].first_chunk_mut().unwrap();
        *field = (u32::from_le_bytes(*field) + 1).to_le_bytes();
    };
    // One block of one stream: the sizes of the chunk and of the stream.
    longer(&mut bytes, 12);
    longer(&mut bytes, 20);
    bytes.push(0);
    assert_eq!(decoded(&bytes, 0x55).as_ref(), Ok(&src));
    let (mut dst, mut memory) = (vec![0; 1000], vec![0; 20_000]);
    let strict: super::decode::Streams = |compressor, src, dst, scratch| compressor.codec().decode(src, dst, scratch);
    let strict = Chunk::open(&bytes).unwrap().decode_with(&mut dst, &mut Scratch::new(&mut memory), strict);
    assert_eq!(strict.map_err(|e| (e.kind(), e.what())), Err((Kind::Trailing, What::ZLIB_CHECKSUM)));
}
