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
//! assert!(e.to_string().starts_with("limit max_decoded of 16 reached"));
//! # }
//! ```

#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "some formats use it"))]
pub(crate) mod budget;

#[allow(unused_imports, reason = "some formats use it")]
pub(crate) use budget::{Depth, Fuel};

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
}

impl Limits {
    /// For hosts: higher than the files in use need, and far below what exhausts a machine.
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
