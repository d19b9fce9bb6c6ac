//! ALP-RD, encoding: floats cut into a left part, whose few frequent values form a dictionary, and a right part.
//!
//! ```
//! use pilaster::unstable::encoding::alp;
//! use pilaster::unstable::encoding::cells::Cells;
//!
//! // All but one have the same sign and exponent.
//! let values = [1.1f64, 1.21, -7e300, 1.331];
//! let cut = alp::choose_cut(&values);
//! let (mut lefts, mut words, mut exceptions) = ([0; 4], [0; 4], Vec::new());
//! alp::split(&values, &cut, &mut lefts, &mut words, |i, left| exceptions.push((i, left)))?;
//!
//! assert_eq!(alp::lefts(cut.dictionary(), &mut lefts), None);
//! for (i, left) in exceptions {
//!     lefts[i] = left;
//! }
//! alp::join(&lefts, cut.width, Cells::W8(&mut words))?;
//! assert_eq!(words.map(f64::from_bits), values);
//! # Ok::<(), pilaster::Error>(())
//! ```

use super::LEFTS;
use super::float::{CHUNK, Float, sample};
use crate::bytes::{FAST, low32};
use crate::error::{Error, Kind, Result, What};

/// Where floats are cut, and the left parts that have a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Number of bits of a right part: at least the bits of a float minus 16.
    pub width: u32,
    dictionary: [u16; LEFTS],
    len: u8,
}

impl Cut {
    /// Returns the left parts, the most frequent first. There is at least one.
    #[must_use]
    pub fn dictionary(&self) -> &[u16] {
        self.dictionary.get(..usize::from(self.len)).unwrap_or_default()
    }
}

/// Maximum number of bits of a left part.
const LEFT_BITS: u32 = 16;

/// Number of values in a sample, whose left parts are on the stack, and in a run of neighbours.
const SAMPLE: usize = if FAST { 4096 } else { 1024 };
const RUN: usize = 64;

/// Bits of an exception: its left part, and an index inside a block.
const EXCEPTION: u64 = 32;

/// Returns the cut with the smallest encoding of a sample: codes, right parts and exceptions. All lengths of
/// left parts and dictionaries of 1, 2, 4 and 8 are compared.
#[must_use]
pub fn choose_cut<F: Float>(values: &[F]) -> Cut {
    let mut memory = [0u16; SAMPLE];
    let mut len = 0usize;
    for range in sample(values.len(), SAMPLE, RUN) {
        let part = values.get(range.clone()).unwrap_or_default();
        let to = memory.get_mut(len..).unwrap_or_default();
        // Right parts are not needed.
        F::cut(part, F::BITS.wrapping_sub(LEFT_BITS), to, &mut []);
        len = len.saturating_add(part.len()).min(SAMPLE);
    }
    let lefts = memory.get_mut(..len).unwrap_or_default();
    lefts.sort_unstable();
    let mut best = Cut { width: F::BITS.wrapping_sub(1), dictionary: [0; LEFTS], len: 1 };
    let mut least = u64::MAX;
    for bits in 1..=LEFT_BITS {
        let (dictionary, counts) = frequent(lefts, LEFT_BITS.wrapping_sub(bits));
        let width = F::BITS.wrapping_sub(bits);
        for code in 0..=LEFTS.ilog2() {
            let most = 1usize << code;
            let found = counts.iter().take(most).fold(0u64, |sum, count| sum.saturating_add(u64::from(*count)));
            let packed = (len as u64).saturating_mul(width.saturating_add(code).into());
            let size = packed.saturating_add((len as u64).saturating_sub(found).saturating_mul(EXCEPTION));
            if size < least {
                let known = counts.iter().take(most).filter(|count| **count > 0).count();
                // At least one, for the codes under exceptions.
                (best, least) = (Cut { width, dictionary, len: known.max(1).try_into().unwrap_or(1) }, size);
            }
        }
    }
    best
}

/// Returns the most frequent left parts and their counts, in descending order of counts. `lefts` are sorted;
/// `shift`: the number of low bits that do not belong to them.
fn frequent(lefts: &[u16], shift: u32) -> ([u16; LEFTS], [u32; LEFTS]) {
    let (mut dictionary, mut counts) = ([0; LEFTS], [0u32; LEFTS]);
    for run in lefts.chunk_by(|a, b| a >> (shift & 15) == b >> (shift & 15)) {
        let (mut left, mut count) = (run.first().map_or(0, |left| left >> (shift & 15)), low32(run.len() as u64));
        // Insertion: a smaller count moves down.
        for (other, others) in dictionary.iter_mut().zip(&mut counts) {
            if count > *others {
                core::mem::swap(&mut left, other);
                core::mem::swap(&mut count, others);
            }
        }
    }
    (dictionary, counts)
}

/// Cuts values into codes and right parts, the first of `codes` and `rights`. For each left part without a code
/// it calls `exception` with the index and the left part, in ascending order, and stores code 0. Returns the
/// number of exceptions. [`lefts`](super::lefts) and [`join`](super::join) are the reverse.
///
/// # Errors
/// [`Kind::Invalid`] if `cut` was made for floats of another size; [`Kind::NoRoom`] if `codes` or `rights` is
/// shorter than `values` (`need`: the required number of each).
pub fn split<F: Float>(
    values: &[F],
    cut: &Cut,
    codes: &mut [u16],
    rights: &mut [F::Word],
    mut exception: impl FnMut(usize, u16),
) -> Result<usize> {
    /// No code, because a dictionary has at most 8 entries.
    const NONE: u16 = u16::MAX;
    if cut.width >= F::BITS || cut.width < F::BITS.wrapping_sub(LEFT_BITS) {
        return Err(Error::needing(Kind::Invalid, What::ALP_RD, 0, cut.width.into()));
    }
    let short = || Error::needing(Kind::NoRoom, What::ALP_RD, 0, values.len() as u64);
    let codes = codes.get_mut(..values.len()).ok_or_else(short)?;
    let rights = rights.get_mut(..values.len()).ok_or_else(short)?;
    let mut count = 0usize;
    let chunks = values.chunks(CHUNK).zip(codes.chunks_mut(CHUNK)).zip(rights.chunks_mut(CHUNK));
    for (i, ((values, codes), rights)) in chunks.enumerate() {
        let mut lefts = [0u16; CHUNK];
        F::cut(values, cut.width, &mut lefts, rights);
        codes.fill(NONE);
        for (code, known) in (0u16..).zip(cut.dictionary()) {
            for (to, left) in codes.iter_mut().zip(&lefts) {
                *to = if left == known { code } else { *to };
            }
        }
        if codes.iter().fold(0, |any, code| any | code) < NONE {
            continue;
        }
        for (k, (code, left)) in codes.iter_mut().zip(lefts).enumerate().filter(|(_, (code, _))| **code == NONE) {
            *code = 0;
            exception(i.wrapping_mul(CHUNK).wrapping_add(k), left);
            count = count.saturating_add(1);
        }
    }
    Ok(count)
}
