//! The shorter check of [`File::verify`] in modules of WebAssembly: reads the rows of all columns and of their children, in
//! batches. It leaves out what only a reader of single rows would meet. The full check takes 8 of 89 KB there (compressed).

use core::ops::Range;

use super::column::Column;
use super::file::File;
use super::statistics::Checker;
use crate::bytes::Scratch;
use crate::column::{Batch, Column as _, Part as _, Type, Values, fit};
use crate::error::{Error, Kind, Result, What};

/// Maximum number of rows per batch.
const BATCH: u64 = 1 << 16;

impl File<'_> {
    /// Reads every row of every column, at most `budget` rows, and compares the values with the statistics of the file.
    pub(super) fn verify_rows(&self, mut budget: u64, scratch: &mut Scratch<'_>) -> Result<()> {
        let part = self.part()?;
        for k in 0..part.width() {
            let column = part.column(k)?;
            let statistics = if column.rows() > 0 { self.column_statistics(k)? } else { None };
            let mut checker = statistics.map(|stats| stats.checker()).transpose()?;
            verify(&column, 0..column.rows(), &mut budget, checker.as_mut(), scratch)?;
            if let Some(checker) = checker {
                checker.end()?;
            }
        }
        Ok(())
    }
}

/// Reads `rows` of a column and the rows of its children, at any depth.
fn verify(
    column: &Column<'_>,
    rows: Range<u64>,
    budget: &mut u64,
    mut checker: Option<&mut Checker<'_>>,
    scratch: &mut Scratch<'_>,
) -> Result<()> {
    let left = budget.checked_sub(rows.end.saturating_sub(rows.start));
    *budget = left.ok_or_else(|| Error::needing(Kind::Limit, What::MAX_ROWS, rows.start, *budget))?;
    let mut row = rows.start;
    while row < rows.end {
        let mut inner = scratch.scope();
        let wanted = row..rows.end.min(row.saturating_add(BATCH));
        let batch = column.read(fit(column, wanted, inner.room())?, &mut inner)?;
        if batch.len == 0 {
            return Err(Error::new(Kind::Truncated, What::ROW, row));
        }
        if let Some(checker) = &mut checker {
            checker.batch(&batch, 1)?;
        }
        cells(&batch, column.ty(), budget, &mut inner)?;
        row = row.saturating_add(batch.len as u64);
    }
    Ok(())
}

/// Checks the texts of a batch, and reads the children of its nested rows.
fn cells(batch: &Batch<'_, Column<'_>>, ty: Type, budget: &mut u64, scratch: &mut Scratch<'_>) -> Result<()> {
    let mut valid = (0..batch.len).filter(|i| batch.validity.get(*i));
    match batch.values {
        Values::Utf8(texts) => valid.try_for_each(|i| texts.text(i).map(drop)),
        Values::Bytes(strings) => valid.try_for_each(|i| strings.get(i).map(drop)),
        Values::Nested(rows) => {
            let (mut first, mut end) = (u64::MAX, 0);
            for i in valid {
                let range = rows.get(i)?;
                if !range.is_empty() {
                    (first, end) = (first.min(range.start), end.max(range.end));
                }
            }
            if first >= end {
                return Ok(());
            }
            for k in 0..ty.children() {
                let child = batch.of.child(k)?;
                if end > child.rows() {
                    return Err(Error::needing(Kind::OutOfRange, What::CHILD, end, child.rows()));
                }
                verify(&child, first..end, budget, None, scratch)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
