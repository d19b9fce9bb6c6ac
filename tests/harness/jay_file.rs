//! Whole Jay files: strict, null counts checked too, and with tolerance.

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Value};
use pilaster::jay::{Column, File, ReadOptions};

use super::cell::Cell;
use super::walk::{Memory, ROOMS, values, windows};

/// Rows of a column that a walk looks at, and columns.
const ROWS: u64 = 200;
const COLUMNS: usize = 16;

pub const STRICT: ReadOptions = ReadOptions::DEFAULT;
pub const CHECKING: ReadOptions = ReadOptions { check_null_counts: true, ..STRICT };
pub const TOLERANT: ReadOptions = ReadOptions { tolerant: true, ..STRICT };

/// All of `data` is the file.
pub fn run(data: &[u8]) {
    read(data);
}

/// Reads `bytes` in every way; tells how many of the three could be opened.
pub fn read(bytes: &[u8]) -> usize {
    let mut memory = Memory::filled(0xa5);
    let mut opened = [false; 3];
    for (opened, options) in opened.iter_mut().zip([STRICT, CHECKING, TOLERANT]) {
        let Ok(file) = File::open(bytes, &options, &mut Scratch::new(memory.odd(ROOMS[2]))) else { continue };
        *opened = true;
        let verified = file.verify(&mut Scratch::new(memory.odd(ROOMS[2]))).is_ok();
        let mut problems = 0;
        file.problems(&mut Scratch::new(memory.odd(ROOMS[2])), &mut |_, _| problems += 1);
        assert_eq!(problems == 0, verified);
        for k in 0..file.width().min(COLUMNS) {
            let column = match file.column(k) {
                Ok(column) => column,
                Err(e) => {
                    assert!(options.tolerant, "{e:?}: opened, and then not there");
                    continue;
                }
            };
            assert!(options.tolerant || file.name(k).is_ok_and(|name| !name.is_empty()));
            assert_eq!(column.rows(), file.rows());
            walk(&column, &options, verified, 0);
        }
    }
    assert_eq!(opened[0], opened[1], "to check null counts is not to open less");
    assert!(!opened[0] || opened[2], "what is sound can be read with tolerance");
    opened.into_iter().filter(|opened| *opened).count()
}

/// Reads some rows in batches and one by one: both say the same.
pub fn walk(column: &Column<'_>, options: &ReadOptions, sound: bool, depth: usize) {
    let each = |row, value: Result<Value<'_>>| match value {
        Ok(value) => same(column, options, row, &value),
        Err(e) => assert!(!options.tolerant, "row {row}: {e:?}"),
    };
    let end = |read| assert!(!sound || read == Ok(()), "{read:?} in a sound file");
    values(column, windows(column.rows(), ROWS), each, end);
    for row in windows(column.rows(), ROWS).into_iter().flatten() {
        alone(column, options, row);
    }
    if depth < 4
        && column.ty().children() > 0
        && let Ok(child) = column.child(0)
    {
        walk(&child, options, sound, depth + 1);
    }
}

/// Reads one row as a batch and by `get`: both are errors, or both say the same.
fn alone(column: &Column<'_>, options: &ReadOptions, row: u64) {
    let mut memory = Memory::filled(0xa5);
    match (column.read(row..row + 1, &mut Scratch::new(memory.odd(ROOMS[2]))), column.get(row)) {
        (Ok(batch), _) => same(column, options, row, &batch.value(0).expect("one row")),
        (Err(_), Err(_)) => {}
        (Err(e), Ok(value)) => panic!("row {row} is {value:?} alone, and {e:?} in a batch"),
    }
}

fn same(column: &Column<'_>, options: &ReadOptions, row: u64, value: &Value<'_>) {
    let got = column.get(row);
    match (value, &got) {
        (Value::Nested(a), Ok(Value::Nested(b))) => assert_eq!(a, b),
        (a, Ok(b)) if Cell::from(a.clone()) == Cell::from(b.clone()) => {}
        // The text was not verified yet.
        (Value::Text(a), Err(_)) => assert!(core::str::from_utf8(a).is_err() && !options.tolerant),
        _ => panic!("row {row} is {value:?} in a batch, and {got:?} alone"),
    }
}
