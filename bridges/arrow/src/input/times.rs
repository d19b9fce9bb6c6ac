//! Texts as dates and times: exactly, or why not.

use std::sync::LazyLock;

use arrow_array::timezone::Tz;
use arrow_array::types::Date32Type;
use arrow_cast::parse::{Parser, string_to_datetime, string_to_time_nanoseconds};
use arrow_schema::TimeUnit;

use super::exact::{From, Why};
use super::forms::{self, Moment};

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

/// The zone of texts without one.
pub(super) static UTC: LazyLock<Option<Tz>> = LazyLock::new(|| "+00:00".parse().ok());

/// Within a leap second, the nanoseconds of the second before count from here. No type counts leap seconds.
pub(super) const LEAP: u32 = 1_000_000_000;

pub(super) fn date(text: &str) -> Result<i32, Why> {
    if let Some(days) = forms::date(text.as_bytes()) {
        return Ok(days);
    }
    // Longer texts have a time, which a date would lose, unless the year has a sign.
    let days = (text.len() <= 10 || text.starts_with(['+', '-'])).then(|| Date32Type::parse(text)).flatten();
    days.ok_or_else(|| "it is no date such as 2024-02-29".to_owned())
}

/// Returns the number of digits after the point of a second.
fn fraction(text: &str) -> usize {
    let digits = text.split_once('.').map_or("", |(_, fraction)| fraction);
    digits.bytes().take_while(u8::is_ascii_digit).count()
}

fn leap() -> Why {
    "it is a leap second, which the type does not have".to_owned()
}

pub(super) fn time<N: TryFrom<i64>>(text: &str, unit: i64) -> Result<N, Why> {
    // The parser makes the next second of a leap second.
    if text.split(':').nth(2).is_some_and(|second| second.starts_with("60")) {
        return Err(leap());
    }
    let nanos = string_to_time_nanoseconds(text).ok().filter(|nanos| *nanos < DAY && fraction(text) <= 9);
    let nanos = nanos.ok_or_else(|| "it is no time such as 13:59:59.5".to_owned())?;
    let whole = nanos.checked_div(unit).filter(|_| nanos.checked_rem(unit) == Some(0)).ok_or_else(finer)?;
    N::try_from(whole).map_err(|_| "it is out of the range".to_owned())
}

fn finer() -> Why {
    "it has more digits of a second than the type".to_owned()
}

pub(super) fn moment(text: &str, (unit, zone): (TimeUnit, Option<Tz>), from: From) -> Result<i64, Why> {
    if from == From::Json
        && let Ok(count) = text.parse()
    {
        return Ok(count);
    }
    let per_second = forms::per_second(unit);
    if let Some(moment) = Moment::new(text.as_bytes())
        && moment.utc == zone.is_some()
        && let Some(count) = moment.count(per_second)
    {
        return Ok(count);
    }
    let no_time = || "it is no time such as 2024-02-29T13:59:59.5".to_owned();
    let time = text.get(10..).ok_or_else(no_time)?;
    let found = zone.or(*UTC).and_then(|zone| string_to_datetime(&zone, text).ok()).ok_or_else(no_time)?;
    let is_plain = time.bytes().skip(1).all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
    if zone.is_none() && !is_plain {
        return Err("it has a time zone, and the type has none".to_owned());
    }
    if found.timestamp_subsec_nanos() >= LEAP {
        return Err(leap());
    }
    let nanos = i64::from(found.timestamp_subsec_nanos());
    let step = 1_000_000_000i64.checked_div(per_second).unwrap_or(1);
    if fraction(time) > 9 || nanos.checked_rem(step) != Some(0) {
        return Err(finer());
    }
    let part = nanos.checked_div(step).unwrap_or(0);
    // Before 1970 the sum may fit although the product does not.
    let sum = i128::from(found.timestamp()).saturating_mul(per_second.into()).saturating_add(part.into());
    i64::try_from(sum).map_err(|_| "it is out of the range".to_owned())
}
