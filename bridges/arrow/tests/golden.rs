//! The Arrow values of every golden file are those that the columns of the library return, from which the library's
//! tests compare every value with the expectation beside the file.

#[path = "../../../tests/common/mod.rs"]
mod common;
mod harness;
mod show;
mod sizes;

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{Array, RecordBatchReader};
use arrow_schema::FieldRef;
use common::Golden;
use pilaster::any::{File, Format, Hints, detect};
use pilaster::bytes::{Scratch, WriteError};
use pilaster::column::{self, Column, Memory, Part, Table};
use pilaster::error::What;
use pilaster_arrow::{Batches, Buffer, Builder, Error, Kept, ReadOptions, convert, read};

fn hints(golden: &Golden) -> Hints<'_> {
    let facts = &golden.expected["facts"];
    let element = facts["element_type"].as_str().and_then(|element| element.parse().ok());
    Hints { element, ..Hints::default() }
}

/// The rows of a table as the library reads them: the name of each column with the values of all parts.
fn plain<T: Table>(table: &mut T) -> Vec<(String, Vec<String>)> {
    let mut memory = Memory::default();
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    loop {
        let mut scratch = memory.scratch();
        match table.next_part(&mut scratch) {
            Ok(Some(part)) => {
                for k in 0..part.width() {
                    if columns.len() == k {
                        columns.push((part.name(k).unwrap().to_owned(), Vec::new()));
                    }
                    columns[k].1.extend(show::column(&part.column(k).unwrap(), 0..part.rows()));
                }
            }
            Ok(None) => return columns,
            Err(e) => memory.grow(e).unwrap(),
        }
    }
}

/// The rows as Arrow has them, and the number of copied bytes.
fn arrow<T: Table>(table: T, options: ReadOptions<'_>) -> (Vec<(String, Vec<String>)>, u64) {
    let offsets = options.offsets;
    let mut reader = read(table, options).unwrap();
    let schema = reader.schema();
    let other = |field: &FieldRef| format!("{:?}", field.data_type()).contains("View");
    assert!(!offsets || !schema.fields().iter().any(other), "{schema}");
    let mut columns: Vec<_> = schema.fields().iter().map(|field| (field.name().clone(), Vec::new())).collect();
    for batch in &mut reader {
        let batch = batch.unwrap();
        for (k, array) in batch.columns().iter().enumerate() {
            array.to_data().validate_full().unwrap();
            columns[k].1.extend((0..array.len()).map(|i| show::row(array, i)));
        }
    }
    (columns, reader.copied_bytes())
}

/// The rows as a conversion feeds them.
fn converted<T: Table>(mut table: T, rows: u64) -> Vec<(String, Vec<String>)> {
    let mut memory = Memory::default();
    loop {
        let mut columns = Vec::new();
        let mut builder = Builder::new(rows, |batch| {
            if columns.is_empty() {
                columns = batch.schema().fields().iter().map(|field| (field.name().clone(), Vec::new())).collect();
            }
            for (k, array) in batch.columns().iter().enumerate() {
                array.to_data().validate_full().unwrap();
                columns[k].1.extend((0..array.len()).map(|i| show::row(array, i)));
            }
            Ok(())
        });
        table.restart().unwrap();
        let done = column::convert(&mut table, &mut builder, &mut memory.scratch());
        drop(builder);
        match done {
            Ok(()) => return columns,
            Err(WriteError::Format(e)) => memory.grow(e).unwrap(),
            Err(WriteError::Sink(e)) => panic!("{e}"),
        }
    }
}

/// Compares the tables of a file in several batch sizes. Returns the number of compared tables.
fn compare(name: &str, file: &File<'_>, bytes: Option<&Buffer>) -> usize {
    let mut compared = 0;
    for table in file.tables() {
        // The items of a Blosc chunk whose length is no multiple of their size.
        if let Err(e) = file.table(Some(table)) {
            assert_eq!(e.what(), What::BLOSC_NBYTES, "{name}");
            continue;
        }
        let expected = plain(&mut file.table(Some(table)).unwrap());
        let rows = expected.first().map_or(0, |(_, values)| values.len());
        let ways = [(1 << 16, false, true), (3, true, false), (1000, true, true), (1001, true, false)];
        for (batch_rows, flat, whole) in ways {
            let offsets = batch_rows == 1001;
            if batch_rows == 3 && rows > 2000 {
                continue;
            }
            let options = ReadOptions {
                bytes: bytes.filter(|_| whole).cloned(),
                batch_rows,
                flat,
                offsets,
                ..ReadOptions::default()
            };
            let (values, _) = arrow(file.table(Some(table)).unwrap(), options);
            equal(&format!("{name}, batches of {batch_rows}"), &values, &expected);
            let converted = converted(file.table(Some(table)).unwrap(), batch_rows as u64);
            equal(&format!("{name}, groups of {batch_rows}"), &converted, &expected);
        }
        compared += 1;
    }
    compared
}

fn equal(name: &str, values: &[(String, Vec<String>)], expected: &[(String, Vec<String>)]) {
    assert_eq!(values.len(), expected.len(), "{name}");
    for ((found, values), (known, expected)) in values.iter().zip(expected) {
        assert_eq!(found, known, "{name}");
        assert_eq!(values.len(), expected.len(), "{name}: {found}");
        let first = values.iter().zip(expected).position(|(a, b)| a != b);
        let differ = first.map(|i| (i, &values[i], &expected[i]));
        assert_eq!(differ, None, "{name}: {found}");
    }
}

fn opened(golden: &Golden, mut test: impl FnMut(&File<'_>, Option<&Buffer>) -> usize) -> usize {
    if golden.path.is_dir() {
        let Ok(dataset) = pilaster::bcolz::Dataset::open(&golden.path) else { return 0 };
        return test(&File::from(&dataset), None);
    }
    let bytes = Buffer::from_vec(golden.bytes());
    let format = match golden.format.as_str() {
        "filo" => Format::Filo,
        _ => detect(&bytes, golden.path.to_str()).unwrap(),
    };
    let mut memory = Memory::default();
    loop {
        let opened =
            File::open(&bytes, format, &hints(golden), &mut memory.scratch()).map(|file| test(&file, Some(&bytes)));
        match opened {
            Ok(count) => return count,
            Err(e) => memory.grow(e).unwrap_or_else(|e| panic!("{}: {e}", golden.name)),
        }
    }
}

#[test]
fn values_of_every_golden() {
    let (mut compared, mut failed) = (0, Vec::new());
    let goldens = common::all();
    for golden in goldens.iter().filter(|golden| golden.by_any()) {
        let run = || opened(golden, |file, bytes| compare(&golden.name, file, bytes));
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(count) => compared += count,
            Err(_) => failed.push(&golden.name),
        }
    }
    println!("{compared} tables");
    assert!(failed.is_empty() && compared > 500, "{} failed: {failed:?}; {compared} compared", failed.len());
}

/// The type of each column of the first part, with its zone.
fn types<T: Table>(table: &mut T) -> Vec<String> {
    let mut memory = Memory::default();
    loop {
        match table.next_part(&mut memory.scratch()) {
            Ok(part) => {
                let Some(part) = part else { return Vec::new() };
                let columns = (0..part.width()).map(|k| part.column(k).unwrap());
                return columns.map(|c| format!("{} {:?} {}", c.ty(), c.zone().unwrap(), c.nullable())).collect();
            }
            Err(e) => memory.grow(e).unwrap(),
        }
    }
}

/// How many tables were compared, and how many of them each format stored.
#[derive(Debug, Default)]
struct Stored {
    tables: usize,
    vortex: usize,
    jay: usize,
}

/// Takes the tables of a file as batches, and these as a table, which is written to Vortex and Jay, and read again.
fn there_and_back(name: &str, file: &File<'_>, stored: &mut Stored) {
    for table in file.tables() {
        if file.table(Some(table)).is_err() {
            continue;
        }
        let options = ReadOptions { batch_rows: 1000, ..ReadOptions::default() };
        let reader = read(file.table(Some(table)).unwrap(), options).unwrap();
        let source = Kept::new(reader.schema(), reader.map(Result::unwrap));
        let mut batches = Batches::from_source(source).unwrap();
        let expected = plain(&mut file.table(Some(table)).unwrap());
        assert_eq!(types(&mut batches), types(&mut file.table(Some(table)).unwrap()), "{name}");
        batches.restart().unwrap();
        assert_eq!(plain(&mut batches), expected, "{name}");
        stored.tables += 1;

        batches.restart().unwrap();
        let mut vortex = pilaster::vortex::write::Builder::new(Vec::new(), &Default::default()).unwrap();
        let done = convert(&mut batches, &mut vortex);
        stored.vortex +=
            usize::from(compare_stored(name, done, &expected, Format::Vortex, || vortex.finish().unwrap()));
        let mut jay = pilaster::jay::write::Builder::new(Vec::new(), &Default::default()).unwrap();
        let done = convert(&mut batches, &mut jay);
        stored.jay += usize::from(compare_stored(name, done, &expected, Format::Jay, || jay.finish().unwrap()));
    }
}

/// Compares what was stored with the rows of the file, or checks that a refusal names a column. Returns whether it was
/// stored.
fn compare_stored(
    name: &str,
    done: Result<(), Error>,
    expected: &[(String, Vec<String>)],
    format: Format,
    bytes: impl FnOnce() -> Vec<u8>,
) -> bool {
    if let Err(e) = done {
        let Error::Target { column, remedy, .. } = &e else { panic!("{name}: {e}") };
        assert!(expected.iter().any(|(known, _)| known == column) && !remedy.is_empty(), "{name}: {e}");
        return false;
    }
    let bytes = bytes();
    let mut memory = vec![0; 1 << 20];
    let file = File::open(&bytes, format, &Hints::default(), &mut Scratch::new(&mut memory)).unwrap();
    let found = plain(&mut file.table(None).unwrap());
    // NaN means missing in Jay.
    let missing = |row: String| if format == Format::Jay { row.replace("NaN", "-") } else { row };
    for ((column, found), (_, expected)) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len(), "{name} as {format}: {column}");
        let pairs = found.iter().zip(expected).map(|(a, b)| (missing(show::canonical(a)), missing(show::canonical(b))));
        let differs = pairs.enumerate().find(|(_, (a, b))| a != b);
        assert_eq!(differs, None, "{name} as {format}: {column}");
    }
    assert_eq!(found.len(), expected.len(), "{name} as {format}");
    true
}

#[test]
fn every_golden_comes_back_from_batches() {
    let (mut stored, mut failed) = (Stored::default(), Vec::new());
    let goldens = common::all();
    for golden in goldens.iter().filter(|golden| golden.by_any()) {
        let run = || {
            opened(golden, |file, _| {
                there_and_back(&golden.name, file, &mut stored);
                1
            })
        };
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            failed.push(&golden.name);
        }
    }
    println!("{stored:?}");
    assert!(failed.is_empty(), "{} failed: {failed:?}", failed.len());
    assert!(stored.tables > 500 && stored.vortex > 480 && stored.jay > 200, "{stored:?}");
}

#[test]
fn nothing_in_a_damaged_golden_panics() {
    for golden in common::all().iter().filter(|golden| golden.path.is_file()) {
        let whole = golden.bytes();
        harness::run(&whole);
        for at in (0..whole.len()).step_by((whole.len() / 12).max(1)) {
            for change in [0u8, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = change;
                harness::run(&damaged);
            }
            harness::run(&whole[..at]);
        }
    }
}

#[test]
fn the_body_takes_its_seeds() {
    let seeds = std::fs::read_dir("../../fuzz/corpus-seed/arrow_batches").unwrap();
    let count = seeds.map(|seed| harness::run(&std::fs::read(seed.unwrap().path()).unwrap())).count();
    assert!(count > 100, "{count} seeds");
}

#[test]
fn nothing_of_an_aligned_file_is_copied() {
    let mut seen = [0; 3];
    for golden in common::all().iter().filter(|golden| golden.by_any() && golden.path.is_file()) {
        let formats = ["jay", "filo", "vortex"];
        let Some(format) = formats.iter().position(|format| *format == golden.format) else { continue };
        opened(golden, |file, bytes| {
            let options = ReadOptions { bytes: bytes.cloned(), ..ReadOptions::default() };
            let mut reader = read(file.table(None).unwrap(), options).unwrap();
            // Children of lists in several chunks are joined.
            if reader.schema().fields().iter().any(|field| field.data_type().is_nested()) {
                return 0;
            }
            assert!(reader.all(|batch| batch.is_ok()));
            assert_eq!(reader.copied_bytes(), 0, "{}", golden.name);
            seen[format] += 1;
            1
        });
    }
    assert!(seen.iter().all(|count| *count > 30), "{seen:?}");
}

#[test]
fn numbers_are_decoded_to_where_they_stay() {
    let mut seen = [0; 2];
    for golden in common::all().iter().filter(|golden| golden.by_any() && golden.path.is_file()) {
        // Files that have the numbers themselves, and rows from which they are gathered.
        let Some(format) = ["jay", "dataseries"].iter().position(|format| *format == golden.format) else { continue };
        opened(golden, |file, bytes| {
            for table in file.tables() {
                let Ok(table) = file.table(Some(table)) else { continue };
                let options = ReadOptions { bytes: bytes.cloned(), ..ReadOptions::default() };
                let Ok(mut reader) = read(table, options) else { continue };
                let schema = reader.schema();
                // The numbers of a view are picked by indices.
                if golden.name.contains("view") || !schema.fields().iter().all(|field| field.data_type().is_primitive())
                {
                    continue;
                }
                let rows: Vec<_> = reader.by_ref().map(|batch| batch.unwrap().num_rows().div_ceil(8)).collect();
                let bits = schema.fields().len() * rows.iter().sum::<usize>();
                assert!(reader.compacted_bytes() <= bits as u64, "{}: {}", golden.name, reader.compacted_bytes());
                seen[format] += 1;
            }
            1
        });
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
}

#[test]
fn kept_batches_take_little_more_than_their_values() {
    let (mut all, mut wrong) = ((0, 0), Vec::new());
    for golden in common::all().iter().filter(|golden| golden.by_any()) {
        opened(golden, |file, _| {
            for name in file.tables() {
                let Ok(table) = file.table(Some(name)) else { continue };
                let batches: Vec<_> = read(table, ReadOptions::default()).unwrap().map(Result::unwrap).collect();
                let fields =
                    batches.first().map(|batch| batch.schema()).unwrap_or_else(|| arrow_schema::Schema::empty().into());
                let is_of_numbers = fields.fields().iter().all(|field| field.data_type().is_primitive());
                let (kept, values, buffers) = sizes::of(&batches);
                all = (all.0 + kept, all.1 + values);
                let mut check = |kept: usize, values: usize, spare: usize| {
                    if kept > values * 115 / 100 + spare {
                        wrong.push(format!("{}: {kept} bytes for {values}, of {spare} spare", golden.name));
                    }
                };
                // Small buffers are rounded up to 64 bytes.
                check(kept, values, 64 * buffers);
                drop(batches);
                // The memory of a batch that is dropped serves the next one. Texts of several batches share theirs.
                if !is_of_numbers {
                    continue;
                }
                let table = file.table(Some(name)).unwrap();
                for batch in read(table, ReadOptions { batch_rows: 999, ..ReadOptions::default() }).unwrap() {
                    let (kept, values, buffers) = sizes::of(&[batch.unwrap()]);
                    // Such memory has a whole number of words.
                    check(kept, values, (64 + 16) * buffers);
                }
            }
            1
        });
    }
    println!("{} bytes for {}", all.0, all.1);
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}
