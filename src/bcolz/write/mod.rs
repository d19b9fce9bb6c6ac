//! Datasets, written: the bytes of each file over lent memory, and with `std` the directory.
//!
//! | item | what | needs |
//! |---|---|---|
//! | [`encode_file`] | rows as the file of a chunk | |
//! | [`Sizes::write`](super::meta::Sizes::write), [`Storage::write`](super::meta::Storage::write), [`put_names`] | the metadata files, into a sink | |
//! | [`put_items`] | a batch as the bytes of items | |
//! | [`chunklen`] | rows of a chunk, as the original chooses them | |
#![cfg_attr(feature = "std", doc = "| [`Writer`] | a dataset in its directory: created, or rows appended | `std` |")]
#![cfg_attr(feature = "std", doc = "| [`Builder`] | columns of any format into a dataset | `std` |")]
#![cfg_attr(feature = "std", doc = "| [`recover`] | what is whole of a damaged dataset, as a clean one | `std` |")]
#![cfg_attr(
    feature = "std",
    doc = "| [`Disk`], [`FileSystem`] | where the files go; `FileSystem::default()` is the operating system's | `std` |"
)]
#![cfg_attr(
    not(feature = "std"),
    doc = "| `Writer`, `Builder`, `Disk`, `FileSystem` | a dataset in its directory | feature `std` |"
)]
//!
//! # What a crash leaves
//!
//! A new dataset is written into `NAME.partial`, which is renamed when all of it is there. What exists is never
//! replaced.
//!
//! Rows are appended in this order, each file written beside its place and renamed into it:
//!
//! 1. chunks, as they fill, and at the end the leftover of each array. The chunk that the old rows end in is
//!    replaced by one that begins with the same rows; every other is behind the old rows. As `meta/sizes` are
//!    the old ones, readers see the old rows and no other.
//! 2. `meta/sizes` of every array but the first. The first array says how many rows a table has: what the others
//!    have more does not count.
//! 3. `meta/sizes` of the first array: from here on there are the new rows.
//!
//! Appending again after a crash goes on behind the rows that count.
//!
//! ```
//! use pilaster::bcolz::write::{chunklen, encode_file, file_len};
//! use pilaster::bcolz::chunk::{Params, encode_scratch_len};
//! use pilaster::bcolz::meta::{Shape, Sizes};
//! use pilaster::bcolz::open_file;
//! use pilaster::bytes::{Scratch, SliceSink};
//!
//! // Three rows of int32: a chunk, and what says how many there are.
//! let rows: Vec<u8> = [7i32, 8, 9].iter().flat_map(|v| v.to_le_bytes()).collect();
//! let params = Params { typesize: 4, ..Params::DEFAULT };
//! let mut file = vec![0; file_len(rows.len())];
//! let mut memory = vec![0; encode_scratch_len(&params, rows.len())];
//! let len = encode_file(&rows, &params, &mut file, &mut Scratch::new(&mut memory))?;
//! assert_eq!(open_file(&file[..len])?.nbytes(), 12);
//!
//! let mut room = [0; 128];
//! let mut sink = SliceSink::new(&mut room);
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
