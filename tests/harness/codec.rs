//! What the bodies of the codecs share.

use pilaster::bytes::Scratch;
use pilaster::error::{Kind, What};
use pilaster::unstable::codec::Codec;

/// Room for an output: more than any input here should need to show what is in it.
const ROOM: usize = 4096;

/// Scratch for an output of `ROOM` bytes of every codec.
const MEMORY: usize = 40 << 10;

/// Fills `dst` with `times` copies of `piece`, or with as much as fits.
pub fn repeated<'r>(piece: &[u8], times: usize, dst: &'r mut [u8]) -> &'r [u8] {
    let mut len = 0;
    for piece in core::iter::repeat_n(piece, times) {
        let n = piece.len().min(dst.len() - len);
        dst[len..len + n].copy_from_slice(&piece[..n]);
        len += n;
    }
    &dst[..len]
}

/// Decodes into destinations of several sizes and with two initial contents. The output stays within its destination and
/// depends neither on the contents nor on unused capacity.
pub fn decode(codec: Codec, stream: &[u8]) {
    let mut memory = [[0; MEMORY], [0xff; MEMORY]];
    assert!(codec.workspace_len(ROOM) <= MEMORY);
    let [zeros, ones] = &mut memory;
    let (mut a, mut b) = ([0; ROOM], [0xff; ROOM]);
    let one = codec.decode(stream, &mut a, &mut Scratch::new(zeros));
    let other = codec.decode(stream, &mut b, &mut Scratch::new(ones));
    assert_eq!(one, other, "{codec:?}: dirt makes a difference");
    let len = match one {
        Ok(len) => len,
        Err(e) => {
            let larger = e.what() == What::DESTINATION && e.need() as usize > ROOM;
            assert!(e.kind() != Kind::NoRoom || larger, "{codec:?}: {e}");
            // A shorter destination is an error, too.
            assert!(codec.decode(stream, &mut b[..ROOM / 3], &mut Scratch::new(ones)).is_err());
            return;
        }
    };
    assert!(a[..len] == b[..len], "{codec:?}: dirt shows");
    // A destination of the exact length; then one byte less.
    let mut exact = [0x55; ROOM];
    assert_eq!(codec.decode(stream, &mut exact[..len], &mut Scratch::new(ones)), Ok(len));
    assert!(exact[..len] == a[..len], "{codec:?}: the room makes a difference");
    assert!(super::filled(&exact[len..], 0x55));
    if let Some(less) = len.checked_sub(1) {
        let e = codec.decode(stream, &mut exact[..less], &mut Scratch::new(zeros)).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::NoRoom, What::DESTINATION), "{codec:?}");
        assert!((less + 1..=len).contains(&(e.need() as usize)), "{codec:?}: {e} of {len}");
    }
}
