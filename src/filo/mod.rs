//! Filo vectors: one column, one self-contained chunk of bytes.

mod element;
mod encoding;
pub mod raw;
pub mod write;

pub use element::Element;
pub use encoding::Encoding;
