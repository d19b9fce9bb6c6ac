//! The output of the heapless encoders decodes to their input, whatever the table or the scratch buffer contained, and has
//! at most the promised length.

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::codec::HashTable;
use pilaster::error::Kind;
use pilaster::unstable::codec::Codec;
use pilaster::unstable::codec::{blosclz, lz4, lzf, snappy, zstd};

use super::codec::repeated;

/// How much of the input is encoded.
const MOST: usize = 4096;
/// Room for what becomes of it.
const ROOM: usize = MOST + MOST / 32 + 16;

/// Memory for Zstandard at every level and of every length.
const MEMORY: usize = {
    let (mut most, mut level) = (0, 0);
    while level <= zstd::MAX_LEVEL {
        let enough = zstd::encode_scratch_len(level, MOST);
        if enough > most {
            most = enough;
        }
        level += 1;
    }
    most
};

/// The first byte says how often the rest is repeated, so that there is something to find; and the level.
pub fn run(data: &[u8]) {
    let Some((times, piece)) = data.split_first() else { return };
    let mut bytes = [0; MOST];
    let bytes = repeated(piece, 1 + usize::from(times % 8), &mut bytes);
    let (mut small, mut large) = (HashTable::<256>::new(), HashTable::<4096>::new());
    macro_rules! both {
        ($($codec:ident $module:ident),*) => {$(
            one(Codec::$codec, bytes, &mut |dst| $module::encode(bytes, dst, &mut small));
            one(Codec::$codec, bytes, &mut |dst| $module::encode(bytes, dst, &mut large));
        )*};
    }
    both!(Lz4 lz4, Lzf lzf, Snappy snappy, Blosclz blosclz);
    let (level, mut memory) = (times / 8 % (zstd::MAX_LEVEL + 2), [0xa5; MEMORY]);
    let enough = zstd::encode_scratch_len(level, bytes.len());
    one(Codec::Zstd, bytes, &mut |dst| zstd::encode(bytes, dst, level, &mut Scratch::new(&mut memory[..enough])));
}

fn one(codec: Codec, bytes: &[u8], encode: &mut dyn FnMut(&mut [u8]) -> Result<usize>) {
    let mut room = [0xee; ROOM];
    let len = encode(&mut room[..codec.max_len(bytes.len())]).expect("what is promised is enough");
    let mut decoded = [0xee; MOST];
    let decoded = &mut decoded[..bytes.len()];
    let mut memory = [0xee; zstd::WORKSPACE_LEN];
    assert_eq!(codec.decode(&room[..len], decoded, &mut Scratch::new(&mut memory)), Ok(bytes.len()));
    assert!(decoded == bytes, "{codec:?}");
    // The table is full of the last run now: it writes the same, into exactly as much.
    let mut again = [0; ROOM];
    assert_eq!(encode(&mut again[..len]), Ok(len));
    assert!(again[..len] == room[..len], "{codec:?}: the table makes a difference");
    if let Some(less) = len.checked_sub(1) {
        assert_eq!(encode(&mut again[..less]).unwrap_err().kind(), Kind::NoRoom);
    }
}
