//! Widening of narrow numbers to words, in place.

use super::{Cells, small};
use crate::bytes::{FAST, low32};

/// Numbers that are widened at once, through a copy on the stack, so that the compiler vectorises the loop.
const STAGE: usize = 64;

/// Widens in place: the last bytes of `words` hold one narrow number per word. A word that is written never
/// overlaps narrow numbers that are still to be read.
macro_rules! widen {
    ($words:expr, $wide:ty, $from:ty, $value:expr) => {{
        let words: &mut [$wide] = $words;
        let size = size_of::<$from>();
        let mut at = words.len().saturating_mul(size_of::<$wide>().saturating_sub(size));
        let mut first = 0usize;
        while first < words.len() {
            let count = words.len().saturating_sub(first).min(STAGE);
            let mut stage = [0 as $from; STAGE];
            let bytes: &[u8] = bytemuck::cast_slice(words);
            let narrow = bytes.get(at..at.saturating_add(count.saturating_mul(size))).unwrap_or_default();
            for (to, bytes) in stage.iter_mut().zip(narrow.chunks_exact(size)) {
                if let Some(bytes) = bytes.first_chunk() {
                    *to = <$from>::from_ne_bytes(*bytes);
                }
            }
            let part = words.get_mut(first..first.saturating_add(count)).unwrap_or_default();
            match part.first_chunk_mut::<STAGE>() {
                Some(all) => all.iter_mut().zip(stage).for_each(|(word, narrow)| *word = $value(narrow)),
                None => part.iter_mut().zip(stage).for_each(|(word, narrow)| *word = $value(narrow)),
            }
            first = first.saturating_add(count);
            at = at.saturating_add(count.saturating_mul(size));
        }
    }};
}

/// Widens numbers of `size` bytes (1, 2 or 4) to the words, in place; sign-extended if `signed`. The numbers
/// are in the last `size * words.len()` bytes.
pub fn widen8(words: &mut [u64], size: usize, signed: bool) {
    if !FAST {
        let shift = 64usize.saturating_sub(size.saturating_mul(8)) & 63;
        for i in 0..words.len() {
            let word = small::narrow(bytemuck::cast_slice(words), 8, size, i) << shift;
            let word = if signed { (word.cast_signed() >> shift).cast_unsigned() } else { word >> shift };
            words.get_mut(i).into_iter().for_each(|to| *to = word);
        }
        return;
    }
    match (size, signed) {
        (1, false) => widen!(words, u64, u8, u64::from),
        (2, false) => widen!(words, u64, u16, u64::from),
        (4, false) => widen!(words, u64, u32, u64::from),
        (1, true) => widen!(words, u64, i8, |n: i8| i64::from(n).cast_unsigned()),
        (2, true) => widen!(words, u64, i16, |n: i16| i64::from(n).cast_unsigned()),
        (4, true) => widen!(words, u64, i32, |n: i32| i64::from(n).cast_unsigned()),
        _ => {}
    }
}

/// Like [`widen8`], for words of 4 bytes, numbers of 1 or 2 bytes, and without sign.
pub fn widen4(words: &mut [u32], size: usize) {
    if !FAST {
        for i in 0..words.len() {
            let word = low32(small::narrow(bytemuck::cast_slice(words), 4, size, i));
            words.get_mut(i).into_iter().for_each(|to| *to = word);
        }
        return;
    }
    match size {
        1 => widen!(words, u32, u8, u32::from),
        2 => widen!(words, u32, u16, u32::from),
        _ => {}
    }
}

/// Returns the end of `bytes` as cells of `size` bytes, as many as `bytes` has cells of `of` bytes. `None` if `size` is
/// not a width of cells, or exceeds `of`.
pub fn narrow(bytes: &mut [u8], size: usize, of: usize) -> Option<Cells<'_>> {
    let count = bytes.len().checked_div(of)?;
    let start = count.checked_mul(of.checked_sub(size)?)?;
    Cells::of(bytes.get_mut(start..)?, size)
}

impl Cells<'_> {
    /// Sign-extends numbers of `size` bytes (1, 2, 4, 8 or 16) to the cells, in place. The numbers are in the last
    /// `size * len` bytes; [`narrow`] returns them. Cells of at most `size` bytes stay unchanged.
    #[allow(clippy::cast_possible_truncation, reason = "the lower half of a number")]
    pub fn extend(&mut self, size: usize) {
        let width = self.width();
        if let 1..=4 = size
            && width > 8
            && let Some(Cells::W8(words)) = narrow(self.bytes_mut(), 8, width)
        {
            widen8(words, size, true);
        }
        let sign = |n: i64| (n >> 63).cast_unsigned();
        match (self, size) {
            (Cells::W2(words), 1) => widen!(words, u16, i8, |n: i8| i16::from(n).cast_unsigned()),
            (Cells::W4(words), 1) => widen!(words, u32, i8, |n: i8| i32::from(n).cast_unsigned()),
            (Cells::W4(words), 2) => widen!(words, u32, i16, |n: i16| i32::from(n).cast_unsigned()),
            (Cells::W8(words), size) => widen8(words, size, true),
            (Cells::W16(words), 1..=8) => widen!(words, u128, i64, |n: i64| i128::from(n).cast_unsigned()),
            (Cells::W32(words), 1..=8) => {
                widen!(words, [u64; 4], i64, |n: i64| [n.cast_unsigned(), sign(n), sign(n), sign(n)])
            }
            (Cells::W32(words), 16) => widen!(words, [u64; 4], i128, |n: i128| {
                let high = (n >> 64) as i64;
                [n as u64, high.cast_unsigned(), sign(high), sign(high)]
            }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn numbers_widen_in_place() {
        for size in [1, 2, 4] {
            for signed in [false, true] {
                let numbers = [1i64, -1, 100, -100, 127];
                let mut words = [0u64; 5];
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
                for (i, number) in numbers.iter().enumerate() {
                    let number = number.to_ne_bytes();
                    let low = if cfg!(target_endian = "little") { &number[..size] } else { &number[8 - size..] };
                    let at = 40 - 5 * size + i * size;
                    bytes[at..at + size].copy_from_slice(low);
                }
                widen8(&mut words, size, signed);
                let mask = if signed { u64::MAX } else { (1u64 << (8 * size)) - 1 };
                assert_eq!(words, numbers.map(|n| n as u64 & mask), "{size} {signed}");
            }
        }
        for len in [0usize, 1, 63, 64, 65, 200] {
            let (mut four, mut eight) = (std::vec![0u32; len], std::vec![0u64; len]);
            let bytes: Vec<u8> = (0..len).map(|i| (i * 37) as u8).collect();
            bytemuck::cast_slice_mut::<u32, u8>(&mut four)[3 * len..].copy_from_slice(&bytes);
            bytemuck::cast_slice_mut::<u64, u8>(&mut eight)[7 * len..].copy_from_slice(&bytes);
            widen4(&mut four, 1);
            widen8(&mut eight, 1, true);
            assert!(four.iter().zip(&bytes).all(|(wide, byte)| *wide == u32::from(*byte)), "{len}");
            assert!(eight.iter().zip(&bytes).all(|(wide, byte)| *wide as i64 == i64::from(*byte as i8)), "{len}");
        }
        let mut words = [0u32; 3];
        bytemuck::cast_slice_mut::<u32, u16>(&mut words)[3..].copy_from_slice(&[7, 65535, 9]);
        widen4(&mut words, 2);
        assert_eq!(words, [7, 65535, 9]);
    }

    #[test]
    fn numbers_of_any_size_extend_to_wider_cells() {
        for width in [2usize, 4, 8, 16, 32] {
            for size in [1, 2, 4, 8, 16].into_iter().filter(|size| *size < width) {
                for len in [0usize, 1, 63, 64, 65, 130] {
                    // Many of the numbers are negative.
                    let bytes: Vec<u8> = (0..len * size).map(|i| (i * 89 + size) as u8).collect();
                    let mut memory = std::vec![[0u64; 4]; len * width / 32 + 1];
                    let room = &mut bytemuck::cast_slice_mut::<_, u8>(&mut memory)[..len * width];
                    let mut out = Cells::of(room, width).unwrap();
                    narrow(out.bytes_mut(), size, width).unwrap().load(&bytes).unwrap();
                    out.extend(size);
                    let naive = bytes.chunks_exact(size).flat_map(|number| {
                        let sign = if number[size - 1] >> 7 == 1 { 0xff } else { 0 };
                        number.iter().copied().chain(core::iter::repeat_n(sign, width - size))
                    });
                    let naive: Vec<u8> = naive.collect();
                    let mut expected = std::vec![[0u64; 4]; len * width / 32 + 1];
                    let room = &mut bytemuck::cast_slice_mut::<_, u8>(&mut expected)[..len * width];
                    Cells::of(room, width).unwrap().load(&naive).unwrap();
                    assert_eq!(memory, expected, "{size} to {width}, {len} numbers");
                }
            }
        }
        assert!(narrow(&mut [0; 8], 16, 8).is_none() && narrow(&mut [0; 8], 3, 8).is_none());
    }
}
