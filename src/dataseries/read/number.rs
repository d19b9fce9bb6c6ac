//! Numbers in attributes, as C reads them.

use crate::meta::xml::Text;

/// Characters of a number that has any use.
const LONGEST: usize = 64;

/// Reads `text` through a small buffer, as it may hold references; `None` if it is too long.
fn with<T>(text: Text<'_>, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let mut buffer = [0; LONGEST];
    let mut scratch = crate::bytes::Scratch::new(&mut buffer);
    read(text.decode(&mut scratch).ok()?)
}

/// `int.int`, without blanks.
pub(super) fn version(text: Text<'_>) -> Option<(i32, i32)> {
    with(text, |text| {
        let (major, minor) = text.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    })
}

/// A decimal size above 0.
pub(super) fn size(text: Text<'_>) -> Option<u32> {
    with(text, |text| text.parse::<i32>().ok().and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0))
}

/// A number in the syntax of `strtod`: blanks may lead, hexadecimal digits, `inf` and `nan` are fine.
pub(super) fn double(text: Text<'_>) -> Option<f64> {
    with(text, |text| strtod(text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r'])))
}

fn strtod(text: &str) -> Option<f64> {
    let (negative, size) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let lower =
        |n: usize| size.get(..n).is_some_and(|front| front.eq_ignore_ascii_case(if n == 2 { "0x" } else { "nan" }));
    let value = if lower(2) {
        hexadecimal(size.get(2..)?)?
    } else if lower(3) {
        // What stands in brackets goes into the payload there, and nowhere here.
        let payload = size.get(3..)?;
        let named = payload.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !payload.is_empty() && !named.is_some_and(plain) {
            return None;
        }
        f64::NAN
    } else if size.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.') {
        size.parse().ok()?
    } else {
        return None;
    };
    Some(if negative { -value } else { value })
}

/// Digits behind `0x`: a fraction, and an exponent of two.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (mut mantissa, mut power, mut any) = (0u64, 0i32, false);
    for (c, behind) in whole.chars().map(|c| (c, false)).chain(fraction.chars().map(|c| (c, true))) {
        let digit = u64::from(c.to_digit(16)?);
        any = true;
        if mantissa >> 59 == 0 {
            mantissa = mantissa << 4 | digit;
            power = power.saturating_sub(if behind { 4 } else { 0 });
        } else {
            // Too fine to count, but it may decide a rounding.
            mantissa |= u64::from(digit != 0);
            power = power.saturating_add(if behind { 0 } else { 4 });
        }
    }
    if !any {
        return None;
    }
    // In steps, each of them exact until the result leaves the range.
    let mut power = power.saturating_add(exponent).clamp(-2200, 2200);
    let mut value = mantissa as f64;
    while power > 0 {
        let step = power.min(512);
        value *= f64::from_bits(u64::try_from(step.saturating_add(1023)).ok()? << 52);
        power = power.saturating_sub(step);
    }
    while power < 0 {
        let step = power.max(-512);
        value *= f64::from_bits(u64::try_from(step.saturating_add(1023)).ok()? << 52);
        power = power.saturating_sub(step);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::strtod;

    #[test]
    fn numbers_as_c_reads_them() {
        for (text, value) in [
            ("1", 1.0),
            ("-0.001", -0.001),
            ("+1.", 1.0),
            (".5e-3", 0.0005),
            ("1E300", 1e300),
            ("0x1.8p-1", 0.75),
            ("0XfF", 255.0),
            ("-0x.1", -0.0625),
            ("0x1p-1074", 5e-324),
            ("0x1.fffffffffffff8p0", 2.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e999", f64::INFINITY),
        ] {
            assert_eq!(strtod(text), Some(value), "{text}");
        }
        for text in ["nan", "-NaN", "nan(x_1)"] {
            assert!(strtod(text).is_some_and(f64::is_nan), "{text}");
        }
        for text in ["", "-", "+-1", "1 ", "1e", "e5", ".", "0x", "0x.p1", "1f", "nan(", "nan)", "--1", "1_0", "\u{e9}"]
        {
            assert_eq!(strtod(text), None, "{text}");
        }
    }
}
