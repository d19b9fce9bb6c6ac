//! Vortex, version 1 of the container: columns as trees of layouts and encodings, read without a heap.
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
//! A [`File`] holds views of the metadata. Rows are read through the [`column`](mod@crate::column) traits: a file has
//! one [`Part`], and a [`Column`] decodes the requested rows through all encodings above them. No tree is built: a node
//! is a small `Copy` value, and the call stack replaces the tree. [`Limits`](crate::limits::Limits) bound its depth and
//! the number of visited nodes. A length that the file claims allocates nothing.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::column::{Column, Part, Values};
//! use pilaster::vortex::File;
//!
//! # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
//! let file = File::open(bytes)?;
//! let part = file.part()?;
//! assert_eq!((part.rows(), part.name(3)?), (1100, "i32"));
//!
//! let column = part.column(3)?;
//! let mut memory = [0; 256];
//! let batch = column.read(1000..1003, &mut Scratch::new(&mut memory))?;
//! assert!(matches!(batch.values, Values::I32([1995, 1997, 1999])), "-5 and 2 for each row");
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! Whole columns with a heap; `st.q` is field `q` of the struct column `st`:
//!
//! ```
//! # #[cfg(feature = "alloc")] {
//! use pilaster::column::{Column, Part, Table};
//! use pilaster::vortex::File;
//!
//! # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/def_one_row_a.vortex"));
//! let file = File::open(bytes)?;
//! assert_eq!(file.table()?.to_vec::<Option<i32>>("i")?, [Some(5)]);
//! assert_eq!(file.table()?.to_vec::<Option<i8>>("st.q")?, [Some(1)]);
//! // Rows of one column. The validity of the struct is not in its fields.
//! let st = file.part()?.named("st")?;
//! assert_eq!(st.child(0)?.to_vec::<Option<i8>>(0..1)?, [Some(1)]);
//! # }
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! A file larger than memory is read from an [`Input`](crate::bytes::Input) that fetches ranges ([`File::open_input`]),
//! or from [`Piece`](crate::bytes::Piece)s of it. An error of
//! [`Kind::Missing`](crate::error::Kind::Missing) names the byte range to fetch; the caller adds that piece and repeats
//! the call. The last [`TAIL_LEN`] bytes contain the metadata of most files. [`Column::segments`] then lists the
//! segments that contain given rows, so that two or three requests suffice.
//!
//! # What is read
//!
//! | part | read | remarks |
//! |---|---|---|
//! | layouts flat, struct, chunked, dict, zoned, stats | yes | for other ids, reading their rows returns an error |
//! | null, primitive, bool, bytebool, constant, decimal, varbin, varbinview | yes | bools are borrowed, primitives too if the target is little-endian and the bytes are aligned |
//! | struct, list, listview, fixed_size_list, map, ext | yes | constant and sparse nested values of up to four levels |
//! | chunked, masked, dict, runend, sparse, sequence | yes | in a dict, a row is null if its code or its value is null |
//! | zigzag, fastlanes.for, bitpacked, rle, delta | yes | delta of releases up to 0.75 is read only if no row is null |
//! | alp, alprd, datetimeparts, decimal_byte_parts | yes | |
//! | fsst, onpair | yes | both forms of FSST; reading checks only the sum of the lengths of a batch, [`File::verify`] each |
//! | zstd | with the feature `zstd` | with and without a dictionary; a frame is always unpacked as a whole |
//! | pco | with the feature `pco` | every mode and delta; a page is always decoded from its start |
//! | for.v2, bitpacked.v2, decimal_byte_parts.v2 | with the feature `vortex-preview` | in no frozen edition |
//! | variant, parquet.variant | with the feature `vortex-variant` | as a struct of metadata and value in the encoding of Apache Parquet; values that are stored apart are put together |
//! | other ids that are not frozen (patched, …) | no | [`Kind::Unsupported`](crate::error::Kind::Unsupported), [`File::unknown_id`] has the id |
//! | files of releases 0.36 to 0.93 | yes | including the old forms of arrays |
//!
//! [`log`] writes files row by row without a heap.
//!
//! [`Column::scalar_at`] reads one row. Its cost does not depend on the length of the column, except for pco, zstd and
//! the number of chunks.
//!
//! [`Column::zones`] returns the zone maps, which allow rows to be skipped; [`File::column_statistics`] returns the
//! stored statistics. [`File::verify`] compares the statistics with the values; each row of a verified file reads to the
//! same value alone and in every batch.
//!
//! A single [`Array`] without a file is read, too. The type of a file that does not store it can be given
//! ([`File::open_as`]), also in the notation in which types are displayed (`DTypeBuf`).
//!
//! An unknown extension type is read as its storage type; [`DType::extension`] returns its id and metadata.

mod alike;
mod array;
mod blob;
mod check;
mod children;
mod column;
mod context;
mod dtype;
mod encodings;
mod end;
mod file;
#[cfg(feature = "vortex-variant")]
#[cfg_attr(not(any(feature = "pco", feature = "zstd")), allow(dead_code, reason = "only these encodings are kept"))]
mod kept;
mod layouts;
pub mod log;
mod measuring;
mod need;
mod node;
mod notation;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "tests use all of it"))]
pub(crate) mod raw;
mod rows;
mod scalar;
mod scheme;
#[cfg(feature = "vortex-variant")]
mod shredded;
pub(crate) mod statistics;
#[cfg(feature = "vortex-variant")]
mod stored_type;
mod strict;
mod table;
mod text;
mod time_zone;
mod tree;
mod type_numbers;
mod values;
mod verify;
mod visit;
mod what;
mod word;
#[cfg(feature = "alloc")]
pub mod write;
mod zones;

pub(crate) use what::FIELDS;

pub use crate::__vortex_record as record;
pub use array::Array;
pub use column::Column;
pub use dtype::DType;
pub use file::File;
#[cfg(feature = "alloc")]
pub use notation::DTypeBuf;
pub use raw::{Encoding, TAIL_LEN};
pub use scalar::Scalar;
pub use statistics::{Bound, Statistics};
pub use table::Part;
pub use visit::{Role, Visit};
pub use zones::Zones;
