//! Which dates and times `datetime` has.

use pilaster_arrow::arrow_data::ArrayData;
use pilaster_arrow::arrow_schema::{DataType, TimeUnit};

/// How dates and times are passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// As values of `datetime`.
    Datetime,
    /// As integers, since `datetime` does not have one of the column.
    Counts,
}

/// Days of the years 1 and 9999 since 1970.
const DAYS: (i64, i64) = (-719_162, 2_932_896);

const DAY_SECONDS: i64 = 86_400;

/// Returns the number of counts of a second, of times.
pub const fn ticks(ty: &DataType) -> i64 {
    match ty {
        DataType::Time32(unit) | DataType::Time64(unit) | DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => 1,
            TimeUnit::Millisecond => 1_000,
            TimeUnit::Microsecond => 1_000_000,
            TimeUnit::Nanosecond => 1_000_000_000,
        },
        DataType::Date64 => 1_000,
        _ => 1,
    }
}

/// Returns whether `datetime` has all dates and times of an array and of the arrays in it.
pub fn fits(array: &ArrayData) -> bool {
    use DataType::{Date32, Date64, Time32, Time64, Timestamp};
    if !matches!(array.data_type(), Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..)) {
        return array.child_data().iter().all(fits);
    }
    let ticks = ticks(array.data_type());
    // A time has microseconds.
    let exact = |count: i64| ticks <= 1_000_000 || count.checked_rem(1_000) == Some(0);
    let seconds = |count: i64| count.div_euclid(ticks);
    let within = |count: i64, (first, last): (i64, i64)| (first..=last).contains(&count);
    let is_fit = |count: i64| match array.data_type() {
        DataType::Date32 => within(count, DAYS),
        DataType::Time32(_) | DataType::Time64(_) => {
            exact(count) && within(seconds(count), (0, DAY_SECONDS.saturating_sub(1)))
        }
        // A zone moves times by less than a day.
        DataType::Timestamp(_, Some(_)) => {
            exact(count)
                && within(seconds(count).div_euclid(DAY_SECONDS), (DAYS.0.saturating_add(1), DAYS.1.saturating_sub(1)))
        }
        _ => exact(count) && within(seconds(count).div_euclid(DAY_SECONDS), DAYS),
    };
    let is_missing = |i: usize| array.is_null(i);
    match array.data_type() {
        DataType::Date32 | DataType::Time32(_) => {
            let counts = array.buffers().first().map(|buffer| buffer.typed_data::<i32>()).unwrap_or_default();
            let counts = counts.iter().skip(array.offset()).take(array.len());
            counts.enumerate().all(|(i, count)| is_missing(i) || is_fit((*count).into()))
        }
        _ => {
            let counts = array.buffers().first().map(|buffer| buffer.typed_data::<i64>()).unwrap_or_default();
            let counts = counts.iter().skip(array.offset()).take(array.len());
            counts.enumerate().all(|(i, count)| is_missing(i) || is_fit(*count))
        }
    }
}
