//! Columns with dictionaries, for an Arrow IPC file, which has one dictionary per column.
//!
//! ```
//! use std::sync::Arc;
//! use pilaster_arrow::Kept;
//! use pilaster_arrow::arrow_array::{DictionaryArray, RecordBatch, types::Int8Type};
//! use pilaster_arrow::arrow_schema::DataType;
//! use pilaster_arrow::dictionaries::{decoded, replaced, without_dictionaries};
//!
//! let batch = |texts: Vec<&str>| {
//!     let texts: DictionaryArray<Int8Type> = texts.into_iter().collect();
//!     RecordBatch::try_from_iter([("city", Arc::new(texts) as _)])
//! };
//! let (first, second) = (batch(vec!["Bern", "Rome"])?, batch(vec!["Rome"])?);
//! let schema = first.schema();
//! let replaced = replaced(&mut Kept::new(schema.clone(), [first, second.clone()]), &[0])?;
//! assert_eq!(replaced, [0]);
//! let schema = without_dictionaries(&schema, &replaced);
//! assert_eq!(decoded(&second, &schema)?.column(0).data_type(), &DataType::Utf8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use crate::{Error, Source};

/// Returns the places in `columns` of those columns whose dictionary differs between batches. The batches of columns with a
/// dictionary are read. Dictionaries within other types count as different from the second batch on.
///
/// # Errors
/// Errors of the source.
pub fn replaced<S: Source>(source: &mut S, columns: &[usize]) -> Result<Vec<usize>, Error> {
    let schema = source.schema();
    let mut places = Vec::new();
    for (place, number) in columns.iter().enumerate() {
        let Some(field) = schema.fields().get(*number).filter(|field| has_dictionary(field.data_type())) else {
            continue;
        };
        let chosen = [*number];
        let chooses = source.chooses();
        let (batches, _) = source.open(chooses.then_some(&chosen[..]), 0)?;
        let mut first: Option<ArrayRef> = None;
        for batch in batches {
            let batch = batch.map_err(|e| Error::from(e).in_column(field.name()))?;
            let Some(column) = batch.columns().get(if chooses { 0 } else { *number }) else { break };
            let values = column.as_any_dictionary_opt().map(|dictionary| dictionary.values());
            let is_same = match (&first, values) {
                (None, _) => true,
                (Some(first), Some(values)) => Arc::ptr_eq(first, values) || first == values,
                (Some(_), None) => false,
            };
            if !is_same {
                places.push(place);
                break;
            }
            first = Some(Arc::clone(values.unwrap_or(column)));
        }
    }
    Ok(places)
}

fn has_dictionary(ty: &DataType) -> bool {
    match ty {
        DataType::Dictionary(..) => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_dictionary(field.data_type())),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_dictionary(item.data_type()),
        DataType::RunEndEncoded(_, values) => has_dictionary(values.data_type()),
        _ => false,
    }
}

/// Returns the schema with the values of dictionaries in the columns `places`.
#[must_use]
pub fn without_dictionaries(schema: &SchemaRef, places: &[usize]) -> SchemaRef {
    let fields = schema.fields().iter().enumerate();
    let fields = fields.map(|(k, field)| if places.contains(&k) { plain(field) } else { Arc::clone(field) });
    Arc::new(Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone()))
}

fn plain(field: &FieldRef) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(plain_type(field.data_type())))
}

fn plain_type(ty: &DataType) -> DataType {
    match ty {
        DataType::Dictionary(_, values) => plain_type(values),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(plain).collect()),
        DataType::List(item) => DataType::List(plain(item)),
        DataType::LargeList(item) => DataType::LargeList(plain(item)),
        DataType::ListView(item) => DataType::ListView(plain(item)),
        DataType::LargeListView(item) => DataType::LargeListView(plain(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(plain(item), *len),
        DataType::Map(item, sorted) => DataType::Map(plain(item), *sorted),
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(Arc::clone(ends), plain(values)),
        other => other.clone(),
    }
}

/// Converts a batch to a schema of [`without_dictionaries`].
///
/// # Errors
/// [`Error::Column`] for a type that Arrow cannot convert.
pub fn decoded(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let columns = batch.columns().iter().zip(schema.fields()).map(|(array, field)| match field.data_type() {
        ty if array.data_type() == ty => Ok(Arc::clone(array)),
        ty => cast_with_options(array, ty, &options).map_err(|e| Error::from(e).in_column(field.name())),
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns.collect::<Result<_, _>>()?, &options)?)
}
