//! Any bytes as a Blosc 1 chunk.

use pilaster::bcolz::Compressor;
use pilaster::bcolz::chunk::{Chunk, small};
use pilaster::bytes::Scratch;
use pilaster::error::{Kind, Result, What};
use pilaster::unstable::codec::Codec;

/// The largest decoded chunk that is looked at as a whole, and the largest block.
const MOST: usize = 72 << 10;
/// Two blocks, and what a codec takes.
const MEMORY: usize = 2 * MOST + (16 << 10);

/// All of `data` is the chunk.
pub fn run(data: &[u8]) {
    read(data);
}

/// Reads a chunk in all ways; how many of them succeeded. What was in the memory makes no difference and
/// shows nowhere.
pub fn read(data: &[u8]) -> usize {
    let chunk = match Chunk::open(data) {
        Ok(chunk) => chunk,
        Err(e) => {
            assert!(e.at() <= data.len() as u64, "{e:?}");
            return 0;
        }
    };
    assert!(chunk.nbytes() <= i32::MAX as usize && chunk.ctbytes() == data.len());
    assert!(chunk.is_copy() || chunk.blocks() as usize <= data.len() / 4);
    1 + usize::from(whole(&chunk)) + ranges(&chunk)
}

fn whole(chunk: &Chunk<'_>) -> bool {
    let (mut a, mut b) = ([0; MOST], [0xff; MOST]);
    let mut memory = [0; MEMORY];
    let Some(room) = memory.get_mut(..chunk.scratch_len()) else { return false };
    let len = chunk.nbytes();
    let one = chunk.decode(&mut a, &mut Scratch::new(room));
    if len > MOST {
        let e = one.unwrap_err();
        assert_eq!((e.kind(), e.what(), e.need() as usize), (Kind::NoRoom, What::DESTINATION, len));
        return false;
    }
    room.fill(0xff);
    assert_eq!(one, chunk.decode(&mut b, &mut Scratch::new(room)), "dirt makes a difference");
    match one {
        Ok(got) => {
            assert!(got == len && a[..len] == b[..len], "dirt shows");
            assert!(super::filled(&a[len..], 0) && super::filled(&b[len..], 0xff));
            match chunk.decode_with(&mut b[..len], &mut Scratch::new(room), small) {
                Ok(got) => assert!(got == len && a[..len] == b[..len]),
                Err(e) => assert_eq!((e.kind(), e.what()), (Kind::Unsupported, What::BLOSC_CODEC)),
            }
        }
        Err(e) => {
            assert!(e.kind() != Kind::NoRoom, "{e:?}: as much memory as was asked for");
            let off = e.kind() == Kind::Unsupported && e.what() == What::CODEC;
            assert!(off || e.at() <= chunk.ctbytes() as u64, "{e:?}");
        }
    }
    one.is_ok()
}

/// The first, some in the middle, the last: each from its blocks alone, and as it is among all.
fn ranges(chunk: &Chunk<'_>) -> usize {
    let mut memory = [0x55; MEMORY];
    let Some(room) = memory.get_mut(..chunk.range_scratch_len()) else { return 0 };
    let items = chunk.nbytes() / chunk.typesize();
    let mut all = [0; MOST];
    let whole = chunk.nbytes() <= MOST && chunk.decode_with(&mut all, &mut Scratch::new(room), strict).is_ok();
    let mut read = 0;
    for (from, to) in [(0, items.min(2)), (items / 2, items.min(items / 2 + 9)), (items.saturating_sub(2), items)] {
        let mut some = [0xee; 9 * 255];
        match chunk.decode_items(from..to, &mut some, &mut Scratch::new(room)) {
            Ok(len) => {
                assert_eq!(len, (to - from) * chunk.typesize());
                assert!(!whole || some[..len] == all[from * chunk.typesize()..][..len]);
                assert!(super::filled(&some[len..], 0xee));
                read += 1;
            }
            Err(e) => assert!(!whole && e.kind() != Kind::NoRoom, "{e:?}"),
        }
    }
    assert!(chunk.decode_items(items..items + 1, &mut [0; 255], &mut Scratch::new(room)).is_err());
    read
}

/// Every codec as it is: what follows a zlib stream is not ignored.
fn strict(compressor: Compressor, src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    let codec = match compressor {
        Compressor::Blosclz => Codec::Blosclz,
        Compressor::Lz4 => Codec::Lz4,
        Compressor::Lz4hc => Codec::Lz4Hc,
        Compressor::Snappy => Codec::Snappy,
        Compressor::Zlib => Codec::Zlib,
        Compressor::Zstd => Codec::Zstd,
    };
    codec.decode(src, dst, scratch)
}
