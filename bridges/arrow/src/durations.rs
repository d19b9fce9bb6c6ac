//! Durations as integers of their units: no format of this library has a type for durations.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, make_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};

use crate::Error;
use crate::schema::with_fields;

/// Maximum depth of types that are looked at; [`Batches`](crate::Batches) refuses deeper ones.
const DEPTH: u32 = 64;

/// Returns the schema with 64-bit integers in place of durations, at any depth.
///
/// ```
/// use std::sync::Arc;
/// use pilaster_arrow::arrow_array::{Array, DurationSecondArray, Int64Array, RecordBatch};
/// use pilaster_arrow::durations::{as_integers, schema_of_integers};
///
/// let spans = DurationSecondArray::from(vec![Some(90), None]);
/// let batch = RecordBatch::try_from_iter([("span", Arc::new(spans) as _)])?;
/// let schema = schema_of_integers(&batch.schema());
/// let batch = as_integers(&batch, &schema)?;
/// assert_eq!(batch.column(0).as_ref(), &Int64Array::from(vec![Some(90), None]) as &dyn Array);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn schema_of_integers(schema: &SchemaRef) -> SchemaRef {
    let fields: Vec<FieldRef> = schema.fields().iter().map(|field| integers(field, DEPTH)).collect();
    if fields[..] == schema.fields()[..] {
        return schema.clone();
    }
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Returns a batch with the types of `schema`, which is its own with integers in place of durations
/// ([`schema_of_integers`]) or some columns of it. The values stay where they are.
///
/// # Errors
/// [`Error::Arrow`] if the batch does not fit the schema.
pub fn as_integers(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    let mut columns = batch.columns().to_vec();
    for (column, field) in columns.iter_mut().zip(schema.fields()) {
        if column.data_type() != field.data_type() {
            *column = make_array(retyped(column.to_data(), DEPTH)?);
        }
    }
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &rows)?)
}

fn integers(field: &FieldRef, depth: u32) -> FieldRef {
    match integer_type(field.data_type(), depth) {
        Some(ty) => Arc::new(Field::clone(field).with_data_type(ty)),
        None => field.clone(),
    }
}

/// Returns the type with integers in place of durations, or `None` if it has none.
fn integer_type(ty: &DataType, depth: u32) -> Option<DataType> {
    let depth = depth.checked_sub(1)?;
    let of = |field: &FieldRef| integers(field, depth);
    let new = match ty {
        DataType::Duration(_) => DataType::Int64,
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(integer_type(values, depth)?))
        }
        other => with_fields(other, &of),
    };
    (new != *ty).then_some(new)
}

fn retyped(data: ArrayData, depth: u32) -> Result<ArrayData, ArrowError> {
    let (Some(ty), Some(below)) = (integer_type(data.data_type(), depth), depth.checked_sub(1)) else {
        return Ok(data);
    };
    let children = data.child_data().iter().map(|child| retyped(child.clone(), below)).collect::<Result<_, _>>()?;
    data.into_builder().data_type(ty).child_data(children).build()
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{ListBuilder, PrimitiveDictionaryBuilder};
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::{DurationMillisecondType, Int8Type, Int64Type};
    use arrow_array::{Array, ArrayRef, DurationMillisecondArray, Int64Array, StructArray};

    use super::*;

    #[test]
    fn durations_become_integers_at_any_depth() -> Result<(), Error> {
        let spans: ArrayRef = Arc::new(DurationMillisecondArray::from(vec![Some(1), None, Some(-3)]));
        let field = Arc::new(Field::new("d", spans.data_type().clone(), true));
        let pair: ArrayRef = Arc::new(StructArray::from(vec![(field, spans.clone())]));
        let mut lists = ListBuilder::new(arrow_array::builder::DurationMillisecondBuilder::new());
        lists.append_value([Some(7), Some(8)]);
        lists.append_null();
        lists.append_value([None]);
        let mut coded = PrimitiveDictionaryBuilder::<Int8Type, DurationMillisecondType>::new();
        for value in [5, 6, 5] {
            coded.append_value(value);
        }
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let columns: [(&str, ArrayRef); 5] = [
            ("flat", spans),
            ("pair", pair),
            ("lists", Arc::new(lists.finish())),
            ("coded", Arc::new(coded.finish())),
            ("n", numbers.clone()),
        ];
        let batch = RecordBatch::try_from_iter(columns)?.slice(1, 2);
        let schema = schema_of_integers(&batch.schema());
        let found = as_integers(&batch, &schema)?;
        let plain = Int64Array::from(vec![None, Some(-3)]);
        assert_eq!(found.column(0).as_primitive::<Int64Type>(), &plain);
        assert_eq!(found.column(1).as_struct().column(0).as_primitive::<Int64Type>(), &plain);
        let lists = found.column(2).as_list::<i32>();
        assert!(lists.is_null(0));
        assert_eq!(lists.value(1).as_primitive::<Int64Type>(), &Int64Array::from(vec![None]));
        let coded = found.column(3).as_dictionary::<Int8Type>();
        assert_eq!(coded.values().as_primitive::<Int64Type>(), &Int64Array::from(vec![5, 6]));
        assert_eq!(found.column(4).as_ref(), numbers.slice(1, 2).as_ref());
        // A schema without durations stays the same one.
        assert!(Arc::ptr_eq(&schema_of_integers(&schema), &schema));
        Ok(())
    }
}
