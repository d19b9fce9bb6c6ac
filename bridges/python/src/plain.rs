//! Texts that are stored with a dictionary as plain texts: views of the texts of the dictionary, which are not copied.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, BinaryViewArray, RecordBatch, RecordBatchOptions, StringViewArray};
use pilaster_arrow::arrow_schema::{DataType, Field, Schema, SchemaRef};
use pilaster_arrow::arrow_select::take::take;

use crate::error::Result;

/// Returns the type of plain values.
fn plain(ty: &DataType) -> DataType {
    match ty {
        DataType::Dictionary(_, values) => match values.as_ref() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8View,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => DataType::BinaryView,
            other => other.clone(),
        },
        other => other.clone(),
    }
}

/// Returns the schema of plain values.
pub fn schema(schema: &SchemaRef) -> SchemaRef {
    if !schema.fields().iter().any(|field| matches!(field.data_type(), DataType::Dictionary(..))) {
        return Arc::clone(schema);
    }
    let fields = schema.fields().iter().map(|field| Field::clone(field).with_data_type(plain(field.data_type())));
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}

/// The last dictionary of each column, as views.
#[derive(Default)]
pub struct Plain {
    known: Vec<Option<(ArrayRef, ArrayRef)>>,
    schema: Option<SchemaRef>,
}

impl Plain {
    /// Returns the batch with plain values.
    pub fn batch(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let plain = self.schema.get_or_insert_with(|| schema(batch.schema_ref())).clone();
        if plain.fields() == batch.schema_ref().fields() {
            return Ok(batch);
        }
        self.known.resize(batch.num_columns(), None);
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (array, known) in batch.columns().iter().zip(&mut self.known) {
            columns.push(match array.data_type() {
                DataType::Dictionary(..) => {
                    let dictionary = array.as_any_dictionary();
                    let values = dictionary.values();
                    let views = match known {
                        Some((last, views)) if Arc::ptr_eq(last, values) => Arc::clone(views),
                        _ => views(values),
                    };
                    *known = Some((Arc::clone(values), Arc::clone(&views)));
                    take(&views, dictionary.keys(), None)?
                }
                _ => Arc::clone(array),
            });
        }
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(plain, columns, &rows)?)
    }
}

/// Returns texts as views.
fn views(values: &ArrayRef) -> ArrayRef {
    match values.data_type() {
        DataType::Utf8 => Arc::new(StringViewArray::from(values.as_string::<i32>())),
        DataType::LargeUtf8 => Arc::new(StringViewArray::from(values.as_string::<i64>())),
        DataType::Binary => Arc::new(BinaryViewArray::from(values.as_binary::<i32>())),
        DataType::LargeBinary => Arc::new(BinaryViewArray::from(values.as_binary::<i64>())),
        _ => Arc::clone(values),
    }
}
