//! Reads datasets in a directory.

use core::ops::Range;
use std::borrow::ToOwned;
use std::format;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::chunk::{Chunk, Params};
use super::meta::{self, Shape, Sizes, Storage};
use super::part::{Slot, Table};
use super::{Dtype, open_file};
use crate::bytes::{Scratch, saturated};
use crate::column::Span;
use crate::error::Failure;
use crate::error::{Error, Kind, Result, What};

/// A column of a dataset: an array in its own directory.
///
/// ```
/// use pilaster::bcolz::write::{FileSystem, Spec, Writer};
/// use pilaster::bcolz::{Array, Compressor, Dataset};
///
/// # let dir = std::env::temp_dir().join(format!("pilaster-array-{}", std::process::id()));
/// let spec = Spec { chunklen: Some(2), quantize: 3, ..Spec::new("float64") };
/// let mut writer = Writer::create_table(FileSystem::default(), &dir, b"{}")?;
/// let price = writer.add("price", &spec)?;
/// for value in [1.25, 2.5, 0.1_f64] {
///     writer.put(price, &value.to_le_bytes())?;
/// }
/// writer.finish()?;
///
/// let dataset = Dataset::open(&dir)?;
/// let array: &Array = &dataset.arrays()[0];
/// assert_eq!((array.name(), array.dtype_text(), array.dtype().size()), ("price", "float64", 8));
/// assert_eq!((array.params().compressor, array.quantize()), (Compressor::Lz4, 3));
/// // Three rows in chunks of two.
/// assert_eq!((array.shape().rows(), array.chunklen(), array.chunks(), array.surplus()), (3, 2, 2, 0));
/// assert_eq!(array.chunk_path(1), array.dir().join("data/__1.blp"));
/// assert!(array.chunk_path(1).is_file());
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Array {
    name: String,
    dir: PathBuf,
    dtype: String,
    shape: Shape,
    chunklen: u64,
    params: Params,
    quantize: i64,
    nbytes: u64,
    cbytes: u64,
    /// Size in bytes of a row; 0 for objects.
    pub(super) row: u64,
    /// Number of rows in its `meta/sizes`, which may differ from that in `shape`.
    pub(super) own: u64,
}

impl Array {
    /// Opens the array in `dir`.
    pub(super) fn open(name: &str, dir: &Path) -> Result<Self, Failure> {
        let path = dir.join("meta/sizes");
        let sizes = Sizes::parse(&read(&path)?).map_err(|e| Failure::format(&path, e))?;
        let path = dir.join("meta/storage");
        let wrong = |e| Failure::format(&path, e);
        let bytes = read(&path)?;
        // No text is longer than the file that contains it.
        let mut memory = vec![0; bytes.len()];
        let storage = Storage::parse(&bytes, &mut Scratch::new(&mut memory)).map_err(wrong)?;
        let shape = sizes.shape;
        let items = shape.items().map_err(wrong)?;
        let row = items.checked_mul(storage.dtype.size().into());
        let row = row.ok_or_else(|| wrong(Error::new(Kind::Overflow, What::BCOLZ_SHAPE, 0)))?;
        let object = storage.dtype == Dtype::Object;
        if shape.rows() > 0 && (if object { items != 1 } else { row == 0 }) {
            // The chunks do not bound the number of rows that have no bytes.
            return Err(wrong(Error::new(Kind::Unsupported, What::BCOLZ_SHAPE, 0)));
        }
        Ok(Array {
            name: name.to_owned(),
            dir: dir.to_owned(),
            dtype: storage.dtype_text.to_owned(),
            shape,
            chunklen: if object { 1 } else { storage.chunklen },
            params: storage.params,
            quantize: storage.quantize,
            nbytes: sizes.nbytes,
            cbytes: sizes.cbytes,
            row,
            own: shape.rows(),
        })
    }

    /// Returns the name in the table; empty for an array that is not in a table.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the type of the items in numpy's notation.
    #[must_use]
    pub fn dtype_text(&self) -> &str {
        &self.dtype
    }

    /// Returns the type of the items.
    #[must_use]
    pub fn dtype(&self) -> Dtype<'_> {
        // Cannot fail: the text was parsed when the array was opened.
        Dtype::parse(&self.dtype).unwrap_or(Dtype::Object)
    }

    /// Returns the lengths of all dimensions. The first one is the number of rows of the dataset.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the number of rows of a chunk. The last chunk may have fewer.
    #[must_use]
    pub const fn chunklen(&self) -> u64 {
        self.chunklen
    }

    /// Returns the parameters of new chunks. Existing chunks may have others.
    #[must_use]
    pub const fn params(&self) -> &Params {
        &self.params
    }

    /// Returns the number of decimal digits that floats were rounded to; 0 if they were not rounded.
    #[must_use]
    pub const fn quantize(&self) -> i64 {
        self.quantize
    }

    /// Returns the decoded size in bytes in `meta/sizes`, which may be wrong.
    #[must_use]
    pub(crate) const fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Returns the compressed size in bytes in `meta/sizes`, which may be wrong.
    #[must_use]
    pub(crate) const fn cbytes(&self) -> u64 {
        self.cbytes
    }

    /// Returns the number of rows that the array has more than its table. An interrupted append leaves them; they are
    /// not read.
    #[must_use]
    pub const fn surplus(&self) -> u64 {
        self.own.saturating_sub(self.shape.rows())
    }

    /// Returns the number of chunks that contain the rows. The directory may contain more files, which are ignored.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.shape.rows().div_ceil(self.chunklen.max(1))
    }

    /// Returns the path of the file of chunk `number`.
    #[must_use]
    pub fn chunk_path(&self, number: u64) -> PathBuf {
        self.dir.join("data").join(format!("__{number}.blp"))
    }

    /// Returns the number of rows in chunk `number`.
    #[must_use]
    pub(crate) fn chunk_rows(&self, number: u64) -> u64 {
        self.shape.rows().min(self.own).saturating_sub(number.saturating_mul(self.chunklen)).min(self.chunklen)
    }

    /// Opens a chunk in `bytes`, the contents of its file, and checks that it contains its rows.
    fn chunk<'b>(&self, number: u64, bytes: &'b [u8]) -> Result<Chunk<'b>> {
        let chunk = open_file(bytes)?;
        let held = chunk.nbytes() as u64;
        if self.row == 0 {
            return Ok(chunk);
        }
        let rows = self.chunk_rows(number);
        let wanted = rows.saturating_mul(self.row);
        // A last chunk may contain rows that the sizes do not count yet.
        let most = if rows < self.chunklen { self.chunklen.saturating_mul(self.row) } else { wanted };
        if held < wanted || held > most {
            return Err(Error::needing(Kind::Invalid, What::BLOSC_NBYTES, 20, held));
        }
        Ok(chunk)
    }
}

/// A dataset: one array, or a table of several.
///
/// ```
/// use pilaster::bcolz::Dataset;
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Part as _, Table as _};
/// # use pilaster::bcolz::write::{FileSystem, Spec, Writer};
/// # let dir = std::env::temp_dir().join(format!("pilaster-dataset-{}", std::process::id()));
/// # let mut writer = Writer::create_table(FileSystem::default(), &dir, br#"{"source": "gauge 7"}"#)?;
/// # let level = writer.add("level", &Spec::new("int16"))?;
/// # writer.put(level, &[1, 0, 2, 0, 3, 0])?;
/// # writer.finish()?;
///
/// let dataset = Dataset::open(&dir)?;
/// assert!(dataset.is_table());
/// assert_eq!((dataset.dir(), dataset.attrs()), (&*dir, &br#"{"source": "gauge 7"}"#[..]));
/// dataset.verify()?;
///
/// let mut table = dataset.table();
/// let mut memory = vec![0; dataset.need()? as usize];
/// let mut outer = Scratch::new(&mut memory);
/// while let Some(part) = table.next_part(&mut outer.scope())? {
///     assert_eq!((part.rows(), part.name(0)?), (3, "level"));
/// }
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Chunk 1 of this dataset is damaged:
///
/// ```
/// use pilaster::bcolz::Dataset;
/// use pilaster::bcolz::write::recover;
/// # use pilaster::bcolz::write::{FileSystem, Spec, Writer};
/// # let dir = std::env::temp_dir().join(format!("pilaster-damaged-{}", std::process::id()));
/// # let clean = std::env::temp_dir().join(format!("pilaster-clean-{}", std::process::id()));
/// # let spec = Spec { chunklen: Some(2), ..Spec::new("int16") };
/// # let mut writer = Writer::create_array(FileSystem::default(), &dir, &spec)?;
/// # writer.put(0, &[1, 0, 2, 0, 3, 0, 4, 0, 5, 0])?;
/// # writer.finish()?;
/// # std::fs::write(dir.join("data/__1.blp"), b"junk")?;
///
/// let failure = Dataset::open(&dir)?.verify().unwrap_err();
/// assert_eq!(failure.path, dir.join("data/__1.blp"));
///
/// let dataset = Dataset::open_tolerant(&dir, |failure| eprintln!("column left out: {failure}"))?;
/// assert!(dataset.is_tolerant());
/// let mut lost = vec![];
/// dataset.problems(|_, rows, _| lost.push(rows));
/// assert_eq!((dataset.rows(), lost), (5, vec![2..4]));
/// assert_eq!(recover(&dataset, &clean)?, 3);
/// # std::fs::remove_dir_all(&dir)?;
/// # std::fs::remove_dir_all(&clean)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Dataset {
    dir: PathBuf,
    arrays: Vec<Array>,
    table: bool,
    attrs: Vec<u8>,
    rows: u64,
    tolerant: bool,
}

impl Dataset {
    /// Opens the dataset in `dir`. Reads its metadata, but no chunk.
    ///
    /// # Errors
    /// The first missing or invalid file. A name that leads out of the directory is an error: no file outside is
    /// opened. So is a column with fewer rows than the first one, which defines the number of rows. A column with more
    /// rows is valid, because a writer that appends updates the row count of the first column last.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, Failure> {
        Dataset::open_by(dir.as_ref(), None)
    }

    /// Opens the readable part of a damaged dataset.
    ///
    /// Columns with invalid metadata are left out; `each` is called with the failure of each. The dataset has as many
    /// rows as its longest column. Rows that a column lacks, or whose chunks cannot be read, are missing values
    /// ([`problems`](Self::problems) lists these chunks). If a chunk is truncated or invalid inside, the blocks that can
    /// be decoded are read.
    ///
    /// # Errors
    /// The last failure if no column can be opened; an invalid list of columns, which includes a name that leads out of
    /// the directory.
    pub fn open_tolerant(dir: impl AsRef<Path>, mut each: impl FnMut(Failure)) -> Result<Self, Failure> {
        Dataset::open_by(dir.as_ref(), Some(&mut each))
    }

    fn open_by(dir: &Path, mut tolerate: Option<&mut dyn FnMut(Failure)>) -> Result<Self, Failure> {
        let roots = dir.join("__rootdirs__");
        let mut arrays = Vec::new();
        let table = roots.exists();
        if table {
            let bytes = read(&roots)?;
            let (mut memory, mut names) = (vec![0; bytes.len()], Vec::new());
            let mut add = |name: &str| {
                names.push(name.to_owned());
                Ok(())
            };
            meta::names(&bytes, &mut Scratch::new(&mut memory), &mut add).map_err(|e| Failure::format(&roots, e))?;
            let mut last = None;
            for name in &names {
                match (Array::open(name, &dir.join(name)), &mut tolerate) {
                    (Ok(array), _) => arrays.push(array),
                    (Err(e), Some(tolerate)) => {
                        if let Some(earlier) = last.replace(e) {
                            tolerate(earlier);
                        }
                    }
                    (Err(e), None) => return Err(e),
                }
            }
            match (last, &mut tolerate) {
                (Some(e), _) if arrays.is_empty() => return Err(e),
                (Some(e), Some(tolerate)) => tolerate(e),
                _ => {}
            }
        } else {
            arrays.push(Array::open("", dir)?);
        }
        let rows = match tolerate {
            Some(_) => arrays.iter().map(|array| array.own).max().unwrap_or(0),
            None => arrays.first().map_or(0, |array| array.own),
        };
        for array in &mut arrays {
            if array.own < rows && tolerate.is_none() {
                let e = Error::needing(Kind::Invalid, What::BCOLZ_ROWS, rows, array.shape.rows());
                return Err(Failure::format(&array.dir.join("meta/sizes"), e));
            }
            array.shape = array.shape.with_rows(rows);
        }
        // A dataset without this file has no attributes. The original cannot open it.
        let path = dir.join("__attrs__");
        let attrs = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(Failure::io(&path, e)),
        };
        Ok(Dataset { dir: dir.to_owned(), arrays, table, attrs, rows, tolerant: tolerate.is_some() })
    }

    /// Returns the directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the columns.
    #[must_use]
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// Returns whether the dataset is a table (ctable), not a single array (carray).
    #[must_use]
    pub const fn is_table(&self) -> bool {
        self.table
    }

    /// Returns the user's attributes: a JSON object, not parsed. Empty if the file is missing.
    #[must_use]
    pub fn attrs(&self) -> &[u8] {
        &self.attrs
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns whether the dataset was opened by [`open_tolerant`](Self::open_tolerant).
    #[must_use]
    pub const fn is_tolerant(&self) -> bool {
        self.tolerant
    }

    /// Returns the rows as a table.
    #[must_use]
    pub fn table(&self) -> Table<'_> {
        Table::new(self)
    }

    /// Returns the number of rows of a part: the length of the longest chunk, so that each chunk is decoded once, or
    /// twice if the chunks of columns end at different rows; fewer rows if they are large.
    pub(super) fn part_rows(&self) -> u64 {
        let longest = self.arrays.iter().filter(|array| array.row > 0).map(|array| array.chunklen).max();
        let row = self.arrays.iter().fold(1u64, |sum, array| sum.saturating_add(array.row));
        let fit = (PART.checked_div(row).unwrap_or(0)).max(1);
        longest.unwrap_or(OBJECTS).min(fit).min(self.rows).max(1)
    }

    /// Returns an upper bound of the memory in bytes that a part takes.
    ///
    /// # Errors
    /// The first invalid file of a column of objects: their sizes are read from their files.
    pub fn need(&self) -> Result<u64, Failure> {
        let rows = self.part_rows().min(self.rows);
        let mut need = Scratch::cost::<Slot>(self.arrays.len() as u64);
        if self.tolerant {
            need = need.saturating_add(rows.div_ceil(8).saturating_mul(self.arrays.len() as u64));
        }
        let mut files = Files::default();
        for array in &self.arrays {
            if array.row > 0 {
                need = need.saturating_add(Scratch::cost::<u64>(rows.saturating_mul(array.row).div_ceil(8)));
                continue;
            }
            let mut most = 0;
            for first in (0..self.rows).step_by(saturated(rows.max(1))) {
                let mut sum = 0u64;
                for row in first..first.saturating_add(rows).min(self.rows) {
                    match files.open(array, row) {
                        Err(_) if self.tolerant => {}
                        chunk => sum = sum.saturating_add(chunk?.nbytes() as u64),
                    }
                }
                most = sum.max(most);
            }
            need = need.saturating_add(Scratch::cost::<Span>(rows)).saturating_add(most);
        }
        Ok(need)
    }

    /// Decodes every chunk.
    ///
    /// # Errors
    /// The first missing or invalid file.
    pub fn verify(&self) -> Result<(), Failure> {
        let mut first = None;
        self.walk(&mut |_, _, failure| {
            first = Some(failure);
            false
        });
        first.map_or(Ok(()), Err)
    }

    /// Decodes every chunk. Calls `each` for every chunk that is missing or invalid, with the column, its rows and the
    /// failure, and for rows that a column lacks.
    pub fn problems(&self, mut each: impl FnMut(&Array, Range<u64>, Failure)) {
        self.walk(&mut |array, rows, failure| {
            each(array, rows, failure);
            true
        });
    }

    /// Decodes every chunk. Continues after an invalid one if `each` returns true.
    fn walk(&self, each: &mut dyn FnMut(&Array, Range<u64>, Failure) -> bool) {
        let mut files = Files::default();
        let mut memory = Vec::new();
        for array in &self.arrays {
            let rows = array.own.min(self.rows);
            for number in 0..rows.div_ceil(array.chunklen.max(1)) {
                let first = number.saturating_mul(array.chunklen);
                let rows = first..first.saturating_add(array.chunk_rows(number));
                if let Err(failure) = files.verify(array, number, &mut memory)
                    && !each(array, rows, failure)
                {
                    return;
                }
            }
            if rows < self.rows {
                let e = Error::needing(Kind::Invalid, What::BCOLZ_ROWS, self.rows, rows);
                if !each(array, rows..self.rows, Failure::format(&array.dir.join("meta/sizes"), e)) {
                    return;
                }
            }
        }
    }
}

/// Maximum size in bytes of a part, unless a single row is larger.
const PART: u64 = 32 << 20;
/// Number of rows of a part if all columns contain objects.
const OBJECTS: u64 = 1024;

/// Reads a file.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|e| Failure::io(path, e))
}

/// Reused memory for one chunk at a time: its file, and the scratch buffer of the decoder.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) bytes: Vec<u8>,
    pub(super) scratch: Vec<u8>,
}

impl Files {
    /// Reads and opens chunk `number`.
    pub(super) fn open(&mut self, array: &Array, number: u64) -> Result<Chunk<'_>, Failure> {
        let path = array.chunk_path(number);
        self.bytes.clear();
        let read = File::open(&path).and_then(|mut file| file.read_to_end(&mut self.bytes));
        read.map_err(|e| Failure::io(&path, e))?;
        array.chunk(number, &self.bytes).map_err(|e| Failure::format(&path, e))
    }

    /// Fills `to` with decoded bytes of chunk `number`, starting at `from`.
    pub(super) fn decode(&mut self, array: &Array, number: u64, from: u64, to: &mut [u8]) -> Result<(), Failure> {
        let mut scratch = core::mem::take(&mut self.scratch);
        let chunk = self.open(array, number)?;
        let done = usize::try_from(from).map_err(|_| too_large(from)).and_then(|from| {
            scratch.resize(scratch.len().max(chunk.range_scratch_len()), 0);
            chunk.decode_range(from..from.saturating_add(to.len()), to, &mut Scratch::new(&mut scratch))
        });
        self.scratch = scratch;
        // Offsets in the file: the chunk follows a header of 16 bytes.
        done.map(|_| ()).map_err(|e| Failure::format(&array.chunk_path(number), e.moved(16)))
    }

    /// Decodes all of chunk `number`.
    fn verify(&mut self, array: &Array, number: u64, memory: &mut Vec<u8>) -> Result<(), Failure> {
        let nbytes = self.open(array, number)?.nbytes();
        memory.resize(memory.len().max(nbytes), 0);
        self.decode(array, number, 0, memory.get_mut(..nbytes).unwrap_or_default())
    }
}

#[cold]
pub(super) fn too_large(n: u64) -> Error {
    Error::needing(Kind::Limit, What::MAX_DECODED, 0, n)
}
