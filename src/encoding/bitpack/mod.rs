//! Plain bit packing: consecutive values of 2 to 64 bits, little-endian, the first in the lowest bits.
//!
//! ```
//! use pilaster::unstable::encoding::bitpack::{self, Packing};
//!
//! assert_eq!(bitpack::get(Packing::U4, &[0xf0, 0xcd], 3), Some(12));
//! assert_eq!(bitpack::get(Packing::I16, &[0xfe, 0xff], 0), Some(-2i64 as u64));
//! assert_eq!(bitpack::get(Packing::I16, &[0xfe, 0xff], 1), None);
//! ```

#[cfg(any(not(pilaster_small), test))]
mod host;
pub mod pack;

use super::Word;
use crate::bytes::{FAST, little};
use crate::error::{Error, Kind, Result, What};

/// Width and sign of a stored integer.
///
/// ```
/// use pilaster::unstable::encoding::bitpack::Packing;
///
/// // The narrowest unsigned integers that hold 200.
/// let narrowest = Packing::ALL.into_iter().find(|packing| !packing.signed() && 200u64 >> packing.bits() ==
/// 0);
/// assert_eq!(narrowest, Some(Packing::U8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Packing {
    /// 2 bits, unsigned.
    U2,
    /// 4 bits, unsigned.
    U4,
    /// 8 bits, signed.
    I8,
    /// 8 bits, unsigned.
    U8,
    /// 16 bits, signed.
    I16,
    /// 16 bits, unsigned.
    U16,
    /// 32 bits, signed.
    I32,
    /// 32 bits, unsigned, or the bits of a float.
    U32,
    /// 64 bits of any meaning.
    W64,
}

impl Packing {
    /// Every width, narrow ones first.
    pub const ALL: [Packing; 9] = [
        Packing::U2,
        Packing::U4,
        Packing::I8,
        Packing::U8,
        Packing::I16,
        Packing::U16,
        Packing::I32,
        Packing::U32,
        Packing::W64,
    ];

    /// Returns the number of bits per value.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Packing::U2 => 2,
            Packing::U4 => 4,
            Packing::I8 | Packing::U8 => 8,
            Packing::I16 | Packing::U16 => 16,
            Packing::I32 | Packing::U32 => 32,
            Packing::W64 => 64,
        }
    }

    /// Returns whether stored values are sign-extended; false for 64 bits, which leave nothing to extend.
    #[must_use]
    pub const fn signed(self) -> bool {
        matches!(self, Packing::I8 | Packing::I16 | Packing::I32)
    }

    /// Returns the size of `n` values in whole bytes.
    #[must_use]
    pub(crate) const fn bytes(self, n: usize) -> usize {
        match self {
            Packing::U2 => n.div_ceil(4),
            Packing::U4 => n.div_ceil(2),
            Packing::I8 | Packing::U8 => n,
            Packing::I16 | Packing::U16 => n.saturating_mul(2),
            Packing::I32 | Packing::U32 => n.saturating_mul(4),
            Packing::W64 => n.saturating_mul(8),
        }
    }
}

/// The numbers by which a value is found and extended without a branch, on 64-bit targets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    /// The logarithm of the number of bits.
    log: u32,
    mask: u64,
    /// The sign bit of signed values, else 0.
    sign: u64,
}

impl Width {
    #[inline]
    pub(crate) const fn of(packing: Packing) -> Self {
        let bits = packing.bits();
        let sign = if packing.signed() { 1u64 << (bits.wrapping_sub(1) & 63) } else { 0 };
        Width { log: bits.trailing_zeros(), mask: u64::MAX >> (64u32.wrapping_sub(bits) & 63), sign }
    }

    /// Returns the same as [`of`](Self::of), from a table.
    #[inline(always)]
    pub(crate) fn known(packing: Packing) -> Option<Self> {
        WIDTHS.get(packing as usize).copied()
    }

    /// Returns value `i`, extended to 64 bits, or `None` if fewer than eight bytes follow, or if `i` is beyond 2^32.
    #[inline]
    pub(crate) fn get(self, src: &[u8], i: usize) -> Option<u64> {
        let bit = u64::from(u32::try_from(i).ok()?) << self.log;
        let at = usize::try_from(bit >> 3).ok()?;
        let word = u64::from_le_bytes(*src.get(at..)?.first_chunk()?);
        Some((word >> (bit & 7) & self.mask ^ self.sign).wrapping_sub(self.sign))
    }
}

/// The widths of [`Packing::ALL`].
const WIDTHS: [Width; 9] = [
    Width::of(Packing::U2),
    Width::of(Packing::U4),
    Width::of(Packing::I8),
    Width::of(Packing::U8),
    Width::of(Packing::I16),
    Width::of(Packing::U16),
    Width::of(Packing::I32),
    Width::of(Packing::U32),
    Width::of(Packing::W64),
];

/// Returns value `i`, extended to 64 bits, or `None` if it is past the end of `src`.
// Inlined with the loop of the caller, where the width is the same for all values.
#[cfg_attr(not(pilaster_small), inline)]
#[must_use]
pub fn get(packing: Packing, src: &[u8], i: usize) -> Option<u64> {
    if FAST
        && let Some(width) = Width::known(packing)
        && let Some(word) = width.get(src, i)
    {
        return Some(word);
    }
    one(packing, src, i)
}

/// [`get`] on small targets, and of the last values.
#[cfg_attr(not(pilaster_small), inline(never))]
fn one(packing: Packing, src: &[u8], i: usize) -> Option<u64> {
    let bits = packing.bits();
    if bits < 8 {
        let first = i.checked_mul(bits as usize)?;
        return Some(u64::from(src.get(first >> 3)? >> (first & 7)) & (1u64 << bits).wrapping_sub(1));
    }
    let size = (bits >> 3) as usize;
    let start = i.checked_mul(size)?;
    let src = src.get(start..)?;
    let word = little(src.get(..size)?);
    let above = 64u32.wrapping_sub(bits);
    Some(if packing.signed() {
        ((word << above).cast_signed() >> above).cast_unsigned()
    } else {
        word << above >> above
    })
}

/// Decodes the values starting at value `first` until `out` is full. Narrow values are extended to the words
/// of `out`, wide ones truncated.
///
/// # Errors
/// [`Kind::Truncated`] if `src` has fewer values (`need`: the required length of `src` in bytes).
pub fn unpack<W: Word>(packing: Packing, src: &[u8], first: usize, out: &mut [W]) -> Result<()> {
    let end = first.saturating_add(out.len());
    if packing.bytes(end) > src.len() {
        return Err(Error::needing(Kind::Truncated, What::BITS, 0, packing.bytes(end) as u64));
    }
    #[cfg(not(pilaster_small))]
    host::unpack(packing, src, first, out);
    #[cfg(pilaster_small)]
    small(packing, src, first, out);
    Ok(())
}

/// Unpacks on small targets: value by value, with one loop for all widths.
#[cfg(any(pilaster_small, test))]
fn small<W: Word>(packing: Packing, src: &[u8], first: usize, out: &mut [W]) {
    for (i, word) in out.iter_mut().enumerate() {
        *word = W::truncated(get(packing, src, first.saturating_add(i)).unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn batches_agree_with_single_values_at_every_start() {
        let src: Vec<u8> = (0..200u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for packing in Packing::ALL {
            let count = src.len() * 8 / packing.bits() as usize;
            for first in (0..count.min(9)).chain([count - 1, count]) {
                for len in [0, 1, 2, 3, 5, 31, 63, 64, 65, 130, 300] {
                    let len = len.min(count - first);
                    let (mut narrow, mut wide) = (std::vec![1u32; len], std::vec![1u64; len]);
                    host::unpack(packing, &src, first, &mut narrow);
                    host::unpack(packing, &src, first, &mut wide);
                    let (mut small4, mut small8) = (std::vec![2u32; len], std::vec![2u64; len]);
                    small(packing, &src, first, &mut small4);
                    small(packing, &src, first, &mut small8);
                    assert_eq!((&narrow, &wide), (&small4, &small8), "{packing:?} {first} {len}");
                    for i in 0..len {
                        let expected = get(packing, &src, first + i).unwrap();
                        assert_eq!(wide[i], expected, "{packing:?} {first} {len} {i}");
                        assert_eq!(narrow[i], expected as u32, "{packing:?} {first} {len} {i}");
                        assert_eq!(one(packing, &src, first + i), Some(expected), "{packing:?} {first} {len} {i}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_short_source_is_an_error() {
        for packing in Packing::ALL {
            let e = unpack(packing, &[0; 8], 0, &mut [0u32; 33]).unwrap_err();
            assert_eq!((e.kind(), e.need() as usize), (Kind::Truncated, packing.bytes(33)));
            assert!(unpack(packing, &[0; 8], usize::MAX, &mut [0u32; 1]).is_err());
        }
    }
}
