//! SQL over columnar files with Apache DataFusion: DataSeries, Jay, Vortex and Filo as file formats, and bcolz datasets as
//! tables.
//!
//! | item | effect |
//! |---|---|
//! | [`Factory`], [`Format`] | one file format: schema, row counts, scans of single files and directories, writing |
//! | [`Source`] | a scan: projection, predicate, limit, metrics |
//! | [`Dataset`] | a bcolz directory as a table |
//! | [`write`](write()), [`encode`] | record batches as a file |
//! | [`Options`] | what a file does not say about itself, and what may be trusted |
//! | [`skipped`] | the damaged files that a query left out |
//! | [`shown`] | the path of a file, as errors have it |
//! | [`Failure`], [`Reason`] | why a file cannot be read, and what helps |
#![cfg_attr(
    feature = "session",
    doc = "| [`register`] | `CREATE EXTERNAL TABLE t STORED AS VORTEX LOCATION 'logs/'` for all formats in a session |"
)]
#![cfg_attr(feature = "codec", doc = "| [`Codec`] | scans that travel to workers, with predicate and options |")]
//!
//! # How files are read
//!
//! A file is split over many readers by byte ranges. A range owns the extents of a DataSeries file that begin in it; of other
//! formats, it owns groups of rows, each placed where it would begin if all rows had the same size. Every group is in exactly
//! one range.
//!
//! A predicate is applied to the rows of Vortex and Jay while they are read: its own columns are read first, and others where rows are
//! left. Of other formats, of files whose damage is left out or tolerated, and of columns of paths, DataFusion applies it.
//! Before, zones of rows are left out by their statistics. Statistics that a format does not check, as in Vortex and Jay, are used
//! only with [`Options::trust_statistics`]: if a file lies, rows would be missing.
//!
//! Ranges are fetched from any `object_store`. Opening a file takes two requests at most, and another one if its metadata are larger
//! than what is fetched first: 448 KiB of Vortex and Jay for a plan of few files, else 64 KiB. They are kept.
//!
//! Texts and lists have offsets of 32 bits, dictionaries are returned as values, and every column can be null, so that files that
//! store the same columns differently are one table. A column that a file does not have is null there.

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
#![cfg_attr(test, allow(clippy::expect_used, clippy::arithmetic_side_effects))]

mod ahead;
mod buffers;
#[cfg(feature = "codec")]
mod codec;
mod counts;
mod dataset;
mod error;
mod extents;
mod files;
mod filter;
mod format;
mod heads;
mod help;
mod late;
mod open;
mod opener;
mod options;
mod order;
mod scan;
mod schema;
mod share;
mod sink;
mod source;
mod statistics;
mod store;
mod values;
mod write;
mod zones;

#[cfg(feature = "codec")]
pub use codec::Codec;
pub use counts::skipped;
pub use dataset::{Dataset, DatasetFactory};
pub use error::{Failure, Reason};
#[cfg(feature = "session")]
pub use format::register;
pub use format::{Factory, Format};
pub use options::Options;
pub use source::Source;
pub use store::shown_at as shown;
pub use write::{encode, write};
