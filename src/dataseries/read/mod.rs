//! Reading: files, extents, types, columns.

mod any;
mod catalog;
mod cells;
mod describe;
mod expand;
mod extent;
mod file;
mod header;
mod index;
mod number;
mod part;
mod pool;
mod table;
mod unpack;

pub use any::{AnyExtent, AnyFile, AnyTable};
pub use catalog::Types;
pub use extent::{End, Extent, Header, Next};
pub use file::{Extents, File};
pub use header::{Order, Trailer};
pub use index::{Index, IndexRow};
pub use part::{Column, Part};
pub use table::Table;

use crate::limits::Limits;

/// Options for reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReadOptions {
    /// Whether to make the checks that only damage can fail: Adler-32 of the stored extent, hash of the unpacked
    /// extent, and that each string cell refers to a complete entry of the pool (section 3.5). The structure is always
    /// checked.
    pub verify: bool,
    /// Upper bounds of what a file may require.
    pub limits: Limits,
}

impl ReadOptions {
    /// All checks, and [`Limits::DEFAULT`].
    pub const DEFAULT: ReadOptions = ReadOptions { verify: true, limits: Limits::DEFAULT };
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions::DEFAULT
    }
}
