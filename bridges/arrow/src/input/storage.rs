//! How a file stores its columns.

/// How a file stores its rows, as its metadata claim.
///
#[cfg_attr(feature = "parquet", doc = "```")]
#[cfg_attr(not(feature = "parquet"), doc = "```ignore")]
/// use pilaster_arrow::input::{InputOptions, open};
/// use pilaster_arrow::{Batches, Kept, ReadOptions, read, write};
/// # use std::sync::Arc;
/// # use pilaster_arrow::arrow_array::{Int32Array, RecordBatch};
/// # let batch = RecordBatch::try_from_iter([("year", Arc::new(Int32Array::from(vec![1870, 1871])) as _)])?;
/// # let table = Batches::from_source(Kept::new(batch.schema(), [batch]))?;
/// # let rows = read(table, ReadOptions::default())?;
/// let bytes = write::all(rows, Vec::new(), write::Kind::Parquet, write::Compression::Snappy)?;
/// let storage = open(bytes.into(), InputOptions::default())?.storage().unwrap();
/// assert_eq!((storage.groups, storage.columns.len()), (1, 1));
/// let year = &storage.columns[0];
/// assert_eq!((year.name.as_str(), year.ty.as_str(), year.missing), ("year", "INT32", Some(0)));
/// assert_eq!(year.compressions, ["SNAPPY"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Storage {
    /// The program that wrote the file.
    pub writer: Option<String>,
    /// Number of row groups of Parquet, or of record batches of an IPC file.
    pub groups: usize,
    /// The columns of Parquet: of a nested one the innermost ones. Empty for other files.
    pub columns: Vec<StoredColumn>,
}

/// How a column is stored, in all row groups together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredColumn {
    /// The name; of an innermost column the path to it, such as `a.list.element`.
    pub name: String,
    /// The physical type of Parquet, such as `INT64`.
    pub ty: String,
    /// The encodings of pages and levels, such as `RLE_DICTIONARY`.
    pub encodings: Vec<String>,
    /// The compressions, such as `SNAPPY`.
    pub compressions: Vec<String>,
    /// Number of bytes in the file.
    pub stored: u64,
    /// Number of bytes without compression.
    pub unpacked: u64,
    /// Number of missing values, if the statistics of every row group state it.
    pub missing: Option<u64>,
}

impl StoredColumn {
    /// Adds a text that is not in the list.
    #[cfg(feature = "parquet")]
    pub(super) fn add(list: &mut Vec<String>, text: String) {
        if !list.contains(&text) {
            list.push(text);
        }
    }
}
