//! DataSeries v1: typed records in self-checking extents, one byte order per file.
//!
//! ```text
//!   +0   file header   40 bytes: "DSv1", check values that show the byte order
//!   40   type extent   the XML descriptions of all types, as records of "DataSeries: XmlType"
//!        extents       any number, any mix of types; each begins at a multiple of 4:
//!                        header 28 | type name | fixed part | variable part
//!                        records of one size | pool of strings that the cells point into
//!        index extent  offset and type of every extent, "DataSeries: ExtentIndex"
//!        trailer       28 bytes: where the index extent is
//! ```
//!
//! Each part of an extent is packed (differences, scaled doubles, nulls left out), then compressed on
//! its own. An extent carries two checks, of the stored and of the partly unpacked bytes. A file
//! whose writer died has no index and no trailer; what was written whole is good.
//!
//! # Reading
//!
//! A [`File`] has one byte order, an [`AnyFile`] the one that it says. It is opened through trailer and
//! index, or from the front without them; its [`Types`] are views of the descriptions that it holds. A
//! [`Table`] walks the extents of one type and unpacks one at a time; rows come through the
//! [`column`](mod@crate::column) traits. All memory is lent, and [`File::need`] says how much an extent takes.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::column::{Column, Part, Table, Values};
//! use pilaster::dataseries::{AnyFile, ReadOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let bytes = std::fs::read("tests/golden/dataseries/tiny_be.ds")?;
//! let mut kept = [0; 2048];
//! let file = AnyFile::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut kept))?;
//! let ty = file.types().get(0).unwrap();
//! assert_eq!((ty.name(), ty.record_len(), ty.find("i")), ("Tiny", 24, Some(2)));
//!
//! let mut table = file.table("Tiny")?;
//! let mut memory = vec![0; usize::try_from(file.need()?)?];
//! while let Some(part) = table.next_part(&mut Scratch::new(&mut memory))? {
//!     let mut memory = [0; 64];
//!     let column = part.column(2)?;
//!     let batch = column.read(0..2, &mut Scratch::new(&mut memory))?;
//!     assert!(matches!(batch.values, Values::I32([-2, _])), "native, whatever the file's order");
//!     assert!(batch.validity.get(0) && !batch.validity.get(1), "row 1 is null");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A file beyond memory is read in steps, each of which takes the bytes of a [`Span`](crate::bytes::Span)
//! and says where to look next:
//!
//! | step | takes | gives |
//! |---|---|---|
//! | [`Order::of`] | [`Order::SPAN`] | the byte order |
//! | [`Trailer::of`] | [`Trailer::span`] | where the index extent lies |
//! | [`Index::open`] | that span | where every extent lies |
//! | [`Next::of`] | [`Next::span`], without an index | the header there, and so where the next one lies |
//! | [`Types::open`] | the first extent | the types |
//! | [`Extent::unpack`] | any extent | its rows |
//!
//! # What is read
//!
//! | part | read | remarks |
//! |---|---|---|
//! | byte orders | both | fixedwidth fields of foreign order, too, which the original refuses |
//! | modes | none, lzf, lz4, lz4hc, snappy; lzo, zlib, bz2 with the features `lzo`, `deflate`, `bzip2` | |
//! | fields | bool, byte, int32, int64, double, variable32, fixedwidth | variable32 is a column of bytes; whether it is text, the file does not say |
//! | layouts | every ordering and padding | |
//! | packing | null compaction; relative to itself and to others; scaled | values of `opt_doublebase` fields stay as stored, their base is in [`Field::base`] |
//! | descriptions | UTF-8, ASCII, ISO-8859-1 | a document type with declarations of its own is refused |
//!
//! Refused where the original crashes or goes on: negative counts, unknown modes of parts that hold
//! something, entries of negative length, cells that name no place in their pool (with checks off:
//! when they are read), index rows that do not fit the extents, parts that claim more than their codec
//! can hold.

mod check;
pub mod chunks;
pub mod layout;
pub mod raw;
mod read;
pub mod recover;
pub mod types;
pub mod write;

#[doc(inline)]
pub use crate::__dataseries_record as record;
pub use layout::{FieldType, Options};
pub use raw::Mode;
pub use read::{
    AnyFile, AnyTable, Column, End, Extent, Extents, File, Header, Index, IndexRow, Next, Order, Part, ReadOptions,
    Table, Trailer, Types,
};
pub use types::{ExtentType, Field};
