//! Converts columns of any format to a dataset.

use core::ops::Range;
use std::path::{Path, PathBuf};
use std::vec;
use std::vec::Vec;

use super::cells::{Missing, absent, put_items, wrong_type};
use super::disk::{Disk, FileSystem};
use super::meta::chunklen;
use super::plan::{dtype, fits, items, leaves, longest, runs};
use super::writer::{Spec, Writer};
use crate::bcolz::chunk::Params;
use crate::bcolz::{Compressor, Dtype};
use crate::bytes::{WriteError, saturated};
use crate::column::{Batch, Build, Column, Feed, Memory, Type, Values};
use crate::error::Failure;
use crate::error::{Error, Kind, Result, What};
use crate::limits::{Depth, Limits};

/// Maximum depth of nested records, equal to the depth of nested types.
const DEPTH: Depth = Depth::new(&Limits::DEFAULT);

/// Options for writing columns.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WriteOptions {
    /// The parameters of the chunks; `typesize` is ignored, because it follows from the type.
    pub params: Params,
    /// Number of rows of a chunk; `None` chooses it for each column as the original does.
    pub chunklen: Option<u64>,
    /// Approximate total number of rows; `None` uses the number of rows of the first part.
    pub expectedlen: Option<u64>,
    /// How rows without a value are written.
    pub missing: Missing,
    /// Number of threads that encode chunks, besides the calling one. With less than two, the calling one does. The files
    /// are the same.
    pub threads: usize,
}

impl WriteOptions {
    /// The defaults of the original: LZ4 at level 5, byte shuffle. Missing values are refused.
    pub const DEFAULT: WriteOptions = WriteOptions {
        params: Params { compressor: Compressor::Lz4, ..Params::DEFAULT },
        chunklen: None,
        expectedlen: None,
        missing: Missing::Refuse,
        threads: 1,
    };
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions::DEFAULT
    }
}

/// Writes the columns of a [`convert`](crate::column::convert) as a table, or as an array if its only column has no
/// name.
///
/// All texts of a column take the size of the longest one, so text columns are read twice. Dates become times of the
/// same unit, lists of fixed length become dimensions, and structs become records (which the original writes, but
/// cannot open). [`holds`](super::holds) tells which types an array can represent; others are [`Kind::WrongType`].
///
/// ```
/// use pilaster::bcolz::Dataset;
/// use pilaster::bcolz::write::{Builder, FileSystem, WriteOptions};
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Once, convert};
/// # #[cfg(feature = "filo")] {
/// use pilaster::filo::{Element, Vector};
///
/// // Four 32-bit ints of a Filo vector.
/// let chunk = [6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101];
/// let mut table = Once::new(Vector::open(&chunk, Element::Int)?);
/// let dir = std::env::temp_dir().join(format!("pilaster-built-{}", std::process::id()));
/// let mut builder = Builder::create(FileSystem::default(), &dir, &WriteOptions::DEFAULT);
/// convert(&mut table, &mut builder, &mut Scratch::new(&mut [0; 256]))?;
/// builder.finish()?;
/// let dataset = Dataset::open(&dir)?;
/// assert_eq!((dataset.rows(), dataset.arrays()[0].dtype_text()), (4, "int32"));
///
/// // The same rows once more.
/// let mut table = Once::new(Vector::open(&chunk, Element::Int)?);
/// let mut builder = Builder::append(FileSystem::default(), &dir, &WriteOptions::DEFAULT)?;
/// convert(&mut table, &mut builder, &mut Scratch::new(&mut [0; 256]))?;
/// builder.finish()?;
/// assert_eq!(Dataset::open(&dir)?.rows(), 8);
///
/// // And over rows 2 to 5.
/// let mut table = Once::new(Vector::open(&chunk, Element::Int)?);
/// let mut builder = Builder::overwrite(FileSystem::default(), &dir, 2, &WriteOptions::DEFAULT)?;
/// convert(&mut table, &mut builder, &mut Scratch::new(&mut [0; 256]))?;
/// builder.finish()?;
/// assert_eq!(Dataset::open(&dir)?.rows(), 8);
/// # std::fs::remove_dir_all(&dir)?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Builder<D: Disk = FileSystem> {
    /// The disk and the path of a dataset that is not created yet.
    place: Option<(D, PathBuf)>,
    writer: Option<Writer<D>>,
    append: bool,
    options: WriteOptions,
    /// Number of rows of the first part.
    rows: u64,
    columns: Vec<Fed>,
    /// Items of a batch.
    bytes: Vec<u8>,
}

/// A column that is fed.
#[derive(Clone, Debug, Default)]
struct Fed {
    /// Number of passes left.
    left: u32,
    /// Whether it was fed since the last pass ended.
    is_open: bool,
    /// For each leaf, the length of its longest text in characters or bytes.
    longest: Vec<usize>,
    /// Its number in the dataset, after its first rows.
    number: Option<usize>,
}

impl<D: Disk> Builder<D> {
    /// Creates a dataset in `dir`, which must not exist yet. Nothing is written before the first batch.
    pub fn create(disk: D, dir: impl AsRef<Path>, options: &WriteOptions) -> Self {
        Builder::new(Some((disk, dir.as_ref().into())), None, options)
    }

    /// Opens the dataset in `dir` to append rows. The new columns must match the names, types and shapes of the dataset.
    ///
    /// # Errors
    /// Errors of [`Writer::append`].
    pub fn append(disk: D, dir: impl AsRef<Path>, options: &WriteOptions) -> Result<Self, Failure> {
        Ok(Builder::new(None, Some(Writer::append(disk, dir)?), options))
    }

    /// Opens the dataset in `dir` to overwrite rows, starting at row `first`. The new columns must match the names,
    /// types and shapes of columns of the dataset; columns without new ones stay as they are. The rows are kept in
    /// memory until [`finish`](Self::finish).
    ///
    /// # Errors
    /// Errors of [`Writer::overwrite`].
    pub fn overwrite(disk: D, dir: impl AsRef<Path>, first: u64, options: &WriteOptions) -> Result<Self, Failure> {
        Ok(Builder::new(None, Some(Writer::overwrite(disk, dir, first)?), options))
    }

    fn new(place: Option<(D, PathBuf)>, mut writer: Option<Writer<D>>, options: &WriteOptions) -> Self {
        let append = writer.is_some();
        if let Some(writer) = &mut writer {
            writer.set_threads(options.threads);
        }
        Builder { place, writer, append, options: *options, rows: 0, columns: Vec::new(), bytes: Vec::new() }
    }

    /// Commits all rows.
    ///
    /// # Errors
    /// Errors of [`Writer::finish`]; [`Kind::Misuse`] if there are no columns.
    pub fn finish(mut self) -> Result<(), Failure> {
        match self.writer.take() {
            Some(writer) => writer.finish(),
            None => {
                let dir = self.place.take().map(|(_, dir)| dir).unwrap_or_default();
                Err(Failure::format(&dir, Error::new(Kind::Misuse, What::COLUMN, 0)))
            }
        }
    }

    /// Creates the array of column `k`, or checks that the existing one fits. Returns its number.
    fn begin<C: Column>(&mut self, k: usize, name: &str, col: &C) -> Result<usize, WriteError<Failure>> {
        let (inner, item) = items(col)?;
        if let (true, Some(writer)) = (self.append, &self.writer) {
            let k = if writer.overwrites() { writer.find(name).unwrap_or(k) } else { k };
            let same = writer.column(k).is_some_and(|(had, dtype)| had == name && fits(&dtype, item.ty()));
            let shape = writer.shape(k).is_some_and(|shape| shape.inner() == inner);
            return if same && shape { Ok(k) } else { Err(wrong_type().into()) };
        }
        let dtype = dtype(&item, self.longest(k))?;
        let WriteOptions { params, chunklen, expectedlen, .. } = self.options;
        let expectedlen = expectedlen.unwrap_or(self.rows);
        let spec = Spec { inner: &inner, params, chunklen, expectedlen, ..Spec::new(&dtype) };
        if let Some((disk, dir)) = self.place.take() {
            let writer = match name {
                "" => Writer::create_array(disk, dir, &spec),
                _ => Writer::create_table(disk, dir, b""),
            };
            self.writer.insert(writer.map_err(WriteError::Sink)?).set_threads(self.options.threads);
            if name.is_empty() {
                return Ok(0);
            }
        }
        let writer = self.writer.as_mut().ok_or_else(wrong_type)?;
        writer.add(name, &spec).map_err(WriteError::Sink)
    }

    /// Returns the column that is fed as column `k`.
    fn fed(&mut self, k: usize) -> Result<&mut Fed> {
        if self.columns.len() <= k {
            self.columns.resize(k.saturating_add(1), Fed::default());
        }
        self.columns.get_mut(k).ok_or_else(wrong_type)
    }

    /// Returns the length of the longest text of each leaf of column `k`, as far as they are known.
    fn longest(&self, k: usize) -> &[usize] {
        self.columns.get(k).map_or(&[], |fed| &fed.longest)
    }

    /// Returns the decoded size in bytes of a full chunk of column `k`; 0 if a chunk has one row.
    fn chunk_size<C: Column>(&self, k: usize, col: &C) -> Result<u64> {
        if let (true, Some(writer)) = (self.append, &self.writer) {
            return Ok(writer.chunk_size(k));
        }
        let (inner, item) = items(col)?;
        let text = dtype(&item, self.longest(k))?;
        let row = inner.iter().fold(u64::from(Dtype::parse(&text)?.size()), |row, len| row.saturating_mul(*len));
        let expected = self.options.expectedlen.unwrap_or(self.rows);
        Ok(row.saturating_mul(self.options.chunklen.unwrap_or_else(|| chunklen(expected, row))))
    }

    /// Writes a batch to column `k` of the dataset.
    fn put<C: Column>(&mut self, k: usize, col: &C, batch: &Batch<'_, C>) -> Result<(), WriteError<Failure>> {
        let writer = self.writer.as_mut().ok_or_else(wrong_type)?;
        // The type is kept as text, because it borrows the writer, which is borrowed mutably below.
        let (text, items) = {
            let (_, dtype) = writer.column(k).ok_or_else(wrong_type)?;
            if dtype == Dtype::Object {
                (None, 1)
            } else {
                let items = writer.shape(k).ok_or_else(wrong_type)?.items()?;
                (Some(std::format!("{dtype}")), items)
            }
        };
        let Some(text) = text else {
            let Values::Bytes(objects) = batch.values else { return Err(wrong_type().into()) };
            for row in 0..batch.len {
                if !batch.validity.get(row) {
                    return Err(absent(batch.first, row).into());
                }
                writer.put_object(k, objects.get(row)?).map_err(WriteError::Sink)?;
            }
            return Ok(());
        };
        let dtype = Dtype::parse(&text)?;
        let items = saturated(items);
        let stride = dtype.size() as usize;
        let len = batch.len.saturating_mul(items).saturating_mul(stride);
        self.bytes.clear();
        self.bytes.resize(len, 0);
        let fill = Fill { missing: self.options.missing };
        fill.rows(&dtype, col, batch, &mut self.bytes, stride, 0)?;
        writer.put(k, &self.bytes).map_err(WriteError::Sink)
    }

    /// Updates the length of the longest text of each leaf.
    fn measure<C: Column>(&mut self, k: usize, col: &C, batch: &Batch<'_, C>) -> Result<()> {
        let (fed, leaves) = (self.fed(k)?, leaves(&items(col)?.1, DEPTH)?);
        fed.longest.resize(leaves.len(), 0);
        if col.ty().children() == 0 {
            let most = fed.longest.first_mut().ok_or_else(wrong_type)?;
            *most = longest(batch)?.max(*most);
            return Ok(());
        }
        measure(col, batch, &mut fed.longest)
    }
}

fn measure<C: Column>(col: &C, batch: &Batch<'_, C>, most: &mut [usize]) -> Result<()> {
    let Values::Nested(rows) = batch.values else {
        if let Some(most) = most.first_mut() {
            *most = longest(batch)?.max(*most);
        }
        return Ok(());
    };
    let ((children, size), mut before) = (shape(col)?, 0usize);
    for k in 0..children {
        let child = batch.of.child(k)?;
        let most = most.get_mut(before..).unwrap_or_default();
        runs(&rows, batch.len, size, |_, run| each_batch(&child, run, |_, batch| measure(&child, batch, most)))?;
        before = before.saturating_add(leaves(&child, DEPTH)?.len());
    }
    Ok(())
}

/// Returns the number of children of a nested column, and the number of child rows per row.
fn shape<C: Column>(col: &C) -> Result<(usize, u64)> {
    match col.ty() {
        Type::FixedList(length) => Ok((1, length.into())),
        Type::Struct(count) => Ok((count as usize, 1)),
        _ => Err(wrong_type()),
    }
}

/// Reads rows of a child in batches. Calls `each` with every batch and its first row, counted from the start of `rows`.
fn each_batch<C: Column>(
    col: &C,
    rows: Range<u64>,
    mut each: impl FnMut(usize, &Batch<'_, C>) -> Result<()>,
) -> Result<()> {
    let (mut row, mut memory) = (rows.start, Memory::with_len(1 << 16)?);
    while row < rows.end {
        let now = memory.fit(col, row..rows.end)?;
        let batch = col.read(now, &mut memory.scratch())?;
        each(saturated(row.saturating_sub(rows.start)), &batch)?;
        row = row.saturating_add(batch.len.max(1) as u64);
    }
    Ok(())
}

/// Writes batches as items, also nested ones.
#[derive(Clone, Copy)]
struct Fill {
    missing: Missing,
}

impl Fill {
    /// Writes a batch of `col` as items of `dtype`, at byte `at` of each record of `stride` bytes.
    fn rows<C: Column>(
        self,
        dtype: &Dtype<'_>,
        col: &C,
        batch: &Batch<'_, C>,
        bytes: &mut [u8],
        stride: usize,
        at: usize,
    ) -> Result<()> {
        let Values::Nested(rows) = batch.values else {
            return match dtype {
                Dtype::Struct(_) => Err(wrong_type()),
                _ => put_items(dtype, batch, bytes, stride, at, self.missing),
            };
        };
        // There is no value to write instead of a missing list or record.
        if let Some(row) = (0..batch.len).find(|row| !batch.validity.get(*row)) {
            return Err(absent(batch.first, row));
        }
        let (children, size) = shape(col)?;
        let each = bytes.len().checked_div(batch.len).unwrap_or(0);
        let fields = match (dtype, col.ty()) {
            (Dtype::Struct(fields), Type::Struct(_)) => {
                fields.iter().map(|field| (field.dtype, at.saturating_add(field.at as usize))).collect::<Vec<_>>()
            }
            (_, Type::Struct(_)) => return Err(wrong_type()),
            _ => vec![(*dtype, at)],
        };
        if fields.len() != children {
            return Err(wrong_type());
        }
        for (k, (dtype, at)) in fields.into_iter().enumerate() {
            let child = batch.of.child(k)?;
            runs(&rows, batch.len, size, |first, run| {
                let count = run.end.saturating_sub(run.start).checked_div(size).unwrap_or(0);
                let from = first.saturating_mul(each);
                let len = saturated(count).saturating_mul(each);
                let to = bytes.get_mut(from..).and_then(|to| to.get_mut(..len)).unwrap_or_default();
                let part = each.checked_div(usize::try_from(size).unwrap_or(1)).unwrap_or(0);
                each_batch(&child, run, |first, batch| {
                    let to = to.get_mut(first.saturating_mul(part)..).unwrap_or_default();
                    let to = to.get_mut(..batch.len.saturating_mul(part)).unwrap_or_default();
                    self.rows(&dtype, &child, batch, to, stride, at)
                })
            })?;
        }
        Ok(())
    }
}

impl<D: Disk> Build for Builder<D> {
    type Error = WriteError<Failure>;

    fn feed(&self) -> Feed {
        Feed::Columns
    }

    fn passes<C: Column>(&self, col: &C) -> u32 {
        let text = |leaf: &C| matches!(leaf.ty(), Type::Utf8 | Type::Bytes);
        let texts = items(col).and_then(|(_, item)| leaves(&item, DEPTH)).is_ok_and(|leaves| leaves.iter().any(text));
        if texts && !self.append { 2 } else { 1 }
    }

    fn beside<C: Column>(&self, k: usize, col: &C) -> Option<u64> {
        let left = self.columns.get(k).map_or(0, |fed| fed.left);
        if left == 2 || (left == 0 && self.passes(col) == 2) {
            return Some(0);
        }
        // A column that is refused is refused when it is fed.
        Some(self.chunk_size(k, col).unwrap_or(0))
    }

    fn open(&mut self, rows: u64) -> Result<(), Self::Error> {
        self.rows = rows;
        Ok(())
    }

    fn batch<C: Column>(
        &mut self,
        k: usize,
        name: &str,
        at: u64,
        col: &C,
        batch: &Batch<'_, C>,
    ) -> Result<(), Self::Error> {
        // Errors name the row by the count of the builder.
        let batch = &Batch { first: at, ..*batch };
        let passes = self.passes(col);
        let fed = self.fed(k)?;
        fed.is_open = true;
        if fed.left == 0 {
            fed.left = passes;
            fed.longest.clear();
        }
        if fed.left == 2 {
            return Ok(self.measure(k, col, batch)?);
        }
        let number = match fed.number {
            Some(number) => number,
            None => {
                let number = self.begin(k, name, col)?;
                *self.fed(k)?.number.insert(number)
            }
        };
        self.put(number, col, batch)
    }

    fn close(&mut self) -> Result<(), Self::Error> {
        for fed in self.columns.iter_mut().filter(|fed| fed.is_open) {
            fed.is_open = false;
            fed.left = fed.left.saturating_sub(1);
            if let (0, Some(number), Some(writer)) = (fed.left, fed.number, &mut self.writer) {
                writer.seal(number).map_err(WriteError::Sink)?;
            }
        }
        Ok(())
    }
}
