//! The parts of a table, one after the other, for commands that read all rows in bounded memory.

use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Part as _, Table as _};

use crate::failure::Failure;
use crate::feed::{Chosen, Each, Windows};
use crate::open;
use crate::walk::batches;

/// Maximum number of rows that are read before the bytes that were fetched for them may be released.
pub const STEP: u64 = 1 << 17;

/// A table that passes its parts to a function, from the first one at every call.
pub trait Parts {
    /// Passes each part to `each`, with the rows to read, and a function that returns whether the fetched bytes
    /// should be released: then `each` may stop, and returns the row to continue with. `scratch` holds one part.
    fn each(&self, scratch: &mut Scratch<'_>, each: &mut Each<'_, Failure>) -> Result<(), Failure>;
}

impl Parts for Chosen<'_> {
    fn each(&self, scratch: &mut Scratch<'_>, each: &mut Each<'_, Failure>) -> Result<(), Failure> {
        let Windows { input, file, table, .. } = self.windows;
        if input.dataset().is_none() {
            return self.walk(None, &self.columns.numbers, scratch, each);
        }
        // The table of a dataset knows which of its files an error is about.
        let mut table = open::table(file, table)?;
        table.choose(Some(&self.columns.numbers));
        loop {
            let mut scope = scratch.scope();
            let done = match table.next_part(&mut scope) {
                Ok(Some(part)) => each(&self.columns.of(part), 0..part.rows(), &|| false, &mut scope).map(|_| ()),
                Ok(None) => return Ok(()),
                Err(e) => Err(e.into()),
            };
            done.map_err(|failure| open::which(failure, &table))?;
        }
    }
}

/// Passes the rows of a column to `each`, starting at `row`, until `full` returns true. Returns the row to continue with.
pub fn rows<C: Column>(
    column: &C,
    mut row: u64,
    full: &dyn Fn() -> bool,
    mut each: impl FnMut(&Batch<'_, C>) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    while row < column.rows() {
        let end = column.rows().min(row.saturating_add(STEP));
        batches(column, row..end, &mut each)?;
        row = end;
        if full() {
            break;
        }
    }
    Ok(row)
}
