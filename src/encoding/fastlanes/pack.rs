//! Packs blocks of 1024 integers into values of a few bits, the reverse of [`unpack`](super::unpack).
//!
//! A row of words is made at once, from the rows of values of which it has bits. Rows are taken as words of 64 bits, whatever the
//! type: masks keep the bits of a value in its lane, so one kernel packs all types.
//!
//! ```
//! use pilaster::unstable::encoding::cells::Cells;
//! use pilaster::unstable::encoding::fastlanes;
//!
//! let values = [1003u32, 1000, 1001];
//! let mut packed = [0; 256];
//! fastlanes::pack(&values, 1000, 2, &mut packed)?;
//! let mut out = [0u32; 3];
//! fastlanes::unpack(&packed, 2, 0, Cells::W4(&mut out))?;
//! assert_eq!(out, [3, 0, 1]);
//! # Ok::<(), pilaster::Error>(())
//! ```

use super::wide::{Row, load, store};
use super::{BLOCK, packed_len, row_start, small};
use crate::bytes::FAST;
use crate::error::{Error, Kind, Result, What};
use crate::simd::{self, Kernel, Lanes};

/// A word of 1 to 8 bytes whose lowest bits are packed: an unsigned integer, or a signed one in two's
/// complement.
pub trait Lane: bytemuck::Pod {
    /// Number of bits.
    const BITS: u32;

    /// Returns the word, extended by zeros.
    fn wide(self) -> u64;
    /// Returns the difference modulo 2^[`BITS`](Self::BITS).
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// Returns the bits that are set in one of both.
    #[must_use]
    fn or(self, other: Self) -> Self;
}

macro_rules! lane {
    ($($word:ident)*) => {$(
        impl Lane for $word {
            const BITS: u32 = <$word>::BITS;

            #[inline]
            fn wide(self) -> u64 {
                self.into()
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline]
            fn or(self, other: Self) -> Self {
                self | other
            }
        }
    )*};
}

lane!(u8 u16 u32 u64);

/// Maximum number of rows of values that a [`Step`] packs: more would not stay in the registers.
const MOST: usize = 4;

/// Rows of values and of words that stay in the first-level cache: 24 KiB.
const CACHED: usize = 192;

/// Minimum number of blocks in which a step is taken at once.
const AT_ONCE: usize = 4;

/// What a step adds bits to: to zeros.
const NOTHING: u8 = 0;
/// To the bits of the row of values before, which did not fit into the words before.
const REST: u8 = 1;
/// To the bits that the words have already.
const WORDS: u8 = 2;

/// Packs up to [`MOST`] rows of values into one row of words. Each word is made of the value in the last of these rows: it is
/// shifted by the width and gets the value of the row before, and so on. At last the word is shifted to its place.
#[derive(Clone, Copy, Default)]
struct Step {
    to: u8,
    count: usize,
    /// The row of words.
    k: usize,
    /// The rows of values, in a block.
    rows: [usize; MOST],
    /// The row of values before.
    before: usize,
    cut: Cut,
}

/// Masks and shifts of a step.
#[derive(Clone, Copy, Default)]
struct Cut {
    width: u32,
    /// The bits of a value, in each lane.
    mask: u64,
    /// The bits of a value of the last row that fit into the words.
    last: u64,
    shift: u32,
    /// How many bits of the row before are in the words before.
    down: u32,
    /// Its other bits, where they are in the words.
    below: u64,
}

/// The steps for a block: at most one for each row of words and, of more rows of values, one for [`MOST`] rows.
struct Steps {
    list: [Step; 64],
    len: usize,
}

#[allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "numbers of rows and bits, which are at most 64"
)]
impl Steps {
    /// `size`: bytes of a value. `width`: at least one, and fewer than a value has bits.
    fn new(size: usize, width: u32) -> Self {
        let bits = size as u32 * 8;
        let lanes = |count: u32| small::lanes(1, bits).wrapping_mul(small::low(count));
        let row = |r: usize| row_start(r) * size / 128;
        let mut steps = Steps { list: [Step::default(); 64], len: 0 };
        // The next row of values, the row of words with its lowest bits, and where these are.
        let (mut r, mut k, mut shift, mut to) = (0, 0, 0, NOTHING);
        for step in &mut steps.list {
            if k == width as usize {
                break;
            }
            let count = (bits - shift).div_ceil(width).min(MOST as u32);
            let end = shift + count * width;
            *step = Step {
                to,
                count: count as usize,
                k,
                rows: [0, 1, 2, 3].map(|i| row(r + i)),
                before: row(r.wrapping_sub(1)),
                cut: Cut {
                    width,
                    mask: lanes(width),
                    last: lanes(width - end.saturating_sub(bits)),
                    shift,
                    down: width.saturating_sub(shift),
                    below: lanes(shift),
                },
            };
            (r, shift, to) = (r + count as usize, end, WORDS);
            if end >= bits {
                (k, shift) = (k + 1, end - bits);
                to = if shift == 0 { NOTHING } else { REST };
            }
            steps.len += 1;
        }
        steps
    }
}

/// Packs blocks of values in little-endian bytes.
struct Pack<'v, 'p> {
    values: &'v [Row],
    packed: &'p mut [Row],
    steps: &'p Steps,
    /// Rows of values and of packed words per block: the bits of a value and the width.
    bits: usize,
    width: usize,
}

impl Kernel for Pack<'_, '_> {
    type Output = Option<()>;

    /// Takes a step in several blocks, because it loads masks and shifts.
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> Option<()> {
        let (mut values, mut packed) = (self.values, self.packed);
        let at_once = CACHED.checked_div(self.bits.wrapping_add(self.width))?.max(AT_ONCE);
        while !packed.is_empty() {
            let blocks = at_once.min(packed.len().checked_div(self.width)?);
            let (now, later) = values.split_at_checked(blocks.wrapping_mul(self.bits))?;
            let (to, rest) = packed.split_at_mut_checked(blocks.wrapping_mul(self.width))?;
            let mut blocks = Blocks { values: now, packed: to, bits: self.bits, width: self.width };
            for step in self.steps.list.get(..self.steps.len)? {
                match (step.to, step.count) {
                    (NOTHING, 1) => blocks.take::<NOTHING, 1>(step),
                    (NOTHING, 2) => blocks.take::<NOTHING, 2>(step),
                    (NOTHING, 3) => blocks.take::<NOTHING, 3>(step),
                    (NOTHING, _) => blocks.take::<NOTHING, 4>(step),
                    (REST, 1) => blocks.take::<REST, 1>(step),
                    (REST, 2) => blocks.take::<REST, 2>(step),
                    (REST, 3) => blocks.take::<REST, 3>(step),
                    (REST, _) => blocks.take::<REST, 4>(step),
                    (_, 1) => blocks.take::<WORDS, 1>(step),
                    (_, 2) => blocks.take::<WORDS, 2>(step),
                    (_, 3) => blocks.take::<WORDS, 3>(step),
                    (_, _) => blocks.take::<WORDS, 4>(step),
                }?;
            }
            (values, packed) = (later, rest);
        }
        Some(())
    }
}

/// Blocks that are packed together.
struct Blocks<'v, 'p> {
    values: &'v [Row],
    packed: &'p mut [Row],
    bits: usize,
    width: usize,
}

impl Blocks<'_, '_> {
    /// Takes a step in each block.
    #[inline(always)]
    fn take<const TO: u8, const N: usize>(&mut self, step: &Step) -> Option<()> {
        let (rows, before, cut) = (step.rows, step.before, step.cut);
        let (mut from, mut to) = (0usize, step.k);
        while let Some(words) = self.packed.get_mut(to) {
            let row = |r: usize| self.values.get(from.wrapping_add(r));
            let before = if TO == REST { row(before)? } else { &[0; 128] };
            let mut all = [&[0; 128]; N];
            for (one, r) in all.iter_mut().zip(rows) {
                *one = row(r)?;
            }
            add::<TO, N>(words, before, all, cut);
            (from, to) = (from.wrapping_add(self.bits), to.wrapping_add(self.width));
        }
        Some(())
    }
}

/// Takes a step in one block.
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "lanes of arrays of that length; shifts below 64"
)]
#[inline(always)]
fn add<const TO: u8, const N: usize>(words: &mut Row, before: &Row, rows: [&Row; N], cut: Cut) {
    for i in 0..4 {
        let mut made = load(rows[N - 1], i).map(|value| value & cut.last);
        for row in rows.iter().rev().skip(1) {
            let values = load(row, i);
            for l in 0..4 {
                made[l] = made[l] << (cut.width & 63) | values[l] & cut.mask;
            }
        }
        if TO != NOTHING {
            let old = match TO {
                REST => load(before, i).map(|value| value >> (cut.down & 63) & cut.below),
                _ => load(words, i),
            };
            for l in 0..4 {
                made[l] = made[l] << (cut.shift & 63) | old[l];
            }
        }
        store(words, i, made);
    }
}

/// Differences of values from a reference.
struct Differences<'v, 't, T> {
    values: &'v [T],
    reference: T,
    to: &'t mut [T],
}

impl<T: Lane> Kernel for Differences<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        for (to, value) in self.to.iter_mut().zip(self.values) {
            *to = value.minus(self.reference);
        }
    }
}

/// Packs blocks. `values` has a row for each bit of a value, per block; `packed` has `width`.
fn pack_rows(values: &[Row], size: usize, steps: &Steps, width: usize, packed: &mut [Row]) -> Option<()> {
    let bits = size.wrapping_mul(8);
    if width < bits {
        return simd::run(Pack { values, packed, steps, bits, width });
    }
    for (values, packed) in values.chunks(bits).zip(packed.chunks_mut(bits)) {
        for (r, to) in packed.iter_mut().enumerate() {
            *to = *values.get(row_start(r).wrapping_mul(size) / 128)?;
        }
    }
    Some(())
}

/// Packs values after it subtracted the reference, and filled the last block with zeros.
#[inline(never)]
fn pack_differences<T: Lane>(
    values: &[T],
    reference: T,
    steps: &Steps,
    width: usize,
    packed: &mut [Row],
) -> Option<()> {
    let mut memory = [0u64; BLOCK];
    let room = bytemuck::cast_slice_mut::<u64, T>(&mut memory);
    let mut packed = packed;
    for values in values.chunks(room.len()) {
        let len = values.len().next_multiple_of(BLOCK);
        let differences = room.get_mut(..len)?;
        differences.get_mut(values.len()..)?.fill(T::zeroed());
        simd::run(Differences { values, reference, to: differences });
        let bytes = bytemuck::cast_slice_mut::<T, u8>(differences);
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
        }
        let (now, later) = packed.split_at_mut_checked((len / BLOCK).wrapping_mul(width))?;
        pack_rows(bytes.as_chunks().0, size_of::<T>(), steps, width, now)?;
        packed = later;
    }
    Some(())
}

/// Packs values; `packed` has `width` rows for each block, at least one.
fn pack_blocks<T: Lane>(values: &[T], reference: T, width: u32, packed: &mut [Row]) -> Option<()> {
    let steps = Steps::new(size_of::<T>(), width.min(T::BITS.wrapping_sub(1)));
    let width = width as usize;
    // Whole blocks are packed where they are if they are the bytes to pack.
    let as_they_are = reference.wide() == 0 && cfg!(target_endian = "little");
    let blocks = if as_they_are { values.len() / BLOCK } else { 0 };
    let (now, values) = values.split_at_checked(blocks.wrapping_mul(BLOCK))?;
    let (to, packed) = packed.split_at_mut_checked(blocks.wrapping_mul(width))?;
    pack_rows(bytemuck::cast_slice::<T, u8>(now).as_chunks().0, size_of::<T>(), &steps, width, to)?;
    if values.is_empty() { Some(()) } else { pack_differences(values, reference, &steps, width, packed) }
}

/// Packs the lowest `width` bits of each difference `value - reference` (modulo the size of the word) to the
/// start of `out`, in blocks of 1024. The rest of the last block is packed as zeros, that is as values equal to
/// `reference`. Returns the number of bytes, [`packed_len`] of the blocks.
///
/// Higher bits are left out: [`wider`](super::wider) finds the values that have some.
///
/// # Errors
/// [`Kind::Invalid`] if `width` exceeds the number of bits of a word; [`Kind::NoRoom`] if `out` is too short
/// (`need`: the required length in bytes).
pub fn pack<T: Lane>(values: &[T], reference: T, width: u32, out: &mut [u8]) -> Result<usize> {
    if width > T::BITS {
        return Err(Error::needing(Kind::Invalid, What::FASTLANES, 0, width.into()));
    }
    let need = packed_len((values.len() as u64).div_ceil(BLOCK as u64), width);
    let short = || Error::needing(Kind::NoRoom, What::FASTLANES, 0, need);
    let len = usize::try_from(need).map_err(|_| short())?;
    let rows = out.get_mut(..len).ok_or_else(short)?.as_chunks_mut::<128>().0;
    if !FAST {
        let value = &mut |i: usize| values.get(i).map_or(0, |value| value.minus(reference).wide());
        small::pack(values.len(), value, T::BITS, width, rows);
        return Ok(len);
    }
    if width > 0 {
        pack_blocks(values, reference, width, rows).ok_or_else(short)?;
    }
    Ok(len)
}
