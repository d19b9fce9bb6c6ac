//! Bounds of zones as scalars of DataFusion.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::{DataType, Schema, TimeUnit};
use datafusion_common::ScalarValue;
use datafusion_common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::expressions::{CastExpr, TryCastExpr};
use datafusion_physical_expr::utils::collect_columns;
use pilaster::column::{Fact, Value};

/// Returns a lower bound as a scalar of type `ty`. `None` if it is unknown, or not to be trusted, or if the type has another order than
/// the file. Floats must have no NaN.
pub(crate) fn minimum(bound: &Fact<Value<'_>>, ty: &DataType, trust: bool) -> Option<ScalarValue> {
    let value = match trusted(bound, trust)? {
        Value::Text(bytes) => Value::Text(prefix(bytes)),
        Value::Bytes(bytes) => Value::Bytes(bytes.get(..LONGEST).unwrap_or(bytes)),
        other => other.clone(),
    };
    scalar(&value, ty, (-0.0, -0.0))
}

/// Returns an upper bound as a scalar, as [`minimum`] returns a lower one.
pub(crate) fn maximum(bound: &Fact<Value<'_>>, ty: &DataType, trust: bool) -> Option<ScalarValue> {
    match trusted(bound, trust)? {
        Value::Text(bytes) | Value::Bytes(bytes) if bytes.len() > LONGEST => None,
        value => scalar(value, ty, (0.0, 0.0)),
    }
}

/// Maximum length of a bound in bytes. There may be a hundred thousand bounds, which files can make as long as they want.
const LONGEST: usize = 256;

/// Returns the start of a text, which is a lower bound of the text.
fn prefix(text: &[u8]) -> &[u8] {
    let is_start = |at: &usize| text.get(*at).is_some_and(|byte| byte & 0xc0 != 0x80);
    match text.len() > LONGEST {
        true => text.get(..(0..=LONGEST).rev().find(is_start).unwrap_or(0)).unwrap_or_default(),
        false => text,
    }
}

/// `zero`: the bound of floats whose bound is a zero. For Arrow, -0.0 is below 0.0; for files, it is any of them.
fn scalar(value: &Value<'_>, ty: &DataType, zero: (f32, f64)) -> Option<ScalarValue> {
    match value {
        Value::Bool(value) => (*ty == DataType::Boolean).then_some(ScalarValue::Boolean(Some(*value))),
        Value::Int(value) => integer(*value, ty),
        Value::F32(value) if *ty == DataType::Float32 && !value.is_nan() => {
            Some(ScalarValue::Float32(Some(if *value == 0.0 { zero.0 } else { *value })))
        }
        Value::F64(value) if *ty == DataType::Float64 && !value.is_nan() => {
            Some(ScalarValue::Float64(Some(if *value == 0.0 { zero.1 } else { *value })))
        }
        text @ (Value::Text(bytes) | Value::Bytes(bytes)) => match ty {
            DataType::Utf8View => Some(ScalarValue::Utf8View(Some(text.text().ok()??.to_owned()))),
            DataType::BinaryView => Some(ScalarValue::BinaryView(Some(bytes.to_vec()))),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the columns of a predicate that it casts to a type with another order: bounds of the column are no bounds of what the cast makes of
/// it, as the times of day of a range of two days.
pub(crate) fn unordered(predicate: &Arc<dyn PhysicalExpr>, schema: &Schema) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut add = |inner: &Arc<dyn PhysicalExpr>, to: &DataType| {
        if !inner.data_type(schema).is_ok_and(|from| keeps_order(&from, to)) {
            found.extend(collect_columns(inner).iter().map(|column| column.name().to_owned()));
        }
    };
    let visited = predicate.apply(|part| {
        if let Some(cast) = part.downcast_ref::<CastExpr>() {
            add(cast.expr(), cast.cast_type());
        } else if let Some(cast) = part.downcast_ref::<TryCastExpr>() {
            add(cast.expr(), cast.cast_type());
        }
        Ok(TreeNodeRecursion::Continue)
    });
    if visited.is_err() {
        found.extend(collect_columns(predicate).iter().map(|column| column.name().to_owned()));
    }
    found
}

/// Whether a cast keeps the order of values.
fn keeps_order(from: &DataType, to: &DataType) -> bool {
    let is_text = |ty: &DataType| matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let is_bytes = |ty: &DataType| matches!(ty, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    match (from, to) {
        // A time zone makes the local time of an instant.
        (DataType::Timestamp(_, from), DataType::Timestamp(_, to)) => from.is_some() == to.is_some(),
        (DataType::Timestamp(_, None) | DataType::Date32 | DataType::Date64, DataType::Date32 | DataType::Date64)
        | (DataType::Date32 | DataType::Date64, DataType::Timestamp(_, None)) => true,
        (DataType::Timestamp(..), DataType::Int64) => true,
        (from, DataType::Timestamp(..)) if from.is_integer() => true,
        (from, to) => {
            from == to
                || from.is_numeric() && to.is_numeric()
                || is_text(from) && is_text(to)
                || is_bytes(from) && is_bytes(to)
        }
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
        assert_eq!(minimum(&claim, &DataType::Int64, false), None);
        assert_eq!(minimum(&claim, &DataType::Int64, true), Some(ScalarValue::Int64(Some(7))));
        assert_eq!(maximum(&Fact::Exact(Value::Int(7)), &DataType::Int8, false), Some(ScalarValue::Int8(Some(7))));
        assert_eq!(maximum(&Fact::Exact(Value::Int(700)), &DataType::Int8, false), None);
        let text = |bytes| maximum(&Fact::Exact(Value::Text(bytes)), &DataType::Utf8View, true);
        assert_eq!(text(b"a"), Some(ScalarValue::Utf8View(Some("a".to_owned()))));
        assert_eq!(text(b"\xff"), None);
    }

    #[test]
    fn long_bounds_are_cut_or_unknown() {
        let text = "ä".repeat(LONGEST);
        let fact = Fact::Exact(Value::Text(text.as_bytes()));
        let cut = "ä".repeat(LONGEST / 2);
        assert_eq!(minimum(&fact, &DataType::Utf8View, true), Some(ScalarValue::Utf8View(Some(cut))));
        assert_eq!(prefix(format!("a{text}").as_bytes()).len(), LONGEST - 1, "a character stays whole");
        assert_eq!(prefix(&[0x80; 1000]), b"");
        assert_eq!(maximum(&fact, &DataType::Utf8View, true), None);
        let fact = Fact::Exact(Value::Bytes(&[7; LONGEST + 1]));
        assert_eq!(minimum(&fact, &DataType::BinaryView, true), Some(ScalarValue::BinaryView(Some(vec![7; LONGEST]))));
        assert_eq!(maximum(&fact, &DataType::BinaryView, true), None);
    }

    #[test]
    fn casts_that_keep_the_order() {
        let timestamp = |zone: Option<&str>| DataType::Timestamp(TimeUnit::Second, zone.map(Into::into));
        for (from, to, keeps) in [
            (DataType::Int64, DataType::Int8, true),
            (DataType::Float64, DataType::Int64, true),
            (DataType::Float64, DataType::Boolean, false),
            (DataType::Int64, DataType::Utf8, false),
            (DataType::Utf8View, DataType::Utf8, true),
            (DataType::Utf8View, DataType::Int64, false),
            (timestamp(None), DataType::Time64(TimeUnit::Nanosecond), false),
            (timestamp(None), DataType::Date32, true),
            (timestamp(Some("Europe/Paris")), DataType::Date32, false),
            (timestamp(Some("Europe/Paris")), timestamp(None), false),
            (timestamp(Some("Europe/Paris")), timestamp(Some("UTC")), true),
            (DataType::Date32, timestamp(None), true),
            (DataType::Int64, timestamp(None), true),
            (timestamp(None), DataType::Int64, true),
        ] {
            assert_eq!(keeps_order(&from, &to), keeps, "{from} {to}");
        }
    }

    #[test]
    fn a_bound_that_is_zero_holds_for_both_zeros() {
        let is_negative = |bound: Option<ScalarValue>| match bound {
            Some(ScalarValue::Float64(Some(value))) => Some(value.is_sign_negative()),
            Some(ScalarValue::Float32(Some(value))) => Some(value.is_sign_negative()),
            _ => None,
        };
        for fact in [0.0, -0.0].map(|zero| Fact::Exact(Value::F64(zero))) {
            assert_eq!(is_negative(minimum(&fact, &DataType::Float64, true)), Some(true));
            assert_eq!(is_negative(maximum(&fact, &DataType::Float64, true)), Some(false));
        }
        for fact in [0.0, -0.0].map(|zero| Fact::Exact(Value::F32(zero))) {
            assert_eq!(is_negative(minimum(&fact, &DataType::Float32, true)), Some(true));
            assert_eq!(is_negative(maximum(&fact, &DataType::Float32, true)), Some(false));
        }
        let number = Fact::Exact(Value::F64(7.5));
        assert_eq!(minimum(&number, &DataType::Float64, true), Some(ScalarValue::Float64(Some(7.5))));
        assert_eq!(minimum(&Fact::Exact(Value::F64(f64::NAN)), &DataType::Float64, true), None);
        assert_eq!(minimum(&number, &DataType::Float32, true), None);
    }
}
