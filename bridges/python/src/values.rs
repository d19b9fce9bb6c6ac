//! Values of Arrow as values of Python, for callers without another library.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use pilaster_arrow::arrow_schema::{DataType, Schema, TimeUnit};
use pyo3::IntoPyObjectExt as _;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::error::Result;
use crate::schema::unambiguous;
use crate::times::{self, Times};

/// Returns a dict of a list for each column.
pub fn dict<'py>(py: Python<'py>, schema: &Schema, batches: &[RecordBatch]) -> Result<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (k, field) in schema.fields().iter().enumerate() {
        unambiguous(schema, field.name())?;
        let arrays = || batches.iter().filter_map(|batch| batch.columns().get(k));
        // All values of a column have one type.
        let times = match arrays().all(|array| times::fits(&array.to_data())) {
            true => Times::Datetime,
            false => Times::Counts,
        };
        let list = PyList::empty(py);
        for array in arrays() {
            append(&list, array, times)?;
        }
        dict.set_item(field.name(), list)?;
    }
    Ok(dict)
}

/// Appends the values of an array to a list; missing ones are `None`.
fn append(list: &Bound<'_, PyList>, array: &ArrayRef, times: Times) -> PyResult<()> {
    let py = list.py();
    let get = getter(py, array, times)?;
    let nulls = array.logical_nulls();
    for i in 0..array.len() {
        match nulls.as_ref().is_some_and(|nulls| nulls.is_null(i)) {
            true => list.append(py.None())?,
            false => list.append(get(i)?)?,
        }
    }
    Ok(())
}

type Getter<'a, 'py> = Box<dyn Fn(usize) -> PyResult<Bound<'py, PyAny>> + 'a>;

/// Returns a function that returns the value of a row.
fn getter<'a, 'py: 'a>(py: Python<'py>, array: &'a ArrayRef, times: Times) -> PyResult<Getter<'a, 'py>> {
    /// Numbers, through a function.
    fn primitive<'a, 'py: 'a, T: ArrowPrimitiveType>(
        array: &'a ArrayRef,
        make: impl Fn(T::Native) -> PyResult<Bound<'py, PyAny>> + 'a,
    ) -> Getter<'a, 'py> {
        let array = array.as_primitive::<T>();
        Box::new(move |i| make(array.value(i)))
    }
    macro_rules! number {
        ($ty:ty) => {
            primitive::<$ty>(array, move |value| value.into_bound_py_any(py))
        };
    }
    macro_rules! string {
        ($array:expr, $make:ident) => {{
            let array = $array;
            Box::new(move |i| Ok($make::new(py, array.value(i)).into_any()))
        }};
    }
    Ok(match array.data_type() {
        DataType::Null => Box::new(move |_| Ok(py.None().into_bound(py))),
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(move |i| array.value(i).into_bound_py_any(py))
        }
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float16 => primitive::<Float16Type>(array, move |value| value.to_f32().into_bound_py_any(py)),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Utf8 => string!(array.as_string::<i32>(), PyString),
        DataType::LargeUtf8 => string!(array.as_string::<i64>(), PyString),
        DataType::Utf8View => string!(array.as_string_view(), PyString),
        DataType::Binary => string!(array.as_binary::<i32>(), PyBytes),
        DataType::LargeBinary => string!(array.as_binary::<i64>(), PyBytes),
        DataType::BinaryView => string!(array.as_binary_view(), PyBytes),
        DataType::FixedSizeBinary(_) => string!(array.as_fixed_size_binary(), PyBytes),
        DataType::Decimal32(_, scale) => decimal::<Decimal32Type>(py, array, *scale)?,
        DataType::Decimal64(_, scale) => decimal::<Decimal64Type>(py, array, *scale)?,
        DataType::Decimal128(_, scale) => decimal::<Decimal128Type>(py, array, *scale)?,
        DataType::Decimal256(_, scale) => decimal::<Decimal256Type>(py, array, *scale)?,
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let of = getter(py, dictionary.values(), times)?;
            // Without values, all are missing.
            let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
            Box::new(move |i| keys.get(i).map_or_else(|| Ok(py.None().into_bound(py)), |key| of(*key)))
        }
        ty if ty.is_temporal() => temporal(py, array, times)?,
        _ => return nested(py, array, times),
    })
}

/// Decimals, as `decimal.Decimal`.
fn decimal<'a, 'py: 'a, T: ArrowPrimitiveType<Native: std::fmt::Display>>(
    py: Python<'py>,
    array: &'a ArrayRef,
    scale: i8,
) -> PyResult<Getter<'a, 'py>> {
    let (array, make) = (array.as_primitive::<T>(), py.import("decimal")?.getattr("Decimal")?);
    let exponent = i32::from(scale).saturating_neg();
    Ok(Box::new(move |i| make.call1((format!("{}E{exponent}", array.value(i)),))))
}

/// Dates and times, as `datetime` or as counts.
fn temporal<'a, 'py: 'a>(py: Python<'py>, array: &'a ArrayRef, times: Times) -> PyResult<Getter<'a, 'py>> {
    let counts: Box<dyn Fn(usize) -> i64> = match array.data_type() {
        DataType::Date32 | DataType::Time32(_) => {
            let words = words32(array)?;
            Box::new(move |i| words.get(i).copied().unwrap_or(0).into())
        }
        DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) => {
            let words = words64(array)?;
            Box::new(move |i| words.get(i).copied().unwrap_or(0))
        }
        ty => return Err(PyTypeError::new_err(format!("no value of Python for {ty}"))),
    };
    if times == Times::Counts {
        return Ok(Box::new(move |i| counts(i).into_bound_py_any(py)));
    }
    let module = py.import("pilaster._times")?;
    let (make, zone) = match array.data_type() {
        DataType::Date32 => (module.getattr("date")?, py.None().into_bound(py)),
        DataType::Time32(_) | DataType::Time64(_) => (module.getattr("time")?, py.None().into_bound(py)),
        DataType::Timestamp(_, Some(zone)) => {
            (module.getattr("timestamp")?, module.getattr("zone")?.call1((zone.as_ref(),))?)
        }
        _ => (module.getattr("timestamp")?, py.None().into_bound(py)),
    };
    let ticks = times::ticks(array.data_type());
    Ok(Box::new(move |i| make.call1((counts(i), ticks, &zone))))
}

/// Lists, structs and maps: a list, a dict, a list of pairs.
fn nested<'a, 'py: 'a>(py: Python<'py>, array: &'a ArrayRef, times: Times) -> PyResult<Getter<'a, 'py>> {
    let list = move |array: ArrayRef| -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::empty(py);
        append(&list, &array, times)?;
        Ok(list.into_any())
    };
    Ok(match array.data_type() {
        DataType::List(_) => Box::new(move |i| list(array.as_list::<i32>().value(i))),
        DataType::LargeList(_) => Box::new(move |i| list(array.as_list::<i64>().value(i))),
        DataType::ListView(_) => Box::new(move |i| list(array.as_list_view::<i32>().value(i))),
        DataType::LargeListView(_) => Box::new(move |i| list(array.as_list_view::<i64>().value(i))),
        DataType::FixedSizeList(..) => Box::new(move |i| list(array.as_fixed_size_list().value(i))),
        DataType::Map(..) => Box::new(move |i| {
            let entries = array.as_map().value(i);
            let pairs = PyList::empty(py);
            let [keys, values] = entries.columns() else { return Ok(pairs.into_any()) };
            let (all_keys, all_values) = (PyList::empty(py), PyList::empty(py));
            append(&all_keys, keys, times)?;
            append(&all_values, values, times)?;
            for (key, value) in all_keys.iter().zip(all_values.iter()) {
                pairs.append((key, value))?;
            }
            Ok(pairs.into_any())
        }),
        DataType::Struct(_) => {
            let rows = array.as_struct();
            Box::new(move |i| {
                let dict = PyDict::new(py);
                for (field, column) in rows.fields().iter().zip(rows.columns()) {
                    let one = PyList::empty(py);
                    append(&one, &column.slice(i, 1), times)?;
                    dict.set_item(field.name(), one.get_item(0)?)?;
                }
                Ok(dict.into_any())
            })
        }
        ty => return Err(PyTypeError::new_err(format!("no value of Python for {ty}"))),
    })
}

/// Copies numbers into a buffer of as many, and which are present into a buffer of bytes. Returns how many are missing.
pub fn numbers(array: &ArrayRef, to: &Bound<'_, PyAny>, present: &Bound<'_, PyAny>) -> PyResult<usize> {
    fn copy<T: ArrowPrimitiveType<Native: Element>>(array: &ArrayRef, to: &Bound<'_, PyAny>) -> PyResult<()> {
        put(array.as_primitive::<T>().values(), to)
    }
    match array.data_type() {
        DataType::Boolean => {
            let values: Vec<u8> = array.as_boolean().values().iter().map(u8::from).collect();
            put(&values, to)?;
        }
        DataType::Int8 => copy::<Int8Type>(array, to)?,
        DataType::Int16 => copy::<Int16Type>(array, to)?,
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => put(words32(array)?, to)?,
        DataType::UInt8 => copy::<UInt8Type>(array, to)?,
        DataType::UInt16 => copy::<UInt16Type>(array, to)?,
        DataType::UInt32 => copy::<UInt32Type>(array, to)?,
        DataType::UInt64 => copy::<UInt64Type>(array, to)?,
        DataType::Float16 => {
            let bits: Vec<u16> =
                array.as_primitive::<Float16Type>().values().iter().map(|value| value.to_bits()).collect();
            put(&bits, to)?;
        }
        DataType::Float32 => copy::<Float32Type>(array, to)?,
        DataType::Float64 => copy::<Float64Type>(array, to)?,
        _ => put(words64(array)?, to)?,
    }
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(0) };
    let valid: Vec<u8> = nulls.iter().map(u8::from).collect();
    put(&valid, present)?;
    Ok(nulls.null_count())
}

fn put<T: Element>(values: &[T], to: &Bound<'_, PyAny>) -> PyResult<()> {
    PyBuffer::<T>::get(to)?.copy_from_slice(to.py(), values)
}

/// Returns the words of any type of 32 bits.
fn words32(array: &ArrayRef) -> PyResult<&[i32]> {
    Ok(match array.data_type() {
        DataType::Int32 => array.as_primitive::<Int32Type>().values(),
        DataType::Date32 => array.as_primitive::<Date32Type>().values(),
        DataType::Time32(TimeUnit::Second) => array.as_primitive::<Time32SecondType>().values(),
        _ => array.as_primitive::<Time32MillisecondType>().values(),
    })
}

/// Returns the words of any type of 64 bits.
fn words64(array: &ArrayRef) -> PyResult<&[i64]> {
    Ok(match array.data_type() {
        DataType::Int64 => array.as_primitive::<Int64Type>().values(),
        DataType::Date64 => array.as_primitive::<Date64Type>().values(),
        DataType::Time64(TimeUnit::Microsecond) => array.as_primitive::<Time64MicrosecondType>().values(),
        DataType::Time64(_) => array.as_primitive::<Time64NanosecondType>().values(),
        DataType::Timestamp(TimeUnit::Second, _) => array.as_primitive::<TimestampSecondType>().values(),
        DataType::Timestamp(TimeUnit::Millisecond, _) => array.as_primitive::<TimestampMillisecondType>().values(),
        DataType::Timestamp(TimeUnit::Microsecond, _) => array.as_primitive::<TimestampMicrosecondType>().values(),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => array.as_primitive::<TimestampNanosecondType>().values(),
        ty => return Err(PyValueError::new_err(format!("numpy has no numbers for {ty}"))),
    })
}
