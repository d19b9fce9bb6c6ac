//! Any bytes as Zstandard frames: see [`codec::decode`](super::codec::decode); and as a dictionary and frames.

use pilaster::bytes::Scratch;
use pilaster::unstable::codec::Codec;
use pilaster::unstable::codec::zstd;

/// The bytes are the stream. Again, the first byte says how many of them are a dictionary.
pub fn run(data: &[u8]) {
    super::codec::decode(Codec::Zstd, data);
    let Some((dictionary, stream)) = data.split_first().and_then(|(n, rest)| rest.split_at_checked((*n).into())) else {
        return;
    };
    let (mut memory, mut room) = ([0x33; zstd::WORKSPACE_LEN], [0; 2048]);
    let got = zstd::decode_with(stream, &mut room, dictionary, &mut Scratch::new(&mut memory));
    let mut again = [0xff; 2048];
    memory.fill(0xcc);
    assert_eq!(zstd::decode_with(stream, &mut again, dictionary, &mut Scratch::new(&mut memory)), got);
    if let Ok(len) = got {
        assert!(room[..len] == again[..len], "dirt shows");
    }
}
