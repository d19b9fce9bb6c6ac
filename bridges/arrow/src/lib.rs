//! Columnar files as Arrow record batches, and the reverse: Filo, DataSeries, Jay, bcolz and Vortex, through the traits
//! of [`pilaster::column`].
//!
//! [`read()`] returns a [`Reader`], which is an Arrow [`RecordBatchReader`](arrow_array::RecordBatchReader) over any
//! [`Table`](pilaster::column::Table). Values that are aligned and raw in the file stay there: the buffers of the arrays
//! refer to the bytes of the file if the options contain them ([`ReadOptions::bytes`]). Values that must be decoded are
//! decoded into a block, which becomes the buffer if they fill it, and from which they are copied otherwise
//! ([`Reader::compacted_bytes`]). [`Reader::copied_bytes`] counts the bytes that are copied beside that.
//!
//! [`schema`] tells which Arrow type each column type has.
//!
//! [`Batches`] is a table of record batches, for every writer of the library: [`convert`] passes it to one.
#![cfg_attr(
    any(feature = "ipc", feature = "parquet", feature = "csv", feature = "json"),
    doc = "The module [`input`] opens Parquet, Arrow IPC, CSV and JSON lines as such tables."
)]
#![cfg_attr(
    any(feature = "ipc", feature = "parquet"),
    doc = "The functions of [`write`](mod@write) store record batches as Arrow IPC and Parquet files."
)]
//!
//! ```
//! use pilaster::any::{File, Format, Hints};
//! use pilaster::bytes::Scratch;
//! use pilaster_arrow::{Buffer, ReadOptions, read};
//!
//! let bytes = Buffer::from(std::fs::read("../../examples/data/keyed_1.jay")?);
//! let mut memory = vec![0; 1 << 16];
//! let file = File::open(&bytes, Format::Jay, &Hints::default(), &mut Scratch::new(&mut memory))?;
//!
//! let options = ReadOptions { bytes: Some(bytes.clone()), columns: Some(vec!["k".into()]), ..ReadOptions::default() };
//! let mut reader = read(file.table(None)?, options)?;
//! let batch = reader.next().expect("a batch")?;
//! assert_eq!((batch.num_rows(), batch.num_columns(), reader.copied_bytes()), (50, 1, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod array;
mod block;
mod build;
#[cfg(feature = "ipc")]
pub mod dictionaries;
pub mod durations;
mod error;
mod fields;
mod held;
mod import;
#[cfg(any(feature = "ipc", feature = "parquet", feature = "csv", feature = "json"))]
pub mod input;
mod join;
mod nested;
mod options;
#[cfg(feature = "parquet")]
mod parquet_types;
#[cfg(any(feature = "ipc", feature = "parquet"))]
mod plain;
mod pool;
mod prune;
mod read;
pub mod schema;
mod series;
mod texts;
pub mod times;
#[cfg(any(feature = "ipc", feature = "parquet"))]
pub mod write;

pub use arrow_array;
pub use arrow_buffer::Buffer;
pub use arrow_data;
pub use arrow_schema;
pub use arrow_select;
pub use build::Builder;
pub use error::Error;
pub use import::{Batches, Cause, Column, Kept, Part, Source, Stream, convert};
pub use options::{Filter, ReadOptions, Spare};
pub use read::{Reader, read};
pub use series::{SeriesOptions, write_series};
