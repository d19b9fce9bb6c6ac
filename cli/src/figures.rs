//! The digits of whole numbers and decimals, eight at a time. `digits` prints the same text, of more types.

/// Appends the first `len` bytes of `text`. A copy of a constant number of bytes is faster than one of `len` bytes.
#[inline]
pub fn block<const N: usize>(out: &mut Vec<u8>, text: &[u8; N], len: usize) {
    let end = out.len().saturating_add(len);
    out.extend_from_slice(text);
    out.truncate(end);
}

/// `0` in each of eight bytes.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Numbers of this size or more have more than eight digits.
const EIGHT: u64 = 100_000_000;

/// Returns the eight digits of a number below 10^8, as text: the first digit is the lowest byte.
#[inline]
pub const fn eight(number: u32) -> u64 {
    values(number) | ZEROS
}

/// Returns the values of the eight digits of a number below 10^8: the first one is the lowest byte.
#[inline]
#[allow(clippy::arithmetic_side_effects, reason = "the number is below 10^8, so that no part exceeds its bits")]
const fn values(number: u32) -> u64 {
    // Two numbers of four digits, in 32 bits each.
    let fours = (number / 10_000) as u64 | ((number % 10_000) as u64) << 32;
    // Each divided by 100: 10,486 / 2^20 is exact for four digits.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    // Four numbers of two digits, in 16 bits each.
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    // Each divided by 10: 103 / 2^10 is exact for two digits.
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos - 10 * tens) << 8
}

/// Appends a number below 10^8 without leading zeros.
#[inline]
fn leading(out: &mut Vec<u8>, number: u64) {
    let values = values(u32::try_from(number).unwrap_or_default());
    // The last digit is printed although it is zero.
    let zeros = (values | 1 << 56).trailing_zeros() & !7;
    let digits = (values | ZEROS) >> zeros;
    block(out, &digits.to_le_bytes(), 8usize.saturating_sub(zeros as usize >> 3));
}

/// Appends a number below 10^8 with leading zeros.
#[inline]
fn padded(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&eight(u32::try_from(number).unwrap_or_default()).to_le_bytes());
}

/// Appends a number.
#[inline]
pub fn put_size(out: &mut Vec<u8>, number: u64) {
    if number < EIGHT {
        return leading(out, number);
    }
    put_large(out, number);
}

#[allow(clippy::arithmetic_side_effects, reason = "divisions by constants")]
fn put_large(out: &mut Vec<u8>, number: u64) {
    let (high, low) = (number / EIGHT, number % EIGHT);
    if high < EIGHT {
        leading(out, high);
    } else {
        leading(out, high / EIGHT);
        padded(out, high % EIGHT);
    }
    padded(out, low);
}

/// Appends an integer.
#[inline]
pub fn put_integer(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    put_size(out, value.unsigned_abs());
}

/// The decimal places of numbers: at most eight.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    count: usize,
    /// Ten to the power of the count.
    power: u64,
}

impl Places {
    /// Returns the places of decimals of a scale, or `None` of a scale that is not between 0 and 8.
    pub fn of(scale: i8) -> Option<Self> {
        let count = u32::try_from(scale).ok().filter(|count| *count <= 8)?;
        Some(Places { count: count as usize, power: 10u64.pow(count) })
    }

    /// Appends `unscaled` with these places.
    #[inline]
    pub fn put(self, out: &mut Vec<u8>, unscaled: i64) {
        if self.count == 0 {
            return put_integer(out, unscaled);
        }
        if unscaled < 0 {
            out.push(b'-');
        }
        let size = unscaled.unsigned_abs();
        let whole = size.checked_div(self.power).unwrap_or_default();
        let part = size.wrapping_sub(whole.wrapping_mul(self.power));
        put_size(out, whole);
        out.push(b'.');
        let digits = eight(u32::try_from(part).unwrap_or_default());
        let shift = 8usize.saturating_sub(self.count) << 3;
        block(out, &(digits >> shift).to_le_bytes(), self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits;

    fn text(put: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::from(*b"x");
        put(&mut out);
        String::from_utf8(out).unwrap().split_off(1)
    }

    /// Numbers around powers of two and ten, and others.
    fn numbers() -> impl Iterator<Item = i64> {
        let around = |number: i64| (-2..=2).map(move |by| number.wrapping_add(by));
        let twos = (0..64).map(|bits| 1i64 << bits);
        let tens = (0..19).map(|digits| 10i64.pow(digits));
        let any = (0..100_000u64).map(|k| {
            let word = k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (word ^ word >> 31) as i64 >> (k % 64)
        });
        twos.chain(tens).flat_map(around).chain(any).flat_map(|number| [number, number.wrapping_neg()])
    }

    #[test]
    fn eight_digits_of_each_half() {
        for half in 0..10_000 {
            for number in [half, half * 10_000, half * 10_001, half * 10_000 + 9_999, 99_990_000 + half] {
                assert_eq!(String::from_utf8(eight(number).to_le_bytes().to_vec()).unwrap(), format!("{number:08}"));
                assert_eq!(text(|out| put_size(out, number.into())), number.to_string());
            }
        }
    }

    #[test]
    fn integers_are_those_of_the_standard_library() {
        for number in numbers().chain([i64::MIN, i64::MAX]) {
            assert_eq!(text(|out| put_integer(out, number)), number.to_string());
            assert_eq!(text(|out| put_size(out, number as u64)), (number as u64).to_string());
        }
    }

    #[test]
    fn decimals_of_every_scale() {
        assert!([i8::MIN, -1, 9, i8::MAX].into_iter().all(|scale| Places::of(scale).is_none()));
        for scale in 0..=8 {
            let places = Places::of(scale).unwrap();
            for number in numbers().chain([i64::MIN, i64::MAX]) {
                let mut wanted = String::new();
                digits::put_decimal(&mut wanted, number.into(), scale);
                assert_eq!(text(|out| places.put(out, number)), wanted);
            }
        }
    }
}
