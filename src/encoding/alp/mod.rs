//! ALP: floats as integers times a power of ten. ALP-RD: floats split into a left part from a small
//! dictionary and a right part.
//!
//! ```
//! use pilaster::unstable::encoding::{alp, cells::Cells};
//!
//! let mut words = [12345u64, 5u64.wrapping_neg()];
//! alp::decode(14, 12, Cells::W8(&mut words))?;
//! assert_eq!(words.map(f64::from_bits), [123.45, -0.05]);
//! # Ok::<(), pilaster::Error>(())
//! ```

mod encode;
mod float;
mod split;

pub use encode::{Exponents, choose, encode};
pub use float::{Float, Scale};
pub use split::{Cut, choose_cut, split};

use super::cells::Cells;
use crate::error::{Error, Kind, Result, What};

/// Powers of a tenth, each rounded to the nearest double.
const TENTHS: [f64; 24] = [
    1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17,
    1e-18, 1e-19, 1e-20, 1e-21, 1e-22, 1e-23,
];

/// Number of powers for singles.
const POWERS32: usize = 11;

/// 10^k and 10^-k for each k, as [`powers`] returns them, so that encoding needs no multiplication of doubles for singles.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "computed by the compiler")]
static DOUBLES: [(f64, f64); TENTHS.len()] = {
    let (mut table, mut up, mut k) = ([(1.0, 1.0); TENTHS.len()], 1.0, 0);
    while k < TENTHS.len() {
        (table[k], up) = ((up, TENTHS[k]), up * 10.0);
        k += 1;
    }
    table
};

/// The same as singles.
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "computed by the compiler: the nearest singles"
)]
static SINGLES: [(f32, f32); POWERS32] = {
    let (mut table, mut k) = ([(1.0, 1.0); POWERS32], 0);
    while k < POWERS32 {
        (table[k], k) = ((DOUBLES[k].0 as f32, DOUBLES[k].1 as f32), k + 1);
    }
    table
};

/// Returns 10^`f` and 10^-`e`, each rounded to the nearest double, if both exponents are below `count`.
fn powers(e: u32, f: u32, count: usize) -> Option<(f64, f64)> {
    let down = TENTHS.get(..count)?.get(e as usize).filter(|_| (f as usize) < count)?;
    // These products are exact except 10^23, which is rounded once.
    Some(((0..f).fold(1.0, |up, _| up * 10.0), *down))
}

/// Converts integers to the bits of floats, in place: value = integer * 10^`f` * 10^-`e`, each product
/// rounded. Cells of 8 bytes are doubles, of 4 bytes singles.
///
/// # Errors
/// [`Kind::Invalid`] if an exponent is above 23 (doubles) or 10 (singles), [`Kind::WrongType`] for cells of
/// other widths.
#[allow(clippy::cast_possible_truncation, reason = "the nearest singles, as the test below sees")]
pub fn decode(e: u32, f: u32, cells: Cells<'_>) -> Result<()> {
    let bad = || Error::needing(Kind::Invalid, What::ALP, 0, e.max(f).into());
    match cells {
        Cells::W8(words) => {
            let (up, down) = powers(e, f, TENTHS.len()).ok_or_else(bad)?;
            doubles(up, down, words);
        }
        Cells::W4(words) => {
            let (up, down) = powers(e, f, POWERS32).ok_or_else(bad)?;
            let (up, down) = (up as f32, down as f32);
            for word in words {
                *word = (word.cast_signed() as f32 * up * down).to_bits();
            }
        }
        _ => return Err(Error::new(Kind::WrongType, What::ALP, 0)),
    }
    Ok(())
}

fn doubles(up: f64, down: f64, words: &mut [u64]) {
    for word in words {
        *word = (word.cast_signed() as f64 * up * down).to_bits();
    }
}

/// Maximum number of entries of a dictionary of left parts.
pub const LEFTS: usize = 8;

/// Replaces codes by the left parts that they name. Returns the index of the first code without one, if any.
pub fn lefts(dictionary: &[u16], codes: &mut [u16]) -> Option<usize> {
    let mut bad = None;
    for (i, code) in codes.iter_mut().enumerate() {
        match dictionary.get(usize::from(*code)) {
            Some(left) => *code = *left,
            None => bad = bad.or(Some(i)),
        }
    }
    bad
}

/// Joins left parts with the right parts in `cells`: bits = `left << width | right`.
///
/// # Errors
/// [`Kind::Invalid`] if `width` is at least the number of bits of a cell, [`Kind::WrongType`] for cells of
/// other widths than 4 and 8 bytes.
pub fn join(lefts: &[u16], width: u32, mut cells: Cells<'_>) -> Result<()> {
    let bits = match cells.width() {
        4 => 32,
        8 => 64,
        _ => return Err(Error::new(Kind::WrongType, What::ALP_RD, 0)),
    };
    if width >= bits {
        return Err(Error::needing(Kind::Invalid, What::ALP_RD, 0, width.into()));
    }
    cells.words_with(lefts, |word, left| word | u64::from(left) << width);
    Ok(())
}

#[cfg(test)]
mod tests;
