//! Bounds of zones as scalars of DataFusion.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion_common::ScalarValue;
use pilaster::column::{Fact, Value};

/// Returns the value of a fact as a scalar of type `ty`. `None` if the fact is unknown, or not to be trusted, or if the type has
/// another order than the file: floats, because zones leave out NaN, which is a number above or below all others for Arrow.
pub(crate) fn scalar(fact: &Fact<Value<'_>>, ty: &DataType, trust: bool) -> Option<ScalarValue> {
    match trusted(fact, trust)? {
        Value::Bool(value) => (*ty == DataType::Boolean).then_some(ScalarValue::Boolean(Some(*value))),
        Value::Int(value) => integer(*value, ty),
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
    fn claims_need_trust_and_floats_have_no_bounds() {
        let claim = Fact::Claimed(Value::Int(7));
        assert_eq!(scalar(&claim, &DataType::Int64, false), None);
        assert_eq!(scalar(&claim, &DataType::Int64, true), Some(ScalarValue::Int64(Some(7))));
        assert_eq!(scalar(&Fact::Exact(Value::Int(7)), &DataType::Int8, false), Some(ScalarValue::Int8(Some(7))));
        assert_eq!(scalar(&Fact::Exact(Value::Int(700)), &DataType::Int8, false), None);
        assert_eq!(scalar(&Fact::Exact(Value::F64(7.0)), &DataType::Float64, true), None);
        assert_eq!(
            scalar(&Fact::Exact(Value::Text(b"a")), &DataType::Utf8View, true),
            Some(ScalarValue::Utf8View(Some("a".to_owned())))
        );
        assert_eq!(scalar(&Fact::Exact(Value::Text(b"\xff")), &DataType::Utf8View, true), None);
    }
}
