//! Jay: the frames of Python's datatable. Columns are contiguous; the metadata is at the end.
//!
//! Section numbers in comments refer to the description of the format, `docs/formats/jay.md`.
//!
//! ```text
//!   0       signature    "JAY1" and four NUL
//!   8       data         buffers, each at a multiple of 8
//!   8+D     metadata     a FlatBuffer: rows, keys, and the name, type, counts and buffers of each column
//!   8+D+M   u64          M
//!   16+D+M  signature    four NUL and "1JAY"
//! ```
//!
//! A column is described in one of two layouts ([`Layout`]), and a file may contain both. Numbers are stored
//! little-endian; a missing number is the minimum of its integer type, or NaN. Strings and arrays have offsets. Columns
//! that came from Arrow have a validity bitmap.
//!
//! # Reading
//!
//! [`File::open`] parses the end of a file. It reads only the metadata, needs no heap, and uses scratch memory only to
//! compare the names of many columns. A [`Column`] returns batches that borrow the file's bytes if these are aligned
//! and the target is little-endian.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::column::{Column, Part, Values};
//! use pilaster::jay::{File, ReadOptions, Stats};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let bytes = std::fs::read("examples/data/stats_n7.jay")?;
//! let file = File::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut [0; 512]))?;
//! assert_eq!((file.rows(), file.name(3)?), (7, "int8_nulls"));
//!
//! let column = file.column(3)?;
//! assert_eq!(column.field().null_count(), 1);
//! assert_eq!(column.field().stats()?, Some(Stats::Int { min: -127, max: 127 }));
//! let mut memory = [0; 64];
//! let batch = column.read(3..6, &mut Scratch::new(&mut memory))?;
//! assert!(matches!(batch.values, Values::I8([-1, 1, _])));
//! assert!(batch.validity.get(0) && !batch.validity.get(2));
//! # Ok(())
//! # }
//! ```
//!
//! Invalid metadata is an error when the file is opened, invalid data when it is read. [`File::verify`] reads
//! everything, and compares null counts, statistics and the order of keys with the data. With
//! [`ReadOptions::tolerant`] the valid part of a damaged file is read, and [`File::problems`] lists the rest.
//!
//! A file larger than memory is opened through an [`Input`](crate::bytes::Input) that fetches ranges, or that has some
//! pieces of the file ([`File::open_input`]). [`Field::span`] is the range of all buffers of a column:
//!
//! ```
//! use pilaster::bytes::{Ranges, Scratch};
//! use pilaster::jay::{File, HEAD, Meta, ReadOptions, Tail};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ranges = Ranges::open("examples/data/keyed_1.jay")?;
//! let file = File::open_input(ranges.input(), &ReadOptions::DEFAULT, &mut Scratch::new(&mut []))?;
//! let (meta, tail): (&Meta<'_>, &Tail) = (file.meta(), file.tail());
//! assert_eq!((meta.rows(), meta.width(), meta.keys(), meta.name(2)?), (50, 3, 1, "v"));
//!
//! // The data begin after the signature, and the metadata after the data.
//! assert_eq!((tail.data().at, tail.data().len), (HEAD.len() as u64, 1064));
//! assert_eq!(meta.field(2)?.span()?.len, 400);
//! # Ok(())
//! # }
//! ```
//!
//! # Writing
//!
//! Writing needs a heap, for the metadata and for offsets. Buffers go to a [`Sink`](crate::bytes::Sink) as they arrive,
//! without seeking. See [`write`](mod@write) for the columns of an application, and its
//! [`Builder`](write::Builder) for the columns of any other format.
//!
//! # What is read
//!
//! | part | read | remarks |
//! |---|---|---|
//! | layouts | old and new | |
//! | types | bool8, int8 to int64, float32, float64, str32, str64, date32, time64, void, arr32, arr64 | arrays nest up to [`Limits::max_depth`](crate::limits::Limits::max_depth) |
//! | missing values | sentinels, flags in offsets, bitmaps | with a bitmap and a sentinel, either marks a row as missing; the original ignores the bitmap of numbers |
//! | booleans | bytes and single bits | the original misreads the latter |
//! | str64 with a bitmap | yes | the original crashes |
//!
//! Errors here, where the original crashes or continues: buffers outside the data section, that overlap, are not
//! aligned, or are too short for the rows; offsets that descend or exceed their buffer; null counts above the number of
//! rows; names that are absent, empty, duplicate, or contain control characters; more keys than columns; arrays whose
//! elements do not have the declared type.

#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "tests use all of it"))]
pub(crate) mod raw;
mod read;
mod what;
#[cfg(feature = "alloc")]
pub mod write;

#[cfg(feature = "unstable")]
pub(crate) use read::check_head;
pub(crate) use what::FIELDS;

pub use raw::{DATA, HEAD, SType, TEXT, VALIDITY};
pub use read::{Column, Field, File, Layout, Meta, ReadOptions, Stats, Tail};
