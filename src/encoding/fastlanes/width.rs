//! The choice of a width: how many values need how many bits, and which width makes packed values and patches
//! smallest.
//!
//! ```
//! use pilaster::unstable::encoding::fastlanes::{Width, best_width, count_widths, wider};
//!
//! // 1024 values below 8 and one of 20 bits.
//! let mut values = [7u32; 1025];
//! values[600] = 1 << 19;
//! let mut counts = [0; 65];
//! count_widths(&values, 0, &mut counts);
//! // A patch of 4 bytes and its index of 2 bytes.
//! assert_eq!(best_width(&counts, 6), Width { width: 3, patches: 1, bytes: 2 * 3 * 128 + 6 });
//! let mut found = Vec::new();
//! wider(&values, 0, 3, |i| found.push(i));
//! assert_eq!(found, [600]);
//! ```

use super::{BLOCK, Lane, packed_len};
use crate::bytes::{FAST, product};

/// A width of packed values, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Bits per packed value.
    pub width: u32,
    /// Number of wider values, which need a patch.
    pub patches: u64,
    /// Size of the packed blocks and the patches in bytes.
    pub bytes: u64,
}

/// Returns the number of bits that a value needs.
fn needed<T: Lane>(value: T, reference: T) -> usize {
    64u32.wrapping_sub(value.minus(reference).wide().leading_zeros()) as usize
}

/// Adds to `counts[n]` the number of values whose difference from `reference`, modulo the size of the word,
/// needs exactly `n` bits.
pub fn count_widths<T: Lane>(values: &[T], reference: T, counts: &mut [u64; 65]) {
    let count = |table: &mut [u64; 65], value: &T| {
        if let Some(count) = table.get_mut(needed(*value, reference)) {
            *count = count.wrapping_add(1);
        }
    };
    if !FAST {
        return values.iter().for_each(|value| count(counts, value));
    }
    // Neighbours often have the same width. Separate tables for them save the wait for the store before.
    let mut tables = [[0; 65]; 4];
    let (fours, rest) = values.as_chunks::<4>();
    for four in fours {
        for (table, value) in tables.iter_mut().zip(four) {
            count(table, value);
        }
    }
    rest.iter().for_each(|value| count(counts, value));
    for table in tables {
        for (count, more) in counts.iter_mut().zip(table) {
            *count = count.wrapping_add(more);
        }
    }
}

/// Returns the width with the smallest sum of packed blocks and patches, each of which takes `patch` bytes
/// (value and index). `counts` is made by [`count_widths`]. Of equal sums, it returns the one with the fewest
/// patches.
#[must_use]
pub fn best_width(counts: &[u64; 65], patch: u64) -> Width {
    let values = counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
    let blocks = values.div_ceil(BLOCK as u64);
    let mut best = Width { width: 0, patches: 0, bytes: u64::MAX };
    let mut patches = values;
    for (width, count) in (0u32..).zip(counts) {
        patches = patches.saturating_sub(*count);
        let bytes = packed_len(blocks, width).saturating_add(product(patches, patch));
        if bytes <= best.bytes {
            best = Width { width, patches, bytes };
        }
        if patches == 0 {
            break;
        }
    }
    best
}

/// Calls `found` with the index of each value whose difference from `reference` needs more than `width` bits,
/// in ascending order.
pub fn wider<T: Lane>(values: &[T], reference: T, width: u32, mut found: impl FnMut(usize)) {
    /// Values that are tested together. Most runs have none that is wider.
    const RUN: usize = 64;
    if width >= T::BITS {
        return;
    }
    let fits = |word: u64| word >> (width & 63) == 0;
    for (i, run) in values.chunks(RUN).enumerate() {
        if FAST && fits(run.iter().fold(T::zeroed(), |any, value| any.or(value.minus(reference))).wide()) {
            continue;
        }
        for (k, value) in run.iter().enumerate() {
            if !fits(value.minus(reference).wide()) {
                found(i.wrapping_mul(RUN).wrapping_add(k));
            }
        }
    }
}
