//! Encodings of metadata, read in place: FlatBuffers, Protocol Buffers, XML and JSON.
//!
//! | module | what |
//! |---|---|
//! | [`flat`] | FlatBuffers tables over borrowed bytes, without a heap |
//! | [`json`] | JSON documents, piece by piece, without a heap |
//! | [`proto`] | Protocol Buffers messages, field by field, without a heap |
//! | [`xml`] | XML documents, piece by piece, without a heap |
//!
//! ```
//! use pilaster::unstable::meta::flat::{Flat, Table};
//!
//! // Root offset, vtable (4 bytes long: no fields), table (4 bytes long).
//! let bytes = [8, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0];
//! let root: Table = Flat::new(&bytes).root()?;
//! assert_eq!(root.scalar::<u32>(0, 7)?, 7, "an absent field has its default");
//! # Ok::<(), pilaster::Error>(())
//! ```

pub mod flat;
pub mod json;
pub mod proto;
mod what;
pub mod xml;

pub(crate) use what::FIELDS;
