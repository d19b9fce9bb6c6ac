//! Value encodings: values to bytes and back. None of them knows a format.
//!
//! Below the batch there are only words of 4 and 8 bytes; signed, float and instant are names given
//! to the finished slice. A decoder takes its target as [`Out`], so that one function serves all.
//!
//! ```
//! use pilaster::unstable::encoding::{Out, bitpack::{self, Packing}};
//!
//! // Six values of 2 bits, the first in the lowest bits.
//! let mut words = [0u32; 6];
//! bitpack::unpack(Packing::U2, &[0x6c, 0x06], 0, Out::W4(&mut words))?;
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
pub mod linear;
pub mod min_max;
pub mod onpair;
#[cfg(feature = "pco")]
pub mod pco;
mod what;

pub(crate) use what::FIELDS;

/// Where decoded words go: one target type for all widths.
#[derive(Debug)]
pub enum Out<'o> {
    /// Words of 4 bytes.
    W4(&'o mut [u32]),
    /// Words of 8 bytes.
    W8(&'o mut [u64]),
}

impl Out<'_> {
    /// How many words.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Out::W4(words) => words.len(),
            Out::W8(words) => words.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets every word to `value`, cut to the width.
    pub fn fill(&mut self, value: u64) {
        match self {
            Out::W4(words) => words.fill(low32(value)),
            Out::W8(words) => words.fill(value),
        }
    }

    /// Words `first..first + len`, as far as they exist.
    pub fn part(&mut self, first: usize, len: usize) -> Out<'_> {
        let end = first.saturating_add(len).min(self.len());
        match self {
            Out::W4(words) => Out::W4(words.get_mut(first..end).unwrap_or_default()),
            Out::W8(words) => Out::W8(words.get_mut(first..end).unwrap_or_default()),
        }
    }
}
