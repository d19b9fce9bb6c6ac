//! Datasets that are changed in place: rows, columns and attributes, and what a crash leaves of each change.

use crate::common;

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pilaster::any::{Format, Hints, Owned};
use pilaster::bcolz::chunk::Params;
use pilaster::bcolz::write::{Builder, Disk, Editor, FileSystem, Spec, WriteOptions, Writer};
use pilaster::bcolz::{Array, Cause, Dataset, Dtype, Failure, open_file};
use pilaster::bytes::Scratch;
use pilaster::column::convert;
use pilaster::error::{Kind, What};

const FAST: FileSystem = FileSystem { durable: false };

/// Returns a path that does not exist, in a directory of its own.
fn place(name: &str) -> PathBuf {
    let dir = common::tmp().join("bcolz_edit").join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir.join("dataset")
}

/// The rows of an array: the bytes of all, or of each object.
fn rows_of(dataset: &Dataset, array: &Array) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for number in 0..array.chunks() {
        let bytes = fs::read(array.chunk_path(number)).unwrap();
        let chunk = open_file(&bytes).unwrap();
        let (mut rows, mut memory) = (vec![0; chunk.nbytes()], vec![0; chunk.scratch_len()]);
        chunk.decode(&mut rows, &mut Scratch::new(&mut memory)).unwrap();
        let counted = (dataset.rows() - number * array.chunklen()).min(array.chunklen());
        if array.dtype() != Dtype::Object {
            rows.truncate(counted as usize * row_len(array));
        }
        all.push(rows);
    }
    if array.dtype() == Dtype::Object { all } else { vec![all.concat()] }
}

fn row_len(array: &Array) -> usize {
    array.shape().items().unwrap() as usize * array.dtype().size() as usize
}

#[derive(Debug, PartialEq)]
struct State {
    rows: u64,
    attrs: String,
    columns: Vec<(String, Vec<Vec<u8>>)>,
}

/// What a reader sees, of a dataset that must be valid.
fn state(dir: &Path) -> State {
    let dataset = Dataset::open(dir).unwrap_or_else(|e| panic!("{e}"));
    dataset.verify().unwrap_or_else(|e| panic!("{e}"));
    State {
        rows: dataset.rows(),
        attrs: String::from_utf8(dataset.attrs().to_vec()).unwrap(),
        columns: dataset.arrays().iter().map(|a| (a.name().to_owned(), rows_of(&dataset, a))).collect(),
    }
}

/// A table of 10 rows, in chunks of 4, 3 and 1.
fn table(dir: &Path, objects: bool) {
    let mut writer = Writer::create_table(FAST, dir, b"{\"unit\": \"m\", \"n\": [1, {\"x\": null}]}\n").unwrap();
    writer.add("a", &Spec { chunklen: Some(4), dflt: Some("-1"), ..Spec::new("int16") }).unwrap();
    writer.add("b", &Spec { chunklen: Some(3), dflt: Some("\"z\""), ..Spec::new("|S1") }).unwrap();
    if objects {
        writer.add("c", &Spec::new("object")).unwrap();
    }
    for row in 0..10u8 {
        writer.put(0, &[row, 0]).unwrap();
        writer.put(1, &[b'a' + row]).unwrap();
        if objects {
            writer.put_object(2, &vec![7; row.into()]).unwrap();
        }
    }
    writer.finish().unwrap();
}

/// An array of the numbers 0 to `rows`, beside the dataset.
fn column(dir: &Path, rows: u8) -> PathBuf {
    let new = dir.with_file_name("column");
    let _ = fs::remove_dir_all(&new);
    let mut writer = Writer::create_array(FAST, &new, &Spec { chunklen: Some(4), ..Spec::new("uint8") }).unwrap();
    writer.put(0, &(0..rows).collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap();
    new
}

/// Fails at one operation, having done half of it if it can, and does nothing from then on: a crash.
#[derive(Debug)]
struct Crash {
    left: Rc<Cell<usize>>,
}

impl Crash {
    fn after(operations: usize) -> Crash {
        Crash { left: Rc::new(Cell::new(operations)) }
    }

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
        // Half of it: the first entry.
        if self.left.get() == 0
            && let Some(Ok(entry)) = fs::read_dir(path)?.next()
        {
            let _ = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
        }
        self.next()?;
        FAST.clone().remove_dir_all(path)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.next()?;
        FAST.clone().remove_file(path)
    }

    fn copy(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.next()?;
        FAST.clone().copy(from, to)
    }
}

type Change = fn(&mut dyn Disk, &Path) -> Result<(), Failure>;

fn overwrite(disk: &mut dyn Disk, dir: &Path, first: u64, columns: &[(usize, usize)]) -> Result<(), Failure> {
    let mut writer = Writer::overwrite(disk, dir, first)?;
    for (k, rows) in columns {
        for row in 0..*rows {
            match k {
                0 => writer.put(0, &[200, row as u8])?,
                1 => writer.put(1, b"X")?,
                _ => writer.put_object(2, &vec![9; row + 20])?,
            }
        }
    }
    writer.finish()
}

const CHANGES: &[(&str, Change)] = &[
    ("trim", |disk, dir| Editor::open(disk, dir)?.trim(3)),
    ("trim to whole chunks", |disk, dir| Editor::open(disk, dir)?.trim(2)),
    ("trim all", |disk, dir| Editor::open(disk, dir)?.resize(0)),
    ("set", |disk, dir| Editor::open(disk, dir)?.set_attr("unit", "\"km\"")),
    ("set new", |disk, dir| Editor::open(disk, dir)?.set_attr("k", "[1.5]")),
    ("remove", |disk, dir| Editor::open(disk, dir)?.remove_attr("n")),
    ("drop", |disk, dir| Editor::open(disk, dir)?.drop_column("b")),
    ("drop the first", |disk, dir| Editor::open(disk, dir)?.drop_column("a")),
    ("add", |disk, dir| {
        let column = column(dir, 10);
        Editor::open(disk, dir)?.add_column("d", column)
    }),
    ("one chunk", |disk, dir| overwrite(disk, dir, 5, &[(0, 2)])),
    ("chunks of one column", |disk, dir| overwrite(disk, dir, 1, &[(0, 9)])),
    ("one row of all columns", |disk, dir| overwrite(disk, dir, 9, &[(0, 1), (1, 1), (2, 1)])),
    ("all rows", |disk, dir| overwrite(disk, dir, 0, &[(0, 10), (1, 10), (2, 10)])),
    ("objects", |disk, dir| overwrite(disk, dir, 2, &[(2, 3)])),
    ("one object", |disk, dir| overwrite(disk, dir, 2, &[(2, 1)])),
];

/// Each change, with a crash at each of its operations: the old state or the new one; again with a crash while the
/// next writer cleans up; then the change itself, and other rows.
fn crash_everywhere(name: &str, change: Change, objects: bool) -> usize {
    let dir = place(&name.replace(' ', "_"));
    let fresh = || {
        let _ = fs::remove_dir_all(dir.parent().unwrap());
        fs::create_dir_all(dir.parent().unwrap()).unwrap();
        table(&dir, objects);
    };
    fresh();
    let old = state(&dir);
    change(&mut FAST.clone(), &dir).unwrap_or_else(|e| panic!("{name}: {e}"));
    let new = state(&dir);
    assert_ne!(old, new);
    let mut reverted = true;
    for crash in 0.. {
        fresh();
        let done = change(&mut Crash::after(crash), &dir);
        let now = state(&dir);
        // From the old state to the new one, once.
        reverted &= now == old;
        assert_eq!(&now, if reverted { &old } else { &new }, "{name}, operation {crash}");
        for again in [0, 1, 2, 5] {
            let _ = Editor::open(Crash::after(again), &dir);
            assert_eq!(state(&dir), now, "{name}, operations {crash} and {again}");
        }
        Editor::open(FAST, &dir).unwrap();
        let left: Vec<_> = fs::read_dir(dir.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(
            left.iter().all(|path| path == &dir || path.ends_with("column")),
            "{name}, operation {crash}: {left:?}"
        );
        if done.is_ok() {
            assert!(!reverted && crash > 1);
            return crash;
        }
        if reverted {
            change(&mut FAST.clone(), &dir).unwrap_or_else(|e| panic!("{name}, operation {crash}: {e}"));
            assert_eq!(state(&dir), new, "{name}, operation {crash}");
        }
        // Rows are appended to either state.
        let rows = state(&dir).rows;
        let dataset = Dataset::open(&dir).unwrap();
        let mut memory = vec![0; dataset.need().unwrap() as usize + (1 << 16)];
        let mut builder = Builder::append(FAST, &dir, &WriteOptions::DEFAULT).unwrap();
        convert(&mut dataset.table(), &mut builder, &mut Scratch::new(&mut memory)).unwrap();
        builder.finish().unwrap();
        assert_eq!(state(&dir).rows, 2 * rows, "{name}, operation {crash}");
    }
    unreachable!()
}

#[test]
fn a_crash_at_every_operation_of_every_change() {
    let mut operations = 0;
    for (name, change) in CHANGES {
        operations += crash_everywhere(name, *change, true);
    }
    operations += crash_everywhere("grow", |disk, dir| Editor::open(disk, dir)?.resize(17), false);
    assert!(operations > 200, "{operations}");
}

#[test]
fn rows_are_trimmed_and_grow_with_the_default() {
    let dir = place("resize");
    table(&dir, false);
    let mut editor = Editor::open(FAST, &dir).unwrap();
    editor.trim(3).unwrap();
    assert_eq!((editor.dataset().rows(), dir.join("a/data/__2.blp").exists()), (7, false));
    editor.resize(9).unwrap();
    editor.resize(9).unwrap();
    editor.trim(0).unwrap();
    let State { columns, .. } = state(&dir);
    assert_eq!(columns[0].1[0], [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 255, 255, 255, 255]);
    assert_eq!(columns[1].1[0], b"abcdefgzz");
    let sizes = fs::read_to_string(dir.join("a/meta/sizes")).unwrap();
    assert!(sizes.starts_with("{\"shape\": [9], \"nbytes\": 18, "), "{sizes}");
    editor.resize(0).unwrap();
    assert_eq!(fs::read_dir(dir.join("b/data")).unwrap().count(), 0);
    editor.resize(2).unwrap();
    assert_eq!(state(&dir).columns[1].1[0], b"zz");

    let kind = |e: Failure| match e.cause {
        Cause::Format(e) => (e.kind(), e.what()),
        e => panic!("{e:?}"),
    };
    assert_eq!(kind(editor.trim(3).unwrap_err()), (Kind::OutOfRange, What::BCOLZ_ROWS));
    assert_eq!(kind(editor.resize(1 << 50).unwrap_err()), (Kind::Limit, What::MAX_ROWS));
    // Objects have no default value; they can be trimmed.
    let dir = place("resize_objects");
    table(&dir, true);
    let mut editor = Editor::open(FAST, &dir).unwrap();
    assert_eq!(kind(editor.resize(11).unwrap_err()), (Kind::Unsupported, What::BCOLZ_DTYPE));
    editor.trim(9).unwrap();
    assert_eq!(state(&dir).columns[2].1, [Vec::<u8>::new()]);
    assert_eq!(fs::read_dir(dir.join("c/data")).unwrap().count(), 1);
}

/// Every golden, which the original wrote: grown and trimmed again, and all rows overwritten by others.
#[test]
fn goldens_are_changed() {
    let (mut grown, mut overwritten) = (0, 0);
    for golden in common::of("bcolz").into_iter().filter(|golden| golden.path.is_dir()) {
        let (name, dir) = (&golden.name, place("golden"));
        common::copy(&golden.path, &dir);
        let mut editor = Editor::open(FAST, &dir).unwrap();
        let (old, rows) = (state(&dir), editor.dataset().rows());
        let lens: Vec<usize> = editor.dataset().arrays().iter().map(row_len).collect();
        if !lens.contains(&0) {
            editor.resize(rows + 7).unwrap_or_else(|e| panic!("{name}: {e}"));
            let new = state(&dir);
            assert_eq!(new.rows, rows + 7, "{name}");
            for ((old, new), len) in old.columns.iter().zip(&new.columns).zip(&lens) {
                let (kept, added) = new.1[0].split_at(old.1[0].len());
                assert!(kept == old.1[0] && added.len() == 7 * len, "{name}");
                assert!(added.chunks(*len).all(|row| row == &added[..*len]), "{name}");
            }
            editor.trim(7).unwrap();
            assert!(state(&dir) == old, "{name}");
            grown += 1;
        }
        // In a range that begins and ends inside of chunks.
        for (first, end) in [(0, rows), (1, rows.saturating_sub(1)), (rows / 2, rows / 2 + 1)] {
            if first >= end || end > rows {
                continue;
            }
            let mut writer = Writer::overwrite(FAST, &dir, first).unwrap();
            let mut expected = state(&dir);
            for (k, (_, column)) in expected.columns.iter_mut().enumerate() {
                let (first, end) = (first as usize, end as usize);
                if lens[k] == 0 {
                    column[first..end].reverse();
                    column[first..end].iter().for_each(|object| writer.put_object(k, object).unwrap());
                    continue;
                }
                let (chosen, quantize) = (&mut column[0][first * lens[k]..end * lens[k]], name.contains("quantize"));
                let texts = Dataset::open(&dir).unwrap().arrays()[k].dtype_text().contains('U');
                if quantize || texts {
                    chosen.fill(0);
                } else {
                    chosen.iter_mut().for_each(|byte| *byte ^= 1);
                }
                writer.put(k, chosen).unwrap();
            }
            writer.finish().unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(state(&dir) == expected, "{name}, rows {first}..{end}");
            overwritten += 1;
        }
    }
    assert!(grown > 60 && overwritten > 180, "{grown} and {overwritten}");
}

/// Rows of other files, by the names of their columns.
#[test]
fn rows_of_a_table_overwrite_others() {
    let dir = place("builder");
    table(&dir, false);
    let other = dir.with_file_name("other");
    let mut writer = Writer::create_table(FAST, &other, b"").unwrap();
    writer.add("b", &Spec::new("|S1")).unwrap();
    writer.put(0, b"XYZ").unwrap();
    writer.finish().unwrap();
    let source = Dataset::open(&other).unwrap();
    let mut memory = vec![0; source.need().unwrap() as usize + (1 << 16)];
    for (first, expected) in [(2, Some(b"abXYZfghij")), (7, Some(b"abXYZfgXYZ")), (8, None), (u64::MAX, None)] {
        let old = state(&dir);
        let mut builder = Builder::overwrite(FAST, &dir, first, &WriteOptions::DEFAULT).unwrap();
        convert(&mut source.table(), &mut builder, &mut Scratch::new(&mut memory)).unwrap();
        match (builder.finish(), expected) {
            (Ok(()), Some(expected)) => assert_eq!(state(&dir).columns[1].1[0], expected),
            (Err(e), None) => {
                assert!(matches!(e.cause, Cause::Format(e) if e.kind() == Kind::OutOfRange), "{e}");
                assert_eq!(state(&dir), old);
            }
            other => panic!("{first}: {other:?}"),
        }
    }
    // A column that the dataset does not have, and one of another type.
    for (name, dtype) in [("x", "|S1"), ("a", "|S1"), ("b", "int8")] {
        let other = place("another");
        let mut writer = Writer::create_table(FAST, &other, b"").unwrap();
        writer.add(name, &Spec::new(dtype)).unwrap();
        writer.put(0, b"X").unwrap();
        writer.finish().unwrap();
        let mut builder = Builder::overwrite(FAST, &dir, 0, &WriteOptions::DEFAULT).unwrap();
        let source = Dataset::open(&other).unwrap();
        let mut memory = vec![0; source.need().unwrap() as usize + (1 << 16)];
        assert!(convert(&mut source.table(), &mut builder, &mut Scratch::new(&mut memory)).is_err(), "{name}");
    }
    // Columns of different lengths; no rows at all.
    assert!(overwrite(&mut FAST.clone(), &dir, 0, &[(0, 2), (1, 3)]).unwrap_err().to_string().contains("row count"));
    overwrite(&mut FAST.clone(), &dir, 99, &[]).unwrap();
    assert_eq!(state(&dir).columns[1].1[0], b"abXYZfgXYZ");
}

/// Damaged chunks: overwriting all of their rows repairs them, overwriting some is an error that changes nothing.
#[test]
fn damaged_chunks_are_overwritten() {
    let dir = place("damaged");
    table(&dir, false);
    fs::write(dir.join("a/data/__1.blp"), b"junk").unwrap();
    for (first, rows) in [(5, 2), (3, 4)] {
        let e = overwrite(&mut FAST.clone(), &dir, first, &[(0, rows)]).unwrap_err();
        assert_eq!(e.path, dir.join("a/data/__1.blp"));
        assert_eq!(fs::read_dir(dir.parent().unwrap()).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 4);
    }
    overwrite(&mut FAST.clone(), &dir, 3, &[(0, 6)]).unwrap();
    assert_eq!(state(&dir).columns[0].1[0][6..18], [200, 0, 200, 1, 200, 2, 200, 3, 200, 4, 200, 5]);
}

#[test]
fn columns_are_added_and_removed() {
    let dir = place("columns");
    table(&dir, false);
    let mut editor = Editor::open(FAST, &dir).unwrap();
    editor.add_column("prix €", column(&dir, 10)).unwrap();
    assert!(!dir.with_file_name("column").exists());
    let list = fs::read_to_string(dir.join("__rootdirs__")).unwrap();
    assert_eq!(list, "{\"names\": [\"a\", \"b\", \"prix \\u20ac\"]}\n");
    let cause = |e: Failure| match e.cause {
        Cause::Format(e) => e.kind(),
        Cause::Io(e) if e.kind() == io::ErrorKind::AlreadyExists => Kind::Misuse,
        e => panic!("{e:?}"),
    };
    fs::create_dir(dir.join("notes")).unwrap();
    fs::write(dir.join("text"), b"").unwrap();
    for (name, rows, kind) in [
        ("a", 10, Kind::Invalid),
        ("c", 9, Kind::Invalid),
        ("..", 10, Kind::Invalid),
        ("x/y", 10, Kind::Invalid),
        ("__attrs__", 10, Kind::Invalid),
        ("notes", 10, Kind::Misuse),
        ("text", 10, Kind::Misuse),
    ] {
        let from = column(&dir, rows);
        assert_eq!(cause(editor.add_column(name, &from).unwrap_err()), kind, "{name}");
        assert!(from.exists() && editor.dataset().arrays().len() == 3, "{name}");
    }
    // A table is not a column, and an array has none.
    let other = place("columns_other");
    table(&other, false);
    assert_eq!(cause(editor.add_column("t", &other).unwrap_err()), Kind::Misuse);
    let mut array = Editor::open(FAST, column(&dir, 10)).unwrap();
    assert_eq!(cause(array.add_column("t", column(&other, 10)).unwrap_err()), Kind::Misuse);
    assert_eq!(cause(array.drop_column("").unwrap_err()), Kind::Misuse);

    editor.drop_column("a").unwrap();
    assert_eq!(cause(editor.drop_column("a").unwrap_err()), Kind::Unknown);
    editor.drop_column("prix €").unwrap();
    assert_eq!(cause(editor.drop_column("b").unwrap_err()), Kind::Misuse);
    let names: Vec<_> = editor.dataset().arrays().iter().map(Array::name).collect();
    assert_eq!((names, dir.join("a").exists(), dir.join("notes").exists()), (vec!["b"], false, true));
    // Rows that do not count in other columns do not count when the first one is removed.
    let dir = place("surplus");
    table(&dir, false);
    fs::write(dir.join("a/meta/sizes"), "{\"shape\": [7], \"nbytes\": 14, \"cbytes\": 8}").unwrap();
    Editor::open(FAST, &dir).unwrap().drop_column("a").unwrap();
    assert_eq!(state(&dir).columns, [("b".to_owned(), vec![b"abcdefg".to_vec()])]);
}

#[test]
fn attributes_are_set_and_removed() {
    let dir = place("attrs");
    table(&dir, false);
    let mut editor = Editor::open(FAST, &dir).unwrap();
    let attrs = || fs::read_to_string(dir.join("__attrs__")).unwrap();
    editor.set_attr("unit", " {\"a\": \"é🦀\"} ").unwrap();
    assert_eq!(attrs(), "{\"unit\": {\"a\": \"\\u00e9\\ud83e\\udd80\"}, \"n\": [1, {\"x\": null}]}\n");
    editor.set_attr("é\"", "NaN").unwrap();
    editor.remove_attr("n").unwrap();
    assert_eq!(attrs(), "{\"unit\": {\"a\": \"\\u00e9\\ud83e\\udd80\"}, \"\\u00e9\\\"\": NaN}\n");
    editor.set_attr("é\"", "2").unwrap();
    for (name, json) in [("x", ""), ("x", "{"), ("x", "1 2"), ("x", "'a'"), ("x", "1}")] {
        let old = attrs();
        assert!(editor.set_attr(name, json).is_err(), "{json}");
        assert_eq!(attrs(), old);
    }
    let e = editor.remove_attr("absent").unwrap_err();
    assert!(
        matches!(e.cause, Cause::Format(e) if e.kind() == Kind::Unknown) && e.to_string().contains("absent"),
        "{e}"
    );
    editor.remove_attr("é\"").unwrap();
    editor.remove_attr("unit").unwrap();
    assert_eq!(attrs(), "{}\n");
    // Without the file, which some writers leave out; with a name in escapes, and the same name twice.
    fs::remove_file(dir.join("__attrs__")).unwrap();
    let mut editor = Editor::open(FAST, &dir).unwrap();
    assert!(editor.remove_attr("a").is_err() && !dir.join("__attrs__").exists());
    editor.set_attr("a", "1").unwrap();
    assert_eq!(attrs(), "{\"a\": 1}\n");
    fs::write(dir.join("__attrs__"), "{ \"\\u0061\" :1 , \"b\":2,\"a\": 3 }").unwrap();
    let mut editor = Editor::open(FAST, &dir).unwrap();
    editor.set_attr("a", "4").unwrap();
    assert_eq!(attrs(), "{\"a\": 4, \"b\": 2}\n");
    fs::write(dir.join("__attrs__"), "[]").unwrap();
    assert!(Editor::open(FAST, &dir).unwrap().set_attr("a", "4").is_err());
}

/// A dataset of one array, whose directory itself is replaced; links, other files and modes stay.
#[cfg(unix)]
#[test]
fn links_files_and_modes_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let dir = place("links");
    let spec = Spec { chunklen: Some(2), params: Params::DEFAULT, ..Spec::new("int8") };
    let mut writer = Writer::create_array(FAST, &dir, &spec).unwrap();
    writer.put(0, &[1, 2, 3, 4, 5, 6]).unwrap();
    writer.finish().unwrap();
    // The chunks are elsewhere, and the dataset is a link.
    let (elsewhere, link) = (dir.with_file_name("elsewhere"), dir.with_file_name("link"));
    fs::rename(dir.join("data"), &elsewhere).unwrap();
    symlink("../elsewhere", dir.join("data")).unwrap();
    symlink("dataset", &link).unwrap();
    fs::create_dir_all(dir.join("notes/a/b/c/d")).unwrap();
    fs::write(dir.join("notes/a/b/c/d/text"), b"mine").unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o750)).unwrap();
    let before = fs::read(elsewhere.join("__0.blp")).unwrap();

    let mut writer = Writer::overwrite(FAST, &link, 1).unwrap();
    writer.put(0, &[20, 30]).unwrap();
    writer.finish().unwrap();
    assert_eq!(state(&dir).columns[0].1[0], [1, 20, 30, 4, 5, 6]);
    assert!(link.is_symlink() && !dir.is_symlink());
    assert_eq!(fs::read(elsewhere.join("__0.blp")).unwrap(), before);
    assert_eq!(fs::read(dir.join("notes/a/b/c/d/text")).unwrap(), b"mine");
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o750);

    // A directory that cannot be written is not replaced, either.
    fs::set_permissions(dir.join("data"), fs::Permissions::from_mode(0o555)).unwrap();
    let mut writer = Writer::overwrite(FAST, &dir, 1).unwrap();
    writer.put(0, &[21, 31]).unwrap();
    let e = writer.finish().unwrap_err();
    assert!(matches!(&e.cause, Cause::Io(e) if e.kind() == io::ErrorKind::PermissionDenied), "{e}");
    assert!(e.path.ends_with("data") && fs::read_dir(dir.parent().unwrap()).unwrap().count() == 3, "{e}");
    fs::set_permissions(dir.join("data"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(state(&dir).columns[0].1[0], [1, 20, 30, 4, 5, 6]);
}

/// Between the two renames that replace a directory, a dataset is the old one, by every way to open it.
#[test]
fn a_dataset_between_two_names() {
    let dir = place("between");
    table(&dir, false);
    let old = state(&dir);
    fs::rename(&dir, dir.with_file_name("dataset.pilaster-old")).unwrap();
    fs::create_dir(dir.with_file_name("dataset.pilaster-new")).unwrap();
    assert_eq!(state(&dir), old);
    assert_eq!(state(&dir.join("")), old);
    let mut owned = Owned::open(&dir, &Hints::default()).unwrap();
    assert_eq!(owned.file().unwrap().format(), Format::Bcolz);
    assert!(Dataset::open(dir.with_file_name("other")).is_err());
    Editor::open(FAST, dir.join("")).unwrap();
    assert!(dir.join("__attrs__").exists() && fs::read_dir(dir.parent().unwrap()).unwrap().count() == 1);
    assert_eq!(state(&dir), old);
}
