//! Encodings of metadata, read in place and without a heap: FlatBuffers, Protocol Buffers, XML and JSON.
//!
//! | module | content |
//! |---|---|
//! | [`flat`] | FlatBuffers tables over borrowed bytes |
//! | [`json`] | JSON documents, event by event |
//! | [`proto`] | Protocol Buffers messages, field by field |
//! | [`xml`] | XML documents, event by event |
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
