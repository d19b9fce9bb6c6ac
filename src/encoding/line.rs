//! Frame of reference and its slanted form: values stored as differences to a line.
//!
//! Value `i` is `base + slope * i + difference i`, in wrapping arithmetic of the word's width. With
//! slope 0 it is the plain frame of reference.
//!
//! ```
//! use pilaster::encoding::{Out, line::Line};
//!
//! let mut words = [0u64, 9, 13];
//! Line { base: 77, slope: 100 }.add(0, Out::W8(&mut words));
//! assert_eq!(words, [77, 186, 290]);
//! ```

use super::{Out, low32};

/// A line through the values of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Value 0.
    pub base: i64,
    /// Difference from one value to the next.
    pub slope: i32,
}

impl Line {
    /// The line that changes nothing.
    pub const ZERO: Line = Line { base: 0, slope: 0 };

    /// The line's value at `i`, modulo 2^64.
    #[inline]
    #[must_use]
    pub const fn at(self, i: usize) -> u64 {
        (self.slope as i64).wrapping_mul(i as i64).wrapping_add(self.base).cast_unsigned()
    }

    /// Adds the line to differences, the first of which belongs to value `first`.
    pub fn add(self, first: usize, out: Out<'_>) {
        if self == Line::ZERO {
            return;
        }
        let mut value = self.at(first);
        let step = i64::from(self.slope).cast_unsigned();
        match out {
            Out::W4(words) => {
                let (mut value, step) = (low32(value), low32(step));
                for word in words {
                    *word = word.wrapping_add(value);
                    value = value.wrapping_add(step);
                }
            }
            Out::W8(words) => {
                for word in words {
                    *word = word.wrapping_add(value);
                    value = value.wrapping_add(step);
                }
            }
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
        line.add(3, Out::W8(&mut words));
        assert_eq!(words, [3_000_000_000, 4_000_000_000]);
    }

    #[test]
    fn words_wrap_at_their_width() {
        let mut words = [1u32];
        Line { base: -2, slope: 0 }.add(0, Out::W4(&mut words));
        assert_eq!(words, [u32::MAX]);
    }
}
