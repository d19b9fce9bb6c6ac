//! Bounds of zones as scalars of DataFusion.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion_common::ScalarValue;
use pilaster::column::{Fact, Value};

/// Returns a lower bound as a scalar of type `ty`. `None` if it is unknown, or not to be trusted, or if the type has another order than
/// the file. Floats must have no NaN.
pub(crate) fn least(bound: &Fact<Value<'_>>, ty: &DataType, trust: bool) -> Option<ScalarValue> {
    scalar(trusted(bound, trust)?, ty, -0.0)
}

/// Returns an upper bound as a scalar, as [`least`] returns a lower one.
pub(crate) fn greatest(bound: &Fact<Value<'_>>, ty: &DataType, trust: bool) -> Option<ScalarValue> {
    scalar(trusted(bound, trust)?, ty, 0.0)
}

/// `zero`: the bound of floats whose bound is a zero. For Arrow, -0.0 is below 0.0; for files, it is any of them.
fn scalar(value: &Value<'_>, ty: &DataType, zero: f64) -> Option<ScalarValue> {
    match value {
        Value::Bool(value) => (*ty == DataType::Boolean).then_some(ScalarValue::Boolean(Some(*value))),
        Value::Int(value) => integer(*value, ty),
        Value::F32(value) if *ty == DataType::Float32 && !value.is_nan() => {
            Some(ScalarValue::Float32(Some(if *value == 0.0 { zero as f32 } else { *value })))
        }
        Value::F64(value) if *ty == DataType::Float64 && !value.is_nan() => {
            Some(ScalarValue::Float64(Some(if *value == 0.0 { zero } else { *value })))
        }
        text @ (Value::Text(bytes) | Value::Bytes(bytes)) => match ty {
            DataType::Utf8View => Some(ScalarValue::Utf8View(Some(text.text().ok()??.to_owned()))),
            DataType::BinaryView => Some(ScalarValue::BinaryView(Some(bytes.to_vec()))),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a fact that is checked, or a claim if claims are trusted.
pub(crate) const fn trusted<T>(fact: &Fact<T>, trust: bool) -> Option<&T> {
    match fact {
        Fact::Exact(fact) => Some(fact),
        Fact::Claimed(fact) if trust => Some(fact),
        _ => None,
    }
}

fn integer(value: i128, ty: &DataType) -> Option<ScalarValue> {
    let short = || i32::try_from(value).ok().map(Some);
    let long = || i64::try_from(value).ok().map(Some);
    Some(match ty {
        DataType::Int8 => ScalarValue::Int8(Some(value.try_into().ok()?)),
        DataType::Int16 => ScalarValue::Int16(Some(value.try_into().ok()?)),
        DataType::Int32 => ScalarValue::Int32(short()?),
        DataType::Int64 => ScalarValue::Int64(long()?),
        DataType::UInt8 => ScalarValue::UInt8(Some(value.try_into().ok()?)),
        DataType::UInt16 => ScalarValue::UInt16(Some(value.try_into().ok()?)),
        DataType::UInt32 => ScalarValue::UInt32(Some(value.try_into().ok()?)),
        DataType::UInt64 => ScalarValue::UInt64(Some(value.try_into().ok()?)),
        DataType::Date32 => ScalarValue::Date32(short()?),
        DataType::Date64 => ScalarValue::Date64(long()?),
        DataType::Time32(TimeUnit::Second) => ScalarValue::Time32Second(short()?),
        DataType::Time32(TimeUnit::Millisecond) => ScalarValue::Time32Millisecond(short()?),
        DataType::Time64(TimeUnit::Microsecond) => ScalarValue::Time64Microsecond(long()?),
        DataType::Time64(TimeUnit::Nanosecond) => ScalarValue::Time64Nanosecond(long()?),
        DataType::Timestamp(TimeUnit::Second, zone) => ScalarValue::TimestampSecond(long()?, zone.clone()),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => ScalarValue::TimestampMillisecond(long()?, zone.clone()),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => ScalarValue::TimestampMicrosecond(long()?, zone.clone()),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => ScalarValue::TimestampNanosecond(long()?, zone.clone()),
        DataType::Decimal32(digits, scale) => ScalarValue::Decimal32(short()?, *digits, *scale),
        DataType::Decimal64(digits, scale) => ScalarValue::Decimal64(long()?, *digits, *scale),
        DataType::Decimal128(digits, scale) => ScalarValue::Decimal128(Some(value), *digits, *scale),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_need_trust() {
        let claim = Fact::Claimed(Value::Int(7));
        assert_eq!(least(&claim, &DataType::Int64, false), None);
        assert_eq!(least(&claim, &DataType::Int64, true), Some(ScalarValue::Int64(Some(7))));
        assert_eq!(greatest(&Fact::Exact(Value::Int(7)), &DataType::Int8, false), Some(ScalarValue::Int8(Some(7))));
        assert_eq!(greatest(&Fact::Exact(Value::Int(700)), &DataType::Int8, false), None);
        let text = |bytes| greatest(&Fact::Exact(Value::Text(bytes)), &DataType::Utf8View, true);
        assert_eq!(text(b"a"), Some(ScalarValue::Utf8View(Some("a".to_owned()))));
        assert_eq!(text(b"\xff"), None);
    }

    #[test]
    fn a_bound_that_is_zero_holds_for_both_zeros() {
        let bits = |bound: Option<ScalarValue>| match bound {
            Some(ScalarValue::Float64(Some(value))) => value.to_bits(),
            Some(ScalarValue::Float32(Some(value))) => f64::from(value).to_bits(),
            other => panic!("{other:?}"),
        };
        for zero in [0.0, -0.0] {
            let (wide, narrow) = (Fact::Exact(Value::F64(zero)), Fact::Exact(Value::F32(zero as f32)));
            for (fact, ty) in [(wide, DataType::Float64), (narrow, DataType::Float32)] {
                assert_eq!(bits(least(&fact, &ty, true)), (-0.0f64).to_bits());
                assert_eq!(bits(greatest(&fact, &ty, true)), 0.0f64.to_bits());
            }
        }
        assert_eq!(bits(least(&Fact::Exact(Value::F64(7.5)), &DataType::Float64, true)), 7.5f64.to_bits());
        assert_eq!(least(&Fact::Exact(Value::F64(f64::NAN)), &DataType::Float64, true), None);
        assert_eq!(least(&Fact::Exact(Value::F64(7.5)), &DataType::Float32, true), None);
    }
}
