//! Bits of a stream that is written from its start: lowest first.

use crate::codec::greedy::Put;

/// The destination of a stream of bits. Its functions return `None` if the destination is full.
pub(super) struct Bits<'p, 'o> {
    out: &'p mut Put<'o>,
    word: u64,
    /// Number of bits in the word; at most 7 after [`flush`](Self::flush).
    used: u32,
}

impl<'p, 'o> Bits<'p, 'o> {
    pub(super) const fn new(out: &'p mut Put<'o>) -> Self {
        Bits { out, word: 0, used: 0 }
    }

    /// Appends the lowest `n` bits of `value`, whose other bits are zero. Between two calls of
    /// [`flush`](Self::flush) 56 bits fit.
    #[inline(always)]
    pub(super) const fn add(&mut self, value: u64, n: u32) {
        self.word |= value << (self.used & 63);
        self.used = self.used.wrapping_add(n);
    }

    /// Writes all complete bytes.
    #[inline(always)]
    pub(super) fn flush(&mut self) -> Option<()> {
        match self.out.window::<8>() {
            Some(window) => {
                *window = self.word.to_le_bytes();
                self.out.at = self.out.at.wrapping_add((self.used >> 3) as usize);
                self.word >>= self.used & 56;
                self.used &= 7;
                Some(())
            }
            None => self.flush_bytes(),
        }
    }

    /// [`flush`](Self::flush) near the end of the destination.
    #[cold]
    #[inline(never)]
    fn flush_bytes(&mut self) -> Option<()> {
        while self.used >= 8 {
            let [byte, ..] = self.word.to_le_bytes();
            self.out.byte(byte)?;
            self.word >>= 8;
            self.used = self.used.wrapping_sub(8);
        }
        Some(())
    }

    /// Writes the rest of the bits; zeros fill the last byte.
    pub(super) fn finish(mut self) -> Option<()> {
        self.flush()?;
        if self.used > 0 {
            let [byte, ..] = self.word.to_le_bytes();
            self.out.byte(byte)?;
        }
        Some(())
    }

    /// Writes the rest of the bits and the end marker, from which a decoder reads backwards.
    pub(super) fn mark(mut self) -> Option<()> {
        self.flush()?;
        self.add(1, 1);
        self.finish()
    }
}
