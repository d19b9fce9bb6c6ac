//! Minimum and maximum of a column as stored in the file (section 5).

use crate::column::{Batch, Validity, Values};
use crate::generated::jay as views;
use crate::jay::raw::SType;

/// Minimum and maximum of a column, in the unit of its type: days for dates, nanoseconds for times, 0 and 1 for
/// booleans.
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
    /// Converts stored statistics if they have the type that columns of `stype` require.
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

impl Stats {
    /// Returns minimum and maximum of these statistics and of `batch`.
    pub(in crate::jay) fn with<C>(self, batch: &Batch<'_, C>) -> Stats {
        let valid = &batch.validity;
        match batch.values {
            Values::Bool(bits) => bits.iter().enumerate().fold(self, |stats, (i, bit)| match valid.get(i) {
                true => stats.and_int(bit.into(), bit.into()),
                false => stats,
            }),
            Values::I8(values) => self.and_ints(values, valid),
            Values::I16(values) => self.and_ints(values, valid),
            Values::I32(values) => self.and_ints(values, valid),
            Values::I64(values) => self.and_ints(values, valid),
            Values::F32(values) => values.iter().enumerate().fold(self, |stats, (i, value)| match stats {
                _ if !valid.get(i) || value.is_nan() => stats,
                Stats::Float32 { min, max } => Stats::Float32 { min: min.min(*value), max: max.max(*value) },
                _ => Stats::Float32 { min: *value, max: *value },
            }),
            Values::F64(values) => values.iter().enumerate().fold(self, |stats, (i, value)| match stats {
                _ if !valid.get(i) || value.is_nan() => stats,
                Stats::Float64 { min, max } => Stats::Float64 { min: min.min(*value), max: max.max(*value) },
                _ => Stats::Float64 { min: *value, max: *value },
            }),
            _ => self,
        }
    }

    /// Returns the statistics extended by the range `low..=high`.
    pub(in crate::jay) fn and_int(self, low: i64, high: i64) -> Stats {
        match self {
            Stats::Int { min, max } => Stats::Int { min: min.min(low), max: max.max(high) },
            _ => Stats::Int { min: low, max: high },
        }
    }

    fn and_ints<T: Copy + Ord + Into<i64>>(self, values: &[T], valid: &Validity<'_>) -> Stats {
        let (low, high) = match valid {
            Validity::All => (values.iter().min().copied(), values.iter().max().copied()),
            _ => {
                let there = || values.iter().enumerate().filter(|(i, _)| valid.get(*i)).map(|(_, value)| *value);
                (there().min(), there().max())
            }
        };
        match low.zip(high) {
            Some((low, high)) => self.and_int(low.into(), high.into()),
            None => self,
        }
    }
}
