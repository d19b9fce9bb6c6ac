//! The flash that is played in RAM.

use pilaster::dataseries::flash::Ring;

/// Bytes of an erase unit.
pub const ERASE: usize = 512;
/// How many there are.
pub const UNITS: usize = 8;
/// All of them, two a segment.
pub const RING: Ring = Ring { start: 0, segment: 1024, segments: 4 };

/// What a reset leaves: the flash, and what was promised of it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Kept {
    /// Its bytes.
    pub flash: [u8; ERASE * UNITS],
    /// How often each unit was erased.
    pub wear: [u32; UNITS],
    /// How often the machine was started, and how often the power was cut.
    pub boots: u32,
    /// As above.
    pub cuts: u32,
    /// The reading behind the last that was flushed.
    pub flushed: i64,
    /// Segments that were given up.
    pub given_up: u32,
}
