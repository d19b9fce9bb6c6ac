//! A column of any format, behind one table of functions: what walks over columns and their children is there once.

use core::ops::Range;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Column, Type};

use crate::tape::Tape;

/// A column whose batches live as long as `'s`.
pub trait AnyColumn<'s> {
    /// How many rows.
    fn rows(&self) -> u64;

    /// What they mean.
    fn ty(&self) -> Type;

    /// Puts `rows` of child `k` on the tape.
    fn child(&self, k: usize, rows: Range<u64>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<()>;

    /// Puts a batch of `rows` on the tape; gives back how many they are.
    fn batch(&self, rows: Range<u64>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<usize>;
}

impl<'s, C: Column + 's> AnyColumn<'s> for C {
    fn rows(&self) -> u64 {
        Column::rows(self)
    }

    fn ty(&self) -> Type {
        Column::ty(self)
    }

    fn child(&self, k: usize, rows: Range<u64>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<()> {
        tape.child(&Column::child(self, k)?, rows, scratch)
    }

    fn batch(&self, rows: Range<u64>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<usize> {
        let batch = self.read(rows, scratch)?;
        tape.batch(batch.first, batch.len, &batch.values, &batch.validity, &batch.of, scratch)?;
        Ok(batch.len)
    }
}
