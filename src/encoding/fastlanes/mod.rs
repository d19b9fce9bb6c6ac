//! FastLanes bit packing, in both directions: blocks of 1024 values in interleaved lanes, with one kernel for
//! all widths of a word type.
//!
//! A block is a table with one row per bit of the word and `LANES` = 1024 / bits columns. Row `r`, lane `l`
//! holds value `index(r, l)`. Each lane packs its rows consecutively, lowest bits first, into words that are
//! `LANES` words apart. So a row of the output is one run of words, shifted by one count.
//!
//! ```
//! use pilaster::unstable::encoding::cells::Cells;
//! use pilaster::unstable::encoding::fastlanes;
//!
//! // 1024 values of 2 bits in words of 8 bits: 256 bytes, row r of lane 0 in the lowest bits of byte 0.
//! let mut block = [0; 256];
//! block[0] = 0b11_10_01_00;
//! let mut out = [0u8; 1024];
//! fastlanes::unpack(&block, 2, 0, Cells::W1(&mut out))?;
//! assert_eq!([out[0], out[128], out[256], out[384]], [0, 1, 2, 3]);
//! # Ok::<(), pilaster::Error>(())
//! ```

mod delta;
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "lanes of arrays of that length; shifts below 64, halves of products"
)]
mod rows;
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "lanes of arrays of that length; numbers of rows and bits"
)]
mod wide;

mod pack;
mod runs;
mod small;
mod width;

pub use delta::{lanes, undelta};
pub use pack::{Lane, pack};
pub use runs::number_runs;
pub use small::word as packed_word;
pub use width::{Width, best_width, count_widths, wider};

use super::cells::Cells;
use crate::bytes::{FAST, product};
use crate::error::{Error, Kind, Result, What};
use crate::simd::{self, Kernel, Lanes};

/// Number of values per block.
pub const BLOCK: usize = 1024;

/// Returns the block of value `i`, and the value's index in that block.
#[must_use]
pub const fn block_of(i: u64) -> (u64, usize) {
    #[allow(clippy::cast_possible_truncation, reason = "below 1024")]
    const fn narrow(place: u64) -> usize {
        place as usize
    }
    (i >> 10, narrow(i & 1023))
}

/// The order of the groups of eight rows; its own inverse.
const ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// Returns the index of the first value of row `r`. The values of the row's other lanes follow it.
const fn row_start(r: usize) -> usize {
    let eight = match (r >> 3) & 7 {
        1 => 4,
        2 => 2,
        3 => 6,
        4 => 1,
        5 => 5,
        6 => 3,
        7 => 7,
        _ => 0,
    };
    eight << 4 | (r & 7) << 7
}

/// Returns row and lane of value `i` in words of `bits` bits.
#[inline]
const fn place(i: usize, bits: usize) -> (usize, usize) {
    // Lanes are a power of two: 1024 / bits = 128, 64, 32 or 16.
    let lanes_log = 10u32.saturating_sub(bits.trailing_zeros());
    let lane = i & (1usize << lanes_log).wrapping_sub(1);
    // (i % 128) / LANES * (LANES / 16): the start of the row, in units of 16 values.
    let sixteenth = (i & 127) >> lanes_log << lanes_log.saturating_sub(4);
    let eight = row_start((sixteenth & 7) << 3) >> 4;
    (eight << 3 | i >> 7, lane)
}

/// Returns the size in bytes of `blocks` blocks at `width` bits per value, which is equal for all word types.
#[must_use]
pub const fn packed_len(blocks: u64, width: u32) -> u64 {
    product(blocks.saturating_mul(128), width as u64)
}

/// The kernel that unpacks blocks of words of one type.
macro_rules! unpack {
    ($name:ident, $module:ident, $word:ty, $bits:literal, $lanes:literal) => {
        /// Unpacks blocks; `packed` has `width` rows of 128 bytes for each. The shift of a row is
        /// computed once for all blocks.
        #[inline(always)]
        pub(super) fn $name(packed: &[[u8; 128]], width: usize, out: &mut [[$word; BLOCK]]) -> Option<()> {
            if width == 0 {
                out.as_flattened_mut().fill(0);
                return Some(());
            }
            let mask = <$word>::MAX >> ($bits as u32).saturating_sub(width as u32).min($bits - 1);
            let (mut k, mut shift) = (0usize, 0usize);
            for r in 0..$bits {
                let end = shift.wrapping_add(width);
                let blocks = out.iter_mut().zip(packed.chunks_exact(width));
                if end > $bits {
                    for (block, packed) in blocks {
                        let to = block.get_mut(row_start(r)..)?.first_chunk_mut::<$lanes>()?;
                        rows::$module::two(to, packed.get(k)?, packed.get(k.wrapping_add(1))?, shift, mask);
                    }
                } else {
                    for (block, packed) in blocks {
                        let to = block.get_mut(row_start(r)..)?.first_chunk_mut::<$lanes>()?;
                        rows::$module::one(to, packed.get(k)?, shift, mask);
                    }
                }
                k = k.wrapping_add(usize::from(end >= $bits));
                shift = end & ($bits - 1);
            }
            Some(())
        }
    };
}

/// The function that reads one value of a word type.
macro_rules! word {
    ($module:ident, $word:ty, $bits:literal) => {
        pub(super) mod $module {
            use super::place;

            /// Returns value `i` of a block.
            #[inline]
            pub fn get(packed: &[[u8; 128]], width: usize, i: usize) -> Option<$word> {
                if width == 0 {
                    return Some(0);
                }
                let (r, lane) = place(i, $bits);
                let first = r.wrapping_mul(width);
                let (k, shift) = (first / $bits, first & ($bits - 1));
                let word = |k: usize| Some(<$word>::from_le_bytes(*packed.get(k)?.as_chunks().0.get(lane)?));
                let mut value = word(k)? >> shift;
                if shift.wrapping_add(width) > $bits {
                    value |= word(k.wrapping_add(1))? << (($bits as usize).wrapping_sub(shift) & ($bits - 1));
                }
                let mask = <$word>::MAX >> ($bits as u32).saturating_sub(width as u32).min($bits - 1);
                Some(value & mask)
            }
        }
    };
}

#[allow(clippy::cast_possible_truncation, reason = "widths are at most 64")]
mod words {
    use super::{BLOCK, place, row_start, rows};

    word!(of_u8, u8, 8);
    word!(of_u16, u16, 16);
    word!(of_u32, u32, 32);
    word!(of_u64, u64, 64);

    unpack!(unpack_u16, of_u16, u16, 16, 64);
    unpack!(unpack_u32, of_u32, u32, 32, 32);
    unpack!(unpack_u64, of_u64, u64, 64, 16);
}

/// Unpacks blocks of bytes, with the widest vectors.
fn unpack_u8(packed: &[[u8; 128]], width: usize, out: &mut [[u8; BLOCK]]) -> Option<()> {
    let values = out.as_flattened_mut();
    if width == 0 {
        values.fill(0);
        return Some(());
    }
    simd::run(wide::Unpack { packed, width, values: values.as_chunks_mut().0 })
}

/// A kernel that unpacks blocks of words of one type, and the function that runs it with the widest vectors.
macro_rules! widest {
    ($kernel:ident, $name:ident, $word:ty) => {
        struct $kernel<'p, 'o> {
            packed: &'p [[u8; 128]],
            width: usize,
            out: &'o mut [[$word; BLOCK]],
        }

        impl Kernel for $kernel<'_, '_> {
            type Output = Option<()>;

            #[inline(always)]
            fn run<L: Lanes>(self, _: L) -> Option<()> {
                words::$name(self.packed, self.width, self.out)
            }
        }

        fn $name(packed: &[[u8; 128]], width: usize, out: &mut [[$word; BLOCK]]) -> Option<()> {
            simd::run($kernel { packed, width, out })
        }
    };
}

widest!(Halves, unpack_u16, u16);
widest!(Words, unpack_u32, u32);
widest!(Doubles, unpack_u64, u64);

/// Decodes values starting at value `first` until `out` is full. `packed` begins with the block of value 0.
/// The cells have the width of the packed words.
///
/// # Errors
/// [`Kind::Invalid`] if `width` exceeds the number of bits of a cell, or cells are wider than 64 bits;
/// [`Kind::Truncated`] if `packed` has too few blocks (`need`: the required length in bytes).
pub fn unpack(packed: &[u8], width: u32, first: u64, out: Cells<'_>) -> Result<()> {
    let bits = (out.width() as u64).saturating_mul(8);
    if u64::from(width) > bits || bits > 64 {
        return Err(Error::needing(Kind::Invalid, What::FASTLANES, 0, width.into()));
    }
    let end = first.saturating_add(out.len() as u64);
    let need = packed_len(end.div_ceil(BLOCK as u64), width);
    let short = || Error::needing(Kind::Truncated, What::FASTLANES, 0, need);
    if need > packed.len() as u64 {
        return Err(short());
    }
    // Inside the blocks of `packed`, or anywhere if the width is 0.
    let first = if width == 0 { 0 } else { usize::try_from(first).map_err(|_| short())? };
    let rows = packed.as_chunks::<128>().0;
    if !FAST {
        return small::run(rows, width, first, out).ok_or_else(short);
    }
    let width = width as usize;
    match out {
        Cells::W1(words) => run(rows, width, first, words, unpack_u8, words::of_u8::get),
        Cells::W2(words) => run(rows, width, first, words, unpack_u16, words::of_u16::get),
        Cells::W4(words) => run(rows, width, first, words, unpack_u32, words::of_u32::get),
        Cells::W8(words) => run(rows, width, first, words, unpack_u64, words::of_u64::get),
        _ => None,
    }
    .ok_or_else(short)
}

type Unpack<T> = fn(&[[u8; 128]], usize, &mut [[T; BLOCK]]) -> Option<()>;
type Get<T> = fn(&[[u8; 128]], usize, usize) -> Option<T>;

/// Bytes of output that are unpacked at once. With their packed source, they stay in the first-level cache.
const AT_ONCE: usize = 8192;

/// Decodes whole blocks directly to the output, parts of blocks value by value.
fn run<T: Copy>(
    rows: &[[u8; 128]],
    width: usize,
    first: usize,
    out: &mut [T],
    unpack: Unpack<T>,
    get: Get<T>,
) -> Option<()> {
    let values = |block: &[[u8; 128]], skip: usize, part: &mut [T]| -> Option<()> {
        for (i, word) in part.iter_mut().enumerate() {
            *word = get(block, width, skip.saturating_add(i))?;
        }
        Some(())
    };
    let mut packed = rows.get((first / BLOCK).checked_mul(width)?..)?;
    let skip = first % BLOCK;
    let head = if skip == 0 { 0 } else { BLOCK.saturating_sub(skip).min(out.len()) };
    let (part, out) = out.split_at_mut_checked(head)?;
    if head > 0 {
        values(packed, skip, part)?;
        packed = packed.get(width..)?;
    }
    let (blocks, part) = out.as_chunks_mut::<BLOCK>();
    for blocks in blocks.chunks_mut(const { AT_ONCE / BLOCK / size_of::<T>() }) {
        let (now, rest) = packed.split_at_checked(width.checked_mul(blocks.len())?)?;
        unpack(now, width, blocks)?;
        packed = rest;
    }
    values(packed, 0, part)
}

#[cfg(test)]
mod tests;
