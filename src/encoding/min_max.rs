//! Minimum and maximum of values, which decide the width of packed numbers.
//!
//! The loops have parallel lanes and no branches, so that the compiler vectorises them. A caller with missing
//! values replaces them by a present one.
//!
//! ```
//! use pilaster::unstable::encoding::min_max::{MinMax, whole};
//!
//! let mut extent = MinMax::of(7);
//! extent.add(&[3, -1, 12]);
//! assert_eq!(extent, MinMax { min: -1, max: 12 });
//! assert_eq!(whole(-3.0), Some(-3));
//! assert_eq!(whole(-0.0), None, "an integer has no negative zero");
//! ```
use crate::bytes::low32;

/// Minimum and maximum of some values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinMax<T> {
    /// The minimum.
    pub min: T,
    /// The maximum.
    pub max: T,
}

impl<T: Copy + Ord> MinMax<T> {
    /// Returns whether minimum and maximum are equal.
    #[must_use]
    pub fn is_point(&self) -> bool {
        self.min == self.max
    }

    /// Returns minimum and maximum of one value.
    #[must_use]
    pub const fn of(value: T) -> Self {
        MinMax { min: value, max: value }
    }

    /// Includes more values.
    pub fn add(&mut self, values: &[T]) {
        let MinMax { mut min, mut max } = *self;
        for value in values {
            min = if *value < min { *value } else { min };
            max = if *value > max { *value } else { max };
        }
        *self = MinMax { min, max };
    }
}

impl From<MinMax<i32>> for MinMax<i64> {
    fn from(range: MinMax<i32>) -> Self {
        MinMax { min: range.min.into(), max: range.max.into() }
    }
}

impl MinMax<i64> {
    /// Returns `max - min`.
    #[must_use]
    pub const fn distance(self) -> u64 {
        self.max.wrapping_sub(self.min).cast_unsigned()
    }
}

/// Returns the integer with this value if it converts back to the same bits. `None` for a negative zero, a
/// NaN, a fraction or a value beyond 32 bits.
#[inline]
#[must_use]
pub fn whole(value: f64) -> Option<i32> {
    let int = low_int(value);
    (f64::from(int).to_bits() == value.to_bits()).then_some(int)
}

/// Includes whole numbers as integers. Returns false, with `extent` arbitrary, if a value is not a whole
/// number of 32 bits.
pub fn add_whole(extent: &mut MinMax<i32>, values: &[f64]) -> bool {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let Some(sample) = values.first() else { return true };
    let mut padded = [*sample; LANES];
    for (padded, value) in padded.iter_mut().zip(rest) {
        *padded = *value;
    }
    let (mut shifted, mut wrong) = (Shifted::of(sample + SHIFT), [0u64; 2]);
    for block in blocks.iter().chain([&padded]) {
        let words = block.map(|value| value + SHIFT);
        let mut differing = block.map(f64::to_bits);
        for (bits, word) in differing.iter_mut().zip(words) {
            *bits ^= (word - SHIFT).to_bits();
        }
        gather(&mut wrong, differing);
        shifted.add(words);
    }
    let Some(MinMax { min, max }) = shifted.range() else { return false };
    let (Ok(min), Ok(max)) = (i32::try_from(min), i32::try_from(max)) else { return false };
    extent.add(&[min, max]);
    wrong == [0; 2]
}

/// 1.5 * 2^52. A whole number of less than 2^51 that is added to it appears in the low bits of the
/// significand, whether it is added as a double or, to its bits, as an integer.
pub(super) const SHIFT: f64 = 6_755_399_441_055_744.0;

/// Number of values processed in parallel.
pub(super) const LANES: usize = 8;

/// The range of numbers of less than 2^51, each added to [`SHIFT`]. All vector instruction sets have a
/// minimum of doubles, but not of 64-bit integers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shifted {
    min: [f64; LANES],
    max: [f64; LANES],
    /// The bits that are set in any of the words.
    bits: [u64; 2],
}

impl Shifted {
    /// Creates the range of one number.
    pub const fn of(word: f64) -> Self {
        Shifted { min: [word; LANES], max: [word; LANES], bits: [word.to_bits(); 2] }
    }

    /// Includes more numbers.
    pub fn add(&mut self, words: [f64; LANES]) {
        for ((min, max), word) in self.min.iter_mut().zip(&mut self.max).zip(words) {
            *min = if word < *min { word } else { *min };
            *max = if word > *max { word } else { *max };
        }
        gather(&mut self.bits, words.map(f64::to_bits));
    }

    /// Returns the range, without `SHIFT`, or `None` if a number was too large.
    pub fn range(&self) -> Option<MinMax<i64>> {
        // A NaN fails every comparison, but shows in the exponent. Other large numbers show in the minimum or
        // maximum.
        if self.bits.iter().fold(0, |all, bits| all | bits) >> 52 != SHIFT.to_bits() >> 52 {
            return None;
        }
        let number = |word: f64| word.to_bits().wrapping_sub(SHIFT.to_bits()).cast_signed();
        let min = self.min.iter().map(|word| number(*word)).min()?;
        let max = self.max.iter().map(|word| number(*word)).max()?;
        (min >= -(1 << 51) && max < 1 << 51).then_some(MinMax { min, max })
    }
}

/// Ors the bits of all words into `all`.
fn gather(all: &mut [u64; 2], words: [u64; LANES]) {
    let [a, b, c, d, e, f, g, h] = words;
    let [even, odd] = all;
    *even |= (a | c) | (e | g);
    *odd |= (b | d) | (f | h);
}

/// Returns the integer of a whole number in range; for any other value, an integer that is not equal to it.
///
/// Added to 1.5 * 2^52, a whole number of 32 bits appears in the low bits of the significand. Unlike a
/// saturating cast, that is one vector instruction on all targets.
pub(crate) fn low_int(value: f64) -> i32 {
    low32((value + SHIFT).to_bits()).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn ranges_agree_with_the_iterators() {
        let noise: Vec<i64> = (0..300i64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15u64 as i64)).collect();
        for n in 1..noise.len() {
            let mut extent = MinMax::of(noise[0]);
            noise[..n].chunks(n / 3 + 1).for_each(|run| extent.add(run));
            let range = extent;
            let expected = (*noise[..n].iter().min().unwrap(), *noise[..n].iter().max().unwrap());
            assert_eq!((range.min, range.max), expected);
        }
        let all = MinMax { min: i64::MIN, max: i64::MAX };
        assert_eq!(all.distance(), u64::MAX);
    }

    #[test]
    fn only_numbers_that_come_back_bit_by_bit_are_whole() {
        for int in [0, 1, -1, 1000, i32::MIN, i32::MAX, i32::MIN + 1] {
            assert_eq!(whole(int.into()), Some(int));
        }
        let odd = [-0.0, 0.5, -2.5, 2_147_483_648.0, -2_147_483_649.0, 1e300, f64::MIN_POSITIVE, 5e-324];
        let nans = [0x7ff8_0000_0000_0000u64, 0x7ff8_0000_0000_0123, 0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0000];
        let more =
            [f64::INFINITY, f64::NEG_INFINITY, 4_294_967_296.0, 4_503_599_627_370_496.0, -6_755_399_441_055_744.0];
        for value in odd.into_iter().chain(more).chain(nans.map(f64::from_bits)) {
            assert_eq!(whole(value), None, "{value}");
            for at in [0, 63, 64, 99] {
                let mut values = [3.0; 100];
                values[at] = value;
                assert!(!add_whole(&mut MinMax::of(0), &values), "{value} at {at}");
            }
        }
        let mut extent = MinMax::of(5);
        assert!(add_whole(&mut extent, &[3.0, -7.0, 2_147_483_647.0]));
        assert_eq!(extent, MinMax { min: -7, max: i32::MAX });
    }
}
