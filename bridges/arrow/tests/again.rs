//! A builder that asks for every column once more.

use std::convert::Infallible;
use std::sync::Arc;

use arrow_array::{Int32Array, RecordBatch};
use pilaster::bytes::WriteError;
use pilaster::column::{Batch, Build, Column, Feed};
use pilaster_arrow::{Batches, Kept, convert};

/// Counts the rows of each pass.
#[derive(Default)]
struct Twice {
    rows: Vec<usize>,
    again: bool,
}

impl Build for Twice {
    type Error = WriteError<Infallible>;

    fn feed(&self) -> Feed {
        Feed::Columns
    }

    fn again(&self) -> bool {
        self.again
    }

    fn open(&mut self, _: u64) -> Result<(), Self::Error> {
        self.rows.push(0);
        Ok(())
    }

    fn batch<C: Column>(&mut self, _: usize, _: &str, _: u64, _: &C, batch: &Batch<'_, C>) -> Result<(), Self::Error> {
        *self.rows.last_mut().unwrap() += batch.len;
        Ok(())
    }

    fn close(&mut self) -> Result<(), Self::Error> {
        self.again = !self.again;
        Ok(())
    }
}

#[test]
fn every_column_is_fed_again() {
    let years = Arc::new(Int32Array::from(vec![1870, 1871, 1872]));
    let batch = RecordBatch::try_from_iter([("a", years.clone() as _), ("b", years as _)]).unwrap();
    let mut table = Batches::from_source(Kept::new(batch.schema(), [batch.clone(), batch])).unwrap();
    let mut twice = Twice::default();
    convert(&mut table, &mut twice).unwrap();
    assert_eq!(twice.rows, [6; 4]);
}
