//! The usual forms of numbers, dates and times, read without the generality of other parsers, several digits at a time. All
//! other texts are left to those.

use arrow_schema::TimeUnit;

/// The byte with the highest bit in each byte of a word.
const HIGH: u128 = u128::from_ne_bytes([0x80; 16]);

/// Number of bytes that are copied at once.
#[cfg_attr(not(feature = "csv"), allow(dead_code, reason = "CSV alone copies texts"))]
const WORD: usize = 16;

/// Maximum number of characters of a number.
const LONGEST: usize = 16;

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A text at the start of some bytes. Those after it let several of its characters be read at once, whatever its length.
#[derive(Clone, Copy)]
pub(super) struct Front<'b> {
    bytes: &'b [u8],
    len: usize,
}

impl<'b> Front<'b> {
    /// Returns the first `len` bytes as a text; all of them if they are fewer.
    pub fn new(bytes: &'b [u8], len: usize) -> Self {
        Front { bytes, len: len.min(bytes.len()) }
    }

    pub fn text(&self) -> &'b [u8] {
        self.bytes.get(..self.len).unwrap_or(self.bytes)
    }

    /// Appends the text. Of a short one, words are copied faster than a call of the general copy takes.
    #[cfg_attr(not(feature = "csv"), allow(dead_code, reason = "CSV alone copies texts"))]
    #[inline(always)]
    pub fn append_to(&self, to: &mut Vec<u8>) {
        let end = to.len().saturating_add(self.len);
        match (self.bytes.first_chunk::<WORD>(), self.bytes.first_chunk::<{ 2 * WORD }>()) {
            (Some(word), _) if self.len <= WORD => to.extend_from_slice(word),
            (_, Some(words)) if self.len <= 2 * WORD => to.extend_from_slice(words),
            _ => to.extend_from_slice(self.text()),
        }
        to.truncate(end);
    }

    /// Returns 16 bytes as a word, the first one in its lowest byte. Whatever is after the text follows it.
    #[inline]
    fn word(&self) -> u128 {
        self.bytes.first_chunk().map_or_else(|| padded(self.bytes), |bytes| u128::from_le_bytes(*bytes))
    }
}

/// Returns the word of fewer than 16 bytes.
#[cold]
fn padded(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte))
}

/// A number of digits, with a point between two of them or without one: `-?[0-9]+(\.[0-9]+)?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub negative: bool,
    /// All digits, without the point: the last one in the highest byte, and zeros before the first one.
    word: u128,
    /// The number of digits before the point.
    pub whole: usize,
    /// The number of digits after the point; zero without one.
    pub scale: usize,
}

impl Number {
    /// Reads a number of at most 16 characters.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "one byte of the word")]
    pub fn new(front: Front<'_>) -> Option<Self> {
        if front.len > LONGEST || front.len == 0 {
            return None;
        }
        let word = front.word();
        let negative = word as u8 == b'-';
        let len = (front.len as u32).wrapping_sub(negative.into());
        let unused = 128u32.wrapping_sub(len << 3);
        if len == 0 {
            return None;
        }
        let word = (word >> (u32::from(negative) << 3)) ^ u128::from_ne_bytes([b'0'; 16]);
        let word = word.wrapping_shl(unused);
        let sevens = word & !HIGH;
        let others = (sevens.wrapping_add(u128::from_ne_bytes([0x76; 16])) | word) & HIGH;
        if others == 0 {
            return Some(Number { negative, word, whole: len as usize, scale: 0 });
        }
        // The point is the only other character, and neither the first nor the last.
        let bit = others.trailing_zeros() & !7;
        let is_point = (word.wrapping_shr(bit)) as u8 == b'.' ^ b'0' && others & others.wrapping_sub(1) == 0;
        let whole = bit.wrapping_sub(unused) >> 3;
        let scale = 15u32.wrapping_sub(bit >> 3);
        if !is_point || whole == 0 || scale == 0 {
            return None;
        }
        // The digits before the point move to its place.
        let after = (u128::MAX << 8).wrapping_shl(bit);
        let word = (word << 8) & !after | (word & after);
        Some(Number { negative, word, whole: whole as usize, scale: scale as usize })
    }

    /// Returns all digits, without the point.
    #[inline]
    pub const fn digits(&self) -> u64 {
        decimal(self.word)
    }

    /// Returns whether all digits are zero.
    pub const fn is_zero(&self) -> bool {
        self.word == 0
    }

    /// Returns the number if it is whole.
    #[inline]
    pub fn int(&self) -> Option<i64> {
        let digits = i64::try_from(self.digits()).ok().filter(|_| self.scale == 0)?;
        Some(if self.negative { digits.wrapping_neg() } else { digits })
    }

    /// Returns the nearest float, if all digits together are below 2^53.
    #[inline]
    #[allow(clippy::cast_precision_loss, reason = "smaller numbers are exact")]
    pub fn float(&self) -> Option<f64> {
        let digits = self.digits();
        if digits >= 1 << 53 {
            return None;
        }
        // Both are exact, hence the quotient is the float next to the number.
        let float = digits as f64 / POWERS.get(self.scale)?;
        Some(if self.negative { -float } else { float })
    }
}

/// Powers of ten, which floats of 64 bits hold exactly.
const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Returns the number of 16 digits, the first one in the lowest byte.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the halves of the word")]
const fn decimal(word: u128) -> u64 {
    let (first, last) = (eight(word as u64), eight((word >> 64) as u64));
    first.wrapping_mul(100_000_000).wrapping_add(last)
}

/// Returns the number of eight digits: pairs of digits, then of pairs, then of fours.
#[inline]
const fn eight(word: u64) -> u64 {
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff
}

/// Returns the number of units in a second.
pub(super) const fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// A date with a time of the day, without a zone or in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Seconds since 1970.
    pub seconds: i64,
    pub nanos: u32,
    /// The number of digits after the point of the second.
    pub digits: usize,
    /// Whether a `Z` says that it is in UTC.
    pub utc: bool,
}

impl Moment {
    /// Reads `YYYY-MM-DD[T ]HH:MM:SS` with up to nine digits after a point, and a `Z` or no zone. Leap seconds are left out.
    pub fn new(text: &[u8]) -> Option<Self> {
        let (text, utc) = text.strip_suffix(b"Z").map_or((text, false), |text| (text, true));
        let (date, time) = text.split_first_chunk::<10>()?;
        let (time, fraction) = time.split_first_chunk::<9>()?;
        let [b'T' | b' ', h1, h2, b':', m1, m2, b':', s1, s2] = *time else { return None };
        let (hour, minute, second) = (number([h1, h2])?, number([m1, m2])?, number([s1, s2])?);
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let (digits, nanos) = match fraction {
            [] => (0, 0),
            [b'.', digits @ ..] => (digits.len(), nanos(digits)?),
            _ => return None,
        };
        let second = i64::from(hour.wrapping_mul(3600).wrapping_add(minute.wrapping_mul(60)).wrapping_add(second));
        let seconds = i64::from(of_ten(date)?).wrapping_mul(DAY).wrapping_add(second);
        Some(Moment { seconds, nanos, digits, utc })
    }

    /// Returns the number of units of a second since 1970, unless one of them is divided or it exceeds 64 bits.
    pub fn count(&self, per_second: i64) -> Option<i64> {
        let nanos = i64::from(self.nanos);
        let step = 1_000_000_000i64.checked_div(per_second)?;
        if nanos.checked_rem(step)? != 0 {
            return None;
        }
        self.seconds.checked_mul(per_second)?.checked_add(nanos.checked_div(step)?)
    }
}

/// Returns the nanoseconds of one to nine digits after a point.
fn nanos(digits: &[u8]) -> Option<u32> {
    const UNITS: [u32; 9] = [100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1];
    let unit = UNITS.get(digits.len().checked_sub(1)?)?;
    let mut nanos = 0u32;
    for digit in digits {
        nanos = nanos.wrapping_mul(10).wrapping_add(number([*digit])?);
    }
    Some(nanos.wrapping_mul(*unit))
}

/// Reads `YYYY-MM-DD`. Returns the days since 1970.
pub(super) fn date(text: &[u8]) -> Option<i32> {
    of_ten(text.try_into().ok()?)
}

#[inline]
fn of_ten(text: &[u8; 10]) -> Option<i32> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else { return None };
    let (year, month, day) = (number([y1, y2, y3, y4])?, number([m1, m2])?, number([d1, d2])?);
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match month {
        2 => 28u32.wrapping_add(is_leap.into()),
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if day == 0 || day > last {
        return None;
    }
    // Years from March on end with the leap day. Their first is the year -400, so that no number is negative.
    let months = month.wrapping_add(9) % 12;
    let year = year.wrapping_add(400).wrapping_sub((month < 3).into());
    let leaps = (year / 4).wrapping_sub(year / 100).wrapping_add(year / 400);
    let days = year.wrapping_mul(365).wrapping_add(leaps);
    // March and the months after it have 31, 30, 31, 30, 31 days, and so on.
    let days = days.wrapping_add(months.wrapping_mul(153).wrapping_add(2) / 5).wrapping_add(day);
    i32::try_from(days).ok()?.checked_sub(EPOCH)
}

/// 1970-01-01 in the days that [`of_ten`] counts.
const EPOCH: i32 = 865_566;

/// Returns the number that consists of some digits.
#[inline]
fn number<const N: usize>(digits: [u8; N]) -> Option<u32> {
    let mut number = 0u32;
    let mut most = 0;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        most = digit.max(most);
        number = number.wrapping_mul(10).wrapping_add(digit.into());
    }
    (most <= 9).then_some(number)
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Date32Type;
    use arrow_cast::parse::{Parser, string_to_datetime};

    use super::super::random::{Random, each_text};
    use super::super::times;
    use super::*;

    fn is_simple(text: &str) -> bool {
        let all = text.len();
        let text = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_digits(whole) && is_digits(fraction) && all <= LONGEST
    }

    fn check(text: &str) {
        let number = Number::new(Front::new(text.as_bytes(), text.len()));
        // What follows a number is no part of it.
        for after in ["0", ".", "-", "123456789012345678", "\u{7f}\u{7f},,,,,,,,,,,,,,,,,,,,"] {
            let long = format!("{text}{after}");
            assert_eq!(Number::new(Front::new(long.as_bytes(), text.len())), number, "{long}");
        }
        let Some(number) = number else { return assert!(!is_simple(text), "{text}") };
        assert!(is_simple(text), "{text}");
        assert_eq!(number.int(), text.parse().ok(), "{text}");
        assert_eq!((number.whole, number.scale), {
            let digits = text.trim_start_matches('-');
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            (whole.len(), fraction.len())
        });
        let (float, expected) = (number.float().map(f64::to_bits), text.parse().map(f64::to_bits).ok());
        assert!(float == expected || (float.is_none() && number.digits() >= 1 << 53), "{text}");
    }

    #[test]
    fn numbers_are_those_of_the_general_parsers() {
        each_text(6, b"-.019/:", |text| check(str::from_utf8(text).unwrap_or_default()));
        let mut random = Random(1);
        for _ in 0..200_000 {
            let len = 1 + random.below(19);
            let mut text = random.bytes(len, b"0123456789");
            if random.below(3) > 0 {
                let place = random.below(len);
                text.splice(place..=place, [b'.']);
            }
            if random.below(8) == 0 {
                let place = random.below(len);
                text.splice(place..=place, [random.one_of(b"-.eE+ \0\x7f,0123")]);
            }
            let text = String::from_utf8(text).unwrap_or_default();
            check(&text);
            check(&format!("-{text}"));
        }
        check("ä1234567");
        assert_eq!(Number::new(Front::new(b"\xb01234567", 8)), None);
    }

    fn check_time(text: &str) {
        let date = text.len() == 10 && Date32Type::parse(text).is_some();
        assert_eq!(super::date(text.as_bytes()), if date { Date32Type::parse(text) } else { None }, "{text}");
        let general = times::UTC.and_then(|utc| string_to_datetime(&utc, text).ok());
        let general = general.filter(|time| time.timestamp_subsec_nanos() < times::LEAP && text.len() > 10);
        let (plain, utc) = text.strip_suffix('Z').map_or((text, false), |plain| (plain, true));
        let digits = plain.get(20..).unwrap_or_default();
        let is_plain = plain.bytes().skip(19).all(|byte| byte == b'.' || byte.is_ascii_digit());
        let general = general.filter(|_| is_plain && digits.len() < 10 && text.len() > 17 && !text.contains('t'));
        let general = general.map(|time| Moment {
            seconds: time.timestamp(),
            nanos: time.timestamp_subsec_nanos(),
            digits: digits.len(),
            utc,
        });
        assert_eq!(Moment::new(text.as_bytes()), general, "{text}");
    }

    #[test]
    fn texts_are_copied_without_what_follows() {
        let bytes: Vec<u8> = (0..100).collect();
        for (start, len) in (0..100).flat_map(|start| (0..=100 - start).map(move |len| (start, len))) {
            let from = bytes.get(start..).unwrap_or_default();
            let mut to = b"before".to_vec();
            Front::new(from, len).append_to(&mut to);
            assert_eq!(to.strip_prefix(b"before"), from.get(..len), "{start}, {len}");
        }
    }

    #[test]
    fn times_are_those_of_the_general_parser() {
        for year in (0..10_000).step_by(7).chain(1890..2110) {
            for month in 0..14 {
                for day in [0, 1, 2, 27, 28, 29, 30, 31, 32] {
                    check_time(&format!("{year:04}-{month:02}-{day:02}"));
                }
            }
        }
        let mut random = Random(3);
        for _ in 0..100_000 {
            let (year, month, day) = (random.below(3000), random.below(13), random.below(32));
            let (hour, minute, second) = (random.below(25), random.below(61), random.below(62));
            let between = random.one_of(&['T', ' ', 'T', ' ', 'T', ' ', 't', '_']);
            let mut text = format!("{year:04}-{month:02}-{day:02}{between}{hour:02}:{minute:02}:{second:02}");
            if random.below(3) > 0 {
                text.push('.');
                (0..random.below(11)).for_each(|_| text.push(random.one_of(&['0', '1', '5', '9'])));
            }
            check_time(&text);
            check_time(&format!("{text}Z"));
            let place = random.below(text.len());
            text.replace_range(place..=place, random.one_of(&["-", ":", ".", "Z", "+", "/", ";", "0"]));
            check_time(&text);
        }
        let moment = Moment { seconds: -1, nanos: 500_000_000, digits: 1, utc: false };
        assert_eq!((moment.count(1), moment.count(1000)), (None, Some(-500)));
    }
}
