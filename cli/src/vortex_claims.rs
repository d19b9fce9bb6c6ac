//! What the statistics of a Vortex column claim, compared with its rows: `recover` keeps the rows, and says what
//! contradicts them.

use std::ops::Range;

use pilaster::column::Batch;
use pilaster::unstable::vortex_statistics::Checker;
use pilaster::vortex::{Column, File};

/// The claims about a column, and what contradicts them in the rows that were read.
#[derive(Clone)]
pub struct Claims<'f> {
    checker: Checker<'f>,
    /// Number of rows outside of minimum and maximum.
    outside: u64,
    /// The rows from the first to the last one outside.
    rows: Range<u64>,
}

impl<'f> Claims<'f> {
    /// Returns the claims about column `number`, if the file has any. In a file without rows, they may be about rows that
    /// were lost; nothing contradicts them.
    pub fn of(file: &File<'f>, number: usize) -> pilaster::Result<Option<Self>> {
        let statistics = if file.rows()? > 0 { file.column_statistics(number)? } else { None };
        let claims = |checker| Claims { checker, outside: 0, rows: 0..0 };
        Ok(statistics.map(Checker::of).transpose()?.map(claims))
    }

    /// Compares the next rows.
    pub fn batch(&mut self, batch: &Batch<'_, Column<'_>>) -> pilaster::Result<()> {
        let (outside, rows) = (&mut self.outside, &mut self.rows);
        self.checker.rows(batch, 1, |row| {
            *rows = if *outside == 0 { row } else { rows.start }..row.saturating_add(1);
            *outside = outside.saturating_add(1);
            Ok(())
        })
    }

    /// Returns a text for each claim that the rows contradict, which follows the name of the column. `all`: no row is
    /// lost, so that the counts can be compared.
    pub fn contradicted(&self, all: bool) -> pilaster::Result<Vec<String>> {
        const OR: &str = ", or its values, which are saved: ";
        let mut texts = Vec::new();
        if self.outside > 0 {
            let (outside, Range { start, end }) = (self.outside, &self.rows);
            texts.push(format!("{OR}{outside} of rows {start}..{end} are below the minimum or above the maximum"));
        }
        for ((claim, count), what) in self.checker.counts()?.into_iter().zip(["missing rows", "NaN values"]) {
            if let Some(claim) = claim.filter(|claim| all && *claim != count) {
                texts.push(format!("{OR}{claim} {what} are stated, {count} are found"));
            }
        }
        Ok(texts)
    }
}
