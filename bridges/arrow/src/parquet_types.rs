//! Types that Parquet, or its writer, lacks, as types that it has: seconds, dates in milliseconds, dictionaries of views and of numbers,
//! decimals of one digit. Types that neither has, and names that readers refuse, are errors.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit};

use crate::Error;
use crate::plain::plain_type;

/// Returns the schema that is stored. Other readers would see plain integers in columns of a type that Parquet lacks.
pub(crate) fn stored(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(field).collect::<Fields>();
    match fields == *schema.fields() {
        true => Arc::clone(schema),
        false => Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())),
    }
}

fn field(of: &FieldRef) -> FieldRef {
    let ty = data_type(of.data_type());
    if ty == *of.data_type() { Arc::clone(of) } else { Arc::new(Field::clone(of).with_data_type(ty)) }
}

fn data_type(ty: &DataType) -> DataType {
    match ty {
        DataType::Timestamp(TimeUnit::Second, zone) => DataType::Timestamp(TimeUnit::Millisecond, zone.clone()),
        DataType::Time32(TimeUnit::Second) => DataType::Time32(TimeUnit::Millisecond),
        DataType::Date64 => DataType::Date32,
        // The writer of Parquet stores a decimal of one digit in 64 bits, but does not widen it.
        DataType::Decimal32(1, scale) => DataType::Decimal64(1, *scale),
        DataType::List(item) => DataType::List(field(item)),
        DataType::LargeList(item) => DataType::LargeList(field(item)),
        DataType::ListView(item) => DataType::ListView(field(item)),
        DataType::LargeListView(item) => DataType::LargeListView(field(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(field(item), *len),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        DataType::Dictionary(keys, values) => match &**values {
            // The writer of Parquet panics over views in a dictionary.
            DataType::Utf8View => DataType::Dictionary(keys.clone(), Box::new(DataType::Utf8)),
            DataType::BinaryView => DataType::Dictionary(keys.clone(), Box::new(DataType::Binary)),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => ty.clone(),
            // Its reader panics if the dictionaries of several batches together have more values than keys, it does not find
            // large decimals in one, and the writer stores fixed-size binary wrongly.
            values => data_type(values),
        },
        other => other.clone(),
    }
}

/// Checks that Parquet has the types of all columns, and that readers find each by its name.
///
/// # Errors
/// [`Error::Column`] that names the first column with a type that Parquet, or its writer, lacks; [`Error::Target`] for a second column,
/// or field of a struct, with the same name.
pub(crate) fn check(schema: &Schema) -> Result<(), Error> {
    for field in schema.fields() {
        if let Some(ty) = lacking(field.data_type()) {
            return Err(Error::Lacking { format: "Parquet", what: ty.to_string() }.in_column(field.name()));
        }
        if let Some(double) = within(field.data_type()) {
            return Err(twice(field.name(), double));
        }
    }
    second(schema.fields()).map_or(Ok(()), |double| Err(twice(double.name(), double)))
}

/// Returns the error for a field of a column whose name a field before it has.
fn twice(column: &str, field: &Field) -> Error {
    Error::Target {
        column: column.to_owned(),
        ty: field.data_type().to_string(),
        remedy: "rename one, or write an Arrow file",
        error: format!("readers of Parquet refuse two columns or fields of the name {:?}", field.name()).into(),
    }
}

/// Returns the first field with the name of one before it.
fn second(fields: &Fields) -> Option<&Field> {
    let mut known = HashSet::new();
    fields.iter().find(|field| !known.insert(field.name())).map(AsRef::as_ref)
}

/// Returns the first field of a struct within `ty` with the name of one before it.
fn within(ty: &DataType) -> Option<&Field> {
    match ty {
        DataType::Struct(fields) => {
            second(fields).or_else(|| fields.iter().find_map(|field| within(field.data_type())))
        }
        ty => inner(ty).and_then(within),
    }
}

/// Returns the type of the items of a list, or of the values of a dictionary or of runs.
fn inner(ty: &DataType) -> Option<&DataType> {
    match ty {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _)
        | DataType::RunEndEncoded(_, item) => Some(item.data_type()),
        DataType::Dictionary(_, values) => Some(values),
        _ => None,
    }
}

/// Returns the type within `ty` that Parquet lacks.
fn lacking(ty: &DataType) -> Option<&DataType> {
    match ty {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale)
            if *scale < 0 =>
        {
            Some(ty)
        }
        DataType::Struct(fields) if fields.is_empty() => Some(ty),
        DataType::Struct(fields) => fields.iter().find_map(|field| lacking(field.data_type())),
        // The writer of Parquet lacks them.
        DataType::Union(..) | DataType::Interval(IntervalUnit::MonthDayNano) => Some(ty),
        ty => inner(ty).and_then(lacking),
    }
}

/// Converts a batch to a schema of [`stored`].
///
/// # Errors
/// A time that the finer unit cannot hold; a date that is not a whole day.
pub(crate) fn converted(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let mut arrays = Vec::with_capacity(batch.num_columns());
    for (array, field) in batch.columns().iter().zip(schema.fields()) {
        if array.data_type() == field.data_type() {
            arrays.push(Arc::clone(array));
            continue;
        }
        let made = cast_with_options(array, field.data_type(), &options).map_err(Error::from);
        let made = made.map_err(|e| e.in_column(field.name()))?;
        // Decoding a dictionary changes no value.
        let (ty, stored) = (plain_type(array.data_type()), plain_type(field.data_type()));
        if ty != stored {
            let decoded = |array: &ArrayRef| cast_with_options(array, &ty, &options);
            let back = decoded(&cast_with_options(&made, &stored, &options)?)?;
            if back.as_ref() != decoded(array)?.as_ref() {
                let why = format!("a value of {} is no whole {}", array.data_type(), field.data_type());
                return Err(Error::Arrow(ArrowError::CastError(why)).in_column(field.name()));
            }
        }
        arrays.push(made);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)?)
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int8Type;
    use arrow_array::{
        Array, DictionaryArray, FixedSizeBinaryArray, Int8Array, ListArray, StructArray, TimestampMicrosecondArray,
        TimestampSecondArray,
    };
    use arrow_buffer::OffsetBuffer;

    use super::*;

    /// Five values with a dictionary, in a list in a struct.
    fn nested(values: ArrayRef) -> Result<RecordBatch, Error> {
        let keys = Int8Array::from(vec![Some(1), Some(0), None, Some(1), Some(1)]);
        let coded = Arc::new(DictionaryArray::<Int8Type>::try_new(keys, values)?);
        let item = Arc::new(Field::new("item", coded.data_type().clone(), true));
        let list = ListArray::try_new(item, OffsetBuffer::from_lengths([2, 0, 3]), coded, None)?;
        let fields = Fields::from(vec![Field::new("l", list.data_type().clone(), true)]);
        let column = StructArray::try_new(fields, vec![Arc::new(list)], None)?;
        Ok(RecordBatch::try_from_iter([("s", Arc::new(column) as ArrayRef)])?)
    }

    #[test]
    fn dictionaries_within_other_types_are_converted() -> Result<(), Error> {
        let bytes = FixedSizeBinaryArray::try_from_iter([b"ab", b"cd"].into_iter())?;
        let same = FixedSizeBinaryArray::try_from_iter([b"ab", b"ab"].into_iter())?;
        let seconds = TimestampSecondArray::from(vec![5, -7]);
        let stamps = TimestampMicrosecondArray::from(vec![5, -7]);
        // A missing value may be one of the dictionary.
        let missing = TimestampSecondArray::from(vec![None, Some(5)]);
        let twice = DictionaryArray::<Int8Type>::try_new(Int8Array::from(vec![1, 0]), Arc::new(missing.clone()))?;
        let all: [ArrayRef; 6] =
            [Arc::new(bytes), Arc::new(same), Arc::new(seconds), Arc::new(stamps), Arc::new(missing), Arc::new(twice)];
        for values in all {
            let batch = nested(values)?;
            let schema = stored(&batch.schema());
            let made = converted(&batch, &schema)?;
            // Equal with dictionaries decoded.
            let ty = plain_type(batch.column(0).data_type());
            let plain = |array: &ArrayRef| arrow_cast::cast(array, &ty);
            assert_eq!(plain(made.column(0))?.as_ref(), plain(batch.column(0))?.as_ref());
            let mut writer = crate::write::Writer::new(
                Vec::new(),
                &batch.schema(),
                crate::write::Kind::Parquet,
                crate::write::Compression::None,
            )?;
            writer.put(&batch)?;
            assert!(writer.finish()?.starts_with(b"PAR1"));
        }
        // Seconds that milliseconds do not hold.
        let batch = nested(Arc::new(TimestampSecondArray::from(vec![5, i64::MAX])))?;
        let e = converted(&batch, &stored(&batch.schema())).map(|_| ()).map_err(|e| e.to_string());
        assert!(e.as_ref().is_err_and(|e| e.contains("column \"s\"")), "{e:?}");
        Ok(())
    }
}
