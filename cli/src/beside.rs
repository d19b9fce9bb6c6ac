//! Several columns that are fed to a builder in one pass. A part of a DataSeries file is an extent, which unpacks all columns:
//! with a pass for each column, each extent would be unpacked that often.

use pilaster::bytes::Scratch;
use pilaster::column::Build;

use crate::feed::{Chosen, OneColumn, Part, Run, SPAN, runs};

/// Columns that are fed in one pass.
pub struct Beside<'b, B> {
    /// Their numbers, and how many rows of each were fed.
    pub columns: Vec<(usize, u64)>,
    pub build: &'b mut B,
    spare: Vec<u8>,
}

impl<'b, B: Build> Beside<'b, B> {
    /// The columns `columns`, of which no row is fed.
    pub fn new(columns: impl Iterator<Item = usize>, build: &'b mut B) -> Self {
        Beside { columns: columns.map(|k| (k, 0)).collect(), build, spare: Vec::new() }
    }

    /// Returns the columns, and the columns of the condition.
    pub fn wanted(&self, chosen: &Chosen<'_>) -> Vec<usize> {
        chosen.some(self.columns.iter().map(|(k, _)| *k))
    }

    /// Feeds the rows of a part that meet the condition. `progress` is called with the number of a column and of its rows that
    /// were read.
    pub fn part(
        &mut self,
        chosen: &Chosen<'_>,
        part: &Part<'_>,
        rows: Run,
        progress: &mut dyn FnMut(usize, u64),
        scratch: &mut Scratch<'_>,
    ) -> Result<(), B::Error> {
        let (mut sieve, mut first) = (chosen.sieve(part, rows.start)?, rows.start);
        while first < rows.end {
            let end = rows.end.min(first.saturating_add(SPAN));
            let kept = runs(&mut sieve, first..end)?;
            for (k, at) in &mut self.columns {
                let spare = std::mem::take(&mut self.spare);
                let mut one = OneColumn { at: *at, spare, ..OneColumn::new(*k, self.build) };
                one.runs(part, &kept, &|| false, scratch)?;
                (*at, self.spare) = (one.at, one.spare);
                progress(*k, end.saturating_sub(first));
            }
            first = end;
        }
        Ok(())
    }
}
