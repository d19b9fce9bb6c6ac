//! One function per entry point of the library, all of one shape, so that firmware, the no-panic
//! check and the web page share one list. An entry's number depends on all its work, so that none of
//! it is optimised away.

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

use pilaster::{Error, Result};

/// What an entry works on.
pub struct Call<'a> {
    /// A file, or whatever an entry reads.
    pub bytes: &'a [u8],
    /// Lent memory.
    pub memory: &'a mut [u8],
    /// An element type, a width.
    pub kind: u32,
    /// A row, an encoding: what else the entry takes.
    pub row: u32,
}

/// An entry point.
pub type Entry = fn(Call<'_>) -> Result<u32>;

/// What stands for an error where only a number is wanted.
pub fn failed(e: Error) -> u32 {
    e.need() ^ u32::from(e.what().id())
}
