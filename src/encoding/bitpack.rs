//! Plain bit packing: values of 2 to 64 bits side by side, little-endian, the first in the lowest bits.
//!
//! ```
//! use pilaster::encoding::bitpack::{self, Packing};
//!
//! assert_eq!(bitpack::get(Packing::U4, &[0xf0, 0xcd], 3), Some(12));
//! assert_eq!(bitpack::get(Packing::I16, &[0xfe, 0xff], 0), Some(-2i64 as u64));
//! assert_eq!(bitpack::get(Packing::I16, &[0xfe, 0xff], 1), None);
//! ```

use super::{Out, low32};
use crate::error::{Error, Kind, Result, What};

/// Width and sign of a stored integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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
    /// Bits of one value.
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

    /// Whether stored values are sign-extended. Of 64 bits both say nothing.
    #[must_use]
    pub const fn signed(self) -> bool {
        matches!(self, Packing::I8 | Packing::I16 | Packing::I32)
    }

    /// Bytes of `n` values, the last one filled up.
    #[must_use]
    pub const fn bytes(self, n: usize) -> usize {
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

/// Value `i`, extended to 64 bits; `None` behind the end.
#[must_use]
pub fn get(packing: Packing, src: &[u8], i: usize) -> Option<u64> {
    let bits = packing.bits();
    if bits < 8 {
        let first = i.checked_mul(bits as usize)?;
        return Some(u64::from(src.get(first >> 3)? >> (first & 7)) & (1u64 << bits).wrapping_sub(1));
    }
    let size = (bits >> 3) as usize;
    let start = i.checked_mul(size)?;
    let src = src.get(start..)?;
    let word = match src.first_chunk::<8>() {
        // Whatever is above the value goes with the shifts below.
        Some(bytes) if cfg!(target_pointer_width = "64") => u64::from_le_bytes(*bytes),
        _ => src.get(..size)?.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte)),
    };
    let above = 64u32.wrapping_sub(bits);
    Some(if packing.signed() {
        ((word << above).cast_signed() >> above).cast_unsigned()
    } else {
        word << above >> above
    })
}

/// Decodes the values from value `first` on until `out` is full. Narrow values are extended to the
/// words of `out`, wide ones cut to them.
///
/// # Errors
/// [`Kind::Truncated`] if `src` has fewer values; `need` counts its bytes.
pub fn unpack(packing: Packing, src: &[u8], first: usize, out: Out<'_>) -> Result<()> {
    let end = first.saturating_add(out.len());
    if packing.bytes(end) > src.len() {
        return Err(Error::new(Kind::Truncated, What::Bits, 0).with_need(packing.bytes(end) as u64));
    }
    // `first` may lie inside a byte of 2 or 4-bit values.
    let inside = match packing {
        Packing::U2 => first & 3,
        Packing::U4 => first & 1,
        _ => 0,
    };
    let src = src.get(packing.bytes(first.saturating_sub(inside))..).unwrap_or_default();
    match out {
        Out::W4(words) => unpack_words(packing, src, inside, words),
        Out::W8(words) => unpack_words(packing, src, inside, words),
    }
    Ok(())
}

/// A target word, made from a stored one by zero extension, sign extension or cutting.
trait Word: Copy {
    fn unsigned(value: u32) -> Self;
    fn signed(value: i32) -> Self;
    fn wide(value: u64) -> Self;
}

impl Word for u32 {
    #[inline(always)]
    fn unsigned(value: u32) -> Self {
        value
    }
    #[inline(always)]
    fn signed(value: i32) -> Self {
        value.cast_unsigned()
    }
    #[inline(always)]
    fn wide(value: u64) -> Self {
        low32(value)
    }
}

impl Word for u64 {
    #[inline(always)]
    fn unsigned(value: u32) -> Self {
        value.into()
    }
    #[inline(always)]
    fn signed(value: i32) -> Self {
        i64::from(value).cast_unsigned()
    }
    #[inline(always)]
    fn wide(value: u64) -> Self {
        value
    }
}

/// The body for small machines: a value at a time, and one loop for all widths.
#[cfg(not(any(target_pointer_width = "64", test)))]
#[inline(never)]
fn unpack_words<W: Word>(packing: Packing, src: &[u8], inside: usize, out: &mut [W]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = W::wide(get(packing, src, inside.saturating_add(i)).unwrap_or(0));
    }
}

/// The body for hosts: a loop for each width, which the compiler vectorises.
#[cfg(any(target_pointer_width = "64", test))]
#[inline(never)]
fn unpack_words<W: Word>(packing: Packing, src: &[u8], inside: usize, out: &mut [W]) {
    match packing {
        Packing::U2 => below_byte::<W, 4, 32, 128>(src, inside, out),
        Packing::U4 => below_byte::<W, 2, 16, 32>(src, inside, out),
        Packing::I8 => cells(src, out, |b: [u8; 1]| W::signed(i8::from_le_bytes(b).into())),
        Packing::U8 => cells(src, out, |[b]: [u8; 1]| W::unsigned(b.into())),
        Packing::I16 => cells(src, out, |b| W::signed(i16::from_le_bytes(b).into())),
        Packing::U16 => cells(src, out, |b| W::unsigned(u16::from_le_bytes(b).into())),
        Packing::I32 => cells(src, out, |b| W::signed(i32::from_le_bytes(b))),
        Packing::U32 => cells(src, out, |b| W::unsigned(u32::from_le_bytes(b))),
        Packing::W64 => cells(src, out, |b| W::wide(u64::from_le_bytes(b))),
    }
}

#[inline(always)]
fn cells<W, const N: usize>(src: &[u8], out: &mut [W], word: impl Fn([u8; N]) -> W) {
    for (out, cell) in out.iter_mut().zip(src.as_chunks::<N>().0) {
        *out = word(*cell);
    }
}

/// Values of 2 bits (`PER` = 4 in a byte) or 4 bits (`PER` = 2), from value `inside` of the first
/// byte on. `BYTES` are opened at a time, to `WIDE` values: sizes at which the
/// compiler makes shuffles of the loops.
#[inline(always)]
fn below_byte<W: Word, const PER: usize, const BYTES: usize, const WIDE: usize>(
    src: &[u8],
    inside: usize,
    out: &mut [W],
) {
    const { assert!(PER * BYTES == WIDE) };
    let (bits, mask) = if PER == 4 { (2usize, 3u8) } else { (4, 15) };
    let value = |byte: u8, k: usize| byte >> k.wrapping_mul(bits) & mask;

    let head = if inside == 0 { 0 } else { PER.saturating_sub(inside).min(out.len()) };
    let Some((head, out)) = out.split_at_mut_checked(head) else { return };
    let src = match src.split_first() {
        Some((byte, rest)) if !head.is_empty() => {
            for (k, out) in head.iter_mut().enumerate() {
                *out = W::unsigned(value(*byte, inside.wrapping_add(k)).into());
            }
            rest
        }
        _ => src,
    };
    // Halved until every value has a byte.
    let (wide, tail) = out.as_chunks_mut::<WIDE>();
    let rest = src.get(wide.len().wrapping_mul(BYTES)..).unwrap_or_default();
    for (out, bytes) in wide.iter_mut().zip(src.as_chunks::<BYTES>().0) {
        let mut open = [0u8; WIDE];
        if PER == 4 {
            let mut nibbles = [0u8; 64];
            halve(bytes, &mut nibbles, 4);
            halve(&nibbles, &mut open, 2);
        } else {
            halve(bytes, &mut open, 4);
        }
        for (out, open) in out.iter_mut().zip(open) {
            *out = W::unsigned(open.into());
        }
    }
    for (out, byte) in tail.chunks_mut(PER).zip(rest) {
        for (k, out) in out.iter_mut().enumerate() {
            *out = W::unsigned(value(*byte, k).into());
        }
    }
}

/// Splits every byte into its low and its high bits.
#[inline(always)]
fn halve(bytes: &[u8], out: &mut [u8], bits: u32) {
    let mask = (1u8 << bits).wrapping_sub(1);
    for ([low, high], byte) in out.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *low = byte & mask;
        *high = byte >> bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const ALL: [Packing; 9] = [
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

    #[test]
    fn batches_agree_with_single_values_at_every_start() {
        let src: Vec<u8> = (0..200u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for packing in ALL {
            let count = src.len() * 8 / packing.bits() as usize;
            for first in (0..count.min(9)).chain([count - 1, count]) {
                for len in [0, 1, 2, 3, 5, 31, 63, 64, 65, 130, 300] {
                    let len = len.min(count - first);
                    let (mut narrow, mut wide) = (std::vec![1u32; len], std::vec![1u64; len]);
                    unpack(packing, &src, first, Out::W4(&mut narrow)).unwrap();
                    unpack(packing, &src, first, Out::W8(&mut wide)).unwrap();
                    for i in 0..len {
                        let expected = get(packing, &src, first + i).unwrap();
                        assert_eq!(wide[i], expected, "{packing:?} {first} {len} {i}");
                        assert_eq!(narrow[i], expected as u32, "{packing:?} {first} {len} {i}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_short_source_is_an_error() {
        for packing in ALL {
            let e = unpack(packing, &[0; 8], 0, Out::W4(&mut [0; 33])).unwrap_err();
            assert_eq!((e.kind(), e.need() as usize), (Kind::Truncated, packing.bytes(33)));
            assert!(unpack(packing, &[0; 8], usize::MAX, Out::W4(&mut [0; 1])).is_err());
        }
    }
}
