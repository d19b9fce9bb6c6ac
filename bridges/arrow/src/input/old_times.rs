//! Timestamps of 96 bits, as old programs wrote them to Parquet. The reader of Parquet takes them as 64-bit numbers and
//! wraps those that do not fit, hence their columns are read in seconds, too, and compared.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

use crate::Error;

/// Returns the schema with timestamps of 96 bits in seconds, whatever unit a stored schema gives them. `old`: whether each column of
/// Parquet, which has no columns within it, has such timestamps.
pub(super) fn in_seconds(schema: &SchemaRef, old: &[bool]) -> SchemaRef {
    let mut leaves = old.iter().copied();
    let fields = schema.fields().iter().map(|field| coarse(field, &mut leaves)).collect::<Fields>();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn coarse(field: &FieldRef, old: &mut dyn Iterator<Item = bool>) -> FieldRef {
    let ty = match field.data_type() {
        DataType::List(item) => DataType::List(coarse(item, old)),
        DataType::LargeList(item) => DataType::LargeList(coarse(item, old)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(coarse(item, old), *len),
        DataType::Map(entries, sorted) => DataType::Map(coarse(entries, old), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|field| coarse(field, old)).collect()),
        other => match (old.next(), other) {
            (Some(true), DataType::Timestamp(_, zone)) => DataType::Timestamp(TimeUnit::Second, zone.clone()),
            _ => other.clone(),
        },
    };
    if ty == *field.data_type() { Arc::clone(field) } else { Arc::new(Field::clone(field).with_data_type(ty)) }
}

/// Compares timestamps with the same ones in seconds. `row` is the number of the first row.
///
/// # Errors
/// A timestamp that the unit cannot hold.
pub(super) fn check(array: &ArrayRef, seconds: &ArrayRef, row: u64) -> Result<(), Error> {
    let (DataType::Timestamp(unit, _), DataType::Timestamp(TimeUnit::Second, _)) =
        (array.data_type(), seconds.data_type())
    else {
        let (all, coarse) = (array.to_data(), seconds.to_data());
        let pairs = all.child_data().iter().zip(coarse.child_data());
        return pairs.into_iter().try_for_each(|(child, coarse)| {
            let (child, coarse) = (make_array(child.clone()), make_array(coarse.clone()));
            // The items of a list have other numbers than its rows.
            check(&child, &coarse, row).map_err(|_| {
                Error::Input(format!(
                    "a timestamp of 96 bits within the {} rows from row {row} on is {OUT}",
                    array.len()
                ))
            })
        });
    };
    let (values, per_second): (&[i64], i64) = match unit {
        TimeUnit::Nanosecond => (array.as_primitive::<TimestampNanosecondType>().values(), 1_000_000_000),
        TimeUnit::Microsecond => (array.as_primitive::<TimestampMicrosecondType>().values(), 1_000_000),
        TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().values(), 1000),
        TimeUnit::Second => return Ok(()),
    };
    let coarse = seconds.as_primitive::<TimestampSecondType>().values();
    let mut pairs = values.iter().zip(coarse).enumerate();
    let is_wrong = |value: &i64, seconds: &i64| value.div_euclid(per_second) != *seconds;
    match pairs.find(|(i, (value, seconds))| array.is_valid(*i) && is_wrong(value, seconds)) {
        None => Ok(()),
        Some((i, (_, seconds))) => {
            let row = row.saturating_add(i as u64);
            Err(Error::Input(format!("row {row}: a timestamp of 96 bits, {seconds} seconds from 1970 on, is {OUT}")))
        }
    }
}

/// What such a timestamp is.
const OUT: &str = "outside of what 64 bits hold in the unit of the column, in nanoseconds the years 1677 to 2262; leave the column out";
