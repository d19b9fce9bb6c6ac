//! Damaged datasets: what can be read of them is read, the rest is missing and told of.

use std::fs;
use std::path::{Path, PathBuf};

use pilaster::bcolz::chunk::Params;
use pilaster::bcolz::write::{FileSystem, Spec, Writer, recover};
use pilaster::bcolz::{Compressor, Dataset, Shuffle};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Table as _, Values};

use crate::common;

/// Rows of a chunk, of each of several blocks.
const CHUNK: u64 = 4000;
const ROWS: i32 = 10_000;

fn place(name: &str) -> PathBuf {
    let dir = common::tmp().join("bcolz_salvage");
    fs::create_dir_all(&dir).unwrap();
    let _ = fs::remove_dir_all(dir.join(name));
    dir.join(name)
}

/// Numbers that tell where they stand, beside objects.
fn table(name: &str, params: Params) -> PathBuf {
    let dir = place(name);
    let mut writer = Writer::create_table(FileSystem { durable: false }, &dir, b"{\"a\": 1}").unwrap();
    let spec = Spec { params, chunklen: Some(CHUNK), dflt: Some("7"), ..Spec::new("int32") };
    for name in ["a", "b"] {
        let k = writer.add(name, &spec).unwrap();
        (0..ROWS).for_each(|row| writer.put(k, &row.to_le_bytes()).unwrap());
    }
    writer.finish().unwrap();
    dir
}

const PARAMS: Params =
    Params { compressor: Compressor::Lz4, level: 5, shuffle: Shuffle::Byte, typesize: 4, blocksize: None };

/// Every row of column `b` that has a value; each must be the one that was written.
fn there(dataset: &Dataset, k: usize) -> Vec<(i32, i32)> {
    let mut memory = vec![0x77; dataset.need().unwrap() as usize];
    let (mut scratch, mut table, mut runs, mut row) = (Scratch::new(&mut memory), dataset.table(), Vec::new(), 0);
    while let Some(part) = table.next_part(&mut scratch.scope()).unwrap() {
        let column = part.column(k).unwrap();
        assert!(column.nullable());
        let mut memory = vec![0; column.need(0..part.rows()).unwrap() as usize];
        let batch = column.read(0..part.rows(), &mut Scratch::new(&mut memory)).unwrap();
        let Values::I32(values) = batch.values else { panic!() };
        for (i, value) in values.iter().enumerate() {
            if batch.validity.get(i) {
                assert_eq!(*value, row);
                match runs.last_mut() {
                    Some((_, end)) if *end == row => *end += 1,
                    _ => runs.push((row, row + 1)),
                }
            }
            row += 1;
        }
    }
    runs
}

fn tolerant(dir: &Path) -> (Dataset, Vec<String>) {
    let mut said = Vec::new();
    let dataset = Dataset::open_tolerant(dir, |failure| said.push(failure.to_string())).unwrap();
    dataset.problems(|array, rows, failure| said.push(format!("{} {rows:?} {failure}", array.name())));
    (dataset, said)
}

#[test]
fn a_missing_chunk() {
    let dir = table("missing", PARAMS);
    fs::remove_file(dir.join("b/data/__1.blp")).unwrap();
    assert!(Dataset::open(&dir).unwrap().verify().is_err());
    let (dataset, said) = tolerant(&dir);
    assert_eq!((there(&dataset, 0), there(&dataset, 1)), (vec![(0, 10_000)], vec![(0, 4000), (8000, 10_000)]));
    assert!(said.len() == 1 && said[0].starts_with("b 4000..8000") && said[0].contains("b/data/__1.blp"), "{said:?}");

    // The rows that both have, and everything else as it was.
    let to = place("missing_recovered");
    assert_eq!(recover(&dataset, &to).unwrap(), 6000);
    let clean = Dataset::open(&to).unwrap();
    clean.verify().unwrap();
    assert_eq!((clean.rows(), clean.attrs()), (6000, &b"{\"a\": 1}"[..]));
    for array in ["a", "b"] {
        let storage = format!("{array}/meta/storage");
        assert_eq!(fs::read(to.join(&storage)).unwrap(), fs::read(dir.join(&storage)).unwrap());
    }
}

/// A cut chunk yields the rows before the cut; a chunk with a wrong byte yields the blocks around it.
#[test]
fn cut_and_changed_chunks() {
    for (name, params) in [
        ("copy", Params { level: 0, ..PARAMS }),
        ("blocks", Params { blocksize: Some(480), ..PARAMS }),
        ("bits", Params { blocksize: Some(480), shuffle: Shuffle::Bit, compressor: Compressor::Blosclz, ..PARAMS }),
    ] {
        let dir = table(name, params);
        let chunk = dir.join("b/data/__1.blp");
        let whole = fs::read(&chunk).unwrap();
        let (mut some, mut all) = (0, 0);
        for len in (0..whole.len()).step_by(whole.len() / 50) {
            fs::write(&chunk, &whole[..len]).unwrap();
            let (dataset, said) = tolerant(&dir);
            let runs = there(&dataset, 1);
            assert!(said.len() == 1 && said[0].contains("b/data/__1.blp"), "{said:?}");
            assert_eq!((runs[0].0, runs.last().unwrap().1), (0, 10_000));
            let kept: i32 = runs.iter().map(|run| run.1 - run.0).sum::<i32>() - 6000;
            assert!((0..4000).contains(&kept), "{name}: {kept} rows of {len} bytes");
            some += i32::from(kept > 0);
            all += 1;
        }
        assert!(some > all * 3 / 4, "{name}: {some} of {all}");

        // The length of a stream in the middle, which no decoder gets past.
        let mut changed = whole.clone();
        if name != "copy" {
            let at = 32 + 4 * 7;
            let start = u32::from_le_bytes(whole[at..at + 4].try_into().unwrap()) as usize + 16;
            changed[start..start + 4].fill(0xff);
            fs::write(&chunk, &changed).unwrap();
            let (dataset, said) = tolerant(&dir);
            let runs = there(&dataset, 1);
            let block = params.blocksize.unwrap() as i32 / 4;
            let lost = runs[1].0 - runs[0].1;
            assert!(runs.len() == 2 && runs[0].1 > 4000 && lost == block, "{name}: {runs:?}");
            assert_eq!(said.len(), 1);
        }
    }
}

#[test]
fn columns_that_are_short_or_have_no_metadata() {
    let dir = table("short", PARAMS);
    fs::write(dir.join("b/meta/sizes"), "{\"shape\": [9000], \"nbytes\": 0, \"cbytes\": 0}").unwrap();
    assert!(Dataset::open(&dir).is_err());
    let (dataset, said) = tolerant(&dir);
    assert_eq!((there(&dataset, 0), there(&dataset, 1)), (vec![(0, 10_000)], vec![(0, 9000)]));
    assert!(said.len() == 1 && said[0].starts_with("b 9000..10000"), "{said:?}");
    // The first column is the short one: all rows that any has.
    fs::write(dir.join("a/meta/sizes"), "{\"shape\": [0], \"nbytes\": 0, \"cbytes\": 0}").unwrap();
    let (dataset, _) = tolerant(&dir);
    assert_eq!((there(&dataset, 0), there(&dataset, 1)), (vec![], vec![(0, 9000)]));
    fs::remove_file(dir.join("a/meta/storage")).unwrap();
    let (dataset, said) = tolerant(&dir);
    assert_eq!((dataset.arrays().len(), there(&dataset, 0)), (1, vec![(0, 9000)]));
    assert!(said.len() == 1 && said[0].contains("a/meta/storage"), "{said:?}");
    fs::remove_file(dir.join("b/meta/sizes")).unwrap();
    assert!(Dataset::open_tolerant(&dir, |_| ()).is_err());
}

/// Lists and objects; one column is lost.
#[test]
fn lists_and_objects() {
    let dir = place("lists");
    let mut writer = Writer::create_table(FileSystem { durable: false }, &dir, b"").unwrap();
    let pairs = writer.add("pairs", &Spec { inner: &[2], chunklen: Some(2), ..Spec::new("int16") }).unwrap();
    let wide = writer.add("wide", &Spec { chunklen: Some(8), ..Spec::new("int8") }).unwrap();
    let object = writer.add("object", &Spec::new("object")).unwrap();
    for row in 0..5u8 {
        writer.put(pairs, &[row, 0, row, 1]).unwrap();
        writer.put(wide, &[row]).unwrap();
        writer.put_object(object, &[row; 3]).unwrap();
    }
    writer.finish().unwrap();
    fs::remove_file(dir.join("pairs/data/__0.blp")).unwrap();
    fs::remove_file(dir.join("object/data/__3.blp")).unwrap();
    let (dataset, said) = tolerant(&dir);
    assert_eq!(said.len(), 2);
    let mut memory = vec![0; dataset.need().unwrap() as usize];
    let (mut scratch, mut table) = (Scratch::new(&mut memory), dataset.table());
    let part = table.next_part(&mut scratch).unwrap().unwrap();
    let valid = |column: pilaster::bcolz::Column<'_>| {
        let mut memory = vec![0; column.need(0..column.rows()).unwrap() as usize];
        let batch = column.read(0..column.rows(), &mut Scratch::new(&mut memory)).unwrap();
        (0..batch.len).map(|i| u8::from(batch.validity.get(i))).collect::<Vec<_>>()
    };
    let pairs = part.column(pairs).unwrap();
    assert_eq!((part.rows(), valid(pairs)), (5, vec![0, 0, 1, 1, 1]));
    assert_eq!(valid(pairs.child(0).unwrap()), [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
    assert_eq!(valid(part.column(object).unwrap()), [1, 1, 1, 0, 1]);
    let to = place("lists_recovered");
    assert_eq!(recover(&dataset, &to).unwrap(), 2);
    Dataset::open(&to).unwrap().verify().unwrap();
}
