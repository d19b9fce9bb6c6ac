//! Compares the decoder with known streams, its two variants with each other, and with the encoder.

use super::*;
use crate::codec::tests as check;
use std::vec;
use std::vec::Vec;

fn decode_both<const FAST: bool>(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    let level = src.get(3).map_or(9, |digit| digit.wrapping_sub(b'0')).min(9);
    // With the tables, even on targets that do not use them.
    let more = code::memory_len(true) - code::memory_len(super::FAST);
    let mut memory = vec![0xa5; workspace_len(level, dst.len()) + CODES * more];
    decode_by::<FAST>(src, dst, &mut Scratch::new(&mut memory))
}

const DECODE: [check::Plain; 2] = [decode_both::<true>, decode_both::<false>];

fn both(stream: &[u8], bytes: &[u8]) {
    check::both(DECODE, stream, bytes);
}

/// Output of the original program, version 1.0.8, for `hello`.
const HELLO: [u8; 41] = [
    0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x19, 0x31, 0x65, 0x3d, 0x00, 0x00, 0x00, 0x81, 0x00,
    0x02, 0x44, 0xa0, 0x00, 0x21, 0x9a, 0x68, 0x33, 0x4d, 0x07, 0x33, 0x8b, 0xb9, 0x22, 0x9c, 0x28, 0x48, 0x0c, 0x98,
    0xb2, 0x9e, 0x80,
];

#[test]
fn known_streams() {
    both(&HELLO, b"hello");
    both(b"BZh1\x17\x72\x45\x38\x50\x90\0\0\0\0", b"");
}

#[test]
fn errors_say_what_and_where() {
    let fails = |stream: &[u8], room: usize| check::refused(DECODE, stream, room);
    let with = |at: usize, byte: u8| {
        let mut stream = HELLO;
        stream[at] = byte;
        stream
    };
    assert_eq!(fails(b"", 9), (Kind::Truncated, What::BZIP2_HEADER, 0, 1));
    assert_eq!(fails(b"BZh0", 9), (Kind::Invalid, What::BZIP2_HEADER, 0, 0x425a_6830));
    assert_eq!(fails(b"BZh9", 9), (Kind::Truncated, What::BZIP2_BLOCK, 4, 1));
    assert_eq!(fails(&with(4, 0x30), 9), (Kind::Invalid, What::BZIP2_BLOCK, 4, 0x3041_5926));
    assert_eq!(fails(&with(10, 0), 9), (Kind::Checksum, What::BZIP2_CHECKSUM, 4, 0x0031_653d));
    assert_eq!(fails(&with(40, 0), 9).0, Kind::Checksum, "of the whole");
    assert_eq!(fails(&with(14, 0x80), 9), (Kind::Unsupported, What::BZIP2_BLOCK, 4, 1));
    assert_eq!(fails(&with(16, 0xff), 9).1, What::BZIP2_ORIGIN);
    assert_eq!(fails(&HELLO[..40], 9), (Kind::Truncated, What::BZIP2_CHECKSUM, 40, 1));
    assert_eq!(fails(&[&HELLO[..], &[0, 0]].concat(), 9), (Kind::Trailing, What::BZIP2_BLOCK, 41, 2));
    assert_eq!(fails(&HELLO, 4), (Kind::NoRoom, What::DESTINATION, 0, 5));
    assert_eq!(fails(&HELLO, 3), (Kind::NoRoom, What::DESTINATION, 0, 4));
}

#[test]
fn too_little_scratch_says_how_much() {
    let need = workspace_len(9, 5);
    let mut memory = vec![0; need];
    for room in 0..need {
        match decode(&HELLO, &mut [0; 5], &mut Scratch::new(&mut memory[..room])) {
            Ok(len) => assert_eq!(len, 5),
            Err(e) => assert_eq!((e.kind(), e.what()), (Kind::NoRoom, What::SCRATCH)),
        }
    }
    assert_eq!(decode(&HELLO, &mut [0; 5], &mut Scratch::new(&mut memory)), Ok(5));
    assert!(workspace_len(9, usize::MAX) < 3_650_000 && workspace_len(1, usize::MAX) < 450_000);
}

#[test]
fn damage() {
    check::damage(decode_both::<true>, decode_both::<false>, &HELLO);
}

#[cfg(feature = "alloc")]
mod with_the_encoder {
    use super::*;

    fn encoded(src: &[u8], level: u8) -> Vec<u8> {
        check::encoded(max_len(src.len()), |dst| encode(src, dst, level))
    }

    #[test]
    fn round_trips() {
        for bytes in check::samples().into_iter().filter(|bytes| bytes.len() < 10_000) {
            both(&encoded(&bytes, 9), &bytes);
        }
        both(&encoded(b"hello", 9), b"hello");
    }

    #[test]
    fn many_blocks() {
        for bytes in [check::text(210_000), check::noise(100_500)] {
            let stream = encoded(&bytes, 1);
            assert!(stream.starts_with(b"BZh1"));
            check::decodes_at_once(decode_both::<true>, &stream, &bytes);
            check::decodes_at_once(decode_both::<false>, &stream, &bytes);
        }
    }

    #[test]
    fn runs_of_every_length() {
        for n in (0..20).chain([253, 254, 255, 256, 257, 258, 259, 260, 261, 509, 510, 511, 700]) {
            let bytes = [&vec![1; n][..], &vec![0; n], b"x", &vec![0; n]].concat();
            both(&encoded(&bytes, 9), &bytes);
        }
        // Blocks that are full after each byte of a run.
        for n in 99_976..99_982 {
            let bytes = [check::text(n), vec![7; 300]].concat();
            check::decodes_at_once(decode_both::<true>, &encoded(&bytes, 1), &bytes);
        }
    }

    #[test]
    fn every_room() {
        let bytes = check::text(300);
        check::every_room(&encoded(&bytes, 9), max_len(300), |dst| encode(&bytes, dst, 9));
    }

    #[test]
    fn damage() {
        for bytes in [check::text(150), check::noise(30), vec![5; 900]] {
            check::damage(decode_both::<true>, decode_both::<false>, &encoded(&bytes, 9));
        }
    }
}
