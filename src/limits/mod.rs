//! Budgets that bound the work on hostile input.
//!
//! Work and memory here never follow from a number in the file alone: they are bounded by the length
//! of the input, and where structures nest or repeat, by these limits: levels of nesting are counted along each branch,
//! nodes over a whole call.

#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "some formats use it"))]
pub(crate) mod budget;

#[allow(unused_imports, reason = "some formats use it")]
pub(crate) use budget::{Depth, Fuel, Spent};

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
    /// Rows of a whole file, in all its tables, that one call reads.
    pub max_file_rows: u64,
    /// Bytes that all parts of a file may unpack to in one call that reads the whole file. See
    /// [`of_file`](Self::of_file).
    pub max_file_decoded: u64,
    /// Problems that one call reports, of a file that is recovered.
    pub max_problems: u32,
}

impl Limits {
    /// For hosts: generous, and far below what exhausts a machine.
    pub const DEFAULT: Limits = Limits {
        max_depth: 64,
        max_nodes: 1_000_000,
        max_columns: 1_000_000,
        max_rows: 1 << 40,
        max_decoded: 1 << 31,
        max_file_rows: 1 << 40,
        max_file_decoded: 1 << 40,
        max_problems: 1_000_000,
    };

    /// For microcontrollers: a nesting level costs 0.5 to 1 KB of stack there.
    pub const SMALL: Limits = Limits {
        max_depth: 6,
        max_nodes: 1_000,
        max_columns: 256,
        max_rows: 1 << 31,
        max_decoded: 1 << 16,
        max_file_rows: 1 << 40,
        max_file_decoded: 1 << 40,
        max_problems: 1_000,
    };

    /// Returns the limits with [`max_file_decoded`](Self::max_file_decoded) in proportion to `len`, the length of the
    /// file in bytes: 256 times of it, and at least one part of the largest size. So a small file takes seconds at
    /// most. Of the codecs, only zlib, bzip2 and Zstandard can exceed this ratio.
    ///
    /// ```
    /// use pilaster::limits::Limits;
    ///
    /// assert_eq!(Limits::DEFAULT.of_file(22_000).max_file_decoded, 1 << 31);
    /// assert_eq!(Limits::DEFAULT.of_file(1 << 30).max_file_decoded, 1 << 38);
    /// ```
    #[must_use]
    pub const fn of_file(self, len: u64) -> Limits {
        let len = len.saturating_mul(256);
        Limits { max_file_decoded: if len > self.max_decoded { len } else { self.max_decoded }, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
