//! A column of a dataset.

use core::ops::Range;
use std::borrow::ToOwned;
use std::format;
use std::path::{Path, PathBuf};
use std::string::String;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

use super::chunk::{Chunk, Params};
use super::meta::{Shape, Sizes, Storage};
use super::store::{Store, read};
use super::{Dtype, open_file};
use crate::bytes::{Scratch, decimal};
use crate::error::{Error, Failure, Kind, Result, What};

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
    pub(super) dir: PathBuf,
    dtype: String,
    pub(super) shape: Shape,
    pub(super) chunklen: u64,
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
    pub(super) fn open(store: &Arc<dyn Store>, name: &str, dir: &Path) -> Result<Self, Failure> {
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
    pub(super) fn list(&mut self) {
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
    pub(super) fn next_present(&self, row: u64) -> Option<u64> {
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
    pub(super) fn chunk<'b>(&self, number: u64, bytes: &'b [u8]) -> Result<Chunk<'b>> {
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
