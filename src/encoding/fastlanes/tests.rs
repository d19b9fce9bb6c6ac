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
    crate::simd::with_each_lanes(unpack_every_width);
}

fn unpack_every_width() {
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

/// Numbers of values: none, one, and numbers near whole blocks.
const LENGTHS: [usize; 8] = [0, 1, 1023, 1024, 1025, 2048, 3333, 25_000];

fn words<T: bytemuck::Pod>(len: usize) -> Vec<T> {
    noise(len * size_of::<T>()).chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

#[test]
fn what_is_packed_is_unpacked_at_every_width() {
    crate::simd::with_each_lanes(pack_every_width);
}

fn pack_every_width() {
    macro_rules! all {
        ($($word:ident, $cells:ident;)*) => {$(
            for (len, width) in LENGTHS.iter().flat_map(|len| (0..=$word::BITS).map(move |width| (*len, width))) {
                let values = words::<$word>(len);
                for reference in [0, values.get(len / 2).copied().unwrap_or(9)] {
                    // Dirty memory, and a byte that stays.
                    let size = packed_len(len.div_ceil(1024) as u64, width) as usize;
                    let (mut packed, mut small) = (std::vec![0xa5; size + 1], std::vec![0x5a; size]);
                    assert_eq!(pack(&values, reference, width, &mut packed), Ok(size));
                    assert_eq!(packed.pop(), Some(0xa5));
                    let differences = values.iter().map(|value| u64::from(value.wrapping_sub(reference)));
                    let value = &mut |i: usize| u64::from(values[i].wrapping_sub(reference));
                    small::pack(len, value, $word::BITS, width, small.as_chunks_mut().0);
                    assert!(packed == small, "u{} at {width} bits, {len} values", $word::BITS);

                    // The padding is zeros.
                    let mut out = std::vec![1 as $word; len.next_multiple_of(1024)];
                    unpack(&packed, width, 0, Cells::$cells(&mut out)).unwrap();
                    let mask = ((1u128 << width) - 1) as u64;
                    let expected = differences.map(|value| (value & mask) as $word).chain(std::iter::repeat(0));
                    assert!(out.iter().copied().eq(expected.take(out.len())), "u{} at {width} bits", $word::BITS);
                    if let Some(last) = size.checked_sub(1) {
                        let e = pack(&values, reference, width, &mut small[..last]).unwrap_err();
                        assert_eq!((e.kind(), e.need()), (Kind::NoRoom, size as u32));
                    }
                }
            }
            let e = pack(&[1 as $word], 0, $word::BITS + 1, &mut [0; 9999]).unwrap_err();
            assert_eq!((e.kind(), e.need()), (Kind::Invalid, $word::BITS + 1));
        )*};
    }
    all! { u8, W1; u16, W2; u32, W4; u64, W8; }
}

#[test]
fn widths_are_counted_and_wider_values_found() {
    macro_rules! all {
        ($($word:ident)*) => {$(
            for len in LENGTHS {
                // Values of every width, zero too.
                let shift = |i: usize| i as u32 * 7 % ($word::BITS + 1);
                let values: Vec<$word> = words::<$word>(len).into_iter().enumerate()
                    .map(|(i, word)| word.checked_shr(shift(i)).unwrap_or(0)).collect();
                for reference in [0, 77] {
                    let need = |value: &$word| $word::BITS - value.wrapping_sub(reference).leading_zeros();
                    let mut counts = [1; 65];
                    count_widths(&values, reference, &mut counts);
                    for (width, count) in (0..).zip(counts) {
                        let expected = values.iter().filter(|value| need(value) == width).count() as u64;
                        assert_eq!(count, expected + 1, "u{} {width}", $word::BITS);
                    }
                    for width in 0..=$word::BITS {
                        let mut found = Vec::new();
                        wider(&values, reference, width, |i| found.push(i));
                        let expected: Vec<usize> = (0..len).filter(|i| need(&values[*i]) > width).collect();
                        assert_eq!(found, expected, "u{} {width}", $word::BITS);
                    }
                }
            }
        )*};
    }
    all! { u8 u16 u32 u64 }
}

#[test]
fn the_best_width_is_the_smallest_of_all() {
    assert_eq!(best_width(&[0; 65], 6), Width { width: 0, patches: 0, bytes: 0 });
    let mut rows = noise(65 * 200).into_iter();
    for round in 0..200u64 {
        let counts: [u64; 65] = core::array::from_fn(|width| {
            let count = u64::from(rows.next().unwrap());
            if width as u64 > round % 66 { 0 } else { count << (round % 7) >> (width / 9) }
        });
        for patch in [2, 6, 10, 12] {
            let values: u64 = counts.iter().sum();
            let cost = |width: usize| {
                let patches: u64 = counts[width + 1..].iter().sum();
                (values.div_ceil(1024) * 128 * width as u64 + patches * patch, patches)
            };
            let best = best_width(&counts, patch);
            assert_eq!((best.bytes, best.patches), cost(best.width as usize));
            assert_eq!((best.bytes, best.patches), (0..65).map(cost).min().unwrap(), "{counts:?} {patch}");
        }
    }
}
