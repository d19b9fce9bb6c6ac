//! Conditions on rows: `where=[("price", ">", 10)]`.

use std::cmp::Ordering;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt64Array};
use pilaster::column::{Fact, Value, Zone};
use pilaster_arrow::arrow_schema::{DataType, TimeUnit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDate, PyDateTime, PyFloat, PyInt, PyString, PyTuple};

use crate::error::{Failure, Result};

/// A condition that a row meets or not; a missing value meets only `is null`.
#[derive(Clone, Debug)]
pub struct Condition {
    pub column: String,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    /// The value is before, equal to or after one of the literals, as the flags say.
    Compare {
        less: bool,
        equal: bool,
        greater: bool,
        with: Vec<Literal>,
    },
    Null(bool),
}

/// A value of Python.
#[derive(Clone, Debug)]
enum Literal {
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    /// Days since 1970.
    Date(i64),
    /// Nanoseconds since 1970, and whether in UTC: of a time with an offset.
    Time(i128, bool),
}

impl Condition {
    /// Reads `(column, operator, value)`, or a list of these, all of which must be met.
    pub fn list(object: &Bound<'_, PyAny>) -> Result<Vec<Condition>> {
        let first = object.cast::<PyTuple>().ok().and_then(|one| one.get_item(0).ok());
        if first.is_some_and(|first| first.is_instance_of::<PyString>()) {
            return Ok(vec![Self::one(object)?]);
        }
        let form = r#"where is a condition (column, operator, value), such as ("k", ">", 900), or a list of them"#;
        if object.is_instance_of::<PyString>() {
            return Err(Failure::Type(format!("{form}, not a text such as {}", object.repr()?)));
        }
        let wrong = |_| Failure::Type(form.to_owned());
        object.try_iter().map_err(wrong)?.map(|one| Self::one(&one?)).collect()
    }

    fn one(object: &Bound<'_, PyAny>) -> Result<Condition> {
        let wrong = |_| Failure::Type(format!("{object} is not (column, operator, value)"));
        let (column, operator, value): (String, String, Bound<'_, PyAny>) = object.extract().map_err(wrong)?;
        let flags = |less, equal, greater, with| Ok(Test::Compare { less, equal, greater, with });
        let one = || Ok::<_, Failure>(vec![Literal::of(&value)?]);
        let test = match operator.as_str() {
            "is" | "==" | "=" if value.is_none() => Ok(Test::Null(true)),
            "is not" | "!=" if value.is_none() => Ok(Test::Null(false)),
            "==" | "=" => flags(false, true, false, one()?),
            "!=" => flags(true, false, true, one()?),
            "<" => flags(true, false, false, one()?),
            "<=" => flags(true, true, false, one()?),
            ">" => flags(false, false, true, one()?),
            ">=" => flags(false, true, true, one()?),
            "in" => {
                let all: Result<Vec<Literal>> = value.try_iter()?.map(|one| Literal::of(&one?)).collect();
                flags(false, true, false, all?)
            }
            other => {
                let text = format!("no operator {other:?}; there are ==, !=, <, <=, >, >=, in, is, is not");
                Err(Failure::Value(text))
            }
        };
        Ok(Condition { column, test: test? })
    }

    /// Returns the test of a zone of a column of this type: whether a row of it may meet the condition. `trust`: also facts that
    /// nothing checks rule rows out.
    pub fn may_match(&self, ty: &DataType, trust: bool) -> Result<impl Fn(&Zone<'_>) -> bool + Send + 'static> {
        let (test, ty) = (self.test.clone(), ty.clone());
        let items = self.items(&ty)?;
        Ok(move |zone: &Zone<'_>| match &test {
            Test::Null(true) => known(&zone.nulls, trust) != Some(&0),
            Test::Null(false) => true,
            Test::Compare { less, equal, greater, .. } => {
                let (less, equal, greater) = (*less, *equal, *greater);
                let bound = |fact| known(fact, trust);
                items.iter().any(|item| {
                    let value = item.value(&ty);
                    let compare = |fact| bound(fact).and_then(|known: &Value<'_>| known.compare(value.as_ref()?));
                    // The bounds beside the value; `None` if they are unknown.
                    let (min, max) = (compare(&zone.min), compare(&zone.max));
                    let none_is_less = matches!(min, Some(Ordering::Equal | Ordering::Greater));
                    let none_is_greater = matches!(max, Some(Ordering::Equal | Ordering::Less));
                    let none_is_equal = min == Some(Ordering::Greater) || max == Some(Ordering::Less);
                    // NaN, which zones leave out, meets `!=` alone.
                    let nan = less && greater && matches!(item, Item::Float(_));
                    let excluded =
                        !nan && (!less || none_is_less) && (!equal || none_is_equal) && (!greater || none_is_greater);
                    !excluded
                })
            }
        })
    }

    /// Returns which rows meet the condition.
    pub fn rows(&self, array: &ArrayRef) -> Result<BooleanArray> {
        let found = |test: &dyn Fn(usize) -> bool| (0..array.len()).map(|i| Some(test(i))).collect::<BooleanArray>();
        let (less, equal, greater) = match &self.test {
            Test::Null(wanted) => {
                let nulls = array.logical_nulls();
                let missing = |i| nulls.as_ref().is_some_and(|nulls| nulls.is_null(i));
                return Ok(found(&|i| missing(i) == *wanted));
            }
            Test::Compare { less, equal, greater, .. } => (*less, *equal, *greater),
        };
        if let DataType::Dictionary(..) = array.data_type() {
            let dictionary = array.as_any_dictionary();
            let of_values = self.rows(dictionary.values())?;
            let keys = if of_values.is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
            let is_met = |i: usize| keys.get(i).is_some_and(|key| *key < of_values.len() && of_values.value(*key));
            return Ok(found(&|i| array.is_valid(i) && is_met(i)));
        }
        let items = self.items(array.data_type())?;
        let values = values(array, &self.column)?;
        Ok(found(&|i| {
            array.is_valid(i)
                && items.iter().any(|item| match values(i).compare(&item.borrowed()) {
                    Some(Ordering::Less) => less,
                    Some(Ordering::Equal) => equal,
                    Some(Ordering::Greater) => greater,
                    // NaN equals nothing.
                    None => less && greater,
                })
        }))
    }

    fn items(&self, ty: &DataType) -> Result<Vec<Item>> {
        let ty = match ty {
            DataType::Dictionary(_, values) => values,
            ty => ty,
        };
        match &self.test {
            Test::Null(_) => Ok(Vec::new()),
            Test::Compare { with, .. } => with.iter().map(|literal| literal.item(ty, &self.column)).collect(),
        }
    }
}

/// Returns a fact that can be relied on, or any if claims are trusted.
const fn known<T>(fact: &Fact<T>, trust: bool) -> Option<&T> {
    match fact {
        Fact::Exact(fact) => Some(fact),
        Fact::Claimed(fact) if trust => Some(fact),
        _ => None,
    }
}

/// Filters a batch.
pub fn filtered(batch: RecordBatch, conditions: &[Condition]) -> Result<RecordBatch> {
    let mut batch = batch;
    for condition in conditions {
        let Some(column) = batch.column_by_name(&condition.column) else { continue };
        let kept = condition.rows(column)?;
        if kept.true_count() < kept.len() {
            // `take` is linked for nested values anyway; `filter` would add much code for the same result.
            let rows = kept.values().set_indices().map(|row| row as u64).collect::<UInt64Array>();
            batch = pilaster_arrow::arrow_select::take::take_record_batch(&batch, &rows)?;
        }
    }
    Ok(batch)
}

/// A value as a column of one type has it.
#[derive(Clone, Debug)]
enum Item {
    Bool(bool),
    Int(i128),
    Float(f64),
    Bytes(Vec<u8>),
}

/// A value of a row.
enum Borrowed<'a> {
    Bool(bool),
    Int(i128),
    Float(f64),
    Bytes(&'a [u8]),
}

impl Borrowed<'_> {
    fn compare(&self, other: &Borrowed<'_>) -> Option<Ordering> {
        match (self, other) {
            (Borrowed::Bool(a), Borrowed::Bool(b)) => Some(a.cmp(b)),
            (Borrowed::Int(a), Borrowed::Int(b)) => Some(a.cmp(b)),
            (Borrowed::Float(a), Borrowed::Float(b)) => a.partial_cmp(b),
            (Borrowed::Bytes(a), Borrowed::Bytes(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

impl Item {
    fn borrowed(&self) -> Borrowed<'_> {
        match self {
            Item::Bool(value) => Borrowed::Bool(*value),
            Item::Int(value) => Borrowed::Int(*value),
            Item::Float(value) => Borrowed::Float(*value),
            Item::Bytes(value) => Borrowed::Bytes(value),
        }
    }

    /// Returns the value in the form of zones; `None` if a single float does not hold it.
    #[allow(clippy::cast_possible_truncation, reason = "compared on the same line")]
    fn value(&self, ty: &DataType) -> Option<Value<'_>> {
        Some(match self {
            Item::Bool(value) => Value::Bool(*value),
            Item::Int(value) => Value::Int(*value),
            Item::Float(value) if *ty == DataType::Float32 => Value::F32(*value as f32).into_exact(*value)?,
            Item::Float(value) => Value::F64(*value),
            Item::Bytes(value) => Value::Bytes(value),
        })
    }
}

/// Keeps a single float that is exactly a double one.
trait Exact: Sized {
    fn into_exact(self, double: f64) -> Option<Self>;
}

impl Exact for Value<'_> {
    fn into_exact(self, double: f64) -> Option<Self> {
        match self {
            Value::F32(value) if f64::from(value).to_bits() == double.to_bits() => Some(self),
            _ => None,
        }
    }
}

impl Literal {
    fn of(object: &Bound<'_, PyAny>) -> Result<Self> {
        if object.is_instance_of::<PyBool>() {
            return Ok(Literal::Bool(object.extract()?));
        }
        if object.is_instance_of::<PyInt>() {
            return Ok(Literal::Int(object.extract()?));
        }
        if object.is_instance_of::<PyFloat>() {
            return Ok(Literal::Float(object.extract()?));
        }
        if object.is_instance_of::<PyString>() {
            return Ok(Literal::Text(object.extract()?));
        }
        if object.is_instance_of::<PyBytes>() {
            return Ok(Literal::Bytes(object.extract()?));
        }
        let times = || object.py().import("pilaster._times");
        if object.is_instance_of::<PyDateTime>() {
            let nanos: i128 = times()?.call_method1("nanos", (object,))?.extract()?;
            return Ok(Literal::Time(nanos, !object.getattr("tzinfo")?.is_none()));
        }
        if object.is_instance_of::<PyDate>() {
            return Ok(Literal::Date(crate::make::days(object)?.into()));
        }
        // Scalars of numpy.
        let kind = object.getattr("dtype").and_then(|dtype| dtype.getattr("kind")?.extract::<String>());
        let kind = kind.unwrap_or_default();
        if kind == "m" {
            return Err(Failure::Type("a condition cannot compare with a duration".to_owned()));
        }
        if kind == "M" {
            let (is_date, count): (bool, i128) = times()?.call_method1("datetime64", (object,))?.extract()?;
            return Ok(match is_date {
                true => Literal::Date(i64::try_from(count).unwrap_or(i64::MAX)),
                false => Literal::Time(count, false),
            });
        }
        match object.call_method0("item") {
            Ok(item) if !item.is(object) && item.get_type().as_ptr() != object.get_type().as_ptr() => Self::of(&item),
            _ => Err(Failure::Type(format!("a condition cannot compare with {}", object.get_type().name()?))),
        }
    }

    /// Returns the value in a column of type `ty`.
    #[allow(clippy::cast_precision_loss, reason = "integers in conditions on floats are compared as floats")]
    fn item(&self, ty: &DataType, column: &str) -> Result<Item> {
        let wrong = || Failure::Type(format!("column {column:?} is {ty}, which cannot be compared with {self:?}"));
        let ticks = |unit: &TimeUnit| -> i128 {
            match unit {
                TimeUnit::Second => 1,
                TimeUnit::Millisecond => 1_000,
                TimeUnit::Microsecond => 1_000_000,
                TimeUnit::Nanosecond => 1_000_000_000,
            }
        };
        let time = |nanos: i128, unit: &TimeUnit| -> Result<Item> {
            let scaled = nanos.saturating_mul(ticks(unit));
            match scaled.checked_rem(1_000_000_000) {
                Some(0) => Ok(Item::Int(scaled.checked_div(1_000_000_000).unwrap_or(0))),
                _ => Err(Failure::Value(format!("column {column:?} is {ty}: the time has more digits"))),
            }
        };
        const DAY: i128 = 86_400_000_000_000;
        if let (Literal::Date(_) | Literal::Time(..), DataType::Timestamp(_, zone)) = (self, ty)
            && zone.is_some() != matches!(self, Literal::Time(_, true))
        {
            let (has, other) = if zone.is_some() { ("a", "none") } else { ("no", "one") };
            return Err(Failure::Type(format!(
                "column {column:?} has {has} time zone, and the value of the condition {other}"
            )));
        }
        Ok(match (self, ty) {
            (Literal::Bool(value), DataType::Boolean) => Item::Bool(*value),
            (Literal::Int(value), DataType::Float32 | DataType::Float64) => Item::Float(*value as f64),
            (Literal::Float(value), DataType::Float32 | DataType::Float64) => Item::Float(*value),
            (Literal::Int(value), DataType::Decimal128(_, scale)) if *scale >= 0 => {
                let power = 10i128.checked_pow(u32::from(scale.unsigned_abs()));
                Item::Int(power.and_then(|power| value.checked_mul(power)).ok_or_else(wrong)?)
            }
            (Literal::Int(value), ty) if ty.is_integer() || ty.is_temporal() => Item::Int(*value),
            (Literal::Date(days), DataType::Date32) => Item::Int((*days).into()),
            (Literal::Date(days), DataType::Date64) => Item::Int(i128::from(*days).saturating_mul(86_400_000)),
            (Literal::Date(days), DataType::Timestamp(unit, _)) => time(i128::from(*days).saturating_mul(DAY), unit)?,
            (Literal::Time(nanos, _), DataType::Timestamp(unit, _)) => time(*nanos, unit)?,
            (Literal::Text(text), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => {
                Item::Bytes(text.as_bytes().to_vec())
            }
            (Literal::Text(text), ty) if is_binary(ty) => Item::Bytes(text.as_bytes().to_vec()),
            (Literal::Bytes(bytes), ty) if is_binary(ty) => Item::Bytes(bytes.clone()),
            _ => return Err(wrong()),
        })
    }
}

const fn is_binary(ty: &DataType) -> bool {
    matches!(ty, DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_))
}

type Values<'a> = Box<dyn Fn(usize) -> Borrowed<'a> + 'a>;

/// Returns a function that returns the value of a row.
fn values<'a>(array: &'a ArrayRef, column: &str) -> Result<Values<'a>> {
    fn integers<'a, T: ArrowPrimitiveType<Native: Into<i128>>>(array: &'a ArrayRef) -> Values<'a> {
        let array = array.as_primitive::<T>();
        Box::new(move |i| Borrowed::Int(array.value(i).into()))
    }
    Ok(match array.data_type() {
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(move |i| Borrowed::Bool(array.value(i)))
        }
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        DataType::Date32 => integers::<Date32Type>(array),
        DataType::Date64 => integers::<Date64Type>(array),
        DataType::Time32(TimeUnit::Second) => integers::<Time32SecondType>(array),
        DataType::Time32(_) => integers::<Time32MillisecondType>(array),
        DataType::Time64(TimeUnit::Microsecond) => integers::<Time64MicrosecondType>(array),
        DataType::Time64(_) => integers::<Time64NanosecondType>(array),
        DataType::Timestamp(TimeUnit::Second, _) => integers::<TimestampSecondType>(array),
        DataType::Timestamp(TimeUnit::Millisecond, _) => integers::<TimestampMillisecondType>(array),
        DataType::Timestamp(TimeUnit::Microsecond, _) => integers::<TimestampMicrosecondType>(array),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => integers::<TimestampNanosecondType>(array),
        DataType::Decimal128(..) => integers::<Decimal128Type>(array),
        DataType::Float32 => {
            let array = array.as_primitive::<Float32Type>();
            Box::new(move |i| Borrowed::Float(array.value(i).into()))
        }
        DataType::Float64 => {
            let array = array.as_primitive::<Float64Type>();
            Box::new(move |i| Borrowed::Float(array.value(i)))
        }
        _ => return strings(array, column),
    })
}

fn strings<'a>(array: &'a ArrayRef, column: &str) -> Result<Values<'a>> {
    macro_rules! strings {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |i| Borrowed::Bytes(array.value(i).as_ref()))
        }};
    }
    Ok(match array.data_type() {
        DataType::Utf8 => strings!(array.as_string::<i32>()),
        DataType::LargeUtf8 => strings!(array.as_string::<i64>()),
        DataType::Utf8View => strings!(array.as_string_view()),
        DataType::Binary => strings!(array.as_binary::<i32>()),
        DataType::LargeBinary => strings!(array.as_binary::<i64>()),
        DataType::BinaryView => strings!(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => strings!(array.as_fixed_size_binary()),
        ty => return Err(Failure::Type(format!("column {column:?} is {ty}, on which there are no conditions"))),
    })
}
