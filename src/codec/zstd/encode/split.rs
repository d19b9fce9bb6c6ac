//! Where a block ends: before bytes with other frequencies, for which its codes would be too long.

use super::costs::{FRACTION, log2};
use crate::codec::zstd::huffman::SYMBOLS;

/// Maximum length of a block in bytes.
pub(super) const LONGEST: usize = 128 << 10;
/// Blocks end at multiples of this number of bytes from their start.
const STEP: usize = 8 << 10;
/// One byte of this number is counted.
const SAMPLE: usize = 8;
/// Number of bits that the counted bytes must save for a new block.
const PRICE: u64 = 250;

type Counts = [u32; SYMBOLS];

/// Returns the length of the next block of `src`.
pub(super) fn next(src: &[u8]) -> usize {
    let most = src.get(..LONGEST).unwrap_or(src);
    let mut steps = most.chunks(STEP);
    let Some(first) = steps.next() else { return 0 };
    let mut all = counts(first);
    let mut len = first.len();
    for step in steps {
        // The last few bytes are no block of their own.
        if step.len() == STEP {
            let new = counts(step);
            if saving(&all, &new) > PRICE {
                break;
            }
            all.iter_mut().zip(&new).for_each(|(all, new)| *all = all.wrapping_add(*new));
        }
        len = len.wrapping_add(step.len());
    }
    len
}

fn counts(bytes: &[u8]) -> Counts {
    let mut counts = [0; SYMBOLS];
    for byte in bytes.iter().step_by(SAMPLE) {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count = u32::wrapping_add(*count, 1);
        }
    }
    counts
}

/// Returns the number of bits by which codes of their own are shorter than a common one.
fn saving(all: &Counts, new: &Counts) -> u64 {
    let (mut a, mut b, mut parts) = (0u32, 0u32, 0u64);
    for (all, new) in all.iter().zip(new) {
        (a, b) = (a.wrapping_add(*all), b.wrapping_add(*new));
        if *all > 0 && *new > 0 {
            parts = parts.wrapping_add(excess(*all, *new));
        }
    }
    excess(a, b).saturating_sub(parts) >> FRACTION
}

/// Returns the number of bits by which a symbol of two blocks takes more in a common one, but for the logarithms of
/// the lengths of the blocks.
fn excess(a: u32, b: u32) -> u64 {
    weight(a.wrapping_add(b)).wrapping_sub(weight(a)).wrapping_sub(weight(b))
}

/// Returns the product of a number and its logarithm.
#[inline]
fn weight(n: u32) -> u64 {
    match WEIGHTS.get(n as usize) {
        Some(weight) => (*weight).into(),
        None => u64::from(n).wrapping_mul(log2(n).into()),
    }
}

/// The weights of small numbers, as most counts are.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "computed when compiled")]
static WEIGHTS: [u32; 256] = {
    let mut weights = [0; 256];
    let mut n = 1;
    while n < 256 {
        weights[n as usize] = n * log2(n);
        n += 1;
    }
    weights
};
