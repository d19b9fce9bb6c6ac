//! bcolz: compressed columns in Blosc 1 chunks.
//!
//! Section numbers in comments refer to the description of the format, `docs/formats/bcolz.md`.
//!
#![cfg_attr(feature = "std", doc = "[`Dataset::open`] opens a directory:")]
#![cfg_attr(feature = "std", doc = "")]
#![cfg_attr(feature = "std", doc = "```")]
#![cfg_attr(not(feature = "std"), doc = "```ignore")]
//! use pilaster::bcolz::Dataset;
//! use pilaster::column::Table;
//! # use pilaster::bcolz::write::{FileSystem, Spec, Writer};
//! # let dir = std::env::temp_dir().join(format!("pilaster-bcolz-{}", std::process::id()));
//! # let mut writer = Writer::create_table(FileSystem::default(), &dir, b"{}")?;
//! # let price = writer.add("price", &Spec::new("float64"))?;
//! # writer.put(price, &1.5_f64.to_le_bytes())?;
//! # writer.finish()?;
//!
//! let dataset = Dataset::open(&dir)?;
//! // The column of an array that is not in a table is called "".
//! assert_eq!(dataset.table().to_vec::<f64>("price")?, [1.5]);
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A dataset is a directory: an array (carray), or a table (ctable) of arrays, each in its own directory.
//! Rows are stored in chunks, one file each.
//!
//! ```text
//! NAME/                 a table                 NAME/               an array
//!   __rootdirs__        {"names": [..]}           __attrs__         a JSON object
//!   __attrs__                                     meta/sizes        {"shape": [25], ..}
//!   id/                 an array                  meta/storage      {"dtype": "int32", "chunklen": 10, ..}
//!   price/              an array                  data/__0.blp      "blpk", and a Blosc 1 chunk
//! ```
//!
//! | item | content | requires |
//! |---|---|---|
#![cfg_attr(feature = "std", doc = "| [`Dataset::open`], [`Table`], [`Part`] | a dataset in its directory | `std` |")]
#![cfg_attr(
    not(feature = "std"),
    doc = "| `Dataset::open`, `Table`, `Part` | a dataset in its directory | feature `std` |"
)]
//! | [`chunk`] | one Blosc 1 chunk, read and written | |
//! | [`open_file`] | the chunk of a file | |
//! | [`meta`], [`Dtype`] | the metadata files, parsed from their bytes | |
//! | [`Column`] | decoded rows as a column | |
//! | [`Items`] | the items of one chunk as a table | |
//! | [`write`](mod@write) | chunk files, metadata, and with `std` whole datasets, created, appended to and changed in place | |
//!
//! | dtype | read as | remarks |
//! |---|---|---|
//! | `bool`, `int8` to `uint64`, `float16` to `float64` | bool and numbers | both byte orders |
//! | <code>\|S5</code> | bytes | without the NUL at the end |
//! | `<U4` | text | from UTF-32, both byte orders |
//! | `datetime64[ns]`, every unit | timestamps | NaT is a missing value |
//! | <code>\|V300</code> | bytes of one length | |
//! | `[('a', '<i4'), ..]`, `{'names': ..}` | structs | may be nested; the original writes them and cannot read them |
//! | `object` | opaque bytes | one chunk per row; a pickle is never parsed |
//! | a shape of several dimensions | lists of fixed length | |
//!
//! Fields with a shape, which the original fails to write, and field names with escapes are not supported. The text of
//! a record does not contain the alignment of a record inside it. If alignment moved the fields, the size of the chunks
//! does not match the type, which is an error.
//!
//! A missing or invalid file is an error that names the file. `Dataset::open_tolerant` reads the rest: the intact
//! blocks of a truncated chunk, and missing values for lost rows and for rows with an invalid text. `Dataset::verify`
//! accepts a dataset if every row can be read, alone and in any batch.
//!
//! All of these types are written, too. The page of [`write`](mod@write) describes the order of the files, and the
//! state after a crash.
//!
//! ```
//! use pilaster::bcolz::chunk::Chunk;
//! use pilaster::bytes::Scratch;
//!
//! // A plain copy of three bytes.
//! let bytes = b"\x02\x01\x13\x01\x03\0\0\0\x03\0\0\0\x13\0\0\0abc";
//! let mut dst = [0; 3];
//! Chunk::open(bytes)?.decode(&mut dst, &mut Scratch::new(&mut []))?;
//! assert_eq!(dst, *b"abc");
//! # Ok::<(), pilaster::Error>(())
//! ```

#[cfg(feature = "std")]
mod array;
#[cfg(feature = "std")]
mod check;
pub mod chunk;
mod column;
#[cfg(feature = "std")]
mod dataset;
mod dtype;
mod fields;
mod file;
#[cfg(feature = "std")]
mod files;
mod items;
pub mod meta;
#[cfg(feature = "std")]
mod part;
mod raw;
#[cfg(feature = "std")]
mod salvage;
#[cfg(feature = "std")]
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "the fuzz bodies use all of it"))]
pub(crate) mod store;
mod what;
pub mod write;

pub(crate) use what::FIELDS;

#[cfg(feature = "std")]
pub use crate::error::{Cause, Failure};
#[cfg(feature = "std")]
pub use array::Array;
pub use column::Column;
#[cfg(feature = "std")]
pub use dataset::Dataset;
pub use dtype::Dtype;
pub use fields::{Field, Fields};
pub use file::open_file;
pub use items::{Items, ItemsPart};
#[cfg(feature = "std")]
pub use part::{Part, Table};
pub use raw::{Compressor, Shuffle};
