//! Cells of 1 to 32 bytes: the output of a tree of encodings.
//!
//! Below the batch there are no numbers, texts and dates, only cells of a few widths. One function walks a
//! tree and passes a [`Cells`] on; only the kernels at its leaves exist once per width.

mod small;
mod widen;

use crate::bytes::FAST;
use crate::error::{Error, Kind, Result, What};

pub use widen::{narrow, widen4, widen8};

/// A slice of cells of one width, in native byte order.
#[derive(Debug)]
pub enum Cells<'o> {
    /// Cells of 1 byte, including booleans (0 or 1).
    W1(&'o mut [u8]),
    /// Cells of 2 bytes.
    W2(&'o mut [u16]),
    /// Cells of 4 bytes.
    W4(&'o mut [u32]),
    /// Cells of 8 bytes.
    W8(&'o mut [u64]),
    /// Cells of 16 bytes.
    W16(&'o mut [u128]),
    /// Cells of 32 bytes, the lowest word first.
    W32(&'o mut [[u64; 4]]),
}

/// Evaluates one expression for every width.
macro_rules! each {
    ($cells:expr, $words:ident => $body:expr) => {
        match $cells {
            $crate::encoding::cells::Cells::W1($words) => $body,
            $crate::encoding::cells::Cells::W2($words) => $body,
            $crate::encoding::cells::Cells::W4($words) => $body,
            $crate::encoding::cells::Cells::W8($words) => $body,
            $crate::encoding::cells::Cells::W16($words) => $body,
            $crate::encoding::cells::Cells::W32($words) => $body,
        }
    };
}
#[cfg(feature = "vortex")]
pub(crate) use each;

/// A little-endian value for cells of any width: a cell of `n` bytes takes the first `n`.
pub type Value = [u8; 32];

/// The operations on a cell that kernels need.
pub(crate) trait Cell: bytemuck::Pod {
    /// Bytes of a cell.
    const SIZE: usize;
    /// Reads the cell at the start of little-endian bytes; `None` if there are too few.
    fn from_le(bytes: &[u8]) -> Option<Self>;
}

macro_rules! cells {
    ($($word:ty)*) => {$(
        impl Cell for $word {
            const SIZE: usize = size_of::<$word>();

            fn from_le(bytes: &[u8]) -> Option<Self> {
                bytes.first_chunk().map(|bytes| <$word>::from_le_bytes(*bytes))
            }
        }
    )*};
}

cells! { u8 u16 u32 u64 u128 }

impl Cell for [u64; 4] {
    const SIZE: usize = 32;

    fn from_le(bytes: &[u8]) -> Option<Self> {
        let (words, _) = bytes.first_chunk::<32>()?.as_chunks::<8>();
        let [a, b, c, d] = words else { return None };
        Some([*a, *b, *c, *d].map(u64::from_le_bytes))
    }
}

impl<'o> Cells<'o> {
    /// Casts `bytes` to cells of `width` bytes. `None` if `width` is not 1, 2, 4, 8, 16 or 32, if `bytes` is
    /// unaligned, or if it is not a whole number of cells.
    #[must_use]
    pub fn of(bytes: &'o mut [u8], width: usize) -> Option<Self> {
        /// Accepts an empty slice at any alignment.
        fn words<T: Cell>(bytes: &mut [u8]) -> Option<&mut [T]> {
            if bytes.is_empty() { Some(&mut []) } else { bytemuck::try_cast_slice_mut(bytes).ok() }
        }
        Some(match width {
            1 => Cells::W1(bytes),
            2 => Cells::W2(words(bytes)?),
            4 => Cells::W4(words(bytes)?),
            8 => Cells::W8(words(bytes)?),
            16 => Cells::W16(words(bytes)?),
            32 => Cells::W32(words(bytes)?),
            _ => return None,
        })
    }

    /// Returns the number of cells.
    #[must_use]
    pub const fn len(&self) -> usize {
        each!(self, words => words.len())
    }

    /// Returns whether the number of cells is zero.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size of a cell in bytes.
    #[must_use]
    pub const fn width(&self) -> usize {
        match self {
            Cells::W1(_) => 1,
            Cells::W2(_) => 2,
            Cells::W4(_) => 4,
            Cells::W8(_) => 8,
            Cells::W16(_) => 16,
            Cells::W32(_) => 32,
        }
    }

    /// Reborrows the cells for a shorter lifetime.
    pub fn again(&mut self) -> Cells<'_> {
        self.part(0, self.len())
    }

    /// Returns the cells `first..first + len`, limited to those that exist.
    pub fn part(&mut self, first: usize, len: usize) -> Cells<'_> {
        let end = first.saturating_add(len).min(self.len());
        match self {
            Cells::W1(words) => Cells::W1(words.get_mut(first..end).unwrap_or_default()),
            Cells::W2(words) => Cells::W2(words.get_mut(first..end).unwrap_or_default()),
            Cells::W4(words) => Cells::W4(words.get_mut(first..end).unwrap_or_default()),
            Cells::W8(words) => Cells::W8(words.get_mut(first..end).unwrap_or_default()),
            Cells::W16(words) => Cells::W16(words.get_mut(first..end).unwrap_or_default()),
            Cells::W32(words) => Cells::W32(words.get_mut(first..end).unwrap_or_default()),
        }
    }

    /// Returns the bytes of the cells, in native byte order.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        each!(self, words => bytemuck::cast_slice_mut(words))
    }

    /// Returns the bytes of the cells, in native byte order.
    fn bytes(&self) -> &[u8] {
        each!(self, words => bytemuck::cast_slice(words))
    }

    /// Sets every cell to the first bytes of `value`.
    pub fn fill(&mut self, value: &Value) {
        if !FAST && cfg!(target_endian = "little") {
            let size = self.width();
            return small::fill(self.bytes_mut(), value.get(..size).unwrap_or_default());
        }
        fn fill<T: Cell>(words: &mut [T], value: &Value) {
            if let Some(word) = T::from_le(value) {
                words.fill(word);
            }
        }
        each!(self, words => fill(words, value));
    }

    /// Copies the cells from `bytes`, which are little-endian and may be unaligned.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if `bytes` is shorter than the cells (`need`: their size in bytes).
    pub fn load(&mut self, bytes: &[u8]) -> Result<()> {
        #[allow(
            clippy::arithmetic_side_effects,
            reason = "on little-endian machines a copy; the sum is of slices in memory"
        )]
        fn load<T: Cell>(words: &mut [T], bytes: &[u8]) -> bool {
            let Some(bytes) = bytes.get(..size_of_val(words)) else { return false };
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(T::SIZE)) {
                if let Some(value) = T::from_le(bytes) {
                    *word = value;
                }
            }
            true
        }
        if cfg!(target_endian = "little") {
            let to = self.bytes_mut();
            if let Some(bytes) = bytes.get(..to.len()) {
                to.copy_from_slice(bytes);
                return Ok(());
            }
        } else if each!(self, words => load(words, bytes)) {
            return Ok(());
        }
        let need = (self.len() as u64).saturating_mul(self.width() as u64);
        Err(Error::needing(Kind::Truncated, What::INPUT, 0, need))
    }

    /// Sets cell `i` to value `codes[i]`. Returns the index of the first code without a value, if any. If the
    /// widths differ, no code has a value.
    pub fn gather(&mut self, values: &Cells<'_>, codes: &[u32]) -> Option<usize> {
        fn gather<T: Cell>(words: &mut [T], values: &[T], codes: &[u32]) -> Option<usize> {
            let mut bad = None;
            for (i, (word, code)) in words.iter_mut().zip(codes).enumerate() {
                match values.get(*code as usize) {
                    Some(value) => *word = *value,
                    None => bad = bad.or(Some(i)),
                }
            }
            bad
        }
        if !FAST {
            let size = self.width();
            let values = if size == values.width() { values.bytes() } else { &[] };
            return small::gather(self.bytes_mut(), values, size, codes);
        }
        match (self, values) {
            (Cells::W1(words), Cells::W1(values)) => gather(words, values, codes),
            (Cells::W2(words), Cells::W2(values)) => gather(words, values, codes),
            (Cells::W4(words), Cells::W4(values)) => gather(words, values, codes),
            (Cells::W8(words), Cells::W8(values)) => gather(words, values, codes),
            (Cells::W16(words), Cells::W16(values)) => gather(words, values, codes),
            (Cells::W32(words), Cells::W32(values)) => gather(words, values, codes),
            _ => Some(0),
        }
    }

    /// Sets cell `places[i]` to value `i`. Returns the first `i` whose place does not exist, if any. If the
    /// widths differ, no place exists.
    pub fn scatter(&mut self, values: &Cells<'_>, places: &[u64]) -> Option<usize> {
        fn scatter<T: Cell>(words: &mut [T], values: &[T], places: &[u64]) -> Option<usize> {
            let mut bad = None;
            for (i, (value, place)) in values.iter().zip(places).enumerate() {
                match usize::try_from(*place).ok().and_then(|place| words.get_mut(place)) {
                    Some(word) => *word = *value,
                    None => bad = bad.or(Some(i)),
                }
            }
            bad
        }
        if !FAST {
            let size = self.width();
            let values = if size == values.width() { values.bytes() } else { &[] };
            return small::scatter(self.bytes_mut(), values, size, places);
        }
        match (self, values) {
            (Cells::W1(words), Cells::W1(values)) => scatter(words, values, places),
            (Cells::W2(words), Cells::W2(values)) => scatter(words, values, places),
            (Cells::W4(words), Cells::W4(values)) => scatter(words, values, places),
            (Cells::W8(words), Cells::W8(values)) => scatter(words, values, places),
            (Cells::W16(words), Cells::W16(values)) => scatter(words, values, places),
            (Cells::W32(words), Cells::W32(values)) => scatter(words, values, places),
            _ => Some(0),
        }
    }

    /// Sets every cell to the lowest bits of `next(cell)`. Cells of more than 8 bytes stay unchanged.
    #[allow(clippy::cast_possible_truncation, reason = "what is wanted")]
    #[inline]
    pub(crate) fn words(&mut self, mut next: impl FnMut(u64) -> u64) {
        if !FAST {
            let size = self.width();
            return small::words(self.bytes_mut(), size, &mut next);
        }
        match self {
            Cells::W1(cells) => cells.iter_mut().for_each(|cell| *cell = next((*cell).into()) as u8),
            Cells::W2(cells) => cells.iter_mut().for_each(|cell| *cell = next((*cell).into()) as u16),
            Cells::W4(cells) => cells.iter_mut().for_each(|cell| *cell = next((*cell).into()) as u32),
            Cells::W8(cells) => cells.iter_mut().for_each(|cell| *cell = next(*cell)),
            Cells::W16(_) | Cells::W32(_) => {}
        }
    }

    /// Sets cell `i` to the lowest bits of `next(cell, others[i])`, as far as both exist. Cells of more than
    /// 8 bytes stay unchanged.
    #[allow(clippy::cast_possible_truncation, reason = "what is wanted")]
    #[inline]
    pub(crate) fn words_with<T: Copy>(&mut self, others: &[T], mut next: impl FnMut(u64, T) -> u64) {
        if !FAST {
            let mut others = others.iter();
            return self.words(|word| others.next().map_or(word, |other| next(word, *other)));
        }
        match self {
            Cells::W1(cells) => {
                cells.iter_mut().zip(others).for_each(|(cell, o)| *cell = next((*cell).into(), *o) as u8)
            }
            Cells::W2(cells) => {
                cells.iter_mut().zip(others).for_each(|(cell, o)| *cell = next((*cell).into(), *o) as u16)
            }
            Cells::W4(cells) => {
                cells.iter_mut().zip(others).for_each(|(cell, o)| *cell = next((*cell).into(), *o) as u32)
            }
            Cells::W8(cells) => cells.iter_mut().zip(others).for_each(|(cell, o)| *cell = next(*cell, *o)),
            Cells::W16(_) | Cells::W32(_) => {}
        }
    }

    /// Sets the cells starting at `first` to the lowest bits of `words`, as far as they exist. Cells of more
    /// than 8 bytes stay unchanged.
    pub fn put(&mut self, first: usize, words: &[u64]) {
        self.part(first, words.len()).words_with(words, |_, word| word);
    }

    /// Moves the first cells apart: in order, they become the cells whose `valid` is 1. Every other cell
    /// becomes zero. The number of cells to move is the number of ones.
    pub fn spread(&mut self, valid: &[u8]) {
        fn spread<T: Cell>(words: &mut [T], valid: &[u8]) {
            let mut next = valid.iter().filter(|valid| **valid == 1).count();
            // From the end, so that no cell is overwritten before it has moved.
            for (i, valid) in valid.iter().enumerate().take(words.len()).rev() {
                let mut value = T::zeroed();
                if *valid == 1 {
                    next = next.saturating_sub(1);
                    value = words.get(next).copied().unwrap_or(value);
                }
                if let Some(word) = words.get_mut(i) {
                    *word = value;
                }
            }
        }
        if !FAST {
            let size = self.width();
            return small::spread(self.bytes_mut(), size, valid);
        }
        each!(self, words => spread(words, valid));
    }

    /// Sets the cells from `ends[k - 1]` to `ends[k]` to value `k`. Ends past the last cell are limited to
    /// it.
    ///
    /// # Errors
    /// The first `k` whose end is less than the one before; the number of runs if cells are left over; 0 if
    /// the widths differ.
    pub fn expand(&mut self, values: &Cells<'_>, ends: &[u64]) -> core::result::Result<(), usize> {
        if !FAST {
            let size = self.width();
            let values = if size == values.width() { values.bytes() } else { &[] };
            return small::expand(self.bytes_mut(), values, size, ends);
        }
        match (self, values) {
            (Cells::W1(words), Cells::W1(values)) => expand(words, values, ends),
            (Cells::W2(words), Cells::W2(values)) => expand(words, values, ends),
            (Cells::W4(words), Cells::W4(values)) => expand(words, values, ends),
            (Cells::W8(words), Cells::W8(values)) => expand(words, values, ends),
            (Cells::W16(words), Cells::W16(values)) => expand(words, values, ends),
            (Cells::W32(words), Cells::W32(values)) => expand(words, values, ends),
            _ => Err(0),
        }
    }
}

/// Fills a fixed number of cells per run, at least as many as most runs have. The next run overwrites the
/// excess. A loop with the length of the run would end in a mispredicted branch.
// Run ends of 64 bits, runs of 3 or 10 on average, expand at 0.91 of the speed without this attribute (bench `vortex`).
#[inline(never)]
fn expand<T: Cell>(words: &mut [T], values: &[T], ends: &[u64]) -> core::result::Result<(), usize> {
    // About twice the mean length, because longer runs take another step. Wide cells take the smallest step.
    match words.len().checked_div(ends.len()).unwrap_or(0) {
        0..=4 => steps::<T, 8>(words, values, ends),
        _ if T::SIZE > 8 => steps::<T, 8>(words, values, ends),
        5..=12 => steps::<T, 16>(words, values, ends),
        _ => steps::<T, 32>(words, values, ends),
    }
}

fn steps<T: Cell, const STEP: usize>(words: &mut [T], values: &[T], ends: &[u64]) -> core::result::Result<(), usize> {
    let len = words.len();
    let mut start = 0;
    for (k, (value, end)) in values.iter().zip(ends).enumerate() {
        let end = usize::try_from(*end).unwrap_or(len).min(len);
        let run = end.checked_sub(start).ok_or(k)?;
        let rest = words.get_mut(start..).unwrap_or_default();
        match rest.first_chunk_mut::<STEP>() {
            Some(step) => {
                *step = [*value; STEP];
                if run > STEP {
                    rest.get_mut(STEP..run).unwrap_or_default().fill(*value);
                }
            }
            None => rest.get_mut(..run).unwrap_or_default().fill(*value),
        }
        start = end;
    }
    if start < len { Err(values.len().min(ends.len())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn cells_load_fill_and_move() {
        let bytes: Vec<u8> = (1..=64).collect();
        let (mut two, mut wide) = ([0u16; 3], [[0u64; 4]; 2]);
        Cells::W2(&mut two).load(&bytes).unwrap();
        assert_eq!(two, [0x0201, 0x0403, 0x0605]);
        Cells::W32(&mut wide).load(&bytes).unwrap();
        assert_eq!((wide[0][0], wide[1][3]), (0x0807_0605_0403_0201, 0x403f_3e3d_3c3b_3a39));
        assert_eq!(Cells::W16(&mut [0; 5]).load(&bytes).unwrap_err().need(), 80);
        let mut value = [0; 32];
        value[..8].copy_from_slice(&7u64.to_le_bytes());
        Cells::W8(&mut [0; 2]).fill(&value);
        let mut out = [0u64; 4];
        assert_eq!(Cells::W8(&mut out).gather(&Cells::W8(&mut [5, 6]), &[1, 0, 2, 1]), Some(2));
        assert_eq!(out, [6, 5, 0, 6]);
        assert_eq!(Cells::W8(&mut out).scatter(&Cells::W8(&mut [8, 9]), &[3, 4]), Some(1));
        assert_eq!(out, [6, 5, 0, 8]);
        assert_eq!(Cells::W8(&mut out).gather(&Cells::W4(&mut [5]), &[0]), Some(0), "widths differ");
    }

    #[test]
    fn runs_expand_like_the_naive_loop() {
        for lens in [&[1u64, 2, 3][..], &[8, 1, 9, 40], &[100], &[1; 70], &[0, 5, 0, 3]] {
            let ends: Vec<u64> = lens
                .iter()
                .scan(0, |end, len| {
                    *end += len;
                    Some(*end)
                })
                .collect();
            let mut values: Vec<u64> = (0..lens.len() as u64).collect();
            let naive: Vec<u64> = (0..).zip(lens).flat_map(|(k, len)| (0..*len).map(move |_| k)).collect();
            for cut in [0, 1, naive.len() / 2, naive.len()] {
                let mut out = std::vec![99u64; cut];
                assert_eq!(Cells::W8(&mut out).expand(&Cells::W8(&mut values), &ends), Ok(()));
                assert_eq!(out, naive[..cut]);
            }
            let mut out = std::vec![0u64; naive.len() + 1];
            assert_eq!(Cells::W8(&mut out).expand(&Cells::W8(&mut values), &ends), Err(lens.len()));
        }
        assert_eq!(Cells::W1(&mut [0; 9]).expand(&Cells::W1(&mut [1, 2, 3]), &[5, 4, 9]), Err(1));
    }

    #[test]
    fn cells_spread_like_the_naive_loop() {
        for pattern in [0u32, 1, 0b1011, 0b1000_0000_0000, 0xfff, 0b0101_0101_0101] {
            let valid: Vec<u8> = (0..12).map(|i| (pattern >> i & 1) as u8).collect();
            let mut words: Vec<u16> = (100..112).collect();
            let mut dense = words.clone().into_iter();
            let naive: Vec<u16> =
                valid.iter().map(|valid| if *valid == 1 { dense.next().unwrap() } else { 0 }).collect();
            Cells::W2(&mut words).spread(&valid);
            assert_eq!(words, naive, "{pattern:b}");
        }
    }
}
