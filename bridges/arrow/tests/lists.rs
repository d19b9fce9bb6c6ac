//! The memory of lists: a row may have any number of items, and a few bytes of a file can claim them.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use pilaster::bytes::{Scratch, WriteError};
use pilaster::column::{Borrowed, Once, Prim, Ranges, Spans, Type, Values, VarBytes, convert};
use pilaster::limits::Limits;
use pilaster_arrow::{Builder, Error, ReadOptions, read};

/// A list column of `rows` rows with `each` items.
fn ranges(rows: u32, each: u32) -> Vec<u32> {
    (0..=rows).map(|row| row * each).collect()
}

#[test]
fn batches_of_many_items_have_fewer_rows() {
    let numbers: Vec<i64> = (0..1_000_000).collect();
    let offsets = ranges(1000, 1000);
    let items = [("item", Borrowed::new(Type::Prim(Prim::I64), Values::I64(&numbers)))];
    let lists = Borrowed::new(Type::List, Values::Nested(Ranges::Off32(&offsets))).with_children(&items);
    let inner = [("l", lists)];
    let span = Ranges::Stride { first: 0, size: 1, count: 1000 };
    let columns = [("s", Borrowed::new(Type::Struct(1), Values::Nested(span)).with_children(&inner))];
    let limits = Limits { max_decoded: 100_000, ..Limits::DEFAULT };
    let reader = read(Once::new(&columns[..]), ReadOptions { limits, ..ReadOptions::default() }).unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert!((84..200).contains(&batches.len()), "{} batches", batches.len());
    let lists = batches.iter().map(|batch| batch.column(0).as_struct().column(0).as_list::<i32>());
    let found: Vec<i64> = lists
        .flat_map(|lists| {
            let items = (0..lists.len()).flat_map(|i| lists.value(i).as_primitive::<Int64Type>().values().to_vec());
            items.collect::<Vec<_>>()
        })
        .collect();
    assert!(found == numbers);
    // A single row has the limit of one.
    let large = Limits { max_decoded: 7_000, ..Limits::DEFAULT };
    let mut reader = read(Once::new(&columns[..]), ReadOptions { limits: large, ..ReadOptions::default() }).unwrap();
    let e = reader.next().unwrap().unwrap_err().to_string();
    assert!(e.contains("column \"s\"") && e.contains("max_decoded"), "{e}");
}

#[test]
fn items_that_only_a_number_claims_are_an_error() {
    let count = i32::MAX as usize;
    let texts = VarBytes { data: b"x", spans: Spans::Same { count } };
    let spans = [[0, count as u32]];
    let items = [("item", Borrowed::new(Type::Utf8, Values::Utf8(texts)))];
    let columns = [("l", Borrowed::new(Type::List, Values::Nested(Ranges::Each(&spans))).with_children(&items))];
    let e = read(Once::new(&columns[..]), ReadOptions::default()).unwrap().next().unwrap().unwrap_err();
    assert!(e.to_string().contains("column \"l\"") && e.to_string().contains("max_decoded"), "{e}");
}

#[test]
fn a_bounded_group_is_full_before_its_items_are_read() {
    let (rows, megabyte) = (3u32, vec![b'x'; 1 << 20]);
    // A text that all items repeat: together more than one read may take.
    let texts = VarBytes { data: &megabyte, spans: Spans::Same { count: 3000 } };
    let offsets = ranges(rows, 1000);
    let items = [("item", Borrowed::new(Type::Utf8, Values::Utf8(texts)))];
    let columns = [("l", Borrowed::new(Type::List, Values::Nested(Ranges::Off32(&offsets))).with_children(&items))];
    let mut batches = 0;
    let put = |_| {
        batches += 1;
        Ok(())
    };
    let mut builder = Builder::new(3, put).bounded(8 << 20);
    let done = convert(&mut Once::new(&columns[..]), &mut builder, &mut Scratch::new(&mut [0; 64]));
    assert!(matches!(done, Err(WriteError::Sink(Error::Full(_)))), "{done:?}");
    drop(builder);
    assert_eq!(batches, 0);
}
