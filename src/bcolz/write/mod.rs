//! Writes datasets: each file into caller-provided memory, and with `std` whole directories.
//!
//! | item | content | requires |
//! |---|---|---|
//! | [`encode_file`] | rows as the file of a chunk | |
//! | [`Sizes::write`](super::meta::Sizes::write), [`Storage::write`](super::meta::Storage::write), [`put_names`] | the metadata files, into a sink | |
//! | [`put_items`] | a batch as the bytes of items | |
//! | [`chunklen`] | the number of rows of a chunk, as the original chooses it | |
#![cfg_attr(feature = "std", doc = "| [`Writer`] | a dataset in its directory: created, or rows appended | `std` |")]
#![cfg_attr(feature = "std", doc = "| [`Builder`] | columns of any format into a dataset | `std` |")]
#![cfg_attr(feature = "std", doc = "| [`recover`] | the intact rows of a damaged dataset as a new one | `std` |")]
#![cfg_attr(
    feature = "std",
    doc = "| [`Disk`], [`FileSystem`] | the destination of the files; `FileSystem` is that of the operating system | `std` |"
)]
#![cfg_attr(
    not(feature = "std"),
    doc = "| `Writer`, `Builder`, `Disk`, `FileSystem` | a dataset in its directory | feature `std` |"
)]
//!
//! # After a crash
//!
//! A new dataset is written to the directory `NAME.partial`, which is renamed to `NAME` when it is complete. An
//! existing dataset or directory is never replaced.
//!
//! Rows are appended in this order. Each file is written under a temporary name in its directory and then renamed:
//!
//! 1. Chunks, as they fill, and at the end the leftover of each array. The chunk that contains the last old row is
//!    replaced by one that begins with the same rows; all other chunks follow the old rows. Because `meta/sizes` is
//!    unchanged, readers see only the old rows.
//! 2. `meta/sizes` of every array except the first. The first array defines the number of rows of a table, so excess
//!    rows of the others do not count.
//! 3. `meta/sizes` of the first array. From now on, readers see the new rows.
//!
//! The next append after a crash continues after the rows that count.
//!
//! ```
//! use pilaster::bcolz::write::{chunklen, encode_file, file_len};
//! use pilaster::bcolz::chunk::{Params, encode_scratch_len};
//! use pilaster::bcolz::meta::{Shape, Sizes};
//! use pilaster::bcolz::open_file;
//! use pilaster::bytes::{Scratch, SliceSink};
//!
//! // Three rows of int32: a chunk, and the file with their number.
//! let rows: Vec<u8> = [7i32, 8, 9].iter().flat_map(|v| v.to_le_bytes()).collect();
//! let params = Params { typesize: 4, ..Params::DEFAULT };
//! let mut file = vec![0; file_len(rows.len())];
//! let mut memory = vec![0; encode_scratch_len(&params, rows.len())];
//! let len = encode_file(&rows, &params, &mut file, &mut Scratch::new(&mut memory))?;
//! assert_eq!(open_file(&file[..len])?.nbytes(), 12);
//!
//! let mut text = [0; 128];
//! let mut sink = SliceSink::new(&mut text);
//! Sizes { shape: Shape::new(&[3])?, nbytes: 12, cbytes: 16384 }.write(&mut sink)?;
//! assert_eq!(sink.written(), b"{\"shape\": [3], \"nbytes\": 12, \"cbytes\": 16384}\n");
//! assert_eq!(chunklen(3, 4), 4096);
//! # Ok::<(), pilaster::Error>(())
//! ```

#[cfg(feature = "std")]
mod array;
#[cfg(feature = "std")]
mod build;
mod cells;
#[cfg(feature = "std")]
mod disk;
mod file;
mod meta;
#[cfg(feature = "std")]
mod plan;
#[cfg(feature = "std")]
mod recover;
#[cfg(feature = "std")]
mod writer;

#[cfg(feature = "std")]
pub use build::{Builder, WriteOptions};
pub use cells::{Missing, put_items};
#[cfg(feature = "std")]
pub use disk::{Disk, FileSystem};
pub use file::{encode_file, file_len};
pub use meta::{chunklen, put_default, put_names};
#[cfg(feature = "std")]
pub use plan::holds;
#[cfg(feature = "std")]
pub use recover::recover;
#[cfg(feature = "std")]
pub use writer::{Spec, Writer};
