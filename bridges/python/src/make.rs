//! Values of Python as arrays of Arrow: lists, and arrays of numpy.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DurationMicrosecondArray, FixedSizeListArray,
    Float64Array, Int64Array, LargeBinaryArray, LargeStringArray, ListArray, NullArray, PrimitiveArray, RecordBatch,
    RecordBatchIterator, RecordBatchReader, StringArray, StructArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, UInt64Array,
};
use pilaster_arrow::Buffer;
use pilaster_arrow::arrow_data::ArrayData;
use pilaster_arrow::arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use pyo3::buffer::Element;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDate, PyDateTime, PyDelta, PyDict, PyFloat, PyInt, PyList, PyString, PyTime,
    PyTuple, PyType,
};

use crate::error::{Failure, Result};
use crate::raw;

/// Maximum depth of lists and dicts in lists.
pub const DEPTH: u32 = 64;

/// Returns the microseconds of a `datetime` since 1970; of one with an offset, in UTC.
pub fn micros(object: &Bound<'_, PyAny>) -> Result<i64> {
    Ok(object.py().import("pilaster._times")?.call_method1("micros", (object,))?.extract()?)
}

/// Returns the days of a `date` since 1970.
pub fn days(object: &Bound<'_, PyAny>) -> Result<i32> {
    Ok(object.py().import("pilaster._times")?.call_method1("days", (object,))?.extract()?)
}

/// Returns a dict of columns as one batch.
pub fn reader(columns: &Bound<'_, PyDict>) -> Result<impl RecordBatchReader + Send + use<>> {
    let (mut fields, mut arrays, mut rows) = (Vec::new(), Vec::new(), None);
    for (name, values) in columns {
        let name: String =
            name.extract().map_err(|_| Failure::Type(format!("the name {name} of a column is no text")))?;
        let array = column(&values).map_err(|failure| named(failure, &name))?;
        let first = *rows.get_or_insert(array.len());
        if first != array.len() {
            let text = format!("column {name:?} has {} rows, and the columns before it have {first}", array.len());
            return Err(Failure::Value(text));
        }
        let nullable = array.null_count() > 0 || array.data_type().is_null();
        fields.push(Field::new(name, array.data_type().clone(), nullable));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new_with_options(
        Arc::clone(&schema),
        arrays,
        &arrow_array::RecordBatchOptions::new().with_row_count(Some(rows.unwrap_or(0))),
    )?;
    Ok(RecordBatchIterator::new([Ok(batch)], schema))
}

fn named(failure: Failure, name: &str) -> Failure {
    match failure {
        Failure::Type(text) => Failure::Type(format!("column {name:?}: {text}")),
        Failure::Value(text) => Failure::Value(format!("column {name:?}: {text}")),
        other => other,
    }
}

/// Returns the values of a column.
pub fn column(values: &Bound<'_, PyAny>) -> Result<ArrayRef> {
    if values.hasattr("dtype")? && values.hasattr("ndim")? && values.hasattr("__array_interface__")? {
        return numpy(values);
    }
    if values.is_instance_of::<PyString>() || values.is_instance_of::<PyBytes>() {
        return Err(Failure::Type("a text or bytes are no column; pass a list".to_owned()));
    }
    let rows = values.try_iter().map_err(|_| {
        let ty = values.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        Failure::Type(format!("{ty} is neither an array nor a list"))
    })?;
    list(&rows.collect::<PyResult<Vec<_>>>()?, DEPTH)
}

/// Returns the values of an array of numpy; masked ones are missing.
fn numpy(array: &Bound<'_, PyAny>) -> Result<ArrayRef> {
    let py = array.py();
    let numpy = py.import("numpy")?;
    let present = match array.hasattr("mask")? {
        true => {
            let mask = numpy.getattr("ma")?.call_method1("getmaskarray", (array,))?;
            let mask = numpy.call_method1("ascontiguousarray", (mask,))?.call_method1("reshape", (-1,))?;
            let mask = mask.call_method1("view", ("u1",))?;
            Some(raw::items::<u8>(&mask)?.into_iter().map(|masked| masked == 0).collect::<Vec<bool>>())
        }
        false => None,
    };
    let dtype = array.getattr("dtype")?;
    let (kind, size): (String, usize) = (dtype.getattr("kind")?.extract()?, dtype.getattr("itemsize")?.extract()?);
    // Arrays of objects and texts are read value by value, where a masked value is `None`.
    let plain = match kind.as_str() {
        "U" | "S" | "O" | "T" => array.clone(),
        _ => numpy.call_method1("ascontiguousarray", (array,))?,
    };
    let plain = match dtype.getattr("isnative")?.extract()? {
        true => plain,
        false => plain.call_method1("astype", (dtype.call_method1("newbyteorder", ("=",))?,))?,
    };
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    match shape.as_slice() {
        [_] => {}
        [rows, items] => {
            let flat = numpy_rows(&plain.call_method1("reshape", (-1,))?, &kind, size, present)?;
            let items = i32::try_from(*items).map_err(|_| Failure::Value(format!("{items} items in a row")))?;
            let field = Arc::new(Field::new("item", flat.data_type().clone(), flat.null_count() > 0));
            let rows = FixedSizeListArray::try_new_with_length(field, items, flat, None, *rows)?;
            return Ok(Arc::new(rows));
        }
        shape => {
            return Err(Failure::Value(format!("an array of {} dimensions; a column has one, or two", shape.len())));
        }
    }
    numpy_rows(&plain, &kind, size, present)
}

fn numpy_rows(array: &Bound<'_, PyAny>, kind: &str, size: usize, present: Option<Vec<bool>>) -> Result<ArrayRef> {
    let made: ArrayRef = match (kind, size) {
        ("b", _) => {
            let bytes = raw::items::<u8>(&array.call_method1("view", ("u1",))?)?;
            Arc::new(BooleanArray::from(bytes.into_iter().map(|byte| byte != 0).collect::<Vec<_>>()))
        }
        ("i", 1) => primitive::<Int8Type>(array)?,
        ("i", 2) => primitive::<Int16Type>(array)?,
        ("i", 4) => primitive::<Int32Type>(&array.call_method1("view", ("i4",))?)?,
        ("i", 8) => primitive::<Int64Type>(&array.call_method1("view", ("i8",))?)?,
        ("u", 1) => primitive::<UInt8Type>(array)?,
        ("u", 2) => primitive::<UInt16Type>(array)?,
        ("u", 4) => primitive::<UInt32Type>(&array.call_method1("view", ("u4",))?)?,
        ("u", 8) => primitive::<UInt64Type>(&array.call_method1("view", ("u8",))?)?,
        ("f", 2) => {
            type Half = <Float16Type as ArrowPrimitiveType>::Native;
            let bits = raw::items::<u16>(&array.call_method1("view", ("u2",))?)?;
            // In the same memory.
            let values: Vec<Half> = bits.into_iter().map(Half::from_bits).collect();
            Arc::new(PrimitiveArray::<Float16Type>::new(values.into(), None))
        }
        ("f", 4) => primitive::<Float32Type>(array)?,
        ("f", 8) => primitive::<Float64Type>(array)?,
        ("M" | "m", _) => counts(array, kind == "m")?,
        ("U" | "S" | "O" | "T", _) => {
            let rows: Vec<Bound<'_, PyAny>> = array.call_method0("tolist")?.extract()?;
            list(&rows, DEPTH)?
        }
        _ => {
            let text = format!("no column for arrays of {}", array.getattr("dtype")?);
            return Err(Failure::Type(text));
        }
    };
    let Some(present) = present else { return Ok(made) };
    if made.data_type().is_null() {
        return Ok(made);
    }
    // Values that are missing without the mask, such as NaT, remain so.
    let present: Vec<bool> = present.into_iter().zip(0..made.len()).map(|(is, i)| is && made.is_valid(i)).collect();
    let data =
        pilaster_arrow::arrow_data::ArrayDataBuilder::from(made.to_data()).nulls(Some(present.into())).build()?;
    Ok(arrow_array::make_array(data))
}

fn primitive<T: ArrowPrimitiveType<Native: Element>>(array: &Bound<'_, PyAny>) -> Result<ArrayRef> {
    let values = raw::items::<T::Native>(array)?;
    let rows = values.len();
    let data = ArrayData::builder(T::DATA_TYPE).len(rows).add_buffer(Buffer::from_vec(values)).build()?;
    Ok(arrow_array::make_array(data))
}

/// The count of NaT.
const NAT: i64 = i64::MIN;

/// Returns the values of `datetime64` or, with `spans`, of `timedelta64`, which only `any_time` stores; NaT is missing.
fn counts(array: &Bound<'_, PyAny>, spans: bool) -> Result<ArrayRef> {
    let name: String = array.getattr("dtype")?.getattr("str")?.extract()?;
    let values = raw::items::<i64>(&array.call_method1("view", ("i8",))?)?;
    let nulls = values.contains(&NAT).then(|| values.iter().map(|value| *value != NAT).collect());
    // As it stands in brackets.
    let unit = match name.rsplit('[').next().map_or("", |unit| unit.trim_end_matches(']')) {
        "D" if !spans => None,
        "s" => Some(TimeUnit::Second),
        "ms" => Some(TimeUnit::Millisecond),
        "us" => Some(TimeUnit::Microsecond),
        "ns" => Some(TimeUnit::Nanosecond),
        _ => {
            let days = if spans { "" } else { "D, " };
            return Err(Failure::Type(format!("no column for {name}; cast to {days}s, ms, us or ns")));
        }
    };
    let rows = values.len();
    let (ty, values) = match unit {
        None => (DataType::Date32, Buffer::from_vec(narrow(&values)?)),
        Some(unit) if spans => (DataType::Duration(unit), Buffer::from_vec(values)),
        Some(unit) => (DataType::Timestamp(unit, None), Buffer::from_vec(values)),
    };
    let data = ArrayData::builder(ty).len(rows).add_buffer(values).nulls(nulls).build()?;
    Ok(arrow_array::make_array(data))
}

/// Returns days in 32 bits.
fn narrow(days: &[i64]) -> Result<Vec<i32>> {
    let mut narrow = raw::room(days.len())?;
    for day in days {
        let day = if *day == NAT { Ok(0) } else { i32::try_from(*day) };
        narrow.push(day.map_err(|_| Failure::Value("a date after year 5881580".to_owned()))?);
    }
    Ok(narrow)
}

/// What the values of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Bool,
    Int,
    Float,
    Decimal,
    Text,
    Bytes,
    Date,
    /// A `datetime` without an offset.
    Datetime,
    /// A `datetime` with an offset.
    ZonedDatetime,
    Time,
    /// A `timedelta`.
    Duration,
    List,
    Dict,
}

pub fn class(value: &Bound<'_, PyAny>) -> Option<Class> {
    let zoned = || value.getattr("tzinfo").is_ok_and(|zone| !zone.is_none());
    let is = |class, is: bool| is.then_some(class);
    is(Class::Bool, value.is_instance_of::<PyBool>())
        .or_else(|| is(Class::Int, value.is_instance_of::<PyInt>()))
        .or_else(|| is(Class::Float, value.is_instance_of::<PyFloat>()))
        .or_else(|| is(Class::Text, value.is_instance_of::<PyString>()))
        .or_else(|| is(Class::Bytes, value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>()))
        .or_else(|| is(Class::ZonedDatetime, value.is_instance_of::<PyDateTime>() && zoned()))
        .or_else(|| is(Class::Datetime, value.is_instance_of::<PyDateTime>()))
        .or_else(|| is(Class::Date, value.is_instance_of::<PyDate>()))
        .or_else(|| is(Class::Time, value.is_instance_of::<PyTime>()))
        .or_else(|| is(Class::Duration, value.is_instance_of::<PyDelta>()))
        .or_else(|| is(Class::Decimal, is_decimal(value)))
        .or_else(|| is(Class::List, value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()))
        .or_else(|| is(Class::Dict, value.is_instance_of::<PyDict>()))
}

fn is_decimal(value: &Bound<'_, PyAny>) -> bool {
    static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    DECIMAL.import(value.py(), "decimal", "Decimal").is_ok_and(|ty| value.is_instance(ty).unwrap_or(false))
}

/// Returns a scalar of numpy as a value of Python itself. Others remain as they are.
pub fn plain<'py>(value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    match value.hasattr("dtype")? && value.hasattr("item")? {
        true => Ok(value.py().import("pilaster._times")?.call_method1("plain", (value,))?),
        false => Ok(value.clone()),
    }
}

/// Returns the class of all values of a list, `None` without values; and whether some are scalars of numpy.
fn common(rows: &[Bound<'_, PyAny>]) -> Result<(Option<Class>, bool)> {
    let (mut all, mut foreign) = (None, false);
    for (row, value) in rows.iter().enumerate() {
        if value.is_none() {
            continue;
        }
        let found = match class(value) {
            None => {
                foreign = true;
                class(&plain(value)?)
            }
            found => found,
        };
        let found = found.ok_or_else(|| {
            let ty = value.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
            Failure::Type(format!("row {row} is a {ty}, for which there is no column"))
        })?;
        all = Some(match (all, found) {
            (None, found) => found,
            (Some(all), found) if all == found => all,
            (Some(Class::Int | Class::Float), Class::Int | Class::Float) => Class::Float,
            (Some(all), found) => {
                return Err(Failure::Type(format!("row {row} is {found:?}, and the rows before it are {all:?}")));
            }
        });
    }
    Ok((all, foreign))
}

/// Returns the values of a list; `None` is missing.
fn list(rows: &[Bound<'_, PyAny>], depth: u32) -> Result<ArrayRef> {
    match common(rows)? {
        (class, false) => of_class(rows, class, depth),
        (class, true) => of_class(&rows.iter().map(plain).collect::<Result<Vec<_>>>()?, class, depth),
    }
}

/// Returns values of a class; `None` is missing.
pub fn of_class(rows: &[Bound<'_, PyAny>], class: Option<Class>, depth: u32) -> Result<ArrayRef> {
    fn all<'py, T: for<'a> FromPyObject<'a, 'py>>(rows: &[Bound<'py, PyAny>]) -> Result<Vec<Option<T>>> {
        rows.iter().map(|value| value.extract::<Option<T>>().map_err(|e| Failure::from(e.into()))).collect()
    }
    let some = |one: &dyn Fn(&Bound<'_, PyAny>) -> Result<i64>| -> Result<Vec<Option<i64>>> {
        rows.iter().map(|value| if value.is_none() { Ok(None) } else { one(value).map(Some) }).collect()
    };
    Ok(match class {
        None => Arc::new(NullArray::new(rows.len())),
        Some(Class::Bool) => Arc::new(BooleanArray::from(all::<bool>(rows)?)),
        Some(Class::Int) => match all::<i64>(rows) {
            Ok(values) => Arc::new(Int64Array::from(values)),
            Err(_) => Arc::new(UInt64Array::from(all::<u64>(rows).map_err(|_| {
                Failure::Value("integers that neither 64 bits with nor without a sign hold".to_owned())
            })?)),
        },
        Some(Class::Float) => Arc::new(Float64Array::from(floats(rows)?)),
        Some(Class::Decimal) => decimals(rows)?,
        Some(Class::Text) => {
            let texts = all::<String>(rows)?;
            match is_long(texts.iter().flatten().map(String::len)) {
                true => Arc::new(LargeStringArray::from_iter(texts)),
                false => Arc::new(StringArray::from_iter(texts)),
            }
        }
        Some(Class::Bytes) => {
            let one = |value: &Bound<'_, PyAny>| match value.is_none() {
                true => Ok(None),
                false => raw::buffered(value, false).map(Some),
            };
            let strings = rows.iter().map(one).collect::<PyResult<Vec<_>>>()?;
            match is_long(strings.iter().flatten().map(|string| string.len())) {
                true => Arc::new(LargeBinaryArray::from_iter(strings)),
                false => Arc::new(BinaryArray::from_iter(strings)),
            }
        }
        Some(Class::Date) => {
            let dates = some(&|value| Ok(days(value)?.into()))?;
            Arc::new(dates.into_iter().map(|day| day.and_then(|day| i32::try_from(day).ok())).collect::<Date32Array>())
        }
        Some(Class::Time) => Arc::new(Time64MicrosecondArray::from(some(&|value| {
            Ok(value.py().import("pilaster._times")?.call_method1("of_day", (value,))?.extract()?)
        })?)),
        Some(Class::Duration) => Arc::new(DurationMicrosecondArray::from(some(&|value| {
            Ok(value.py().import("pilaster._times")?.call_method1("span", (value,))?.extract()?)
        })?)),
        Some(Class::Datetime) => Arc::new(TimestampMicrosecondArray::from(some(&micros)?)),
        Some(Class::ZonedDatetime) => Arc::new(TimestampMicrosecondArray::from(some(&micros)?).with_timezone("UTC")),
        Some(Class::List) => lists(rows, depth)?,
        Some(Class::Dict) => dicts(rows, depth)?,
    })
}

/// Returns whether the offsets of strings of these lengths need 64 bits.
fn is_long(lens: impl Iterator<Item = usize>) -> bool {
    i32::try_from(lens.fold(0, usize::saturating_add)).is_err()
}

/// Returns numbers as floats. An integer that no float equals is an error.
fn floats(rows: &[Bound<'_, PyAny>]) -> Result<Vec<Option<f64>>> {
    let float = |(row, value): (usize, &Bound<'_, PyAny>)| -> Result<Option<f64>> {
        if value.is_none() {
            return Ok(None);
        }
        let float = value.extract::<f64>()?;
        match value.is_instance_of::<PyInt>() && !value.eq(float)? {
            true => Err(Failure::Value(format!("row {row} is {value}, which is no float, and other rows are floats"))),
            false => Ok(Some(float)),
        }
    };
    rows.iter().enumerate().map(float).collect()
}

fn decimals(rows: &[Bound<'_, PyAny>]) -> Result<ArrayRef> {
    let Some(first) = rows.first() else { return Ok(Arc::new(NullArray::new(0))) };
    let digits = first.py().import("pilaster._times")?.call_method1("decimals", (rows.to_vec(),))?;
    let (precision, scale, values): (u8, i8, Vec<Option<i128>>) = digits.extract()?;
    Ok(Arc::new(Decimal128Array::from(values).with_precision_and_scale(precision, scale)?))
}

fn deeper(depth: u32) -> Result<u32> {
    depth.checked_sub(1).ok_or_else(|| Failure::Value(format!("lists of more than {DEPTH} levels")))
}

fn lists(rows: &[Bound<'_, PyAny>], depth: u32) -> Result<ArrayRef> {
    let (mut items, mut ends, mut present) = (Vec::new(), vec![0i32], Vec::new());
    for row in rows {
        present.push(!row.is_none());
        if !row.is_none() {
            items.extend(row.try_iter()?.collect::<PyResult<Vec<_>>>()?);
        }
        let end = i32::try_from(items.len()).map_err(|_| Failure::Value("more than 2147483647 items".to_owned()))?;
        ends.push(end);
    }
    let values = list(&items, deeper(depth)?)?;
    let field = Arc::new(Field::new("item", values.data_type().clone(), true));
    let data = ArrayData::builder(DataType::List(field))
        .len(rows.len())
        .add_buffer(Buffer::from_vec(ends))
        .add_child_data(values.to_data())
        .nulls(Some(present.into()))
        .build()?;
    Ok(Arc::new(ListArray::from(data)))
}

fn dicts(rows: &[Bound<'_, PyAny>], depth: u32) -> Result<ArrayRef> {
    let mut names: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| !row.is_none()) {
        for name in row.call_method0("keys")?.try_iter()? {
            let name: String = name?.extract()?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for name in names {
        let mut values = Vec::with_capacity(rows.len());
        for row in rows {
            values.push(if row.is_none() { row.clone() } else { row.call_method1("get", (&name,))? });
        }
        let array = list(&values, deeper(depth)?)?;
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let present: Vec<bool> = rows.iter().map(|row| !row.is_none()).collect();
    let nulls = present.contains(&false).then(|| present.into());
    Ok(Arc::new(StructArray::try_new_with_length(Fields::from(fields), arrays, nulls, rows.len())?))
}
