//! Where record batches come from.

use std::sync::Arc;
use std::vec;

use arrow_array::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::Error;

/// Record batches that a table reads: from the start again, with some columns only, or from a row on, where the source
/// can do so.
pub trait Source {
    /// The batches, in the order of their rows.
    type Batches: Iterator<Item = Result<RecordBatch, ArrowError>>;

    /// Returns the schema of all columns.
    fn schema(&self) -> SchemaRef;

    /// Returns the number of rows, if it is known without reading them.
    fn rows(&self) -> Option<u64> {
        None
    }

    /// Returns whether [`open`](Self::open) reads only the columns that it is given.
    fn chooses(&self) -> bool {
        false
    }

    /// Returns whether [`open`](Self::open) finds a row without reading those before.
    fn seeks(&self) -> bool {
        false
    }

    /// Opens the batches from row `row` on, or from the batch that contains it, with the number of the first row that
    /// they return; after the last row, the number of rows. A source that does not [seek](Self::seeks) is opened at row 0.
    ///
    /// `columns` are ascending numbers of columns, all if `None`. A source that does not [choose](Self::chooses) returns
    /// all columns.
    ///
    /// # Errors
    /// [`Error::Once`] if the source can be opened only once; errors of the source.
    fn open(&mut self, columns: Option<&[usize]>, row: u64) -> Result<(Self::Batches, u64), Error>;
}

/// A reader, which can be read once.
#[derive(Debug)]
pub struct Stream<R> {
    schema: SchemaRef,
    reader: Option<R>,
}

impl<R: RecordBatchReader> Stream<R> {
    /// Creates the source of a reader.
    pub fn new(reader: R) -> Self {
        Stream { schema: reader.schema(), reader: Some(reader) }
    }
}

impl<R: RecordBatchReader> Source for Stream<R> {
    type Batches = R;

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn open(&mut self, _: Option<&[usize]>, _: u64) -> Result<(R, u64), Error> {
        Ok((self.reader.take().ok_or(Error::Once)?, 0))
    }
}

/// Record batches in memory.
#[derive(Clone, Debug)]
pub struct Kept {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Kept {
    /// Creates the source of `batches`, which all have `schema`.
    pub fn new(schema: SchemaRef, batches: impl IntoIterator<Item = RecordBatch>) -> Self {
        Kept { schema, batches: batches.into_iter().collect() }
    }
}

impl Source for Kept {
    type Batches = vec::IntoIter<Result<RecordBatch, ArrowError>>;

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn rows(&self) -> Option<u64> {
        Some(self.batches.iter().map(|batch| batch.num_rows() as u64).fold(0, u64::saturating_add))
    }

    fn seeks(&self) -> bool {
        true
    }

    fn chooses(&self) -> bool {
        true
    }

    fn open(&mut self, columns: Option<&[usize]>, row: u64) -> Result<(Self::Batches, u64), Error> {
        let (mut first, mut before) = (0u64, 0usize);
        for batch in &self.batches {
            let end = first.saturating_add(batch.num_rows() as u64);
            if end > row {
                break;
            }
            (first, before) = (end, before.saturating_add(1));
        }
        // A file of many columns is written column by column, so that the others must cost nothing.
        let left = self.batches.iter().skip(before);
        let Some(columns) = columns else { return Ok((left.cloned().map(Ok).collect::<Vec<_>>().into_iter(), first)) };
        let fields: Vec<_> = columns.iter().filter_map(|k| self.schema.fields().get(*k).cloned()).collect();
        // The metadata of the schema may have a part for each column.
        let schema = Arc::new(Schema::new(fields));
        let chosen = |batch: &RecordBatch| {
            let arrays = columns.iter().filter_map(|k| batch.columns().get(*k).cloned()).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
        };
        let left: Vec<_> = left.map(chosen).collect();
        Ok((left.into_iter(), first))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use arrow_array::{ArrayRef, Int32Array};

    use super::*;

    #[test]
    fn batches_in_memory_have_the_columns_that_are_chosen() {
        let column = |from: i32| -> ArrayRef { Arc::new(Int32Array::from_iter_values(from..from + 3)) };
        let batch = RecordBatch::try_from_iter([("a", column(0)), ("b", column(10)), ("c", column(20))]).unwrap();
        let mut kept = Kept::new(batch.schema(), [batch.clone(), batch.slice(0, 1), batch.clone()]);
        assert!(kept.chooses());
        for (columns, row, first, wanted) in [
            (None, 0, 0, vec![batch.clone(), batch.slice(0, 1), batch.clone()]),
            (
                Some(&[0, 2][..]),
                3,
                3,
                vec![batch.slice(0, 1).project(&[0, 2]).unwrap(), batch.project(&[0, 2]).unwrap()],
            ),
            (Some(&[1]), 5, 4, vec![batch.project(&[1]).unwrap()]),
            (None, 7, 7, Vec::new()),
        ] {
            let (found, at) = kept.open(columns, row).unwrap();
            assert_eq!((found.map(Result::unwrap).collect::<Vec<_>>(), at), (wanted, first), "row {row}");
        }
    }
}
