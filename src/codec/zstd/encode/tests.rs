//! Frames of our own, read by both of our decoders and by an independent one.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::codec::tests as check;
use crate::codec::zstd::{WORKSPACE_LEN, decode_by, max_len};

fn encoded(src: &[u8], level: u8) -> Vec<u8> {
    let mut memory = vec![0xa5; encode_scratch_len(level, src.len())];
    check::encoded(max_len(src.len()), |dst| encode(src, dst, level, &mut Scratch::new(&mut memory)))
}

fn round_trip(src: &[u8], level: u8) -> usize {
    let frame = encoded(src, level);
    for decoder in [decode_by::<true>, decode_by::<false>] {
        let (mut dst, mut memory) = (vec![0x11; src.len()], vec![0; WORKSPACE_LEN]);
        let len = decoder(&frame, &mut dst, &[], &mut Scratch::new(&mut memory));
        assert_eq!(len, Ok(src.len()), "level {level}, {} bytes", src.len());
        assert!(dst == src, "level {level}, {} bytes", src.len());
    }
    let mut rival = Vec::with_capacity(src.len());
    ruzstd::decoding::FrameDecoder::new().decode_all_to_vec(&frame, &mut rival).expect("a frame for others, too");
    assert!(rival == src, "level {level}, {} bytes", src.len());
    frame.len()
}

#[test]
fn every_level_and_every_sample() {
    for bytes in check::samples() {
        for level in 0..=MAX_LEVEL {
            round_trip(&bytes, level);
        }
    }
}
