//! Unpacking on hosts: faster, but with more code than small targets can afford.

// Masked ints of 2 bits unpack at 0.76 of the speed without the inline attributes of this file (bench `filo`).

use super::Packing;
use crate::encoding::Word;

/// Decodes the values starting at `first` until `out` is full. The caller has checked the length of `src`.
pub(super) fn unpack<W: Word>(packing: Packing, src: &[u8], first: usize, out: &mut [W]) {
    // `first` may be inside a byte of 2 or 4-bit values.
    let inside = match packing {
        Packing::U2 => first & 3,
        Packing::U4 => first & 1,
        _ => 0,
    };
    let src = src.get(packing.bytes(first.saturating_sub(inside))..).unwrap_or_default();
    unpack_words(packing, src, inside, out);
}

/// Decodes with one loop per width, which the compiler vectorises.
#[inline(never)]
fn unpack_words<W: Word>(packing: Packing, src: &[u8], inside: usize, out: &mut [W]) {
    match packing {
        Packing::U2 => below_byte::<W, 4, 32, 128>(src, inside, out),
        Packing::U4 => below_byte::<W, 2, 16, 32>(src, inside, out),
        Packing::I8 => cells(src, out, |b: [u8; 1]| signed(i8::from_le_bytes(b).into())),
        Packing::U8 => cells(src, out, |[b]: [u8; 1]| W::truncated(b.into())),
        Packing::I16 => cells(src, out, |b| signed(i16::from_le_bytes(b).into())),
        Packing::U16 => cells(src, out, |b| W::truncated(u16::from_le_bytes(b).into())),
        Packing::I32 => cells(src, out, |b| signed(i32::from_le_bytes(b))),
        Packing::U32 => cells(src, out, |b| W::truncated(u32::from_le_bytes(b).into())),
        Packing::W64 => cells(src, out, |b| W::truncated(u64::from_le_bytes(b))),
    }
}

/// Extends a number by its sign.
#[inline(always)]
fn signed<W: Word>(value: i32) -> W {
    W::truncated(i64::from(value).cast_unsigned())
}

#[inline(always)]
fn cells<W, const N: usize>(src: &[u8], out: &mut [W], word: impl Fn([u8; N]) -> W) {
    for (out, cell) in out.iter_mut().zip(src.as_chunks::<N>().0) {
        *out = word(*cell);
    }
}

/// Decodes values of 2 bits (`PER` = 4 in a byte) or 4 bits (`PER` = 2), starting at value `inside` of the
/// first byte. Each step expands `BYTES` bytes to `WIDE` values: with these sizes the compiler makes shuffles
/// of the loops.
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
                *out = W::truncated(value(*byte, inside.wrapping_add(k)).into());
            }
            rest
        }
        _ => src,
    };
    // Bytes are split in halves until every value has its own byte.
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
            *out = W::truncated(open.into());
        }
    }
    for (out, byte) in tail.chunks_mut(PER).zip(rest) {
        for (k, out) in out.iter_mut().enumerate() {
            *out = W::truncated(value(*byte, k).into());
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
