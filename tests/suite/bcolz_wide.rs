//! Datasets of many columns and many chunks: only the files are opened that the rows of the chosen columns take.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pilaster::bcolz::Dataset;
use pilaster::bcolz::write::{Disk, Spec, Writer};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Memory, Part as _, Prim, Table, Type, convert};
use pilaster::error::Kind;
use pilaster::jay;
use pilaster::unstable::bcolz_store::{Store, open};

/// Files in memory. Counts how many are read, and how many directories are listed.
#[derive(Debug, Default)]
struct Files {
    all: BTreeMap<PathBuf, Vec<u8>>,
    reads: AtomicU64,
    lists: AtomicU64,
}

impl Files {
    /// Returns the number of files that were read since the last call.
    fn reads(&self) -> u64 {
        self.reads.swap(0, Ordering::Relaxed)
    }
}

impl Store for Files {
    fn read(&self, path: &Path, to: &mut Vec<u8>) -> io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        to.extend_from_slice(self.all.get(path).ok_or(io::ErrorKind::NotFound)?);
        Ok(())
    }

    fn list(&self, dir: &Path, each: &mut dyn FnMut(&OsStr)) -> io::Result<()> {
        self.lists.fetch_add(1, Ordering::Relaxed);
        let inside = self.all.range(dir.to_owned()..).take_while(|(path, _)| path.starts_with(dir));
        inside.filter_map(|(path, _)| path.file_name()).for_each(each);
        Ok(())
    }

    fn exists(&self, path: &Path) -> bool {
        self.all.range(path.to_owned()..).next().is_some_and(|(first, _)| first.starts_with(path))
    }
}

impl Disk for Files {
    fn create_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.all.insert(path.into(), bytes.into());
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let moved = |path: PathBuf| path.strip_prefix(from).map(|rest| to.join(rest)).unwrap_or(path);
        let files = std::mem::take(&mut self.all);
        self.all = files.into_iter().map(|(path, bytes)| (moved(path), bytes)).collect();
        Ok(())
    }

    fn sync_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_dir_all(&mut self, _: &Path) -> io::Result<()> {
        unreachable!("nothing fails")
    }
}

const DIR: &str = "no-such-directory/wide";

/// A table with a column of `rows` rows per spec. A number is its row plus 1000 times its column.
fn table(specs: &[Spec<'_>], rows: u64) -> (Arc<Files>, Dataset) {
    let mut files = Files::default();
    let mut writer = Writer::create_table(&mut files, DIR, b"{}").unwrap();
    for (k, spec) in specs.iter().enumerate() {
        let k = writer.add(&format!("c{k}"), spec).unwrap();
        for row in 0..rows {
            match spec.dtype {
                "object" => writer.put_object(k, &vec![k as u8; 1 + row as usize % 5]).unwrap(),
                _ => writer.put(k, &(row + 1000 * k as u64).to_le_bytes()).unwrap(),
            }
        }
    }
    writer.finish().unwrap();
    let files = Arc::new(files);
    let dataset = open(files.clone(), Path::new(DIR), None).unwrap();
    (files, dataset)
}

fn numbers(chunklen: u64) -> Spec<'static> {
    Spec { chunklen: Some(chunklen), ..Spec::new("int64") }
}

const COLUMNS: u64 = 100;
const CHUNKS: u64 = 20;

fn wide() -> (Arc<Files>, Dataset) {
    table(&vec![numbers(4); COLUMNS as usize], 4 * CHUNKS)
}

#[test]
fn the_types_of_all_columns_take_no_chunk() {
    let (files, dataset) = wide();
    assert_eq!(files.reads(), 2 * COLUMNS + 2, "two files per column, the names, the attributes");
    assert_eq!(files.lists.load(Ordering::Relaxed), 0);
    dataset.need().unwrap();
    let (mut table, mut memory) = (dataset.table(), vec![0; 64 * COLUMNS as usize]);
    assert!(table.choose(Some(&[])) && table.lists("c99") && !table.lists("c100"));
    let mut scratch = Scratch::new(&mut memory);
    let part = table.next_part(&mut scratch).unwrap().unwrap();
    assert_eq!((part.width(), part.rows(), part.name(99)), (100, 4, Ok("c99")));
    let column = part.column(99).unwrap();
    assert_eq!((column.ty(), column.rows()), (Type::Prim(Prim::I64), 0));
    assert_eq!(column.read(0..1, &mut Scratch::new(&mut [])).unwrap_err().kind(), Kind::OutOfRange);
    assert_eq!(files.reads(), 0);
}

#[test]
fn only_the_chunks_of_the_rows_of_a_chosen_column_are_read() {
    let (files, dataset) = wide();
    files.reads();
    let (mut table, mut memory) = (dataset.table(), vec![0; dataset.need().unwrap() as usize]);
    table.choose(Some(&[7]));
    assert_eq!(table.skip(41).unwrap(), 40);
    let part = table.next_part(&mut Scratch::new(&mut memory)).unwrap().unwrap();
    assert_eq!(part.column(7).unwrap().to_vec::<i64>(0..4), Ok(vec![7040, 7041, 7042, 7043]));
    assert_eq!(part.column(8).unwrap().rows(), 0);
    assert_eq!(files.reads(), 1);

    let all: Vec<i64> = table.to_vec("c3").unwrap();
    assert_eq!((all.len() as u64, all[79]), (4 * CHUNKS, 3079));
    assert_eq!(files.reads(), CHUNKS);

    // The choice of `to_vec` ends with it.
    table.restart().unwrap();
    let part = table.next_part(&mut Scratch::new(&mut memory)).unwrap().unwrap();
    assert!((0..part.width()).all(|k| part.column(k).unwrap().rows() == 4));
    assert_eq!(files.reads(), COLUMNS);
}

#[test]
fn each_chunk_is_read_once_by_a_builder_of_columns() {
    let (files, dataset) = wide();
    files.reads();
    let mut builder = jay::write::Builder::new(Vec::new(), &jay::write::WriteOptions::DEFAULT).unwrap();
    let mut memory = vec![0; dataset.need().unwrap() as usize + 4096];
    convert(&mut dataset.table(), &mut builder, &mut Scratch::new(&mut memory)).unwrap();
    let bytes = builder.finish().unwrap();
    // The last column is followed by the question whether there is another one.
    assert!((COLUMNS * CHUNKS..COLUMNS * CHUNKS + 10).contains(&files.reads()));
    let mut memory = vec![0; 1 << 16];
    let file = jay::File::open(&bytes, &jay::ReadOptions::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
    assert_eq!(file.named("c42").unwrap().to_vec::<i64>(78..80), Ok(vec![42078, 42079]));
}

/// Reads all parts in exactly the memory that is stated. Returns the number of parts.
fn parts(dataset: &Dataset) -> u64 {
    let (mut table, mut memory) = (dataset.table(), vec![0; dataset.need().unwrap() as usize]);
    let (mut parts, mut rows) = (0, 0);
    while let Some(part) = table.next_part(&mut Scratch::new(&mut memory)).unwrap() {
        (parts, rows) = (parts + 1, rows + part.rows());
    }
    assert_eq!(rows, dataset.rows());
    parts
}

#[test]
fn many_columns_of_objects() {
    let (files, dataset) = table(&vec![Spec::new("object"); 150], 60);
    files.reads();
    let mut table = dataset.table();
    let mut memory = Memory::default();
    let first = loop {
        match table.next_part(&mut memory.scratch()) {
            Ok(part) => break part.unwrap().rows(),
            Err(e) => memory.grow(e).unwrap(),
        }
    };
    // 150 x 27 = 4050 files, each of which is opened for its size and for its bytes. Once more if memory was too small.
    assert_eq!(first, 27);
    assert!(files.reads() <= 3 * 4096);
    assert_eq!(parts(&dataset), 3);
    dataset.verify().unwrap();
}

#[test]
fn a_part_with_short_chunks_beside_long_ones_opens_few_files() {
    let (files, dataset) = table(&[numbers(1), numbers(1), numbers(10_000)], 10_000);
    files.reads();
    assert_eq!(parts(&dataset), 5);
    // The long chunk is read once per part.
    assert_eq!(files.reads(), 2 * 10_000 + 5);
}
