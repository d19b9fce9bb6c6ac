//! What the encoders with a heap write decodes to what they read.

use pilaster::bytes::Scratch;
use pilaster::unstable::codec::Codec;

/// The first byte is the codec, the second the level; the rest is encoded.
pub fn run(data: &[u8]) {
    let [codec, level, bytes @ ..] = data else { return };
    let codec = Codec::ALL[usize::from(*codec) % Codec::ALL.len()];
    let bytes = &bytes[..bytes.len().min(2 << 10)];
    let mut stream = vec![0xee; codec.max_len(bytes.len())];
    let len = match codec.encode(bytes, &mut stream, level % 10) {
        Ok(len) => len,
        Err(e) => {
            assert!(!codec.supported(), "{codec:?}: {e}");
            return;
        }
    };
    let mut memory = vec![0xee; codec.workspace_len(bytes.len())];
    let mut decoded = vec![0xee; bytes.len()];
    assert_eq!(codec.decode(&stream[..len], &mut decoded, &mut Scratch::new(&mut memory)), Ok(bytes.len()));
    assert!(decoded == bytes, "{codec:?}");
    let mut exact = vec![0; len];
    assert_eq!(codec.encode(bytes, &mut exact, level % 10), Ok(len));
    assert!(exact == stream[..len], "{codec:?}: the room makes a difference");
}
