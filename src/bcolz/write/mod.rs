//! Writes datasets: each file into caller-provided memory, and with `std` whole directories.
//!
//! | item | content | requires |
//! |---|---|---|
//! | [`encode_file`] | rows as the file of a chunk | |
//! | [`Sizes::write`](super::meta::Sizes::write), [`Storage::write`](super::meta::Storage::write), [`put_names`] | the metadata files, into a sink | |
//! | [`put_items`] | a batch as the bytes of items | |
//! | [`chunklen`] | the number of rows of a chunk, as the original chooses it | |
#![cfg_attr(
    feature = "std",
    doc = "| [`Writer`] | a dataset in its directory: created, or rows appended or overwritten | `std` |"
)]
#![cfg_attr(feature = "std", doc = "| [`Editor`] | a dataset with other rows, columns and attributes | `std` |")]
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
//! An existing dataset is changed in these orders. Each is complete with one rename; what precedes it does not count
//! before, and what follows it no longer counts:
//!
//! | change | the rename | a crash may leave |
//! |---|---|---|
//! | attributes | of the new `__attrs__` | a temporary file |
//! | new rows with the default value | as for appended rows | chunks after the rows that count |
//! | rows removed | of `meta/sizes` of the first array; then the other arrays follow | chunks and rows that do not count |
//! | column added | of `__rootdirs__`, after the array was moved into the table | an array that is not in the list |
//! | column removed | of `__rootdirs__`; then the array is removed | an array that is not in the list |
//! | rows overwritten in one chunk | of the new chunk | a temporary file |
//! | rows overwritten in several chunks | of the directory, see below | a second directory |
//!
//! Rows in several chunks are overwritten in a copy of the directory: of the array, or of the table if several columns
//! change. The copy `NAME.pilaster-new` shares the unchanged files with the old directory. Two renames replace the
//! directory: of `NAME` to `NAME.pilaster-old`, and of `NAME.pilaster-new` to `NAME`. Then the old directory is
//! removed. A crash between the two renames leaves no `NAME`. [`Dataset`](super::Dataset) then reads
//! `NAME.pilaster-old`, which contains all old rows, and the next writer gives it the name `NAME` again. The original
//! reports a missing directory until then, so that it never reads a mixture of old and new rows.
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
mod dflt;
#[cfg(feature = "std")]
mod disk;
#[cfg(feature = "std")]
mod edit;
#[cfg(feature = "std")]
mod encode;
mod file;
mod meta;
#[cfg(feature = "std")]
mod plan;
#[cfg(feature = "std")]
pub(crate) mod recover;
#[cfg(feature = "std")]
mod swap;
#[cfg(feature = "std")]
mod writer;

#[cfg(feature = "std")]
pub use build::{Builder, WriteOptions};
pub use cells::{Missing, put_items};
#[cfg(feature = "std")]
pub use disk::{Disk, FileSystem};
#[cfg(feature = "std")]
pub use edit::Editor;
pub use file::{encode_file, file_len};
pub use meta::{chunklen, put_default, put_names};
#[cfg(feature = "std")]
pub use plan::holds;
#[cfg(feature = "std")]
pub use recover::recover;
#[cfg(feature = "std")]
pub use writer::{Spec, Writer};
