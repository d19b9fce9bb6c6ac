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

#[test]
fn frames_do_not_depend_on_the_processor() {
    for bytes in check::samples() {
        for level in [1, 3, 5, 8, MAX_LEVEL] {
            let frames = std::cell::RefCell::new(Vec::new());
            crate::simd::with_each_lanes(|| frames.borrow_mut().push(encoded(&bytes, level)));
            let [plain, fast] = &frames.into_inner()[..] else { panic!("a frame of each") };
            assert!(plain == fast, "level {level}, {} bytes", bytes.len());
        }
    }
}

/// Bytes of `n` different values, the lower ones far more often.
fn alphabet(n: usize, len: usize) -> Vec<u8> {
    let pairs = check::noise(len * 2);
    pairs.as_chunks::<2>().0.iter().map(|[a, b]| ((usize::from(*a) * usize::from(*b) * n) >> 16) as u8).collect()
}

#[test]
fn short_and_odd_lengths() {
    for n in 0..70 {
        for bytes in [check::noise(n), check::text(n), vec![7; n], alphabet(3, n)] {
            for level in 0..=MAX_LEVEL {
                let len = round_trip(&bytes, level);
                assert!(len <= n + 14, "{n} bytes at level {level} take {len}");
            }
        }
    }
}

#[test]
fn alphabets_of_every_size() {
    for n in 1..=256 {
        let bytes = alphabet(n, 3000 + n);
        let len = round_trip(&bytes, 1);
        assert!(n > 200 || len < bytes.len(), "{n} symbols: {len}");
    }
    // Counts whose best code is longer than 11 bits, in one stream and in four; and symbols above 128, whose weights
    // have no direct form.
    for (shift, len) in [(0, 250), (0, 90_000), (150, 250), (150, 90_000)] {
        let noise = check::noise(len * 4);
        let steep =
            noise.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word).trailing_zeros() as u8 + shift);
        let steep: Vec<u8> = steep.collect();
        assert!(round_trip(&steep, 5) * 3 < steep.len() + 400);
    }
}

#[test]
fn ends_of_blocks() {
    const BLOCK: usize = split::LONGEST;
    for len in [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5] {
        for bytes in [check::noise(len), check::text(len), vec![7; len], alphabet(9, len)] {
            for level in [1, 3, 5, 6, 9] {
                assert!(round_trip(&bytes, level) <= max_len(len));
            }
        }
    }
    // Bytes of another kind begin a block.
    let mixed = [check::noise(40_000), check::text(60_000), vec![0; 50_000], check::noise(20_000).repeat(3)].concat();
    for level in 0..=MAX_LEVEL {
        assert!(round_trip(&mixed, level) < 40_000 + 20_000 + 20_000);
    }
}

#[test]
fn matches_of_all_lengths_and_far_back() {
    let far = [check::noise(300_000), vec![1; 200_000], check::noise(300_000)].concat();
    for level in [5, 7, 9, 10] {
        let len = round_trip(&far, level);
        assert!(len < 301_000, "level {level}: {len}");
    }
    let mut bytes = check::noise(700);
    for len in (3..300).chain([1000, 65_538, 65_539, 70_000]) {
        bytes.extend_from_within(len % 97..len % 97 + len.min(600));
        bytes.resize(bytes.len() + len - len.min(600), 3);
        bytes.push(len as u8);
    }
    for level in 0..=MAX_LEVEL {
        round_trip(&bytes, level);
    }
}

#[test]
fn higher_levels_are_smaller() {
    let text = check::text(300_000);
    let sizes = [1, 5, 9].map(|level| round_trip(&text, level));
    assert!(sizes[0] > sizes[1] && sizes[1] > sizes[2], "{sizes:?}");
}

#[test]
fn every_room() {
    for bytes in [check::noise(300), check::text(900), vec![5; 600], alphabet(20, 2000)] {
        for level in [1, 3, 5, 9] {
            let mut memory = vec![0; encode_scratch_len(level, bytes.len())];
            check::every_room(&encoded(&bytes, level), max_len(bytes.len()), |dst| {
                encode(&bytes, dst, level, &mut Scratch::new(&mut memory))
            });
        }
    }
}

#[test]
fn memory_is_as_large_as_said_and_its_contents_do_not_matter() {
    for n in [0, 1, 255, 256, 257, 5000, 140_000] {
        let bytes = check::text(n);
        for level in 0..=MAX_LEVEL {
            let mut memory = vec![0xff; encode_scratch_len(level, n) + 1];
            let frame = encoded(&bytes, level);
            // Also where it is aligned worst.
            let mut dst = vec![0; max_len(n)];
            let len = encode(&bytes, &mut dst, level, &mut Scratch::new(&mut memory[1..])).unwrap();
            assert!(dst[..len] == frame, "level {level}, {n} bytes");
            let half = memory.len() / 2;
            let e = encode(&bytes, &mut dst, level, &mut Scratch::new(&mut memory[..half])).unwrap_err();
            assert_eq!((e.kind(), e.what()), (Kind::NoRoom, What::SCRATCH));
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes(
        pieces in proptest::collection::vec((proptest::collection::vec(0..4u8, 0..40), 1..50usize), 0..30),
        level in 0..=MAX_LEVEL,
    ) {
        let bytes: Vec<u8> = pieces.iter().flat_map(|(piece, times)| piece.repeat(*times)).collect();
        round_trip(&bytes, level);
    }
}
