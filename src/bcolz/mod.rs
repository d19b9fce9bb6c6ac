//! bcolz: compressed columns in Blosc 1 chunks.
//!
//! Section numbers in comments refer to the description of the format, `docs/formats/bcolz.md`.
//!
//! A dataset is a directory: an array (carray), or a table (ctable) of arrays, each in a directory of its
//! own. Rows lie in chunks, one file each.
//!
//! ```text
//! NAME/                 a table                 NAME/               an array
//!   __rootdirs__        {"names": [..]}           __attrs__         a JSON object
//!   __attrs__                                     meta/sizes        {"shape": [25], ..}
//!   id/                 an array                  meta/storage      {"dtype": "int32", "chunklen": 10, ..}
//!   price/              an array                  data/__0.blp      "blpk", and a Blosc 1 chunk
//! ```
//!
//! | item | what | needs |
//! |---|---|---|
//! | [`chunk`] | one Blosc 1 chunk, read and written | |
//! | [`open_file`] | the chunk of a file | |
//! | [`meta`], [`Dtype`] | the metadata files, out of their bytes | |
//! | [`Column`] | decoded rows as a column | |
//! | [`Items`] | the items of one chunk as a table | |
//! | [`write`](mod@write) | chunk files, metadata, and with `std` whole datasets, created or appended to | |
#![cfg_attr(feature = "std", doc = "| [`Dataset`], [`Table`], [`Part`] | a dataset in its directory | `std` |")]
#![cfg_attr(not(feature = "std"), doc = "| `Dataset`, `Table`, `Part` | a dataset in its directory | feature `std` |")]
//!
//! | dtype | read as | remarks |
//! |---|---|---|
//! | `bool`, `int8` to `uint64`, `float16` to `float64` | bool and numbers | both byte orders |
//! | <code>\|S5</code> | bytes | without the NUL at the end |
//! | `<U4` | text | of UTF-32, both byte orders |
//! | `datetime64[ns]`, every unit | timestamps | NaT is a missing value |
//! | <code>\|V300</code> | bytes of one length | |
//! | `[('a', '<i4'), ..]`, `{'names': ..}` | structs | also inside of each other; the original writes them and cannot read them |
//! | `object` | opaque bytes | one chunk per row; a pickle is never looked into |
//! | a shape of several dimensions | lists of fixed length | |
//!
//! Not read are fields with a shape, which the original fails to write, and names of fields with escapes. Numpy
//! leaves out of the text of a record how a record inside of it is aligned; if that moved its fields, the chunks
//! have another size than the type, which is an error.
//!
//! What is missing or wrong is an error that names the file. `Dataset::open_tolerant` reads around it: chunks that are
//! cut give the blocks that are whole, lost rows are missing values.
//!
//! All of these are written, too: [`write`](mod@write) says how, and what a crash leaves.
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

pub mod chunk;
mod column;
#[cfg(feature = "std")]
mod dataset;
mod dtype;
mod fields;
mod file;
mod items;
pub mod meta;
#[cfg(feature = "std")]
mod part;
mod raw;
#[cfg(feature = "std")]
mod salvage;
mod what;
pub mod write;

pub(crate) use what::FIELDS;

#[cfg(feature = "std")]
pub use crate::error::{Cause, Failure};
pub use column::Column;
#[cfg(feature = "std")]
pub use dataset::{Array, Dataset};
pub use dtype::Dtype;
pub use fields::{Field, Fields};
pub use file::open_file;
pub use items::{Items, ItemsPart};
#[cfg(feature = "std")]
pub use part::{Part, Table};
pub use raw::{Compressor, Shuffle};
