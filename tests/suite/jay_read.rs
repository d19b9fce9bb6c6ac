//! Jay files read in steps, in odd orders, and with more columns than fit the stack.

use pilaster::bytes::{Input, Piece, Scratch};
use pilaster::column::{Column as _, Part as _, Value};
use pilaster::error::{Error, Kind, What};
use pilaster::jay::{File, HEAD, ReadOptions, Stats};
use pilaster::unstable::jay_raw::TAIL;
use pilaster_oracle::jay as owned;
use pilaster_oracle::planus::Builder;

use crate::harness;
use crate::harness::cell::Cell;

const STRICT: ReadOptions = ReadOptions::DEFAULT;
const TOLERANT: ReadOptions = ReadOptions { tolerant: true, ..STRICT };

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(format!("tests/golden/jay/{name}.jay")).unwrap()
}

/// A file of these columns, all of 8 rows, over a data section.
fn file(columns: Vec<owned::Column>, data: &[u8]) -> Vec<u8> {
    let frame = owned::Frame { nrows: 8, ncols: columns.len() as u64, nkeys: 0, columns: Some(columns) };
    let mut builder = Builder::new();
    let meta = builder.finish(frame, None);
    let padded = meta.len().next_multiple_of(8);
    let mut bytes = [&HEAD, data, meta].concat();
    bytes.resize(8 + data.len() + padded, 0);
    bytes.extend_from_slice(&(padded as u64).to_le_bytes());
    bytes.extend_from_slice(&TAIL);
    bytes
}

/// A column of 8 bytes at `offset`, in the old layout.
fn int8(name: &str, offset: u64) -> owned::Column {
    let data = Some(owned::Buffer { offset, length: 8 });
    owned::Column { stype: owned::SType::Int8, data, name: Some(name.into()), ..Default::default() }
}

fn refusal(bytes: &[u8]) -> (Kind, What) {
    let e = File::open(bytes, &STRICT, &mut Scratch::new(&mut [0; 1 << 12])).unwrap_err();
    (e.kind(), e.what())
}

/// Only the tail, the metadata and the buffers of one column are present.
#[test]
fn pieces_of_a_file() {
    for (name, wanted) in [("mixed_n5000", 1), ("arr_nested", 0), ("str_many", 0), ("wide_500", 321)] {
        let bytes = golden(name);
        let mut memory = [0; 1 << 12];
        let whole = File::open(&bytes, &STRICT, &mut Scratch::new(&mut memory)).unwrap();
        let (field, data) = (whole.meta().field(wanted).unwrap(), whole.tail().data());
        let span = field.span().unwrap();
        assert!(span.len < data.len || whole.meta().width() == 1, "{name}: less than all of it");
        let piece = |at: u64, len: u64| Piece { at, bytes: &bytes[at as usize..][..len as usize] };
        let (len, end) = (bytes.len() as u64, data.end().unwrap());
        let mut pieces = [piece(0, 8), piece(end, len - end), piece(span.at, span.len)];
        let column = |pieces: &[Piece<'_>]| {
            let mut memory = [0; 1 << 12];
            let file = File::open_input(Input::pieces(pieces, len), &STRICT, &mut Scratch::new(&mut memory)).unwrap();
            let column = file.column(wanted).unwrap();
            for row in 0..column.rows() {
                assert_eq!(column.get(row)?, whole.column(wanted).unwrap().get(row).unwrap());
            }
            Ok::<_, pilaster::Error>(())
        };
        assert_eq!(column(&pieces), Ok(()));
        pieces[2] = piece(span.at + 1, span.len - 1);
        let e = column(&pieces).unwrap_err();
        assert_eq!((e.kind(), e.what(), e.at()), (Kind::Missing, What::JAY_BUFFER, span.at));
    }
}

#[test]
fn names_must_differ_however_many() {
    for count in [2, 31, 40, 500] {
        let mut columns: Vec<_> = (0..count).map(|k| int8(&format!("c{k}"), 8 * k)).collect();
        let data = vec![1; 8 * columns.len()];
        let sound = file(columns.clone(), &data);
        assert!(File::open(&sound, &STRICT, &mut Scratch::new(&mut [0; 4100])).is_ok());
        columns.last_mut().unwrap().name = Some("c0".into());
        let twice = file(columns, &data);
        let e = File::open(&twice, &STRICT, &mut Scratch::new(&mut [0; 4100])).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::JAY_NAME), "{count}");
        let tolerant = File::open(&twice, &TOLERANT, &mut Scratch::new(&mut [])).unwrap();
        let mut problems = Vec::new();
        tolerant.problems(&mut Scratch::new(&mut [0; 5000]), &mut |k, e| problems.push((k, e.what())));
        assert_eq!(problems, [(None, What::JAY_NAME)]);
    }
    let many: Vec<_> = (0..40).map(|k| int8(&format!("c{k}"), 8 * k)).collect();
    let e = File::open(&file(many, &[0; 320]), &STRICT, &mut Scratch::new(&mut [0; 99])).unwrap_err();
    assert_eq!((e.kind(), e.need()), (Kind::NoRoom, 8 * 40 + 7));
    for name in ["", "a\u{1f}"] {
        assert_eq!(refusal(&file(vec![int8(name, 0)], &[0; 8])), (Kind::Invalid, What::JAY_NAME));
    }
}

#[test]
fn buffers_in_any_order_but_not_over_each_other() {
    let open = |offsets: [u64; 3]| {
        let names = ["a", "b", "c"].into_iter().zip(offsets);
        refusal_of(&file(names.map(|(name, offset)| int8(name, offset)).collect(), &[7; 24]))
    };
    assert_eq!(open([0, 8, 16]), None);
    assert_eq!(open([16, 0, 8]), None);
    assert_eq!(open([16, 0, 0]), Some((Kind::Invalid, What::JAY_BUFFER)));
    assert_eq!(open([0, 8, 4]), Some((Kind::Invalid, What::JAY_BUFFER)), "not aligned");
    assert_eq!(open([0, 8, 24]), Some((Kind::Truncated, What::JAY_BUFFER)), "in the metadata");
    assert_eq!(open([0, 8, u64::MAX - 7]), Some((Kind::Overflow, What::JAY_BUFFER)));
}

fn refusal_of(bytes: &[u8]) -> Option<(Kind, What)> {
    let e = File::open(bytes, &STRICT, &mut Scratch::new(&mut [0; 1 << 12])).err()?;
    Some((e.kind(), e.what()))
}

/// Null counts and statistics that contradict the data.
#[test]
fn counts_that_lie() {
    let data = [1, 2, 0x80, 4, 5, 6, 7, 8];
    let column = |nullcount, stats| vec![owned::Column { nullcount, stats, ..int8("x", 0) }];
    let verdict = |bytes: &[u8]| {
        let file = File::open(bytes, &STRICT, &mut Scratch::new(&mut [])).unwrap();
        file.verify(&mut Scratch::new(&mut [0; 64])).err().map(|e| e.what())
    };
    let stats = |min, max| Some(owned::Stats::Int8(owned::StatsInt8 { min, max }));
    assert_eq!(verdict(&file(column(1, stats(1, 8)), &data)), None);
    assert_eq!(verdict(&file(column(2, None), &data)), Some(What::JAY_NULLS));
    assert_eq!(verdict(&file(column(1, stats(1, 7)), &data)), Some(What::JAY_STATS));
    let other = Some(owned::Stats::Bool(owned::StatsBool { min: 0, max: 1 }));
    let misfit = file(column(1, other), &data);
    assert_eq!(verdict(&misfit), Some(What::JAY_STATS));
    let opened = File::open(&misfit, &STRICT, &mut Scratch::new(&mut [])).unwrap();
    assert_eq!(opened.meta().field(0).unwrap().stats(), Ok(None), "of another type: as if there were none");
    assert_eq!(refusal(&file(column(9, None), &data)), (Kind::Invalid, What::JAY_NULLS));
    // A null count of 0 over a missing row: an error to read where it is checked, else believed.
    let lie = file(column(0, None), &data);
    let open = |options| File::open(&lie, &options, &mut Scratch::new(&mut [])).unwrap().column(0).unwrap();
    let mut memory = [0; 64];
    let checked = open(ReadOptions { check_null_counts: true, ..STRICT });
    let e = checked.read(0..8, &mut Scratch::new(&mut memory)).unwrap_err();
    assert_eq!(e.what(), What::JAY_NULLS);
    assert!(open(STRICT).read(0..8, &mut Scratch::new(&mut [])).unwrap().validity.get(2));
    let batch = open(TOLERANT).read(0..8, &mut Scratch::new(&mut memory)).unwrap();
    assert!(!batch.validity.get(2) && batch.validity.get(3));
}

/// A flag of a missing string is seen wherever the file lies, though nothing is said to be missing.
#[test]
fn strings_that_lie() {
    let mut bytes = golden("keyed_2");
    // The end of string 18 of column `b`, whose offsets are at 88.
    bytes[88 + 4 * 19 + 3] |= 0x80;
    let moved = [&[0], &bytes[..]].concat();
    for bytes in [&bytes[..], &moved[1..]] {
        let mut memory = [0; 1 << 10];
        let file = File::open(bytes, &STRICT, &mut Scratch::new(&mut memory)).unwrap();
        let mut memory = [0; 1 << 10];
        let e = file.column(1).unwrap().read(0..20, &mut Scratch::new(&mut memory)).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::JAY_NULLS));
    }
}

/// A frame of no rows has a first offset all the same.
#[test]
fn the_first_offset_of_no_rows() {
    let mut bytes = golden("alltypes_n0");
    bytes[8] = 4;
    let mut memory = [0; 256];
    let file = File::open(&bytes, &STRICT, &mut Scratch::new(&mut memory)).unwrap();
    let e = file.verify(&mut Scratch::new(&mut [0; 256])).unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::JAY_OFFSETS));
}

#[test]
fn rows_by_number() {
    let bytes = golden("stats_n7");
    let mut memory = [0; 512];
    let file = File::open(&bytes, &STRICT, &mut Scratch::new(&mut memory)).unwrap();
    let column = file.column(3).unwrap();
    assert_eq!((column.get(1), column.get(5)), (Ok(Value::Int(127)), Ok(Value::Null)));
    assert_eq!(column.get(7).unwrap_err().kind(), Kind::OutOfRange);
    assert_eq!(file.column(1).unwrap().field().stats(), Ok(Some(Stats::Empty)));
    assert_eq!(file.name(99).unwrap_err().kind(), Kind::OutOfRange);
}

/// Files that were once read differently by another batch or by `get`.
#[test]
fn a_row_has_one_value_by_every_way() {
    for name in ["D06_tolerant_batch_dependent", "D09_get_is_an_error", "D10_batch_is_an_error"] {
        let bytes = std::fs::read(format!("peers/regressions/{name}.jay")).unwrap();
        assert!(harness::jay_file::read(&bytes) > 0, "{name}");
        let mut memory = vec![0; 1 << 12];
        let file = File::open(&bytes, &TOLERANT, &mut Scratch::new(&mut memory)).unwrap();
        for k in 0..file.width() {
            let Ok(column) = file.column(k) else { continue };
            let cell = |value: Result<Value<'_>, Error>| format!("{:?}", value.map(Cell::from));
            let alone: Vec<_> = (0..column.rows()).map(|row| cell(column.get(row))).collect();
            for step in [1, 9, 1 << 14] {
                let mut memory = vec![0; 1 << 16];
                let mut rows = Vec::new();
                while (rows.len() as u64) < column.rows() {
                    let row = rows.len() as u64;
                    let range = row..column.rows().min(row + step);
                    let batch = column.read(range, &mut Scratch::new(&mut memory)).unwrap();
                    rows.extend((0..batch.len).map(|i| cell(batch.value(i))));
                }
                assert!(rows == alone, "{name} column {k} by {step}");
            }
        }
    }
}
