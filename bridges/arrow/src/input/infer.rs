//! The type of texts: the narrowest that holds every one of them.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use arrow_array::types::{Date32Type, Float64Type};
use arrow_cast::parse::{Parser, string_to_datetime};
use arrow_schema::{DataType, TimeUnit};
use flate2::bufread::MultiGzDecoder;

use super::Input;
use super::floats::{self, SURE, lost};
use super::forms::{self, Front, Moment, Number};
use super::times;

const BOOL: u8 = 1;
const INT: u8 = 2;
const UINT: u8 = 4;
const FLOAT: u8 = 8;
const DATE: u8 = 16;
/// Times without a zone, or dates.
const TIME: u8 = 32;
const ZONED: u8 = 64;
const ALL: u8 = 127;

/// The zone of times with an offset. Arrow parses no names of zones without a database of them.
const UTC: &str = "+00:00";

/// Integers up to this are floats without a loss.
pub(super) const EXACT: u64 = 1 << 53;

/// Seconds that 64-bit nanoseconds can hold.
const NANO_SECONDS: i64 = i64::MAX / 1_000_000_000;

/// The types that all texts so far fit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Texts {
    /// Whether there is a text, which is not empty.
    seen: bool,
    /// Whether there is an empty text, which other types read as a missing value.
    empty: bool,
    fits: u8,
    /// Maximum number of digits of a fraction of a second.
    digits: usize,
    /// Whether nanoseconds of 64 bits hold all times.
    long: bool,
}

impl Texts {
    /// Adds a text. One that is no UTF-8 fits no other type.
    #[inline(always)]
    pub fn add(&mut self, front: Front<'_>) {
        let text = front.text();
        if text.is_empty() {
            self.empty = true;
            return;
        }
        if !self.seen {
            (self.seen, self.fits) = (true, ALL);
        }
        if self.fits == 0 {
            return;
        }
        if self.fits & BOOL > 0 && !(text.eq_ignore_ascii_case(b"true") || text.eq_ignore_ascii_case(b"false")) {
            self.fits &= !BOOL;
        }
        if self.fits & (INT | UINT | FLOAT) > 0 {
            let kinds = Number::new(front).and_then(|number| numbers(&number, text));
            let kinds = kinds.unwrap_or_else(|| str::from_utf8(text).map_or(0, other_numbers));
            self.fits &= kinds | !(INT | UINT | FLOAT);
        }
        if self.fits & (DATE | TIME | ZONED) > 0 {
            self.fits &= self.times(text) | !(DATE | TIME | ZONED);
        }
    }

    /// Adds a text to texts that are numbers. `number`: the one that it is, if it has the usual form.
    #[cfg_attr(not(feature = "csv"), allow(dead_code, reason = "CSV alone knows types before the texts"))]
    #[inline(always)]
    pub fn add_number(&mut self, front: Front<'_>, number: Option<&Number>) {
        match number.and_then(|number| numbers(number, front.text())) {
            Some(kinds) => self.fits &= kinds,
            None => self.add(front),
        }
    }

    /// Adds a text to texts that are dates. `days`: the date that it is, if it has the usual form.
    #[cfg_attr(not(feature = "csv"), allow(dead_code, reason = "CSV alone knows types before the texts"))]
    #[inline(always)]
    pub fn add_date(&mut self, front: Front<'_>, days: Option<i32>) {
        match days {
            Some(days) => self.fits &= self.date(days),
            None => self.add(front),
        }
    }

    /// Adds a text to texts that are times. `moment`: the time that it is, if it has the usual form.
    #[cfg_attr(not(feature = "csv"), allow(dead_code, reason = "CSV alone knows types before the texts"))]
    #[inline(always)]
    pub fn add_moment(&mut self, front: Front<'_>, moment: Option<&Moment>) {
        match moment {
            Some(moment) => self.fits &= self.moment(moment),
            None => self.add(front),
        }
    }

    /// Returns the kinds of dates and times that a text is.
    fn times(&mut self, text: &[u8]) -> u8 {
        if let Some(moment) = Moment::new(text) {
            return self.moment(&moment);
        }
        if let Some(days) = forms::date(text) {
            return self.date(days);
        }
        str::from_utf8(text).map_or(0, |text| self.other_times(text))
    }

    fn moment(&mut self, moment: &Moment) -> u8 {
        self.digits = self.digits.max(moment.digits);
        self.long |= moment.seconds.saturating_abs() >= NANO_SECONDS;
        if moment.utc { ZONED } else { TIME }
    }

    fn date(&mut self, days: i32) -> u8 {
        self.long |= i64::from(days).saturating_mul(86_400).saturating_abs() >= NANO_SECONDS;
        DATE | TIME
    }

    fn other_times(&mut self, text: &str) -> u8 {
        let date = text.get(..10).filter(|date| is_date(date.as_bytes()));
        let Some(rest) = date.and_then(|_| text.get(10..)) else { return 0 };
        if rest.is_empty() {
            return Date32Type::parse(text).map_or(0, |days| self.date(days));
        }
        let Some(time) = rest.strip_prefix(['T', ' ']) else { return 0 };
        let moment = times::UTC.and_then(|utc| string_to_datetime(&utc, text).ok());
        let Some(moment) = moment.filter(|moment| moment.timestamp_subsec_nanos() < times::LEAP) else { return 0 };
        let digits = time.split_once('.').map_or("", |(_, fraction)| fraction);
        let digits = digits.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 9 {
            return 0;
        }
        self.digits = self.digits.max(digits);
        self.long |= moment.timestamp().saturating_abs() >= NANO_SECONDS;
        let is_plain = time.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
        if is_plain { TIME } else { ZONED }
    }

    /// Returns whether there is an empty text.
    #[cfg(feature = "json")]
    pub const fn has_empty(&self) -> bool {
        self.empty
    }

    /// Returns the type. Columns without any value have no type.
    pub fn ty(&self) -> DataType {
        let fits = |kind| self.fits & kind > 0;
        let unit = match self.digits {
            0 => TimeUnit::Second,
            1..=3 => TimeUnit::Millisecond,
            4..=6 => TimeUnit::Microsecond,
            _ => TimeUnit::Nanosecond,
        };
        let is_short = !(unit == TimeUnit::Nanosecond && self.long);
        match () {
            () if !self.seen && self.empty => DataType::Utf8,
            () if !self.seen => DataType::Null,
            () if fits(BOOL) => DataType::Boolean,
            () if fits(INT) => DataType::Int64,
            () if fits(UINT) => DataType::UInt64,
            () if fits(FLOAT) => DataType::Float64,
            () if fits(DATE) => DataType::Date32,
            () if fits(TIME) && is_short => DataType::Timestamp(unit, None),
            () if fits(ZONED) && is_short => DataType::Timestamp(unit, Some(Arc::from(UTC))),
            () => DataType::Utf8,
        }
    }
}

fn is_date(text: &[u8]) -> bool {
    let kinds =
        text.iter().enumerate().map(|(i, byte)| if i == 4 || i == 7 { *byte == b'-' } else { byte.is_ascii_digit() });
    kinds.fold(text.len() == 10, |all, one| all && one)
}

/// Returns the kinds of numbers that a number of the usual form is; `None` if its digits do not tell. Digits after a leading
/// zero are a code, such as a postal code.
#[inline(always)]
fn numbers(number: &Number, text: &[u8]) -> Option<u8> {
    let kinds = if number.negative { INT } else { INT | UINT };
    let digits = number.whole.saturating_add(number.scale);
    match number.scale {
        _ if number.whole > 1 && text.get(usize::from(number.negative)) == Some(&b'0') => Some(0),
        0 if number.negative && number.is_zero() => Some(FLOAT),
        0 if digits <= SURE || number.digits() <= EXACT => Some(kinds | FLOAT),
        0 => Some(kinds),
        // A float gives back so few digits.
        _ if digits <= SURE => Some(FLOAT),
        _ => None,
    }
}

fn other_numbers(text: &str) -> u8 {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    if whole > 1 && digits.starts_with('0') {
        return 0;
    }
    if whole < digits.len() && floats::is_kept(text) {
        return FLOAT;
    }
    // Integers have no negative zero.
    if whole == digits.len() && whole > 0 && text != "-0" {
        let (int, uint) = (text.parse::<i64>().ok(), text.parse::<u64>().ok());
        let is_exact = int.is_some_and(|int| int.unsigned_abs() <= EXACT);
        let kinds = [(int.is_some(), INT), (uint.is_some(), UINT), (is_exact, FLOAT)];
        return kinds.into_iter().filter(|(fits, _)| *fits).map(|(_, kind)| kind).sum();
    }
    let is_number =
        digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let is_special = matches!(digits, "NaN" | "nan" | "inf" | "Infinity");
    let is_number = is_number && digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    match is_number || is_special {
        true if Float64Type::parse(text).is_some_and(|value| is_special || lost(text, value).is_none()) => FLOAT,
        _ => 0,
    }
}

/// Returns a reader of a text file, which may be compressed with gzip.
pub(super) fn reader(input: &Input) -> io::Result<Box<dyn BufRead + Send>> {
    let mut text: Box<dyn BufRead + Send> = Box::new(input.read_from(0));
    if text.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        text = Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(text)));
    }
    // A byte order mark is no part of the first name.
    if text.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        text.read_exact(&mut [0; 3])?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::random::each_text;
    use super::*;

    fn ty(texts: &[&str]) -> DataType {
        let mut all = Texts::default();
        texts.iter().for_each(|text| all.add(Front::new(text.as_bytes(), text.len())));
        all.ty()
    }

    #[test]
    fn the_narrowest_type_of_all_texts() {
        let stamp = |unit, zone: Option<&str>| DataType::Timestamp(unit, zone.map(Arc::from));
        assert_eq!((ty(&[]), ty(&[""]), ty(&["", "1"])), (DataType::Null, DataType::Utf8, DataType::Int64));
        assert_eq!(ty(&["true", "FALSE"]), DataType::Boolean);
        assert_eq!(ty(&["true", "1"]), DataType::Utf8);
        assert_eq!(ty(&["1", "-9223372036854775808", "0"]), DataType::Int64);
        assert_eq!(ty(&["1", "18446744073709551615"]), DataType::UInt64);
        assert_eq!(ty(&["-1", "18446744073709551615"]), DataType::Utf8);
        assert_eq!(ty(&["1", "-0.5", "1e300", ".5", "NaN", "-inf", "-Infinity"]), DataType::Float64);
        // Not exact as a float.
        assert_eq!(ty(&["9007199254740993", "0.5"]), DataType::Utf8);
        assert_eq!(ty(&["1e999"]), DataType::Utf8);
        // Nor are more digits, and what is too small.
        assert_eq!((ty(&["9007199254740993.0"]), ty(&["12345678901234567890.12"])), (DataType::Utf8, DataType::Utf8));
        assert_eq!((ty(&["1e-400"]), ty(&["0.10000000000000001", "0e-400"])), (DataType::Utf8, DataType::Float64));
        assert_eq!((ty(&["-0", "1"]), ty(&["-0", "9007199254740993"])), (DataType::Float64, DataType::Utf8));
        // Codes.
        assert_eq!((ty(&["007", "12"]), ty(&["+49"]), ty(&["00.5"])), (DataType::Utf8, DataType::Utf8, DataType::Utf8));
        assert_eq!((ty(&["-"]), ty(&["e"]), ty(&["1 "])), (DataType::Utf8, DataType::Utf8, DataType::Utf8));
        assert_eq!(ty(&["2024-02-29", "1969-12-31"]), DataType::Date32);
        assert_eq!((ty(&["2023-02-29"]), ty(&["2024-2-9"])), (DataType::Utf8, DataType::Utf8));
        assert_eq!(ty(&["2024-02-29", "2024-02-29T01:02:03"]), stamp(TimeUnit::Second, None));
        assert_eq!(ty(&["2024-02-29 01:02:03.1", "2024-02-29 01:02:03"]), stamp(TimeUnit::Millisecond, None));
        assert_eq!(ty(&["2024-02-29T01:02:03.123456789"]), stamp(TimeUnit::Nanosecond, None));
        assert_eq!(ty(&["1024-02-29T01:02:03.123456789"]), DataType::Utf8);
        assert_eq!(
            ty(&["2024-02-29T01:02:03Z", "2024-02-29T01:02:03.5+02:00"]),
            stamp(TimeUnit::Millisecond, Some(UTC))
        );
        assert_eq!(ty(&["1600-01-01", "2024-02-29T01:02:03.123456789"]), DataType::Utf8);
        // A leap second.
        assert_eq!(ty(&["2016-12-31T23:59:60", "2024-02-29T01:02:03"]), DataType::Utf8);
        // With and without a zone.
        assert_eq!(ty(&["2024-02-29T01:02:03Z", "2024-02-29T01:02:03"]), DataType::Utf8);
    }

    /// Checks that a text whose value is known adds what it would add otherwise.
    fn known(text: &str) {
        let front = Front::new(text.as_bytes(), text.len());
        let after = |first: &str| {
            let mut all = Texts::default();
            all.add(Front::new(first.as_bytes(), first.len()));
            let mut other = all;
            other.add(front);
            (all, other)
        };
        let check = |(known, added): (Texts, Texts)| {
            let facts = |all: Texts| (all.fits, all.digits, all.long);
            assert_eq!(facts(known), facts(added), "{text}");
        };
        for first in ["1", "-1", "1.5", "9007199254740993"] {
            let (mut all, other) = after(first);
            all.add_number(front, Number::new(front).as_ref());
            check((all, other));
        }
        let (mut all, other) = after("2024-02-29");
        all.add_date(front, forms::date(text.as_bytes()));
        check((all, other));
        for first in ["2024-02-29T01:02:03", "2024-02-29T01:02:03.1234567Z"] {
            let (mut all, other) = after(first);
            all.add_moment(front, Moment::new(text.as_bytes()).as_ref());
            check((all, other));
        }
    }

    #[test]
    fn the_usual_forms_have_the_types_of_the_general_parsers() {
        let check = |text: &str| {
            let number = Number::new(Front::new(text.as_bytes(), text.len()));
            let kinds = number.and_then(|number| numbers(&number, text.as_bytes()));
            assert!(kinds.is_none_or(|kinds| kinds == other_numbers(text)), "{text}");
            known(text);
            let (mut fast, mut slow) = (Texts::default(), Texts::default());
            assert_eq!(fast.times(text.as_bytes()), slow.other_times(text), "{text}");
            assert_eq!((fast.digits, fast.long), (slow.digits, slow.long), "{text}");
        };
        each_text(6, b"-.019e", |text| check(str::from_utf8(text).unwrap_or_default()));
        for digits in 1..=20 {
            for text in ["9007199254740993123", "9007199254740992", "10000000000000000000", "99999999999999999999"] {
                let Some(text) = text.get(..digits) else { continue };
                check(text);
                check(&format!("-{text}"));
                for (whole, fraction) in (0..=digits).filter_map(|point| text.split_at_checked(point)) {
                    check(&format!("{whole}.{fraction}"));
                }
            }
        }
        for year in ["0000", "1677", "1678", "1969", "1970", "2262", "2263", "9999"] {
            for rest in ["-02-28", "-02-29", "-2-3", "-04-11 23:47:16", "-04-11T23:47:16.854775807", "-12-31T23:59:60"]
            {
                check(&format!("{year}{rest}"));
            }
            for rest in [
                "-01-01T00:00:00.",
                "-01-01T00:00:00.1234567891",
                "-01-01T00:00:00Z",
                "-01-01 00:00:00.25Z",
                "-04-11T23:47:16.1234567891Z",
                "-12-31T23:59:60Z",
                "-01-01T00:00:00.Z",
                "-01-01T00:00:00z",
                "-01-01Z",
                "-01-01t00:00:00",
                "-01-01T000000",
            ] {
                check(&format!("{year}{rest}"));
            }
        }
    }
}
