//! Decimals of more digits than their type has, which the original does not read into other formats.

use super::rows::Numbers;

/// Returns the place of the first number from `start` on that has more than `precision` digits.
pub(super) fn excess(numbers: &Numbers, start: usize, precision: u8) -> Option<usize> {
    macro_rules! first {
        ($values:expr, $limit:expr, $int:ty) => {{
            let (new, limit) = ($values.get(start..)?, <$int>::try_from($limit).ok()?);
            let exceeds = |value| <$int>::from(value) >= limit;
            // Nearly always none does, and all are compared at once.
            match new.iter().fold(false, |any, value| any | exceeds(value.unsigned_abs())) {
                true => new.iter().position(|value| exceeds(value.unsigned_abs())),
                false => None,
            }
        }};
    }
    let limit = 10u128.checked_pow(precision.into());
    match numbers {
        Numbers::I8(values) => first!(values, limit?, u8),
        Numbers::I16(values) => first!(values, limit?, u16),
        Numbers::I32(values) => first!(values, limit?, u32),
        Numbers::I64(values) => first!(values, limit?, u64),
        Numbers::I128(values) => first!(values, limit?, u128),
        Numbers::I256(values) => {
            let limit = power(precision);
            values.get(start..)?.iter().position(|value| magnitude(*value) >= limit)
        }
        _ => None,
    }
}

/// Returns 10 to this power in 256 bits, the highest word first.
fn power(exponent: u8) -> [u64; 4] {
    let mut words = [0, 0, 0, 1u64];
    for _ in 0..exponent {
        let mut carry = 0u64;
        for word in words.iter_mut().rev() {
            let wide = u128::from(*word).saturating_mul(10).saturating_add(carry.into());
            (*word, carry) = halves(wide);
        }
    }
    words
}

/// Returns the low and the high half.
fn halves(wide: u128) -> (u64, u64) {
    let [a, b, c, d, e, f, g, h, high @ ..] = wide.to_le_bytes();
    (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u64::from_le_bytes(high))
}

/// Returns the absolute value of a number, the highest word first.
fn magnitude([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    let words = [d, c, b, a];
    if d.cast_signed() >= 0 {
        return words;
    }
    let (mut negated, mut carry) = (words.map(|word| !word), true);
    for word in negated.iter_mut().rev() {
        (*word, carry) = word.overflowing_add(carry.into());
    }
    negated
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn digits_are_counted_in_every_width() {
        assert_eq!(excess(&Numbers::I8(vec![99, -99, 100, 0]), 0, 2), Some(2));
        assert_eq!(excess(&Numbers::I8(vec![99, -99, 100, -100]), 3, 2), Some(0));
        assert_eq!(excess(&Numbers::I8(vec![i8::MIN]), 0, 2), Some(0));
        assert_eq!(excess(&Numbers::I16(vec![9999, -1000]), 0, 3), Some(0));
        assert_eq!(excess(&Numbers::I32(vec![99_999, -100_000]), 0, 5), Some(1));
        assert_eq!(excess(&Numbers::I64(vec![999_999_999_999_999_999, i64::MIN]), 0, 18), Some(1));
        let most = 10i128.pow(38);
        assert_eq!(excess(&Numbers::I128(vec![most - 1, 1 - most, -most]), 0, 38), Some(2));
        assert_eq!(excess(&Numbers::I128(vec![]), 0, 38), None);
    }

    #[test]
    fn digits_are_counted_in_256_bits() {
        assert_eq!(power(0), [0, 0, 0, 1]);
        assert_eq!(power(20), [0, 0, 5, 0x6bc7_5e2d_6310_0000]);
        assert_eq!(power(76), [0x161b_cca7_1199_15b5, 0x0764_b4ab_e865_2979, 0x7775_a5f1_7195_1000, 0]);
        let [d, c, b, a] = power(39);
        let (most, least) = ([a, b, c, d], [!a + 1, !b, !c, !d]);
        assert_eq!(magnitude(least), power(39));
        assert_eq!(excess(&Numbers::I256(vec![[0; 4], [a - 1, b, c, d], most]), 0, 39), Some(2));
        assert_eq!(excess(&Numbers::I256(vec![[u64::MAX; 4], [a - 1, b, c, d], least]), 0, 39), Some(2));
        assert_eq!(excess(&Numbers::I256(vec![most, least]), 0, 40), None);
        assert_eq!(excess(&Numbers::I256(vec![[0, 0, 0, 1 << 63]]), 0, 76), Some(0));
    }
}
