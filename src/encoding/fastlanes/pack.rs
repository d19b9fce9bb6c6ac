//! Packs blocks of 1024 integers into values of a few bits, the reverse of [`unpack`](super::unpack).
//!
//! Rows of values are packed in order, each into one or two rows of words. As many rows of values as possible
//! are added at once, because this saves loads and stores of the words.
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

use super::{BLOCK, packed_len, row_start, small};
use crate::bytes::FAST;
use crate::error::{Error, Kind, Result, What};

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
    /// Packs one block: the lowest `width` bits of each difference from `reference`. `to` has `width` rows.
    /// Returns `None` if it has fewer.
    fn block(values: &[Self; BLOCK], reference: Self, width: u32, to: &mut [[u8; 128]]) -> Option<()>;
}

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "lanes of arrays of that length; shifts below the number of bits; halves of products"
)]
mod rows {
    /// Powers of two. Vector units multiply 16 bits faster than they shift by a count that is unknown at
    /// compile time.
    static POWERS: [u16; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];

    /// Kernels for rows of a word type, which subtract `reference` only if `FROM`. `up` adds values of `N` rows to
    /// words that have the bits of rows before. `down` starts words with the bits that did not fit into the word
    /// before, to which `up` with the same shift added the others.
    macro_rules! word {
        ($module:ident, $word:ident, $lanes:literal, $up:expr, $down:expr) => {
            pub mod $module {
                #[allow(unused_imports, reason = "used by some words")]
                use super::{POWERS, high_half};

                type Row = [$word; $lanes];

                #[inline(always)]
                fn value<const FROM: bool>(word: $word, reference: $word, mask: $word) -> $word {
                    (if FROM { word.wrapping_sub(reference) } else { word }) & mask
                }

                #[inline(always)]
                pub fn up<const FROM: bool, const N: usize>(
                    to: &mut [u8; 128],
                    rows: [&Row; N],
                    (reference, mask): ($word, $word),
                    shifts: [u32; N],
                ) {
                    let shifts = shifts.map(|shift| $up(shift & ($word::BITS - 1)));
                    for (l, to) in to.as_chunks_mut().0.iter_mut().enumerate() {
                        let mut word = $word::from_le_bytes(*to);
                        for i in 0..N {
                            word |= (shifts[i])(value::<FROM>(rows[i][l], reference, mask));
                        }
                        *to = word.to_le_bytes();
                    }
                }

                #[inline(always)]
                pub fn down<const FROM: bool>(
                    to: &mut [u8; 128],
                    row: &Row,
                    (reference, mask): ($word, $word),
                    shift: u32,
                ) {
                    let down = $down(shift & ($word::BITS - 1));
                    for (to, word) in to.as_chunks_mut().0.iter_mut().zip(row) {
                        *to = down(value::<FROM>(*word, reference, mask)).to_le_bytes();
                    }
                }
            }
        };
        ($module:ident, $word:ident, $lanes:literal) => {
            word!($module, $word, $lanes, |shift: u32| move |word: $word| word << shift, |shift: u32| {
                move |word: $word| word >> ($word::BITS.wrapping_sub(shift) & ($word::BITS - 1))
            });
        };
    }

    word!(of_u32, u32, 32);
    word!(of_u64, u64, 16);
    word!(
        of_u16,
        u16,
        64,
        |shift: u32| {
            let power = POWERS[shift as usize];
            move |word: u16| word.wrapping_mul(power)
        },
        |shift: u32| {
            let power = POWERS[shift as usize];
            move |word: u16| high_half(word, power)
        }
    );

    /// Returns the high half of a product: `word >> (16 - shift)` for the factor `2^shift`.
    fn high_half(word: u16, factor: u16) -> u16 {
        (u32::from(word).wrapping_mul(factor.into()) >> 16) as u16
    }

    /// Bytes, two per 16-bit word.
    pub mod of_u8 {
        use super::{POWERS, high_half};

        type Row = [u8; 128];

        /// The highest bits of both bytes.
        const HIGH: u16 = 0x8080;

        /// Returns a word with `byte` in both halves.
        const fn both(byte: u8) -> u16 {
            u16::from_ne_bytes([byte, byte])
        }

        /// Both differences. The lower bits are subtracted without borrowing from the other byte.
        #[inline(always)]
        fn differences<const FROM: bool>(bytes: [u8; 2], reference: u16) -> u16 {
            let word = u16::from_le_bytes(bytes);
            if !FROM {
                return word;
            }
            (word | HIGH).wrapping_sub(reference & !HIGH) ^ ((word ^ !reference) & HIGH)
        }

        #[inline(always)]
        pub fn up<const FROM: bool, const N: usize>(
            to: &mut [u8; 128],
            rows: [&Row; N],
            (reference, mask): (u8, u8),
            shifts: [u32; N],
        ) {
            let reference = both(reference);
            // Without the bits that would cross to the other byte.
            let shifts = shifts.map(|shift| (both(mask & 0xff >> (shift & 7)), POWERS[shift as usize & 7]));
            let rows = rows.map(|row| row.as_chunks::<2>().0);
            for (l, to) in to.as_chunks_mut().0.iter_mut().enumerate() {
                let mut word = u16::from_le_bytes(*to);
                for i in 0..N {
                    let (mask, power) = shifts[i];
                    word |= (differences::<FROM>(rows[i][l], reference) & mask).wrapping_mul(power);
                }
                *to = word.to_le_bytes();
            }
        }

        #[inline(always)]
        pub fn down<const FROM: bool>(to: &mut [u8; 128], row: &Row, (reference, mask): (u8, u8), shift: u32) {
            let (reference, shift) = (both(reference), shift & 7);
            let (mask, power) = (both(mask >> ((8 - shift) & 7)), POWERS[8 + shift as usize]);
            for (to, bytes) in to.as_chunks_mut().0.iter_mut().zip(row.as_chunks().0) {
                let word = high_half(differences::<FROM>(*bytes, reference), power) & mask;
                *to = word.to_le_bytes();
            }
        }
    }
}

macro_rules! lane {
    ($word:ident, $module:ident, $lanes:literal) => {
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

            fn block(values: &[Self; BLOCK], reference: Self, width: u32, to: &mut [[u8; 128]]) -> Option<()> {
                if reference == 0 {
                    $module::<false>(values, 0, width, to)
                } else {
                    $module::<true>(values, reference, width, to)
                }
            }
        }

        #[inline(never)]
        fn $module<const FROM: bool>(
            values: &[$word; BLOCK],
            reference: $word,
            width: u32,
            to: &mut [[u8; 128]],
        ) -> Option<()> {
            const BITS: u32 = $word::BITS;
            let row = |r: usize| values.get(row_start(r)..)?.first_chunk::<$lanes>();
            if width == 0 {
                return Some(());
            }
            if width >= BITS {
                for (r, to) in to.iter_mut().enumerate() {
                    *to = bytemuck::cast(row(r)?.map(|word| word.wrapping_sub(reference).to_le()));
                }
                return Some(());
            }
            let cut = (reference, !$word::MAX.checked_shl(width)?);
            let [one, two, three, four] = [1, 2, 3, 4].map(|rows| width.wrapping_mul(rows));
            let mut r = 0usize;
            let mut next = |rows: usize| {
                r = r.wrapping_add(rows);
                r.wrapping_sub(rows)
            };
            let mut shift = 0u32;
            let (mut to, mut rest) = to.split_first_mut()?;
            *to = [0; 128];
            loop {
                while shift.wrapping_add(four) < BITS {
                    let r = next(4);
                    let rows = [row(r)?, row(r.wrapping_add(1))?, row(r.wrapping_add(2))?, row(r.wrapping_add(3))?];
                    rows::$module::up::<FROM, 4>(
                        to,
                        rows,
                        cut,
                        [0, one, two, three].map(|more| shift.wrapping_add(more)),
                    );
                    shift = shift.wrapping_add(four);
                }
                while shift.wrapping_add(one) < BITS {
                    rows::$module::up::<FROM, 1>(to, [row(next(1))?], cut, [shift]);
                    shift = shift.wrapping_add(one);
                }
                let last = row(next(1))?;
                rows::$module::up::<FROM, 1>(to, [last], cut, [shift]);
                let Some((first, others)) = rest.split_first_mut() else { break };
                (to, rest) = (first, others);
                if shift.wrapping_add(one) > BITS {
                    rows::$module::down::<FROM>(to, last, cut, shift);
                } else {
                    *to = [0; 128];
                }
                shift = shift.wrapping_add(one).wrapping_sub(BITS);
            }
            Some(())
        }
    };
}

lane!(u8, of_u8, 128);
lane!(u16, of_u16, 64);
lane!(u32, of_u32, 32);
lane!(u64, of_u64, 16);

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
    let mut rows = out.get_mut(..len).ok_or_else(short)?.as_chunks_mut::<128>().0;
    if !FAST {
        let value = &mut |i: usize| values.get(i).map_or(0, |value| value.minus(reference).wide());
        small::pack(values.len(), value, T::BITS, width, rows);
        return Ok(len);
    }
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    for block in blocks {
        let (now, later) = rows.split_at_mut_checked(width as usize).ok_or_else(short)?;
        T::block(block, reference, width, now).ok_or_else(short)?;
        rows = later;
    }
    if !rest.is_empty() {
        let mut block = [reference; BLOCK];
        for (to, value) in block.iter_mut().zip(rest) {
            *to = *value;
        }
        T::block(&block, reference, width, rows).ok_or_else(short)?;
    }
    Ok(len)
}
