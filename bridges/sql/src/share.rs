//! The rows that a byte range of a file owns.

use std::ops::Range;

/// Number of rows of a group in large tables, a multiple of the chunks of most writers.
const GROUP: u64 = 1 << 16;

/// Number of rows of a group in smaller tables: the length of a zone of most Vortex files.
const SMALL_GROUP: u64 = 1 << 13;

/// Returns the rows that a byte range owns, of a file of `len` bytes and `rows` rows: the groups whose place is in the range. The
/// place of a group that begins with row `r` is `len * r / rows`, so that each group is in exactly one of the ranges that make up
/// the file. Without a range, the rows are all.
pub(crate) fn share(range: Option<&Range<u64>>, len: u64, rows: u64) -> Range<u64> {
    let Some(range) = range else { return 0..rows };
    first(range.start, len, rows)..first(range.end, len, rows)
}

/// Returns the first row of the first group whose place is at `at` or after it; the number of rows without such a group.
fn first(at: u64, len: u64, rows: u64) -> u64 {
    if at >= len {
        return rows;
    }
    let group = if rows >= GROUP.saturating_mul(16) { GROUP } else { SMALL_GROUP };
    // `len * r / rows` is at least `at` where `r` is at least `at * rows / len`, rounded up.
    let row = u128::from(at).saturating_mul(rows.into()).div_ceil(len.into());
    // The quotient is at most `rows`.
    let row = u64::try_from(row).unwrap_or(rows);
    row.checked_next_multiple_of(group).unwrap_or(rows).min(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_range() {
        for (len, rows) in
            [(1, 1), (7, 1_000_000), (1 << 40, 3), (999_983, 5_000_011), (80, 0), (1, u64::MAX), (100, 8193)]
        {
            for parts in 1..8u64 {
                let mut next = 0;
                for k in 0..parts {
                    let of = |k: u64| u64::try_from(u128::from(len) * u128::from(k) / u128::from(parts)).expect("less");
                    let mine = share(Some(&(of(k)..of(k + 1))), len, rows);
                    assert_eq!(mine.start, next, "{len} {rows} {parts} {k}");
                    next = mine.end;
                }
                assert_eq!(next, rows, "{len} {rows} {parts}");
            }
            assert_eq!(share(None, len, rows), 0..rows);
        }
    }

    #[test]
    fn ranges_of_a_large_file_have_similar_shares() {
        let shares: Vec<_> = (0..4).map(|k| share(Some(&(k * 1000..k * 1000 + 1000)), 4000, 64 << 20)).collect();
        assert!(shares.iter().all(|rows| rows.end - rows.start == 16 << 20), "{shares:?}");
    }
}
