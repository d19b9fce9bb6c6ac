//! Columns that several threads read ahead of the thread that writes them.

use std::io;

use pilaster::any::File;
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Build, Column, Feed, Memory, Part as _};
use pilaster::error::{Kind, What};
use pilaster::{Error, Result};

use crate::failure::Failure;
use crate::feed::{Chosen, OneColumn, Part, Shared, WINDOW};
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
        let Some(mut first) = self.pieces()?.next() else { return Ok(false) };
        first.rows.end = first.rows.start.saturating_add(1);
        let mut is_shared = false;
        chosen.walk(Some(&first), &chosen.only(one.k), scratch, &mut |part, rows, _, _| {
            // Nested values are rows of other columns, of the same part.
            is_shared = part.column(one.k)?.ty().children() == 0;
            if is_shared {
                one.open(part)?;
                self.rows(part, one, progress)?;
            }
            Ok::<_, B::Error>(rows.end)
        })?;
        Ok(is_shared)
    }

    fn pieces(&self) -> Result<Pieces<'c>> {
        self.0.pieces().map_err(|failure| match failure {
            Failure::Format(e) => e,
            // Cannot occur: the same pieces were made before.
            _ => Error::new(Kind::Misuse, What::INPUT, 0),
        })
    }

    /// Feeds all rows of a column. `part` is the first part.
    fn rows<B: Build>(
        &self,
        part: &Part<'_>,
        one: &mut OneColumn<'_, B>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), B::Error> {
        let (k, column, name) = (one.k, part.column(one.k)?, part.name(one.k)?);
        let Shared { chosen, threads, memory, .. } = self.0;
        let (mut pieces, mut stopped) = (self.pieces()?, None);
        let ruled_out = |piece: &Piece<'_>| {
            let windows = chosen.windows;
            windows.condition.is_some_and(|condition| piece.is_ruled_out(windows.file, condition))
        };
        let done = in_order(
            threads,
            || pieces.find(|piece| !ruled_out(piece)),
            || Memory::with_len(memory),
            |memory: &mut Result<Memory>, piece: Piece<'_>, pass: &mut Pass<'_, Result<Owned>>| {
                let mut copying = Copying { pass };
                let read = match memory {
                    Ok(memory) => OneColumn::new(k, &mut copying).piece(&chosen, &piece, &mut memory.scratch()),
                    Err(e) => Err(Stop::Read(*e)),
                };
                match read {
                    Err(Stop::Read(e)) => Ok(pass(Err(e))?),
                    Err(Stop::Closed(e)) => Err(e.into()),
                    Ok(()) => Ok(()),
                }
            },
            |batch| {
                let put = || -> Result<(), B::Error> {
                    let batch = batch?;
                    one.build.batch(k, name, one.at, &column, &batch.batch(column)?)?;
                    let rows = batch.len() as u64;
                    one.at = one.at.saturating_add(rows);
                    progress(one.share(rows));
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
    pass: &'c mut Pass<'p, Result<Owned>>,
}

impl Build for Copying<'_, '_> {
    type Error = Stop;

    fn feed(&self) -> Feed {
        Feed::Columns
    }

    fn open(&mut self, _rows: u64) -> Result<(), Stop> {
        Ok(())
    }

    fn batch<C: Column>(&mut self, _: usize, _: &str, _: u64, _: &C, batch: &Batch<'_, C>) -> Result<(), Stop> {
        let mut row = 0;
        while row < batch.len {
            let rest = slice(batch, row..batch.len)?;
            // Nested columns are not shared.
            let Some(owned) = Owned::of(&rest, PIECE)? else { return Err(wrong_type(batch.first).into()) };
            row = row.saturating_add(owned.len());
            (self.pass)(Ok(owned)).map_err(Stop::Closed)?;
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
