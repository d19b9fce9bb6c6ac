//! A column of any format as a trait object, so that the code that walks over columns and children is not duplicated
//! per format.

use core::ops::Range;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Column, Type};

use crate::tape::Tape;

/// A column whose batches borrow for `'s`.
pub trait AnyColumn<'s> {
    /// Returns the number of rows.
    fn rows(&self) -> u64;

    /// Returns the type of the column.
    fn ty(&self) -> Type;

    /// Adds `rows` of child `k` to the tape.
    fn child(&self, k: usize, rows: Range<u64>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<()>;

    /// Adds a batch at the start of `rows` to the tape. Returns its number of rows.
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
