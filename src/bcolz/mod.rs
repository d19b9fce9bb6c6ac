//! bcolz: compressed columns in Blosc 1 chunks.
//!
//! | module | what |
//! |---|---|
//! | [`chunk`] | one Blosc 1 chunk, read and written without a heap |
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
mod file;
pub mod meta;
#[cfg(feature = "std")]
mod part;
mod raw;

pub use column::Column;
#[cfg(feature = "std")]
pub use dataset::{Array, Cause, Dataset, Failure};
pub use dtype::{Dtype, Field, Fields};
pub use file::open_file;
#[cfg(feature = "std")]
pub use part::{Part, Table};
pub use raw::{Compressor, Shuffle};
