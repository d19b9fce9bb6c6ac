//! One value of one row, and the text of numbers.

use std::ops::Range;

use pilaster::column::{Batch, Values};
use pilaster::error::{Error, Kind, What};

/// One value of one row. All integers of up to 128 bits are one case.
#[derive(Clone, Debug)]
pub enum Cell<'s, C> {
    Missing,
    Bool(bool),
    Int(i128),
    /// 256 bits, the lowest word first.
    Wide([u64; 4]),
    /// The bits of a half float.
    Half(u16),
    Single(f32),
    Double(f64),
    Text(&'s str),
    Bytes(&'s [u8]),
    /// So many rows of every child.
    Nested {
        rows: Range<u64>,
        of: C,
    },
}

impl<'s, C: Copy> Cell<'s, C> {
    /// Row `i` of `batch`.
    pub fn at(batch: &Batch<'s, C>, i: usize) -> pilaster::Result<Self> {
        if !batch.validity.get(i) {
            return Ok(Cell::Missing);
        }
        Ok(match batch.values {
            Values::Null => Cell::Missing,
            Values::Bool(bits) => Cell::Bool(bits.get(i).ok_or_else(|| no_row(i, bits.len()))?),
            Values::I8(v) => Cell::Int(item(v, i)?.into()),
            Values::I16(v) => Cell::Int(item(v, i)?.into()),
            Values::I32(v) => Cell::Int(item(v, i)?.into()),
            Values::I64(v) => Cell::Int(item(v, i)?.into()),
            Values::I128(v) => Cell::Int(item(v, i)?),
            Values::U8(v) => Cell::Int(item(v, i)?.into()),
            Values::U16(v) => Cell::Int(item(v, i)?.into()),
            Values::U32(v) => Cell::Int(item(v, i)?.into()),
            Values::U64(v) => Cell::Int(item(v, i)?.into()),
            Values::I256(v) => Cell::Wide(item(v, i)?),
            Values::F16(v) => Cell::Half(item(v, i)?),
            Values::F32(v) => Cell::Single(item(v, i)?),
            Values::F64(v) => Cell::Double(item(v, i)?),
            Values::Bytes(v) => Cell::Bytes(v.get(i)?),
            Values::Utf8(v) => Cell::Text(v.text(i)?),
            Values::Nested(rows) => Cell::Nested { rows: rows.get(i)?, of: batch.of },
        })
    }
}

impl<C> Cell<'_, C> {
    /// Bytes as text, if `texts` says so and they are.
    pub fn or_text(self, texts: bool) -> Self {
        match self {
            Cell::Bytes(bytes) if texts => std::str::from_utf8(bytes).map_or(self, Cell::Text),
            other => other,
        }
    }
}

fn item<T: Copy>(values: &[T], i: usize) -> pilaster::Result<T> {
    values.get(i).copied().ok_or_else(|| no_row(i, values.len()))
}

fn no_row(i: usize, count: usize) -> Error {
    Error::needing(Kind::OutOfRange, What::Row, i as u64, count as u64)
}

/// The value of the bits of a half float, which a single holds exactly.
pub fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (bits >> 10 & 0x1f, f32::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        0x1f if fraction == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(i32::from(exponent).wrapping_sub(15)),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The shortest text that reads back as the same single; `Infinity` in full, as JavaScript, R, Python
/// and Rust all read it.
pub fn single(value: f32) -> String {
    if value.is_infinite() { infinity(value > 0.0) } else { format!("{value:?}") }
}

/// The same of a double.
pub fn double(value: f64) -> String {
    if value.is_infinite() { infinity(value > 0.0) } else { format!("{value:?}") }
}

fn infinity(positive: bool) -> String {
    if positive { "Infinity".to_owned() } else { "-Infinity".to_owned() }
}

/// A signed number of 256 bits in decimal digits.
pub fn wide(words: [u64; 4]) -> String {
    let [a, b, c, d] = words;
    let negative = d >> 63 == 1;
    let mut left = [d, c, b, a];
    if negative {
        // Two's complement: all bits turned over, plus one from the lowest word up.
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

/// `unscaled` times 10^-`scale`, without an exponent.
pub fn decimal(unscaled: &str, scale: i8) -> String {
    let (sign, digits) = unscaled.strip_prefix('-').map_or(("", unscaled), |digits| ("-", digits));
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        let zeros = if digits == "0" { 0 } else { places };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    // At least one digit in front of the point.
    let padded = format!("{digits:0>width$}", width = places.saturating_add(1));
    let (whole, part) = padded.split_at(padded.len().saturating_sub(places));
    format!("{sign}{whole}.{part}")
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from_digit(digit.into(), 16).unwrap_or('?'));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert_eq!(half(bits), value, "{bits:04x}");
        }
        assert_eq!(half(0x8000).to_bits(), (-0.0f32).to_bits());
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn floats_read_back() {
        for value in [0.1, -0.0, 1e300, 5e-324, 123_456_789.0] {
            assert_eq!(double(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(single(0.1), "0.1", "not the digits of the double nearest to it");
        assert_eq!(double(f64::NEG_INFINITY), "-Infinity");
        assert_eq!(double(f64::NAN), "NaN");
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
