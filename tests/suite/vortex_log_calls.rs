//! Calls of the logger in the wrong order, with wrong arguments or with too little memory.

use std::convert::Infallible;

use pilaster::bytes::WriteError;
use pilaster::column::{Prim, Unit};
use pilaster::error::{Error, Kind, What};
use pilaster::vortex::log::{Cell, Field, FieldType, Fields, Log, Policy, Resume, group_words, memory_len};

use crate::vortex_log::{Own, Room, cells, mixed, mixed_rows, read, write};

fn format(e: WriteError<Infallible>) -> Error {
    match e {
        WriteError::Format(e) => e,
        WriteError::Sink(never) => match never {},
    }
}

#[test]
fn errors_name_what_helps() {
    let fields = [Field::new("x", FieldType::Utf8), Field::new("y", FieldType::Prim(Prim::I32))];
    let columns = Fields::new(&fields).expect("valid types");
    let (mut rows, mut groups) = (vec![0; memory_len(&fields, 8, 10)], [0; 12]);
    let e = format(Log::new(vec![], columns, (&mut rows[1..20], 8), &mut groups, Policy::ByHand).expect_err("short"));
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::NoRoom, What::VORTEX_ROW_MEMORY, 64));
    let e = format(Log::new(vec![], columns, (&mut rows, 0), &mut groups, Policy::ByHand).expect_err("no rows"));
    assert_eq!(e.to_string(), "a row group of a vortex log must have a row: the number of rows is 0");
    let mut log = Log::prepare(vec![], columns, (&mut rows, 8), &mut groups, Policy::ByHand);
    let e = format(log.push_cells(&[Cell::of("a"), Cell::of(1)]).expect_err("not started"));
    assert_eq!((e.kind(), e.what()), (Kind::Misuse, What::VORTEX_LOG));
    log.start().expect("enough memory");
    let e = format(log.push_cells(&[Cell::of("eleven char"), Cell::of(1)]).expect_err("too long"));
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::NoRoom, What::VORTEX_TEXT_MEMORY, 11));
    for bad in [&[Cell::of("a")][..], &[Cell::of("a"), Cell::Null], &[Cell::of("a"), Cell::of("b")]] {
        let e = format(log.push_cells(bad).expect_err("another type"));
        assert_eq!((e.kind(), e.what(), e.at()), (Kind::Misuse, What::VORTEX_FIELD, 1));
    }
    // Texts fill the memory before the eighth row; the third row group has no record.
    let row = [Cell::of("ten chars."), Cell::of(1)];
    (0..3).for_each(|_| log.push_cells(&row).expect("room"));
    let e = format(log.push_cells(&row).expect_err("no record"));
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::NoRoom, What::VORTEX_GROUPS, 3 * 4 * 5));
    assert_eq!(log.groups(), 2);
    assert_eq!(Fields::new(&[]).map(drop).expect_err("none").kind(), Kind::Invalid);
    for bad in [FieldType::Date(Unit::Hour), FieldType::Prim(Prim::F16), FieldType::Timestamp(Unit::Milli, "Z")] {
        let fields = [Field::new("x", FieldType::Utf8), Field::new("d", bad)];
        let e = Fields::new(&fields).map(drop).expect_err("no such type");
        assert_eq!((e.what(), e.at()), (What::VORTEX_FIELD, 1));
        assert_eq!(e.to_string(), "column 1 of a vortex log: no such type or time zone");
    }
}

#[test]
fn a_log_of_other_columns_is_not_continued() {
    let (fields, rows) = (mixed(), mixed_rows(20));
    let bytes = write(&fields, &rows, 8, Policy::Every(1));
    let mut groups = [0; 1000];
    let mut other = fields.clone();
    other[1] = other[1].nullable();
    let e = Resume::find(&bytes[..], &Fields::new(&other).expect("valid"), &mut groups).expect_err("other columns");
    assert_eq!((e.kind(), e.what()), (Kind::Misuse, What::VORTEX_CHECKPOINT));
    assert_eq!(e.to_string(), "no checkpoint of these columns: it is a log of other columns, or is damaged");
    let columns = Fields::new(&fields).expect("valid");
    // Also if the file is no longer than what a new log may replace.
    for other in ["not a file", "12345678", "VTX", "V\u{ff}", "VTXE\0\0\0\0", "x"] {
        let e = Resume::find(other.as_bytes(), &columns, &mut groups).expect_err("no magic");
        let expected = if other == "VTX" { Kind::Truncated } else { Kind::Invalid };
        assert_eq!(e.kind(), expected, "{other}");
        assert!(e.what() == What::VORTEX_LOG || expected == Kind::Truncated);
    }
    let e = Resume::find(&b"hello, world"[..], &columns, &mut groups).expect_err("a text");
    assert_eq!(e.to_string(), "no vortex file: it begins with 0x6c6c6568");
    let words = group_words(fields.len());
    let e = Resume::find(&bytes[..], &columns, &mut groups[..2 * words]).expect_err("three row groups");
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::NoRoom, What::VORTEX_GROUPS, 3 * 4 * words as u32));
    assert_eq!(Resume::find(&bytes[..], &columns, &mut groups[..3 * words]).map(|found| found.rows()), Ok(20));
}

#[test]
fn a_log_that_is_ended_is_not_ended_again() {
    let (fields, rows) = (mixed(), mixed_rows(20));
    let columns = Fields::new(&fields).expect("valid types");
    for rows in [rows, [].into()] {
        let bytes = write(&fields, &rows, 8, Policy::ByHand);
        let mut room = Room::of(&fields, 8, 300);
        let found = Resume::find(&bytes[..], &columns, &mut room.groups).expect("a log");
        let memory = (&mut room.rows[..], room.most);
        let mut log =
            Log::resume(bytes.clone(), columns, memory, &mut room.groups, (&found, Policy::ByHand)).expect("memory");
        log.checkpoint().expect("a vector");
        assert_eq!(log.finish().expect("a vector"), bytes);
    }
}

#[test]
fn a_log_without_memory_for_row_groups_is_valid() {
    let (fields, rows) = (mixed(), mixed_rows(48));
    let columns = Fields::new(&fields).expect("valid types");
    for policy in [Policy::ByHand, Policy::Doubling, Policy::Every(2)] {
        // Memory for three row groups of 8 rows.
        let mut room = Room::of(&fields, 8, 300);
        let words = 3 * group_words(fields.len());
        let mut log = Log::new(Vec::new(), columns, (&mut room.rows, room.most), &mut room.groups[..words], policy)
            .expect("enough memory");
        let failed = rows.iter().position(|row| match log.push_cells(&cells(row)) {
            Ok(()) => false,
            Err(WriteError::Format(e)) => {
                assert_eq!((e.kind(), e.what()), (Kind::NoRoom, What::VORTEX_GROUPS));
                true
            }
            Err(WriteError::Sink(e)) => match e {},
        });
        assert_eq!(failed, Some(31), "{policy:?}: the row that fills the fourth row group");
        let full = log.sink().clone();
        assert_eq!(read(&full), Ok(rows[..24].to_vec()), "{policy:?}");
        // Nothing else is written, however often the log is ended.
        for _ in 0..2 {
            assert!(matches!(log.end(), Err(WriteError::Format(e)) if e.what() == What::VORTEX_GROUPS));
            assert_eq!(log.sink(), &full);
        }
    }
}

#[test]
fn rows_after_the_end_are_refused() {
    let (fields, rows) = (mixed(), mixed_rows(20));
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 300);
    let memory = (&mut room.rows[..], room.most);
    let mut log = Log::new(Vec::new(), columns, memory, &mut room.groups, Policy::ByHand).expect("a vector");
    rows.iter().for_each(|row| log.push_cells(&cells(row)).expect("a vector"));
    log.end().expect("a vector");
    let e = log.push_cells(&cells(&rows[0])).expect_err("ended");
    assert!(matches!(e, WriteError::Format(e) if e.kind() == Kind::Misuse));
    assert_eq!(e.to_string(), "the vortex log is not started, has ended, or its sink has failed");
    assert_eq!((read(log.sink()), log.pending()), (Ok(rows), 0));
}

/// Every number in every column: it is stored, or refused if the column has another type or the value is out of its range.
#[test]
fn cells_are_of_the_type_of_the_column() {
    let ints = [Prim::U8, Prim::U16, Prim::U32, Prim::U64, Prim::I8, Prim::I16, Prim::I32, Prim::I64];
    let range = |prim: Prim| {
        let bits = prim.size() as u32 * 8;
        let is_signed = ints[4..].contains(&prim);
        if is_signed { -(1i128 << (bits - 1))..1i128 << (bits - 1) } else { 0..1i128 << bits }
    };
    let mut types: Vec<_> = ints.map(|prim| (FieldType::Prim(prim), Some(range(prim)))).to_vec();
    let others = [FieldType::Bool, FieldType::Utf8, FieldType::Binary];
    types.extend([Prim::F32, Prim::F64].map(|prim| (FieldType::Prim(prim), None)));
    types.extend(others.map(|ty| (ty, None)));
    types.push((FieldType::Date(Unit::Day), Some(range(Prim::I32))));
    types.push((FieldType::Timestamp(Unit::Milli, "UTC"), Some(range(Prim::I64))));
    let edges = [0i128, 1, -1, 127, 128, -128, -129, 255, 256, 300, 32767, 32768, -32769, 65535, 65536];
    let large =
        [1i128 << 31, (1 << 31) - 1, -(1 << 31) - 1, 1 << 32, (1 << 32) - 1, (1 << 63) - 1, 1 << 63, -(1 << 63)];
    let numbers: Vec<i128> = edges.into_iter().chain(large).collect();
    for (ty, range) in types {
        let fields = [Field::new("x", ty)];
        let mut room = Room::of(&fields, 64, 64);
        let memory = (&mut room.rows[..], room.most);
        let columns = Fields::new(&fields).expect("valid types");
        let mut log = Log::new(Vec::new(), columns, memory, &mut room.groups, Policy::ByHand).expect("a vector");
        let mut want = Vec::new();
        let mut push = |cell: Cell<'_>, expected: Option<Own>| {
            let outcome = log.push_cells(&[cell]).map_err(format);
            assert_eq!(outcome.is_ok(), expected.is_some(), "{cell:?} in {ty:?}: {outcome:?}");
            if let Err(e) = outcome {
                assert_eq!((e.kind(), e.what(), e.at()), (Kind::Misuse, What::VORTEX_FIELD, 0));
            }
            want.extend(expected.map(|own| vec![own]));
        };
        for number in &numbers {
            let own = range.as_ref().filter(|range| range.contains(number)).map(|_| Own::Word(*number as u64));
            i64::try_from(*number).into_iter().for_each(|number| push(Cell::of(number), own.clone()));
            u64::try_from(*number).into_iter().for_each(|number| push(Cell::of(number), own.clone()));
        }
        let is = |other: FieldType<'_>, own: Own| (ty == other).then_some(own);
        push(Cell::of(true), is(FieldType::Bool, Own::Word(1)));
        push(Cell::of(1.5f32), is(FieldType::Prim(Prim::F32), Own::Word(1.5f32.to_bits().into())));
        push(Cell::of(1.5f64), is(FieldType::Prim(Prim::F64), Own::Word(1.5f64.to_bits())));
        push(Cell::of("text"), is(FieldType::Utf8, Own::Text("text".into())));
        push(Cell::of(&b"text"[..]), is(FieldType::Binary, Own::Bytes(b"text".into())));
        push(Cell::Null, None);
        assert_eq!(read(&log.finish().expect("a vector")), Ok(want), "{ty:?}");
    }
    // Bits of a number of the column's type.
    let words =
        [(Prim::I8, 0xff, true), (Prim::I8, u64::MAX, true), (Prim::I8, 0x100, false), (Prim::U8, u64::MAX, false)];
    for (prim, word, fits) in words {
        let fields = [Field::new("x", FieldType::Prim(prim))];
        let mut room = Room::of(&fields, 8, 0);
        let (columns, memory) = (Fields::new(&fields).expect("valid types"), (&mut room.rows[..], 8));
        let mut log = Log::new(Vec::new(), columns, memory, &mut room.groups, Policy::ByHand).expect("a vector");
        assert_eq!(log.push_cells(&[Cell::Word(word)]).is_ok(), fits, "{word:#x} in {prim:?}");
    }
}

#[test]
fn errors_about_cells_tell_what_the_column_takes() {
    let fields = [
        Field::new("x", FieldType::Prim(Prim::U8)),
        Field::new("y", FieldType::Utf8).nullable(),
        Field::new("z", FieldType::Timestamp(Unit::Milli, "")),
    ];
    let mut room = Room::of(&fields, 8, 0);
    let (columns, memory) = (Fields::new(&fields).expect("valid types"), (&mut room.rows[..], 8));
    let mut log = Log::new(Vec::new(), columns, memory, &mut room.groups, Policy::ByHand).expect("a vector");
    let good = [Cell::of(1u8), Cell::Null, Cell::of(5)];
    let mut told = |cells: &[Cell<'_>]| format(log.push_cells(cells).expect_err("not these columns")).to_string();
    let end = "the cell is missing, of another type or out of range";
    assert_eq!(told(&[Cell::of(300), good[1], good[2]]), format!("column 0 of a vortex log takes u8: {end}"));
    assert_eq!(told(&[good[0], good[2], good[2]]), format!("column 1 of a vortex log takes utf8 or null: {end}"));
    assert_eq!(told(&good[..2]), format!("column 2 of a vortex log takes i64: {end}"));
    assert_eq!(told(&[good, good].concat()), "a row of a vortex log of 3 columns has more cells");
}

/// Memory for records that `find` has not filled, and other columns.
#[test]
fn a_log_is_resumed_with_the_records_that_were_found() {
    let (fields, rows) = (mixed(), mixed_rows(40));
    let bytes = write(&fields, &rows, 8, Policy::Every(2));
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 300);
    let mut found = Resume::find(&bytes[..], &columns, &mut room.groups).expect("a log");
    let words = group_words(fields.len());
    let mut other = fields.clone();
    other[0].name = "other";
    let other = Fields::new(&other).expect("valid types");
    let mut damaged = room.groups.clone();
    damaged[4 * words + 2] += 1;
    let (mut zeros, mut short) = (vec![0; room.groups.len()], room.groups[..5 * words - 1].to_vec());
    let mut refused = |columns, groups: &mut [u32], kind| {
        let memory = (&mut room.rows[..], room.most);
        let e =
            format(Log::resume(bytes.clone(), columns, memory, groups, (&found, Policy::ByHand)).expect_err("other"));
        assert_eq!((e.kind(), e.what()), (kind, What::VORTEX_GROUPS), "{e}");
        let dropped = found.drop_damaged(&bytes[..], &columns, groups);
        assert_eq!(dropped, Err(e));
        e
    };
    let e = refused(columns, &mut short, Kind::NoRoom);
    assert_eq!(e.need() as usize, 4 * 5 * words);
    for groups in [&mut zeros, &mut damaged] {
        refused(columns, groups, Kind::Misuse);
    }
    refused(other, &mut room.groups, Kind::Misuse);
    let memory = (&mut room.rows[..], room.most);
    let exact = &mut room.groups[..5 * words];
    assert!(Log::resume(bytes.clone(), columns, memory, exact, (&found, Policy::ByHand)).is_ok());
    assert!(!found.is_full());
    // With memory for exactly the row groups of the log, also if damage or a torn row group follows.
    let torn = [&bytes[..], &[0; 8], b"PLRG\x08\0\0\0torn"].concat();
    for bytes in [&bytes, &torn] {
        let mut found = Resume::find(&bytes[..], &columns, exact).expect("enough memory");
        assert!(found.is_full() && found.rows() == 40);
        assert_eq!(found.drop_damaged(&bytes[..], &columns, exact), Ok(0));
        assert!(found.is_full());
    }
}
