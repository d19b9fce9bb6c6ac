//! Columns that several threads read ahead of the thread that writes them.

use std::io;

use pilaster::any::File;
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Build, Column, Feed, Memory, Part as _};
use pilaster::error::{Kind, What};
use pilaster::{Error, Result};

use crate::beside::Beside;
use crate::failure::Failure;
use crate::feed::{Chosen, OneColumn, Part, Shared, WINDOW, format_of};
use crate::owned::Owned;
use crate::pieces::{Piece, Pieces};
use crate::slice::slice;
use crate::threads::{PIECE, Pass, RESULT, Threads, in_order};

/// Minimum number of rows in a piece.
const ROWS: u64 = 1 << 16;

/// Minimum number of rows in a piece if few of them may meet a condition, see [`Pieces::widen`].
const SOME_ROWS: u64 = 1 << 18;

/// A table whose columns several threads read.
pub struct Ahead<'c>(Shared<'c>);

impl<'c> Ahead<'c> {
    /// Prepares threads for a table, each with `memory` bytes for a part and its batches. `None` if one thread is better.
    pub fn new(chosen: Chosen<'c>, threads: Threads, memory: usize) -> Option<Self> {
        // The columns of the other formats are hardly more than read from the file. Chunks of datasets are decoded as fast as
        // their rows are copied: with two threads, conversions took the same time and 1.5 times the work.
        if !matches!(chosen.windows.file, File::DataSeries(_) | File::Vortex(_)) {
            return None;
        }
        let step = if chosen.windows.condition.is_some() { SOME_ROWS } else { ROWS };
        // The threads that encode chunks take as much memory.
        let memory = (memory, RESULT.saturating_add(WINDOW).saturating_add(memory as u64));
        Shared::new(chosen, threads, memory, step, 2).map(Ahead)
    }

    /// Announces the column and feeds all of its rows. Returns false, and does nothing, for a column that one thread must
    /// read.
    pub fn feed<B: Build>(
        &self,
        one: &mut OneColumn<'_, B>,
        progress: &mut dyn FnMut(u64),
        scratch: &mut Scratch<'_>,
    ) -> Result<bool, B::Error> {
        let Shared { chosen, .. } = self.0;
        let mut is_shared = false;
        chosen.first_part(scratch, &mut |part| {
            is_shared = is_flat(part, one.k)?;
            if is_shared {
                one.open(part)?;
                let (passes, pass) = (one.passes, one.pass);
                let mut columns = Beside::new(core::iter::once(one.k), one.build);
                let share = |rows| crate::feed::share(passes, pass, rows);
                self.rows(part, &mut columns, &mut |_, rows| progress(share(rows)))?;
                one.at = columns.columns.first().map_or(0, |(_, at)| *at);
            }
            Ok::<_, B::Error>(())
        })?;
        Ok(is_shared)
    }

    /// Feeds all rows of some columns. Returns false, and does nothing, for columns that one thread must read.
    pub fn feed_beside<B: Build>(
        &self,
        columns: &mut Beside<'_, B>,
        progress: &mut dyn FnMut(usize, u64),
        scratch: &mut Scratch<'_>,
    ) -> Result<bool, B::Error> {
        let mut is_shared = false;
        self.0.chosen.first_part(scratch, &mut |part| {
            is_shared = true;
            for (k, _) in &columns.columns {
                is_shared &= is_flat(part, *k)?;
            }
            if is_shared { self.rows(part, columns, progress) } else { Ok(()) }
        })?;
        Ok(is_shared)
    }

    fn pieces(&self) -> Result<Pieces<'c>> {
        self.0.pieces().map_err(format_of)
    }

    /// Feeds all rows of some columns. `part` is the first part.
    fn rows<B: Build>(
        &self,
        part: &Part<'_>,
        columns: &mut Beside<'_, B>,
        progress: &mut dyn FnMut(usize, u64),
    ) -> Result<(), B::Error> {
        let Shared { chosen, threads, memory, .. } = self.0;
        let numbers: Vec<usize> = columns.columns.iter().map(|(k, _)| *k).collect();
        let (mut pieces, mut stopped) = (self.pieces()?, None);
        let ruled_out = |piece: &Piece<'_>| {
            let windows = chosen.windows;
            windows.condition.is_some_and(|condition| piece.is_ruled_out(windows.file, condition))
        };
        let done = in_order(
            threads,
            || pieces.find(|piece| !ruled_out(piece)),
            || Memory::with_len(memory),
            |memory: &mut Result<Memory>, piece: Piece<'_>, pass: &mut Pass<'_, Result<Copied>>| {
                let mut copying = Copying { pass };
                let read = match memory {
                    Ok(memory) => copying.piece(&chosen, &numbers, &piece, &mut memory.scratch()),
                    Err(e) => Err(Stop::Read(*e)),
                };
                match read {
                    Err(Stop::Read(e)) => Ok(pass(Err(e))?),
                    Err(Stop::Closed(e)) => Err(e.into()),
                    Ok(()) => Ok(()),
                }
            },
            |copied| {
                let put = || -> Result<(), B::Error> {
                    let (k, batch) = copied?;
                    let fed = columns.columns.iter_mut().find(|(number, _)| *number == k);
                    let (_, at) = fed.ok_or_else(|| wrong_type(0))?;
                    let column = part.column(k)?;
                    columns.build.batch(k, part.name(k)?, *at, &column, &batch.batch(column)?)?;
                    let rows = batch.len() as u64;
                    *at = at.saturating_add(rows);
                    progress(k, rows);
                    Ok(())
                };
                put().map_err(|e| {
                    stopped = Some(e);
                    Failure::Printed
                })
            },
        );
        match (stopped, done) {
            (Some(e), _) => Err(e),
            (None, Ok(())) => Ok(()),
            // Cannot occur: threads pass their errors on as results.
            (None, Err(_)) => Err(Error::new(Kind::Misuse, What::INPUT, 0).into()),
        }
    }
}

/// The number of a column, and a batch of it.
type Copied = (usize, Owned);

/// Returns whether a column of a part has no nested values, which are rows of other columns of the same part.
fn is_flat(part: &Part<'_>, k: usize) -> Result<bool> {
    Ok(part.column(k)?.ty().children() == 0)
}

/// Why a thread stops reading.
enum Stop {
    Read(Error),
    /// The rows before were refused.
    Closed(io::Error),
}

impl From<Error> for Stop {
    fn from(e: Error) -> Self {
        Stop::Read(e)
    }
}

/// Passes copies of batches to the thread that writes them.
struct Copying<'c, 'p> {
    pass: &'c mut Pass<'p, Result<Copied>>,
}

impl Copying<'_, '_> {
    /// Passes on the rows of a piece.
    fn piece(
        &mut self,
        chosen: &Chosen<'_>,
        columns: &[usize],
        piece: &Piece<'_>,
        scratch: &mut Scratch<'_>,
    ) -> Result<(), Stop> {
        if let [k] = columns {
            return OneColumn::new(*k, self).piece(chosen, piece, scratch);
        }
        let mut beside = Beside::new(columns.iter().copied(), self);
        chosen.walk(Some(piece), &beside.wanted(chosen), scratch, &mut |part, rows, _, scratch| {
            beside.part(chosen, part, rows.clone(), &mut |_, _| {}, scratch)?;
            Ok::<_, Stop>(rows.end)
        })
    }
}

impl Build for Copying<'_, '_> {
    type Error = Stop;

    fn feed(&self) -> Feed {
        Feed::Columns
    }

    fn open(&mut self, _rows: u64) -> Result<(), Stop> {
        Ok(())
    }

    fn batch<C: Column>(&mut self, k: usize, _: &str, _: u64, _: &C, batch: &Batch<'_, C>) -> Result<(), Stop> {
        let mut row = 0;
        while row < batch.len {
            let rest = slice(batch, row..batch.len)?;
            // Nested columns are not shared.
            let Some(owned) = Owned::of(&rest, PIECE)? else { return Err(wrong_type(batch.first).into()) };
            row = row.saturating_add(owned.len());
            (self.pass)(Ok((k, owned))).map_err(Stop::Closed)?;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Stop> {
        Ok(())
    }
}

fn wrong_type(row: u64) -> Error {
    Error::new(Kind::WrongType, What::COLUMN, row)
}
