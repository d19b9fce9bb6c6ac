//! A Jay file that is read and written again is valid and has the same rows.

use pilaster::bytes::{Scratch, WriteError};
use pilaster::column::{Column as _, Once, Part as _, Type, Value, convert};
use pilaster::error::{Kind, What};
use pilaster::jay::write::{Builder, WriteOptions};
use pilaster::jay::{Column, File, Layout};

use super::jay_file::{STRICT, TOLERANT};
use super::walk::{Memory, ROOMS};

/// Rows of a column that are compared.
const ROWS: u64 = 300;
/// Rows that are written at most: a column of nothing may claim any number.
const MOST: u64 = 1 << 20;

/// The first byte chooses the old layout (1), statistics (2), a key (4) and tolerance (8); the rest is the
/// file.
pub fn run(data: &[u8]) {
    let [flags, bytes @ ..] = data else { return };
    let reading = if flags & 8 == 8 { TOLERANT } else { STRICT };
    let mut memory = Memory::filled(0x11);
    let Ok(before) = File::open(bytes, &reading, &mut Scratch::new(memory.odd(ROOMS[2]))) else { return };
    if before.rows() > MOST {
        return;
    }
    let options = WriteOptions {
        layout: if flags & 1 == 1 { Layout::Old } else { Layout::New },
        stats: flags & 2 == 2,
        keys: usize::from(flags & 4 == 4),
        ..WriteOptions::DEFAULT
    };
    let sound = before.verify(&mut Scratch::new(memory.odd(ROOMS[2]))).is_ok();
    let mut builder = Builder::new(Vec::new(), &options).expect("a vector takes all");
    let done = convert(&mut Once::new(before), &mut builder, &mut Scratch::new(memory.odd(ROOMS[2])));
    let written = match done.and_then(|()| builder.finish()) {
        Ok(written) => written,
        Err(WriteError::Sink(never)) => match never {},
        Err(WriteError::Format(e)) => {
            let by_choice = e.what() == What::JAY_KEY || e.kind() == Kind::WrongType || e.kind() == Kind::NoRoom;
            assert!(!sound || by_choice, "{e:?} of a sound file");
            return;
        }
    };
    let after = File::open(&written, &STRICT, &mut Scratch::new(memory.odd(ROOMS[2])));
    let after = match after {
        Err(e) if e.kind() == Kind::NoRoom => return,
        after => after.expect("what was written opens"),
    };
    assert_eq!(after.verify(&mut Scratch::new(memory.odd(ROOMS[2]))), Ok(()));
    assert_eq!(after.width(), before.width());
    for k in 0..before.width() {
        assert_eq!(before.name(k), after.name(k));
        let (Ok(a), Ok(b)) = (before.column(k), after.column(k)) else { panic!("a column that was written") };
        assert_eq!(
            (a.ty(), a.rows(), b.field().stats().unwrap().is_some()),
            (b.ty(), b.rows(), has_stats(&b, &options))
        );
        if !reading.tolerant {
            (0..a.rows().min(ROWS)).for_each(|row| same(&a, &b, (row, row), sound, 0));
        }
    }
}

fn has_stats(column: &Column<'_>, options: &WriteOptions) -> bool {
    options.stats && !matches!(column.ty(), Type::Utf8 | Type::Null | Type::List)
}

/// Row `i` of one column is row `j` of the other.
fn same(a: &Column<'_>, b: &Column<'_>, (i, j): (u64, u64), sound: bool, depth: usize) {
    // NaN is written as a missing value. In a column that claims that none is missing, it was read as a value.
    let missing = |is_nan: bool| assert!(is_nan && !sound, "row {i}");
    match (a.get(i).expect("it was read"), b.get(j).expect("it was written")) {
        (Value::F32(a), Value::F32(b)) => assert_eq!(a.to_bits(), b.to_bits()),
        (Value::F64(a), Value::F64(b)) => assert_eq!(a.to_bits(), b.to_bits()),
        (Value::F32(a), Value::Null) => missing(a.is_nan()),
        (Value::F64(a), Value::Null) => missing(a.is_nan()),
        (Value::Nested(a_rows), Value::Nested(b_rows)) => {
            assert_eq!(a_rows.end - a_rows.start, b_rows.end - b_rows.start);
            if depth < 3 {
                let (a, b) = (a.child(0).expect("a child"), b.child(0).expect("a child"));
                a_rows.zip(b_rows).take(20).for_each(|rows| same(&a, &b, rows, sound, depth + 1));
            }
        }
        (a, b) => assert_eq!(a, b, "row {i}"),
    }
}
