//! Changes a dataset in place.

use std::borrow::ToOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::format;
use std::io;
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::array::{Files, Growing};
use super::dflt::put_row;
use super::disk::{Disk, FileSystem};
use super::meta::put_names;
use super::swap;
use super::writer::Writer;
use crate::bcolz::array::Array;
use crate::bcolz::dataset::Dataset;
use crate::bcolz::files::Files as Chunks;
use crate::bcolz::meta::{Sizes, Storage, check_name};
use crate::bytes::{Scratch, saturated};
use crate::error::Failure;
use crate::error::{Error, Kind, What};
use crate::limits::Limits;
use crate::meta::json::{Json, quote};

/// Maximum size in bytes of the rows that are put at once when a dataset grows, unless a single row is larger.
const BLOCK: u64 = 1 << 20;

/// Changes a dataset in place: its number of rows, its columns and its attributes. [`Writer::overwrite`] and
/// [`Writer::append`] write rows.
///
/// Each method changes the dataset as a whole: after a crash, readers see the dataset before or after the change. The
/// [module page](super) describes the order of the file operations, and what a crash leaves. There must be no other
/// writer at the same time.
///
/// ```
/// use pilaster::bcolz::Dataset;
/// use pilaster::bcolz::write::{Editor, FileSystem, Spec, Writer};
///
/// # let dir = std::env::temp_dir().join(format!("pilaster-edit-{}", std::process::id()));
/// # let new = std::env::temp_dir().join(format!("pilaster-edit-new-{}", std::process::id()));
/// let disk = FileSystem::default();
/// let mut writer = Writer::create_table(disk, &dir, b"{}")?;
/// let id = writer.add("id", &Spec { dflt: Some("-1"), ..Spec::new("int16") })?;
/// writer.put(id, &[1, 0, 2, 0, 3, 0])?;
/// writer.finish()?;
///
/// let mut editor = Editor::open(disk, &dir)?;
/// editor.trim(2)?;
/// // The new rows have the default value.
/// editor.resize(4)?;
/// editor.set_attr("source", "\"gauge 7\"")?;
/// editor.set_attr("draft", "true")?;
/// editor.remove_attr("draft")?;
///
/// let mut writer = Writer::create_array(disk, &new, &Spec::new("|S1"))?;
/// writer.put(0, b"abcd")?;
/// writer.finish()?;
/// editor.add_column("letter", &new)?;
/// editor.drop_column("id")?;
///
/// let dataset: &Dataset = editor.dataset();
/// assert_eq!((dataset.rows(), dataset.arrays()[0].name()), (4, "letter"));
/// assert_eq!(dataset.attrs(), b"{\"source\": \"gauge 7\"}\n");
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Editor<D: Disk = FileSystem> {
    files: Files<D>,
    dir: PathBuf,
    dataset: Dataset,
}

impl<D: Disk> Editor<D> {
    /// Opens the dataset in `dir`. Reverts a change that a crash interrupted, and removes what it left.
    ///
    /// # Errors
    /// Errors of [`Dataset::open`] and of the disk.
    pub fn open(disk: D, dir: impl AsRef<Path>) -> Result<Self, Failure> {
        let (mut files, dir) = (Files::new(disk, true), dir.as_ref().to_owned());
        swap::settle(&mut files, &dir)?;
        let dataset = Dataset::open(&dir)?;
        Ok(Editor { files, dir, dataset })
    }

    /// Returns the dataset as it is now.
    #[must_use]
    pub const fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    fn reopen(&mut self) -> Result<(), Failure> {
        self.dataset = Dataset::open(&self.dir)?;
        Ok(())
    }

    /// Removes the last `rows` rows.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if the dataset has fewer; errors of the disk.
    pub fn trim(&mut self, rows: u64) -> Result<(), Failure> {
        let left = self.dataset.rows().checked_sub(rows).ok_or_else(|| {
            let e = Error::needing(Kind::OutOfRange, What::BCOLZ_ROWS, rows, self.dataset.rows());
            Failure::format(&self.dir, e)
        })?;
        self.resize(left)
    }

    /// Changes the number of rows: removes the last rows, or appends rows with the default value of each array.
    ///
    /// # Errors
    /// [`Kind::Limit`] for too many rows. If rows are appended: [`Kind::Unsupported`] for an array of objects, which
    /// has no default value; [`Kind::Invalid`] for a default value that is not of the type; errors of
    /// [`Writer::append`]. Errors of the disk.
    pub fn resize(&mut self, rows: u64) -> Result<(), Failure> {
        if rows > Limits::DEFAULT.max_rows {
            let e = Error::needing(Kind::Limit, What::MAX_ROWS, 0, Limits::DEFAULT.max_rows);
            return Err(Failure::format(&self.dir, e));
        }
        if rows > self.dataset.rows() {
            self.grow(rows)?;
        } else if rows < self.dataset.rows() {
            self.shrink(rows)?;
        }
        self.reopen()
    }

    fn grow(&mut self, rows: u64) -> Result<(), Failure> {
        let mut defaults = Vec::new();
        for array in self.dataset.arrays() {
            let path = array.dir().join("meta/storage");
            let bytes = array.read("meta/storage")?;
            let mut memory = vec![0; bytes.len()];
            let mut row = vec![0; saturated(array.row)];
            let done = Storage::parse(&bytes, &mut Scratch::new(&mut memory))
                .and_then(|storage| put_row(&storage.dtype, array.shape().inner(), storage.dflt, &mut row));
            done.map_err(|e| Failure::format(&path, e))?;
            defaults.push(row);
        }
        let more = rows.saturating_sub(self.dataset.rows());
        let mut writer = Writer::append(&mut self.files.disk, &self.dir)?;
        for (k, row) in defaults.iter().enumerate() {
            let most = BLOCK.checked_div(row.len() as u64).unwrap_or(1).max(1);
            let block = row.repeat(saturated(most.min(more)));
            let mut left = more;
            while left > 0 {
                let now = left.min(most);
                writer.put(k, block.get(..saturated(now).saturating_mul(row.len())).unwrap_or_default())?;
                left = left.saturating_sub(now);
            }
        }
        writer.finish()
    }

    /// The first array is changed first, because it defines the number of rows: from then on, the rows are removed.
    fn shrink(&mut self, rows: u64) -> Result<(), Failure> {
        for array in self.dataset.arrays() {
            restate(&mut self.files, array, rows)?;
        }
        // Files that no longer count. They are harmless, so errors are ignored.
        for array in self.dataset.arrays() {
            for number in rows.div_ceil(array.chunklen().max(1))..array.chunks() {
                let _ = self.files.disk.remove_file(&array.chunk_path(number));
            }
        }
        Ok(())
    }

    /// Adds a column at the end: moves the array in the directory `from`, which must be on the same file system, into
    /// the table.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if the dataset is not a table, or `from` is not an array; [`Kind::Invalid`] for a name that is
    /// taken or leads out of the directory, and for another number of rows; [`io::ErrorKind::AlreadyExists`] if the
    /// table contains another file or directory with this name; errors of the disk.
    pub fn add_column(&mut self, name: &str, from: impl AsRef<Path>) -> Result<(), Failure> {
        let (from, to) = (from.as_ref(), self.dir.join(name));
        let wrong = |kind, what| Failure::format(&to, Error::new(kind, what, 0));
        check_name(name).map_err(|e| Failure::format(&self.dir.join("__rootdirs__"), e))?;
        let taken = self.dataset.arrays().iter().any(|array| array.name() == name);
        if taken || ["__attrs__", "__rootdirs__"].contains(&name) {
            return Err(wrong(Kind::Invalid, What::BCOLZ_NAME));
        }
        let array = Dataset::open(from)?;
        if !self.dataset.is_table() || array.is_table() {
            return Err(wrong(Kind::Misuse, What::BCOLZ_NAME));
        }
        if array.rows() != self.dataset.rows() && !self.dataset.arrays().is_empty() {
            let e = Error::needing(Kind::Invalid, What::BCOLZ_ROWS, self.dataset.rows(), array.rows());
            return Err(Failure::format(&from.join("meta/sizes"), e));
        }
        // A crash after the renaming, or one while a column was removed, leaves an array that is not in the list.
        if to.join("meta/storage").is_file() {
            self.files.disk.remove_dir_all(&to).map_err(|e| Failure::io(&to, e))?;
        } else if to.symlink_metadata().is_ok() {
            return Err(Failure::io(&to, io::ErrorKind::AlreadyExists.into()));
        }
        self.files.disk.rename(from, &to).map_err(|e| Failure::io(&to, e))?;
        self.files.sync(&self.dir)?;
        let names: Vec<_> = self.dataset.arrays().iter().map(|array| array.name().to_owned()).collect();
        self.list(names.iter().map(String::as_str).chain([name]))?;
        self.reopen()
    }

    /// Removes a column of a table.
    ///
    /// # Errors
    /// [`Kind::Unknown`] if there is no such column; [`Kind::Misuse`] if the dataset is not a table, or for its only
    /// column, because the original cannot open a table without columns; errors of the disk.
    pub fn drop_column(&mut self, name: &str) -> Result<(), Failure> {
        let path = self.dir.join("__rootdirs__");
        let wrong = |e| Failure::format(&path, e);
        let arrays = self.dataset.arrays();
        if !self.dataset.is_table() {
            return Err(wrong(Error::new(Kind::Misuse, What::BCOLZ_NAME, 0)));
        }
        let dropped = arrays.iter().find(|array| array.name() == name);
        let dir = dropped.ok_or_else(|| wrong(Error::unknown(What::COLUMN, name)))?.dir().to_owned();
        if arrays.len() == 1 {
            return Err(wrong(Error::new(Kind::Misuse, What::BCOLZ_NAME, 0)));
        }
        // The next column may define the number of rows from now on, so none may have more.
        for array in arrays.iter().filter(|array| array.surplus() > 0) {
            restate(&mut self.files, array, self.dataset.rows())?;
        }
        let names: Vec<_> = arrays.iter().map(|array| array.name().to_owned()).filter(|other| other != name).collect();
        self.list(names.iter().map(String::as_str))?;
        // Its directory no longer counts.
        let _ = self.files.disk.remove_dir_all(&dir);
        self.reopen()
    }

    /// Writes the list of columns.
    fn list<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<(), Failure> {
        let mut text = Vec::new();
        match put_names(names, &mut text) {
            Ok(()) => {}
            Err(e) => match e {},
        }
        self.files.write(&self.dir.join("__rootdirs__"), &text)?;
        self.files.sync(&self.dir)
    }

    /// Sets the attribute `name` of the dataset to a value in JSON.
    ///
    /// # Errors
    /// Errors of invalid JSON, also of the existing attributes; errors of the disk.
    pub fn set_attr(&mut self, name: &str, json: &str) -> Result<(), Failure> {
        let mut value = Json::new(json.as_bytes());
        let valid = value.skip().and_then(|()| value.end());
        valid.map_err(|e| Failure::format(&self.dir.join("__attrs__"), e))?;
        self.attributes(name, Some(json.trim_ascii()))
    }

    /// Removes the attribute `name` of the dataset.
    ///
    /// # Errors
    /// [`Kind::Unknown`] if there is no such attribute; errors of invalid JSON; errors of the disk.
    pub fn remove_attr(&mut self, name: &str) -> Result<(), Failure> {
        self.attributes(name, None)
    }

    /// Writes the attributes with another value of `name`.
    fn attributes(&mut self, name: &str, mut value: Option<&str>) -> Result<(), Failure> {
        let path = self.dir.join("__attrs__");
        let wrong = |e| Failure::format(&path, e);
        let (mut removed, old) = (value.is_some(), self.dataset.attrs());
        let old = if old.trim_ascii().is_empty() { b"{}" } else { old };
        let (mut json, mut members) = (Json::new(old), Vec::new());
        json.object().map_err(wrong)?;
        while let Some(key) = json.key().map_err(wrong)? {
            let from = saturated(json.at());
            json.skip().map_err(wrong)?;
            let text = old.get(from..saturated(json.at())).unwrap_or_default();
            // Cannot fail: the text was parsed.
            let text = core::str::from_utf8(text).unwrap_or_default().trim_ascii();
            let same = key == *name;
            removed |= same;
            if !same {
                members.push((key.chars().collect(), text));
            } else if let Some(value) = value.take() {
                members.push((String::from(name), value));
            }
        }
        json.end().map_err(wrong)?;
        if !removed {
            return Err(wrong(Error::unknown(What::BCOLZ_ATTRS, name)));
        }
        if let Some(value) = value {
            members.push((String::from(name), value));
        }
        let mut text = b"{".to_vec();
        for (k, (key, value)) in members.iter().enumerate() {
            text.extend_from_slice(if k > 0 { b", " } else { b"" });
            match quote(key, &mut text) {
                Ok(()) => {}
                Err(e) => match e {},
            }
            text.extend_from_slice(b": ");
            ascii(value, &mut text);
        }
        text.extend_from_slice(b"}\n");
        self.files.write(&path, &text)?;
        self.files.sync(&self.dir)?;
        self.reopen()
    }
}

/// Writes a JSON text with escapes instead of characters that are not ASCII, which only strings contain.
fn ascii(json: &str, text: &mut Vec<u8>) {
    for c in json.chars() {
        if c.is_ascii() {
            text.push(c as u8);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            }
        }
    }
}

/// Writes `meta/sizes` of an array with fewer rows. The last chunk that counts may have more; readers use its first
/// rows.
fn restate<D: Disk>(files: &mut Files<D>, array: &Array, rows: u64) -> Result<(), Failure> {
    let (mut chunks, mut nbytes, mut cbytes) = (Chunks::default(), array.nbytes(), array.cbytes());
    for number in rows.div_ceil(array.chunklen().max(1))..array.chunks() {
        // The sizes of chunks are only information, so chunks that cannot be read do not matter.
        if let Ok(chunk) = chunks.open(array, number) {
            nbytes = nbytes.saturating_sub(chunk.nbytes() as u64);
            cbytes = cbytes.saturating_sub(chunk.ctbytes() as u64);
        }
    }
    if array.row > 0 {
        nbytes = rows.saturating_mul(array.row);
    }
    let mut text = Vec::new();
    match (Sizes { shape: array.shape().with_rows(rows), nbytes, cbytes }).write(&mut text) {
        Ok(()) => {}
        Err(e) => match e {},
    }
    let dir = array.dir().join("meta");
    files.write(&dir.join("sizes"), &text)?;
    files.sync(&dir)
}

/// Writes the rows that were put into `columns` over the rows of `dataset` starting at `first`.
pub(super) fn overwrite<D: Disk>(
    files: &mut Files<D>,
    dataset: &Dataset,
    first: u64,
    columns: &[Growing],
) -> Result<(), Failure> {
    let mut changes = Vec::new();
    let mut count = None;
    for (array, rows) in dataset.arrays().iter().zip(columns).filter(|(_, rows)| rows.rows > 0) {
        let same = *count.get_or_insert(rows.rows) == rows.rows;
        let end = first.checked_add(rows.rows).filter(|end| *end <= dataset.rows());
        let end = end.ok_or_else(|| {
            let last = first.saturating_add(rows.rows).saturating_sub(1);
            let e = Error::needing(Kind::OutOfRange, What::ROW, last, dataset.rows());
            Failure::format(&array.dir().join("meta/sizes"), e)
        })?;
        if !same {
            let e = Error::needing(Kind::Invalid, What::BCOLZ_ROWS, count.unwrap_or(0), rows.rows);
            return Err(Failure::format(&array.dir().join("meta/sizes"), e));
        }
        let chunks = first.checked_div(array.chunklen()).unwrap_or(0)..end.div_ceil(array.chunklen().max(1));
        changes.extend(chunks.map(|number| Change { array, rows, first, number }));
    }
    let mut chunks = Chunks::default();
    match changes.as_slice() {
        [] => Ok(()),
        [change] => {
            change.write(&mut chunks, files, &change.array.chunk_path(change.number))?;
            files.sync(&change.array.dir().join("data"))
        }
        [change, ..] => {
            let one = changes.iter().all(|other| other.array.name() == change.array.name());
            let dir = if one { change.array.dir() } else { dataset.dir() };
            let path = |change: &Change<'_>| {
                let path = change.array.chunk_path(change.number);
                path.strip_prefix(dir).map(Path::to_owned).unwrap_or(path)
            };
            let changed: BTreeMap<_, _> = changes.iter().map(|change| (path(change), change)).collect();
            let paths: BTreeSet<_> = changed.keys().cloned().collect();
            swap::replace(files, dir, &paths, |files, path, to| match changed.get(path) {
                Some(change) => change.write(&mut chunks, files, to),
                None => Ok(()),
            })
        }
    }
}

/// A chunk with new rows.
struct Change<'c> {
    array: &'c Array,
    /// The new rows.
    rows: &'c Growing,
    /// The row of the first new row.
    first: u64,
    number: u64,
}

impl Change<'_> {
    /// Writes the file of the chunk to `to`.
    fn write<D: Disk>(&self, chunks: &mut Chunks, files: &mut Files<D>, to: &Path) -> Result<(), Failure> {
        let Change { array, rows, first, number } = *self;
        if array.row == 0 {
            let object = rows.object(saturated(number.saturating_sub(first)));
            return files.chunk(to, object, array.params()).map(|_| ());
        }
        let start = number.saturating_mul(array.chunklen());
        let low = first.max(start);
        let high = first.saturating_add(rows.rows).min(start.saturating_add(array.chunklen()));
        let bytes = |rows: u64| saturated(rows.saturating_mul(array.row));
        let new = rows.buffer.get(bytes(low.saturating_sub(first))..bytes(high.saturating_sub(first)));
        let new = new.unwrap_or_default();
        if high.saturating_sub(low) == array.own.saturating_sub(start).min(array.chunklen()) {
            // All rows are new, so the old ones need not be readable.
            return files.chunk(to, new, array.params()).map(|_| ());
        }
        let mut all = vec![0; chunks.open(array, number)?.nbytes()];
        chunks.decode(array, number, 0, &mut all)?;
        let at = bytes(low.saturating_sub(start));
        if let Some(old) = all.get_mut(at..).and_then(|old| old.get_mut(..new.len())) {
            old.copy_from_slice(new);
        }
        files.chunk(to, &all, array.params()).map(|_| ())
    }
}
