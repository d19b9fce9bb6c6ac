//! Bits of a stream that is written from its start: lowest first.

#[cfg(feature = "zstd-encode")]
use crate::bytes::low32;
use crate::codec::greedy::Put;

/// Codes that are appended to a stream of bits at the highest bits of a word, which takes fewer instructions: the code of an
/// entry is in its highest bits, and its length in the lowest byte.
#[cfg(feature = "zstd-encode")]
pub(super) struct Codewords<'p> {
    bits: Bits<'p>,
    word: u64,
    used: u32,
}

#[cfg(feature = "zstd-encode")]
impl<'p> Codewords<'p> {
    /// Begins a stream.
    pub(super) const fn new(out: &'p mut Put<'_>) -> Self {
        Codewords { bits: Bits::new(out), word: 0, used: 0 }
    }

    /// Appends the code of an entry, after which at most 56 bits are in the word: the lowest byte is then overwritten.
    #[inline(always)]
    pub(super) const fn add(&mut self, entry: u64) {
        self.word = self.word >> (entry & 63) | entry;
        self.used = self.used.wrapping_add(low32(entry));
    }

    /// Appends the codes of two entries, the first of which is lower in the stream, under the condition of [`add`](Self::add).
    /// They are joined without the word: each further code waits for one shift of the word instead of two.
    #[inline(always)]
    pub(super) const fn add_two(&mut self, first: u64, second: u64) {
        let len = low32(first.wrapping_add(second));
        self.word = self.word >> (len & 63) | first >> (second & 63) | second;
        self.used = self.used.wrapping_add(len);
    }

    /// Appends the last code before a flush, after which at most 63 bits are in the word.
    #[inline(always)]
    pub(super) const fn add_last(&mut self, entry: u64) {
        self.word = self.word >> (entry & 63) | entry & !0xff;
        self.used = self.used.wrapping_add(low32(entry));
    }

    /// Writes all complete bytes.
    #[inline(always)]
    pub(super) fn flush(&mut self) -> Option<()> {
        self.bits.put(self.lowest(), self.used)?;
        self.used &= 7;
        Some(())
    }

    /// Returns the bits of the word as the lowest ones. Two shifts, as there may be no bits.
    #[inline(always)]
    const fn lowest(&self) -> u64 {
        self.word >> 1 >> (63u32.wrapping_sub(self.used) & 63)
    }

    /// Returns the stream.
    pub(super) const fn bits(mut self) -> Bits<'p> {
        (self.bits.word, self.bits.used) = (self.lowest(), self.used);
        self.bits
    }
}

/// The destination of a stream of bits. Its functions return `None` if the destination is full.
pub(super) struct Bits<'p> {
    bytes: &'p mut [u8],
    /// Number of bytes written, which the destination gets at the end of the stream.
    at: usize,
    end: &'p mut usize,
    word: u64,
    /// Number of bits in the word; at most 7 after [`flush`](Self::flush).
    used: u32,
}

impl<'p> Bits<'p> {
    pub(super) const fn new(out: &'p mut Put<'_>) -> Self {
        let (bytes, end) = out.parts();
        Bits { bytes, at: *end, end, word: 0, used: 0 }
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
        self.put(self.word, self.used)?;
        self.word >>= self.used & 56;
        self.used &= 7;
        Some(())
    }

    /// Fills the last byte with zeros.
    #[cfg(all(feature = "deflate", feature = "alloc"))]
    pub(super) fn align(&mut self) -> Option<()> {
        self.used = self.used.next_multiple_of(8);
        self.flush()
    }

    /// Writes the complete bytes of the lowest `used` bits of a word.
    #[inline(always)]
    fn put(&mut self, word: u64, used: u32) -> Option<()> {
        let n = (used >> 3) as usize;
        // No slice is half as long as there are addresses: without the highest bit, a single comparison is left.
        let at = self.at & usize::MAX >> 1;
        match self.bytes.get_mut(at..at.wrapping_add(8)).and_then(|window| window.first_chunk_mut()) {
            Some(window) => *window = word.to_le_bytes(),
            None => put_bytes(self.bytes, at, word, n)?,
        }
        self.at = at.wrapping_add(n);
        Some(())
    }

    /// Writes the rest of the bits; zeros fill the last byte.
    #[inline]
    pub(super) fn finish(mut self) -> Option<()> {
        self.flush()?;
        if self.used > 0 {
            put_bytes(self.bytes, self.at, self.word, 1)?;
            self.at = self.at.wrapping_add(1);
        }
        *self.end = self.at;
        Some(())
    }

    /// Writes the rest of the bits and the end marker, from which a decoder reads backwards.
    #[cfg(feature = "zstd-encode")]
    #[inline]
    pub(super) fn mark(mut self) -> Option<()> {
        self.flush()?;
        self.add(1, 1);
        self.finish()
    }
}

/// Writes the lowest `n` bytes of a word near the end of the destination. A method of [`Bits`] would keep its
/// position in memory instead of a register.
#[cold]
#[inline(never)]
fn put_bytes(bytes: &mut [u8], at: usize, word: u64, n: usize) -> Option<()> {
    bytes.get_mut(at..)?.get_mut(..n)?.copy_from_slice(word.to_le_bytes().get(..n)?);
    Some(())
}
