//! Datasets in a directory: opened, and read part by part.

use std::borrow::ToOwned;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec;
use std::vec::Vec;
use std::{fmt, format};

use super::chunk::{Chunk, Params};
use super::meta::{self, Shape, Sizes, Storage};
use super::part::{Slot, Table};
use super::{Dtype, open_file};
use crate::bytes::Scratch;
use crate::column::Span;
use crate::error::{Error, Kind, Result, What};

/// What is wrong with a dataset, and with which of its files.
#[derive(Debug)]
pub struct Failure {
    /// The file, under the path that the dataset was opened by.
    pub path: PathBuf,
    /// What is wrong with it.
    pub cause: Cause,
}

/// What is wrong with a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause {
    /// It cannot be read or written; above all, it is not there.
    Io(io::Error),
    /// Its bytes are wrong.
    Format(Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.cause {
            Cause::Io(e) => e.fmt(f),
            Cause::Format(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Cause::Io(e) => Some(e),
            Cause::Format(e) => Some(e),
        }
    }
}

impl Failure {
    pub(super) fn io(path: &Path, e: io::Error) -> Self {
        Failure { path: path.to_owned(), cause: Cause::Io(e) }
    }

    pub(super) fn format(path: &Path, e: Error) -> Self {
        Failure { path: path.to_owned(), cause: Cause::Format(e) }
    }

    /// What the traits of [`column`](crate::column) say of it; `number` stands for the file.
    pub(super) fn error(&self, number: u64) -> Error {
        match self.cause {
            Cause::Format(e) => e,
            Cause::Io(_) => Error::new(Kind::Truncated, What::BcolzFile, number),
        }
    }
}

/// A column of a dataset: an array of its own directory.
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
    surplus: u64,
    /// Bytes of a row; 0 for objects.
    pub(super) row: u64,
}

impl Array {
    /// Opens the array in `dir`.
    pub(super) fn open(name: &str, dir: &Path) -> Result<Self, Failure> {
        let path = dir.join("meta/sizes");
        let sizes = Sizes::parse(&read(&path)?).map_err(|e| Failure::format(&path, e))?;
        let path = dir.join("meta/storage");
        let wrong = |e| Failure::format(&path, e);
        let bytes = read(&path)?;
        // No text is longer than the file it stands in.
        let mut memory = vec![0; bytes.len()];
        let storage = Storage::parse(&bytes, &mut Scratch::new(&mut memory)).map_err(wrong)?;
        let shape = sizes.shape;
        let items = shape.items().map_err(wrong)?;
        let row = items.checked_mul(storage.dtype.size().into());
        let row = row.ok_or_else(|| wrong(Error::new(Kind::Overflow, What::BcolzShape, 0)))?;
        let object = storage.dtype == Dtype::Object;
        if shape.rows() > 0 && (if object { items != 1 } else { row == 0 }) {
            // Rows without bytes could be any number of them.
            return Err(wrong(Error::new(Kind::Unsupported, What::BcolzShape, 0)));
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
            surplus: 0,
            row,
        })
    }

    /// Its name in the table; empty for an array alone.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The type of its items, as numpy spells it.
    #[must_use]
    pub fn dtype_text(&self) -> &str {
        &self.dtype
    }

    /// The type of its items.
    #[must_use]
    pub fn dtype(&self) -> Dtype<'_> {
        // Read once already.
        Dtype::parse(&self.dtype).unwrap_or(Dtype::Object)
    }

    /// Its lengths.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Rows of a chunk.
    #[must_use]
    pub const fn chunklen(&self) -> u64 {
        self.chunklen
    }

    /// How new chunks are written. The chunks that are there may be written otherwise.
    #[must_use]
    pub const fn params(&self) -> &Params {
        &self.params
    }

    /// Decimal digits that floats were rounded to; 0 for all.
    #[must_use]
    pub const fn quantize(&self) -> i64 {
        self.quantize
    }

    /// Decoded bytes, as far as the original kept count.
    #[must_use]
    pub const fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Compressed bytes, as far as the original kept count.
    #[must_use]
    pub const fn cbytes(&self) -> u64 {
        self.cbytes
    }

    /// Rows that it has more than its table, which do not count: an append that did not come to its end.
    #[must_use]
    pub const fn surplus(&self) -> u64 {
        self.surplus
    }

    /// How many chunks there should be, with a shorter last one. The directory may hold more files,
    /// which do not count.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.shape.rows().div_ceil(self.chunklen.max(1))
    }

    /// The file of chunk `number`.
    #[must_use]
    pub fn chunk_path(&self, number: u64) -> PathBuf {
        self.dir.join("data").join(format!("__{number}.blp"))
    }

    /// Rows of chunk `number`.
    #[must_use]
    pub fn chunk_rows(&self, number: u64) -> u64 {
        self.shape.rows().saturating_sub(number.saturating_mul(self.chunklen)).min(self.chunklen)
    }

    /// Opens a chunk out of `bytes`, those of its file, and checks that it holds its rows.
    fn chunk<'b>(&self, number: u64, bytes: &'b [u8]) -> Result<Chunk<'b>> {
        let chunk = open_file(bytes)?;
        let held = chunk.nbytes() as u64;
        if self.row == 0 {
            return Ok(chunk);
        }
        let rows = self.chunk_rows(number);
        let wanted = rows.saturating_mul(self.row);
        // A last chunk may hold rows that the sizes do not count yet.
        let most = if rows < self.chunklen { self.chunklen.saturating_mul(self.row) } else { wanted };
        if held < wanted || held > most {
            return Err(Error::new(Kind::Invalid, What::BloscNbytes, 20).with_need(held));
        }
        Ok(chunk)
    }
}

/// A dataset: one array, or a table of several.
///
/// ```no_run
/// use pilaster::bcolz::Dataset;
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Part as _, Table as _};
///
/// let dataset = Dataset::open("prices.bcolz")?;
/// let mut table = dataset.table();
/// let mut memory = vec![0; dataset.need()? as usize];
/// let mut outer = Scratch::new(&mut memory);
/// while let Some(part) = table.next_part(&mut outer.scope())? {
///     println!("{} rows of {}", part.rows(), part.name(0)?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Dataset {
    dir: PathBuf,
    arrays: Vec<Array>,
    table: bool,
    attrs: Vec<u8>,
    rows: u64,
}

impl Dataset {
    /// Opens the dataset in `dir`: reads its metadata, and no chunk.
    ///
    /// # Errors
    /// The first file that is missing or wrong. A name that leads out of the directory is one:
    /// nothing outside is looked at. So is a column of fewer rows than the first, which says how many rows
    /// the table has. One of more is not: who appends says last of the first column that its rows are there.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, Failure> {
        let dir = dir.as_ref();
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
            for name in &names {
                arrays.push(Array::open(name, &dir.join(name))?);
            }
        } else {
            arrays.push(Array::open("", dir)?);
        }
        let rows = arrays.first().map_or(0, |array| array.shape.rows());
        for array in &mut arrays {
            if array.shape.rows() < rows {
                let e = Error::new(Kind::Invalid, What::BcolzRows, rows).with_need(array.shape.rows());
                return Err(Failure::format(&array.dir.join("meta/sizes"), e));
            }
            array.surplus = array.shape.rows().saturating_sub(rows);
            array.shape = array.shape.with_rows(rows);
        }
        // The original cannot open a dataset without this file; what it would say is nothing.
        let path = dir.join("__attrs__");
        let attrs = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(Failure::io(&path, e)),
        };
        Ok(Dataset { dir: dir.to_owned(), arrays, table, attrs, rows })
    }

    /// Its directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its columns.
    #[must_use]
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// Whether it is a table (a ctable), not an array alone (a carray).
    #[must_use]
    pub const fn is_table(&self) -> bool {
        self.table
    }

    /// The attributes that its user gave it: a JSON object, not looked into. Empty where there is no file.
    #[must_use]
    pub fn attrs(&self) -> &[u8] {
        &self.attrs
    }

    /// How many rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Its rows.
    #[must_use]
    pub fn table(&self) -> Table<'_> {
        Table::new(self)
    }

    /// Rows of a part: those of the longest chunk, so that each chunk is decoded once or, where chunks
    /// of columns do not end together, twice; fewer where they are large.
    pub(super) fn part_rows(&self) -> u64 {
        let longest = self.arrays.iter().filter(|array| array.row > 0).map(|array| array.chunklen).max();
        let row = self.arrays.iter().fold(1u64, |sum, array| sum.saturating_add(array.row));
        let fit = (PART.checked_div(row).unwrap_or(0)).max(1);
        longest.unwrap_or(OBJECTS).min(fit).min(self.rows).max(1)
    }

    /// An upper bound of the memory that a part takes.
    ///
    /// # Errors
    /// The first file that is wrong: where there are objects, the sizes of all are added up.
    pub fn need(&self) -> Result<u64, Failure> {
        let rows = self.part_rows().min(self.rows);
        let mut need = Scratch::cost::<Slot>(self.arrays.len() as u64);
        let mut files = Files::default();
        for array in &self.arrays {
            if array.row > 0 {
                need = need.saturating_add(Scratch::cost::<u64>(rows.saturating_mul(array.row).div_ceil(8)));
                continue;
            }
            let mut most = 0;
            for first in (0..self.rows).step_by(usize::try_from(rows.max(1)).unwrap_or(usize::MAX)) {
                let mut sum = 0u64;
                for row in first..first.saturating_add(rows).min(self.rows) {
                    sum = sum.saturating_add(files.open(array, row)?.nbytes() as u64);
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
    /// The first that is missing or wrong.
    pub fn verify(&self) -> Result<(), Failure> {
        let mut files = Files::default();
        let mut memory = Vec::new();
        for array in &self.arrays {
            for number in 0..array.chunks() {
                files.verify(array, number, &mut memory)?;
            }
        }
        Ok(())
    }
}

/// Bytes of a part, unless a row has more.
const PART: u64 = 32 << 20;
/// Rows of a part where there are only objects.
const OBJECTS: u64 = 1024;

/// The bytes of a file.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|e| Failure::io(path, e))
}

/// Memory for one chunk at a time: its file, and what decoding takes.
#[derive(Debug, Default)]
pub(super) struct Files {
    bytes: Vec<u8>,
    scratch: Vec<u8>,
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

    /// Decodes bytes `from..` of chunk `number` into `to`.
    pub(super) fn decode(&mut self, array: &Array, number: u64, from: u64, to: &mut [u8]) -> Result<(), Failure> {
        let mut scratch = core::mem::take(&mut self.scratch);
        let chunk = self.open(array, number)?;
        let done = usize::try_from(from).map_err(|_| too_large(from)).and_then(|from| {
            scratch.resize(scratch.len().max(chunk.range_scratch_len()), 0);
            chunk.decode_range(from..from.saturating_add(to.len()), to, &mut Scratch::new(&mut scratch))
        });
        self.scratch = scratch;
        // Behind the header of the file.
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
    Error::new(Kind::Limit, What::MaxDecoded, 0).with_need(n)
}
