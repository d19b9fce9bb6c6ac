//! Pco: a number is a bin and an offset into it; a table of states (tANS) encodes which bin.
//!
//! ```text
//! header: version
//! chunk:  mode | delta | bins of each variable                 one to three variables: lookbacks, primary, secondary
//! page:   delta state, four table states of each variable | batches of 256
//! batch:  for each variable the bits that choose bins, then the offsets
//! number: secondary and primary, deltas summed up, joined by the mode
//! ```
//!
//! The decoder is implemented here. The encoder (feature `pco-encode`) is the crate `pco` and needs a host.
//!
//! Supports pco 0.1 to 1.1 (format versions 0 to 4.1) in the wrapped form, where the container stores the
//! number of values of a page. All modes, deltas and types of number are supported.
//!
//! Latents are intermediate values: unsigned words of 64 bits, in the order of the numbers. One body serves
//! all widths. Tables and windows are in a scratch buffer with a size of [`Chunk::need`] bytes.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::unstable::encoding::pco::{Chunk, Number, Page, Version};
//!
//! // Classic, no delta, one bin of weight 1 that begins at 5 and has offsets of 2 bits.
//! let mut meta = 0u128;
//! for (at, bits) in [(8, 0u128), (12, 1), (27, 5), (43, 2)] {
//!     meta |= bits << at;
//! }
//! let meta = &meta.to_le_bytes()[..6];
//! let chunk = Chunk::new(Version::new(&[4, 1])?, meta, Number::unsigned(2)?)?;
//! let mut memory = [0; 8 << 10];
//! assert!(chunk.need(3) <= 8 << 10);
//! let mut s = Scratch::new(&mut memory);
//! let tables = chunk.tables(&mut s)?;
//! // Three numbers with offsets 0, 3 and 1.
//! let mut page = Page::new(&chunk, &tables, &[0b0001_1100], 3, &mut s)?;
//! assert_eq!(page.next()?, [5, 8, 6]);
//! assert!(page.next()?.is_empty());
//! # Ok::<(), pilaster::Error>(())
//! ```

mod delta;
#[cfg(feature = "pco-encode")]
pub mod encode;
mod join;
mod meta;
mod page;
mod stream;
mod table;
#[cfg(test)]
mod tests;

pub use meta::Chunk;
pub use page::Page;
pub use table::Tables;

use crate::error::{Error, Kind, Result, What};

/// Number of values per batch.
pub const BATCH: usize = 256;

/// Maximum number of values per page.
pub const MAX_NUMBERS: u64 = 1 << 24;

/// The newest supported major version of the format.
const MAJOR: u8 = 4;

/// Number of variables that a number may consist of: lookbacks, primary and secondary.
const VARIABLES: usize = 3;
const LOOKBACKS: usize = 0;
const PRIMARY: usize = 1;
const SECONDARY: usize = 2;

/// The version of the format, from the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    major: u8,
}

impl Version {
    /// Parses a header that takes all of `bytes`.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if `bytes` is shorter than a header, [`Kind::Invalid`] if it is longer,
    /// [`Kind::Unsupported`] for newer major versions.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        match bytes {
            [] | [MAJOR] => Err(Error::needing(Kind::Truncated, What::PCO, 0, 2)),
            [major, ..] if *major > MAJOR => Err(Error::needing(Kind::Unsupported, What::PCO, 0, *major as u64)),
            // Version 4 added a minor version, on which nothing depends yet.
            [MAJOR, _] => Ok(Version { major: MAJOR }),
            [major] => Ok(Version { major: *major }),
            _ => Err(Error::needing(Kind::Invalid, What::PCO, 0, bytes.len() as u64)),
        }
    }
}

/// The type of the numbers, which is not part of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Number of bits: 8, 16, 32 or 64.
    bits: u32,
    class: Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Unsigned,
    Signed,
    Float,
}

impl Number {
    fn of(size: usize, class: Class) -> Result<Self> {
        let bits = match size {
            1 => 8,
            2 => 16,
            4 => 32,
            8 => 64,
            _ => return Err(Error::needing(Kind::OutOfRange, What::PCO, 0, size as u64)),
        };
        Ok(Number { bits, class })
    }

    /// Unsigned integers of `size` bytes: 1, 2, 4 or 8.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] for other sizes.
    pub fn unsigned(size: usize) -> Result<Self> {
        Number::of(size, Class::Unsigned)
    }

    /// Signed integers of `size` bytes: 1, 2, 4 or 8.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] for other sizes.
    pub fn signed(size: usize) -> Result<Self> {
        Number::of(size, Class::Signed)
    }

    /// Floats of `size` bytes: 2, 4 or 8.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] for other sizes.
    pub fn float(size: usize) -> Result<Self> {
        match size {
            1 => Err(Error::needing(Kind::OutOfRange, What::PCO, 0, 1)),
            _ => Number::of(size, Class::Float),
        }
    }

    /// Returns the number of fraction bits of a float.
    const fn precision(self) -> u32 {
        match self.bits {
            16 => 10,
            32 => 23,
            _ => 52,
        }
    }
}

/// Returns a mask of the lowest `bits` bits.
const fn mask(bits: u32) -> u64 {
    !u64::MAX.unbounded_shl(bits)
}

/// Returns the highest of `bits` bits, at least 1: the rank of zero among signed numbers.
const fn middle(bits: u32) -> u64 {
    1u64.wrapping_shl(bits.wrapping_sub(1))
}
