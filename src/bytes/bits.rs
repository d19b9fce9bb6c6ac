//! Bits of a byte slice: by index ([`Bits`]) and in sequence ([`BitReader`]).
//!
//! Bit `i` is bit `i & 7` of byte `i >> 3`, least significant first: the order of Arrow, Filo, Jay
//! and Vortex bitmaps, and of deflate.

use crate::error::{Error, Kind, Result, What};

/// A run of bits inside a byte slice, starting at any bit.
///
/// ```
/// use pilaster::bytes::Bits;
///
/// // The validity of six rows, which start at bit 3 of the first byte.
/// let valid = Bits::new(&[0b1011_0000, 0b0000_0001], 3, 6)?;
/// assert_eq!((valid.len(), valid.count_ones()), (6, 4));
/// assert!(valid.iter().eq([false, true, true, false, true, true]));
/// assert_eq!((valid.get(0), valid.get(1), valid.get(6)), (Some(false), Some(true), None));
/// assert!(valid.words().eq([0b11_0110]), "bit 0 of the first word is row 0");
///
/// // Two of the rows, without a copy.
/// let two = valid.slice(3, 2)?;
/// assert!(!two.is_empty() && two.iter().eq([false, true]));
/// assert_eq!(two.as_bytes(), (&[0b1011_0000, 0b0000_0001][..], 6));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a> {
    bytes: &'a [u8],
    first: usize,
    len: usize,
}

impl<'a> Bits<'a> {
    /// Borrows bits `first..first + len` of `bytes`.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if `bytes` has fewer; `need` is the required number of bytes.
    pub fn new(bytes: &'a [u8], first: usize, len: usize) -> Result<Self> {
        match first.checked_add(len) {
            Some(end) if end.div_ceil(8) <= bytes.len() => Ok(Bits { bytes, first, len }),
            _ => {
                let need = (first as u64).saturating_add(len as u64).div_ceil(8);
                Err(Error::needing(Kind::Truncated, What::BITS, 0, need))
            }
        }
    }

    /// Returns the number of bits.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the number of bits is 0.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns bit `i`, or `None` if `i` is not below [`len`](Self::len).
    #[inline]
    #[must_use]
    pub fn get(&self, i: usize) -> Option<bool> {
        if i >= self.len {
            return None;
        }
        let at = self.first.checked_add(i)?;
        let byte = self.bytes.get(at >> 3)?;
        Some(byte >> (at & 7) & 1 == 1)
    }

    /// Returns the 64 bits starting at bit `i`, which is the lowest bit of the result. Bits after the end are 0.
    #[must_use]
    pub(crate) fn word(&self, i: usize) -> u64 {
        let left = self.len.saturating_sub(i);
        if left == 0 {
            return 0;
        }
        let at = self.first.saturating_add(i);
        let bytes = self.bytes.get(at >> 3..).unwrap_or(&[]);
        let word = match (at & 7, bytes) {
            (0, [a, b, c, d, e, f, g, h, ..]) => u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            // Nine bytes cover any 64 bits.
            (shift, [a, b, c, d, e, f, g, h, high, ..]) => {
                joined(u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]), *high, shift)
            }
            (shift, _) => tail_word(bytes, shift),
        };
        if left < 64 { word & (1u64 << left).wrapping_sub(1) } else { word }
    }

    /// Returns bits `first..first + len` of these.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if they end after the last bit.
    pub fn slice(&self, first: usize, len: usize) -> Result<Self> {
        match first.checked_add(len) {
            Some(end) if end <= self.len => Ok(Bits { first: self.first.wrapping_add(first), len, ..*self }),
            _ => Err(Error::needing(Kind::OutOfRange, What::BITS, first as u64, self.len as u64)),
        }
    }

    /// Returns the number of bits that are 1.
    #[must_use]
    pub fn count_ones(&self) -> usize {
        self.words().fold(0usize, |n, word| n.saturating_add(word.count_ones() as usize))
    }

    /// Iterates over the bits in words of 64. The unused high bits of the last word are 0.
    pub fn words(&self) -> impl Iterator<Item = u64> + use<'a> {
        let bits = *self;
        (0..bits.len.div_ceil(64)).map(move |k| bits.word(k.saturating_mul(64)))
    }

    /// Iterates over the bits.
    pub fn iter(&self) -> impl Iterator<Item = bool> + use<'a> {
        let bits = *self;
        (0..bits.len).map(move |i| bits.get(i).unwrap_or(false))
    }

    /// Returns the underlying bytes and the index of the first bit in them, as consumers of Arrow-like bitmaps need
    /// them.
    #[must_use]
    pub const fn as_bytes(&self) -> (&'a [u8], usize) {
        (self.bytes, self.first)
    }
}

/// Returns 64 of the 72 bits of `low` and `high`, starting at bit `shift` (0 to 7).
#[inline]
const fn joined(low: u64, high: u8, shift: usize) -> u64 {
    match shift {
        0 => low,
        // `high` is shifted twice, because a shift by 64 would overflow.
        _ => low >> shift | (high as u64) << 56 << (8usize.saturating_sub(shift)),
    }
}

/// Returns 64 bits starting at bit `shift` (0 to 7) of `bytes`, which are the last of their slice. Missing bytes count
/// as 0.
#[cold]
fn tail_word(bytes: &[u8], shift: usize) -> u64 {
    let mut low = [0u8; 8];
    for (to, from) in low.iter_mut().zip(bytes) {
        *to = *from;
    }
    joined(u64::from_le_bytes(low), bytes.get(8).copied().unwrap_or(0), shift)
}

/// Reads bits in sequence, least significant first.
///
/// ```
/// use pilaster::unstable::bytes::BitReader;
///
/// let mut r = BitReader::new(&[0b1011_0010, 0xff]);
/// assert_eq!((r.take(1)?, r.take(3)?, r.take(6)?), (0, 0b001, 0b11_1011));
/// assert_eq!(r.take(7).unwrap_err().need(), 3, "three bytes would hold bit 17");
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BitReader<'a> {
    bits: Bits<'a>,
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Creates a reader at the first bit of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        BitReader { bits: Bits { bytes, first: 0, len: bytes.len().saturating_mul(8) }, at: 0 }
    }

    /// Takes the next `n` bits, at most 64.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if fewer bits are left (`at`: the byte of the next bit; `need`: the required length of the
    /// input in bytes); [`Kind::OutOfRange`] if `n` is above 64.
    pub fn take(&mut self, n: u32) -> Result<u64> {
        if n > 64 {
            return Err(Error::needing(Kind::OutOfRange, What::BITS, u64::from(n), 64));
        }
        let end = self.at.saturating_add(n as usize);
        if end > self.bits.len {
            return Err(Error::needing(Kind::Truncated, What::BITS, self.at as u64 / 8, end.div_ceil(8) as u64));
        }
        let word = self.bits.word(self.at);
        self.at = end;
        Ok(if n < 64 { word & (1u64 << n).wrapping_sub(1) } else { word })
    }

    /// Skips to the next byte boundary and returns the remaining bytes.
    #[must_use]
    pub fn rest(self) -> &'a [u8] {
        self.bits.bytes.get(self.at.div_ceil(8)..).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_agree_with_single_bits_at_every_offset() {
        let bytes: [u8; 21] = core::array::from_fn(|i| (i as u8).wrapping_mul(151) ^ 0x5a);
        for first in 0..70 {
            for len in [0, 1, 7, 8, 63, 64, 65, 90] {
                let bits = Bits::new(&bytes, first, len).unwrap();
                for (k, word) in bits.words().enumerate() {
                    for i in 0..64 {
                        let expected = bits.get(k * 64 + i).unwrap_or(false);
                        assert_eq!(word >> i & 1 == 1, expected, "first {first} len {len} bit {}", k * 64 + i);
                    }
                }
                assert_eq!(bits.count_ones(), bits.iter().filter(|b| *b).count());
            }
        }
    }

    #[test]
    fn a_short_slice_is_refused() {
        assert_eq!(Bits::new(&[0], 1, 8).unwrap_err().need(), 2);
        assert!(Bits::new(&[0], usize::MAX, 2).is_err());
        assert!(Bits::new(&[0; 2], 3, 13).unwrap().slice(5, 9).is_err());
    }
}
