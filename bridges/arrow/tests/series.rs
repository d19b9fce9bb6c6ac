//! DataSeries files of record batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use pilaster::any::{File, Format, Hints};
use pilaster::bytes::Scratch;
use pilaster::column::{Memory, Part, Table};
use pilaster::dataseries::Mode;
use pilaster::dataseries::write::Smallest;
use pilaster_arrow::{Batches, Error, Kept, SeriesOptions, write_series};

/// A file of ten batches of 100 rows.
fn written(extents: usize, join: bool) -> Result<Vec<u8>, Error> {
    let batch = |k: i64| {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(k * 100..k * 100 + 100));
        RecordBatch::try_from_iter([("n", column)]).unwrap()
    };
    let mut table = Batches::from_source(Kept::new(batch(0).schema(), (0..10).map(batch).collect::<Vec<_>>()))?;
    let compress = Smallest::of(&[Mode::Lz4], 9)?;
    let options = SeriesOptions { name: "Rows".to_owned(), compress, rows: 400, extents, join };
    write_series(&mut table, &options, Vec::new())
}

/// The numbers of rows of the extents of a file.
fn rows(bytes: &[u8]) -> Vec<u64> {
    let mut memory = vec![0; 1 << 16];
    let file = File::open(bytes, Format::DataSeries, &Hints::default(), &mut Scratch::new(&mut memory)).unwrap();
    let (mut table, mut memory, mut rows) = (file.table(None).unwrap(), Memory::default(), Vec::new());
    loop {
        match table.next_part(&mut memory.scratch()) {
            Ok(Some(part)) => rows.push(part.rows()),
            Ok(None) => return rows,
            Err(e) => memory.grow(e).unwrap(),
        }
    }
}

#[test]
fn batches_of_few_rows_are_joined() {
    assert_eq!(rows(&written(10, false).unwrap()), [100; 10]);
    assert_eq!(rows(&written(3, true).unwrap()), [400, 400, 200]);
}

#[test]
fn more_extents_than_the_index_can_list_are_an_error() {
    let error = written(2, true).unwrap_err().to_string();
    assert!(error.ends_with("; larger extents or several files help"), "{error}");
}
