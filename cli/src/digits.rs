//! The text of numbers and bytes.

use std::fmt::{self, Write as _};

/// A single or a double.
pub trait Float: Copy + Into<f64> + fmt::Debug + zmij::Float {}

impl Float for f32 {}
impl Float for f64 {}

/// Returns the shortest text that parses to the same single or double.
pub fn float<F: Float>(value: F) -> String {
    let mut text = String::new();
    put_float(&mut text, value);
    text
}

/// Appends the shortest text that parses to the same single or double. `Infinity` is not abbreviated, so that
/// JavaScript, R, Python and Rust can all parse it.
pub fn put_float<F: Float>(out: &mut String, value: F) {
    let wide: f64 = value.into();
    if let Some(text) = simple_float(&mut zmij::Buffer::new(), value) {
        out.push_str(text);
    } else if wide.is_infinite() {
        out.push_str(if wide < 0.0 { "-Infinity" } else { "Infinity" });
    } else {
        // Writing into a `String` does not fail.
        let _ = write!(out, "{value:?}");
    }
}

/// Returns the text of a float that has no exponent, in most cases.
pub fn simple_float<F: Float>(buffer: &mut zmij::Buffer, value: F) -> Option<&str> {
    let size = value.into().abs();
    // The standard library took a quarter of the time of CSV. Both texts are equal where neither has an exponent.
    (size == 0.0 || (1e-4..1e12).contains(&size)).then(|| buffer.format_finite(value))
}

/// Appends an integer.
pub fn put_integer(out: &mut String, value: i128) {
    // Most have 64 bits, whose division is faster.
    match i64::try_from(value) {
        Ok(value) => out.push_str(itoa::Buffer::new().format(value)),
        Err(_) => out.push_str(itoa::Buffer::new().format(value)),
    }
}

/// Appends a number with at least `width` digits.
pub fn put_padded(out: &mut String, value: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value);
    (digits.len()..width).for_each(|_| out.push('0'));
    out.push_str(digits);
}

/// Returns a signed 256-bit number in decimal. `words`: the lowest first.
pub fn wide(words: [u64; 4]) -> String {
    let [a, b, c, d] = words;
    let negative = d >> 63 == 1;
    let mut left = [d, c, b, a];
    if negative {
        // Two's complement: inverts all bits, then adds one, from the lowest word up.
        let mut carry = true;
        for word in left.iter_mut().rev() {
            (*word, carry) = (!*word).overflowing_add(carry.into());
        }
    }
    /// The largest power of ten in a word.
    const STEP: u128 = 10_000_000_000_000_000_000;
    let mut groups = Vec::new();
    while groups.is_empty() || left != [0; 4] {
        let mut rest = 0u128;
        for word in &mut left {
            let part = rest << 64 | u128::from(*word);
            // `rest` is below STEP, so the quotient is below 2^64.
            *word = u64::try_from(part.div_euclid(STEP)).unwrap_or(u64::MAX);
            rest = part.rem_euclid(STEP);
        }
        groups.push(rest);
    }
    let mut text = String::from(if negative { "-" } else { "" });
    let mut groups = groups.iter().rev();
    if let Some(first) = groups.next() {
        text.push_str(&first.to_string());
    }
    for group in groups {
        text.push_str(&format!("{group:019}"));
    }
    text
}

/// Appends `unscaled` times 10^-`scale` without an exponent.
pub fn put_decimal(out: &mut String, unscaled: i128, scale: i8) {
    let mut buffer = itoa::Buffer::new();
    let digits = match i64::try_from(unscaled) {
        Ok(unscaled) => buffer.format(unscaled),
        Err(_) => buffer.format(unscaled),
    };
    decimal(out, digits, scale);
}

/// Appends the number of the digits `unscaled` times 10^-`scale` without an exponent.
pub fn decimal(out: &mut String, unscaled: &str, scale: i8) {
    let digits = unscaled.strip_prefix('-').unwrap_or(unscaled);
    out.push_str(if digits.len() < unscaled.len() { "-" } else { "" });
    let places = usize::from(scale.unsigned_abs());
    let zeros = |out: &mut String, count: usize| (0..count).for_each(|_| out.push('0'));
    if scale <= 0 {
        out.push_str(digits);
        return zeros(out, if digits == "0" { 0 } else { places });
    }
    // At least one digit before the point.
    let (whole, part) = digits.split_at(digits.len().saturating_sub(places));
    out.push_str(if whole.is_empty() { "0" } else { whole });
    out.push('.');
    zeros(out, places.saturating_sub(part.len()));
    out.push_str(part);
}

/// Returns lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from_digit(four.into(), 16).unwrap_or('?');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_back() {
        for value in [0.1f64, -0.0, 1e300, 5e-324, 123_456_789.0] {
            assert_eq!(float(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(float(0.1f32), "0.1", "not the digits of the double nearest to it");
        assert_eq!(float(f64::NEG_INFINITY), "-Infinity");
        assert_eq!(float(f64::NAN), "NaN");
        // As the standard library prints them; of two texts that are equally near, it takes the larger one.
        let mut bits = 1u64;
        for k in 0..200_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (double, single) = (f64::from_bits(bits), f32::from_bits((bits >> 32) as u32));
            let decimal = (bits >> 40) as f64 / [1.0, 10.0, 1e4, 1e9, 1e-9][k % 5];
            for double in [double, decimal] {
                let (text, other) = (float(double), format!("{double:?}").replace("inf", "Infinity"));
                assert!(text == other || text.len() == other.len() && text.parse() == Ok(double), "{text} {other}");
            }
            for single in [single, decimal as f32] {
                let (text, other) = (float(single), format!("{single:?}").replace("inf", "Infinity"));
                assert!(text == other || text.len() == other.len() && text.parse() == Ok(single), "{text} {other}");
            }
        }
        for exponent in -20..20 {
            for value in [10f64.powi(exponent), 10f64.powi(exponent).next_down(), -1.5 * 10f64.powi(exponent)] {
                assert_eq!(float(value), format!("{value:?}"));
                assert_eq!(float(value as f32), format!("{:?}", value as f32));
            }
        }
    }

    #[test]
    fn numbers_of_256_bits() {
        assert_eq!(wide([0; 4]), "0");
        assert_eq!(wide([u64::MAX; 4]), "-1");
        assert_eq!(wide([0, 1, 0, 0]), "18446744073709551616");
        let least = "-57896044618658097711785492504343953926634992332820282019728792003956564819968";
        assert_eq!(wide([0, 0, 0, 1 << 63]), least);
        // Digits in the middle that are zero.
        assert_eq!(wide([10_000_000_000_000_000_001, 0, 0, 0]), "10000000000000000001");
    }

    #[test]
    fn decimals_have_a_point_and_no_exponent() {
        for (unscaled, scale, text) in [
            ("12345", 2, "123.45"),
            ("-5", 3, "-0.005"),
            ("0", 2, "0.00"),
            ("7", 0, "7"),
            ("7", -3, "7000"),
            ("0", -3, "0"),
        ] {
            let mut out = String::new();
            decimal(&mut out, unscaled, scale);
            put_decimal(&mut out, unscaled.parse().unwrap(), scale);
            assert_eq!(out, format!("{text}{text}"));
        }
    }
}
