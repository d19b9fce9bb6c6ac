//! Encodings of values as bytes. They are independent of the file formats.
//!
//! Decoders fill slices of words of 4 or 8 bytes ([`Word`]). Signed numbers, floats and instants are
//! interpretations of the finished slice.
//!
//! ```
//! use pilaster::unstable::encoding::bitpack::{self, Packing};
//!
//! // Six values of 2 bits, the first in the lowest bits.
//! let mut words = [0u32; 6];
//! bitpack::unpack(Packing::U2, &[0x6c, 0x06], 0, &mut words)?;
//! assert_eq!(words, [0, 3, 2, 1, 2, 1]);
//! # Ok::<(), pilaster::Error>(())
//! ```
use crate::bytes::low32;

pub mod alp;
pub mod bitmap;
pub mod bitpack;
pub mod cells;
pub mod fastlanes;
pub mod fsst;
pub mod integers;
#[cfg(feature = "alloc")]
mod lanes;
pub mod linear;
pub mod min_max;
#[cfg(feature = "vortex")]
pub mod onpair;
#[cfg(feature = "pco")]
pub mod pco;
#[cfg(all(test, feature = "alloc"))]
mod text_tests;
#[cfg(feature = "alloc")]
pub mod texts;
#[cfg(feature = "vortex-variant")]
pub mod variant;
mod what;

pub(crate) use what::FIELDS;

/// A word of 4 or 8 bytes, which a decoder of integers fills.
pub trait Word: Copy {
    /// Truncates `value` to the width of the word.
    fn truncated(value: u64) -> Self;
    /// Returns the word, extended by zeros.
    fn extended(self) -> u64;
    /// Returns the sum modulo 2^32 or 2^64.
    #[must_use]
    fn wrapping_add(self, other: Self) -> Self;
}

impl Word for u32 {
    #[inline]
    fn truncated(value: u64) -> Self {
        low32(value)
    }
    #[inline]
    fn extended(self) -> u64 {
        self.into()
    }
    #[inline]
    fn wrapping_add(self, other: Self) -> Self {
        u32::wrapping_add(self, other)
    }
}

impl Word for u64 {
    #[inline]
    fn truncated(value: u64) -> Self {
        value
    }
    #[inline]
    fn extended(self) -> u64 {
        self
    }
    #[inline]
    fn wrapping_add(self, other: Self) -> Self {
        u64::wrapping_add(self, other)
    }
}
