//! Vortex, container version 1: columns in trees of layouts and encodings, read without a heap.
//!
//! Section numbers in comments refer to the description of the format, `docs/formats/vortex.md`.
//!
//! ```text
//! "VTXF" | segments (array blobs) | dtype | layout | statistics | footer | postscript | version, length, "VTXF"
//!
//! layout:   struct ─┬─ zoned ─┬─ chunked ─┬─ flat ──► segment: buffers | tree of array nodes | its length
//!  (section 7)      │         └─ zones    └─ dict ─┬─ values
//!                   └─ …                           └─ codes
//! array:    bitpacked in frame of reference in dictionary …, each with its validity (section 10)
//! ```
//!
//! A [`File`] is views of the metadata. Rows come through the [`column`](mod@crate::column) traits: its table
//! has one [`Part`], a part [`Column`]s, and a column decodes the rows that are asked for, whatever number of
//! encodings they lie under. No tree is built: a node is a small `Copy` value, the call stack is the tree, and
//! depth and number of nodes have budgets ([`Limits`](crate::limits::Limits)). A claimed length costs nothing.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::column::{Column, Part, Values};
//! use pilaster::vortex::File;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let bytes = std::fs::read("tests/golden/vortex/enc_sequence_a.vortex")?;
//! let file = File::open(&bytes)?;
//! let part = file.part()?;
//! assert_eq!((part.rows(), part.name(3)?), (1100, "i32"));
//!
//! let column = part.column(3)?;
//! let mut memory = [0; 256];
//! let batch = column.read(1000..1003, &mut Scratch::new(&mut memory))?;
//! assert!(matches!(batch.values, Values::I32([1995, 1997, 1999])), "-5 and 2 for each row");
//! # Ok(())
//! # }
//! ```
//!
//! A file beyond memory is opened from pieces of it: what is missing, an error of
//! [`Kind::Missing`](crate::error::Kind::Missing) names, and the same call with that [`Piece`](crate::bytes::Piece) goes further. The
//! last [`TAIL_LEN`] bytes hold the metadata of most files; [`Column::segments`] then names the segments
//! that rows of a column lie in, so that two or three requests read them.
//!
//! # What is read
//!
//! | part | read | remarks |
//! |---|---|---|
//! | layouts flat, struct, chunked, dict, zoned, stats | yes | other ids are an error where their rows are asked for |
//! | null, primitive, bool, bytebool, constant, decimal, varbin, varbinview | yes | primitives and bools are borrowed where the machine can |
//! | struct, list, listview, fixed_size_list, map, ext | yes | constant nested values of up to four levels, sparse ones too |
//! | chunked, masked, dict, runend, sparse, sequence | yes | rows may be null by code and by value |
//! | zigzag, fastlanes.for, bitpacked, rle, delta | yes | delta of releases up to 0.75 only without nulls |
//! | alp, alprd, datetimeparts, decimal_byte_parts | yes | |
//! | fsst, onpair | yes | FSST in both of its forms; lengths of rows are checked in sum per batch |
//! | zstd | with the feature `zstd` | with and without a dictionary; a frame is unpacked whole, whatever rows are asked for |
//! | pco | with the feature `pco` | every mode and delta; a page is decoded from its beginning |
//! | variant, parquet.variant, and ids that are not frozen (`*.v2`, patched, …) | no | [`Kind::Unsupported`](crate::error::Kind::Unsupported), [`File::unknown_id`] has the id |
//! | files of 0.36 to 0.90 | yes | with the old forms that they have |
//!
//! [`Column::scalar_at`] reads one row. Its cost does not depend on the length of the column, except for pco, zstd and
//! the number of chunks.
//!
//! [`Column::zones`] returns the zone maps, which allow rows to be skipped; [`File::column_statistics`] returns the
//! stored statistics. [`File::verify`] compares the statistics with the values.
//!
//! An unknown extension type is read as its storage type; [`DType::extension`] returns its id and metadata.

mod blob;
mod column;
mod context;
mod dtype;
mod encodings;
mod file;
mod layouts;
mod need;
mod node;
mod notation;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "tests use all of it"))]
pub(crate) mod raw;
mod rows;
mod scalar;
mod scheme;
mod statistics;
mod table;
mod text;
mod tree;
mod values;
mod verify;
mod visit;
mod what;
mod zones;

pub(crate) use what::FIELDS;

pub use column::Column;
pub use dtype::DType;
pub use file::{End, File};
pub use raw::{Encoding, TAIL_LEN};
pub use scalar::Scalar;
pub use statistics::{Bound, Statistics};
pub use table::Part;
pub use visit::{Role, Visit};
pub use zones::Zones;
