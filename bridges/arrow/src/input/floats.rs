//! Texts as floats: which of them a float keeps.

use super::exact::Why;

/// The digits that each 64-bit float of the usual size gives back.
pub(super) const SURE: usize = 15;

/// More digits than any 64-bit float has.
const MOST: usize = 800;

/// The digits of a number.
struct Digits<'t> {
    int: &'t str,
    fraction: &'t str,
    exponent: bool,
}

impl<'t> Digits<'t> {
    fn new(text: &'t str) -> Self {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).map_or((unsigned, false), |(text, _)| (text, true));
        let (int, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        Digits { int, fraction, exponent }
    }

    fn bytes(&self) -> impl DoubleEndedIterator<Item = u8> + Clone {
        self.int.bytes().chain(self.fraction.bytes())
    }

    /// Returns whether the number is not zero.
    fn is_some(&self) -> bool {
        self.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
    }

    /// Returns the digits from the first to the last that is not zero, and their number.
    fn significant(&self) -> (impl Iterator<Item = u8>, usize) {
        let digits = self.bytes().skip_while(|byte| *byte == b'0');
        let zeros = self.bytes().rev().take_while(|byte| *byte == b'0').count();
        let count = digits.clone().count().saturating_sub(zeros);
        (digits.take(count), count)
    }
}

/// Returns why no 64-bit float stands for a number: if it is too large, too small, or has digits that the float does not give
/// back. A float gives back a number if it is the same again when it is printed with as many digits.
pub(super) fn lost(text: &str, value: f64) -> Option<&'static str> {
    let digits = Digits::new(text);
    if !value.is_finite() {
        return Some("it is too large for a float of 64 bits");
    }
    if value == 0.0 {
        return digits.is_some().then_some("it is too small for a float of 64 bits");
    }
    let (mut significant, count) = digits.significant();
    if count <= SURE && value.is_normal() {
        return None;
    }
    let mut given_back = || {
        let printed = format!("{value:.*e}", count.saturating_sub(1));
        let (mantissa, _) = printed.split_once('e')?;
        Some(mantissa.bytes().filter(u8::is_ascii_digit).eq(&mut significant))
    };
    if count > MOST || given_back() != Some(true) {
        return Some("it has more digits than a float of 64 bits");
    }
    None
}

/// Returns whether a float gives back a number of digits with a point between two of them and no zero at the end. If the
/// answer is `false`, it may even so: numbers of another form, with more than 18 digits after the zeros at the start, or
/// with more than 22 after the point are left to [`lost`].
pub(super) fn is_kept(text: &str) -> bool {
    let mut digits = 0u64;
    let mut point = None;
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    for (at, byte) in unsigned.bytes().enumerate() {
        match byte {
            b'0'..=b'9' if digits < 100_000_000_000_000_000 => {
                digits = digits.wrapping_mul(10).wrapping_add((byte ^ b'0').into());
            }
            b'.' if point.is_none() && at > 0 => point = Some(at),
            _ => return false,
        }
    }
    let scale = point.and_then(|at| u32::try_from(unsigned.len().checked_sub(at)?.checked_sub(1)?).ok());
    let (Some(scale @ 1..=22), Ok(value)) = (scale, unsigned.parse::<f64>()) else { return false };
    is_rounded(digits, scale, value)
}

/// Returns whether digits are equal to `value * 10^scale`, rounded to a whole number that does not end with zero.
fn is_rounded(digits: u64, scale: u32, value: f64) -> bool {
    let bits = value.to_bits();
    // The value is `mantissa / 2^places`.
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    let Some(places @ 1..) = u64::checked_sub(1075, bits >> 52).and_then(|places| u32::try_from(places).ok()) else {
        return false;
    };
    let all = u128::from(digits);
    if !value.is_normal() || digits.is_multiple_of(10) || all.leading_zeros() <= places {
        return false;
    }
    // `10^22 < 2^74`, hence the product has at most 127 bits.
    let product = 10u128.pow(scale).wrapping_mul(mantissa);
    product.abs_diff(all << places) < (1 << places) >> 1
}

/// Returns the float that a text stands for, of a type that is given: the nearest one, except for whole numbers, which are
/// exact. `exact`: up to which all whole numbers are.
pub(super) fn given<F: Copy + Into<f64>>(text: &str, value: Option<F>, exact: f64) -> Result<F, Why> {
    let value = value.ok_or_else(|| "it is no number".to_owned())?;
    let number: f64 = value.into();
    // Below `exact`, a text may be rounded to the nearest float.
    if number.is_finite() && number != 0.0 && number.abs() < exact {
        return Ok(value);
    }
    let digits = Digits::new(text);
    if !number.is_finite() {
        // Digits that stand for no finite number are too large.
        return if text.bytes().any(|byte| byte.is_ascii_digit()) {
            Err("it is too large".to_owned())
        } else {
            Ok(value)
        };
    }
    if number == 0.0 && digits.is_some() {
        return Err("it is too small".to_owned());
    }
    let is_whole = !digits.exponent && digits.fraction.bytes().all(|byte| byte == b'0');
    // Floats below this are exact, and every other number rounds to a larger one.
    if is_whole && number.abs() >= exact && format!("{:.0}", number.abs()) != digits.int.trim_start_matches('0') {
        return Err("a whole number that the type does not have".to_owned());
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;

    fn lost(text: &str) -> Option<&'static str> {
        super::lost(text, text.parse().unwrap_or(f64::NAN))
    }

    #[test]
    fn floats_give_back_their_digits() {
        for text in [
            "0",
            "-0.0",
            "1.5",
            "1e300",
            "0.1",
            "0.10000000000000001",
            "1.000000000000000056e-01",
            "9007199254740992.0",
            "1.7976931348623157e308",
            "5e-324",
            "2.2250738585072014e-308",
            "123456789012345e5",
            "0.3333333333333333",
            "0.1000000000000000055511151231257827021181583404541015625",
            "100000000000000000000.000000",
        ] {
            assert_eq!(lost(text), None, "{text}");
        }
        for (text, why) in [
            ("1e400", "too large"),
            ("-1e400", "too large"),
            ("1e-400", "too small"),
            ("0.0000001e-400", "too small"),
            ("9007199254740993.0", "more digits"),
            ("12345678901234567890.12", "more digits"),
            ("0.12345678901234567890", "more digits"),
            ("1.234567e-320", "more digits"),
        ] {
            assert!(lost(text).is_some_and(|e| e.contains(why)), "{text}");
        }
        let long = format!("0.{}", "3".repeat(100_000));
        assert!(lost(&long).is_some());
    }

    #[test]
    fn digits_that_are_kept_are_not_lost() {
        let (mut kept, mut random) = (0, Random(5));
        for round in 0..100_000 {
            let exponent = 1015 + random.below(70) as u64;
            let bits = exponent << 52 | (random.below(1 << 26) as u64) << 26 | random.below(1 << 26) as u64;
            // The shortest digits of a float, and more digits or others.
            let text = match round % 4 {
                0 | 1 => format!("{}", f64::from_bits(bits)),
                2 => format!("{:.*}", random.below(24), f64::from_bits(bits)),
                _ => format!("0.{:0>1$}", random.below(1 << 44), 17 + random.below(6)),
            };
            let is_kept = super::is_kept(&text);
            assert!(!is_kept || lost(&text).is_none(), "{text}");
            kept += usize::from(is_kept);
        }
        assert!(kept > 40_000, "{kept}");
        for text in ["1", "1.", ".5", "1.50", "1e5", "1.5e5", "--1.5", "1.2.3", "0.12345678901234567", "", "-", "."] {
            assert!(!super::is_kept(text), "{text}");
        }
        assert!(super::is_kept("-0.30000000000000004") && super::is_kept("12345.678901234567"));
    }
}
