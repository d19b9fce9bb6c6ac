//! How many rows fit into scratch memory.

use core::ops::Range;

use super::Column;
use crate::bytes::FAST;
use crate::error::{Error, Kind, Result, What};

/// Number of rows from which [`fit`] begins with a part.
const MANY: u64 = 1 << 16;

/// Returns the first rows of `rows` that `column` can read with the given number of scratch bytes: all of them, or the
/// first half, quarter and so on.
///
/// # Errors
/// [`Kind::NoRoom`] with the required size of one row if not even that fits; errors of [`Column::need`].
pub fn fit<C: Column>(column: &C, rows: Range<u64>, room: usize) -> Result<Range<u64>> {
    let Range { start, mut end } = rows;
    if FAST && end.saturating_sub(start) > MANY {
        end = grown(column, start..end, room)?;
    }
    loop {
        let need = column.need(start..end)?;
        if need <= room as u64 {
            return Ok(start..end);
        }
        let half = end.saturating_sub(start) >> 1;
        if half == 0 {
            return Err(Error::needing(Kind::NoRoom, What::SCRATCH, start, need));
        }
        end = start.saturating_add(half);
    }
}

/// Returns the end of the first part of many rows that does not fit: from less than [`MANY`] rows to all of them, each part
/// twice as long as the previous one; the end of all rows if all parts fit. The memory for rows in many chunks takes time
/// for each chunk: if all rows left were asked for first, reading a column by batches would take the square of its chunks.
fn grown<C: Column>(column: &C, rows: Range<u64>, room: usize) -> Result<u64> {
    let len = rows.end.saturating_sub(rows.start);
    let mut halves = u64::BITS.saturating_sub((len / MANY).leading_zeros());
    loop {
        let end = rows.start.saturating_add(len.wrapping_shr(halves));
        if halves == 0 || column.need(rows.start..end)? > room as u64 {
            return Ok(end);
        }
        halves = halves.wrapping_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::bytes::Scratch;
    use crate::column::{Batch, Prim, Type};

    /// Rows of 8 bytes, whose need counts the rows that were asked for.
    #[derive(Clone, Copy, Debug)]
    struct Counting<'c>(&'c Cell<u64>);

    impl Column for Counting<'_> {
        fn ty(&self) -> Type {
            Type::Prim(Prim::I64)
        }

        fn nullable(&self) -> bool {
            false
        }

        fn rows(&self) -> u64 {
            u64::MAX
        }

        fn need(&self, rows: Range<u64>) -> Result<u64> {
            let len = rows.end - rows.start;
            self.0.set(self.0.get().saturating_add(len));
            Ok(len.saturating_mul(8))
        }

        fn read<'s>(&self, _: Range<u64>, _: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
        where
            Self: 's,
        {
            unreachable!("only asked for its need")
        }
    }

    #[test]
    fn a_part_is_the_largest_that_fits_and_costs_no_more_than_a_few_of_it() {
        let lens = [1, 2, 3, 1000, MANY - 1, MANY, MANY + 1, 3 * MANY - 1, 1 << 20, 1_000_003, 1 << 40, u64::MAX - 7];
        for len in lens {
            for room in [8, 100, 1 << 16, 1 << 19, 1 << 20, 1 << 24] {
                let asked = Cell::new(0);
                let found = fit(&Counting(&asked), 7..7 + len, room).unwrap();
                let fitting = (0..64).map(|halves| len >> halves).find(|part| *part <= room as u64 / 8 || *part == 1);
                assert_eq!(found, 7..7 + fitting.unwrap(), "{len} rows, {room} bytes");
                // The small loop halves all rows.
                assert!(
                    !FAST || asked.get() <= 8 * (found.end - 7).max(MANY),
                    "{} rows asked for {len}, {room}",
                    asked.get()
                );
            }
        }
        assert_eq!(fit(&Counting(&Cell::new(0)), 0..1 << 20, 7).unwrap_err().kind(), Kind::NoRoom);
    }
}
