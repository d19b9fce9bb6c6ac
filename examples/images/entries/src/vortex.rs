//! Reading Vortex files.

use pilaster::bytes::{Input, Scratch};
use pilaster::column::{Column as _, Part as _, fit};
use pilaster::error::Result;
use pilaster::limits::Limits;
use pilaster::vortex::File;

use crate::Call;

/// Limits for firmware, because nesting takes stack.
const LIMITS: Limits = Limits { max_depth: 12, ..Limits::SMALL };

/// Counts as a use of the value, whatever it is, so that reading it is not optimised away.
fn used<T>(value: T) -> u32 {
    core::hint::black_box(&value);
    1
}

/// Reads column `kind` of a file batch by batch.
#[inline(never)]
pub fn read(call: Call<'_>) -> Result<u32> {
    let file = File::open_input(Input::whole(call.bytes), None, &LIMITS)?;
    let column = file.part()?.column(call.kind as usize)?;
    let mut scratch = Scratch::new(call.memory);
    let (mut row, mut sum) = (0, 0u32);
    while row < column.rows() {
        let mut inner = scratch.scope();
        let rows = fit(&column, row..column.rows(), inner.room())?;
        let read = column.read(rows, &mut inner)?;
        sum = sum.wrapping_add(used(&read));
        row = row.saturating_add(read.len as u64);
    }
    Ok(sum)
}

/// Verifies a file: its tree, every row, its statistics.
#[inline(never)]
pub fn verify(call: Call<'_>) -> Result<u32> {
    let file = File::open_input(Input::whole(call.bytes), None, &LIMITS)?;
    file.verify(&mut Scratch::new(call.memory))?;
    Ok(file.segments() as u32)
}
