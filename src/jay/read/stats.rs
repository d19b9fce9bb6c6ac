//! Least and greatest value of a column, as the file says them (section 5).

use crate::generated::jay as views;
use crate::jay::raw::SType;

/// Least and greatest value of a column, in the terms of its type: days of dates, nanoseconds of
/// times, 0 and 1 of truth values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[allow(missing_docs, reason = "the names say it")]
pub enum Stats {
    /// No row has a value.
    Empty,
    Int {
        min: i64,
        max: i64,
    },
    Float32 {
        min: f32,
        max: f32,
    },
    Float64 {
        min: f64,
        max: f64,
    },
}

impl Stats {
    /// What is stored, if it is of the type that a column of `stype` has.
    pub(super) fn of(stored: views::Stats, stype: SType) -> Option<Self> {
        use views::Stats as Of;
        let int = |least: i64, min: i64, max: i64| match (min, max) {
            _ if min == least && max == least => Stats::Empty,
            _ => Stats::Int { min, max },
        };
        Some(match (stored, stype) {
            (Of::Bool(s), SType::Bool8) => int(i8::MIN.into(), s.min.into(), s.max.into()),
            (Of::Int8(s), SType::Int8) => int(i8::MIN.into(), s.min.into(), s.max.into()),
            (Of::Int16(s), SType::Int16) => int(i16::MIN.into(), s.min.into(), s.max.into()),
            (Of::Int32(s), SType::Int32 | SType::Date32) => int(i32::MIN.into(), s.min.into(), s.max.into()),
            (Of::Int64(s), SType::Int64 | SType::Time64) => int(i64::MIN, s.min, s.max),
            (Of::Float32(s), SType::Float32) if s.min.is_nan() && s.max.is_nan() => Stats::Empty,
            (Of::Float32(s), SType::Float32) => Stats::Float32 { min: s.min, max: s.max },
            (Of::Float64(s), SType::Float64) if s.min.is_nan() && s.max.is_nan() => Stats::Empty,
            (Of::Float64(s), SType::Float64) => Stats::Float64 { min: s.min, max: s.max },
            _ => return None,
        })
    }
}
