//! Packs blocks of 64 words into values of 2 to 64 bits, the reverse of [`unpack`](super::unpack).
//!
//! A block of words passes through three steps, each of them one loop that the compiler vectorises: missing
//! words are replaced ([`select`]), words that do not fit are found ([`misfit`]), and the words are truncated
//! and stored ([`pack`]).
//!
//! ```
//! use pilaster::unstable::encoding::bitpack::Packing;
//! use pilaster::unstable::encoding::bitpack::pack::{self, BLOCK};
//!
//! let mut block = [0u32; BLOCK];
//! block[..4].copy_from_slice(&[0, 15, 13, 99]);
//! assert_eq!(pack::misfit(Packing::U4, &block), Some(3));
//! pack::select(&mut block, !(1 << 3), 12);
//! let mut bytes = [0u8; 2];
//! pack::pack(Packing::U4, &block, &mut bytes);
//! assert_eq!(bytes, [0xf0, 0xcd]);
//! ```

// Ints of 4 bytes are packed at 0.77 of the speed without the inline attributes of this file (bench `filo`).

use core::ops::{BitAnd, BitOr, Not};

use super::Packing;
use crate::bytes::low32;

/// Number of words per block, and of bits in a word of validity.
pub const BLOCK: usize = 64;

/// A word to be packed: two's complement of 32 or 64 bits.
pub trait Word:
    Copy + Default + PartialEq + bytemuck::Pod + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// Truncates a number of 64 bits to the width of the word.
    fn cut(number: u64) -> Self;
    /// Returns the word, extended by zeros.
    fn wide(self) -> u64;
    /// Returns the sum modulo 2^32 or 2^64.
    fn plus(self, other: Self) -> Self;
}

impl Word for u32 {
    #[inline(always)]
    fn cut(number: u64) -> Self {
        low32(number)
    }
    #[inline(always)]
    fn wide(self) -> u64 {
        self.into()
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Word for u64 {
    #[inline(always)]
    fn cut(number: u64) -> Self {
        number
    }
    #[inline(always)]
    fn wide(self) -> u64 {
        self
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

/// Replaces word `i` by `fill` if bit `i` of `keep` is 0.
#[inline]
pub fn select<W: Copy>(block: &mut [W; BLOCK], keep: u64, fill: W) {
    if keep == u64::MAX {
        return;
    }
    let halves = [low32(keep), low32(keep >> 32)];
    for (words, keep) in block.as_chunks_mut::<32>().0.iter_mut().zip(halves) {
        for (word, bit) in words.iter_mut().zip(&BITS) {
            *word = if keep & bit == 0 { fill } else { *word };
        }
    }
}

/// One bit each. The compiler vectorises a test with this table, but not with shifts.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "computed when compiled")]
const BITS: [u32; 32] = {
    let mut bits = [1u32; 32];
    let mut i = 1;
    while i < bits.len() {
        bits[i] = bits[i - 1] << 1;
        i += 1;
    }
    bits
};

/// Returns the index of the first word that is not a value of `packing`: it differs after truncation to the
/// packed width and extension.
#[inline]
pub fn misfit<W: Word>(packing: Packing, block: &[W; BLOCK]) -> Option<usize> {
    let (bias, beyond) = range::<W>(packing);
    if beyond == W::default() {
        return None;
    }
    let any = block.iter().fold(W::default(), |any, word| any | word.plus(bias));
    if any & beyond == W::default() {
        return None;
    }
    block.iter().position(|word| word.plus(bias) & beyond != W::default())
}

/// Returns whether a single word is a value of `packing`.
#[inline]
pub fn fits<W: Word>(packing: Packing, word: W) -> bool {
    let (bias, beyond) = range::<W>(packing);
    word.plus(bias) & beyond == W::default()
}

/// Returns a bias and a mask. A word is a value of `packing` if its sum with the bias has no bit of the mask.
#[inline]
fn range<W: Word>(packing: Packing) -> (W, W) {
    let bits = packing.bits();
    // Shifts of 32 bits, because 64-bit shifts are calls on targets with 32-bit registers. Widths below 64
    // are at most 32.
    let bias = if packing.signed() { 1u32 << (bits.wrapping_sub(1) & 31) } else { 0 };
    let beyond = if bits == 64 { 0 } else { !u64::from(u32::MAX >> (32u32.wrapping_sub(bits) & 31)) };
    // For 32-bit words and values the mask is truncated to 0: every word fits, signed or not.
    (W::cut(bias.into()), W::cut(beyond))
}

/// Stores the words, truncated to the packed width, at the start of `to`. Words past its end are left out.
#[inline]
pub fn pack<W: Word>(packing: Packing, block: &[W; BLOCK], to: &mut [u8]) {
    match packing {
        Packing::U2 => below_byte(block, to, |word| {
            let word = word & 0x0303_0303_0303_0303;
            let word = (word | word >> 6) & 0x000f_000f_000f_000f;
            let [a, _, _, _, b, ..] = (word | word >> 12).to_le_bytes();
            [a, b]
        }),
        Packing::U4 => below_byte(block, to, |word| {
            let word = word & 0x0f0f_0f0f_0f0f_0f0f;
            let word = (word | word >> 4) & 0x00ff_00ff_00ff_00ff;
            let [a, b, _, _, c, d, ..] = (word | word >> 8).to_le_bytes();
            [a, b, c, d]
        }),
        Packing::I8 | Packing::U8 => cells(block, to, |[a, ..]| [a]),
        Packing::I16 | Packing::U16 => cells(block, to, |[a, b, ..]| [a, b]),
        Packing::I32 | Packing::U32 => cells(block, to, |[a, b, c, d, ..]| [a, b, c, d]),
        Packing::W64 => cells(block, to, |bytes| bytes),
    }
}

/// Stores values of `N` whole bytes.
#[inline(always)]
fn cells<W: Word, const N: usize>(block: &[W; BLOCK], to: &mut [u8], cut: impl Fn([u8; 8]) -> [u8; N]) {
    for (to, word) in to.as_chunks_mut::<N>().0.iter_mut().zip(block) {
        *to = cut(word.wide().to_le_bytes());
    }
}

/// Stores values of less than a byte: truncates words to bytes, then joins eight bytes at a time to `N`
/// bytes.
#[inline(always)]
fn below_byte<W: Word, const N: usize>(block: &[W; BLOCK], to: &mut [u8], join: impl Fn(u64) -> [u8; N]) {
    let mut open = [0u8; BLOCK];
    cells(block, &mut open, |[a, ..]| [a]);
    let mut packed = [[0u8; N]; BLOCK / 8];
    for (to, eight) in packed.iter_mut().zip(open.as_chunks::<8>().0) {
        *to = join(u64::from_le_bytes(*eight));
    }
    for (to, byte) in to.iter_mut().zip(packed.as_flattened()) {
        *to = *byte;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::bitpack::get;
    use std::vec;

    fn noise(i: usize) -> u64 {
        (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    }

    /// The value that a reader decodes from the low bits of `word`.
    fn extended(packing: Packing, word: u64) -> u64 {
        let free = 64 - packing.bits();
        if packing.signed() { (((word << free) as i64) >> free) as u64 } else { word << free >> free }
    }

    #[test]
    fn what_is_packed_is_unpacked_at_every_length() {
        let wide: [u64; BLOCK] = core::array::from_fn(noise);
        let narrow = wide.map(low32);
        for packing in Packing::ALL {
            for len in 0..=BLOCK {
                let (mut a, mut b) = (vec![0xaa; packing.bytes(len)], vec![0x55; packing.bytes(len)]);
                pack(packing, &wide, &mut a);
                for (i, word) in wide.iter().take(len).enumerate() {
                    assert_eq!(get(packing, &a, i), Some(extended(packing, *word)), "{packing:?} {len} {i}");
                }
                if packing != Packing::W64 {
                    pack(packing, &narrow, &mut b);
                    assert_eq!(a, b, "{packing:?} {len}");
                }
            }
        }
    }

    #[test]
    fn misfits_are_those_that_change() {
        for packing in Packing::ALL {
            for shift in 0..64 {
                for edge in [0u64, 1, 2, 3] {
                    let word = (1u64 << shift).wrapping_add(edge).wrapping_sub(2);
                    for word in [word, word.wrapping_neg()] {
                        let same = extended(packing, word) == word;
                        assert_eq!(fits(packing, word), same, "{packing:?} {word:x}");
                        let mut block = [0u64; BLOCK];
                        block[37] = word;
                        assert_eq!(misfit(packing, &block), (!same).then_some(37), "{packing:?} {word:x}");

                        // Every 32-bit word fits a width of 32.
                        let same = low32(extended(packing, word)) == low32(word);
                        assert_eq!(fits(packing, low32(word)), same, "{packing:?} {word:x}");
                    }
                }
            }
        }
    }

    #[test]
    fn select_replaces_bit_by_bit() {
        let block: [u64; BLOCK] = core::array::from_fn(noise);
        for keep in [0, u64::MAX, 1, 1 << 63, 0x0123_4567_89ab_cdef] {
            let (mut wide, mut narrow) = (block, block.map(low32));
            select(&mut wide, keep, u64::MAX - 6);
            select(&mut narrow, keep, u32::MAX - 6);
            for i in 0..BLOCK {
                let expected = if keep >> i & 1 == 1 { block[i] } else { u64::MAX - 6 };
                assert_eq!((wide[i], narrow[i]), (expected, low32(expected)), "{keep:x} {i}");
            }
        }
    }
}
