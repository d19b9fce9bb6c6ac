//! Bits of a page, least significant first. Bits past the end read as zero; [`Stream::is_inside`] then
//! returns false.

use crate::bytes::{little, saturated};

/// A position in a bit stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream<'a> {
    bytes: &'a [u8],
    /// The position in bits.
    at: u64,
}

impl<'a> Stream<'a> {
    /// Minimum number of bits that [`peek`](Self::peek) returns.
    pub(super) const PEEK: u32 = 57;

    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Stream { bytes, at: 0 }
    }

    /// Returns the position in bytes, rounded up.
    pub(super) const fn bytes_begun(&self) -> u64 {
        self.at.wrapping_add(7) >> 3
    }

    /// Returns whether no bit past the end was read.
    pub(super) const fn is_inside(&self) -> bool {
        self.bytes_begun() <= self.bytes.len() as u64
    }

    /// Returns at least [`PEEK`](Self::PEEK) bits, starting at the position.
    pub(super) fn peek(&self) -> u64 {
        self.eight(0) >> (self.at & 7)
    }

    /// Skips bits.
    pub(super) const fn skip(&mut self, bits: u32) {
        self.at = self.at.wrapping_add(bits as u64);
    }

    /// Skips bytes.
    pub(super) const fn skip_bytes(&mut self, bytes: u64) {
        self.at = self.at.wrapping_add(bytes.wrapping_mul(8));
    }

    /// Reads up to 64 bits.
    pub(super) fn take(&mut self, bits: u32) -> u64 {
        let mut word = self.peek();
        if bits > Self::PEEK {
            // The upper byte, in two shifts because a shift by 64 overflows.
            word |= self.eight(8) << 1 << (63 ^ (self.at & 7));
        }
        self.skip(bits);
        word & super::mask(bits)
    }

    /// Reads up to 32 bits.
    #[allow(clippy::cast_possible_truncation, reason = "there are no more bits")]
    pub(super) fn small(&mut self, bits: u32) -> u32 {
        self.take(bits) as u32
    }

    /// Skips to the next whole byte. Returns whether all skipped bits are zero.
    pub(super) fn align(&mut self) -> bool {
        let rest = u32::try_from(self.at.wrapping_neg() & 7).unwrap_or(0);
        self.take(rest) == 0
    }

    /// Returns eight bytes, starting `ahead` bytes after the position.
    fn eight(&self, ahead: u64) -> u64 {
        let at = saturated((self.at >> 3).wrapping_add(ahead));
        // One comparison: the sum does not overflow.
        match self.bytes.get(at..at.wrapping_add(8)).and_then(<[u8]>::first_chunk) {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => tail(self.bytes, at),
        }
    }
}

#[cold]
fn tail(bytes: &[u8], at: usize) -> u64 {
    little(bytes.get(at..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bits_from_any_place() {
        let bytes: [u8; 19] = core::array::from_fn(|i| (i as u8).wrapping_mul(151) ^ 0x5a);
        let bit = |i: usize| bytes.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
        for at in 0..100 {
            for n in 0..=64u32 {
                let naive = (0..n as usize).fold(0u64, |word, i| word | u64::from(bit(at + i)) << i);
                let mut stream = Stream { bytes: &bytes, at: at as u64 };
                assert_eq!(stream.take(n), naive, "{n} bits at {at}");
                assert_eq!(stream.is_inside(), (at + n as usize).div_ceil(8) <= 19);
            }
        }
        assert!(!Stream { bytes: &[0x80], at: 1 }.align() && Stream { bytes: &[0x81], at: 0 }.align());
    }
}
