//! One function per entry point of the library, all with one signature, so that firmware, the no-panic check and the
//! web page share one list. The result of an entry depends on all its work, so that nothing is optimised away.

#![no_std]
#![forbid(unsafe_code)]

pub mod bcolz;
pub mod bytes;
pub mod codec;
pub mod dataseries_read;
pub mod dataseries_write;
pub mod filo;
pub mod filo_write;
pub mod jay;
pub mod vortex;
pub mod vortex_log;

use pilaster::{Error, Result};

/// The arguments of an entry.
pub struct Call<'a> {
    /// The file or other input.
    pub bytes: &'a [u8],
    /// Memory that the entry may use.
    pub memory: &'a mut [u8],
    /// An element type, a width, or another choice.
    pub kind: u32,
    /// A row, an encoding, or another number.
    pub row: u32,
}

/// An entry point.
pub type Entry = fn(Call<'_>) -> Result<u32>;

/// Converts an error to a number.
pub fn failed(e: Error) -> u32 {
    e.need() ^ u32::from(e.what().id())
}
