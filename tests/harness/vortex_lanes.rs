//! FastLanes: the first byte picks the word, the second the width or the first row; the rest is packed. What is
//! unpacked is what the text says, value by value, together and in pieces.

use pilaster::unstable::encoding::cells::Cells;
use pilaster::unstable::encoding::fastlanes::{self, BLOCK, Lane};

pub fn run(data: &[u8]) {
    super::with_each_lanes(|| check(data));
}

fn check(data: &[u8]) {
    let Some((&[kind, a, b], rest)) = data.split_first_chunk() else { return };
    match kind % 8 {
        0 => lanes::<u8>(a, b, rest, |out| Cells::W1(out)),
        1 => lanes::<u16>(a, b, rest, |out| Cells::W2(out)),
        2 => lanes::<u32>(a, b, rest, |out| Cells::W4(out)),
        3 => lanes::<u64>(a, b, rest, |out| Cells::W8(out)),
        4 => deltas::<u8>(rest, |out| Cells::W1(out)),
        5 => deltas::<u16>(rest, |out| Cells::W2(out)),
        6 => deltas::<u32>(rest, |out| Cells::W4(out)),
        _ => deltas::<u64>(rest, |out| Cells::W8(out)),
    }
}

/// The order of the rows of a block, in eights (section 9 of the format text).
const ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// Row and lane of value `i` of a block.
fn place(bits: usize, i: usize) -> (usize, usize) {
    let lanes = BLOCK / bits;
    let eight = ORDER[i % 128 / lanes * (lanes / 16)];
    (8 * eight + i / 128, i % lanes)
}

/// Value `i`, bit by bit.
fn naive(packed: &[u8], bits: usize, width: usize, i: usize) -> u64 {
    let (block, (row, lane)) = (i / BLOCK, place(bits, i % BLOCK));
    (0..width).fold(0, |value, bit| {
        let (word, shift) = ((row * width + bit) / bits, (row * width + bit) % bits);
        let at = block * 128 * width + (word * (BLOCK / bits) + lane) * bits / 8 + shift / 8;
        value | u64::from(packed[at] >> (shift % 8) & 1) << bit
    })
}

trait Word: Lane + Copy + Default + PartialEq + core::fmt::Debug {
    fn low(word: u64) -> Self;
}

macro_rules! words {
    ($($word:ty)*) => {$(
        impl Word for $word {
            fn low(word: u64) -> Self {
                word as $word
            }
        }
    )*};
}

words! { u8 u16 u32 u64 }

fn lanes<T: Word>(width: u8, first: u8, packed: &[u8], cells: impl Fn(&mut [T]) -> Cells<'_>) {
    let (bits, wide) = (8 * size_of::<T>(), usize::from(width));
    let (width, first) = (u32::from(width), u64::from(first) * 5);
    let mut whole = [T::default(); 2100];
    let done = fastlanes::unpack(packed, width, first, cells(&mut whole));
    if done.is_ok() {
        assert!(wide <= bits);
        for (i, value) in whole.iter().enumerate().step_by(1 + packed.len() % 13) {
            assert_eq!(value.wide(), naive(packed, bits, wide, first as usize + i), "value {i} of {width} bits");
        }
        packs(&whole, width);
    }
    let mut len = 1;
    let mut at = 0;
    while at + len <= whole.len() {
        let mut part = [T::default(); 2100];
        let got = fastlanes::unpack(packed, width, first + at as u64, cells(&mut part[..len]));
        assert!(done.is_err() || got.is_ok());
        if done.is_ok() {
            assert_eq!(part[..len], whole[at..at + len]);
        } else if got.is_ok() {
            assert_eq!(part[0].wide(), naive(packed, bits, wide, first as usize + at));
        }
        at += len;
        len = len * 3 + 1;
    }
}

/// Values that are packed, as they are and as differences, are unpacked as their lowest bits.
fn packs<T: Word>(values: &[T], width: u32) {
    let mut packed = [0xa5; 3 * BLOCK * 8];
    for reference in [T::default(), values[0]] {
        let len = fastlanes::pack(values, reference, width, &mut packed).expect("room");
        for (i, value) in values.iter().enumerate().step_by(7) {
            let mask = 1u64.checked_shl(width).unwrap_or(0).wrapping_sub(1);
            let expected = value.minus(reference).wide() & mask;
            assert_eq!(naive(&packed[..len], 8 * size_of::<T>(), width as usize, i), expected, "packed {i}");
        }
    }
}

/// Bases and deltas of one block, as many as there are bytes; the others are zero.
fn deltas<T: Word>(bytes: &[u8], cells: impl Fn(&mut [T]) -> Cells<'_>) {
    let bits = 8 * size_of::<T>();
    let lanes = BLOCK / bits;
    let (mut bases, mut deltas, mut out) = ([T::default(); 128], [T::default(); BLOCK], [T::default(); BLOCK]);
    let words = bases[..lanes].iter_mut().chain(&mut deltas);
    for (word, bytes) in words.zip(bytes.chunks_exact(size_of::<T>())) {
        *word = bytemuck::pod_read_unaligned(bytes);
    }
    let mut sums = [T::default(); BLOCK];
    for (lane, base) in bases[..lanes].iter().enumerate() {
        let mut before = *base;
        for row in 0..bits {
            let i = ORDER[row / 8] * 16 + row % 8 * 128 + lane;
            before = T::low(before.wide().wrapping_add(deltas[i].wide()));
            sums[i] = before;
        }
    }
    let mut bases = cells(&mut bases[..lanes]);
    fastlanes::undelta(&mut bases, &mut cells(&mut deltas), &mut cells(&mut out)).expect("a whole block");
    for (i, sum) in sums.iter().enumerate() {
        assert_eq!(out[i % 16 * 64 + ORDER[i / 16 % 8] * 8 + i / 128], *sum, "sum {i}");
    }
}
