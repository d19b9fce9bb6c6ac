//! DataSeries v1: typed records in self-checking extents, one byte order per file.
//!
//! Section numbers in comments refer to the description of the format, `docs/formats/dataseries.md`.
//!
//! ```text
//!   +0   file header   40 bytes: "DSv1", check values that show the byte order
//!   40   type extent   the XML descriptions of all types, as records of "DataSeries: XmlType"
//!        extents       any number, of any types
//!        index extent  offset and type of every extent, "DataSeries: ExtentIndex"
//!        trailer       28 bytes: where the index extent is
//!
//!   an extent, each piece of which begins at a multiple of 4
//!   +0   i32   stored size of the fixed part       16   u32   Adler-32 of the stored extent
//!    4   i32   stored size of the variable part    20   u32   lookup2 of the partly unpacked parts
//!    8   i32   number of records                   24   u8    how the fixed part is stored
//!   12   i32   size of the unpacked pool           25   u8    how the variable part is stored
//!                                                  26   u8    length of the type name; then a zero
//!   28   type name | fixed part: the records, all of one size
//!                  | variable part: the pool of strings that the cells point into
//! ```
//!
//! Cells can be packed: differences to the row before or to another field, doubles as multiples of a scale,
//! nulls left out. Then each part is compressed on its own. A file whose writer died has no index and no
//! trailer; the extents that were written whole are good.
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
//! Rows can be passed over ([`Table::skip`](crate::column::Table::skip)): extents that lie wholly among them
//! are not unpacked, and nothing but their headers is read.
//!
//! # Checks
//!
//! Structure is always checked, so no file makes a reader go astray. Three checks more, which only damage can
//! fail, are on unless [`ReadOptions::verify`] is false: the Adler-32 of the stored extent, the hash of the
//! partly unpacked one, and that every cell names a whole entry of the pool. The hash is a chain that cannot be
//! cut, and takes longer than all else; [`Extent::unpack_pair`] works on the chains of two extents side by
//! side, as [`File::verify`] does where the lent memory holds two.
//!
//! # Types known beforehand
//!
//! A device that reads its own logs has their types from [`record!`](record). [`File::open_known`] compares
//! them with those of the file, and [`Extent::unpack_as`] has in the image only what the type needs; without the
//! reader of XML that is a quarter of the flash.
//!
//! # Files beyond memory
//!
//! A file beyond memory is read in steps, each of which takes the bytes of a [`FileRange`](crate::bytes::FileRange)
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
//! ```
//! use pilaster::bytes::{LittleEndian, Scratch, FileRange};
//! use pilaster::column::Part as _;
//! use pilaster::dataseries::{Extent, Index, ReadOptions, Trailer, Types};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let file = std::fs::read("tests/golden/dataseries/tiny.ds")?;
//! # let file_len = file.len() as u64;
//! // A range of a file that lies elsewhere.
//! let fetch = |span: FileRange| file[span.at as usize..][..span.len as usize].to_vec();
//! let options = ReadOptions::DEFAULT;
//! let mut memory = [0; 4096];
//! let mut scratch = Scratch::new(&mut memory);
//!
//! let span = Trailer::span(file_len)?;
//! let trailer = Trailer::of::<LittleEndian>(&fetch(span), span.at)?.located(span.at)?;
//! let bytes = fetch(trailer.index);
//! let index = Extent::<LittleEndian>::of(&bytes, trailer.index.at)?;
//! let index = Index::open(&index, &trailer, &options, &mut scratch)?;
//! let first = index.get(0)?.span;
//! let bytes = fetch(first);
//! let types = Types::open(&Extent::<LittleEndian>::of(&bytes, first.at)?, &options, &mut scratch)?;
//!
//! let row = index.get(1)?;
//! let ty = types.find(row.type_name).ok_or("a type of the file")?;
//! let bytes = fetch(row.span);
//! let extent = Extent::<LittleEndian>::of(&bytes, row.span.at)?;
//! assert_eq!(extent.unpack(&ty, &options, &mut scratch)?.rows(), 2);
//! # Ok(())
//! # }
//! ```
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
//! can hold. What a damaged file still has whole, [`recover`] finds.
//!
//! # Writing
//!
//! [`write`](mod@write) has its own page; [`chunks`] are records that carry columns encoded elsewhere; `flash` is
//! a log in NOR flash that loses power and goes on (feature `embedded-storage-03`).

mod check;
pub mod chunks;
#[cfg(feature = "embedded-storage-03")]
pub mod flash;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "tests use all of it"))]
pub(crate) mod layout;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "tests use all of it"))]
pub(crate) mod raw;
mod read;
pub mod recover;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "tests use all of it"))]
pub(crate) mod types;
mod what;
pub mod write;

pub(crate) use what::FIELDS;

#[doc(inline)]
pub use crate::__dataseries_record as record;
pub use layout::{Bit, FieldType, Options, Ordering, Pad, Slot};
pub use raw::{EXTENT_HEADER_LEN, HEADER_LEN, INDEX_TYPE, Mode, TRAILER_LEN, XML_TYPE, entry_len};
pub use read::{
    AnyExtent, AnyFile, AnyTable, Column, End, Extent, Extents, File, Header, Index, IndexRow, Next, Order, Part,
    ReadOptions, Table, Trailer, Types,
};
pub use types::{ExtentType, Field, Relative};
