//! Any bytes as a file of any format, through the interface over all formats: with each hint, every table and column.
//! In a verified file, every row can be read: alone, in a batch and by its dictionary, to the same value.

use core::ops::Range;

use pilaster::any::{self, File, Format, Hints, detect};
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Part, Table, Value, fit};
use pilaster::error::{Error, Kind, What};
use pilaster::filo::Element;

use super::cell::Cell;
use super::walk::windows;

/// Memory for metadata, for one part (of a Jay file, for checking texts), and for batches.
const KEPT: usize = 64 << 10;
pub const PART: usize = 288 << 10;
const BATCH: usize = 32 << 10;

/// Rows that a walk over a column looks at, and the most parts and columns.
const ROWS: u64 = 64;
const PARTS: usize = 64;
const COLUMNS: usize = 16;

/// Item types of Blosc chunks, which do not store theirs.
const DTYPES: [&str; 6] = ["<i4", "|S5", "<U2", "<M8[ns]", "bool", "[('a', '<i2'), ('b', '|S3')]"];

/// All of `data` is the file.
pub fn run(data: &[u8]) {
    read(data);
}

/// Reads `bytes` as every format with every hint; returns how often they could be opened.
pub fn read(bytes: &[u8]) -> usize {
    let filo = Element::ALL.map(|element| Hints { element: Some(element), ..Hints::default() });
    let dtypes = DTYPES.map(|dtype| Hints { dtype: Some(dtype), ..Hints::default() });
    let (plain, sequential) = (Hints::default(), Hints { sequential: true, ..Hints::default() });
    let tolerant = Hints { tolerant: true, ..Hints::default() };
    let (mut kept, mut part) = ([0xa5; KEPT], [0x5a; PART]);
    let mut opened = 0;
    for (format, hints) in [
        (Format::Filo, &filo[..]),
        (Format::DataSeries, &[plain, sequential]),
        (Format::Bcolz, &[plain]),
        (Format::Bcolz, &dtypes),
        (Format::Jay, &[plain, tolerant]),
        (Format::Vortex, &[plain]),
    ] {
        opened += hints.iter().filter(|hints| open(bytes, format, hints, &mut kept, &mut part)).count();
    }
    opened
}

/// Opens `bytes` and reads all of the file; tells whether they could be opened.
fn open(bytes: &[u8], format: Format, hints: &Hints<'_>, kept: &mut [u8], part: &mut [u8]) -> bool {
    let Ok(file) = File::open(bytes, format, hints, &mut Scratch::new(kept)) else { return false };
    assert_eq!(file.format(), format);
    // An unusual Blosc chunk is not recognised. A Vortex file is recognised by its end, and may start like a file of
    // another format.
    let marked = match format {
        Format::DataSeries => true,
        // Tolerant reading accepts one damaged signature if the other one is exact.
        Format::Jay => !(hints.tolerant && bytes.ends_with(b"\0\0\0\x001JAY")),
        Format::Vortex => bytes.starts_with(b"VTXF"),
        Format::Filo | Format::Bcolz => false,
    };
    assert!(!marked || detect(bytes, None) == Ok(format));
    look(&file, part);
    true
}

/// Verifies and reads a file in `memory`, or less if it takes less; returns the number of rows that were read. Nothing
/// is read if one part takes more, or if a Vortex file claims far more rows than it has bytes.
pub fn look(file: &File<'_>, memory: &mut [u8]) -> u64 {
    if let File::Vortex(file) = file
        && !file.rows().is_ok_and(|rows| rows < 1 << 16)
    {
        return 0;
    }
    let Ok(need) = file.need() else {
        assert!(file.verify(&mut Scratch::new(memory)).is_err(), "verified, and a part is invalid");
        return 0;
    };
    let Some(memory) = usize::try_from(need).ok().and_then(|need| memory.get_mut(..need)) else { return 0 };
    let verified = file.verify(&mut Scratch::new(memory));
    if let Err(any::FileError::Format(e)) = &verified {
        assert!(e.kind() != Kind::NoRoom, "{e:?}: takes more than the {need} it said");
    }
    let mut rows = 0;
    for name in file.tables().take(COLUMNS) {
        let mut table = match file.table(Some(name)) {
            Ok(table) => table,
            Err(e) => {
                // The dtype is a choice of the caller.
                assert!(verified.is_err() || file.format() == Format::Bcolz, "{e:?} of a sound file");
                continue;
            }
        };
        let once = parts(&mut table, memory, verified.is_ok(), true);
        assert_eq!(table.restart(), Ok(()));
        assert_eq!(parts(&mut table, memory, verified.is_ok(), false), once, "restarted");
        rows += once;
    }
    rows
}

/// Reads the parts that are left; returns their rows.
fn parts<'f>(table: &mut any::Table<'f>, memory: &mut [u8], sound: bool, columns: bool) -> u64 {
    let (mut rows, mut batches) = (0, [0x3c; BATCH]);
    for _ in 0..PARTS {
        let mut scratch = Scratch::new(memory);
        let part = match table.next_part(&mut scratch) {
            Ok(Some(part)) => part,
            Ok(None) => break,
            Err(e) => {
                assert!(!sound && e.kind() != Kind::NoRoom, "{e:?} in a file that is sound: {sound}");
                break;
            }
        };
        rows += part.rows();
        for k in 0..if columns { part.width().min(COLUMNS) } else { 0 } {
            match part.column(k) {
                Ok(one) => {
                    assert_eq!(one.rows(), part.rows());
                    column(&one, &mut batches, sound, 0);
                }
                Err(e) => assert!(!sound, "{e:?} of column {k}"),
            }
        }
        assert!(part.column(part.width()).is_err());
    }
    rows
}

/// Reads some rows of a column: in batches, alone, and by their dictionary.
fn column<C: Column>(column_: &C, memory: &mut [u8], sound: bool, depth: u32) {
    for window in windows(column_.rows(), ROWS) {
        let mut row = window.start;
        while row < window.end {
            let Some(len) = batch(column_, row..window.end, memory, sound, depth) else { break };
            row += len;
        }
        let _ = column_.zone_around(window.start, &mut Scratch::new(memory));
        let _ = column_.known_validity(window.start);
    }
    assert!(column_.child(column_.ty().children()).is_err());
    let _ = column_.zone();
}

/// Accepts an error if the file is damaged, or if a limit or the memory is smaller than a row.
fn excused<C: Column>(column: &C, e: Error, sound: bool) {
    let small = e.kind() == Kind::NoRoom || e.what() == What::MAX_NODES;
    assert!(!sound || small, "{e:?} of {column:?} in a file that was verified");
}

/// Reads a batch, and in other ways its rows, if the file is valid; returns the number of rows.
fn batch<C: Column>(column: &C, rows: Range<u64>, memory: &mut [u8], sound: bool, depth: u32) -> Option<u64> {
    let (memory, rest) = memory.split_at_mut(memory.len() / 2);
    let excused = |e: Error| excused(column, e, sound);
    let asked = fit(column, rows, memory.len()).map_err(excused).ok()?;
    let need = column.need(asked.clone()).map_err(excused).ok()?;
    let batch = match column.read(asked.clone(), &mut Scratch::new(memory)) {
        Err(e) if e.kind() == Kind::NoRoom => panic!("{asked:?} of {column:?} takes more than {need}: {e:?}"),
        read => read.map_err(excused).ok()?,
    };
    assert!(batch.first == asked.start && batch.len > 0 && batch.len as u64 <= asked.end - asked.start);
    assert!(column.nullable() || batch.validity.nulls(batch.len) == 0, "{column:?} is not nullable");
    for i in 0..batch.len {
        let (row, here) = (batch.first + i as u64, batch.value(i));
        let (few, deep) = rest.split_at_mut(rest.len() / 2);
        match column.read(row..row + 1, &mut Scratch::new(few)) {
            Ok(one) if sound => {
                let there = one.value(0);
                same((&here, &batch.of), (&there, &one.of), deep, depth);
                let known = column.known_validity(row).expect("metadata of a sound file");
                assert!(known.is_none_or(|(valid, _)| valid == (here != Ok(Value::Null))), "row {row} of {column:?}");
            }
            Ok(_) => {}
            Err(e) => excused(e),
        }
    }
    if sound {
        by_dictionary(column, &batch, rest);
    }
    let len = batch.len as u64;
    if depth < 3 {
        children(&batch, rest, sound, depth);
    }
    Some(len)
}

/// A value read in two ways is one value, with its children.
fn same<C: Column>(
    (a, of_a): (&pilaster::Result<Value<'_>>, &C),
    (b, of_b): (&pilaster::Result<Value<'_>>, &C),
    memory: &mut [u8],
    depth: u32,
) {
    let (Ok(a), Ok(b)) = (a, b) else { panic!("{a:?} and {b:?} in a file that was verified: {of_a:?}") };
    assert_eq!(Cell::from(a.clone()), Cell::from(b.clone()), "{of_a:?}");
    let (Value::Nested(a), Value::Nested(b)) = (a, b) else { return };
    assert_eq!(a.end - a.start, b.end - b.start, "{of_a:?}");
    if depth >= 2 {
        return;
    }
    for k in 0..of_a.ty().children().min(3) {
        let (Ok(a_child), Ok(b_child)) = (of_a.child(k), of_b.child(k)) else { panic!("no child {k} of {of_a:?}") };
        for (i, j) in a.clone().zip(b.clone()).take(3) {
            let (first, rest) = memory.split_at_mut(memory.len() / 3);
            let (second, rest) = rest.split_at_mut(rest.len() / 2);
            let one = a_child.read(i..i + 1, &mut Scratch::new(first));
            let other = b_child.read(j..j + 1, &mut Scratch::new(second));
            match (one, other) {
                (Ok(one), Ok(other)) => {
                    same((&one.value(0), &one.of), (&other.value(0), &other.of), rest, depth + 1);
                }
                (one, other) => [one.err(), other.err()].into_iter().flatten().for_each(|e| excused(&a_child, e, true)),
            }
        }
    }
}

/// The codes of a dictionary stand for the values of the rows.
fn by_dictionary<C: Column>(column: &C, batch: &Batch<'_, C>, memory: &mut [u8]) {
    if column.ty().children() > 0 {
        return;
    }
    let Some(found) = column.dictionary(batch.first).expect("metadata of a sound file") else { return };
    assert!(found.first <= batch.first && batch.first < found.first + found.len, "{column:?}");
    let (first, second) = memory.split_at_mut(memory.len() / 2);
    for i in 0..batch.len.min(8) {
        let code = batch.first + i as u64 - found.first;
        if code >= found.len {
            break;
        }
        let here = batch.value(i).map(Cell::from);
        let code = match found.codes.read(code..code + 1, &mut Scratch::new(first)) {
            Ok(code) => code.value(0),
            Err(e) => return excused(column, e, true),
        };
        let there = match code {
            Ok(Value::Null) => Ok(Cell::Missing),
            Ok(Value::Int(code)) => {
                let code = u64::try_from(code).expect("a code of a sound file");
                match found.values.read(code..code + 1, &mut Scratch::new(second)) {
                    Ok(value) => value.value(0).map(Cell::from),
                    Err(e) => return excused(column, e, true),
                }
            }
            other => panic!("code {other:?} of {column:?}"),
        };
        assert_eq!(here, there, "{column:?}");
    }
}

/// Reads the children of a batch as columns of their own.
fn children<C: Column>(batch: &Batch<'_, C>, memory: &mut [u8], sound: bool, depth: u32) {
    for k in 0..batch.of.ty().children().min(8) {
        let Ok(child) = batch.of.child(k) else { continue };
        let _ = batch.of.child_name(k);
        column(&child, memory, sound, depth + 1);
    }
}
