//! Reads datasets in a directory.

use core::ops::Range;
use std::borrow::ToOwned;
use std::format;
use std::io;
use std::path::{Path, PathBuf};
use std::string::String;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

use super::chunk::{Chunk, Params};
use super::meta::{self, Shape, Sizes, Storage};
use super::part::{Slot, Table};
use super::store::{Local, Store, place, read};
use super::{Column, Dtype, open_file};
use crate::bytes::{Scratch, decimal, saturated};
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
    /// The numbers of the chunks that have a file, ascending; `None` if the dataset was opened strictly.
    present: Option<Vec<u64>>,
    pub(super) store: Arc<dyn Store>,
}

impl Array {
    /// Opens the array in `dir`.
    fn open(store: &Arc<dyn Store>, name: &str, dir: &Path) -> Result<Self, Failure> {
        let path = dir.join("meta/sizes");
        let sizes = Sizes::parse(&read(&**store, &path)?).map_err(|e| Failure::format(&path, e))?;
        let path = dir.join("meta/storage");
        let wrong = |e| Failure::format(&path, e);
        let bytes = read(&**store, &path)?;
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
            present: None,
            store: store.clone(),
        })
    }

    /// Lists the files of the chunks, so that the work of a tolerant reader is bounded by what the directory contains,
    /// not by the rows that `meta/sizes` states.
    fn list(&mut self) {
        let chunks = self.own.div_ceil(self.chunklen.max(1));
        let mut present = Vec::new();
        let listed = self.store.list(&self.dir.join("data"), &mut |name| {
            let digits = name.to_str().and_then(|name| name.strip_prefix("__")?.strip_suffix(".blp"));
            let number = digits.filter(|digits| *digits == "0" || !digits.starts_with('0')).and_then(decimal);
            present.extend(number.filter(|number| *number < chunks));
        });
        if listed.is_err() {
            // `walk` opens the first chunk of a gap, which names the error.
            present.clear();
        }
        present.sort_unstable();
        self.present = Some(present);
    }

    /// Returns the numbers of the chunks in `range` that have a file, ascending; all of `range` if the dataset was
    /// opened strictly.
    pub(super) fn present(&self, range: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let listed = self.present.as_ref().map(|all| {
            let from = all.partition_point(|number| *number < range.start);
            let to = all.partition_point(|number| *number < range.end).max(from);
            all.get(from..to).unwrap_or_default()
        });
        let all = if listed.is_some() { 0..0 } else { range };
        all.chain(listed.unwrap_or_default().iter().copied())
    }

    /// Returns the first row from `row` on whose chunk has a file; `None` if no such row follows.
    fn next_present(&self, row: u64) -> Option<u64> {
        let number = row.checked_div(self.chunklen)?;
        let found = self.present(number..self.own.div_ceil(self.chunklen.max(1))).next()?;
        let next = found.saturating_mul(self.chunklen).max(row);
        Some(next).filter(|next| *next < self.own)
    }

    /// Reads a file of the directory of the array.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, Failure> {
        read(&*self.store, &self.dir.join(name))
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
        Dataset::open_by(Arc::new(Local), dir.as_ref(), None)
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
        Dataset::open_by(Arc::new(Local), dir.as_ref(), Some(&mut each))
    }

    pub(super) fn open_by(
        store: Arc<dyn Store>,
        dir: &Path,
        mut tolerate: Option<&mut dyn FnMut(Failure)>,
    ) -> Result<Self, Failure> {
        let dir = &*place(&*store, dir);
        let roots = dir.join("__rootdirs__");
        let mut arrays = Vec::new();
        let table = store.exists(&roots);
        if table {
            let bytes = read(&*store, &roots)?;
            let (mut memory, mut names) = (vec![0; bytes.len()], Vec::new());
            let mut add = |name: &str| {
                names.push(name.to_owned());
                Ok(())
            };
            meta::names(&bytes, &mut Scratch::new(&mut memory), &mut add).map_err(|e| Failure::format(&roots, e))?;
            let mut last = None;
            for name in &names {
                match (Array::open(&store, name, &place(&*store, &dir.join(name))), &mut tolerate) {
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
            arrays.push(Array::open(&store, "", dir)?);
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
            if tolerate.is_some() {
                array.list();
            }
        }
        // A dataset without this file has no attributes. The original cannot open it.
        let (path, mut attrs) = (dir.join("__attrs__"), Vec::new());
        match store.read(&path, &mut attrs) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(Failure::io(&path, e)),
            _ => {}
        }
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
        // A row of objects takes a span.
        let sizes = self.arrays.iter().map(|array| if array.row > 0 { array.row } else { size_of::<Span>() as u64 });
        let row = sizes.fold(1u64, u64::saturating_add);
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
            let (mut most, mut sums) = (0u64, Sums::new(rows));
            for row in array.present(0..self.rows) {
                match files.open(array, row) {
                    Err(_) if self.tolerant => {}
                    chunk => {
                        sums.add(row, chunk?.nbytes() as u64);
                        most = most.max(sums.sum);
                    }
                }
            }
            need = need.saturating_add(Scratch::cost::<Span>(rows)).saturating_add(most);
        }
        Ok(need)
    }

    /// Decodes every chunk, and checks that every text is valid. If it succeeds, every row can be read.
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

    /// Decodes every chunk. Calls `each` with the column, a range of rows and the failure: for each invalid chunk, for
    /// each run of consecutive chunks that are missing, and for rows that a column lacks. The work is bounded by the
    /// files of the dataset, not by the rows that it states.
    ///
    /// After 10,000 calls, a last one has the rows of the column that were not checked, and [`Kind::Limit`].
    pub fn problems(&self, mut each: impl FnMut(&Array, Range<u64>, Failure)) {
        let mut left = MAX_PROBLEMS;
        self.walk(&mut |array, rows, failure| {
            if left == 0 {
                let e = Error::needing(Kind::Limit, What::BCOLZ_FILE, 0, MAX_PROBLEMS);
                each(array, rows.start..self.rows, Failure::format(&array.dir, e));
                return false;
            }
            left = left.saturating_sub(1);
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
            let chunks = rows.div_ceil(array.chunklen.max(1));
            let (mut next, mut sums) = (0u64, Sums::new(self.part_rows()));
            for number in array.present(0..chunks).chain([chunks]) {
                let first = number.saturating_mul(array.chunklen).min(rows);
                let gap = next.saturating_mul(array.chunklen)..first;
                if next < number && !each(array, gap, files.absent(array, next)) {
                    return;
                }
                if number == chunks {
                    break;
                }
                next = number.saturating_add(1);
                let rows = first..first.saturating_add(array.chunk_rows(number));
                let done = files.verify(array, number, &mut memory).and_then(|nbytes| {
                    // The objects of a part are read together.
                    let fits = array.row > 0 || sums.add(number, nbytes);
                    let e = || Failure::format(&array.chunk_path(number), too_large(nbytes));
                    if fits { Ok(()) } else { Err(e()) }
                });
                if let Err(failure) = done
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

    /// Returns the first row from `row` on whose chunk has a file in every column; `None` if no such row follows. Only
    /// if the dataset was opened tolerantly, files are looked for.
    pub(super) fn next_present(&self, mut row: u64) -> Option<u64> {
        loop {
            let mut next = row;
            for array in &self.arrays {
                next = array.next_present(next)?;
            }
            if next == row {
                return Some(row).filter(|row| *row < self.rows);
            }
            row = next;
        }
    }
}

/// Maximum number of problems that are reported. To become a field of [`Limits`](crate::limits::Limits).
const MAX_PROBLEMS: u64 = 10_000;

/// The sum of the sizes in bytes of the objects of a part.
#[derive(Debug)]
pub(super) struct Sums {
    /// Number of rows of a part.
    rows: u64,
    /// The number of the part.
    part: u64,
    sum: u64,
}

impl Sums {
    pub(super) const fn new(rows: u64) -> Self {
        Sums { rows, part: 0, sum: 0 }
    }

    /// Adds an object of `nbytes` bytes in `row`. Returns false, and does not add it, if the spans of the part could
    /// not represent it: they have 32 bits.
    pub(super) fn add(&mut self, row: u64, nbytes: u64) -> bool {
        let part = row.checked_div(self.rows).unwrap_or(0);
        if part != self.part {
            (self.part, self.sum) = (part, 0);
        }
        let sum = self.sum.saturating_add(nbytes);
        let fits = sum <= u32::MAX.into();
        if fits {
            self.sum = sum;
        }
        fits
    }
}

/// Maximum size in bytes of a part, unless a single row is larger.
const PART: u64 = 32 << 20;
/// Number of rows of a part if all columns contain objects.
const OBJECTS: u64 = 1024;

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
        array.store.read(&path, &mut self.bytes).map_err(|e| Failure::io(&path, e))?;
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

    /// Decodes the rows of chunk `number` that count, and checks them. Returns their size in bytes.
    fn verify(&mut self, array: &Array, number: u64, memory: &mut Vec<u8>) -> Result<u64, Failure> {
        let (rows, held) = (array.chunk_rows(number), self.open(array, number)?.nbytes());
        // A chunk has at least the rows that count: opening it checked that.
        let nbytes = if array.row > 0 { saturated(rows.saturating_mul(array.row)).min(held) } else { held };
        memory.resize(memory.len().max(nbytes), 0);
        self.decode(array, number, 0, memory.get_mut(..nbytes).unwrap_or_default())?;
        if array.row > 0 {
            let data = memory.get(..nbytes).unwrap_or_default();
            let first = number.saturating_mul(array.chunklen).saturating_mul(array.shape.items().unwrap_or(1));
            let checked = Column::new(array.dtype(), array.shape.inner(), rows, data).and_then(|column| column.check());
            checked.map_err(|e| Failure::format(&array.chunk_path(number), e.moved(first)))?;
        }
        Ok(nbytes as u64)
    }

    /// Returns the failure of a chunk without a file.
    fn absent(&mut self, array: &Array, number: u64) -> Failure {
        let missing = || Failure::io(&array.chunk_path(number), io::ErrorKind::NotFound.into());
        self.open(array, number).err().unwrap_or_else(missing)
    }
}

#[cold]
pub(super) fn too_large(n: u64) -> Error {
    Error::needing(Kind::Limit, What::MAX_DECODED, 0, n)
}
