//! Where a block ends: before bytes with other frequencies, for which its codes would be too long.

use super::costs::{FRACTION, log2};
use crate::bytes::{FAST, len32};
use crate::codec::zstd::huffman::SYMBOLS;

/// Maximum length of a block in bytes.
pub(super) const LONGEST: usize = 128 << 10;
/// Blocks end at multiples of this number of bytes from their start.
const STEP: usize = 8 << 10;
/// One byte of this number is counted.
const SAMPLE: usize = 8;
/// Number of arrays in which bytes are counted alternately.
const WAYS: usize = if FAST { 4 } else { 1 };
/// Number of bits that the counted bytes must save for a new block.
const PRICE: u64 = 250;

/// Literals are coded only if this saves one byte of 2^`GAIN`: a code that gains less costs more time than it saves.
pub(super) const GAIN: u32 = 6;

type Counts = [u32; SYMBOLS];

/// The bytes of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bytes {
    /// More than three bytes, all of which have this value.
    Run(u8),
    /// No code of single bytes shortens them enough.
    Noise,
    Other,
}

/// Returns the length of the next block of `src`, and what its bytes seem to be.
pub(super) fn next(src: &[u8]) -> (usize, Bytes) {
    let most = src.get(..LONGEST).unwrap_or(src);
    let mut steps = most.chunks(STEP);
    let Some(first) = steps.next() else { return (0, Bytes::Other) };
    let mut same = run(first);
    let (mut all, mut len) = (Block::of(first, same), first.len());
    for step in steps {
        let step_same = run(step);
        // The last few bytes are no block of their own.
        if step.len() == STEP {
            let new = Block::of(step, step_same);
            let both = all.joined(&new);
            if both.bits().saturating_sub(all.bits()).saturating_sub(new.bits()) >> FRACTION > PRICE {
                break;
            }
            all = both;
        }
        same = same.filter(|_| step_same == same);
        len = len.wrapping_add(step.len());
    }
    // The counts of a sample are less even than the counts of all bytes, and promise more than there is to gain.
    let bits = u64::from(all.total) << FRACTION << 3;
    let kind = match same {
        Some(byte) if len > 3 => Bytes::Run(byte),
        _ if all.bits() > bits.wrapping_sub(bits >> GAIN) => Bytes::Noise,
        _ => Bytes::Other,
    };
    (len, kind)
}

/// Returns the value of all bytes, if they are equal. The comparison of slices is several times as fast as a loop over bytes.
fn run(bytes: &[u8]) -> Option<u8> {
    let ([first, rest @ ..], [before @ .., _]) = (bytes, bytes) else { return None };
    (rest == before).then_some(*first)
}

/// The counted bytes of a block.
struct Block {
    counts: Counts,
    /// Number of counted bytes.
    total: u32,
    /// The sum of the weights of all counts.
    weights: u64,
}

impl Block {
    fn of(bytes: &[u8], same: Option<u8>) -> Self {
        let total = len32(bytes.len().div_ceil(SAMPLE));
        if let Some(first) = same {
            let mut counts = [0u32; SYMBOLS];
            if let Some(count) = counts.get_mut(usize::from(first)) {
                *count = total;
            }
            return Block { weights: weight(total), counts, total };
        }
        // Equal bytes in a row would wait for each other.
        let mut ways = [[0u32; SYMBOLS]; WAYS];
        let (groups, rest) = bytes.as_chunks::<{ SAMPLE * SAMPLE }>();
        for group in groups {
            // Another byte of each word, so that the bytes of numbers are counted alike.
            for (i, word) in group.as_chunks::<SAMPLE>().0.iter().enumerate() {
                if let (Some(way), Some(byte)) = (ways.get_mut(i & WAYS.wrapping_sub(1)), word.get(i)) {
                    count(way, *byte);
                }
            }
        }
        let [first, ..] = &mut ways;
        rest.iter().step_by(SAMPLE).for_each(|byte| count(first, *byte));
        let mut counts = [0u32; SYMBOLS];
        for way in &ways {
            counts.iter_mut().zip(way).for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
        }
        Block { weights: weights(&counts), counts, total }
    }

    /// Returns both blocks as one.
    fn joined(&self, new: &Self) -> Self {
        let mut counts = self.counts;
        counts.iter_mut().zip(&new.counts).for_each(|(all, new)| *all = all.wrapping_add(*new));
        Block { weights: weights(&counts), counts, total: self.total.wrapping_add(new.total) }
    }

    /// Returns the number of bits of all counted bytes by the best code, with [`FRACTION`] fraction bits.
    fn bits(&self) -> u64 {
        weight(self.total).saturating_sub(self.weights)
    }
}

#[inline(always)]
fn count(counts: &mut Counts, byte: u8) {
    if let Some(count) = counts.get_mut(usize::from(byte)) {
        *count = count.wrapping_add(1);
    }
}

fn weights(counts: &Counts) -> u64 {
    counts.iter().fold(0, |sum: u64, count| sum.wrapping_add(weight(*count)))
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
