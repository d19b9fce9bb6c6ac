//! DataSeries v1: typed records in self-checking extents, one byte order per file.
//!
//! Section numbers in comments refer to the description of the format, `docs/formats/dataseries.md`.
//!
#![cfg_attr(
    feature = "alloc",
    doc = "A log format: a device appends rows, and every extent that is complete can be read after a crash. \
[`any::Owned`](../any/struct.Owned.html) opens a file in one line. This module reads without a heap, and writes:"
)]
#![cfg_attr(
    not(feature = "alloc"),
    doc = "A log format: a device appends rows, and every extent that is complete can be read after a crash. This \
module reads and writes without a heap:"
)]
//!
//! ```
//! use pilaster::bytes::{LittleEndian, Scratch, SliceSink};
//! use pilaster::column::{Part, Table};
//! use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
//! use pilaster::dataseries::{File, ReadOptions, record};
//!
//! record! {
//!     struct Reading = "Reading" namespace "example.org" version 1.0 { time: int64 relative, celsius: double }
//! }
//!
//! let (mut file, mut rows, mut slots) = ([0; 1024], [0; 256], [IndexSlot::EMPTY; 2]);
//! let mut log = Writer::<LittleEndian, _>::new(SliceSink::new(&mut file), Descriptions::of::<Reading>(), &mut slots);
//! let mut extent = ExtentBuffer::of::<Reading>(Memory::rows(&mut rows))?;
//! log.push(&mut extent, &Reading { time: 1000, celsius: 21.5 })?;
//! log.flush(&mut extent)?;
//! let bytes = log.finish()?.into_written();
//!
//! let mut memory = [0; 4096];
//! let mut scratch = Scratch::new(&mut memory);
//! let file = File::<LittleEndian>::open(bytes, &ReadOptions::DEFAULT, &mut scratch)?;
//! let mut table = file.table("Reading")?;
//! let part = table.next_part(&mut scratch)?.expect("an extent");
//! assert_eq!((part.rows(), part.name(1)?), (1, "celsius"));
//! # Ok::<(), pilaster::bytes::WriteError<pilaster::Error>>(())
//! ```
//!
//! # The file
//!
//! ```text
//!   +0   file header   40 bytes: "DSv1", check values that show the byte order
//!   40   type extent   the XML descriptions of all types, as records of "DataSeries: XmlType"
//!        extents       any number, of any types
//!        index extent  offset and type of every extent, "DataSeries: ExtentIndex"
//!        trailer       28 bytes: where the index extent is
//!
//!   an extent; each of its parts begins at a multiple of 4
//!   +0   i32   stored size of the fixed part       16   u32   Adler-32 of the stored extent
//!    4   i32   stored size of the variable part    20   u32   lookup2 of the partly unpacked parts
//!    8   i32   number of records                   24   u8    how the fixed part is stored
//!   12   i32   size of the unpacked pool           25   u8    how the variable part is stored
//!                                                  26   u8    length of the type name; then a zero
//!   28   type name | fixed part: the records, all of one size
//!                  | variable part: the pool of strings that the cells point into
//! ```
//!
//! Cells can be packed: as differences to the previous row or to another field, doubles as multiples of a scale, and
//! without the cells of nulls. Then each part is compressed on its own. A file whose writer was interrupted has no
//! index and no trailer; its complete extents can be read.
//!
//! # Reading
//!
//! A [`File`] has a fixed byte order; an [`AnyFile`] detects it. Both are opened through trailer and index, or from the
//! front without them. [`Types`] are views of the descriptions in the file. A [`Table`] walks the extents of one type
//! and unpacks one at a time; rows are read through the [`column`](mod@crate::column) traits. The caller provides all
//! memory; [`File::need`] returns the scratch size for an extent.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::column::{Column, Part, Table, Values};
//! use pilaster::dataseries::{AnyFile, ReadOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny_be.ds"));
//! let mut kept = [0; 2048];
//! let file = AnyFile::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut kept))?;
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
//! Rows can be skipped ([`Table::skip`](crate::column::Table::skip)): of extents that lie completely within the skipped
//! rows, only the headers are read.
//!
//! # Checks
//!
//! The structure is always checked, so an invalid file results in an error. [`ReadOptions::verify`] is on by default
//! and adds three checks that only damage can fail: the Adler-32 of the stored extent, the hash of the partly unpacked
//! extent, and that every string cell refers to a complete entry of the pool. The hash takes longer than everything
//! else, because each of its steps depends on the step before. [`Extent::unpack_pair`] interleaves the hashes of two
//! extents. [`File::verify`] uses it on 64-bit targets if the scratch holds two extents.
//!
//! # Types known beforehand
//!
//! A device that reads its own logs declares their types with [`record!`](record). [`File::open_known`] compares them
//! with the types of the file, and [`Extent::unpack_as`] links only the code that the type needs. Without the XML
//! parser, this takes a quarter of the flash.
//!
//! # Files beyond memory
//!
//! A file that does not fit in memory is read in steps. Each step takes the bytes of a
//! [`FileRange`](crate::bytes::FileRange) and returns the next range to fetch:
//!
//! | step | takes | returns |
//! |---|---|---|
//! | [`Order::of`] | [`Order::SPAN`] | the byte order |
//! | [`Trailer::of`] | [`Trailer::span`] | the range of the index extent |
//! | [`Index::open`] | that range | the range of every extent |
//! | [`Next::of`] | [`Next::span`], without an index | the header of an extent, and so the start of the next one |
//! | [`Types::open`] | the first extent | the types |
//! | [`Extent::unpack`] | any extent | its rows |
//!
//! ```
//! use pilaster::bytes::{LittleEndian, Scratch, FileRange};
//! use pilaster::column::Part as _;
//! use pilaster::dataseries::{Extent, Index, IndexRow, ReadOptions, Trailer, Types};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let file = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
//! # let file_len = file.len() as u64;
//! // Fetches a range of a file that is not in memory.
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
//! assert_eq!((index.len(), index.is_empty()), (3, false), "types, data and the index itself");
//! let first = index.get(0)?.span;
//! let bytes = fetch(first);
//! let types = Types::open(&Extent::<LittleEndian>::of(&bytes, first.at)?, &options, &mut scratch)?;
//!
//! let IndexRow { span, type_name } = index.get(1)?;
//! let ty = types.find(type_name).ok_or("a type of the file")?;
//! let bytes = fetch(span);
//! let extent = Extent::<LittleEndian>::of(&bytes, span.at)?;
//! assert_eq!(extent.unpack(&ty, &options, &mut scratch)?.rows(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! # What is read
//!
//! | part | read | remarks |
//! |---|---|---|
//! | byte orders | both | also fixedwidth fields in foreign byte order, which the original refuses |
//! | modes | none, lzf, lz4, lz4hc, snappy; lzo, zlib, bz2 with the features `lzo`, `deflate`, `bzip2` | |
//! | fields | bool, byte, int32, int64, double, variable32, fixedwidth | variable32 is a column of bytes; the format does not state whether they are text |
//! | layouts | every ordering and padding | |
//! | packing | null compaction; relative to itself or another field; scaled | the base of `opt_doublebase` fields is not added; it is in [`Field::base`] |
//! | descriptions | UTF-8, ASCII, ISO-8859-1 | a DTD with an internal subset is refused |
//!
//! Cases in which the original crashes or continues are errors: negative counts, unknown modes of parts that are not
//! empty, entries of negative length, cells that refer to no string in their pool (with `verify` off: when they are
//! read), index rows that do not match the extents, and parts whose stated size exceeds what their codec can produce.
//! [`recover`] finds the intact extents of a damaged file.
//!
//! # Writing
//!
//! [`write`](mod@write) has its own page. [`Resume`](write::Resume) finds where a log continues after a crash. [`chunks`] defines records that carry columns encoded elsewhere. `flash` is a
//! log in NOR flash that resumes after a loss of power (feature `embedded-storage-03`).

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
