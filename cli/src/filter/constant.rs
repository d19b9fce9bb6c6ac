//! The literal of a condition, in the form of the values that it is compared with.

use std::cmp::Ordering;

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use pilaster::bytes::half_to_f32;
use pilaster::column::{Prim, Type, Unit, Value};

use super::Literal;
use crate::digits;
use crate::time::time_zone;

/// What values of one column are compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    Bool(bool),
    /// For values that are stored as integers: the largest such integer that is not greater than the literal, and
    /// whether the literal lies above it.
    Whole {
        floor: i128,
        above: bool,
    },
    Real(f64),
    Bytes(Vec<u8>),
}

impl Constant {
    /// Converts a literal for a column of type `ty`. `zone`: the time zone of the column.
    pub fn new(literal: &Literal, ty: Type, zone: Option<&str>) -> Result<Self, String> {
        let text = literal.text.as_str();
        match ty {
            Type::Utf8 => return Ok(Constant::Bytes(text.as_bytes().to_vec())),
            Type::Bytes | Type::FixedBytes(_) => return bytes(literal),
            Type::Date(unit) | Type::Timestamp(unit) => {
                return instant(text, unit, zone)?
                    .ok_or_else(|| format!("'{text}' is neither a date nor a number of {ty}"));
            }
            Type::Time(unit) => {
                let found = of_day(text, unit).or_else(|| scaled(text, 0));
                return found.ok_or_else(|| format!("'{text}' is neither a time of day nor a number of {ty}"));
            }
            _ => {}
        }
        if literal.quoted && ty != Type::Bool {
            return Err(format!("'{text}' is a text, and the column has {ty}; leave out the quotes for a number"));
        }
        let no_number = || match is_time(text) {
            true => format!(
                "'{text}' is a date, and the column has {ty}, which has no unit; compare with the stored number"
            ),
            false => format!("'{text}' is no number, and the column has {ty}"),
        };
        match ty {
            Type::Bool => match text.to_ascii_lowercase().as_str() {
                "true" => Ok(Constant::Bool(true)),
                "false" => Ok(Constant::Bool(false)),
                _ => Err(format!("'{text}' is neither true nor false")),
            },
            Type::Prim(Prim::F64) => text.parse().map(Constant::Real).map_err(|_| no_number()),
            // Single and half: the nearest value that such a column can have, so that 0.1 is found, unless only infinity
            // is.
            Type::Prim(Prim::F16) => text.parse().map(|exact| Constant::Real(half(exact))).map_err(|_| no_number()),
            Type::Prim(Prim::F32) => match (text.parse::<f32>(), text.parse::<f64>()) {
                (Ok(value), Ok(exact)) if value.is_infinite() && exact.is_finite() => Ok(Constant::Real(exact)),
                (Ok(value), _) => Ok(Constant::Real(value.into())),
                (Err(_), _) => Err(no_number()),
            },
            Type::Prim(_) => scaled(text, 0).ok_or_else(no_number),
            Type::Decimal { scale, precision } => match scaled(text, scale.into()).ok_or_else(no_number)? {
                Constant::Whole { floor: i128::MIN | i128::MAX, .. } if precision > 38 => {
                    Err(format!("'{text}' is too large: with {ty}, numbers of up to 38 digits can be compared"))
                }
                constant => Ok(constant),
            },
            ty => Err(format!("{ty} has no order; only \"is missing\" can be asked")),
        }
    }

    /// Returns how `value` compares to the constant; `None` if either is NaN and the other is not, or if they have no order.
    #[inline]
    pub fn beside(&self, value: &Value<'_>) -> Option<Ordering> {
        match (value, self) {
            (Value::Bool(value), Constant::Bool(constant)) => Some(value.cmp(constant)),
            (Value::Int(value), Constant::Whole { floor, above }) => {
                Some(value.cmp(floor).then(if *above { Ordering::Less } else { Ordering::Equal }))
            }
            (Value::Int256(words), Constant::Whole { floor, above }) => {
                let order = match digits::wide(*words).parse::<i128>() {
                    Ok(value) => value.cmp(floor),
                    // The sign is the highest bit.
                    Err(_) if words[3] >> 63 == 1 => Ordering::Less,
                    Err(_) => Ordering::Greater,
                };
                Some(order.then(if *above { Ordering::Less } else { Ordering::Equal }))
            }
            (Value::F16(bits), Constant::Real(constant)) => reals(half_to_f32(*bits).into(), *constant),
            (Value::F32(value), Constant::Real(constant)) => reals((*value).into(), *constant),
            (Value::F64(value), Constant::Real(constant)) => reals(*value, *constant),
            (Value::Bytes(value) | Value::Text(value), Constant::Bytes(constant)) => Some((*value).cmp(constant)),
            _ => None,
        }
    }
}

/// Returns the half-precision number that is nearest to `exact`, of two the even one; `exact` if only infinity is near.
fn half(exact: f64) -> f64 {
    /// Bits of infinity. The numbers ascend with their bits up to it.
    const INFINITY: u16 = 0x7c00;
    let of = |bits: u16| f64::from(half_to_f32(bits));
    let size = exact.abs();
    let (mut low, mut high) = (0, INFINITY);
    while u16::saturating_sub(high, low) > 1 {
        let middle = low.midpoint(high);
        if of(middle) <= size { low = middle } else { high = middle }
    }
    // A number as far from the largest one as it would be from a next one is infinite, as in IEEE 754.
    let above = if high == INFINITY { 65_536.0 } else { of(high) };
    let (down, up) = (size - of(low), above - size);
    let nearest = if down < up || (down == up && low & 1 == 0) { low } else { high };
    if nearest == INFINITY || !exact.is_finite() { exact } else { of(nearest).copysign(exact) }
}

#[inline]
fn reals(value: f64, constant: f64) -> Option<Ordering> {
    if value.is_nan() && constant.is_nan() { Some(Ordering::Equal) } else { value.partial_cmp(&constant) }
}

/// Bytes of a text, or hexadecimal digits after `0x`.
fn bytes(literal: &Literal) -> Result<Constant, String> {
    let text = literal.text.as_str();
    let Some(digits) = text.strip_prefix("0x").filter(|_| !literal.quoted) else {
        return Ok(Constant::Bytes(text.as_bytes().to_vec()));
    };
    let pairs =
        digits.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap_or_default(), 16));
    match pairs.collect() {
        Ok(bytes) if digits.len().is_multiple_of(2) => Ok(Constant::Bytes(bytes)),
        _ => Err(format!("{text} is no whole number of bytes in hexadecimal")),
    }
}

/// Returns the number in `text` times 10^`scale`; beyond 127 bits the nearest bound. `None` if it is no number.
fn scaled(text: &str, scale: i32) -> Option<Constant> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1i128, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let shift = exponent.saturating_add(scale).saturating_sub(i32::try_from(fraction.len()).ok()?);
    let beyond = if sign < 0 { (i128::MIN, false) } else { (i128::MAX, true) };
    let significant = digits.trim_start_matches('0');
    let (floor, above) = match (significant.parse::<i128>(), shift) {
        _ if significant.is_empty() => (0, false),
        (Ok(number), 0..) => {
            let factor = 10i128.checked_pow(shift.unsigned_abs());
            let product = factor.and_then(|factor| number.checked_mul(factor)?.checked_mul(sign));
            product.map_or(beyond, |product| (product, false))
        }
        (Ok(number), _) => {
            let number = number.saturating_mul(sign);
            match 10i128.checked_pow(shift.unsigned_abs()) {
                Some(divisor) => (number.div_euclid(divisor), number.rem_euclid(divisor) != 0),
                // Closer to 0 than any integer but 0.
                None => (if sign < 0 { -1 } else { 0 }, true),
            }
        }
        // The digits do not fit into 127 bits. The digits of the fraction are cut.
        (Err(_), ..0) => {
            let whole = significant.len().saturating_sub(shift.unsigned_abs() as usize);
            let (kept, cut) = significant.split_at_checked(whole)?;
            let above = cut.bytes().any(|digit| digit != b'0');
            match (if kept.is_empty() { Ok(0) } else { kept.parse::<i128>() }, sign < 0 && above) {
                (Ok(number), true) => (number.saturating_mul(sign).saturating_sub(1), true),
                (Ok(number), false) => (number.saturating_mul(sign), above),
                (Err(_), _) => beyond,
            }
        }
        (Err(_), _) => beyond,
    };
    Some(Constant::Whole { floor, above })
}

const ATTOS: i128 = 1_000_000_000_000_000_000;

/// Attoseconds of a unit; `None` of those that are no multiple of a second.
const fn attos(unit: Unit) -> Option<i128> {
    Some(match unit {
        Unit::Year | Unit::Month => return None,
        Unit::Week => 604_800 * ATTOS,
        Unit::Day => 86_400 * ATTOS,
        Unit::Hour => 3_600 * ATTOS,
        Unit::Minute => 60 * ATTOS,
        Unit::Second => ATTOS,
        Unit::Milli => ATTOS / 1_000,
        Unit::Micro => ATTOS / 1_000_000,
        Unit::Nano => 1_000_000_000,
        Unit::Pico => 1_000_000,
        Unit::Femto => 1_000,
        Unit::Atto => 1,
    })
}

/// Returns whether `text` can be compared with times: a number, a date, or a date and time.
pub fn is_time(text: &str) -> bool {
    matches!(instant(text, Unit::Nano, None), Ok(Some(_)))
}

/// A date, or a date and time with or without an offset from UTC, in `unit`; a number is the stored integer. `None` for another text;
/// an error if the time depends on a time zone that is not known.
fn instant(text: &str, unit: Unit, zone: Option<&str>) -> Result<Option<Constant>, String> {
    if let Some(stored) = scaled(text, 0) {
        return Ok(Some(stored));
    }
    // The parser would ignore the name of a time zone after a time.
    if text.contains('[') {
        return Ok(None);
    }
    let civil = text.parse::<DateTime>().ok();
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(since(instant, civil, unit));
    }
    let Some(local) = civil else { return Ok(None) };
    let zone = match zone {
        None => TimeZone::UTC,
        Some(name) => time_zone(name).ok_or_else(|| {
            format!("'{text}' is in the time zone of the column, and no time zone is called {name:?}; add an offset, such as Z for UTC")
        })?,
    };
    Ok(zone.to_timestamp(local).ok().and_then(|instant| since(instant, civil, unit)))
}

/// Returns a time in `unit`s since 1970. `civil`: the same as a date, for units that are no multiple of a second.
fn since(instant: Timestamp, civil: Option<DateTime>, unit: Unit) -> Option<Constant> {
    let (seconds, nanos) = (i128::from(instant.as_second()), i128::from(instant.subsec_nanosecond()));
    let since = seconds.checked_mul(ATTOS)?.checked_add(nanos.checked_mul(1_000_000_000)?)?;
    if let Some(per) = attos(unit) {
        return Some(Constant::Whole { floor: since.div_euclid(per), above: since.rem_euclid(per) != 0 });
    }
    let local = civil?;
    let years = i128::from(local.year()).checked_sub(1970)?;
    let months = years.checked_mul(12)?.checked_add(i128::from(local.month()))?.checked_sub(1)?;
    let in_month = local.day() > 1 || local.time() != Time::midnight();
    Some(match unit {
        Unit::Year => Constant::Whole { floor: years, above: local.month() > 1 || in_month },
        _ => Constant::Whole { floor: months, above: in_month },
    })
}

fn of_day(text: &str, unit: Unit) -> Option<Constant> {
    let time = text.parse::<Time>().ok().filter(|_| text.contains(':'))?;
    let seconds = i128::from(time.hour()).checked_mul(60)?.checked_add(time.minute().into())?;
    let seconds = seconds.checked_mul(60)?.checked_add(time.second().into())?;
    let since =
        seconds.checked_mul(ATTOS)?.checked_add(i128::from(time.subsec_nanosecond()).checked_mul(1_000_000_000)?)?;
    let per = attos(unit)?;
    Some(Constant::Whole { floor: since.div_euclid(per), above: since.rem_euclid(per) != 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str, scale: i32) -> (i128, bool) {
        match scaled(text, scale) {
            Some(Constant::Whole { floor, above }) => (floor, above),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn numbers_are_scaled_exactly() {
        for (text, scale, wanted) in [
            ("12", 0, (12, false)),
            ("-0.5", 0, (-1, true)),
            ("123.45", 2, (12345, false)),
            ("123.456", 2, (12345, true)),
            ("-123.456", 2, (-12346, true)),
            ("1.5e3", 0, (1500, false)),
            ("1e-40", 0, (0, true)),
            ("-1e-40", 0, (-1, true)),
            ("7e3", -3, (7, false)),
            ("7e2", -3, (0, true)),
            ("0e99999", 0, (0, false)),
            ("1e60", 0, (i128::MAX, true)),
            ("-1e60", 0, (i128::MIN, false)),
            ("1.00000000000000000000000000000000000000000000001", 0, (1, true)),
            ("-42.00000000000000000000000000000000000000000", 0, (-42, false)),
            (
                "2000000000000000000000000000.00000000005",
                10,
                (20_000_000_000_000_000_000_000_000_000_000_000_000, true),
            ),
            ("123456789012345678901234567890123456789012345", 0, (i128::MAX, true)),
            ("0.00000000000000000000000000000000000000000000123456789012345678901234567890123456789012", 0, (0, true)),
            ("-1.00000000000000000000000000000000000000000000001", 0, (-2, true)),
        ] {
            assert_eq!(whole(text, scale), wanted, "{text}");
        }
        for text in ["", "-", "x", "1x", "0x10", "1e", "1.2.3", "--1"] {
            assert_eq!(scaled(text, 0), None, "{text}");
        }
    }

    #[test]
    fn local_times_need_a_zone_that_is_known() {
        let constant = |text: &str, zone| {
            let literal = Literal { text: text.to_owned(), quoted: false };
            Constant::new(&literal, Type::Timestamp(Unit::Second), zone)
        };
        let noon = Ok(Constant::Whole { floor: 1_704_715_200, above: false });
        for (text, zone) in [
            ("2024-01-08T12:00", None),
            ("2024-01-08T12:00Z", Some("Mars/Base")),
            ("2024-01-08T13:00+01:00", Some("Mars/Base")),
            ("1704715200", Some("Mars/Base")),
            ("2024-01-08T13:00", Some("+01:00")),
        ] {
            assert_eq!(constant(text, zone), noon, "{text} {zone:?}");
        }
        for text in ["2024-01-08T12:00", "2024-01-08"] {
            let why = constant(text, Some("Mars/Base")).unwrap_err();
            assert!(why.contains("no time zone is called \"Mars/Base\"; add an offset"), "{why}");
        }
    }

    #[test]
    fn half_floats_are_compared_with_the_nearest_one() {
        for bits in (0..0x7c00).step_by(7).chain([1, 0x3ff, 0x400, 0x7bff]) {
            let value = f64::from(half_to_f32(bits));
            let next = if bits == 0x7bff { 65_536.0 } else { f64::from(half_to_f32(bits + 1)) };
            assert_eq!((half(value), half(-value)), (value, -value), "{bits:04x}");
            let middle = value.midpoint(next);
            let even = if bits & 1 == 0 { value } else { next };
            assert!(half(middle) == even || bits == 0x7bff, "{bits:04x}");
            assert_eq!(half(middle.next_down()), value, "{bits:04x}");
        }
        assert_eq!(half(0.1), f64::from(half_to_f32(0x2e66)));
        assert_eq!((half(65_520.0), half(1e9), half(-1e9)), (65_520.0, 1e9, -1e9));
        assert!(half(f64::NAN).is_nan() && half(f64::NEG_INFINITY) == f64::NEG_INFINITY);
        let literal = Literal { text: "0.1".to_owned(), quoted: false };
        let constant = Constant::new(&literal, Type::Prim(Prim::F16), None).unwrap();
        assert_eq!(constant.beside(&Value::F16(0x2e66)), Some(Ordering::Equal));
        assert_eq!(constant.beside(&Value::F16(0x2e67)), Some(Ordering::Greater));
    }

    #[test]
    fn dates_and_times_in_the_unit_of_the_column() {
        let at = |text, unit, zone| match instant(text, unit, zone) {
            Ok(Some(Constant::Whole { floor, above })) => (floor, above),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(at("2026-01-01", Unit::Day, None), (20_454, false));
        assert_eq!(at("2026-01-01T12:00", Unit::Day, None), (20_454, true));
        assert_eq!(at("2026-01-01T00:00:00.5Z", Unit::Milli, None), (1_767_225_600_500, false));
        assert_eq!(at("2026-01-01T01:00+01:00", Unit::Second, Some("UTC")), (1_767_225_600, false));
        assert_eq!(at("2026-01-01T01:00", Unit::Second, Some("Europe/Berlin")), (1_767_225_600, false));
        assert_eq!(at("2026-02-01", Unit::Month, None), (673, false));
        assert_eq!(at("2026-02-01", Unit::Year, None), (56, true));
        assert_eq!(at("-17", Unit::Nano, None), (-17, false), "a number is the stored integer");
        assert_eq!(at("2026-01-01T01:00", Unit::Second, Some("+01:00")), (1_767_225_600, false));
        assert_eq!(instant("noon", Unit::Second, None), Ok(None));
        assert_eq!(instant("2026-01-01T01:00[America/New_York]", Unit::Second, None), Ok(None));
        assert_eq!(of_day("01:02:03", Unit::Milli), Some(Constant::Whole { floor: 3_723_000, above: false }));
    }
}
