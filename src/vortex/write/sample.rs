//! Some of the rows of a chunk, by which the encoding of all is chosen.

use alloc::vec::Vec;
use core::ops::Range;

/// Number of runs in a sample, and of rows in a run: neighbours show runs and progressions.
const RUNS: usize = 32;
const RUN: usize = 64;

/// Returns a sample of `len` rows: all of them if they are few, else runs at irregular distances, the same ones each time.
pub(super) fn runs(len: usize) -> Vec<Range<usize>> {
    let share = len.checked_div(RUNS).unwrap_or(0);
    if share < RUN.saturating_mul(2) {
        return core::iter::once(0..len).collect();
    }
    // Bitmaps are cut at whole bytes.
    let free = share.saturating_sub(RUN).saturating_sub(8);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let run = |number: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let place = usize::try_from(state >> 33).unwrap_or(0).checked_rem(free).unwrap_or(0);
        let start = number.saturating_mul(share).saturating_add(place).next_multiple_of(8);
        start..start.saturating_add(RUN)
    };
    (0..RUNS).map(run).collect()
}

/// Returns whether a sample shows that more than about half of `len` values are distinct. `distinct` returns the number of
/// distinct ones among these rows.
///
/// A sample of n values from d distinct ones is expected to have n * n / 2d repeated values.
pub(super) fn is_distinct(len: usize, distinct: impl Fn(&[Range<usize>]) -> usize) -> bool {
    let rows = runs(len);
    let count = rows.iter().map(Range::len).fold(0, usize::saturating_add);
    if count >= len {
        return false;
    }
    let repeated = count.saturating_sub(distinct(&rows));
    // Half as many as for d = len / 2, so that chance seldom rules a dictionary out.
    repeated.saturating_mul(2).saturating_mul(len) < count.saturating_mul(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_rows_from_everywhere() {
        for len in [0, 1, 4095, 4096, 5000, 131_072, 1 << 20] {
            let rows = runs(len);
            assert!(rows.windows(2).all(|pair| pair[0].end <= pair[1].start), "{len}");
            assert!(rows.last().unwrap().end <= len && rows.last().unwrap().end >= len - len / 16, "{len}");
        }
    }

    #[test]
    fn repeated_values_are_seen() {
        let len = 131_072;
        let distinct = |of: u64| {
            move |rows: &[Range<usize>]| {
                let hash = |row: usize| (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
                let mut all: Vec<u64> = rows.iter().flat_map(|rows| rows.clone().map(|row| hash(row) % of)).collect();
                all.sort_unstable();
                all.dedup();
                all.len()
            }
        };
        assert!(is_distinct(len, distinct(1 << 40)));
        for few in [1, 100, 1 << 12, 1 << 14] {
            assert!(!is_distinct(len, distinct(few)), "{few}");
        }
    }
}
