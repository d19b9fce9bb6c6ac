//! Filo vectors out.

mod rows;

pub use rows::{Plain, Rows, Strings};
