//! A dataset whose files are parts of the input: opened strictly and tolerantly, verified, read in every batch, and
//! recovered; also through the interface over all formats.
//!
//! A file is a byte that names it, its length in two bytes, and its contents. The two highest bits of the name choose
//! the directory, the others the file: 0 `meta/sizes`, 1 `meta/storage`, 2 `__attrs__`, 3 `__rootdirs__`, above them
//! the chunks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use pilaster::any;
use pilaster::bcolz::write::Disk;
use pilaster::bcolz::{Cause, Dataset, Dtype};
use pilaster::bytes::Scratch;
use pilaster::column::{Column, Part, Table, Type, fit};
use pilaster::error::Result;
use pilaster::unstable::bcolz_recover::recover_to;
use pilaster::unstable::bcolz_store::{Store, open};

use super::any_file;

/// The directories of an array, and of the columns of a table.
const DIRS: [&str; 4] = ["", "a", "b", "c"];
const FILES: [&str; 4] = ["meta/sizes", "meta/storage", "__attrs__", "__rootdirs__"];
/// The largest chunk that is decoded, in bytes: a small file may state any size.
const CHUNK: u32 = 1 << 16;
/// The most memory that a part is read in, in bytes.
const MEMORY: u64 = 1 << 20;
/// A directory that is nowhere on a disk.
pub const ROOT: &str = "no-such-directory/dataset";

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct Files(pub BTreeMap<PathBuf, Vec<u8>>);

impl Store for Files {
    fn read(&self, path: &Path, to: &mut Vec<u8>) -> io::Result<()> {
        to.extend_from_slice(self.0.get(path).ok_or(io::ErrorKind::NotFound)?);
        Ok(())
    }

    fn list(&self, dir: &Path, each: &mut dyn FnMut(&OsStr)) -> io::Result<()> {
        let inside = self.0.keys().filter(|path| path.parent() == Some(dir));
        inside.filter_map(|path| path.file_name()).for_each(each);
        Ok(())
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.keys().any(|file| file.starts_with(path))
    }
}

/// Files in memory that are written.
#[derive(Clone, Default)]
pub struct Written(pub Rc<RefCell<Files>>);

impl Disk for Written {
    fn create_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().0.insert(path.into(), bytes.into());
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let moved = |path: PathBuf| path.strip_prefix(from).map(|rest| to.join(rest)).unwrap_or(path);
        let files = self.0.take().0;
        self.0.replace(Files(files.into_iter().map(|(path, bytes)| (moved(path), bytes)).collect()));
        Ok(())
    }

    fn sync_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        self.0.borrow_mut().0.retain(|file, _| !file.starts_with(path));
        Ok(())
    }
}

/// The input that has these files, by their paths in the dataset; `None` for a file that no input can have.
pub fn pack<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    for (path, bytes) in files {
        let name = (0..=255).find(|name| file_name(*name) == path)?;
        data.push(name);
        data.extend_from_slice(&u16::try_from(bytes.len()).ok()?.to_le_bytes());
        data.extend_from_slice(bytes);
    }
    Some(data)
}

fn file_name(name: u8) -> String {
    let (dir, file) = (DIRS[usize::from(name >> 6)], name & 0x3f);
    let file = match FILES.get(usize::from(file)) {
        Some(file) => (*file).to_owned(),
        None => format!("data/__{}.blp", file - 4),
    };
    if dir.is_empty() { file } else { format!("{dir}/{file}") }
}

pub fn run(data: &[u8]) {
    let (mut files, mut rest) = (Files::default(), data);
    while let Some((&[name, low, high], more)) = rest.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes([low, high])).min(more.len());
        let (bytes, more) = more.split_at(len);
        files.0.insert(Path::new(ROOT).join(file_name(name)), bytes.to_vec());
        rest = more;
    }
    check(files);
}

/// The dataset of these files, strict, if it can be opened; none that takes much memory.
pub fn opened(files: &Files) -> Option<Dataset> {
    if files.0.iter().any(|(path, bytes)| is_large(path, bytes)) {
        return None;
    }
    open(Arc::new(files.clone()), Path::new(ROOT), None).ok()
}

/// Whether a file is a chunk that decodes to more than is read here.
fn is_large(path: &Path, bytes: &[u8]) -> bool {
    // The decoded size and the size of a block, after the header of the file.
    let mut sizes = [20, 24].into_iter().filter_map(|at| bytes.get(at..at + 4));
    let is_chunk = path.extension().is_some_and(|extension| extension == "blp");
    is_chunk && sizes.any(|size| u32::from_le_bytes(size.try_into().expect("four bytes")) > CHUNK)
}

/// Opens these files strictly and tolerantly, verifies, reads and recovers.
pub fn check(files: Files) {
    if files.0.iter().any(|(path, bytes)| is_large(path, bytes)) {
        return;
    }
    let store = Arc::new(files);
    let strict = open(store.clone(), Path::new(ROOT), None).ok();
    let accepted = strict.as_ref().is_some_and(verdict);
    if let Some(strict) = &strict {
        let need = strict.need().unwrap_or(0).min(MEMORY);
        any_file::look(&any::File::from(strict), &mut vec![0xa5; need as usize]);
    }
    let Ok(tolerant) = open(store, Path::new(ROOT), Some(&mut |_| {})) else {
        assert!(strict.is_none(), "opens strictly, but not tolerantly");
        return;
    };
    let problems = damaged(&tolerant);
    if let Some(strict) = strict.filter(|strict| accepted && strict.arrays().iter().all(|array| array.surplus() == 0)) {
        assert_eq!((problems, tolerant.rows()), (0, strict.rows()), "accepted, and not without problems");
    }
    salvaged(&tolerant, problems);
}

/// Whether every row can be read, which `verify` knows.
fn verdict(dataset: &Dataset) -> bool {
    let verified = dataset.verify();
    let need = match dataset.need() {
        Ok(need) if need > MEMORY => return verified.is_ok(),
        Ok(need) => need,
        Err(e) => {
            assert!(verified.is_err(), "verified, and cannot be read: {e}");
            return false;
        }
    };
    let mut memory = vec![0xa5; need as usize];
    let (mut scratch, mut table, mut rows) = (Scratch::new(&mut memory), dataset.table(), 0);
    let read = loop {
        match table.next_part(&mut scratch.scope()) {
            Ok(Some(part)) => {
                rows += part.rows();
                if let Some(e) = (0..part.width()).find_map(|k| column(&part.column(k).expect("a column")).err()) {
                    break Err(e);
                }
            }
            Ok(None) => break Ok(()),
            Err(e) => break Err(e),
        }
    };
    assert_eq!(verified.is_ok(), read.is_ok(), "verify: {verified:?}, reading: {read:?}");
    assert!(read.is_err() || rows == dataset.rows());
    read.is_ok()
}

/// Reads all rows of a column, also of its children: together and a few of them alone, to the same values.
fn column<C: Column>(column: &C) -> Result<()> {
    let all = values(column, 0..column.rows(), usize::MAX);
    let windows = [0, column.rows() / 2, column.rows().saturating_sub(1)];
    for row in windows.into_iter().filter(|row| *row < column.rows()) {
        let one = values(column, row..row + 1, 0);
        if let Ok(all) = &all {
            assert_eq!(one.as_deref(), Ok(&all[row as usize..][..1]), "row {row} alone");
        }
    }
    all?;
    (0..column.ty().children()).try_for_each(|k| self::column(&column.child(k).expect("a child")))
}

/// Returns the values of rows, read in batches of at most `most` bytes or what all of them need.
fn values<C: Column>(column: &C, rows: core::ops::Range<u64>, most: usize) -> Result<Vec<String>> {
    let (mut all, mut row) = (Vec::new(), rows.start);
    let need = column.need(rows.clone())?.min(most.max(1 << 12) as u64);
    let mut memory = vec![0xa5; need as usize + 64];
    while row < rows.end {
        let now = fit(column, row..rows.end, memory.len())?;
        let batch = column.read(now, &mut Scratch::new(&mut memory))?;
        assert!(batch.len > 0);
        for i in 0..batch.len {
            // The rows of a child are looked at by themselves.
            let nested = column.ty().children() > 0;
            let value = if nested { String::new() } else { format!("{:?}", batch.value(i)?) };
            all.push(if batch.validity.get(i) { value } else { "missing".to_owned() });
        }
        row += batch.len as u64;
    }
    Ok(all)
}

/// Reads a tolerant dataset: no row is an error, and only rows with a problem are missing. Returns the number of
/// problems.
fn damaged(dataset: &Dataset) -> usize {
    assert!(dataset.is_tolerant());
    let mut problems = Vec::new();
    dataset.problems(|array, rows, failure| {
        assert!(rows.start < rows.end && rows.end <= dataset.rows(), "{rows:?}");
        let absent = matches!(failure.cause, Cause::Io(_));
        problems.push((array.name().to_owned(), rows, absent));
    });
    let disjoint = |pair: &[(String, core::ops::Range<u64>, bool)]| {
        pair[0].0 != pair[1].0 || pair[0].1.end <= pair[1].1.start || pair[1].1.start == 0
    };
    assert!(problems.windows(2).all(disjoint), "{problems:?}");
    let need = dataset.need().expect("only a strict dataset fails");
    if need > MEMORY {
        return problems.len();
    }
    let mut memory = vec![0xa5; need as usize];
    let mut scratch = Scratch::new(&mut memory);
    for first in [0, dataset.rows() / 2, dataset.rows().saturating_sub(1)] {
        let mut table = dataset.table();
        let skipped = table.skip(first).expect("nothing is read");
        assert!(skipped <= first);
        let Some(part) = table.next_part(&mut scratch.scope()).expect("a tolerant part") else { continue };
        for (k, array) in dataset.arrays().iter().enumerate() {
            let one = part.column(k).expect("a column");
            column(&one).expect("tolerant rows");
            let known = problems.iter().filter(|(name, ..)| name == array.name());
            let known: Vec<_> = known.map(|(_, rows, absent)| (rows.clone(), *absent)).collect();
            let time = matches!(one.ty(), Type::Timestamp(_));
            for (row, value) in (skipped..).zip(values(&one, 0..one.rows(), usize::MAX).expect("tolerant rows")) {
                let problem = known.iter().find(|(rows, _)| rows.contains(&row));
                let missing = value == "missing";
                assert!(!missing || time || problem.is_some(), "row {row} of {:?} is missing", array.name());
                assert!(missing || problem.is_none_or(|(_, absent)| !absent), "row {row} of a chunk that is absent");
            }
        }
    }
    problems.len()
}

/// Recovers a dataset: what is written is valid, and everything if there was no problem.
fn salvaged(dataset: &Dataset, problems: usize) {
    if dataset.need().expect("only a strict dataset fails") > MEMORY {
        return;
    }
    let to = Written::default();
    let dir = Path::new("no-such-directory/recovered");
    // Some metadata can be read and not be written: attributes that are no object, an escaped type.
    let Ok(rows) = recover_to(to.clone(), dataset, dir) else { return };
    assert!(rows <= dataset.rows() && (problems > 0 || rows == dataset.rows() || dataset.arrays().is_empty()));
    let clean = open(Arc::new(to.0.take()), dir, None).expect("a clean dataset");
    clean.verify().expect("a clean dataset");
    assert_eq!((clean.rows(), clean.arrays().len()), (rows, dataset.arrays().len()));
    let dtypes = |dataset: &Dataset| dataset.arrays().iter().map(|a| a.dtype() == Dtype::Object).collect::<Vec<_>>();
    assert_eq!(dtypes(&clean), dtypes(dataset));
}
