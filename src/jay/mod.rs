//! Jay: the frames of Python's datatable. Columns are contiguous; the metadata is at the end.
//!
//! Section numbers in comments refer to the description of the format, `docs/formats/jay.md`.
//!
//! ```text
//!   0       signature    "JAY1" and four NUL
//!   8       data         buffers, each at a multiple of 8
//!   8+D     metadata     a FlatBuffer: rows, keys, and of each column name, type, counts, buffers
//!   8+D+M   u64          M
//!   16+D+M  signature    four NUL and "1JAY"
//! ```
//!
//! A column is described in one of two layouts ([`Layout`]), and a file may hold both. Numbers are stored as
//! they are in memory, a missing one as the least integer or NaN; strings and arrays have offsets; some
//! columns, those that came from Arrow, have a bitmap.
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
//! # let bytes = std::fs::read("tests/golden/jay/stats_n7.jay")?;
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
//! A file beyond memory is read in steps, each of which takes the bytes of a [`FileRange`](crate::bytes::FileRange)
//! and says where to look next:
//!
//! | step | takes | gives |
//! |---|---|---|
//! | [`check_head`] | [`HEAD_SPAN`] | that it is a Jay file |
//! | [`Tail::of`] | [`Tail::span`] | where the metadata lies |
//! | [`Meta::open`] | [`Tail::meta`] | every column's description |
//! | [`Column::new`] | [`Field::span`] | the rows of that column |
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
//! | missing values | sentinels, flags in offsets, bitmaps | where there are both, either says so; the original overlooks the bitmap of numbers |
//! | booleans | bytes and single bits | the original misreads the latter |
//! | str64 with a bitmap | yes | the original crashes |
//!
//! Refused where the original crashes or continues: buffers that leave the data section, overlap or are not
//! aligned, that are shorter than the rows need; offsets that descend or leave their buffer; null counts above
//! the rows; names that are missing, empty, twice, or hold control characters; keys that do not exist; arrays
//! without elements of the declared type.

#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "tests use all of it"))]
pub(crate) mod raw;
mod read;
mod what;
#[cfg(feature = "alloc")]
pub mod write;

pub(crate) use what::FIELDS;

pub use raw::{DATA, HEAD, SType, TEXT, VALIDITY};
pub use read::{Column, Field, File, HEAD_SPAN, Layout, Meta, ReadOptions, Stats, Tail, Window, check_head};
