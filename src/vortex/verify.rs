//! Reads everything, and compares the values with the statistics of the file.

use core::ops::Range;

use super::column::Column;
use super::file::File;
use super::statistics::Checker;
use crate::bytes::Scratch;
use crate::column::{Batch, Column as _, Part as _, Type, Values, fit};
use crate::error::{Error, Kind, Result, What};

/// Maximum number of rows per batch.
const BATCH: u64 = 1 << 16;

/// Maximum number of rows that are read of a small file: an array of a few bytes may claim any number.
const ROWS: u64 = 1 << 32;

/// Maximum number of rows that are read per byte of a large file.
const ROWS_PER_BYTE: u64 = 1 << 12;

impl<'a> File<'a> {
    /// Returns the size of a scratch buffer for a batch of each column, estimated from the first rows. A smaller buffer
    /// works with [`verify`](Self::verify), too; a later chunk may require more.
    ///
    /// # Errors
    /// Errors of the first rows of a column. A column that cannot be decoded counts as 0.
    pub fn need(&self) -> Result<u64> {
        let part = self.part()?;
        let mut most = 0;
        for k in 0..part.width() {
            let column = part.column(k)?;
            match column.need(0..column.rows().min(BATCH)) {
                Ok(need) => most = need.max(most),
                Err(e) if e.kind() == Kind::Unsupported => {}
                Err(e) => return Err(e),
            }
        }
        Ok(most)
    }

    /// Walks all layouts and arrays, reads every row of every column, and compares the values with the
    /// statistics of the file.
    ///
    /// ```
    /// use pilaster::bytes::Scratch;
    /// use pilaster::vortex::File;
    ///
    /// # let mut bytes = *include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/def_one_row_a.vortex"));
    /// let mut memory = [0; 1024];
    /// let file = File::open(&bytes)?;
    /// assert!(file.need()? <= 1024);
    /// file.verify(&mut Scratch::new(&mut memory))?;
    ///
    /// // The value of column `f` is changed from 1.5 to a number above the maximum in the statistics.
    /// # let at = bytes.windows(8).position(|eight| eight == 1.5f64.to_le_bytes()).expect("the value");
    /// bytes[at..at + 8].copy_from_slice(&2.5f64.to_le_bytes());
    /// let e = File::open(&bytes)?.verify(&mut Scratch::new(&mut memory)).unwrap_err();
    /// assert_eq!(e.what(), pilaster::error::What::VORTEX_STATISTICS);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error that is found: [`Kind::Invalid`] in `What::VORTEX_STATISTICS` if values contradict the
    /// statistics, [`Kind::Unsupported`] if a column cannot be decoded, [`Kind::Limit`] if a file claims far more rows
    /// than it has bytes, [`Kind::NoRoom`] if `scratch` is too small, and errors of invalid bytes.
    pub fn verify(&self, scratch: &mut Scratch<'_>) -> Result<()> {
        self.visit(false, &mut |_| Ok(()))?;
        let part = self.part()?;
        let mut budget = ROWS.max(self.source().len().saturating_mul(ROWS_PER_BYTE));
        for k in 0..part.width() {
            let column = part.column(k)?;
            let mut checker = self.column_statistics(k)?.map(|stats| stats.checker()).transpose()?;
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
            checker.batch(&batch)?;
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
