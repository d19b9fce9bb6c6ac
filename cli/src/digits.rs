//! The text of numbers and bytes.

use std::fmt::{self, Write as _};

/// Returns the shortest text that parses to the same single or double.
pub fn float<F: Copy + Into<f64> + fmt::Debug>(value: F) -> String {
    let mut text = String::new();
    put_float(&mut text, value);
    text
}

/// Appends the shortest text that parses to the same single or double. `Infinity` is not abbreviated, so that
/// JavaScript, R, Python and Rust can all parse it.
pub fn put_float<F: Copy + Into<f64> + fmt::Debug>(out: &mut String, value: F) {
    let wide: f64 = value.into();
    if wide.is_infinite() {
        out.push_str(if wide < 0.0 { "-Infinity" } else { "Infinity" });
    } else {
        // Writing into a `String` does not fail.
        let _ = write!(out, "{value:?}");
    }
}

/// Appends an integer.
pub fn put_integer(out: &mut String, value: i128) {
    // Most have 64 bits, whose division is faster. Writing into a `String` does not fail.
    let _ = match i64::try_from(value) {
        Ok(value) => write!(out, "{value}"),
        Err(_) => write!(out, "{value}"),
    };
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

/// Returns `unscaled` times 10^-`scale` as text without an exponent.
pub fn decimal(unscaled: &str, scale: i8) -> String {
    let (sign, digits) = unscaled.strip_prefix('-').map_or(("", unscaled), |digits| ("-", digits));
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        let zeros = if digits == "0" { 0 } else { places };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    // At least one digit before the point.
    let padded = format!("{digits:0>width$}", width = places.saturating_add(1));
    let (whole, part) = padded.split_at(padded.len().saturating_sub(places));
    format!("{sign}{whole}.{part}")
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
            assert_eq!(decimal(unscaled, scale), text);
        }
    }
}
