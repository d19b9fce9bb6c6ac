//! Bits of a bzip2 stream, highest first.

use crate::bytes::FAST;
use crate::error::{Error, Kind, Result, What};

pub(super) struct Bits<'a> {
    src: &'a [u8],
    /// The first byte of which no bit is counted. Its bits may already be in the buffer, after the `count`
    /// bits.
    next: usize,
    /// The next bits, starting at the highest.
    buffer: u64,
    count: u32,
    /// The first field that was read past the end.
    missing: Option<What>,
}

impl<'a> Bits<'a> {
    pub(super) const fn new(src: &'a [u8]) -> Self {
        Bits { src, next: 0, buffer: 0, count: 0, missing: None }
    }

    /// Returns the offset of the byte with the next bit.
    pub(super) fn at(&self) -> u64 {
        (self.next as u64).saturating_sub(u64::from(self.count.div_ceil(8)))
    }

    /// Makes at least 32 bits available, or all that are left.
    #[inline]
    fn refill(&mut self) {
        if self.count >= 32 {
            return;
        }
        if FAST && let Some(word) = self.src.get(self.next..).and_then(|rest| rest.first_chunk()) {
            self.buffer |= u64::from_be_bytes(*word) >> (self.count & 63);
            self.next = self.next.wrapping_add(63u32.wrapping_sub(self.count) as usize >> 3);
            self.count |= 56;
        } else {
            self.refill_by_bytes();
        }
    }

    fn refill_by_bytes(&mut self) {
        while let Some(byte) = self.src.get(self.next).filter(|_| self.count <= 56) {
            self.buffer |= u64::from(*byte) << (56u32.wrapping_sub(self.count) & 63);
            self.next = self.next.wrapping_add(1);
            self.count = self.count.wrapping_add(8);
        }
    }

    /// Returns the next `n` bits, 1 to 32, with zeros past the end.
    #[inline]
    pub(super) fn peek(&mut self, n: u32) -> u32 {
        self.refill();
        self.top(n)
    }

    #[allow(clippy::cast_possible_truncation, reason = "at most 32 bits")]
    #[inline]
    const fn top(&self, n: u32) -> u32 {
        (self.buffer >> (64u32.wrapping_sub(n) & 63)) as u32
    }

    /// Skips `n` of the bits that were peeked, as part of the field `what`.
    #[inline]
    pub(super) fn skip(&mut self, n: u32, what: What) {
        if n > self.count {
            self.missing.get_or_insert(what);
        }
        self.buffer <<= n & 63;
        self.count = self.count.saturating_sub(n);
    }

    /// Reads the next `n` bits, 1 to 32, with zeros past the end. [`check`](Self::check) then returns an
    /// error, so that results from such bits have no meaning.
    #[inline]
    pub(super) fn take(&mut self, n: u32, what: What) -> u32 {
        let bits = self.peek(n);
        self.skip(n, what);
        bits
    }

    /// Returns an error if bits past the end were read.
    pub(super) fn check(&self) -> Result<()> {
        match self.missing {
            Some(what) => Err(Error::needing(Kind::Truncated, what, self.src.len() as u64, 1)),
            None => Ok(()),
        }
    }

    /// Returns the remaining whole bytes and their offset.
    pub(super) fn rest(&self) -> (&'a [u8], u64) {
        let next = self.next.wrapping_sub((self.count >> 3) as usize);
        (self.src.get(next..).unwrap_or_default(), next as u64)
    }
}
