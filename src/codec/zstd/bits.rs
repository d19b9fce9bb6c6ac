//! Bits of a stream that is read from its end: highest first, after the end marker.

// See `sequences` for the effect of the inline attributes.

use crate::bytes::low32;
use crate::error::{Error, Kind, Result, What};

/// A part of a source as a stream of bits.
///
/// A stream is valid if exactly all of its bits are read. Reading past the end returns bits of the bytes
/// before the stream; [`finish`](Self::finish) then returns an error.
#[derive(Clone, Copy, Default)]
pub(super) struct Bits<'a> {
    pub src: &'a [u8],
    /// Start of the stream. It is never 0, because a frame header precedes every stream.
    start: usize,
    /// End of the word.
    end: usize,
    /// The eight bytes before `end`.
    word: u64,
    /// Number of bits of the word that were read, starting at the highest.
    used: u32,
}

/// After this number of bits, [`refill`](Bits::refill) is required.
const LEAST: u32 = 7;
/// Number of bits that are available after [`refill`](Bits::refill).
pub(super) const READY: u32 = 64 - LEAST;

impl<'a> Bits<'a> {
    /// Begins the stream `start..end`. The highest set bit of its last byte is the end marker.
    pub(super) fn begin(&mut self, src: &'a [u8], start: usize, end: usize, what: What) -> Result<()> {
        let last = end.checked_sub(1).filter(|last| start <= *last).and_then(|last| src.get(last));
        match last {
            Some(0) => Err(Error::new(Kind::Invalid, what, end as u64)),
            Some(last) => {
                let used = last.leading_zeros().wrapping_add(1);
                *self = Bits { src, start, end, word: word(src, end), used };
                Ok(())
            }
            None => Err(Error::needing(Kind::Truncated, what, start as u64, 1)),
        }
    }

    /// Makes at least [`READY`] bits available.
    #[inline]
    pub(super) fn refill(&mut self) {
        self.end = self.end.saturating_sub((self.used >> 3) as usize);
        self.used &= LEAST;
        self.word = word(self.src, self.end);
    }

    /// Returns the next `n` bits, at most 32 and at most the available ones.
    #[inline]
    pub(super) const fn look(&self, n: u32) -> u64 {
        // In two steps, because a shift by 64 overflows.
        self.word << (self.used & 63) >> 1 >> (63u32.wrapping_sub(n) & 63)
    }

    /// Skips `n` available bits.
    #[inline]
    pub(super) const fn skip(&mut self, n: u32) {
        self.used = self.used.wrapping_add(n);
    }

    /// Reads the next `n` bits, at most 32 and at most the available ones.
    #[inline]
    pub(super) const fn take(&mut self, n: u32) -> u64 {
        let bits = self.look(n);
        self.skip(n);
        bits
    }

    /// Converts to [`Marked`]: the marker bit replaces the lowest bit of the word.
    pub(super) fn marked(&self) -> Marked {
        let mut bits = *self;
        bits.refill();
        Marked { word: (bits.word | 1) << (bits.used & LEAST), end: bits.end }
    }

    /// Returns this stream, continued at the position of `bits`.
    pub(super) fn behind(self, bits: Marked) -> Self {
        Bits { end: bits.end, used: bits.word.trailing_zeros(), word: word(self.src, bits.end), ..self }
    }

    /// Returns the number of bits of the source before the bits that were read; `None` if more were read than
    /// it has, or the number is too large.
    pub(super) fn position(&self) -> Option<usize> {
        self.end.checked_mul(8)?.checked_sub(self.used as usize)
    }

    /// Returns the source up to the end of the word. Bits that begin with a byte are then left to a step; with one byte more,
    /// the loop of sequences has 4 % more instructions.
    pub(super) fn before(&self) -> Option<&'a [u8]> {
        self.src.get(..self.end)
    }

    /// Moves to the given [`position`](Self::position).
    pub(super) fn go(&mut self, position: usize) {
        self.end = position.div_ceil(8);
        self.used = low32(self.end.wrapping_mul(8).wrapping_sub(position) as u64);
        self.word = word(self.src, self.end);
    }

    /// Returns the number of bits left; negative if more were read than there were.
    pub(super) fn left(&self) -> i64 {
        let bytes = (self.end as u64).wrapping_sub(self.start as u64);
        bytes.wrapping_mul(8).wrapping_sub(self.used.into()).cast_signed()
    }

    /// Ends the stream. Returns an error unless exactly all bits were read.
    pub(super) fn finish(&self, what: What) -> Result<()> {
        match self.left() {
            0 => Ok(()),
            left => {
                let need = left.cast_unsigned();
                Err(Error::needing(Kind::Invalid, what, self.start as u64, need))
            }
        }
    }
}

/// The available bits, highest first, followed by a marker whose position counts the bits that were read.
#[derive(Clone, Copy)]
pub(super) struct Marked {
    pub word: u64,
    end: usize,
}

impl Marked {
    /// Makes at least `READY - 1` bits available; `None` near the start of the source.
    #[inline(always)]
    pub(super) fn refilled(self, src: &[u8]) -> Option<Self> {
        let used = self.word.trailing_zeros();
        let end = self.end.wrapping_sub((used >> 3) as usize);
        let word = u64::from_le_bytes(*src.get(..end)?.last_chunk()?);
        Some(Marked { word: (word | 1) << (used & LEAST), end })
    }
}

/// Truncates an index or a length to 32 bits.
#[inline]
pub(super) const fn size(n: u64) -> usize {
    low32(n) as usize
}

/// Returns the eight bytes before `end`.
#[inline]
fn word(src: &[u8], end: usize) -> u64 {
    match end.checked_sub(8).and_then(|at| src.get(at..)?.first_chunk()) {
        Some(word) => u64::from_le_bytes(*word),
        None => first_word(src, end),
    }
}

/// Like [`word`], if there are fewer than eight bytes: they are in the highest positions.
#[cold]
#[inline(never)]
fn first_word(src: &[u8], end: usize) -> u64 {
    src.iter().take(end.min(8)).fold(0, |word, byte| word >> 8 | u64::from(*byte) << 56)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn bits_agree_with_a_list_of_them() {
        let mut src: Vec<u8> = (0..40u8).map(|i| i.wrapping_mul(151) ^ 0x5a).collect();
        for (start, end) in [(0, 1), (1, 6), (9, 40), (20, 31)] {
            for mark in 0..8 {
                src[end - 1] = 1 << mark | (src[end - 1] & ((1 << mark) - 1));
                let mut list = (start..end).flat_map(|at| (0..8).map(move |bit| (at, bit))).collect::<Vec<_>>();
                list.truncate(list.len() - 8 + mark);
                let mut bits = Bits::default();
                bits.begin(&src, start, end, What::ZSTD_FRAME).unwrap();
                assert_eq!(bits.left(), list.len() as i64);
                for n in [1, 0, 7, 32, 11, 3, 9, 26].into_iter().cycle() {
                    if list.len() < n {
                        break;
                    }
                    let expected = (0..n).fold(0u64, |value, _| {
                        let (at, bit) = list.pop().unwrap();
                        value << 1 | u64::from(src[at] >> bit & 1)
                    });
                    bits.refill();
                    assert_eq!(bits.take(n as u32), expected);
                }
                assert_eq!(bits.finish(What::ZSTD_FRAME).is_ok(), list.is_empty());
                bits.skip(list.len() as u32);
                assert_eq!(bits.finish(What::ZSTD_FRAME), Ok(()));
                bits.skip(1);
                assert!(bits.finish(What::ZSTD_FRAME).is_err());
            }
        }
    }

    #[test]
    fn a_stream_without_a_mark() {
        let of = |src: &[u8], start, end| Bits::default().begin(src, start, end, What::ZSTD_FRAME).unwrap_err().kind();
        assert_eq!(of(&[1, 0], 0, 2), Kind::Invalid);
        assert_eq!(of(&[1, 0], 2, 2), Kind::Truncated);
        assert_eq!(of(&[1, 0], 1, 9), Kind::Truncated);
    }
}
