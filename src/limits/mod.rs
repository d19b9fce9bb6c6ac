//! Budgets that bound the work on hostile input.
//!
//! Work and memory never depend on a number in the file alone. They are bounded by the length of the input; where
//! structures nest or repeat, [`Limits`] bounds them. Levels of nesting are counted along each branch, nodes over a
//! whole call.
//!
//! ```
//! # #[cfg(feature = "dataseries")] {
//! use pilaster::bytes::{LittleEndian, Scratch};
//! use pilaster::dataseries::{File, ReadOptions};
//! use pilaster::limits::Limits;
//!
//! let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
//! // A device that has 16 bytes for decoded data.
//! let limits = Limits { max_decoded: 16, ..Limits::SMALL };
//! let options = ReadOptions { limits, ..ReadOptions::DEFAULT };
//! let mut memory = [0; 2048];
//! let e = File::<LittleEndian>::open(bytes, &options, &mut Scratch::new(&mut memory)).unwrap_err();
//! assert!(e.to_string().ends_with("limit of 16 reached"));
//! # }
//! ```

#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "some formats use it"))]
pub(crate) mod budget;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "some formats use it"))]
pub(crate) mod share;

#[allow(unused_imports, reason = "some formats use it")]
pub(crate) use budget::{Depth, Fuel, Spent};
#[allow(unused_imports, reason = "some formats use it")]
pub(crate) use share::Share;

/// Upper limits of what a file may request. [`Limits::DEFAULT`] is for hosts, [`Limits::SMALL`] for firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Limits {
    /// Maximum number of levels of nesting: types, layouts, arrays, FlatBuffers tables.
    pub max_depth: u16,
    /// Maximum number of nodes (tables, arrays, layouts) visited in one call.
    pub max_nodes: u32,
    /// Maximum number of columns of a table.
    pub max_columns: u32,
    /// Maximum number of rows of a table or vector.
    pub max_rows: u64,
    /// Maximum size in bytes of one part after it is unpacked.
    pub max_decoded: u64,
    /// Maximum number of rows of a whole file, in all its tables, that one call reads.
    pub max_file_rows: u64,
    /// Maximum size in bytes of all parts of a file together after they are unpacked, in one call that reads the whole
    /// file. See [`of_file`](Self::of_file).
    pub max_file_decoded: u64,
    /// Maximum number of problems that one call reports of a damaged file.
    pub max_problems: u32,
}

impl Limits {
    /// For hosts: higher than the files in use need, and far below what exhausts a machine.
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
    /// file in bytes: 256 times of it, and at least one part of the largest size. So the bytes that a small file unpacks to
    /// take seconds at most; [`max_nodes`](Self::max_nodes) bounds other work, per call. Of the codecs, zlib, bzip2,
    /// Zstandard and pco can exceed this ratio.
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
