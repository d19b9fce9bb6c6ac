//! Frame of reference and its sloped variant: values stored as differences from a line.
//!
//! Value `i` is `base + slope * i + difference i`, in wrapping arithmetic of the word's width. With
//! slope 0 it is the plain frame of reference.

use super::Word;
use super::min_max::{LANES, MinMax, SHIFT, Shifted};
use crate::bytes::FAST;

/// A line through the values of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Value 0.
    pub base: i64,
    /// Difference from one value to the next.
    pub slope: i32,
}

#[cfg_attr(not(feature = "filo"), allow(dead_code, reason = "Filo uses it, and what writes Jay with a heap"))]
impl Line {
    /// The line that changes nothing.
    pub const ZERO: Line = Line { base: 0, slope: 0 };

    /// Returns the line's value at `i`, modulo 2^64.
    #[inline]
    #[must_use]
    pub(crate) const fn at(self, i: usize) -> u64 {
        (self.slope as i64).wrapping_mul(i as i64).wrapping_add(self.base).cast_unsigned()
    }

    /// Returns the line from the first of `values` to the last, with its slope rounded toward zero; a flat
    /// line for one value. `None` if the slope does not fit 32 bits.
    #[must_use]
    pub(crate) fn through(values: &[i64]) -> Option<Line> {
        let (Some(base), Some(last)) = (values.first(), values.last()) else { return Some(Line::ZERO) };
        let steps = i64::try_from(values.len().saturating_sub(1).max(1)).ok()?;
        let slope = last.checked_sub(*base)?.checked_div(steps)?;
        Some(Line { base: *base, slope: i32::try_from(slope).ok()? })
    }

    /// Returns the line moved down, by a `distance` of 0 or less.
    #[must_use]
    pub(crate) const fn lowered(self, distance: i32) -> Line {
        Line { base: self.base.wrapping_add(distance as i64), ..self }
    }

    /// Returns the minimum and maximum distance of `values` from the line, the first of which is value 0.
    /// `None` if a distance does not fit 32 bits, or if `values` is empty.
    #[must_use]
    pub(crate) fn distances(self, values: &[i64]) -> Option<MinMax<i32>> {
        let MinMax { min, max } = self.spread(values)?;
        Some(MinMax { min: i32::try_from(min).ok()?, max: i32::try_from(max).ok()? })
    }

    /// Like [`distances`](Self::distances), for distances of less than 2^51.
    #[must_use]
    pub(crate) fn spread(self, values: &[i64]) -> Option<MinMax<i64>> {
        // A small block saves stack on small targets.
        const BLOCK: usize = if FAST { 64 } else { LANES };
        let along = Line { base: 0, slope: self.slope };
        let steps: [u64; BLOCK] = core::array::from_fn(|i| along.at(i));
        // A value plus `shift`, less its step, is the bit pattern of its distance added to `SHIFT`.
        let mut shift = SHIFT.to_bits().wrapping_sub(self.base.cast_unsigned());
        let first = values.first()?.cast_unsigned();
        let mut shifted = Shifted::of(f64::from_bits(first.wrapping_add(shift)));
        let mut words = [0; BLOCK];
        let mut take = |block: &[i64; BLOCK]| {
            for ((word, value), step) in words.iter_mut().zip(block).zip(&steps) {
                *word = value.cast_unsigned().wrapping_add(shift).wrapping_sub(*step);
            }
            // The local copy stays in registers.
            let mut lanes = shifted;
            for words in words.as_chunks::<LANES>().0 {
                lanes.add(words.map(f64::from_bits));
            }
            shifted = lanes;
            shift = shift.wrapping_sub(along.at(BLOCK));
        };
        let (blocks, rest) = values.as_chunks::<BLOCK>();
        blocks.iter().for_each(&mut take);
        if let Some(last) = rest.first() {
            // The padding has the distance of the first remaining value.
            let mut padded = steps.map(|step| last.wrapping_add_unsigned(step));
            for (padded, value) in padded.iter_mut().zip(rest) {
                *padded = *value;
            }
            take(&padded);
        }
        shifted.range()
    }

    /// Adds the line to differences, the first of which belongs to value `first`.
    pub(crate) fn add<W: Word>(self, first: usize, words: &mut [W]) {
        if self == Line::ZERO {
            return;
        }
        let mut value = W::truncated(self.at(first));
        let step = W::truncated(i64::from(self.slope).cast_unsigned());
        for word in words {
            *word = word.wrapping_add(value);
            value = value.wrapping_add(step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_computed_in_64_bits() {
        let line = Line { base: 0, slope: 1_000_000_000 };
        assert_eq!(line.at(3), 3_000_000_000);
        let mut words = [0u64; 2];
        line.add(3, &mut words);
        assert_eq!(words, [3_000_000_000, 4_000_000_000]);
        let mut words = [0u64, 9, 13];
        Line { base: 77, slope: 100 }.add(0, &mut words);
        assert_eq!(words, [77, 186, 290]);
    }

    #[test]
    fn distances_agree_with_the_definition() {
        let noise = |i: usize| (i as i64).wrapping_mul(0x9e37_79b9) % 1000 - 300;
        for n in 1..200 {
            let line = Line { base: -5, slope: 12_345_678 };
            let mut values: std::vec::Vec<i64> = (0..n).map(|i| -5 + 12_345_678 * i as i64 + noise(i)).collect();
            let min = (0..n).map(noise).min().unwrap() as i32;
            let max = (0..n).map(noise).max().unwrap() as i32;
            assert_eq!(line.distances(&values), Some(MinMax { min, max }), "{n} values");
            values[n - 1] += 1 << 32;
            assert_eq!(line.distances(&values), None, "{n} values");
        }
        assert_eq!(Line::through(&[]), Some(Line::ZERO));
        assert_eq!(Line::through(&[-7]), Some(Line { base: -7, slope: 0 }));
        assert_eq!(Line::through(&[77, 170, 290]), Some(Line { base: 77, slope: 106 }));
        assert_eq!(Line::through(&[i64::MIN, i64::MAX]), None);
        assert_eq!(Line::ZERO.distances(&[]), None);
        assert_eq!(Line::ZERO.distances(&[i64::MIN]), None);
        let line = Line { base: 77, slope: 100 };
        assert_eq!(line.distances(&[77, 186, 270]), Some(MinMax { min: -7, max: 9 }));
        let line = Line { base: i64::MIN, slope: 0 };
        assert_eq!(line.spread(&[i64::MIN, i64::MIN + (1 << 40)]), Some(MinMax { min: 0, max: 1 << 40 }));
        assert_eq!(line.spread(&[i64::MIN, 0]), None);
        // The line and the values both wrap around.
        let steep = Line { base: i64::MAX, slope: 1 };
        assert_eq!(steep.distances(&[i64::MAX, i64::MIN + 3]), Some(MinMax { min: 0, max: 3 }));
    }

    #[test]
    fn words_wrap_at_their_width() {
        let mut words = [1u32];
        Line { base: -2, slope: 0 }.add(0, &mut words);
        assert_eq!(words, [u32::MAX]);
    }
}
