//! Verdicts on datasets: what `verify` accepts can be read by every way, and the work is bounded by the files.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pilaster::any::{File, Format, Hints};
use pilaster::bcolz::write::{FileSystem, Spec, Writer, recover};
use pilaster::bcolz::{Cause, Dataset};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Table as _, Values};
use pilaster::error::{Kind, What};
use pilaster::limits::Limits;

use crate::common;

const FAST: FileSystem = FileSystem { durable: false };

fn place(name: &str) -> PathBuf {
    let dir = common::tmp().join("bcolz_verdicts");
    fs::create_dir_all(&dir).unwrap();
    let _ = fs::remove_dir_all(dir.join(name));
    dir.join(name)
}

/// States `rows` rows of an array of one dimension.
fn state(dir: &Path, rows: u64) {
    fs::write(dir.join("meta/sizes"), format!("{{\"shape\": [{rows}], \"nbytes\": 0, \"cbytes\": 0}}")).unwrap();
}

fn tolerant(dir: &Path) -> (Dataset, Vec<(String, Range<u64>, String)>) {
    let dataset = Dataset::open_tolerant(dir, |failure| panic!("{failure}")).unwrap();
    let mut said = Vec::new();
    dataset.problems(|array, rows, failure| said.push((array.name().to_owned(), rows, failure.to_string())));
    (dataset, said)
}

/// A table that states 2^40 rows, and has chunks at the start and at row [`FAR`]. Column `b` contains objects, and `c`
/// has large chunks.
const FAR: u64 = 3 << 36;

fn endless(name: &str) -> PathBuf {
    let dir = place(name);
    let mut writer = Writer::create_table(FAST, &dir, b"{}").unwrap();
    writer.add("a", &Spec { chunklen: Some(2), ..Spec::new("int32") }).unwrap();
    writer.add("b", &Spec::new("object")).unwrap();
    writer.add("c", &Spec { chunklen: Some(1 << 20), ..Spec::new("int8") }).unwrap();
    for row in 0..4i32 {
        writer.put(0, &row.to_le_bytes()).unwrap();
        writer.put_object(1, &row.to_le_bytes()).unwrap();
    }
    writer.put(2, &[7; 4]).unwrap();
    writer.finish().unwrap();
    for (from, to) in [
        ("a/data/__1.blp", format!("a/data/__{}.blp", FAR / 2)),
        ("b/data/__3.blp", format!("b/data/__{}.blp", FAR + 1)),
    ] {
        fs::copy(dir.join(from), dir.join(to)).unwrap();
    }
    for number in 1..4 {
        fs::remove_file(dir.join(format!("b/data/__{number}.blp"))).unwrap();
    }
    // A full chunk of the third column, which is the last that is stated.
    let full = place(&format!("{name}_full"));
    let mut writer = Writer::create_array(FAST, &full, &Spec { chunklen: Some(1 << 20), ..Spec::new("int8") }).unwrap();
    writer.put(0, &vec![9; 1 << 20]).unwrap();
    writer.finish().unwrap();
    for number in [0, FAR >> 20] {
        fs::copy(full.join("data/__0.blp"), dir.join(format!("c/data/__{number}.blp"))).unwrap();
    }
    ["a", "b", "c"].iter().for_each(|column| state(&dir.join(column), 1 << 40));
    dir
}

#[test]
fn missing_chunks_are_one_range() {
    let dir = endless("endless");
    assert!(Dataset::open(&dir).unwrap().verify().is_err());
    let (dataset, said) = tolerant(&dir);
    let ranges: Vec<_> = said.iter().map(|(name, rows, _)| (name.as_str(), rows.clone())).collect();
    let end = 1 << 40;
    assert_eq!(
        ranges,
        [
            ("a", 4..FAR),
            ("a", FAR + 2..end),
            ("b", 1..FAR + 1),
            ("b", FAR + 2..end),
            ("c", 1 << 20..FAR),
            ("c", FAR + (1 << 20)..end)
        ]
    );
    assert!(said[0].2.contains("a/data/__2.blp"), "{said:?}");
    assert_eq!(dataset.rows(), end);
    // The number of chunks does not count, nor does the number of rows of a part.
    let need = dataset.need().unwrap();
    assert!(need < 100 << 20, "{need}");
    let mut memory = vec![0; need as usize];
    let (mut scratch, mut table) = (Scratch::new(&mut memory), dataset.table());
    for (first, expected) in [(0, [1, 1, 1, 1, 0]), (FAR, [1, 1, 0, 0, 0])] {
        table.restart().unwrap();
        let skipped = table.skip(first).unwrap();
        assert!(skipped <= first && first - skipped < 1 << 20);
        let part = table.next_part(&mut scratch.scope()).unwrap().unwrap();
        let (column, from) = (part.column(0).unwrap(), first - skipped);
        let mut memory = [0; 100];
        let batch = column.read(from..from + 5, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!([0, 1, 2, 3, 4].map(|i| u8::from(batch.validity.get(i))), expected, "{first}");
    }
    // Rows 0 and FAR + 1 are in every column.
    let to = place("endless_recovered");
    assert_eq!(recover(&dataset, &to).unwrap(), 2);
    let clean = Dataset::open(&to).unwrap();
    clean.verify().unwrap();
    assert_eq!(clean.rows(), 2);
}

/// Rows without a chunk at all, and without a directory.
#[test]
fn rows_without_chunks() {
    for (name, dtype) in [("numbers", "int32"), ("objects", "object")] {
        let dir = place(name);
        Writer::create_array(FAST, &dir, &Spec { chunklen: Some(1), ..Spec::new(dtype) }).unwrap().finish().unwrap();
        state(&dir, 1_000_000_000_000);
        for there in [true, false] {
            let (dataset, said) = tolerant(&dir);
            assert_eq!((said.len(), said[0].1.clone()), (1, 0..1_000_000_000_000));
            assert!(said[0].2.contains("__0.blp"), "{said:?}");
            assert!(dataset.need().unwrap() < 1 << 20);
            let to = place("recovered");
            assert_eq!(recover(&dataset, &to).unwrap(), 0);
            if there {
                fs::remove_dir(dir.join("data")).unwrap();
            }
        }
    }
}

/// File names that are not chunks, or chunks after the rows that count.
#[test]
fn files_that_do_not_count() {
    let dir = place("names");
    let mut writer = Writer::create_array(FAST, &dir, &Spec { chunklen: Some(2), ..Spec::new("int8") }).unwrap();
    writer.put(0, &[1, 2, 3, 4, 5]).unwrap();
    writer.finish().unwrap();
    let data = dir.join("data");
    for name in ["__01.blp", "__+1.blp", "__1.blp.partial", "__3.blp", "__99999999999999999999999.blp", "x", "__.blp"] {
        fs::write(data.join(name), b"junk").unwrap();
    }
    assert_eq!(tolerant(&dir).1, []);
    fs::remove_file(data.join("__1.blp")).unwrap();
    let (_, said) = tolerant(&dir);
    assert!(said.len() == 1 && said[0].1 == (2..4), "{said:?}");
}

#[test]
fn reported_problems_are_limited() {
    let dir = place("many");
    Writer::create_array(FAST, &dir, &Spec { chunklen: Some(1), ..Spec::new("int8") }).unwrap().finish().unwrap();
    state(&dir, 20_000);
    for number in 0..10_002 {
        fs::write(dir.join(format!("data/__{number}.blp")), b"").unwrap();
    }
    let limits = Limits { max_problems: 10_000, ..Limits::DEFAULT };
    let dataset = Dataset::open_tolerant(&dir, |_| {}).unwrap().with_limits(limits);
    let mut said = Vec::new();
    dataset.problems(|_, rows, failure| said.push((rows, failure)));
    assert_eq!(said.len(), 10_001);
    let (rows, failure) = said.pop().unwrap();
    assert_eq!(rows, 10_000..20_000);
    assert!(matches!(failure.cause, Cause::Format(e) if e.kind() == Kind::Limit && e.need() == 10_000), "{failure}");
}

/// The texts "a", a number that is no character, and "b", as `dtype` with one field before them if it is a record.
fn texts(name: &str, dtype: &str, inner: &[u64], code: u32) -> PathBuf {
    let dir = place(name);
    let spec = Spec { chunklen: Some(2), inner, ..Spec::new(dtype) };
    let mut writer = Writer::create_array(FAST, &dir, &spec).unwrap();
    for code in [u32::from(b'a'), code, u32::from(b'b')] {
        let field = if dtype.contains("i2") { &[1, 2][..] } else { &[] };
        writer.put(0, &[field, &code.to_le_bytes()].concat().repeat(1 + inner.len())).unwrap();
    }
    writer.finish().unwrap();
    dir
}

/// Whether each row of the innermost column can be read alone, and all rows together.
fn verdicts(dataset: &Dataset) -> (Vec<bool>, bool) {
    let (mut memory, mut alone, mut together) = (vec![0; dataset.need().unwrap() as usize], Vec::new(), true);
    let (mut scratch, mut table) = (Scratch::new(&mut memory), dataset.table());
    while let Some(part) = table.next_part(&mut scratch.scope()).unwrap() {
        let mut column = part.column(0).unwrap();
        while column.ty().children() > 0 {
            column = column.child(column.ty().children() - 1).unwrap();
        }
        let read = |rows: Range<u64>| {
            let mut memory = vec![0; column.need(rows.clone()).unwrap() as usize];
            let batch = column.read(rows, &mut Scratch::new(&mut memory)).ok()?;
            let Values::Utf8(texts) = batch.values else { panic!() };
            let text = |i| if batch.validity.get(i) { texts.text(i).ok() } else { None };
            Some((0..batch.len).map(|i| text(i).map(str::to_owned)).collect::<Vec<_>>())
        };
        let all = read(0..column.rows());
        together &= all.is_some();
        for row in 0..column.rows() {
            let one = read(row..row + 1);
            if let (Some(all), Some(one)) = (&all, &one) {
                assert_eq!(all[row as usize], one[0], "row {row}");
            }
            alone.push(one.is_some_and(|one| dataset.is_tolerant() || one[0].is_some()));
        }
    }
    (alone, together)
}

#[test]
fn texts_that_cannot_be_read_are_refused() {
    for (dtype, inner) in [
        ("<U1", &[][..]),
        ("<U1", &[2]),
        ("[('n', '<i2'), ('t', '<U1')]", &[]),
        ("[('r', [('n', '<i2'), ('t', '<U1')])]", &[]),
        ("[('n', '<i2'), ('t', '<U1')]", &[2]),
    ] {
        for (code, valid) in [(0x10_ffff, true), (0x11_0000, false), (0xd800, false), (u32::MAX, false), (0, true)] {
            let dir = texts("texts", dtype, inner, code);
            let dataset = Dataset::open(&dir).unwrap();
            let (alone, together) = verdicts(&dataset);
            let verdict = dataset.verify();
            assert_eq!((alone.iter().all(|one| *one), together, verdict.is_ok()), (valid, valid, valid), "{dtype}");
            if let Err(failure) = verdict {
                let width = 1 + inner.len() as u64;
                assert_eq!(failure.path, dir.join("data/__0.blp"));
                assert!(
                    matches!(failure.cause, Cause::Format(e) if (e.kind(), e.what(), e.at()) == (Kind::Invalid, What::TEXT, width)),
                    "{failure}"
                );
            }
            // A tolerant reader returns a missing value, whatever the batch.
            let (dataset, said) = tolerant(&dir);
            let (alone, together) = verdicts(&dataset);
            assert!(together && alone.iter().all(|one| *one), "{dtype}");
            let ranges: Vec<_> = said.into_iter().map(|(_, rows, _)| (rows.start, rows.end)).collect();
            assert_eq!(ranges, if valid { vec![] } else { vec![(0, 2)] });
        }
    }
}

/// Texts among the items of a single chunk.
#[test]
fn texts_of_a_chunk() {
    for (code, valid) in [(u32::from(b'x'), true), (0x11_0000, false)] {
        let dir = texts("chunk", "<U1", &[], code);
        let file = fs::read(dir.join("data/__0.blp")).unwrap();
        let verify = |dtype| {
            let hints = Hints { dtype: Some(dtype), ..Hints::default() };
            let mut memory = vec![0; 4096];
            let mut scratch = Scratch::new(&mut memory);
            File::open(&file[16..], Format::Bcolz, &hints, &mut Scratch::new(&mut [])).unwrap().verify(&mut scratch)
        };
        assert_eq!(verify("<U1").is_ok(), valid);
        assert!(verify("uint8").is_ok());
    }
}

#[test]
fn skipping_parts() {
    let dir = place("skip");
    let mut writer = Writer::create_array(FAST, &dir, &Spec { chunklen: Some(4), ..Spec::new("int8") }).unwrap();
    writer.put(0, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    writer.finish().unwrap();
    let dataset = Dataset::open(&dir).unwrap();
    let mut memory = vec![0; dataset.need().unwrap() as usize];
    let mut scratch = Scratch::new(&mut memory);
    for rows in 0..12 {
        let mut table = dataset.table();
        let skipped = table.skip(rows).unwrap();
        assert_eq!(skipped, if rows >= 10 { 10 } else { rows / 4 * 4 });
        let part = table.next_part(&mut scratch.scope()).unwrap().map(|part| part.rows());
        assert_eq!(part, if skipped == 10 { None } else { Some(4.min(10 - skipped)) });
        assert_eq!(table.skip(100).unwrap(), 10u64.saturating_sub(skipped + part.unwrap_or(0)));
    }
}

#[test]
fn the_limits_of_a_dataset_bound_what_is_checked() {
    let dir = place("limits");
    let mut writer = Writer::create_table(FAST, &dir, b"{}").unwrap();
    for name in ["a", "b"] {
        writer.add(name, &Spec { chunklen: Some(4), ..Spec::new("int16") }).unwrap();
    }
    for column in [0, 1] {
        writer.put(column, &[1; 2 * 10]).unwrap();
    }
    writer.finish().unwrap();
    let limited = |limits| Dataset::open(&dir).unwrap().with_limits(limits);
    // Three chunks of 8 bytes in each of two columns; the last chunks are incomplete.
    let sound = limited(Limits { max_file_rows: 10, max_file_decoded: 2 * 20, ..Limits::DEFAULT });
    sound.verify().unwrap();
    sound.problems(|_, rows, failure| panic!("{rows:?}: {failure}"));
    let cases = [
        (Limits { max_file_rows: 9, ..Limits::DEFAULT }, What::MAX_FILE_ROWS, "a", 8..10),
        (Limits { max_file_decoded: 2 * 20 - 1, ..Limits::DEFAULT }, What::MAX_FILE_DECODED, "b", 8..10),
        (Limits { max_file_decoded: 8, ..Limits::DEFAULT }, What::MAX_FILE_DECODED, "a", 4..10),
    ];
    for (limits, what, column, lost) in cases {
        let dataset = limited(limits);
        let Cause::Format(e) = dataset.verify().unwrap_err().cause else { panic!("of the format") };
        assert_eq!((e.kind(), e.what()), (Kind::Limit, what));
        let mut said = Vec::new();
        dataset.problems(|array, rows, _| said.push((array.name().to_owned(), rows)));
        assert_eq!(said, [(column.to_owned(), lost)], "the rest is not looked at");
    }
    // One problem is reported, then the rest of the column.
    for number in [0, 2] {
        fs::write(dir.join(format!("a/data/__{number}.blp")), b"junk").unwrap();
    }
    let mut said = Vec::new();
    limited(Limits { max_problems: 1, ..Limits::DEFAULT }).problems(|_, rows, failure| said.push((rows, failure)));
    assert_eq!(said.len(), 2);
    assert_eq!((&said[0].0, &said[1].0), (&(0..4), &(8..10)));
    let Cause::Format(e) = &said[1].1.cause else { panic!("of the format") };
    assert_eq!((e.kind(), e.what()), (Kind::Limit, What::MAX_PROBLEMS));
}
