//! Numbers in attributes, with the syntax of C.

/// Size in bytes of the buffer for a number with references.
pub(super) const LONGEST: usize = 64;

/// Parses a version, `int.int` without blanks.
pub(super) fn version(text: &[u8]) -> Option<[i32; 2]> {
    let dot = text.iter().position(|byte| *byte == b'.')?;
    Some([int(text.get(..dot)?)?, int(text.get(dot.saturating_add(1)..)?)?])
}

/// Parses a decimal size above 0.
pub(super) fn size(text: &[u8]) -> Option<u32> {
    u32::try_from(int(text)?).ok().filter(|size| *size > 0)
}

/// Parses a number with the syntax of `strtod`: leading blanks, hexadecimal digits, `inf` and `nan` are allowed.
pub(super) fn double(text: &[u8]) -> Option<f64> {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    strtod(text.get(text.iter().take_while(|byte| blank(byte)).count()..)?)
}

/// Skips a sign. Returns whether it is a minus.
const fn sign(text: &mut &[u8]) -> bool {
    let [sign @ (b'-' | b'+'), rest @ ..] = *text else { return false };
    *text = rest;
    *sign == b'-'
}

/// Parses a decimal number. Returns whether it is negative, and its absolute value, saturating. A saturated value is
/// out of range for every caller.
fn whole(mut text: &[u8]) -> Option<(bool, u32)> {
    let negative = sign(&mut text);
    let digit = |n: u32, byte: &u8| {
        byte.is_ascii_digit().then(|| n.saturating_mul(10).saturating_add(byte.wrapping_sub(b'0').into()))
    };
    let size = text.iter().try_fold(0, digit).filter(|_| !text.is_empty())?;
    Some((negative, size))
}

fn int(text: &[u8]) -> Option<i32> {
    let (negative, size) = whole(text)?;
    let n = i64::from(size);
    i32::try_from(if negative { n.wrapping_neg() } else { n }).ok()
}

fn strtod(mut text: &[u8]) -> Option<f64> {
    let negative = sign(&mut text);
    let value = match text {
        [b'0', b'x' | b'X', digits @ ..] => digital(digits, true)?,
        [b'n' | b'N', b'a' | b'A', b'n' | b'N', payload @ ..] => match payload {
            [] => f64::NAN,
            // Text in brackets sets the payload of the NaN in C. It is ignored here.
            [b'(', name @ .., b')'] if name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') => {
                f64::NAN
            }
            _ => return None,
        },
        _ if ["inf", "infinity"].iter().any(|name| text.eq_ignore_ascii_case(name.as_bytes())) => f64::INFINITY,
        _ => digital(text, false)?,
    };
    Some(if negative { -value } else { value })
}

/// Parses digits with a fraction and an exponent: hexadecimal digits with a power of two, decimal digits with a power
/// of ten. The parser of the standard library has 10 KB of tables and can panic. Speed does not matter here: a number
/// is parsed once per field of a type.
fn digital(text: &[u8], hex: bool) -> Option<f64> {
    let (radix, mark) = if hex { (16, b'p') } else { (10, b'e') };
    let mut number = Big { limbs: [0; LIMBS] };
    // Number of digits after leading zeros.
    let mut count = 0u32;
    // Number of digits after the point.
    let (mut behind, mut any, mut point, mut exponent, mut left) = (0i32, false, false, 0i32, false);
    let mut rest = text;
    while let [byte, more @ ..] = rest {
        rest = more;
        if byte.to_ascii_lowercase() == mark {
            let (negative, size) = whole(rest)?;
            let size = size.min(1 << 29).cast_signed();
            exponent = if negative { size.wrapping_neg() } else { size };
            break;
        }
        match char::from(*byte).to_digit(radix) {
            Some(digit) => {
                any = true;
                if count < DIGITS {
                    count = count.saturating_add((digit != 0 || count > 0).into());
                    number.times(radix, digit);
                    behind = behind.saturating_add(point.into());
                } else {
                    // Further digits only matter by whether all of them are zero.
                    left |= digit != 0;
                    behind = behind.saturating_sub((!point).into());
                }
            }
            None if *byte == b'.' && !point => point = true,
            None => return None,
        }
    }
    if !any {
        return None;
    }
    // The digits form an integer, so the exponent decreases with each digit after the point. 10 is 5 * 2, and the
    // powers of 2 go into the exponent.
    let mut twos = exponent.saturating_sub(behind.saturating_mul(4));
    if !hex {
        // Beyond these bounds the result is 0 or infinity for all digits.
        let power = exponent.saturating_sub(behind).clamp(-400, 310);
        twos = power;
        let mut fives = power.unsigned_abs();
        if power < 0 {
            number.up();
            twos = twos.wrapping_sub(UP_BITS);
        }
        while fives > 0 {
            let n = fives.min(6);
            let five = 5u32.wrapping_pow(n);
            if power < 0 {
                left |= number.over(five);
            } else {
                number.times(five, 0);
            }
            fives = fives.wrapping_sub(n);
        }
    }
    let (mantissa, place) = number.top();
    Some(nearest(mantissa | u64::from(left), twos.saturating_add(place)))
}

/// An integer of up to 1,248 bits, least significant limb first: the digits times 5^310, or times 2^1008.
struct Big {
    limbs: [u16; LIMBS],
}

const LIMBS: usize = 78;
const BITS: i32 = 1248;
/// Number of limbs that [`Big::up`] shifts by: after a division by 5^400 more than 64 bits of 1 remain.
const UP: usize = 63;
const UP_BITS: i32 = 1008;
/// Maximum number of digits that are used. Decimal ones take 15 limbs, which is the capacity of [`Big::up`].
const DIGITS: u32 = 67;

#[allow(clippy::cast_possible_truncation, reason = "limbs are the low bits")]
impl Big {
    /// Multiplies by `factor` and adds `carry`.
    fn times(&mut self, factor: u32, mut carry: u32) {
        for limb in &mut self.limbs {
            carry = u32::from(*limb).wrapping_mul(factor).wrapping_add(carry);
            *limb = carry as u16;
            carry >>= 16;
        }
    }

    /// Divides by `divisor`. Returns whether there is a remainder.
    fn over(&mut self, divisor: u32) -> bool {
        let mut rest = 0u32;
        for limb in self.limbs.iter_mut().rev() {
            let n = rest << 16 | u32::from(*limb);
            let quotient = n.checked_div(divisor).unwrap_or(0);
            *limb = quotient as u16;
            rest = n.wrapping_sub(quotient.wrapping_mul(divisor));
        }
        rest != 0
    }

    /// Shifts the number up by [`UP`] limbs. The upper limbs must be zero, because they are overwritten.
    fn up(&mut self) {
        if let Some((low, high)) = self.limbs.split_at_mut_checked(UP) {
            for (high, low) in high.iter_mut().zip(low) {
                *high = core::mem::take(low);
            }
        }
    }

    /// Returns the highest bits, at most 64, and the position of the lowest of them. That bit is also 1 if any bit
    /// below it is 1.
    fn top(&self) -> (u64, i32) {
        let (mut bits, mut place, mut below) = (0u64, BITS, false);
        for limb in self.limbs.iter().rev() {
            // Number of bits of the limb that fit.
            let room = bits.leading_zeros().min(16);
            let limb = u32::from(*limb) << room;
            bits = bits << room | u64::from(limb >> 16);
            place = place.wrapping_sub(room.cast_signed());
            below |= limb & 0xffff != 0;
        }
        (bits | u64::from(below), place)
    }
}

/// Returns the double nearest to `mantissa` times 2^`power`, halves to even.
fn nearest(mantissa: u64, power: i32) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let zeros = mantissa.leading_zeros();
    let mantissa = mantissa << (zeros & 63);
    // The exponent of the highest bit.
    let top = power.saturating_add(63).saturating_sub(zeros.cast_signed());
    if top > 1023 {
        return f64::INFINITY;
    }
    let tiny = (-1022i32).saturating_sub(top).max(0).cast_unsigned();
    // Number of bits that do not fit: 11, and more for a subnormal number.
    let drop = tiny.saturating_add(11);
    let kept = mantissa.checked_shr(drop).unwrap_or(0);
    let half = 1u64.checked_shl(drop.wrapping_sub(1)).unwrap_or(0);
    let rest = mantissa & half.wrapping_shl(1).wrapping_sub(1);
    let up = half != 0 && (rest > half || (rest == half && kept & 1 == 1));
    // The highest bit of a normal number is not stored. Its addition increments the exponent.
    let exponent = u64::from(top.saturating_add(1022).max(0).cast_unsigned());
    f64::from_bits((exponent << 52).wrapping_add(kept).wrapping_add(up.into()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    fn strtod(text: &str) -> Option<f64> {
        super::strtod(text.as_bytes())
    }

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

    proptest! {
        #[test]
        fn numbers_of_any_length(digits in "0{0,9}[0-9]{60,400}0{0,30}", point in 0..400usize, power in -800..800i32) {
            let (front, back) = digits.split_at(point.min(digits.len()));
            let text = std::format!("{front}.{back}e{power}");
            prop_assert_eq!(strtod(&text).map(f64::to_bits), text.parse().ok().map(f64::to_bits), "{}", text);
        }
    }

    /// Halfway between two doubles, except for one digit far to the right.
    #[test]
    fn the_last_digit_of_many_counts() {
        for text in ["9007199254740993", "9007199254740993.", "2.4703282292062327208"] {
            let (zeros, point) = ("0".repeat(300), if text.contains('.') { "" } else { "." });
            for last in ["", "1"] {
                let text = std::format!("{text}{point}{zeros}{last}");
                assert_eq!(strtod(&text).map(f64::to_bits), text.parse().ok().map(f64::to_bits), "{text}");
            }
        }
        let hex = std::format!("0x1{}8{}1p-1200", "0".repeat(13), "0".repeat(400));
        assert_eq!(strtod(&hex), Some(f64::from_bits((1023 + 4 * 415 - 1200) << 52 | 1)), "{hex}");
        assert_eq!(strtod(&std::format!(".{}1e200001", "0".repeat(200_000))), Some(1.0));
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
