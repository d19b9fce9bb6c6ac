//! The one loop: tables into builders, by groups and by columns, in little memory.

use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Build, Column, Feed, Once, Part, Values, convert};
use pilaster::error::{Error, Kind, Result, What};
use pilaster::filo::write::{Plain, Rows, Strings, encode_auto};
use pilaster::filo::{Builder, Element, Value, Vector};
use pilaster::jay;

/// Remembers how it was fed.
struct Log {
    feed: Feed,
    passes: u32,
    calls: Vec<String>,
    ints: Vec<i64>,
}

impl Build for Log {
    type Error = Error;

    fn feed(&self) -> Feed {
        self.feed
    }

    fn passes<C: Column>(&self, _: &C) -> u32 {
        self.passes
    }

    fn open(&mut self, rows: u64) -> Result<()> {
        self.calls.push(format!("open {rows}"));
        Ok(())
    }

    fn batch<C: Column>(&mut self, k: usize, name: &str, at: u64, _: &C, batch: &Batch<'_, C>) -> Result<()> {
        self.calls.push(format!("{k} {name} {at}+{}", batch.len));
        match batch.values {
            Values::I64(values) => self.ints.extend(values),
            Values::I32(values) => self.ints.extend(values.iter().map(|v| i64::from(*v))),
            _ => unreachable!("only instants here"),
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.calls.push("close".into());
        Ok(())
    }
}

fn encoded(rows: &Rows<'_>) -> Vec<u8> {
    let (mut chunk, mut memory) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let len = encode_auto(rows, &mut chunk, &mut Scratch::new(&mut memory)).unwrap();
    chunk.truncate(len);
    chunk
}

fn instants() -> Vec<u8> {
    encoded(&Rows::all(Plain::DateTime { millis: &[10, 20, 30, 45, 57], offsets: &[0, 900_000, 0, 0, -900_000] }))
}

fn fed(feed: Feed, passes: u32) -> Log {
    let chunk = instants();
    let mut table = Once::new(Vector::open(&chunk, Element::DateTime).unwrap());
    let mut log = Log { feed, passes, calls: Vec::new(), ints: Vec::new() };
    // Room for three instants at a time.
    let mut memory = [0u64; 4];
    convert(&mut table, &mut log, &mut Scratch::new(bytemuck::must_cast_slice_mut(&mut memory))).unwrap();
    log
}

#[test]
fn groups_come_row_by_row_with_all_columns() {
    let log = fed(Feed::Groups { rows: 4 }, 1);
    let calls: Vec<_> = log.calls.iter().filter(|call| !call.contains('+')).collect();
    assert_eq!(calls, ["open 4", "close", "open 1", "close"]);
    assert_eq!(log.ints, [10, 20, 30, 45, 0, 900_000, 0, 0, 57, -900_000]);
    assert!(log.calls.contains(&"1 v.utc_offset_ms 0+1".into()), "the second group starts at 0 again: {:?}", log.calls);
}

#[test]
fn columns_come_one_after_the_other() {
    let log = fed(Feed::Columns, 1);
    assert_eq!(log.ints, [10, 20, 30, 45, 57, 0, 900_000, 0, 0, -900_000]);
    assert_eq!(log.calls.iter().filter(|call| call.starts_with("open 5")).count(), 2);
}

#[test]
fn two_passes_read_each_column_twice() {
    let log = fed(Feed::Columns, 2);
    let once = fed(Feed::Columns, 1);
    assert_eq!(log.ints.len(), 2 * once.ints.len());
    assert_eq!(log.ints[..5], log.ints[5..10]);
}

#[test]
fn memory_for_no_row_is_an_error() {
    let chunk = instants();
    let mut table = Once::new(Vector::open(&chunk, Element::DateTime).unwrap());
    let mut builder = Builder::new(|_, _: &str, _, _: &[u8]| Ok(()));
    let e = convert(&mut table, &mut builder, &mut Scratch::new(&mut [0; 4])).unwrap_err();
    assert_eq!(e.kind(), Kind::NoRoom);
}

/// Vector → batches of a few rows → vector: the rows are the same.
#[test]
fn vectors_pass_through_the_builder() {
    let strings: [&[u8]; 70] = std::array::from_fn(|i| [&b"one"[..], b"", b"three"][i % 3]);
    let mask: [u8; 9] = std::array::from_fn(|i| 0b1101_0110 ^ i as u8);
    let validity = pilaster::column::Validity::Bits(pilaster::bytes::Bits::new(&mask, 0, 70).unwrap());
    let longs: [i64; 70] = std::array::from_fn(|i| (i as i64 - 35) << 33);
    let doubles: [f64; 70] = std::array::from_fn(|i| 0.5 - i as f64);
    for (element, values) in [
        (Element::Utf8, Plain::Utf8(Strings::Slices(&strings))),
        (Element::Long, Plain::Long(&longs)),
        (Element::Timestamp, Plain::Timestamp(&longs)),
        (Element::Double, Plain::Double(&doubles)),
    ] {
        let chunk = encoded(&Rows { values, validity });
        let before = Vector::open(&chunk, element).unwrap();
        let mut after = Vec::new();
        let mut builder = Builder::new(|k, name: &str, of, chunk: &[u8]| {
            assert_eq!((k, name, of), (0, "v", element));
            after = chunk.to_vec();
            Ok(())
        });
        convert(&mut Once::new(before), &mut builder, &mut Scratch::new(&mut [0; 100])).unwrap();
        let after = Vector::open(&after, element).unwrap();
        let rows = |vector: &Vector<'_>| -> Vec<_> {
            vector.iter().map(|value| format!("{:?}", value.unwrap().map(|v: Value<'_>| v))).collect()
        };
        assert_eq!(rows(&before), rows(&after));
        assert!(rows(&after).contains(&"None".to_string()));
    }
}

#[test]
fn a_column_without_rows_is_seen() {
    let chunk = encoded(&Rows::all(Plain::Int(&[])));
    let mut count = 0;
    let mut builder = Builder::new(|_, _: &str, element, chunk: &[u8]| {
        count += 1;
        assert_eq!(Vector::open(chunk, element).unwrap().rows(), 0);
        Ok(())
    });
    convert(&mut Once::new(Vector::open(&chunk, Element::Int).unwrap()), &mut builder, &mut Scratch::new(&mut []))
        .unwrap();
    assert_eq!(count, 1);
}

/// They are not left out: most formats of columns have no place for them.
#[test]
fn rows_without_columns_are_kept_or_an_error() {
    let bytes = std::fs::read("tests/golden/jay/rows_no_columns.jay").unwrap();
    let converted = |feed| {
        let file = jay::File::open(&bytes, &jay::ReadOptions::DEFAULT, &mut Scratch::new(&mut [])).unwrap();
        let mut log = Log { feed, passes: 1, calls: Vec::new(), ints: Vec::new() };
        convert(&mut Once::new(file), &mut log, &mut Scratch::new(&mut [0; 64])).map(|()| log.calls)
    };
    assert_eq!(converted(Feed::Groups { rows: 3 }).unwrap(), ["open 3", "close", "open 2", "close"]);
    let e = converted(Feed::Columns).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.at()), (Kind::Lossy, What::ROW, 0));

    let file = jay::File::open(&bytes, &jay::ReadOptions::DEFAULT, &mut Scratch::new(&mut [])).unwrap();
    let mut builder = jay::write::Builder::new(Vec::new(), &jay::write::WriteOptions::DEFAULT).unwrap();
    convert(&mut Once::new(file), &mut builder, &mut Scratch::new(&mut [0; 64])).unwrap();
    let again = builder.finish().unwrap();
    let file = jay::File::open(&again, &jay::ReadOptions::DEFAULT, &mut Scratch::new(&mut [])).unwrap();
    assert_eq!((Part::rows(&file), file.width()), (5, 0));
}
