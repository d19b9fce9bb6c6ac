//! Filo vectors as the programs exchange them with the original.

mod read;
mod stream;
pub mod values;

pub use read::read_all;
pub use stream::{Input, put};
pub use values::{Rows, Vals};

use pilaster::filo::Element;

/// The value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The row has no value.
    Missing,
    /// An integer, a boolean or the bits of a float.
    Number(i64),
    /// A string.
    Bytes(Vec<u8>),
    /// A date-time: milliseconds, and the offset in quarters of an hour.
    DateTime(i64, i32),
}

/// Milliseconds of a quarter of an hour.
pub const QUARTER: i32 = 900_000;

/// The element types by their code in the exchanged files.
pub const ELEMENTS: [Element; 9] = [
    Element::Boolean,
    Element::Int,
    Element::Long,
    Element::Float,
    Element::Double,
    Element::String,
    Element::Utf8,
    Element::Timestamp,
    Element::DateTime,
];
