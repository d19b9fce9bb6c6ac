//! Numbers of 64 bits: products and lengths that may not fit, what bytes and digits spell.

use super::FAST;

/// `a * b`, or `u64::MAX` where that is more.
///
/// One function for all places: where registers have 32 bits, a product that is checked takes the compiler twenty
/// instructions or a call of a multiplication of 128 bits, at each of them.
///
/// ```
/// use pilaster::bytes::product;
///
/// assert_eq!(product(1 << 31, 1 << 32), 1 << 63);
/// assert_eq!(product(1 << 32, 1 << 32), u64::MAX);
/// ```
#[must_use]
#[inline]
pub const fn product(a: u64, b: u64) -> u64 {
    if FAST { a.saturating_mul(b) } else { by_halves(a, b) }
}

/// The same, `None` where it is `u64::MAX` or more: nothing in a file is as large.
///
/// ```
/// use pilaster::bytes::checked_product;
///
/// assert_eq!(checked_product(3, 5), Some(15));
/// assert_eq!(checked_product(3, u64::MAX / 3), None);
/// ```
#[must_use]
#[inline]
pub const fn checked_product(a: u64, b: u64) -> Option<u64> {
    match product(a, b) {
        u64::MAX => None,
        product => Some(product),
    }
}

/// `n` as a length in memory, or `usize::MAX` where it is more: no memory has as much, so whoever takes it fails.
///
/// One function for all places, too, where registers have 32 bits.
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) fn saturated(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The number of up to eight bytes, the lowest first.
#[cfg_attr(target_pointer_width = "64", inline)]
pub(crate) fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The number that decimal digits spell, nothing but digits.
pub(crate) fn decimal(digits: &str) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.chars().try_fold(0, |n, digit| checked_product(n, 10)?.checked_add(digit.to_digit(10)?.into()))
}

#[inline(never)]
const fn by_halves(a: u64, b: u64) -> u64 {
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    // No step below is over 64 bits: `less` has 32 of them, and so has each half of `more`.
    let high = less.wrapping_mul(more >> 32);
    if less >> 32 != 0 || high >> 32 != 0 {
        return u64::MAX;
    }
    (high << 32).saturating_add(less.wrapping_mul(more & 0xffff_ffff))
}

#[cfg(test)]
mod tests {
    use super::by_halves;

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
}
