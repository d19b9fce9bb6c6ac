//! Compares with naive implementations, written from the format description alone.

use super::*;
use std::vec::Vec;

/// Reads the value of a row and a lane, word by word (format description, section 9).
fn naive(packed: &[u8], bits: usize, width: usize, i: usize) -> u64 {
    if width == 0 {
        return 0;
    }
    let lanes = 1024 / bits;
    let (r, l) = (0..bits)
        .flat_map(|r| (0..lanes).map(move |l| (r, l)))
        .find(|(r, l)| ORDER[r / 8] * 16 + (r % 8) * 128 + l == i)
        .unwrap();
    let word = |k: usize| {
        let at = (k * lanes + l) * bits / 8;
        packed[at..at + bits / 8].iter().rev().fold(0u128, |word, byte| word << 8 | u128::from(*byte))
    };
    let (k, sh) = (r * width / bits, r * width % bits);
    let low = word(k) >> sh;
    let high = if sh + width > bits { word(k + 1) << (bits - sh) } else { 0 };
    ((low | high) & ((1u128 << width) - 1)) as u64
}

pub(super) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x1234_5678_9abc_def1_u64;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

fn check(bits: usize, width: usize, mut cells: impl FnMut(&[u8], u64, usize) -> Vec<u64>) {
    // More blocks than are unpacked at once.
    let packed = noise(128 * width * 11);
    let places: Vec<usize> = (0..1024).step_by(if bits == 64 { 7 } else { 3 }).chain([1023]).collect();
    let whole = cells(&packed, 0, 11 * 1024);
    for block in [0, 1, 10] {
        for i in &places {
            let expected = naive(&packed[128 * width * block..], bits, width, *i);
            assert_eq!(whole[block * 1024 + i], expected, "u{bits} at {width} bits, value {i} of block {block}");
        }
    }
    for (first, len) in [(0, 1), (5, 1019), (1000, 1100), (1024, 1024), (2047, 2), (3071, 1), (100, 2972)] {
        assert_eq!(cells(&packed, first as u64, len), whole[first..first + len], "u{bits} {width} {first} {len}");
    }
}

#[test]
fn every_width_of_every_word() {
    macro_rules! all {
        ($($word:ty, $cells:ident;)*) => {$(
            for width in 0..=<$word>::BITS {
                check(<$word>::BITS as usize, width as usize, |packed, first, len| {
                    let mut out = std::vec![1 as $word; len];
                    let mut small = std::vec![1 as $word; len];
                    let (rows, place) = (packed.as_chunks::<128>().0, if width == 0 { 0 } else { first as usize });
                    small::run(rows, width, place, Cells::$cells(&mut small)).unwrap();
                    unpack(packed, width, first, Cells::$cells(&mut out)).unwrap();
                    assert_eq!(out, small);
                    out.into_iter().map(u64::from).collect()
                });
            }
        )*};
    }
    all! { u8, W1; u16, W2; u32, W4; u64, W8; }
}

#[test]
fn places_of_the_text() {
    for (i, expected) in [(0, (0, 0)), (31, (0, 31)), (32, (16, 0)), (64, (8, 0)), (96, (24, 0)), (128, (1, 0))] {
        assert_eq!(place(i, 32), expected);
    }
    assert_eq!((place(16, 64), place(32, 64), place(1023, 64)), ((32, 0), (16, 0), (63, 15)));
    assert_eq!((place(64, 16), place(1023, 16), place(300, 8)), ((8, 0), (15, 63), (2, 44)));
}

#[test]
fn what_does_not_fit_is_refused() {
    let e = unpack(&[0; 255], 2, 0, Cells::W1(&mut [0; 1])).unwrap_err();
    assert_eq!((e.kind(), e.need()), (Kind::Truncated, 256));
    assert_eq!(unpack(&[0; 9999], 9, 0, Cells::W1(&mut [0; 1])).unwrap_err().kind(), Kind::Invalid);
    assert!(unpack(&[0; 9999], 9, u64::MAX, Cells::W8(&mut [0; 1])).is_err());
    assert!(unpack(&[0; 9999], 9, 0, Cells::W16(&mut [0; 1])).is_err());
    // At width 0 every `first` is valid and costs no time.
    assert_eq!(unpack(&[], 0, u64::MAX - 9, Cells::W4(&mut [7; 3])), Ok(()));
}
