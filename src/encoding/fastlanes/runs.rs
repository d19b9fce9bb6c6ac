//! Runs of equal values, numbered in each block of 1024 values.
//!
//! ```
//! use pilaster::unstable::encoding::fastlanes::{BLOCK, number_runs};
//!
//! let mut values = [7u32; BLOCK + 3];
//! values[5] = 8;
//! let (mut numbers, mut firsts) = ([0; 2 * BLOCK], Vec::new());
//! number_runs(&values, &mut numbers, |i| firsts.push(i));
//! assert_eq!(numbers[3..8], [0, 0, 1, 2, 2]);
//! assert_eq!(firsts, [0, 5, 6, BLOCK], "each block begins with a run");
//! ```

use super::BLOCK;

/// Writes the number of its run to each value of a block; the first run of a block has number 0. Calls `found` with the
/// index of the first value of each run. Numbers after the last value repeat the number of its run. Values
/// without a number in `numbers`, which may be shorter, are skipped.
pub fn number_runs<T: Copy + PartialEq>(values: &[T], numbers: &mut [u16], mut found: impl FnMut(usize)) {
    for (k, (block, numbers)) in values.chunks(BLOCK).zip(numbers.chunks_mut(BLOCK)).enumerate() {
        let (mut before, mut run) = (None, 0u16);
        for (i, (value, number)) in block.iter().zip(numbers.iter_mut()).enumerate() {
            if before != Some(*value) {
                // At most 1024 runs.
                run = run.wrapping_add(u16::from(before.is_some()));
                before = Some(*value);
                found(k.wrapping_mul(BLOCK).wrapping_add(i));
            }
            *number = run;
        }
        numbers.get_mut(block.len()..).unwrap_or_default().fill(run);
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_value_of_a_run_is_that_of_its_rows(runs in prop::collection::vec((0..4u8, 1..700usize), 0..12)) {
            let values: Vec<u8> = runs.iter().flat_map(|(value, len)| vec![*value; *len]).collect();
            let mut numbers = vec![u16::MAX; values.len().next_multiple_of(BLOCK)];
            let (mut firsts, mut starts) = (Vec::new(), Vec::new());
            number_runs(&values, &mut numbers, |i| {
                if i % BLOCK == 0 {
                    starts.push(firsts.len());
                }
                firsts.push(values[i]);
            });
            prop_assert_eq!(starts.len(), values.len().div_ceil(BLOCK));
            for (i, value) in values.iter().enumerate() {
                prop_assert_eq!(firsts[starts[i / BLOCK] + usize::from(numbers[i])], *value);
            }
            prop_assert!(numbers[values.len()..].iter().all(|number| Some(number) == numbers[..values.len()].last()));
        }
    }
}
