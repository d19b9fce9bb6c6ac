//! How parts of an extent are compressed: the user's choice, made at compile time on firmware.

use crate::dataseries::raw::Mode;

/// Both parts as they are stored.
#[derive(Clone, Copy, Debug)]
pub struct Compressed<'c> {
    /// The fixed part.
    pub fixed: (Mode, &'c [u8]),
    /// The variable part, without the four zero bytes of the pool.
    pub variable: (Mode, &'c [u8]),
}

/// Compresses the parts of extents.
pub trait Compress {
    /// Whether the extents of types and index are compressed, too. Needs the heap; without it they are
    /// written piece by piece as they are.
    const LISTS: bool = false;

    /// Compresses both parts. Each is either the shortest of what was tried, if that is strictly shorter
    /// than the part, or the part as it is (section 4).
    fn compress<'c>(&'c mut self, fixed: &'c [u8], variable: &'c [u8]) -> Compressed<'c>;
}

/// No compression: mode none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stored;

impl Compress for Stored {
    fn compress<'c>(&'c mut self, fixed: &'c [u8], variable: &'c [u8]) -> Compressed<'c> {
        Compressed { fixed: (Mode::None, fixed), variable: (Mode::None, variable) }
    }
}
