//! Filo vectors: one column, one self-contained chunk of bytes.

mod element;
mod encoding;
pub mod raw;
mod read;
pub mod write;

pub use element::Element;
pub use encoding::Encoding;
pub use read::{Column, Iter, Table, Value, Vector};
