//! Budgets that bound the work on hostile input.
//!
//! Work and memory here never follow from a number in the file alone: they are bounded by the length
//! of the input, and where structures nest or repeat, by these limits: levels of nesting are counted along each branch,
//! nodes over a whole call.

#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "some formats use it"))]
pub(crate) mod budget;

#[allow(unused_imports, reason = "some formats use it")]
pub(crate) use budget::{Depth, Fuel};

/// How much a file may ask for. The defaults hold on a server; firmware takes [`Limits::SMALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Limits {
    /// Levels of nesting: types, layouts, arrays, FlatBuffers tables.
    pub max_depth: u16,
    /// Nodes (tables, arrays, layouts) visited in one call.
    pub max_nodes: u32,
    /// Columns of a table.
    pub max_columns: u32,
    /// Rows of a table or vector.
    pub max_rows: u64,
    /// Bytes that one part may unpack to.
    pub max_decoded: u64,
}

impl Limits {
    /// For hosts: generous, and far below what exhausts a machine.
    pub const DEFAULT: Limits =
        Limits { max_depth: 64, max_nodes: 1_000_000, max_columns: 1_000_000, max_rows: 1 << 40, max_decoded: 1 << 31 };

    /// For microcontrollers: a nesting level costs 0.5 to 1 KB of stack there.
    pub const SMALL: Limits =
        Limits { max_depth: 6, max_nodes: 1_000, max_columns: 256, max_rows: 1 << 31, max_decoded: 1 << 16 };
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
