//! Several columns that are fed to a builder in one pass. A part of a DataSeries file is an extent, which unpacks all columns:
//! with a pass for each column, each extent would be unpacked that often.

use pilaster::any::File;
use pilaster::bytes::Scratch;
use pilaster::column::{Build, Part as _};

use crate::ahead::Ahead;
use crate::feed::{Chosen, OneColumn, Part, Run, SPAN, runs};

/// Size in bytes of the memory that a builder may keep for the columns of a pass.
const MEMORY: u64 = 12 << 20;

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

/// Feeds all columns to `build`, in each pass as many as its memory allows. Returns false, and does nothing, if that saves no
/// work, or if the builder takes one column in a pass. `progress` is called with numbers of rows, whose sum is the number of
/// rows of all columns.
pub fn feed<B: Build>(
    chosen: &Chosen<'_>,
    ahead: Option<&Ahead<'_>>,
    build: &mut B,
    progress: &mut dyn FnMut(u64),
    scratch: &mut Scratch<'_>,
) -> Result<bool, B::Error> {
    let width = chosen.columns.numbers.len();
    if width < 2 || !matches!(chosen.windows.file, File::DataSeries(_)) {
        return Ok(false);
    }
    let mut passes = Vec::new();
    let mut takes_all = true;
    chosen.first_part(scratch, &mut |part| {
        for k in 0..width {
            let column = part.column(k)?;
            passes.push(build.passes(&column).max(1));
            takes_all &= build.beside(k, &column).is_some();
        }
        Ok::<_, B::Error>(())
    })?;
    if passes.is_empty() || !takes_all {
        return Ok(false);
    }
    // Columns of one pass wait for the last pass of the others.
    for left in (1..=passes.iter().copied().max().unwrap_or(1)).rev() {
        let mut next = passes.iter().enumerate().filter(|(_, passes)| **passes >= left).map(|(k, _)| k).peekable();
        while next.peek().is_some() {
            let (mut set, mut memory) = (Vec::new(), 0u64);
            chosen.first_part(scratch, &mut |part| {
                build.open(part.rows())?;
                while let Some(k) = next.peek() {
                    memory = memory.saturating_add(build.beside(*k, &part.column(*k)?).unwrap_or(MEMORY));
                    if memory > MEMORY && !set.is_empty() {
                        break;
                    }
                    set.extend(next.next());
                }
                Ok::<_, B::Error>(())
            })?;
            let mut share = |k: usize, rows: u64| {
                progress(rows.checked_div(passes.get(k).copied().unwrap_or(1).into()).unwrap_or(0));
            };
            pass(chosen, ahead, Beside::new(set.into_iter(), build), &mut share, scratch)?;
            build.close()?;
        }
    }
    Ok(true)
}

/// Feeds all rows of some columns.
fn pass<B: Build>(
    chosen: &Chosen<'_>,
    ahead: Option<&Ahead<'_>>,
    mut columns: Beside<'_, B>,
    progress: &mut dyn FnMut(usize, u64),
    scratch: &mut Scratch<'_>,
) -> Result<(), B::Error> {
    let is_shared = match ahead {
        Some(ahead) => ahead.feed_beside(&mut columns, progress, scratch)?,
        None => false,
    };
    if !is_shared {
        chosen.walk(None, &columns.wanted(chosen), scratch, &mut |part, rows, _, scratch| {
            columns.part(chosen, part, rows.clone(), progress, scratch)?;
            Ok::<_, B::Error>(rows.end)
        })?;
    }
    let Beside { columns, build, .. } = columns;
    let without = columns.iter().filter(|(_, rows)| *rows == 0);
    without.map(|(k, _)| *k).try_for_each(|k| crate::conversion::nothing(chosen, k, build, scratch))
}
