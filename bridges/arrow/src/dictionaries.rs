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
use arrow_schema::{DataType, Fields, Schema, SchemaRef};

use crate::plain::plain;
use crate::{Error, Source};

/// Returns the places in `columns` of those columns whose dictionary differs between batches. The columns with a dictionary
/// are read once, together. Dictionaries within other types count as different from the second batch on.
///
/// # Errors
/// Errors of the source.
pub fn replaced<S: Source>(source: &mut S, columns: &[usize]) -> Result<Vec<usize>, Error> {
    let schema = source.schema();
    let has = |k: &usize| schema.fields().get(*k).is_some_and(|field| has_dictionary(field.data_type()));
    let mut read: Vec<usize> = columns.iter().copied().filter(has).collect();
    read.sort_unstable();
    read.dedup();
    if read.is_empty() {
        return Ok(Vec::new());
    }
    let chooses = source.chooses();
    let (batches, _) = source.open(chooses.then_some(&read[..]), 0)?;
    // The dictionaries of the first batch, `None` once another one differs.
    let mut first: Vec<Option<ArrayRef>> = Vec::new();
    for batch in batches {
        let batch = batch?;
        let chosen = read.iter().enumerate().map(|(place, k)| batch.columns().get(if chooses { place } else { *k }));
        let values = chosen.map(|column| {
            let dictionary = column?.as_any_dictionary_opt();
            Some((Arc::clone(dictionary.map_or(column?, |dictionary| dictionary.values())), dictionary.is_some()))
        });
        if first.is_empty() {
            first = values.map(|values| values.map(|(values, _)| values)).collect();
            continue;
        }
        for (first, values) in first.iter_mut().zip(values) {
            let is_same = match (&first, &values) {
                (Some(first), Some((values, true))) => Arc::ptr_eq(first, values) || first == values,
                _ => false,
            };
            if !is_same {
                *first = None;
            }
        }
        if first.iter().all(Option::is_none) {
            break;
        }
    }
    let differs = |k: &usize| {
        read.iter().position(|known| known == k).is_some_and(|at| first.get(at).is_some_and(Option::is_none))
    };
    Ok(columns.iter().enumerate().filter(|(_, k)| differs(k)).map(|(place, _)| place).collect())
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

#[cfg(test)]
mod tests {
    use arrow_array::types::Int8Type;
    use arrow_array::{DictionaryArray, Int64Array};

    use super::*;
    use crate::Kept;

    /// A source that counts how often it is opened.
    struct Counted(Kept, u32);

    impl Source for Counted {
        type Batches = <Kept as Source>::Batches;

        fn schema(&self) -> SchemaRef {
            self.0.schema()
        }

        fn open(&mut self, columns: Option<&[usize]>, row: u64) -> Result<(Self::Batches, u64), Error> {
            self.1 = self.1.saturating_add(1);
            self.0.open(columns, row)
        }
    }

    #[test]
    fn all_columns_are_compared_in_one_pass() -> Result<(), Error> {
        let coded = |texts: [&str; 2]| Arc::new(texts.into_iter().collect::<DictionaryArray<Int8Type>>()) as ArrayRef;
        let number = Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef;
        let batch = |text| {
            let columns = [coded(["x", "y"]), Arc::clone(&number), coded([text, "y"]), coded(["y", text])];
            RecordBatch::try_from_iter(["a", "b", "c", "d"].into_iter().zip(columns))
        };
        let batches = [batch("x")?, batch("x")?, batch("z")?];
        let schema = batches.first().map(RecordBatch::schema).unwrap_or_else(|| Arc::new(Schema::empty()));
        let mut source = Counted(Kept::new(schema, batches), 0);
        assert_eq!(replaced(&mut source, &[3, 1, 0, 2, 3])?, [0, 3, 4]);
        assert_eq!((replaced(&mut source, &[1])?.len(), source.1), (0, 1));
        Ok(())
    }
}
