//! How inputs are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_schema::Schema;

#[cfg(any(feature = "csv", feature = "json", feature = "parquet"))]
use super::CELLS;
use super::FileKind;
use crate::Filter;

/// How inputs are read.
#[derive(Debug)]
pub struct InputOptions {
    /// The kind of the file, if it is known.
    pub kind: Option<FileKind>,
    /// Maximum number of rows in a batch of Parquet, CSV and JSON lines; 0 counts as 1. Batches of more than 64 columns,
    /// or of long texts, have fewer rows.
    pub batch_rows: usize,
    /// Types of columns of CSV and JSON lines; other types are inferred. [`schema::parse`](crate::schema::parse)
    /// reads them from a text. A value that does not have its type exactly is an error, except that fractions are rounded to
    /// floating-point types; every number of JSON has the type text.
    pub schema: Option<Schema>,
    /// The separator of CSV; if `None`, a tab in files called `.tsv` or `.tab`, else a comma.
    pub delimiter: Option<u8>,
    /// Whether the first line of CSV has the names of the columns. They are `column_1` and so on otherwise.
    pub header: bool,
    /// Texts of CSV that mean a missing value, besides an empty field. In quotes and in the header they are texts; `""` is a missing value of
    /// columns that have another type than text.
    pub missing: Vec<String>,
    /// Which rows of CSV tell the types that are not given.
    pub inferred: Inferred,
    /// Row groups of Parquet that need not be read, by their statistics, which are claims of the file.
    pub filters: Vec<Filter<'static>>,
}

/// Which rows of CSV tell the types of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inferred {
    /// All rows, which are read twice.
    #[default]
    FromAll,
    /// The first batch. While the other rows are read, they are compared with the types of the first ones: a row after which a column
    /// would have another type is an error, and [`InputFile::refuted`](super::InputFile::refuted) tells that the types were the cause. All rows are read
    /// once if the first ones are like the others.
    FromFirst,
}

/// Tells whether types that were inferred from the first rows are refuted by others.
///
/// ```
/// use pilaster_arrow::input::{Inferred, Input, InputOptions, open};
///
/// let text = b"n\n1\n2\nx\n".to_vec();
/// let options = InputOptions { inferred: Inferred::FromFirst, batch_rows: 2, ..InputOptions::default() };
/// let mut file = open(Input::from(text).with_name("a.csv"), options)?;
/// let refuted = file.refuted();
/// let batches: Vec<_> = file.reader()?.collect();
/// assert!(batches[0].is_ok() && batches[1].is_err() && refuted.is_true());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Refuted(Arc<AtomicBool>);

impl Refuted {
    /// Returns whether any read so far found a row that does not fit the types.
    #[must_use]
    pub fn is_true(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    #[cfg(feature = "csv")]
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Default for InputOptions {
    /// Detects the kind and infers the types; batches of 65,536 rows.
    fn default() -> Self {
        InputOptions {
            kind: None,
            batch_rows: 1 << 16,
            schema: None,
            delimiter: None,
            header: true,
            missing: Vec::new(),
            inferred: Inferred::FromAll,
            filters: Vec::new(),
        }
    }
}

impl InputOptions {
    /// Returns the maximum number of rows in a batch of these columns, so that wide tables take no more memory than others.
    #[cfg(any(feature = "csv", feature = "json", feature = "parquet"))]
    pub(super) fn rows_of(&self, schema: &Schema) -> usize {
        let columns = schema.flattened_fields().len().max(1);
        self.batch_rows.min(CELLS.checked_div(columns).unwrap_or(0)).max(1)
    }
}
