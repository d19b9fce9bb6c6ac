//! Bits of a deflate stream, lowest first; up to 63 of them are buffered.

// A log in zlib is decoded at 0.89 of the speed without the inline attributes of this folder (bench `codec`).

use crate::bytes::FAST;
use crate::error::{Error, Kind, Result, What};

pub(super) struct Bits<'a> {
    pub src: &'a [u8],
    pub ready: Ready,
    /// The first field that was read past the end.
    missing: Option<What>,
}

/// The buffered bits.
#[derive(Clone, Copy)]
pub(super) struct Ready {
    /// The first byte that is not counted. After [`refill`](Self::refill) the buffer already holds bits of it
    /// above `count`; adding them again does not change them.
    next: usize,
    buffer: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    pub(super) const fn new(src: &'a [u8]) -> Self {
        Bits { src, ready: Ready { next: 0, buffer: 0, count: 0 }, missing: None }
    }

    /// Returns the offset of the byte with the next bit.
    pub(super) fn at(&self) -> u64 {
        (self.ready.next as u64).saturating_sub(u64::from(self.ready.count.div_ceil(8)))
    }

    /// Reads the next `n` bits, at most 16, with zeros past the end. [`check`](Self::check) then returns an
    /// error, so that results from such bits have no meaning.
    #[inline]
    pub(super) fn take(&mut self, n: u32, what: What) -> u32 {
        if self.ready.count < n {
            self.more(n, what);
        }
        let bits = self.ready.low(n);
        self.ready.skip(n);
        bits
    }

    /// Makes at least `n` bits available.
    #[cfg_attr(not(pilaster_small), inline(never))]
    fn more(&mut self, n: u32, what: What) {
        if FAST && self.ready.refill(self.src).is_some() {
            return;
        }
        while self.ready.count < n {
            let byte = self.src.get(self.ready.next).copied().unwrap_or_else(|| self.zero(what));
            self.ready.buffer |= u64::from(byte) << (self.ready.count & 63);
            self.ready.next = self.ready.next.wrapping_add(1);
            self.ready.count = self.ready.count.wrapping_add(8);
        }
    }

    /// Returns a byte past the end, and records the field.
    #[cold]
    fn zero(&mut self, what: What) -> u8 {
        self.missing.get_or_insert(what);
        0
    }

    /// Returns an error if bits past the end were read.
    pub(super) fn check(&self) -> Result<()> {
        match self.missing {
            Some(what) => Err(Error::needing(Kind::Truncated, what, self.src.len() as u64, 1)),
            None => Ok(()),
        }
    }

    /// Skips to the next whole byte. Whole bytes in the buffer are read again.
    pub(super) fn align(&mut self) {
        self.ready.next = self.ready.next.wrapping_sub((self.ready.count >> 3) as usize);
        (self.ready.buffer, self.ready.count) = (0, 0);
    }

    /// Skips to the next whole byte and takes `n` bytes.
    pub(super) fn bytes(&mut self, n: usize, what: What) -> Result<&'a [u8]> {
        self.align();
        match self.src.get(self.ready.next..).and_then(|rest| rest.get(..n)) {
            Some(bytes) => {
                self.ready.next = self.ready.next.wrapping_add(n);
                Ok(bytes)
            }
            None => Err(Error::needing(Kind::Truncated, what, self.at(), n as u64)),
        }
    }

    /// Returns the remaining whole bytes.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        self.align();
        self.src.get(self.ready.next..).unwrap_or_default()
    }
}

impl Ready {
    /// Makes at least 56 bits available; `None` near the end of the input.
    #[inline(always)]
    pub(super) fn refill(&mut self, src: &[u8]) -> Option<()> {
        let word = u64::from_le_bytes(*src.get(self.next..)?.first_chunk()?);
        self.buffer |= word << (self.count & 63);
        self.next = self.next.wrapping_add(63u32.wrapping_sub(self.count) as usize >> 3);
        self.count |= 56;
        Some(())
    }

    /// Returns the next `n` buffered bits.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "at most 16 bits")]
    pub(super) const fn low(&self, n: u32) -> u32 {
        self.buffer as u32 & (1u32 << (n & 31)).wrapping_sub(1)
    }

    /// Skips `n` buffered bits.
    #[inline(always)]
    pub(super) const fn skip(&mut self, n: u32) {
        self.buffer >>= n & 63;
        self.count = self.count.wrapping_sub(n);
    }
}
