//! A Vortex file that is read and written again is valid and has the same rows.

use pilaster::bytes::{Input, WriteError};
use pilaster::column::{Batch, Column as _, Memory, Part as _, Type, Value, convert};
use pilaster::error::Kind;
use pilaster::limits::Limits;
use pilaster::vortex::write::{Builder, Encodings, Profile, WriteOptions};
use pilaster::vortex::{Column, Encoding, File};

/// Rows of a column that are compared.
const ROWS: u64 = 300;
/// Rows of a file that are written at most: a few bytes may claim any number.
const MOST: u64 = 1 << 14;
/// Length in bytes of the longest file that is written.
const LONGEST: usize = 1 << 13;
/// Budgets that make one file quick.
const LIMITS: Limits = Limits { max_decoded: 1 << 20, max_rows: MOST, ..Limits::DEFAULT };

/// The first byte is flags: no dictionaries (1), the wide profile (2), no statistics (4), small chunks (8), the smallest
/// encodings (16), small zones (32), without every other encoding (64, and 128 for the others). The rest is the file.
pub fn run(data: &[u8]) {
    let [flags, bytes @ ..] = data else { return };
    if bytes.len() > LONGEST {
        return;
    }
    let is_short = File::open_input(Input::whole(bytes), None, &LIMITS).and_then(|file| file.rows());
    if is_short.is_ok_and(|rows| rows <= MOST) {
        again(bytes, *flags, &LIMITS);
    }
}

/// Writes the rows of a file again. Returns whether it is valid and has only types that can be written.
pub fn again(bytes: &[u8], flags: u8, limits: &Limits) -> bool {
    let Ok(before) = File::open_input(Input::whole(bytes), None, limits) else { return false };
    let Ok(part) = before.part() else { return false };
    let mut memory = Memory::with_len(limits.max_decoded.min(1 << 24)).expect("16 megabytes");
    if before.verify(&mut memory.scratch()).is_err() {
        return false;
    }
    let options = options(flags, limits);
    let written = loop {
        let mut builder = Builder::new(Vec::new(), &options).expect("a vector takes all");
        let mut table = before.table().expect("it has a part");
        let done = convert(&mut table, &mut builder, &mut memory.scratch()).and_then(|()| builder.finish());
        match done {
            Ok(written) => break written,
            Err(WriteError::Sink(never)) => match never {},
            Err(WriteError::Format(e)) if e.kind() == Kind::NoRoom => {
                if memory.grow(e).is_err() {
                    return false;
                }
            }
            Err(WriteError::Format(e)) => {
                assert!(matches!(e.kind(), Kind::WrongType | Kind::Limit | Kind::Unsupported), "{e:?} of a sound file");
                return false;
            }
        }
    };
    let after = File::open(&written).expect("what was written opens");
    let mut room = Memory::with_len(1 << 24).expect("16 megabytes");
    assert_eq!(after.verify(&mut room.scratch()), Ok(()));
    let again = after.part().expect("a part");
    assert_eq!((part.rows(), part.width()), (again.rows(), again.width()));
    for k in 0..part.width() {
        assert_eq!(part.name(k), again.name(k));
        let (a, b) = (part.column(k).expect("it was read"), again.column(k).expect("it was written"));
        assert_eq!((a.ty(), a.nullable(), a.zone()), (b.ty(), b.nullable(), b.zone()));
        (0..a.rows().min(ROWS)).for_each(|row| same(&a, &b, (row, row), 0));
    }
    true
}

/// The options that the flags of [`run`] choose.
fn options(flags: u8, limits: &Limits) -> WriteOptions {
    let has = |flag: u8| flags & flag > 0;
    // Some builds have no encoders for the smallest encodings.
    let compact = WriteOptions { encodings: Encodings::COMPACT, ..WriteOptions::DEFAULT };
    let all = if has(16) && compact.check().is_ok() { Encodings::COMPACT } else { Encodings::DEFAULT };
    let is_left_out = |(k, one): &(usize, Encoding)| !Encodings::BASIC.has(*one) && has([64, 128][k % 2]);
    let left_out = all.iter().enumerate().filter(is_left_out);
    WriteOptions {
        chunk_size: if has(8) { 1 } else { WriteOptions::DEFAULT.chunk_size },
        zone_rows: if has(32) { 1024 } else { WriteOptions::DEFAULT.zone_rows },
        dictionaries: !has(1),
        statistics: !has(4),
        encodings: left_out.fold(all, |set, (_, one)| set.without(one)),
        profile: if has(2) { Profile::Wide } else { Profile::Edition2026 },
        limits: *limits,
        threads: 0,
    }
}

/// Row `i` of one column is row `j` of the other.
fn same(a: &Column<'_>, b: &Column<'_>, (i, j): (u64, u64), depth: usize) {
    let (mut left, mut right) = (Memory::default(), Memory::default());
    let (a, b) = (row_of(a, i, &mut left), row_of(b, j, &mut right));
    match (a.value(0).expect("a row"), b.value(0).expect("a row")) {
        (Value::F32(a), Value::F32(b)) => assert_eq!(a.to_bits(), b.to_bits()),
        (Value::F64(a), Value::F64(b)) => assert_eq!(a.to_bits(), b.to_bits()),
        (Value::Nested(a_rows), Value::Nested(b_rows)) => {
            assert_eq!(a_rows.end - a_rows.start, b_rows.end - b_rows.start);
            if depth < 3 {
                let children = if let Type::Struct(_) = a.of.ty() { a.of.ty().children() } else { 1 };
                for k in 0..children {
                    let (x, y) = (a.of.child(k).expect("a child"), b.of.child(k).expect("a child"));
                    a_rows.clone().zip(b_rows.clone()).take(20).for_each(|rows| same(&x, &y, rows, depth + 1));
                }
            }
        }
        (a, b) => assert_eq!(a, b, "row {i}"),
    }
}

/// Row `row`, in memory that grows.
fn row_of<'m>(column: &Column<'m>, row: u64, memory: &'m mut Memory) -> Batch<'m, Column<'m>> {
    while let Err(e) = column.scalar_at(row, &mut memory.scratch()) {
        memory.grow(e).expect("one row of a verified file");
    }
    column.scalar_at(row, &mut memory.scratch()).expect("as before")
}
