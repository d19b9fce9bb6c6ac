//! Writes a dataset: rows are put into its arrays and become visible together.

use crate::bytes::saturated;
use std::borrow::ToOwned;
use std::io;
use std::path::{Path, PathBuf};
use std::vec;
use std::vec::Vec;

use super::array::{Files, Growing, full_chunk};
use super::disk::{Disk, FileSystem};
use super::edit::overwrite;
use super::meta::{chunklen, put_default, put_names};
use super::swap;
use crate::bcolz::array::Array;
use crate::bcolz::chunk::Params;
use crate::bcolz::dataset::Dataset;
use crate::bcolz::files::Files as Chunks;
use crate::bcolz::meta::{Shape, Storage, check_name};
use crate::bcolz::{Compressor, Dtype};
use crate::error::Failure;
use crate::error::{Error, Kind, What};
use crate::meta::json::Json;

/// The properties of a new array.
#[derive(Clone, Copy, Debug)]
pub struct Spec<'a> {
    /// The type of the items in numpy's notation.
    pub dtype: &'a str,
    /// The lengths of all dimensions except the first; empty for one item per row.
    pub inner: &'a [u64],
    /// The parameters of the chunks; `typesize` is ignored, because it follows from the type.
    pub params: Params,
    /// Number of rows of a chunk; `None` chooses it as the original does.
    pub chunklen: Option<u64>,
    /// Approximate number of rows that will be put.
    pub expectedlen: u64,
    /// Number of decimal digits that floats of 32 and 64 bits are rounded to; 0 for no rounding.
    pub quantize: i64,
    /// The default value of new rows, as JSON; `None` for zero, false or the empty text.
    pub dflt: Option<&'a str>,
    /// The attributes of the array: a JSON object, or empty.
    pub attrs: &'a [u8],
}

impl<'a> Spec<'a> {
    /// Creates the specification of `dtype` with the defaults of the original: LZ4 at level 5, byte shuffle.
    #[must_use]
    pub const fn new(dtype: &'a str) -> Self {
        let params = Params { compressor: Compressor::Lz4, ..Params::DEFAULT };
        Spec { dtype, inner: &[], params, chunklen: None, expectedlen: 0, quantize: 0, dflt: None, attrs: b"" }
    }
}

/// Writes a dataset. Readers see none of the new rows before [`finish`](Self::finish). The [module page](super)
/// describes the state after a crash.
///
/// ```
/// use pilaster::bcolz::Dataset;
/// use pilaster::bcolz::write::{FileSystem, Spec, Writer};
///
/// let dir = std::env::temp_dir().join(format!("pilaster-{}", std::process::id()));
/// let mut writer = Writer::create_table(FileSystem::default(), &dir, b"{}")?;
/// let id = writer.add("id", &Spec::new("int16"))?;
/// let word = writer.add("word", &Spec::new("|S3"))?;
/// writer.put(id, &[1, 0, 2, 0])?;
/// writer.put(word, b"onetwo")?;
/// writer.finish()?;
///
/// let mut writer = Writer::append(FileSystem::default(), &dir)?;
/// writer.put(id, &[3, 0])?;
/// writer.put(word, b"six")?;
/// writer.finish()?;
/// assert_eq!(Dataset::open(&dir)?.rows(), 3);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<D: Disk = FileSystem> {
    files: Files<D>,
    /// The final path of the dataset.
    dir: PathBuf,
    /// The path of a new dataset until it is finished.
    begun: Option<PathBuf>,
    arrays: Vec<Growing>,
    table: bool,
    /// The dataset whose rows are overwritten, and the first of these rows.
    over: Option<(Dataset, u64)>,
}

impl<D: Disk> Writer<D> {
    /// Creates an array in `dir`, which must not exist yet. It is column 0.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] for a directory that exists, also for `NAME.partial`, which an interrupted
    /// writer leaves; errors of [`add`](Self::add).
    pub fn create_array(disk: D, dir: impl AsRef<Path>, spec: &Spec<'_>) -> Result<Self, Failure> {
        let (mut writer, begun) = Writer::create(disk, dir.as_ref(), false)?;
        writer.array("", &begun, spec)?;
        Ok(writer)
    }

    /// Creates a table without columns in `dir`, which must not exist yet. `attrs` are the user's attributes: a JSON
    /// object, or empty.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] for a directory that exists, also for `NAME.partial`, which an interrupted
    /// writer leaves; [`Kind::WrongType`] if the attributes are not a JSON object.
    pub fn create_table(disk: D, dir: impl AsRef<Path>, attrs: &[u8]) -> Result<Self, Failure> {
        let (mut writer, begun) = Writer::create(disk, dir.as_ref(), true)?;
        writer.attributes(&begun, attrs)?;
        Ok(writer)
    }

    fn create(disk: D, dir: &Path, table: bool) -> Result<(Self, PathBuf), Failure> {
        if dir.symlink_metadata().is_ok() {
            return Err(Failure::io(dir, io::ErrorKind::AlreadyExists.into()));
        }
        let begun = partial(dir);
        let mut files = Files::new(disk, false);
        files.disk.create_dir(&begun).map_err(|e| Failure::io(&begun, e))?;
        let writer =
            Writer { files, dir: dir.to_owned(), begun: Some(begun.clone()), arrays: Vec::new(), table, over: None };
        Ok((writer, begun))
    }

    /// Opens the dataset in `dir` to append rows.
    ///
    /// # Errors
    /// Errors of [`Dataset::open`]; an error if the leftover chunk of an array is missing or invalid.
    pub fn append(disk: D, dir: impl AsRef<Path>) -> Result<Self, Failure> {
        let (mut writer, dataset) = Writer::existing(disk, dir.as_ref())?;
        let mut chunks = Chunks::default();
        for array in dataset.arrays() {
            let growing = reopened(array, dataset.rows(), &mut chunks)?;
            let data = growing.dir.join("data");
            // Some tools lose the empty directory of an empty array.
            if !data.is_dir() {
                writer.files.disk.create_dir(&data).map_err(|e| Failure::io(&data, e))?;
            }
            writer.arrays.push(Growing { number: writer.arrays.len(), ..growing });
        }
        Ok(writer)
    }

    /// Opens the dataset in `dir` to overwrite rows, starting at row `first`. The number of rows that are put is the
    /// same for all columns, or 0 for a column that stays as it is. They are kept in memory until
    /// [`finish`](Self::finish).
    ///
    /// ```
    /// use pilaster::bcolz::Dataset;
    /// use pilaster::bcolz::write::{FileSystem, Spec, Writer};
    ///
    /// # let dir = std::env::temp_dir().join(format!("pilaster-overwrite-{}", std::process::id()));
    /// let mut writer = Writer::create_array(FileSystem::default(), &dir, &Spec::new("uint8"))?;
    /// writer.put(0, &[1, 2, 3, 4])?;
    /// writer.finish()?;
    ///
    /// let mut writer = Writer::overwrite(FileSystem::default(), &dir, 1)?;
    /// writer.put(0, &[20, 30])?;
    /// writer.finish()?;
    /// let file = std::fs::read(Dataset::open(&dir)?.arrays()[0].chunk_path(0))?;
    /// assert!(file.ends_with(&[1, 20, 30, 4]));
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Dataset::open`] and of the disk.
    pub fn overwrite(disk: D, dir: impl AsRef<Path>, first: u64) -> Result<Self, Failure> {
        let (mut writer, dataset) = Writer::existing(disk, dir.as_ref())?;
        for array in dataset.arrays() {
            let growing = growing(array, 0, Vec::new())?;
            writer.arrays.push(Growing { number: writer.arrays.len(), over: true, ..growing });
        }
        writer.over = Some((dataset, first));
        Ok(writer)
    }

    /// Opens the dataset in `dir`, after an interrupted change was reverted.
    fn existing(disk: D, dir: &Path) -> Result<(Self, Dataset), Failure> {
        let mut files = Files::new(disk, true);
        swap::settle(&mut files, dir)?;
        let dataset = Dataset::open(dir)?;
        let (dir, table) = (dataset.dir().to_owned(), dataset.is_table());
        Ok((Writer { files, dir, begun: None, arrays: Vec::new(), table, over: None }, dataset))
    }

    /// Adds a column to a new table. Returns its number.
    ///
    /// # Errors
    /// [`Kind::Misuse`] unless it is a new table; [`Kind::Invalid`] for a duplicate name, or one that leads out of the
    /// directory; errors of an invalid type, shape, default value or attribute; [`Kind::Limit`] for chunks of more than
    /// 2 GiB; errors of the disk.
    pub fn add(&mut self, name: &str, spec: &Spec<'_>) -> Result<usize, Failure> {
        let Some(begun) = self.begun.clone().filter(|_| self.table) else {
            return Err(Failure::format(&self.dir, Error::new(Kind::Misuse, What::BCOLZ_NAME, 0)));
        };
        let taken = ["__attrs__", "__rootdirs__"].contains(&name) || self.arrays.iter().any(|other| other.name == name);
        if taken {
            let e = Error::new(Kind::Invalid, What::BCOLZ_NAME, 0);
            return Err(Failure::format(&self.dir.join(name), e));
        }
        check_name(name).map_err(|e| Failure::format(&self.dir.join("__rootdirs__"), e))?;
        let dir = begun.join(name);
        self.files.disk.create_dir(&dir).map_err(|e| Failure::io(&dir, e))?;
        self.array(name, &dir, spec)?;
        Ok(self.arrays.len().saturating_sub(1))
    }

    /// Creates an array in the existing directory `dir`.
    fn array(&mut self, name: &str, dir: &Path, spec: &Spec<'_>) -> Result<(), Failure> {
        let path = dir.join("meta/storage");
        let wrong = |e| Failure::format(&path, e);
        let dtype = Dtype::parse(spec.dtype).map_err(wrong)?;
        let mut lengths = vec![0];
        lengths.extend_from_slice(spec.inner);
        let shape = Shape::new(&lengths).map_err(wrong)?;
        let object = dtype == Dtype::Object;
        let row = shape.items().map_err(wrong)?.checked_mul(dtype.size().into());
        let row = row.ok_or_else(|| wrong(Error::new(Kind::Overflow, What::BCOLZ_SHAPE, 0)))?;
        if object != (row == 0) || (object && !spec.inner.is_empty()) {
            return Err(wrong(Error::new(Kind::Unsupported, What::BCOLZ_SHAPE, 0)));
        }
        let rows = spec.chunklen.unwrap_or_else(|| chunklen(spec.expectedlen, if object { 8 } else { row }));
        if rows == 0 {
            return Err(wrong(Error::new(Kind::Invalid, What::BCOLZ_CHUNKLEN, 0)));
        }
        let full = full_chunk(row, rows).map_err(wrong)?;
        let params = Params { typesize: dtype.typesize(), ..spec.params };
        if params.level > 9 {
            return Err(wrong(Error::needing(Kind::Unsupported, What::BCOLZ_PARAMS, 0, params.level.into())));
        }
        let mut dflt = Vec::new();
        match (spec.dflt, put_default(&dtype, &mut dflt)) {
            (Some(json), Ok(())) => {
                let mut walk = Json::new(json.as_bytes());
                walk.skip().and_then(|()| walk.end()).map_err(wrong)?;
                json.trim().as_bytes().clone_into(&mut dflt);
            }
            (None, Ok(())) => {}
            (_, Err(e)) => match e {},
        }
        let storage = Storage {
            dtype_text: spec.dtype,
            dtype,
            chunklen: rows,
            expectedlen: spec.expectedlen,
            params,
            quantize: spec.quantize,
            dflt: &dflt,
        };
        let mut text = Vec::new();
        match storage.write(&mut text) {
            Ok(()) => {}
            Err(e) => match e {},
        }
        self.attributes(dir, spec.attrs)?;
        for sub in ["data", "meta"].map(|sub| dir.join(sub)) {
            self.files.disk.create_dir(&sub).map_err(|e| Failure::io(&sub, e))?;
        }
        self.files.write(&path, &text)?;
        self.arrays.push(Growing {
            number: self.arrays.len(),
            name: name.to_owned(),
            dir: dir.to_owned(),
            dtype: spec.dtype.to_owned(),
            shape,
            params,
            quantize: spec.quantize,
            row: usize::try_from(row).unwrap_or(0),
            full,
            rows: 0,
            nbytes: 0,
            cbytes: 0,
            buffer: Vec::new(),
            over: false,
            ends: Vec::new(),
            sealed: false,
        });
        Ok(())
    }

    fn attributes(&mut self, dir: &Path, attrs: &[u8]) -> Result<(), Failure> {
        let path = dir.join("__attrs__");
        if attrs.trim_ascii().is_empty() {
            return self.files.write(&path, b"{}\n");
        }
        let mut json = Json::new(attrs);
        let done = json.object().and_then(|()| {
            while json.key()?.is_some() {
                json.skip()?;
            }
            json.end()
        });
        done.map_err(|e| Failure::format(&path, e))?;
        self.files.write(&path, attrs)
    }

    /// Returns whether the rows overwrite others.
    #[must_use]
    pub(crate) const fn overwrites(&self) -> bool {
        self.over.is_some()
    }

    /// Returns the number of the column called `name`.
    #[must_use]
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.arrays.iter().position(|array| array.name == name)
    }

    /// Returns name and type of column `k`.
    #[must_use]
    pub(crate) fn column(&self, k: usize) -> Option<(&str, Dtype<'_>)> {
        self.arrays.get(k).map(|array| (array.name.as_str(), array.dtype()))
    }

    /// Returns the decoded size in bytes of a full chunk of column `k`; 0 for objects.
    #[must_use]
    pub(crate) fn chunk_size(&self, k: usize) -> u64 {
        self.arrays.get(k).map_or(0, |array| array.full as u64)
    }

    /// Returns the shape of column `k`, with the number of rows that were put so far.
    #[must_use]
    pub(crate) fn shape(&self, k: usize) -> Option<Shape> {
        self.arrays.get(k).map(|array| array.shape.with_rows(array.rows))
    }

    /// Appends whole rows to column `k`: the bytes of their items, as the type defines.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `k` is not a column; [`Kind::Misuse`] for an incomplete row, a column of objects, or a
    /// sealed column; errors of the encoder and the disk.
    pub fn put(&mut self, k: usize, rows: &[u8]) -> Result<(), Failure> {
        let array = self.arrays.get_mut(k).ok_or_else(|| no_column(&self.dir, k))?;
        array.put(rows, &mut self.files)
    }

    /// Appends a row to column `k`, which contains objects: a pickle, or any other bytes.
    ///
    /// ```
    /// use pilaster::bcolz::Dataset;
    /// use pilaster::bcolz::write::{FileSystem, Spec, Writer};
    ///
    /// # let dir = std::env::temp_dir().join(format!("pilaster-objects-{}", std::process::id()));
    /// let mut writer = Writer::create_array(FileSystem::default(), &dir, &Spec::new("object"))?;
    /// writer.put_object(0, b"a first object")?;
    /// writer.put_object(0, b"another")?;
    /// writer.finish()?;
    /// let dataset = Dataset::open(&dir)?;
    /// assert_eq!((dataset.rows(), dataset.arrays()[0].chunks()), (2, 2), "a chunk per object");
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`put`](Self::put).
    pub fn put_object(&mut self, k: usize, object: &[u8]) -> Result<(), Failure> {
        let array = self.arrays.get_mut(k).ok_or_else(|| no_column(&self.dir, k))?;
        array.put_object(object, &mut self.files)
    }

    /// Lets several threads encode chunks.
    pub(crate) const fn set_threads(&mut self, threads: usize) {
        self.files.set_threads(threads);
    }

    /// Ends column `k` and releases its memory.
    ///
    /// # Errors
    /// Errors of [`put`](Self::put).
    pub(crate) fn seal(&mut self, k: usize) -> Result<(), Failure> {
        let array = self.arrays.get_mut(k).ok_or_else(|| no_column(&self.dir, k))?;
        array.seal(&mut self.files)
    }

    /// Commits all rows.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for columns of different lengths; [`Kind::OutOfRange`] if rows are to be overwritten that do
    /// not exist; errors of the encoder and the disk. After an error the dataset is unchanged, or absent if it is new.
    pub fn finish(mut self) -> Result<(), Failure> {
        if let Some((dataset, first)) = &self.over {
            return overwrite(&mut self.files, dataset, *first, &self.arrays);
        }
        let rows = self.arrays.first().map_or(0, |array| array.rows);
        if let Some(other) = self.arrays.iter().find(|array| array.rows != rows) {
            let e = Error::needing(Kind::Invalid, What::BCOLZ_ROWS, rows, other.rows);
            return Err(Failure::format(&other.dir.join("meta/sizes"), e));
        }
        for array in &mut self.arrays {
            array.seal(&mut self.files)?;
        }
        // The first array is last, because it defines the number of rows.
        for array in self.arrays.iter().rev() {
            array.commit(&mut self.files)?;
        }
        let Some(begun) = self.begun.clone() else { return Ok(()) };
        if self.table {
            let mut text = Vec::new();
            match put_names(self.arrays.iter().map(|array| array.name.as_str()), &mut text) {
                Ok(()) => {}
                Err(e) => match e {},
            }
            self.files.write(&begun.join("__rootdirs__"), &text)?;
            for array in &self.arrays {
                self.files.sync(&array.dir)?;
            }
        }
        self.files.sync(&begun)?;
        self.files.disk.rename(&begun, &self.dir).map_err(|e| Failure::io(&self.dir, e))?;
        self.begun = None;
        match self.dir.parent() {
            Some(parent) if parent != Path::new("") => self.files.sync(parent),
            _ => self.files.sync(Path::new(".")),
        }
    }
}

impl<D: Disk> Drop for Writer<D> {
    // Removes a new dataset that was not finished.
    fn drop(&mut self) {
        if let Some(begun) = self.begun.take() {
            let _ = self.files.disk.remove_dir_all(&begun);
        }
    }
}

/// Opens an array with `rows` rows, to append more.
fn reopened(array: &Array, rows: u64, chunks: &mut Chunks) -> Result<Growing, Failure> {
    let row = saturated(array.row);
    let rest = rows.checked_rem(array.chunklen()).unwrap_or(0);
    let mut buffer = Vec::new();
    if row > 0 && rest > 0 {
        buffer.resize(usize::try_from(rest).unwrap_or(0).saturating_mul(row), 0);
        chunks.decode(array, rows.checked_div(array.chunklen()).unwrap_or(0), 0, &mut buffer)?;
    }
    growing(array, rows, buffer)
}

/// Opens an array with `rows` rows; `buffer` contains the rows after its last full chunk.
fn growing(array: &Array, rows: u64, buffer: Vec<u8>) -> Result<Growing, Failure> {
    let row = saturated(array.row);
    let wrong = |e| Failure::format(&array.dir().join("meta/storage"), e);
    let full = full_chunk(array.row, if row > 0 { array.chunklen() } else { 1 }).map_err(wrong)?;
    Ok(Growing {
        number: 0,
        name: array.name().to_owned(),
        dir: array.dir().to_owned(),
        dtype: array.dtype_text().to_owned(),
        shape: *array.shape(),
        params: *array.params(),
        quantize: array.quantize(),
        row,
        full,
        rows,
        nbytes: if row > 0 { rows.saturating_mul(array.row) } else { array.nbytes() },
        // Without the buffer of the last chunk, which the original counts; see `commit`.
        cbytes: array.cbytes().saturating_sub(full as u64),
        buffer,
        over: false,
        ends: Vec::new(),
        sealed: false,
    })
}

/// The suffix of a file or directory that is not complete.
pub(super) const PARTIAL: &str = ".partial";

/// Returns the name of a dataset that is not finished.
pub(super) fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PARTIAL);
    name.into()
}

#[cold]
fn no_column(dir: &Path, k: usize) -> Failure {
    Failure::format(dir, Error::new(Kind::OutOfRange, What::COLUMN, k as u64))
}
