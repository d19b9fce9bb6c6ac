//! Conditions on rows: `where="price > 10 and city = 'Bern'"`, or `where=[("price", ">", 10)]`. The tool has the same language, and
//! its code tells what a row and a zone meet.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use pilaster::column::{Value, Zone};
use pilaster_arrow::arrow_schema::{DataType, Field, Schema, TimeUnit};
use pilaster_arrow::schema::column_type;
use pilaster_cli::{Constant, Expression, Filter, Found, Operator, Test};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDate, PyDateTime, PyFloat, PyInt, PyString, PyTuple};

use crate::error::{Failure, Result};

/// A condition that a row meets or not; a missing value meets only `is missing`.
#[derive(Clone, Debug)]
pub struct Condition {
    expression: Expression<Test<Literal>>,
    /// The columns that it names.
    pub columns: Vec<String>,
    /// As it was written, if it was a text.
    text: Option<String>,
}

#[derive(Clone, Debug)]
enum Literal {
    /// As it is written in a text.
    Written(pilaster_cli::Literal),
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
    /// Reads a text, `(column, operator, value)`, or a list of these, all of which must be met.
    pub fn list(object: &Bound<'_, PyAny>) -> Result<Vec<Condition>> {
        let first = object.cast::<PyTuple>().ok().and_then(|one| one.get_item(0).ok());
        if first.as_ref().unwrap_or(object).is_instance_of::<PyString>() {
            return Ok(vec![Self::one(object)?]);
        }
        let wrong = |_| {
            let forms =
                r#"a text such as "k > 900 and s = 'a'", a condition (column, operator, value), or a list of these"#;
            Failure::Type(format!("where is {forms}"))
        };
        object.try_iter().map_err(wrong)?.map(|one| Self::one(&one?)).collect()
    }

    fn one(object: &Bound<'_, PyAny>) -> Result<Condition> {
        let text = object.extract::<String>().ok();
        let expression = match &text {
            Some(text) => {
                let parsed =
                    pilaster_cli::parse(text).map_err(|why| Failure::Value(format!("where={text:?}: {why}")))?;
                parsed.map(&mut |test| Ok::<_, Failure>(test.clone().with(Literal::Written)))?
            }
            None => test(object)?,
        };
        let mut columns = Vec::new();
        expression.map(&mut |test: &Test<Literal>| {
            columns.push(test.column().to_owned());
            Ok::<_, Failure>(())
        })?;
        Ok(Condition { expression, columns, text })
    }

    /// Returns the condition for the columns of a schema. A literal of another type is an error.
    pub fn bound(&self, schema: &Schema) -> Result<Filter> {
        let find = |name: &str| {
            let number = schema.index_of(name)?;
            Ok(Found { number, floats: schema.field(number).data_type().is_floating() })
        };
        let constant = |literal: &Literal, name: &str, number| literal.constant(name, schema.field(number));
        Filter::bound(&self.expression, &find, &constant).map_err(|failure| match (&self.text, failure) {
            (Some(text), Failure::Value(why)) => Failure::Value(format!("where={text:?}: {why}")),
            (_, failure) => failure,
        })
    }
}

/// Reads `(column, operator, value)`.
fn test(object: &Bound<'_, PyAny>) -> Result<Expression<Test<Literal>>> {
    let wrong = |_| Failure::Type(format!("{object} is not (column, operator, value)"));
    let (column, operator, value): (String, String, Bound<'_, PyAny>) = object.extract().map_err(wrong)?;
    let operator = match operator.as_str() {
        "is" | "==" | "=" if value.is_none() => return Ok(Expression::Test(Test::Missing { column })),
        "is not" | "!=" if value.is_none() => {
            return Ok(Expression::Not(Box::new(Expression::Test(Test::Missing { column }))));
        }
        "==" | "=" => Operator::Equal,
        "!=" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::AtMost,
        ">" => Operator::Greater,
        ">=" => Operator::AtLeast,
        "in" => {
            let literals = value.try_iter()?.map(|one| Literal::of(&one?)).collect::<Result<_>>()?;
            return Ok(Expression::Test(Test::In { column, literals }));
        }
        other => {
            let text = format!("no operator {other:?}; there are ==, !=, <, <=, >, >=, in, is, is not");
            return Err(Failure::Value(text));
        }
    };
    Ok(Expression::Test(Test::Compare { column, operator, literal: Literal::of(&value)? }))
}

/// Returns whether a row of a zone of a column of `filter`, by its place there, may meet the condition. `trust`: also facts that
/// nothing checks rule rows out.
pub fn may_match(filter: &Filter, place: usize, trust: bool, zone: &Zone<'_>) -> bool {
    // An error leaves the rows to the test of each.
    filter.may_keep(trust, &mut |of| Ok((of == place).then(|| zone.clone()))).unwrap_or(true)
}

/// Filters a batch.
pub fn filtered(batch: RecordBatch, filters: &[Arc<Filter>]) -> Result<RecordBatch> {
    let mut batch = batch;
    for filter in filters {
        let columns: Vec<_> = filter.columns.iter().map(|k| values(batch.column(*k))).collect();
        let truths = filter.truths(batch.num_rows(), &columns);
        drop(columns);
        let rows = (0u64..).zip(truths).filter(|(_, holds)| *holds == Some(true)).map(|(row, _)| row);
        let rows: Vec<u64> = rows.collect();
        if rows.len() < batch.num_rows() {
            // `take` is linked for nested values anyway; `filter` would add much code for the same result.
            batch = pilaster_arrow::arrow_select::take::take_record_batch(&batch, &UInt64Array::from(rows))?;
        }
    }
    Ok(batch)
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

    /// Returns the literal as values of a column are compared with it.
    #[allow(clippy::cast_precision_loss, reason = "integers in conditions on floats are compared as floats")]
    fn constant(&self, column: &str, field: &Field) -> Result<Constant> {
        let ty = match field.data_type() {
            DataType::Dictionary(_, values) => values,
            ty => ty,
        };
        let kind = column_type(field).ok_or_else(|| unordered(column, ty))?;
        if let Literal::Written(literal) = self {
            let zone = match ty {
                DataType::Timestamp(_, zone) => zone.as_deref(),
                _ => None,
            };
            return pilaster_cli::constant(literal, column, kind, zone).map_err(Failure::Value);
        }
        let whole = |floor| Constant::Whole { floor, above: false };
        let wrong = || Failure::Type(format!("column {column:?} is {ty}, which cannot be compared with {self:?}"));
        let ticks = |unit: &TimeUnit| -> i128 {
            match unit {
                TimeUnit::Second => 1,
                TimeUnit::Millisecond => 1_000,
                TimeUnit::Microsecond => 1_000_000,
                TimeUnit::Nanosecond => 1_000_000_000,
            }
        };
        let time = |nanos: i128, unit: &TimeUnit| -> Result<Constant> {
            let scaled = nanos.saturating_mul(ticks(unit));
            match scaled.checked_rem(1_000_000_000) {
                Some(0) => Ok(whole(scaled.checked_div(1_000_000_000).unwrap_or(0))),
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
            (Literal::Bool(value), DataType::Boolean) => Constant::Bool(*value),
            (Literal::Int(value), DataType::Float16 | DataType::Float32 | DataType::Float64) => {
                Constant::Real(*value as f64)
            }
            (Literal::Float(value), DataType::Float16 | DataType::Float32 | DataType::Float64) => {
                Constant::Real(*value)
            }
            (Literal::Int(value), DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale)) if *scale >= 0 => {
                let power = 10i128.checked_pow(u32::from(scale.unsigned_abs()));
                whole(power.and_then(|power| value.checked_mul(power)).ok_or_else(wrong)?)
            }
            (Literal::Int(value), ty) if ty.is_integer() || ty.is_temporal() => whole(*value),
            (Literal::Date(days), DataType::Date32) => whole((*days).into()),
            (Literal::Date(days), DataType::Date64) => whole(i128::from(*days).saturating_mul(86_400_000)),
            (Literal::Date(days), DataType::Timestamp(unit, _)) => time(i128::from(*days).saturating_mul(DAY), unit)?,
            (Literal::Time(nanos, _), DataType::Timestamp(unit, _)) => time(*nanos, unit)?,
            (Literal::Text(text), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => {
                Constant::Bytes(text.as_bytes().to_vec())
            }
            (Literal::Text(text), ty) if is_binary(ty) => Constant::Bytes(text.as_bytes().to_vec()),
            (Literal::Bytes(bytes), ty) if is_binary(ty) => Constant::Bytes(bytes.clone()),
            _ => return Err(wrong()),
        })
    }
}

const fn is_binary(ty: &DataType) -> bool {
    matches!(ty, DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_))
}

fn unordered(column: &str, ty: &DataType) -> Failure {
    Failure::Type(format!("column {column:?} is {ty}, on which there are no conditions"))
}

type Values<'a> = Box<dyn Fn(usize) -> Value<'a> + 'a>;

/// Returns a function that returns the value of a row.
fn values(array: &ArrayRef) -> Values<'_> {
    let value = present(array);
    match array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => Box::new(move |i| if nulls.is_null(i) { Value::Null } else { value(i) }),
        None => value,
    }
}

/// Returns a function that returns the value of a row that has one.
fn present(array: &ArrayRef) -> Values<'_> {
    fn integers<'a, T: ArrowPrimitiveType<Native: Into<i128>>>(array: &'a ArrayRef) -> Values<'a> {
        let array = array.as_primitive::<T>();
        Box::new(move |i| Value::Int(array.value(i).into()))
    }
    match array.data_type() {
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(move |i| Value::Bool(array.value(i)))
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
        DataType::Decimal256(..) => {
            let array = array.as_primitive::<Decimal256Type>();
            Box::new(move |i| {
                let mut words = [0; 4];
                for (word, bytes) in words.iter_mut().zip(array.value(i).to_le_bytes().as_chunks().0) {
                    *word = u64::from_le_bytes(*bytes);
                }
                Value::Int256(words)
            })
        }
        DataType::Float16 => {
            let array = array.as_primitive::<Float16Type>();
            Box::new(move |i| Value::F16(array.value(i).to_bits()))
        }
        DataType::Float32 => {
            let array = array.as_primitive::<Float32Type>();
            Box::new(move |i| Value::F32(array.value(i)))
        }
        DataType::Float64 => {
            let array = array.as_primitive::<Float64Type>();
            Box::new(move |i| Value::F64(array.value(i)))
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let (value, all) = (present(dictionary.values()), dictionary.values().len());
            let keys = if all == 0 { Vec::new() } else { dictionary.normalized_keys() };
            Box::new(move |i| keys.get(i).map_or(Value::Null, |key| value(*key)))
        }
        DataType::Null => Box::new(|_| Value::Null),
        _ => strings(array),
    }
}

fn strings(array: &ArrayRef) -> Values<'_> {
    macro_rules! strings {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |i| Value::Bytes(array.value(i).as_ref()))
        }};
    }
    match array.data_type() {
        DataType::Utf8 => strings!(array.as_string::<i32>()),
        DataType::LargeUtf8 => strings!(array.as_string::<i64>()),
        DataType::Utf8View => strings!(array.as_string_view()),
        DataType::Binary => strings!(array.as_binary::<i32>()),
        DataType::LargeBinary => strings!(array.as_binary::<i64>()),
        DataType::BinaryView => strings!(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => strings!(array.as_fixed_size_binary()),
        // No condition of these types is bound but `is missing`.
        _ => Box::new(|_| Value::Nested(0..0)),
    }
}
