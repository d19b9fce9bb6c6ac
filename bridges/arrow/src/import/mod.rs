//! Record batches as a [`Table`](column::Table): each batch is a part.

#[cfg(feature = "parquet")]
mod bounds;
mod column;
mod node;
mod number;
mod pick;
mod source;
mod store;
mod text;

pub use self::column::Column;
#[cfg(feature = "parquet")]
pub(crate) use bounds::Bounds;
pub use source::{Kept, Source, Stream};
pub use store::{Cause, convert};

use std::fmt;

use arrow_array::{Array, RecordBatch, RecordBatchReader, new_empty_array};
use arrow_schema::{DataType, Field, SchemaRef};
use pilaster::bytes::Scratch;
use pilaster::column as columns;
use pilaster::error::{Error as FileError, Kind, Result as FileResult, What};

use crate::Error;
use node::Node;

/// The record batches of a source as a table: each batch is a part, and one batch is in memory at a time.
///
/// Values stay in the buffers of Arrow where a column of this library has the same layout. Dictionaries, runs, views
/// whose texts lie in several buffers, and decimals that are wider than their digits require take scratch memory. The
/// columns have the types of [`column_type`](crate::schema::column_type); extension types are read as their storage type, except
/// [`VARIANT`](crate::schema::VARIANT) on a struct of `metadata` and `value`, which is a column of variants.
///
/// ```
/// use std::sync::Arc;
/// use pilaster::column::Table;
/// use pilaster_arrow::Batches;
/// use pilaster_arrow::arrow_array::{Int32Array, RecordBatch, RecordBatchIterator};
///
/// let years: Int32Array = vec![Some(1870), None].into();
/// let batch = RecordBatch::try_from_iter([("year", Arc::new(years) as _)])?;
/// let mut table = Batches::new(RecordBatchIterator::new([Ok(batch.clone())], batch.schema()))?;
/// assert_eq!(table.to_vec::<Option<i32>>("year")?, [Some(1870), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Batches<S: Source> {
    source: S,
    open: Option<S::Batches>,
    current: Current,
    chosen: Option<Vec<usize>>,
    /// The first row of the next batch.
    at: u64,
    /// Number of rows before it that the open batches still have: the source was opened before row `at`.
    before: u64,
    /// Whether a part was returned: a table without rows has one part, which tells its columns.
    told: bool,
    failed: Option<Error>,
}

// The readers of sources have no text.
impl<S: Source + fmt::Debug> fmt::Debug for Batches<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").field("source", &self.source).field("at", &self.at).finish_non_exhaustive()
    }
}

/// The rows of the current batch.
#[derive(Debug)]
struct Current {
    schema: SchemaRef,
    rows: u64,
    /// The columns that were read, by ascending numbers.
    nodes: Vec<(usize, Node)>,
    /// Columns without rows, for those that were not chosen.
    blank: Vec<Node>,
    /// Whether no column can have the type of each one.
    refused: Vec<bool>,
}

impl<R: RecordBatchReader> Batches<Stream<R>> {
    /// Creates the table of a reader, which can be read once. A writer that is fed column by column reads a table
    /// several times: [`from_source`](Self::from_source) takes sources that can be opened again.
    ///
    /// # Errors
    /// [`Error::Column`] with the name of a column whose type no column of this library can have.
    pub fn new(reader: R) -> Result<Self, Error> {
        Self::from_source(Stream::new(reader))
    }
}

impl<S: Source> Batches<S> {
    /// Creates the table of a source.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use pilaster::column::Table;
    /// use pilaster_arrow::arrow_array::{RecordBatch, StringViewArray};
    /// use pilaster_arrow::{Batches, Kept};
    ///
    /// let cities = StringViewArray::from(vec!["Bern", "Rome"]);
    /// let batch = RecordBatch::try_from_iter([("city", Arc::new(cities) as _)])?;
    /// let mut table = Batches::from_source(Kept::new(batch.schema(), [batch.clone(), batch]))?;
    /// assert_eq!(table.skip(3)?, 2);
    /// assert_eq!(table.to_strings("city")?, ["Bern", "Rome", "Bern", "Rome"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Column`] with the name of a column whose type no column of this library can have.
    pub fn from_source(source: S) -> Result<Self, Error> {
        source.schema().fields().iter().try_for_each(|field| node::check(field))?;
        Self::tolerant(source)
    }

    /// Creates the table of a source with columns of any type. A column whose type no column of this library can have is
    /// [refused](Self::refused) when it is read; its type is null before.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use pilaster::column::Table;
    /// use pilaster_arrow::arrow_array::{DurationSecondArray, Int32Array, RecordBatch};
    /// use pilaster_arrow::{Batches, Kept};
    ///
    /// let (years, spans) = (Int32Array::from(vec![1870]), DurationSecondArray::from(vec![5]));
    /// let batch = RecordBatch::try_from_iter([("year", Arc::new(years) as _), ("span", Arc::new(spans) as _)])?;
    /// let kept = Kept::new(batch.schema(), [batch]);
    /// assert!(Batches::from_source(kept.clone()).is_err());
    /// let mut table = Batches::tolerant(kept)?;
    /// assert_eq!(table.refused().collect::<Vec<_>>(), [1]);
    /// assert_eq!(table.to_vec::<i32>("year")?, [1870]);
    /// assert!(table.to_vec::<i32>("span").is_err());
    /// let e = table.failed().expect("the error of the second column").to_string();
    /// assert!(e.starts_with("column \"span\": no format stores Duration(s)"), "{e}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of Arrow.
    pub fn tolerant(source: S) -> Result<Self, Error> {
        let schema = source.schema();
        let refused: Vec<bool> = schema.fields().iter().map(|field| node::check(field).is_err()).collect();
        let mut blank = Vec::with_capacity(schema.fields().len());
        for (field, refused) in schema.fields().iter().zip(&refused) {
            let null = Field::new(field.name(), DataType::Null, true);
            let field = if *refused { &null } else { field.as_ref() };
            blank.push(named(field, &new_empty_array(field.data_type()))?);
        }
        let current = Current { schema, rows: 0, nodes: Vec::new(), blank, refused };
        Ok(Batches { source, open: None, current, chosen: None, at: 0, before: 0, told: false, failed: None })
    }

    /// Returns the schema of all columns.
    pub const fn schema(&self) -> &SchemaRef {
        &self.current.schema
    }

    /// Returns the numbers of the columns whose types no column can have.
    pub fn refused(&self) -> impl Iterator<Item = usize> {
        self.current.refused.iter().enumerate().filter(|(_, refused)| **refused).map(|(k, _)| k)
    }

    /// Returns the source.
    pub const fn source(&self) -> &S {
        &self.source
    }

    /// Returns the source; its batches are to be opened again.
    pub fn into_source(self) -> S {
        self.source
    }

    /// Returns the cause of the last error of [`next_part`](columns::Table::next_part) or
    /// [`skip`](columns::Table::skip), whose own error only tells the row.
    #[must_use]
    pub const fn failed(&self) -> Option<&Error> {
        self.failed.as_ref()
    }

    fn fail(&mut self, e: Error) -> FileError {
        let error = match &e {
            Error::File(e) => *e,
            _ => FileError::new(Kind::Invalid, What::INPUT, self.at),
        };
        self.failed = Some(e);
        error
    }

    /// Opens the source at row `at`, or before it. Returns the first row.
    fn reopen(&mut self, at: u64) -> Result<u64, Error> {
        let (batches, first) = self.source.open(self.chosen.as_deref(), at)?;
        self.open = Some(batches);
        Ok(first)
    }

    /// Reads the next batch with rows into `current`. Returns whether there is one.
    fn advance(&mut self) -> Result<bool, Error> {
        if self.open.is_none() {
            let first = self.reopen(self.at)?;
            self.before = self.at.saturating_sub(first);
        }
        // The last batch is released before the next one is read.
        self.current.rows = 0;
        self.current.nodes.clear();
        let Some(open) = &mut self.open else { return Ok(false) };
        for batch in open {
            let mut batch = batch?;
            if self.before > 0 {
                let rows = batch.num_rows();
                let done = usize::try_from(self.before).unwrap_or(rows).min(rows);
                self.before = self.before.saturating_sub(done as u64);
                batch = batch.slice(done, rows.saturating_sub(done));
            }
            if batch.num_rows() > 0 {
                let chosen = self.chosen.as_deref().filter(|_| self.source.chooses());
                self.current.take(&batch, chosen)?;
                self.at = self.at.saturating_add(self.current.rows);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn named(field: &Field, array: &dyn Array) -> Result<Node, Error> {
    node::node(field, array).map_err(|e| e.in_column(field.name()))
}

impl Current {
    /// Takes the columns of a batch: those with the numbers `chosen`, or all.
    fn take(&mut self, batch: &RecordBatch, chosen: Option<&[usize]>) -> Result<(), Error> {
        let fields = self.schema.fields();
        let mut nodes = Vec::with_capacity(batch.num_columns());
        let all: Vec<usize> = match chosen {
            Some(chosen) => chosen.to_vec(),
            None => (0..fields.len()).collect(),
        };
        if all.len() != batch.num_columns() {
            return Err(Error::Input(format!("a batch has {} columns instead of {}", batch.num_columns(), all.len())));
        }
        for (k, array) in all.into_iter().zip(batch.columns()) {
            let Some(field) = fields.get(k) else { continue };
            if !field.data_type().equals_datatype(array.data_type()) {
                let text = format!("a batch has {} instead of {}", array.data_type(), field.data_type());
                return Err(Error::Input(text).in_column(field.name()));
            }
            if self.refused.get(k) == Some(&true) {
                node::check(field)?;
            }
            nodes.push((k, named(field, array)?));
        }
        (self.nodes, self.rows) = (nodes, batch.num_rows() as u64);
        Ok(())
    }
}

impl<S: Source> columns::Table for Batches<S> {
    type Part<'p>
        = Part<'p>
    where
        Self: 'p;

    fn next_part<'p>(&'p mut self, _: &mut Scratch<'p>) -> FileResult<Option<Part<'p>>>
    where
        Self: 'p,
    {
        let more = self.advance().map_err(|e| self.fail(e))?;
        let told = std::mem::replace(&mut self.told, true);
        Ok((more || !told).then_some(Part { current: &self.current }))
    }

    fn skip(&mut self, rows: u64) -> FileResult<u64> {
        if !self.source.seeks() {
            return Ok(0);
        }
        let before = self.at;
        let first = self.reopen(before.saturating_add(rows)).map_err(|e| self.fail(e))?;
        // A batch that begins before this row is read again. The next part has the rest of its rows.
        (self.at, self.before) = (first.max(before), before.saturating_sub(first));
        self.told |= self.at > before;
        Ok(self.at.saturating_sub(before))
    }

    fn bookmark(&self) -> columns::Bookmark {
        columns::Bookmark::new(self.at, self.told.into())
    }

    fn seek(&mut self, to: columns::Bookmark) -> FileResult<()> {
        let (at, told) = to.numbers();
        if at > 0 && !self.source.seeks() {
            return Err(FileError::new(Kind::Unsupported, What::INPUT, at));
        }
        if at > 0 || self.at > 0 || self.open.is_some() {
            // The next part opens the source at this row.
            (self.open, self.at, self.before) = (None, at, 0);
        }
        self.told = told > 0;
        Ok(())
    }

    fn choose(&mut self, columns: Option<&[usize]>) -> bool {
        let mut chosen = columns.map(<[usize]>::to_vec);
        if let Some(chosen) = &mut chosen {
            chosen.retain(|k| *k < self.current.blank.len());
            chosen.sort_unstable();
            chosen.dedup();
        }
        let chooses = self.source.chooses();
        if chooses && chosen != self.chosen {
            // The next parts come from here, with other columns.
            self.open = None;
            self.chosen = chosen;
        }
        chooses
    }

    fn lists(&self, name: &str) -> bool {
        self.current.schema.column_with_name(name).is_some()
    }
}

/// A record batch as a part.
#[derive(Clone, Copy, Debug)]
pub struct Part<'p> {
    current: &'p Current,
}

impl<'p> columns::Part for Part<'p> {
    type Col = Column<'p>;

    fn rows(&self) -> u64 {
        self.current.rows
    }

    fn width(&self) -> usize {
        self.current.blank.len()
    }

    fn name(&self, k: usize) -> FileResult<&str> {
        let field = self.current.schema.fields().get(k).ok_or_else(|| self.no_column(k))?;
        Ok(field.name())
    }

    fn column(&self, k: usize) -> FileResult<Column<'p>> {
        let read = self.current.nodes.binary_search_by_key(&k, |(number, _)| *number).ok();
        let read = read.and_then(|at| self.current.nodes.get(at)).map(|(_, node)| node);
        let node = read.or_else(|| self.current.blank.get(k)).ok_or_else(|| self.no_column(k))?;
        Ok(Column::new(node))
    }
}

impl Part<'_> {
    #[cold]
    fn no_column(&self, k: usize) -> FileError {
        FileError::needing(Kind::OutOfRange, What::COLUMN, k as u64, self.current.blank.len() as u64)
    }
}
