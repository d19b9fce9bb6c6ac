//! Reads datasets in a directory.

use std::borrow::ToOwned;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

use super::array::Array;
use super::meta;
use super::part::Table;
use super::store::{Local, Store, place, read};
use crate::bytes::Scratch;
use crate::error::{Error, Failure, Kind, Result, What};
use crate::limits::Limits;

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
    limits: Limits,
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
        Ok(Dataset {
            dir: dir.to_owned(),
            arrays,
            table,
            attrs,
            rows,
            tolerant: tolerate.is_some(),
            limits: Limits::DEFAULT,
        })
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

    /// Returns the dataset with other limits for [`verify`](Self::verify) and [`problems`](Self::problems).
    ///
    /// ```no_run
    /// use pilaster::bcolz::Dataset;
    /// use pilaster::limits::Limits;
    ///
    /// // At most a gigabyte is unpacked.
    /// let limits = Limits { max_file_decoded: 1 << 30, ..Limits::DEFAULT };
    /// Dataset::open("prices.bcolz")?.with_limits(limits).verify()?;
    /// # Ok::<(), pilaster::error::Failure>(())
    /// ```
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Dataset { limits, ..self }
    }

    pub(super) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the rows as a table.
    #[must_use]
    pub fn table(&self) -> Table<'_> {
        Table::new(self)
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
