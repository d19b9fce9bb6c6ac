//! The flash, emulated in RAM.

use pilaster::dataseries::flash::Ring;

/// Size of an erase unit in bytes.
pub const ERASE: usize = 512;
/// Number of erase units.
pub const UNITS: usize = 8;
/// All erase units, two per segment.
pub const RING: Ring = Ring { start: 0, segment: 1024, segments: 4 };

/// The data that survives a reset: the flash, and what the checks expect of it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Kept {
    /// The bytes of the flash.
    pub flash: [u8; ERASE * UNITS],
    /// Number of erasures of each unit.
    pub wear: [u32; UNITS],
    /// Number of starts of the machine.
    pub boots: u32,
    /// Number of power cuts.
    pub cuts: u32,
    /// The reading after the last flushed one.
    pub flushed: i64,
    /// Number of segments that were given up.
    pub given_up: u32,
}
