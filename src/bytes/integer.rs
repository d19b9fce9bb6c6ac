//! Numbers: saturating products and lengths, truncation, half-precision floats, numbers from bytes and digits.

use super::FAST;

/// Returns `a * b`, saturating.
///
/// All callers share one function on 32-bit targets: there the compiler emits twenty instructions, or a call of a
/// 128-bit multiplication, for every checked product.
#[must_use]
#[inline]
pub const fn product(a: u64, b: u64) -> u64 {
    if FAST { a.saturating_mul(b) } else { by_halves(a, b) }
}

/// Returns `a * b`, or `None` if the product is `u64::MAX` or more. No valid number in a file is that large.
#[must_use]
#[inline]
pub const fn checked_product(a: u64, b: u64) -> Option<u64> {
    match product(a, b) {
        u64::MAX => None,
        product => Some(product),
    }
}

/// Converts `n` to `usize`, saturating. No buffer has `usize::MAX` bytes, so the bounds check that follows fails.
///
/// All callers share one function on 32-bit targets.
pub(crate) fn saturated(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Truncates to the low 32 bits, for a number that is known to fit or whose high bits do not matter.
#[allow(clippy::cast_possible_truncation, reason = "that is what it is for")]
pub(crate) const fn low32(n: u64) -> u32 {
    n as u32
}

/// Truncates a length or an index to its low 32 bits.
#[allow(clippy::cast_possible_truncation, reason = "that is what it is for")]
pub(crate) const fn len32(n: usize) -> u32 {
    n as u32
}

/// Truncates to the low 16 bits.
#[allow(clippy::cast_possible_truncation, reason = "that is what it is for")]
pub(crate) const fn low16(n: usize) -> u16 {
    n as u16
}

/// Truncates to the low 8 bits.
#[allow(clippy::cast_possible_truncation, reason = "that is what it is for")]
pub(crate) const fn low8(n: usize) -> u8 {
    n as u8
}

/// Returns the little-endian number of up to eight bytes.
pub(crate) fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Parses a decimal number. Returns `None` for the empty text, if a character is not a digit, or above `u64::MAX`.
pub(crate) fn decimal(digits: &str) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.chars().try_fold(0, |n, digit| checked_product(n, 10)?.checked_add(digit.to_digit(10)?.into()))
}

const fn by_halves(a: u64, b: u64) -> u64 {
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    // If `less` and both halves of `more` have at most 32 bits, no product below exceeds 64 bits.
    let high = less.wrapping_mul(more >> 32);
    if less >> 32 != 0 || high >> 32 != 0 {
        return u64::MAX;
    }
    (high << 32).saturating_add(less.wrapping_mul(more & 0xffff_ffff))
}

/// Converts the bits of a half-precision float to an `f32`, which represents every such value exactly.
///
/// ```
/// assert_eq!(pilaster::bytes::half_to_f32(0x3555), 0.333_251_95);
/// ```
#[must_use]
pub fn half_to_f32(bits: u16) -> f32 {
    let (sign, rest) = (u32::from(bits & 0x8000) << 16, u32::from(bits & 0x7fff));
    let magnitude = match rest >> 10 {
        // A subnormal number is a multiple of 2^-24.
        0 => (f32::from(bits & 0x3ff) * f32::from_bits(103 << 23)).to_bits(),
        31 => 0xff << 23 | (rest & 0x3ff) << 13,
        _ => (rest << 13).wrapping_add(112 << 23),
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::{by_halves, half_to_f32};

    #[test]
    fn products_are_those_of_the_compiler() {
        let edges = [0, 1, 2, 3, 10, 255, 0xffff, 1 << 16, 0x7fff_ffff, 1 << 31, 0xffff_fffe, 0xffff_ffff, 1 << 32];
        let more = [(1 << 32) + 1, (1 << 33) - 1, 1 << 48, u64::MAX / 3, u64::MAX / 2, 1 << 63, u64::MAX - 1, u64::MAX];
        for a in edges.iter().chain(&more) {
            for b in edges.iter().chain(&more) {
                assert_eq!(by_halves(*a, *b), a.saturating_mul(*b), "{a} * {b}");
            }
        }
    }

    #[test]
    fn a_product_of_all_ones_counts_as_too_large() {
        assert_eq!(super::checked_product(3, 5), Some(15));
        assert_eq!(super::checked_product(3, u64::MAX / 3), None);
    }

    #[test]
    fn lengths_beyond_memory_are_the_longest() {
        assert_eq!([7, u64::MAX].map(super::saturated), [7, usize::MAX]);
    }

    proptest::proptest! {
        #[test]
        fn products_of_any_size_are_those_of_the_compiler(a: u64, b: u64, left in 0u32..64, right in 0u32..64) {
            let (a, b) = (a >> left, b >> right);
            proptest::prop_assert_eq!(by_halves(a, b), a.saturating_mul(b));
        }
    }

    #[test]
    fn half_floats() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half_to_f32(bits), value, "{bits:04x}");
        }
        assert_eq!(half_to_f32(0x8000).to_bits(), (-0.0f32).to_bits());
        assert!(half_to_f32(0x7e00).is_nan());
    }
}
