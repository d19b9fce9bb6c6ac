//! Values as text, of columns of the library and of arrays of Arrow, from two sources that share no code.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use pilaster::column::{Batch, Column, Memory, Value, fit};

const MISSING: &str = "-";

/// The rows of a column.
pub fn column<C: Column>(column: &C, rows: Range<u64>) -> Vec<String> {
    let mut memory = Memory::default();
    let (mut row, mut shown) = (rows.start, Vec::new());
    while row < rows.end {
        let mut scratch = memory.scratch();
        let read = fit(column, row..rows.end, scratch.room()).and_then(|rows| column.read(rows, &mut scratch));
        match read {
            Ok(batch) => {
                shown.extend(batch_rows(&batch));
                row += batch.len as u64;
            }
            Err(e) => memory.grow(e).unwrap(),
        }
    }
    shown
}

fn batch_rows<C: Column>(batch: &Batch<'_, C>) -> Vec<String> {
    (0..batch.len)
        .map(|i| match batch.value(i).unwrap() {
            Value::Null => MISSING.to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Int256(words) => {
                let high = i128::from(words[3].cast_signed()) >> 63;
                match words[2..] == [high as u64; 2] && (words[1].cast_signed() < 0) == (high < 0) {
                    true => ((u128::from(words[1]) << 64 | u128::from(words[0])).cast_signed()).to_string(),
                    false => format!("{words:?}"),
                }
            }
            Value::F16(bits) => format!("f{bits:04x}"),
            Value::F32(value) => format!("f{:08x}", value.to_bits()),
            Value::F64(value) => format!("f{:016x}", value.to_bits()),
            Value::Bytes(bytes) | Value::Text(bytes) => format!("{bytes:02x?}"),
            Value::Nested(rows) => {
                let children = batch.of.ty().children();
                let shown: Vec<_> =
                    (0..children).map(|k| column(&batch.of.child(k).unwrap(), rows.clone()).join(",")).collect();
                format!("({})", shown.join(";"))
            }
        })
        .collect()
}

/// Row `i` of an array.
pub fn row(array: &ArrayRef, i: usize) -> String {
    if array.is_null(i) || *array.data_type() == DataType::Null {
        return MISSING.to_owned();
    }
    let items = |rows: ArrayRef| {
        let shown: Vec<_> = (0..rows.len()).map(|i| row(&rows, i)).collect();
        format!("({})", shown.join(","))
    };
    match array.data_type() {
        DataType::List(_) => items(array.as_list::<i32>().value(i)),
        DataType::LargeList(_) => items(array.as_list::<i64>().value(i)),
        DataType::ListView(_) => items(array.as_list_view::<i32>().value(i)),
        DataType::LargeListView(_) => items(array.as_list_view::<i64>().value(i)),
        DataType::FixedSizeList(..) => items(array.as_fixed_size_list().value(i)),
        DataType::Map(..) => items(std::sync::Arc::new(array.as_map().value(i))),
        DataType::Struct(_) => {
            let shown: Vec<_> = array.as_struct().columns().iter().map(|field| row(field, i)).collect();
            format!("({})", shown.join(";"))
        }
        DataType::Dictionary(..) => {
            // The keys of all rows would be converted for each one.
            let one = array.slice(i, 1);
            let dictionary = one.as_any_dictionary();
            row(dictionary.values(), dictionary.normalized_keys()[0])
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => run::<Int16Type>(array, i),
            DataType::Int32 => run::<Int32Type>(array, i),
            _ => run::<Int64Type>(array, i),
        },
        ty if ty.is_primitive() || *ty == DataType::Boolean => number(array, i),
        _ => bytes(array, i),
    }
}

/// Row `i` of an array of numbers, dates or times.
fn number(array: &ArrayRef, i: usize) -> String {
    macro_rules! int {
        ($ty:ty) => {
            array.as_primitive::<$ty>().value(i).to_string()
        };
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(i).to_string(),
        DataType::Int8 => int!(Int8Type),
        DataType::Int16 => int!(Int16Type),
        DataType::Int32 => int!(Int32Type),
        DataType::Int64 => int!(Int64Type),
        DataType::UInt8 => int!(UInt8Type),
        DataType::UInt16 => int!(UInt16Type),
        DataType::UInt32 => int!(UInt32Type),
        DataType::UInt64 => int!(UInt64Type),
        DataType::Date32 => int!(Date32Type),
        DataType::Date64 => int!(Date64Type),
        DataType::Time32(TimeUnit::Second) => int!(Time32SecondType),
        DataType::Time32(_) => int!(Time32MillisecondType),
        DataType::Time64(TimeUnit::Microsecond) => int!(Time64MicrosecondType),
        DataType::Time64(_) => int!(Time64NanosecondType),
        DataType::Timestamp(TimeUnit::Second, _) => int!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => int!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => int!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => int!(TimestampNanosecondType),
        DataType::Decimal32(..) => int!(Decimal32Type),
        DataType::Decimal64(..) => int!(Decimal64Type),
        DataType::Decimal128(..) => int!(Decimal128Type),
        DataType::Decimal256(..) => {
            let value = array.as_primitive::<Decimal256Type>().value(i);
            let bytes = value.to_le_bytes();
            let words: Vec<u64> = bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
            value.to_i128().map_or_else(|| format!("{words:?}"), |value| value.to_string())
        }
        DataType::Float16 => format!("f{:04x}", array.as_primitive::<Float16Type>().value(i).to_bits()),
        DataType::Float32 => format!("f{:08x}", array.as_primitive::<Float32Type>().value(i).to_bits()),
        DataType::Float64 => format!("f{:016x}", array.as_primitive::<Float64Type>().value(i).to_bits()),
        other => panic!("no text for {other}"),
    }
}

/// Row `i` of an array of texts or byte strings.
fn bytes(array: &ArrayRef, i: usize) -> String {
    match array.data_type() {
        DataType::Utf8 => format!("{:02x?}", array.as_string::<i32>().value(i).as_bytes()),
        DataType::LargeUtf8 => format!("{:02x?}", array.as_string::<i64>().value(i).as_bytes()),
        DataType::Utf8View => format!("{:02x?}", array.as_string_view().value(i).as_bytes()),
        DataType::Binary => format!("{:02x?}", array.as_binary::<i32>().value(i)),
        DataType::LargeBinary => format!("{:02x?}", array.as_binary::<i64>().value(i)),
        DataType::BinaryView => format!("{:02x?}", array.as_binary_view().value(i)),
        DataType::FixedSizeBinary(_) => format!("{:02x?}", array.as_fixed_size_binary().value(i)),
        other => panic!("no text for {other}"),
    }
}

fn run<R: RunEndIndexType>(array: &ArrayRef, i: usize) -> String {
    let runs = array.as_run_opt::<R>().unwrap();
    row(runs.values(), runs.get_physical_index(i))
}

/// A row as text, with every float as one of 64 bits.
#[allow(dead_code, reason = "not every test uses it")]
pub fn canonical(row: &str) -> String {
    let float = |word: &str| -> Option<String> {
        let bits = word.strip_prefix('f')?;
        let value = match bits.len() {
            4 => f64::from(pilaster::bytes::half_to_f32(u16::from_str_radix(bits, 16).ok()?)),
            8 => f64::from(f32::from_bits(u32::from_str_radix(bits, 16).ok()?)),
            16 => f64::from_bits(u64::from_str_radix(bits, 16).ok()?),
            _ => return None,
        };
        Some(value.to_string())
    };
    let separators = |c: char| matches!(c, '(' | ')' | ',' | ';');
    let words = row.split_inclusive(separators).map(|word| {
        let bare = word.trim_end_matches(separators);
        float(bare).map_or_else(|| word.to_owned(), |value| format!("{value}{}", &word[bare.len()..]))
    });
    words.collect()
}
