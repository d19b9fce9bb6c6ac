//! Bits of a deflate stream: lowest first, up to 63 of them held ready.

use crate::error::{Error, Kind, Result, What};

#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    src: &'a [u8],
    /// The first byte that is not in the buffer. Behind [`refill`](Self::refill) the buffer holds bits
    /// of it above `count` already; they are the same when they come again.
    next: usize,
    pub buffer: u64,
    count: u32,
    /// What was the first to be taken from behind the end.
    missing: Option<What>,
}

impl<'a> Bits<'a> {
    pub(super) const fn new(src: &'a [u8]) -> Self {
        Bits { src, next: 0, buffer: 0, count: 0, missing: None }
    }

    /// Offset of the byte that the next bit is in.
    pub(super) fn at(&self) -> u64 {
        (self.next as u64).saturating_sub(u64::from(self.count.div_ceil(8)))
    }

    /// Takes the next `n` bits, at most 16; zeros behind the end: what is made of those is of no meaning, as
    /// [`check`](Self::check) finds out.
    #[inline]
    pub(super) fn take(&mut self, n: u32, what: What) -> u32 {
        while self.count < n {
            let byte = self.src.get(self.next).copied().unwrap_or_else(|| self.zero(what));
            self.buffer |= u64::from(byte) << (self.count & 63);
            self.next = self.next.wrapping_add(1);
            self.count = self.count.wrapping_add(8);
        }
        let bits = self.low(n);
        self.skip(n);
        bits
    }

    /// The byte behind the end.
    #[cold]
    fn zero(&mut self, what: What) -> u8 {
        self.missing.get_or_insert(what);
        0
    }

    /// An error if bits were taken from behind the end.
    pub(super) fn check(&self) -> Result<()> {
        match self.missing {
            Some(what) => Err(Error::new(Kind::Truncated, what, self.src.len() as u64).with_need(1)),
            None => Ok(()),
        }
    }

    /// At least 56 bits ready; `None` near the end of the input.
    #[inline(always)]
    pub(super) fn refill(&mut self) -> Option<()> {
        let word = u64::from_le_bytes(*self.src.get(self.next..)?.first_chunk()?);
        self.buffer |= word << (self.count & 63);
        self.next = self.next.wrapping_add(63u32.wrapping_sub(self.count) as usize >> 3);
        self.count |= 56;
        Some(())
    }

    /// The next `n` bits of those that are ready.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "at most 16 bits")]
    pub(super) const fn low(&self, n: u32) -> u32 {
        self.buffer as u32 & (1u32 << (n & 31)).wrapping_sub(1)
    }

    /// Drops `n` bits of those that are ready.
    #[inline(always)]
    pub(super) const fn skip(&mut self, n: u32) {
        self.buffer >>= n & 63;
        self.count = self.count.wrapping_sub(n);
    }

    /// Drops what is left of a byte, and hands the whole ones back.
    pub(super) fn align(&mut self) {
        self.next = self.next.wrapping_sub((self.count >> 3) as usize);
        (self.buffer, self.count) = (0, 0);
    }

    /// Takes whole bytes, behind [`align`](Self::align) and bits that make up bytes.
    pub(super) fn bytes(&mut self, n: usize, what: What) -> Result<&'a [u8]> {
        self.align();
        match self.src.get(self.next..).and_then(|rest| rest.get(..n)) {
            Some(bytes) => {
                self.next = self.next.wrapping_add(n);
                Ok(bytes)
            }
            None => Err(Error::new(Kind::Truncated, what, self.at()).with_need(n as u64)),
        }
    }

    /// The whole bytes that are left.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        self.align();
        self.src.get(self.next..).unwrap_or_default()
    }
}
