//! DataSeries in: files, extents, types, columns.

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
mod unpack;

pub use any::{AnyExtent, AnyFile, AnyTable};
pub use catalog::Types;
pub use extent::{End, Extent, Header, Next};
pub use file::{Extents, File, Table};
pub use header::{Order, Trailer};
pub use index::{Index, IndexRow};
pub use part::{Column, Part};

use crate::limits::Limits;

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReadOptions {
    /// Whether the checks are made that nothing but damage can fail: Adler-32 of the stored extent,
    /// hash of the unpacked one, and that each cell names a whole entry of the pool (section 3.5).
    /// Structure is checked always.
    pub verify: bool,
    /// How much a file may ask for.
    pub limits: Limits,
}

impl ReadOptions {
    /// All checks, and the limits of a host.
    pub const DEFAULT: ReadOptions = ReadOptions { verify: true, limits: Limits::DEFAULT };
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions::DEFAULT
    }
}
