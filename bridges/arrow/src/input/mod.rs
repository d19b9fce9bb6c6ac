//! Parquet, Arrow IPC, CSV and JSON lines as sources of record batches.
//!
//! [`open`] detects the kind of a file by its first bytes and its name, and returns an [`InputFile`]: a [`Source`] for
//! [`Batches`](crate::Batches), which can be opened again, and so serves every writer. [`InputFile::reader`] returns the
//! batches as an Arrow reader. One batch is in memory at a time.
//!
//! | kind | columns | rows |
//! |---|---|---|
//! | Parquet | the chosen ones are read | any row is found by its row group; row groups that filters exclude are not read |
//! | IPC file | the chosen ones are decoded | any row is found by its batch |
//! | IPC stream | the chosen ones are decoded | in order |
//! | CSV, JSON lines, also with gzip | the chosen ones are parsed | in order; the types are inferred from all rows |
//!
#![cfg_attr(feature = "csv", doc = "```")]
#![cfg_attr(not(feature = "csv"), doc = "```ignore")]
//! use pilaster::column::Table;
//! use pilaster::vortex::write::{Builder, WriteOptions};
//! use pilaster_arrow::input::{Input, InputOptions, open};
//! use pilaster_arrow::{Batches, convert};
//!
//! let cities = b"city,founded\nBern,1191-05-20\n\"Rome, Italy\",\n".to_vec();
//! let source = open(Input::from(cities).with_name("cities.csv"), InputOptions::default())?;
//! let mut table = Batches::from_source(source)?;
//! assert_eq!(table.to_strings("city")?, ["Bern", "Rome, Italy"]);
//! // Days since 1970; the second date is missing.
//! assert_eq!(table.to_vec::<Option<i32>>("founded")?, [Some(-284_385), None]);
//!
//! table.restart()?;
//! let mut builder = Builder::new(Vec::new(), &WriteOptions::DEFAULT)?;
//! convert(&mut table, &mut builder)?;
//! assert!(builder.finish()?.starts_with(b"VTXF"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bytes;
mod contained;
#[cfg(feature = "csv")]
mod csv;
#[cfg(any(feature = "csv", feature = "json"))]
#[cfg_attr(
    not(all(feature = "csv", feature = "json")),
    allow(dead_code, reason = "each of the two calls a part of it")
)]
mod exact;
#[cfg(any(feature = "csv", feature = "json"))]
#[cfg_attr(
    not(all(feature = "csv", feature = "json")),
    allow(dead_code, reason = "each of the two calls a part of it")
)]
mod floats;
#[cfg(any(feature = "csv", feature = "json"))]
mod forms;
#[cfg(feature = "ipc")]
mod framed;
#[cfg(feature = "json")]
mod guess;
#[cfg(any(feature = "csv", feature = "json"))]
mod infer;
#[cfg(feature = "ipc")]
mod ipc;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "parquet")]
mod old_times;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(all(test, any(feature = "csv", feature = "json")))]
#[cfg_attr(not(feature = "csv"), allow(dead_code, reason = "CSV calls all of it"))]
mod random;
#[cfg(feature = "csv")]
mod records;
mod storage;
#[cfg(any(feature = "csv", feature = "json"))]
mod times;

pub use self::bytes::Input;
pub use self::options::{Inferred, InputOptions, Refuted};
pub use self::storage::{Storage, StoredColumn};

use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_schema::SchemaRef;
use pilaster::column::Zone;

use self::contained::{Contained, contained};
use crate::{Error, Source};

/// The kinds of files that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// Apache Parquet.
    Parquet,
    /// An Arrow IPC file, which is also called Feather 2.
    IpcFile,
    /// An Arrow IPC stream.
    IpcStream,
    /// Comma-separated values, or another separator; plain or with gzip.
    Csv,
    /// One JSON object per line; plain or with gzip.
    JsonLines,
}

/// Names of files by their extension, without one of gzip.
const EXTENSIONS: [(&str, FileKind); 13] = [
    (".parquet", FileKind::Parquet),
    (".pq", FileKind::Parquet),
    (".arrow", FileKind::IpcFile),
    (".feather", FileKind::IpcFile),
    (".ipc", FileKind::IpcFile),
    (".arrows", FileKind::IpcStream),
    (".csv", FileKind::Csv),
    (".tsv", FileKind::Csv),
    (".tab", FileKind::Csv),
    (".jsonl", FileKind::JsonLines),
    (".ndjson", FileKind::JsonLines),
    (".jsonlines", FileKind::JsonLines),
    (".json", FileKind::JsonLines),
];

impl FileKind {
    /// Returns the kind by the first bytes of a file, else by the extension of its name.
    ///
    /// ```
    /// use pilaster_arrow::input::FileKind;
    ///
    /// assert_eq!(FileKind::detect(b"PAR1", ""), Some(FileKind::Parquet));
    /// assert_eq!(FileKind::detect(b"a\tb", "x.TSV.gz"), Some(FileKind::Csv));
    /// assert_eq!(FileKind::detect(b"a,b", "x"), None);
    /// ```
    #[must_use]
    pub fn detect(first: &[u8], name: &str) -> Option<Self> {
        let known = [
            (&b"PAR1"[..], FileKind::Parquet),
            (b"ARROW1", FileKind::IpcFile),
            (b"\xff\xff\xff\xff", FileKind::IpcStream),
        ];
        if let Some((_, kind)) = known.into_iter().find(|(magic, _)| first.starts_with(magic)) {
            return Some(kind);
        }
        Self::of_name(name)
    }

    /// Returns the extensions of a kind, without a dot; the usual one is first.
    ///
    /// ```
    /// use pilaster_arrow::input::FileKind;
    ///
    /// assert_eq!(FileKind::Parquet.extensions().collect::<Vec<_>>(), ["parquet", "pq"]);
    /// ```
    pub fn extensions(self) -> impl Iterator<Item = &'static str> {
        let all = EXTENSIONS.into_iter().filter(move |(_, kind)| *kind == self);
        all.map(|(extension, _)| extension.trim_start_matches('.'))
    }

    /// Returns the kind by the extension of a name, also before `.gz`; for targets, too.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        EXTENSIONS.into_iter().find(|(extension, _)| name.ends_with(extension)).map(|(_, kind)| kind)
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Parquet => "Parquet",
            FileKind::IpcFile => "Arrow IPC file",
            FileKind::IpcStream => "Arrow IPC stream",
            FileKind::Csv => "CSV",
            FileKind::JsonLines => "JSON lines",
        })
    }
}

/// Maximum number of values in a batch.
#[cfg(any(feature = "csv", feature = "json", feature = "parquet"))]
const CELLS: usize = 1 << 22;

/// Maximum number of different fields in the rows of a text file.
#[cfg(any(feature = "csv", feature = "json"))]
const FIELDS: usize = 100_000;

/// Maximum size in bytes of a record of CSV, or of an object of JSON: a quote that is not closed makes one of the rest of the file.
#[cfg(any(feature = "csv", feature = "json"))]
const RECORD: usize = 1 << 30;

/// Returns the start of a value, for an error.
#[cfg(any(feature = "csv", feature = "json"))]
fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let mut shown: String = text.chars().take(MOST).collect();
    shown.push_str(if shown.len() < text.len() { "..." } else { "" });
    shown
}

/// Maximum size in bytes of the texts of a batch; a single row may be larger.
#[cfg(any(feature = "csv", feature = "json", feature = "parquet"))]
const BATCH: usize = 8 << 20;

/// A reader over the batches of any kind of file.
pub type AnyReader = Box<dyn RecordBatchReader + Send>;

/// An open file of any kind, which can be read several times.
#[derive(Debug)]
pub struct InputFile {
    kind: FileKind,
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    #[cfg(feature = "parquet")]
    Parquet(parquet::Parquet),
    #[cfg(feature = "ipc")]
    Ipc(ipc::Ipc),
    #[cfg(feature = "csv")]
    Csv(csv::Csv),
    #[cfg(feature = "json")]
    Json(json::Json),
}

/// Opens an input: detects its kind, and reads its metadata; all rows of CSV and JSON lines, to infer the types, or the first ones
/// of CSV ([`Inferred`]).
///
/// # Errors
/// [`Error::Input`] with the name of the input: the kind is unknown, or this build cannot read it; errors of the file.
pub fn open(input: Input, options: InputOptions) -> Result<InputFile, Error> {
    let first = input.range(0, 8.min(usize::try_from(input.len()).unwrap_or(8))).map_err(|e| input.failed(e))?;
    let detected = options.kind.or_else(|| FileKind::detect(&first, input.name()));
    let kind = detected.ok_or_else(|| {
        input.failed("neither Parquet nor Arrow IPC, and no name that ends in .csv, .tsv or .jsonl; give the kind")
    })?;
    // Arrow's readers can panic over a damaged file.
    let opened = contained(|| inner(kind, input.clone(), options)).unwrap_or_else(|e| Err(e.into()));
    match opened {
        Ok(inner) => Ok(InputFile { kind, inner }),
        Err(named @ Error::Input(_)) => Err(named),
        Err(e) => Err(input.failed(e)),
    }
}

/// Reads an Arrow IPC stream that can be read only once, such as a pipe. [`Batches::new`](crate::Batches::new) makes it a
/// table.
///
/// ```
/// use pilaster::column::Table;
/// use pilaster_arrow::input::pipe;
/// use pilaster_arrow::{Batches, Kept, ReadOptions, read, write};
/// # use std::sync::Arc;
/// # use pilaster_arrow::arrow_array::{Int32Array, RecordBatch};
/// # let batch = RecordBatch::try_from_iter([("year", Arc::new(Int32Array::from(vec![1870])) as _)])?;
/// # let table = Batches::from_source(Kept::new(batch.schema(), [batch]))?;
/// # let stream = write::all(read(table, ReadOptions::default())?, Vec::new(), write::Kind::IpcStream, write::Compression::None)?;
/// let stream = std::io::Cursor::new(stream);
/// assert_eq!(Batches::new(pipe(stream)?)?.to_vec::<Option<i32>>("year")?, [Some(1870)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of the first message, which has the schema.
#[cfg(feature = "ipc")]
pub fn pipe(from: impl std::io::Read + Send + 'static) -> Result<AnyReader, Error> {
    let from = std::io::BufReader::new(contained::Outside(from));
    let from = framed::Framed::new(from, 0);
    let reader = contained(|| arrow_ipc::reader::StreamReader::try_new(from, None))??;
    Ok(Box::new(Contained { reader: Box::new(reader), failed: false }))
}

fn inner(kind: FileKind, input: Input, options: InputOptions) -> Result<Inner, Error> {
    match kind {
        #[cfg(feature = "parquet")]
        FileKind::Parquet => Ok(Inner::Parquet(parquet::Parquet::open(input, &options)?)),
        #[cfg(feature = "ipc")]
        FileKind::IpcFile | FileKind::IpcStream => Ok(Inner::Ipc(ipc::Ipc::open(input, kind)?)),
        #[cfg(feature = "csv")]
        FileKind::Csv => Ok(Inner::Csv(csv::Csv::open(input, options)?)),
        #[cfg(feature = "json")]
        FileKind::JsonLines => Ok(Inner::Json(json::Json::open(input, &options)?)),
        #[allow(unreachable_patterns, reason = "depends on the features")]
        kind => {
            let _ = options;
            Err(input.failed(format!("{kind} cannot be read by this build")))
        }
    }
}

impl InputFile {
    /// Returns the kind of the file.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }

    /// Returns all batches as an Arrow reader.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn reader(&mut self) -> Result<AnyReader, Error> {
        Ok(self.open(None, 0)?.0)
    }

    /// Returns a handle that tells whether a read found a row that does not fit types that were inferred from the first rows.
    #[must_use]
    pub fn refuted(&self) -> Refuted {
        match &self.inner {
            #[cfg(feature = "csv")]
            Inner::Csv(csv) => csv.refuted(),
            #[allow(unreachable_patterns, reason = "depends on the features")]
            _ => Refuted::default(),
        }
    }

    /// Returns how the rows are stored; `None` for streams and text.
    #[must_use]
    pub fn storage(&self) -> Option<Storage> {
        match &self.inner {
            #[cfg(feature = "parquet")]
            Inner::Parquet(parquet) => Some(parquet.storage()),
            #[cfg(feature = "ipc")]
            Inner::Ipc(ipc) => Some(Storage { groups: ipc.groups()?, ..Storage::default() }),
            #[allow(unreachable_patterns, reason = "depends on the features")]
            _ => None,
        }
    }

    /// Leaves out rows that need not be read, in every later read: row groups of Parquet, by their statistics, which are
    /// claims of the file. Files of other kinds, which have no statistics, keep all rows. Numbers of rows then do not count
    /// those that are left out.
    ///
    /// `may_match` receives what is known of the columns with the numbers `columns` in a row group, in this order, and
    /// returns whether any of its rows may be wanted.
    ///
    /// ```
    /// use pilaster::column::{Table, Value};
    /// use pilaster_arrow::input::{InputOptions, open};
    /// use pilaster_arrow::{Batches, Kept, ReadOptions, read, write};
    /// # use std::sync::Arc;
    /// # use pilaster_arrow::arrow_array::{Int32Array, RecordBatch};
    /// # let batch = RecordBatch::try_from_iter([("year", Arc::new(Int32Array::from(vec![1870, 1871])) as _)])?;
    /// # let table = Batches::from_source(Kept::new(batch.schema(), [batch]))?;
    /// # let rows = read(table, ReadOptions::default())?;
    /// let bytes = write::all(rows, Vec::new(), write::Kind::Parquet, write::Compression::None)?;
    /// let mut file = open(bytes.into(), InputOptions::default())?;
    /// file.retain(&[0], &mut |zones| {
    ///     // Whether a year may be after 1900; without a maximum it may.
    ///     Ok(zones.iter().all(|year| match year.max.get() {
    ///         Some(Value::Int(max)) => *max > 1900,
    ///         _ => true,
    ///     }))
    /// })?;
    /// assert_eq!(Batches::from_source(file)?.to_vec::<Option<i32>>("year")?, []);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Input`] for the number of a column that does not exist, errors of statistics, and errors of `may_match`.
    pub fn retain(&mut self, columns: &[usize], may_match: MayMatch<'_>) -> Result<(), Error> {
        match &mut self.inner {
            #[cfg(feature = "parquet")]
            Inner::Parquet(parquet) => contained(|| parquet.retain(columns, may_match))?,
            #[allow(unreachable_patterns, reason = "depends on the features")]
            _ => {
                let _ = (columns, may_match);
                Ok(())
            }
        }
    }
}

/// Returns whether rows may be wanted, by what is known of their columns.
pub type MayMatch<'m> = &'m mut dyn FnMut(&[Zone<'_>]) -> Result<bool, Error>;

/// Calls a method of the source of the file's kind.
macro_rules! each {
    ($inner:expr, $source:ident => $call:expr) => {
        match $inner {
            #[cfg(feature = "parquet")]
            Inner::Parquet($source) => $call,
            #[cfg(feature = "ipc")]
            Inner::Ipc($source) => $call,
            #[cfg(feature = "csv")]
            Inner::Csv($source) => $call,
            #[cfg(feature = "json")]
            Inner::Json($source) => $call,
        }
    };
}

impl Source for InputFile {
    type Batches = AnyReader;

    fn schema(&self) -> SchemaRef {
        each!(&self.inner, source => Arc::clone(source.schema()))
    }

    fn rows(&self) -> Option<u64> {
        each!(&self.inner, source => source.rows())
    }

    fn chooses(&self) -> bool {
        true
    }

    fn seeks(&self) -> bool {
        self.rows().is_some()
    }

    fn open(&mut self, columns: Option<&[usize]>, row: u64) -> Result<(AnyReader, u64), Error> {
        let (reader, first) = contained(|| each!(&self.inner, source => source.batches(columns, row)))??;
        Ok((Box::new(Contained { reader, failed: false }), first))
    }
}
