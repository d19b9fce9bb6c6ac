//! Dates, times and timestamps as ISO 8601 text.
//!
//! The calendar covers every instant that 64 bits of any unit can count, so years may have more than four digits; they
//! then carry a sign, as ISO 8601 wants it. A time zone is looked up in the time zone database. One that is not in it, or
//! an instant outside the years that the database covers, is printed in UTC.

use std::cell::RefCell;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use pilaster::column::{Type, Unit};
use pilaster::vortex::write::holds_zone;

use crate::digits::{self, put_padded};

/// Units of a second, and digits of its fraction.
struct Scale {
    per_second: i64,
    digits: usize,
}

/// Returns how a unit divides the second, or `None` of units that are longer.
const fn scale(unit: Unit) -> Option<Scale> {
    let digits: u8 = match unit {
        Unit::Second => 0,
        Unit::Milli => 3,
        Unit::Micro => 6,
        Unit::Nano => 9,
        Unit::Pico => 12,
        Unit::Femto => 15,
        Unit::Atto => 18,
        Unit::Year | Unit::Month | Unit::Week | Unit::Day | Unit::Hour | Unit::Minute => return None,
    };
    Some(Scale { per_second: 10i64.pow(digits as u32), digits: digits as usize })
}

/// Seconds of a day.
pub const DAY: i64 = 86_400;

/// Divides a number by a smaller one. Returns the quotient, rounded down, and the rest, at least 0.
#[inline]
fn split(number: i128, by: i64) -> (i128, i64) {
    match i64::try_from(number) {
        // Several times as fast.
        Ok(number) => (number.div_euclid(by).into(), number.rem_euclid(by)),
        Err(_) => {
            let rest = number.rem_euclid(by.into());
            // It is smaller than the divisor.
            (number.div_euclid(by.into()), i64::try_from(rest).unwrap_or_default())
        }
    }
}

/// Appends the text of `count`, a value of type `ty`, a date or a time.
///
/// `zone` is the time zone of a timestamp: the text is then the local time with its offset from UTC.
pub fn text(out: &mut String, count: i128, ty: Type, zone: Option<&str>) {
    match ty {
        Type::Date(unit) => date_and_time(out, count, unit, None, Clock::IfAny),
        Type::Timestamp(unit) => date_and_time(out, count, unit, zone, Clock::Always),
        Type::Time(unit) => time_of_day(out, count, unit),
        _ => {}
    }
}

/// Whether the time of day is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    Always,
    /// Only if it is not midnight.
    IfAny,
}

fn date_and_time(out: &mut String, count: i128, unit: Unit, zone: Option<&str>, clock: Clock) {
    let day: i128 = DAY.into();
    let (seconds, fraction, digits) = match unit {
        Unit::Year => return year(out, count.saturating_add(1970)),
        Unit::Month => {
            let (years, month) = split(count, 12);
            year(out, years.saturating_add(1970));
            return put(out, '-', month.saturating_add(1), 2);
        }
        Unit::Week => (count.saturating_mul(7).saturating_mul(day), 0, 0),
        Unit::Day => (count.saturating_mul(day), 0, 0),
        Unit::Hour => (count.saturating_mul(3600), 0, 0),
        Unit::Minute => (count.saturating_mul(60), 0, 0),
        _ => divided(count, unit),
    };
    let zone = zone.map(|name| Zone::at(name, seconds));
    let (days, of_day) = split(seconds.saturating_add(zone.map_or(0, |zone| zone.seconds.into())), DAY);
    date(out, days);
    let whole_days = matches!(unit, Unit::Week | Unit::Day) || (clock == Clock::IfAny && of_day == 0 && fraction == 0);
    if !whole_days || zone.is_some() {
        out.push('T');
        time(out, of_day.into(), fraction, digits);
    }
    if let Some(zone) = zone {
        zone.put(out);
    }
}

fn time_of_day(out: &mut String, count: i128, unit: Unit) {
    if count < 0 {
        out.push('-');
    }
    let count = count.saturating_abs();
    let (seconds, fraction, digits) = match unit {
        Unit::Hour => (count.saturating_mul(3600), 0, 0),
        Unit::Minute => (count.saturating_mul(60), 0, 0),
        _ => divided(count, unit),
    };
    time(out, seconds, fraction, digits);
}

/// Divides a count of `unit` into seconds, the rest, and the digits of the rest.
fn divided(count: i128, unit: Unit) -> (i128, i64, usize) {
    match scale(unit) {
        Some(Scale { per_second, digits }) => {
            let (seconds, fraction) = split(count, per_second);
            (seconds, fraction, digits)
        }
        // Longer than a second: whole seconds of it are for the caller to count.
        None => (count, 0, 0),
    }
}

/// Appends hours, minutes, seconds, and `digits` digits of the fraction.
fn time(out: &mut String, seconds: i128, fraction: i64, digits: usize) {
    let (hours, of_hour) = split(seconds, 3600);
    let of_hour = u32::try_from(of_hour).unwrap_or_default();
    let ([c, d], [e, f]) = (pair(of_hour / 60), pair(of_hour % 60));
    match u32::try_from(hours) {
        Ok(hours @ 0..100) => {
            let [a, b] = pair(hours);
            ascii(out, &[a, b, b':', c, d, b':', e, f]);
        }
        // Hours of 128 bits have no leading zeros.
        _ => {
            digits::put_integer(out, hours);
            ascii(out, &[b':', c, d, b':', e, f]);
        }
    }
    if digits > 0 {
        out.push('.');
        put_padded(out, fraction.unsigned_abs(), digits);
    }
}

/// Returns the two digits of a number below 100.
#[allow(clippy::arithmetic_side_effects, reason = "the digits are below 10")]
const fn pair(number: u32) -> [u8; 2] {
    let [tens, ..] = (number / 10 % 10).to_le_bytes();
    let [ones, ..] = (number % 10).to_le_bytes();
    [b'0' + tens, b'0' + ones]
}

/// Appends ASCII characters.
fn ascii(out: &mut String, text: &[u8]) {
    out.push_str(str::from_utf8(text).unwrap_or_default());
}

/// Days of 400 years, after which the calendar repeats.
pub const CYCLE: u32 = 146_097;

/// Days from 0000-03-01 to 1970-01-01. Years begin in March, so that the leap day is the last day of a year.
pub const FIRST_DAY: i64 = 719_468;

/// A date within 400 years, from March of year 0 on.
pub struct Civil {
    pub year: u32,
    pub month: u32,
    pub day: u32,
}

/// Returns the date of a day below [`CYCLE`] in the proleptic Gregorian calendar.
#[inline]
#[allow(clippy::arithmetic_side_effects, reason = "all numbers are below 146,097 times 5")]
pub const fn civil(of_cycle: u32) -> Civil {
    // A leap day every 4 years, but not every 100, but every 400.
    let leap_days = of_cycle / 1460 - of_cycle / 36_524 + of_cycle / (CYCLE - 1);
    let of_era = (of_cycle - leap_days) / 365;
    let of_year = of_cycle - (365 * of_era + of_era / 4 - of_era / 100);
    // March to January have 31, 30, 31, 30, 31 days in turn: 153 days every five months.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    Civil { year: of_era + next_year, month, day }
}

/// Appends the date of the day with the given number, counted from 1970-01-01.
fn date(out: &mut String, day: i128) {
    let (cycle, of_cycle) = split(day.saturating_add(FIRST_DAY.into()), CYCLE.into());
    let Civil { year: of_cycle, month, day } = civil(u32::try_from(of_cycle).unwrap_or_default());
    let number = cycle.saturating_mul(400).saturating_add(of_cycle.into());
    let ([e, f], [g, h]) = (pair(month), pair(day));
    match u32::try_from(number) {
        Ok(number @ 0..10_000) => {
            let ([a, b], [c, d]) = (pair(number.div_euclid(100)), pair(number.rem_euclid(100)));
            ascii(out, &[a, b, c, d, b'-', e, f, b'-', g, h]);
        }
        _ => {
            year(out, number);
            ascii(out, &[b'-', e, f, b'-', g, h]);
        }
    }
}

/// Appends a year: four digits, or a sign and at least four digits.
fn year(out: &mut String, year: i128) {
    let size = year.unsigned_abs();
    if !(0..=9999).contains(&year) {
        out.push(if year < 0 { '-' } else { '+' });
    }
    match u64::try_from(size) {
        Ok(size) => put_padded(out, size, 4),
        Err(_) => out.push_str(&size.to_string()),
    }
}

/// Appends a mark and a number that is not negative, with at least `width` digits.
fn put(out: &mut String, mark: char, number: i64, width: usize) {
    out.push(mark);
    put_padded(out, number.unsigned_abs(), width);
}

/// The offset of a time zone from UTC at one instant.
#[derive(Clone, Copy)]
struct Zone {
    seconds: i32,
    /// Printed as `Z`, not as `+00:00`.
    utc: bool,
}

impl Zone {
    /// Returns the offset of the zone called `name` at a time in seconds since 1970.
    fn at(name: &str, seconds: i128) -> Self {
        const UTC: Zone = Zone { seconds: 0, utc: true };
        if is_utc(name) {
            return UTC;
        }
        thread_local! {
            /// The zone that was asked for last: rows ask for the same one.
            static LAST: RefCell<(String, Option<TimeZone>)> = const { RefCell::new((String::new(), None)) };
        }
        LAST.with_borrow_mut(|(known, zone)| {
            if known != name {
                (*known, *zone) = (name.to_owned(), time_zone(name));
            }
            let instant = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
            match (zone, instant) {
                (Some(zone), Some(instant)) => Zone { seconds: zone.to_offset(instant).seconds(), utc: false },
                _ => UTC,
            }
        })
    }

    fn put(self, out: &mut String) {
        if self.utc {
            return out.push('Z');
        }
        let (sign, seconds) = (if self.seconds < 0 { '-' } else { '+' }, i64::from(self.seconds.unsigned_abs()));
        put(out, sign, seconds.div_euclid(3600), 2);
        put(out, ':', seconds.rem_euclid(3600).div_euclid(60), 2);
        // Local mean times of the 19th century have seconds.
        if seconds.rem_euclid(60) > 0 {
            put(out, ':', seconds.rem_euclid(60), 2);
        }
    }
}

/// Returns whether a time zone is UTC by its name.
pub fn is_utc(name: &str) -> bool {
    name.eq_ignore_ascii_case("utc") || name == "Z"
}

/// Returns the time zone called `name`: one of the time zone database, or a fixed offset.
pub fn time_zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok().or_else(|| fixed(name))
}

/// Returns whether readers of Vortex know a time zone: those that look it up refuse a file with another one. True if this host
/// has no database of time zones.
pub fn is_known_zone(name: &str) -> bool {
    let is_offset = name.starts_with(['+', '-']) && holds_zone(name);
    is_offset || TimeZone::get(name).is_ok() || TimeZone::get("Europe/Berlin").is_err()
}

/// Returns the zone of a name like `+01:00`, `-0530` or `+01:00:30`.
fn fixed(name: &str) -> Option<TimeZone> {
    let (sign, rest) =
        name.strip_prefix('+').map(|rest| (1, rest)).or(name.strip_prefix('-').map(|rest| (-1, rest)))?;
    if !holds_zone(name) {
        return None;
    }
    let digits: Vec<u8> = rest.bytes().filter(u8::is_ascii_digit).map(|digit| digit & 15).collect();
    let pairs = digits
        .as_chunks::<2>()
        .0
        .iter()
        .map(|[ten, one]| i32::from(*ten).saturating_mul(10).saturating_add((*one).into()));
    let add = |sum: i32, (count, unit): (i32, i32)| sum.saturating_add(count.saturating_mul(unit));
    let seconds = pairs.zip([3600, 60, 1]).fold(0, add);
    Offset::from_seconds(seconds.saturating_mul(sign)).ok().map(TimeZone::fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(count: i64, ty: Type, zone: Option<&str>) -> String {
        let mut out = String::new();
        text(&mut out, count.into(), ty, zone);
        out
    }

    #[test]
    fn dates_in_every_unit() {
        for (count, unit, wanted) in [
            (0, Unit::Day, "1970-01-01"),
            (-1, Unit::Day, "1969-12-31"),
            (11_016, Unit::Day, "2000-02-29"),
            (11_017, Unit::Day, "2000-03-01"),
            (-719_529, Unit::Day, "-0001-12-31"),
            (2_932_896, Unit::Day, "9999-12-31"),
            (2_932_897, Unit::Day, "+10000-01-01"),
            (1, Unit::Week, "1970-01-08"),
            (-1, Unit::Month, "1969-12"),
            (56, Unit::Year, "2026"),
            (86_400_000, Unit::Milli, "1970-01-02"),
            (86_400_001, Unit::Milli, "1970-01-02T00:00:00.001"),
        ] {
            assert_eq!(shown(count, Type::Date(unit), None), wanted);
        }
    }

    /// Against the calendar of another crate, over the years that it covers.
    #[test]
    fn dates_agree_with_jiff() {
        let epoch = jiff::civil::date(1970, 1, 1);
        for day in (-719_000i32..2_900_000).step_by(97).chain(-800..800) {
            let wanted = epoch.checked_add(jiff::Span::new().days(day)).unwrap();
            assert_eq!(shown(day.into(), Type::Date(Unit::Day), None), wanted.to_string());
        }
    }

    #[test]
    fn instants_in_every_unit() {
        for (count, unit, wanted) in [
            (-1, Unit::Second, "1969-12-31T23:59:59"),
            (1_767_225_600_123, Unit::Milli, "2026-01-01T00:00:00.123"),
            (-1, Unit::Nano, "1969-12-31T23:59:59.999999999"),
            (1, Unit::Atto, "1970-01-01T00:00:00.000000000000000001"),
            (25, Unit::Hour, "1970-01-02T01:00:00"),
            (61, Unit::Minute, "1970-01-01T01:01:00"),
            (1, Unit::Day, "1970-01-02"),
            (i64::MAX, Unit::Second, "+292277026596-12-04T15:30:07"),
        ] {
            assert_eq!(shown(count, Type::Timestamp(unit), None), wanted);
        }
    }

    #[test]
    fn zones_are_local_times_with_an_offset() {
        let shown = |count, zone| shown(count, Type::Timestamp(Unit::Second), Some(zone));
        assert_eq!(shown(0, "UTC"), "1970-01-01T00:00:00Z");
        assert_eq!(shown(0, "Europe/Berlin"), "1970-01-01T01:00:00+01:00");
        assert_eq!(shown(1_782_864_000, "Europe/Berlin"), "2026-07-01T02:00:00+02:00");
        assert_eq!(shown(0, "-05:30"), "1969-12-31T18:30:00-05:30");
        assert_eq!(shown(0, "+01"), "1970-01-01T01:00:00+01:00");
        assert_eq!(shown(0, "-010030"), "1969-12-31T22:59:30-01:00:30");
        assert_eq!(shown(0, "Not/There"), "1970-01-01T00:00:00Z", "the instant is known all the same");
        assert_eq!(shown(i64::MAX, "Europe/Berlin"), "+292277026596-12-04T15:30:07Z");
    }

    #[test]
    fn zones_that_readers_know() {
        let known = ["UTC", "Europe/Berlin", "CET", "Etc/GMT+5", "+01:00", "-05:30", "+0100", "-25:59", "+01:00:30"];
        assert!(known.into_iter().all(is_known_zone));
        let unknown = ["Z", "UTC+1", "Not/There", "+1:00", "+26:00", "+01:60", "local"];
        assert_eq!(unknown.into_iter().find(|name| is_known_zone(name)), None);
    }

    #[test]
    fn times_of_day() {
        assert_eq!(shown(3_723_000_001, Type::Time(Unit::Micro), None), "01:02:03.000001");
        assert_eq!(shown(90_000, Type::Time(Unit::Second), None), "25:00:00", "outside a day nothing is lost");
        assert_eq!(shown(-1, Type::Time(Unit::Second), None), "-00:00:01");
    }
}
