//! Datasets that are written: the goldens again, appended rows, and what a crash leaves.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pilaster::bcolz::write::{Builder, Disk, FileSystem, Missing, Spec, WriteOptions, Writer};
use pilaster::bcolz::{Dataset, Dtype, open_file};
use pilaster::bytes::Scratch;
use pilaster::column::{Part as _, Table as _, convert};

use crate::common;

const FAST: FileSystem = FileSystem { durable: false };

/// A place where nothing is.
fn place(name: &str) -> PathBuf {
    let dir = common::tmp().join("bcolz_write");
    fs::create_dir_all(&dir).unwrap();
    let dir = dir.join(name);
    for dir in [dir.clone(), dir.with_file_name(format!("{name}.partial"))] {
        let _ = fs::remove_dir_all(dir);
    }
    dir
}

/// The bytes of all rows of each array: of objects, of each row.
fn rows(dir: &Path) -> Vec<Vec<Vec<u8>>> {
    let dataset = Dataset::open(dir).unwrap_or_else(|e| panic!("{e}"));
    let column = |array: &pilaster::bcolz::Array| {
        let mut all = Vec::new();
        for number in 0..array.chunks() {
            let bytes = fs::read(array.chunk_path(number)).unwrap();
            let chunk = open_file(&bytes).unwrap();
            let (mut rows, mut memory) = (vec![0; chunk.nbytes()], vec![0; chunk.scratch_len()]);
            chunk.decode(&mut rows, &mut Scratch::new(&mut memory)).unwrap();
            let counted = dataset.rows().saturating_sub(number * array.chunklen()).min(array.chunklen())
                * array.shape().items().unwrap()
                * u64::from(array.dtype().size());
            if array.dtype() != Dtype::Object {
                rows.truncate(counted as usize);
            }
            all.push(rows);
        }
        match array.dtype() {
            Dtype::Object => all,
            _ => vec![all.concat()],
        }
    };
    dataset.arrays().iter().map(column).collect()
}

fn goldens() -> Vec<(String, Dataset)> {
    let all = common::of("bcolz").into_iter().filter(|golden| golden.path.is_dir());
    all.map(|golden| (golden.name.replace('/', "_"), Dataset::open(&golden.path).unwrap())).collect()
}

/// `meta/storage` of an array as what it is created with.
fn again(array: &pilaster::bcolz::Array, dflt: &str, attrs: &[u8], put: impl FnOnce(&Spec<'_>)) {
    let text = fs::read_to_string(array.dir().join("meta/storage")).unwrap();
    let json = ["NaN", "-Infinity", "Infinity"].iter().fold(text, |text, bare| text.replace(bare, "null"));
    let expected: serde_json::Value = serde_json::from_str(&json).unwrap();
    put(&Spec {
        dtype: array.dtype_text(),
        inner: array.shape().inner(),
        params: *array.params(),
        chunklen: Some(expected["chunklen"].as_u64().unwrap()),
        expectedlen: expected["expectedlen"].as_u64().unwrap(),
        quantize: array.quantize(),
        dflt: Some(dflt),
        attrs,
    });
}

/// Every golden, written again from its rows, in one go and in pieces: the same metadata, byte for byte, and the
/// same rows.
#[test]
fn goldens_again() {
    for (name, dataset) in goldens() {
        let all = rows(dataset.dir());
        let to = place(&name);
        let mut writer = dataset.is_table().then(|| Writer::create_table(FAST, &to, dataset.attrs()).unwrap());
        for (k, array) in dataset.arrays().iter().enumerate() {
            let storage = fs::read_to_string(array.dir().join("meta/storage")).unwrap();
            let mut dflt = storage.split("\"dflt\": ").nth(1).unwrap().trim_end().strip_suffix('}').unwrap();
            if name.contains("legacy") {
                dflt = "0";
            }
            let attrs = if dataset.is_table() { b"" } else { dataset.attrs() };
            again(array, dflt, attrs, |spec| match &mut writer {
                Some(writer) => assert_eq!(writer.add(array.name(), spec).unwrap(), k),
                writer => *writer = Some(Writer::create_array(FAST, &to, spec).unwrap()),
            });
            let writer = writer.as_mut().unwrap();
            for bytes in &all[k] {
                if array.dtype() == Dtype::Object {
                    writer.put_object(k, bytes).unwrap();
                    continue;
                }
                // In pieces of one row, of two, and so on; then the rest.
                let row = array.shape().items().unwrap() as usize * array.dtype().size() as usize;
                let (mut rest, mut count) = (&bytes[..], 0);
                while !rest.is_empty() {
                    count += 1;
                    let (now, more) =
                        rest.split_at(if count > 20 { rest.len() } else { (count * row).min(rest.len()) });
                    writer.put(k, now).unwrap();
                    rest = more;
                }
            }
        }
        assert!(!to.exists(), "{name} is there before it is finished");
        writer.unwrap().finish().unwrap();
        Dataset::open(&to).unwrap().verify().unwrap();
        assert!(rows(&to) == all, "{name}");
        for file in common::files(&to) {
            let inside = file.strip_prefix(&to).unwrap();
            let (ours, theirs) = (fs::read(&file).unwrap(), fs::read(dataset.dir().join(inside)).unwrap());
            let (ours, theirs) = (String::from_utf8_lossy(&ours), String::from_utf8_lossy(&theirs));
            let compressed = inside.to_str().unwrap().contains("data/");
            if inside.ends_with("sizes") {
                // How large chunks are is the encoder's choice.
                let shape = |text: &str| text.split("\"cbytes\"").next().map(str::to_owned);
                assert_eq!(shape(&ours), shape(&theirs), "{name}");
            } else if !compressed && !name.contains("legacy") {
                assert_eq!(ours, theirs, "{name}: {}", inside.display());
            }
        }
    }
}

/// Every golden through the traits: its columns are what they were.
#[test]
fn goldens_converted_and_appended() {
    for (name, dataset) in goldens() {
        let to = place(&format!("converted_{name}"));
        let options = WriteOptions {
            missing: Missing::Refuse,
            chunklen: Some((dataset.rows() / 7).max(30)),
            ..WriteOptions::DEFAULT
        };
        for round in 1..=2 {
            let mut builder = match round {
                1 => Builder::create(FAST, &to, &options),
                _ => Builder::append(FAST, &to, &options).unwrap(),
            };
            let mut memory = vec![0; dataset.need().unwrap() as usize + (1 << 16)];
            convert(&mut dataset.table(), &mut builder, &mut Scratch::new(&mut memory)).unwrap();
            builder.finish().unwrap_or_else(|e| panic!("{name}: {e}"));
            let converted = Dataset::open(&to).unwrap();
            assert_eq!(
                (converted.rows(), converted.is_table()),
                (dataset.rows() * round, dataset.is_table()),
                "{name}"
            );
        }
        // Numbers become native, records packed.
        let native = dataset.arrays().iter().all(|array| !array.dtype_text().contains(['>', '{']));
        // Texts are as wide as the longest there is.
        let texts = |array: &pilaster::bcolz::Array| array.dtype_text().contains(['S', 'U']);
        if native && !dataset.arrays().iter().any(texts) {
            let once = rows(dataset.dir());
            let twice: Vec<Vec<Vec<u8>>> = once
                .iter()
                .zip(dataset.arrays())
                .map(|(rows, array)| match array.dtype() {
                    Dtype::Object => [&rows[..], &rows[..]].concat(),
                    _ => vec![rows[0].repeat(2)],
                })
                .collect();
            assert!(rows(&to) == twice, "{name}");
        }
    }
}

/// Fails at one operation, having done half of it if it can, and does nothing from then on: a crash.
#[derive(Debug)]
struct Crash {
    left: Rc<Cell<usize>>,
}

impl Crash {
    fn next(&self) -> io::Result<()> {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        if left == 0 { Err(io::Error::other("a crash")) } else { Ok(()) }
    }
}

impl Disk for Crash {
    fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        self.next()?;
        FAST.clone().create_dir(path)
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let dead = self.left.get() == 0;
        let half = if dead { &bytes[..bytes.len() / 2] } else { bytes };
        if !dead || path.parent().is_some_and(Path::exists) {
            FAST.clone().write(path, half)?;
        }
        self.next()
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.next()?;
        FAST.clone().rename(from, to)
    }

    fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        self.next()?;
        FAST.clone().sync_dir(path)
    }

    fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        self.next()?;
        FAST.clone().remove_dir_all(path)
    }
}

fn table(disk: impl Disk, dir: &Path) -> Result<(), pilaster::bcolz::Failure> {
    let mut writer = Writer::create_table(disk, dir, b"")?;
    writer.add("a", &Spec { chunklen: Some(4), ..Spec::new("int16") })?;
    writer.add("b", &Spec { chunklen: Some(3), ..Spec::new("|S1") })?;
    writer.add("c", &Spec::new("object"))?;
    more(writer, 0, 5)
}

fn more<D: Disk>(mut writer: Writer<D>, from: i16, count: i16) -> Result<(), pilaster::bcolz::Failure> {
    for row in from..from + count {
        writer.put(0, &row.to_le_bytes())?;
        writer.put(1, &[b'a' + row as u8])?;
        writer.put_object(2, &vec![7; row as usize])?;
    }
    writer.finish()
}

fn holds(dir: &Path, count: i16) -> bool {
    let expected = vec![
        vec![(0..count).flat_map(i16::to_le_bytes).collect()],
        vec![(0..count).map(|row| b'a' + row as u8).collect()],
        (0..count).map(|row| vec![7; row as usize]).collect(),
    ];
    rows(dir) == expected
}

#[test]
fn a_crash_at_every_operation_leaves_the_old_dataset() {
    let dir = place("crash");
    // New ones: there, or not.
    let mut operations = 0;
    for crash in 0.. {
        place("crash");
        let left = Rc::new(Cell::new(crash));
        let done = table(Crash { left }, &dir);
        if dir.exists() {
            assert!(holds(&dir, 5), "operation {crash}");
        } else {
            assert!(done.is_err());
        }
        if done.is_ok() {
            operations = crash;
            break;
        }
    }
    assert!(operations > 20);
    // Rows appended that end before, in and after a chunk: the dataset has the old rows, or all; and again.
    for count in [1, 3] {
        let mut old = true;
        for crash in 0.. {
            place("crash");
            table(FAST, &dir).unwrap();
            let left = Rc::new(Cell::new(crash));
            let done = Writer::append(Crash { left }, &dir).and_then(|writer| more(writer, 5, count));
            let rows = if old && holds(&dir, 5) { 5 } else { 5 + count };
            old &= rows == 5;
            assert!(holds(&dir, rows), "{count} rows, operation {crash}");
            Dataset::open(&dir).unwrap().verify().unwrap();
            // The next append works, and can crash as well.
            for again in [crash / 2, usize::MAX] {
                let left = Rc::new(Cell::new(again));
                let next = Writer::append(Crash { left }, &dir).and_then(|writer| more(writer, rows, 2));
                let rows = if next.is_ok() || holds(&dir, rows + 2) { rows + 2 } else { rows };
                assert!(holds(&dir, rows), "{count} rows, operations {crash} and {again}");
                if next.is_ok() {
                    break;
                }
            }
            if done.is_ok() {
                assert!(!old);
                break;
            }
        }
    }
}

#[test]
fn what_cannot_be_written() {
    let dir = place("wrong");
    let wrong = |spec: &Spec<'_>| {
        let e = Writer::create_array(FAST, &dir, spec).map(|_| ()).unwrap_err();
        // Nothing is left of it.
        assert!(!dir.exists() && !dir.with_file_name("wrong.partial").exists());
        e.to_string()
    };
    assert!(wrong(&Spec::new("complex64")).contains("bcolz dtype"));
    assert!(wrong(&Spec { chunklen: Some(0), ..Spec::new("int8") }).contains("chunklen"));
    assert!(wrong(&Spec { chunklen: Some(1 << 31), ..Spec::new("int8") }).contains("chunklen"));
    assert!(wrong(&Spec { inner: &[0], ..Spec::new("int8") }).contains("shape"));
    assert!(wrong(&Spec { inner: &[2], ..Spec::new("object") }).contains("shape"));
    assert!(wrong(&Spec { dflt: Some("{} {}"), ..Spec::new("int8") }).contains("json"));
    assert!(wrong(&Spec { attrs: b"[]", ..Spec::new("int8") }).contains("json"));

    let mut writer = Writer::create_table(FAST, &dir, b"").unwrap();
    for name in ["", "..", "a/b", "__attrs__"] {
        assert!(writer.add(name, &Spec::new("int8")).is_err(), "{name}");
    }
    writer.add("a", &Spec::new("int16")).unwrap();
    assert!(writer.add("a", &Spec::new("int16")).is_err());
    assert!(writer.put(0, &[1]).is_err() && writer.put(1, &[]).is_err() && writer.put_object(0, b"").is_err());
    writer.add("b", &Spec::new("int8")).unwrap();
    writer.put(1, &[1]).unwrap();
    assert!(writer.finish().unwrap_err().to_string().contains("row count"));
    assert!(!dir.exists() && !dir.with_file_name("wrong.partial").exists());

    table(FAST, &dir).unwrap();
    let e = Writer::create_table(FAST, &dir, b"").map(|_| ()).unwrap_err();
    assert!(matches!(e.cause, pilaster::bcolz::Cause::Io(e) if e.kind() == io::ErrorKind::AlreadyExists));
    assert!(holds(&dir, 5));
}

/// A column that has more rows than the first: they do not count.
#[test]
fn rows_that_do_not_count() {
    let dir = place("surplus");
    table(FAST, &dir).unwrap();
    fs::write(dir.join("a/meta/sizes"), "{\"shape\": [3], \"nbytes\": 6, \"cbytes\": 8}").unwrap();
    let dataset = Dataset::open(&dir).unwrap();
    assert_eq!((dataset.rows(), dataset.arrays()[1].surplus(), dataset.arrays()[1].shape().rows()), (3, 2, 3));
    dataset.verify().unwrap();
    assert!(holds(&dir, 3));
    let mut memory = vec![0; dataset.need().unwrap() as usize + 64];
    assert_eq!(dataset.table().next_part(&mut Scratch::new(&mut memory)).unwrap().unwrap().rows(), 3);
}
