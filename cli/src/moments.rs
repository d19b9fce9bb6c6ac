//! Dates, and timestamps in UTC or without a zone, of the years that have four digits. `time` prints the same
//! text, of more types.

use pilaster::column::{Type, Unit};

use crate::figures::{block, eight};
use crate::time;

/// The type of values.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// What a value counts; its text has no time of day if these are days.
    unit: Unit,
    /// Digits of the fraction of a second.
    digits: usize,
    is_utc: bool,
}

impl Moments {
    /// Returns how to print values of a type, or `None` if only `time` prints them.
    pub fn of(ty: Type, zone: Option<&str>) -> Option<Self> {
        let unit = match ty {
            Type::Date(Unit::Day) => Unit::Day,
            Type::Timestamp(unit) => unit,
            _ => return None,
        };
        let is_utc = match zone {
            None => false,
            Some(name) if time::is_utc(name) => true,
            Some(_) => return None,
        };
        let digits = match unit {
            Unit::Day if !is_utc => 0,
            Unit::Second => 0,
            Unit::Milli => 3,
            Unit::Micro => 6,
            Unit::Nano => 9,
            _ => return None,
        };
        Some(Moments { unit, digits, is_utc })
    }

    /// Appends the text of a value. Returns false, and appends nothing, outside the years with four digits.
    #[inline]
    pub fn put(self, out: &mut Vec<u8>, count: i64) -> bool {
        if self.unit == Unit::Day {
            return put_date(out, count);
        }
        // Divisors that are constants are faster.
        let (seconds, fraction) = match self.unit {
            Unit::Milli => (count.div_euclid(1_000), count.rem_euclid(1_000)),
            Unit::Micro => (count.div_euclid(1_000_000), count.rem_euclid(1_000_000)),
            Unit::Nano => (count.div_euclid(1_000_000_000), count.rem_euclid(1_000_000_000)),
            _ => (count, 0),
        };
        if !put_date(out, seconds.div_euclid(time::DAY)) {
            return false;
        }
        let [of_day, fraction] =
            [seconds.rem_euclid(time::DAY), fraction].map(|part| u32::try_from(part).unwrap_or_default());
        self.put_clock(out, of_day, fraction);
        true
    }

    /// Appends the time of day.
    #[inline]
    #[allow(clippy::arithmetic_side_effects, reason = "seconds of a day, and at most 9 digits of a fraction")]
    fn put_clock(self, out: &mut Vec<u8>, of_day: u32, fraction: u32) {
        let (hours, minutes, seconds) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        let [a, b, c, d, e, f, ..] = eight(hours * 1_000_000 + minutes * 10_000 + seconds * 100).to_le_bytes();
        block(out, &[b'T', a, b, b':', c, d, b':', e, f, b'.'], if self.digits > 0 { 10 } else { 9 });
        match self.digits {
            0 => {}
            9 => {
                out.extend_from_slice(&eight(fraction / 10).to_le_bytes());
                let [.., last] = eight(fraction % 10).to_le_bytes();
                out.push(last);
            }
            digits => {
                let shift = 8usize.saturating_sub(digits) << 3;
                block(out, &(eight(fraction) >> shift).to_le_bytes(), digits);
            }
        }
        if self.is_utc {
            out.push(b'Z');
        }
    }
}

/// Appends the date of a day. Returns false, and appends nothing, if its year has no four digits.
#[inline]
#[allow(clippy::arithmetic_side_effects, reason = "the parts of a date")]
fn put_date(out: &mut Vec<u8>, day: i64) -> bool {
    /// Years that are looked up: the first one begins on 0000-03-01.
    const YEARS: u32 = 9_999;
    let of_era = day.checked_add(time::FIRST_DAY).and_then(|day| u32::try_from(day).ok());
    let Some(of_era) = of_era.filter(|day| *day < (YEARS + 1) / 400 * time::CYCLE) else { return false };
    let civil = time::civil(of_era % time::CYCLE);
    let year = of_era / time::CYCLE * 400 + civil.year;
    if year > YEARS {
        return false;
    }
    let [a, b, c, d, e, f, g, h] = eight(year * 10_000 + civil.month * 100 + civil.day).to_le_bytes();
    out.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the text of `time`. Returns whether there is one.
    fn compare(count: i64, ty: Type, zone: Option<&str>) -> bool {
        let (mut wanted, mut out) = (String::new(), Vec::new());
        time::text(&mut wanted, count.into(), ty, zone);
        let is_put = Moments::of(ty, zone).unwrap().put(&mut out, count);
        assert_eq!(String::from_utf8(out).unwrap(), if is_put { &wanted } else { "" }, "{count} {ty:?}");
        is_put
    }

    #[test]
    fn days_of_years_with_four_digits() {
        let mut days = (-719_468..=2_932_896).step_by(5).chain(-719_468..-719_000).chain(-800..800).chain([2_932_896]);
        assert!(days.all(|day| compare(day, Type::Date(Unit::Day), None)));
        for day in [i64::MIN, -719_469, 2_932_897, 3_000_000, i64::from(u32::MAX), i64::MAX] {
            assert!(!compare(day, Type::Date(Unit::Day), None));
        }
    }

    #[test]
    fn instants_of_every_unit() {
        for (unit, per_second) in
            [(Unit::Second, 1), (Unit::Milli, 1_000), (Unit::Micro, 1_000_000), (Unit::Nano, 1_000_000_000)]
        {
            for k in 0..100_000i64 {
                let word = k.wrapping_mul(0x9e37_79b9_7f4a_7c15u64 as i64);
                let count = word >> (k % 40);
                for zone in [None, Some("UTC"), Some("Z")] {
                    compare(count, Type::Timestamp(unit), zone);
                    compare(k * 86_400 * per_second - (k & 1), Type::Timestamp(unit), zone);
                    compare(k - 50_000, Type::Timestamp(unit), zone);
                }
            }
            assert!(compare(1_700_000_000 * per_second + per_second / 7, Type::Timestamp(unit), None));
        }
    }

    #[test]
    fn other_types_and_zones() {
        for (ty, zone) in [
            (Type::Date(Unit::Month), None),
            (Type::Date(Unit::Milli), None),
            (Type::Timestamp(Unit::Hour), None),
            (Type::Timestamp(Unit::Day), Some("UTC")),
            (Type::Timestamp(Unit::Second), Some("Europe/Berlin")),
            (Type::Time(Unit::Second), None),
        ] {
            assert!(Moments::of(ty, zone).is_none());
        }
    }
}
