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
    } else if ["inf", "infinity"].iter().any(|name| size.eq_ignore_ascii_case(name)) {
        f64::INFINITY
    } else {
        decimal(size)?
    };
    Some(if negative { -value } else { value })
}

/// Digits behind `0x`: a fraction, and an exponent of two.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, exponent_of(exponent)?),
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
    Some(nearest(mantissa, power.saturating_add(exponent)))
}

/// Decimal digits with a fraction and an exponent of ten. The standard library has this, too, with ten
/// kilobytes of tables and in ways that can panic; here a number is parsed once per field of a type.
fn decimal(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent_of(exponent)?),
        None => (text, 0),
    };
    let mut number = Big { limbs: [0; LIMBS], len: 0 };
    let (mut power, mut any, mut behind) = (exponent, false, false);
    for byte in digits.bytes() {
        match byte {
            b'0'..=b'9' => {
                number.times(10, byte.wrapping_sub(b'0').into());
                any = true;
                power = power.saturating_sub(behind.into());
            }
            b'.' if !behind => behind = true,
            _ => return None,
        }
    }
    if !any {
        return None;
    }
    // Below and above these, up to 64 digits make no difference to 0 and infinity.
    let power = power.clamp(-400, 310);
    // Ten is five times two; the twos are for the exponent.
    let mut twos = power;
    let (mut fives, mut rest) = (power.unsigned_abs(), false);
    if power < 0 {
        number.up();
        twos = twos.wrapping_sub(UP_BITS);
    }
    while fives > 0 {
        let n = fives.min(6);
        let five = 5u32.wrapping_pow(n);
        if power < 0 {
            rest |= number.over(five);
        } else {
            number.times(five, 0);
        }
        fives = fives.wrapping_sub(n);
    }
    let (mantissa, place) = number.top();
    Some(nearest(mantissa | u64::from(rest), twos.saturating_add(place)))
}

/// An exponent with its sign; one that is out of all reason is as good as any that is.
fn exponent_of(text: &str) -> Option<i32> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let digit = |n: i32, byte: &u8| {
        byte.is_ascii_digit().then(|| n.saturating_mul(10).saturating_add(byte.wrapping_sub(b'0').into()))
    };
    let n = digits.iter().try_fold(0, digit)?.min(100_000);
    Some(if negative { n.wrapping_neg() } else { n })
}

/// A whole number of up to 1,216 bits, the lowest first: 64 digits times 5^310, or times 2^1008.
struct Big {
    limbs: [u16; LIMBS],
    /// Limbs from here on are zero.
    len: usize,
}

const LIMBS: usize = 78;
/// How far [`Big::up`] shifts: behind a division by 5^400 more than 64 bits of 1 are left.
const UP: usize = 63;
const UP_BITS: i32 = 1008;

#[allow(clippy::cast_possible_truncation, reason = "limbs are the low bits")]
impl Big {
    /// Multiplies, and adds.
    fn times(&mut self, factor: u32, mut carry: u32) {
        for limb in self.limbs.iter_mut().take(self.len) {
            carry = u32::from(*limb).wrapping_mul(factor).wrapping_add(carry);
            *limb = carry as u16;
            carry >>= 16;
        }
        if let Some(limb) = self.limbs.get_mut(self.len).filter(|_| carry != 0) {
            *limb = carry as u16;
            self.len = self.len.wrapping_add(1);
        }
    }

    /// Divides; whether something is left over.
    fn over(&mut self, divisor: u32) -> bool {
        let mut rest = 0u32;
        for limb in self.limbs.iter_mut().take(self.len).rev() {
            let n = rest << 16 | u32::from(*limb);
            let quotient = n.checked_div(divisor).unwrap_or(0);
            *limb = quotient as u16;
            rest = n.wrapping_sub(quotient.wrapping_mul(divisor));
        }
        rest != 0
    }

    /// Moves the number up, from limbs that are not in use otherwise.
    fn up(&mut self) {
        self.len = LIMBS;
        if let Some((low, high)) = self.limbs.split_at_mut_checked(UP) {
            for (high, low) in high.iter_mut().zip(low) {
                *high = core::mem::take(low);
            }
        }
    }

    /// The highest bits, up to 64 of them, and the place of the lowest; that one also stands for
    /// everything below it.
    fn top(&self) -> (u64, i32) {
        let (mut bits, mut place, mut below) = (0u64, (self.len as i32).wrapping_mul(16), false);
        for limb in self.limbs.iter().take(self.len).rev() {
            // As much of the limb as there is room for.
            let room = bits.leading_zeros().min(16);
            let limb = u32::from(*limb) << room;
            bits = bits << room | u64::from(limb >> 16);
            place = place.wrapping_sub(room.cast_signed());
            below |= limb & 0xffff != 0;
        }
        (bits | u64::from(below), place)
    }
}

/// The double next to `mantissa` times a power of two, halves to even.
fn nearest(mantissa: u64, power: i32) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let zeros = mantissa.leading_zeros();
    let mantissa = mantissa << (zeros & 63);
    // The power of the highest bit.
    let top = power.saturating_add(63).saturating_sub(zeros.cast_signed());
    if top > 1023 {
        return f64::INFINITY;
    }
    let tiny = (-1022i32).saturating_sub(top).max(0).cast_unsigned();
    // Bits that do not fit: 11, and more of a number that is too small to be normal.
    let drop = tiny.saturating_add(11);
    let kept = mantissa.checked_shr(drop).unwrap_or(0);
    let half = 1u64.checked_shl(drop.wrapping_sub(1)).unwrap_or(0);
    let rest = mantissa & half.wrapping_shl(1).wrapping_sub(1);
    let up = half != 0 && (rest > half || (rest == half && kept & 1 == 1));
    // The highest bit of a normal number is not stored, but counts one more here.
    let exponent = u64::from(top.saturating_add(1022).max(0).cast_unsigned());
    f64::from_bits((exponent << 52).wrapping_add(kept).wrapping_add(up.into()))
}

#[cfg(test)]
mod tests {
    use super::strtod;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_as_the_standard_library_reads_them(bits: u64, digits in "[0-9]{1,25}", point in 0..25usize, power in -345..330i32) {
            let number = f64::from_bits(bits).abs();
            prop_assume!(number.is_finite());
            for text in [std::format!("{number:e}"), std::format!("{number:.20e}")] {
                prop_assert_eq!(strtod(&text).map(f64::to_bits), text.parse().ok().map(f64::to_bits), "{}", text);
            }
            let (front, back) = digits.split_at(point.min(digits.len()));
            let text = std::format!("{front}.{back}e{power}");
            prop_assert_eq!(strtod(&text).map(f64::to_bits), text.parse().ok().map(f64::to_bits), "{}", text);
        }
    }

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
        let digits = "9".repeat(60);
        for text in [
            "0",
            "-0",
            "0e5",
            "0.001",
            "1e-6",
            "3.0517578125e-5",
            "123456789012345678901234567890",
            "9007199254740993",
            "9007199254740992.999999999999999999",
            "9007199254740993.000000000000000001",
            "1e22",
            "1e23",
            "8.5e22",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "1e-400",
            "0.000000000000000000000000000000000000000000000000001e-300",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "6.02214076E+23",
            &digits,
            &std::format!(".{digits}e-300"),
            &std::format!("{digits}e248"),
            &std::format!("{digits}e249"),
        ] {
            assert_eq!(strtod(text).map(f64::to_bits), text.parse().ok().map(f64::to_bits), "{text}");
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
