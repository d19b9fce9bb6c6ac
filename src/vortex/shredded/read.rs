//! Batches of values that are put together. A batch ends before the first row that exceeds the budget of the call or the
//! memory, so that whether a row can be read does not depend on the rows before it.

use super::build::Part;
use super::size::{need, sizes, too_large};
use crate::bytes::Scratch;
use crate::column::{Spans, VarBytes};
use crate::error::{Error, Kind, Result, What};
use crate::vortex::context::{ASIDE, Call, Context};
use crate::vortex::dtype::Shape;
use crate::vortex::kept::{Kept, Size};
use crate::vortex::measuring::{MOST_MEMORY, Measuring, no_memory};
use crate::vortex::need::{Amount, SLACK};
use crate::vortex::node::Node;

/// Size in bytes of values from which no more rows are measured. A text under Zstandard counts with its frame if it is not
/// kept.
const ENOUGH: u64 = 1 << 20;

/// Returns the scratch bytes for the first of `len` rows starting at `at`, without their spans, and how many rows those
/// are.
///
/// The parts are read for this, within the budget `shared` if there is one. Offsets, codes and validity in some encodings
/// require memory: a little is on the stack, more of it, such as a frame of Zstandard, on the heap. Rows that require more
/// than there is are [`Kind::Limit`] in `What::VORTEX_MEASURING`, and can be read nevertheless. For one row, the memory is
/// what reading it requires; for more, also what is kept for the next rows.
pub(in crate::vortex) fn measure(
    node: &Node<'_>,
    at: u64,
    len: usize,
    shared: Option<&mut Measuring>,
) -> Result<(u64, usize)> {
    let mut own = Measuring::new(node.file);
    let is_own = shared.is_none();
    let measuring = shared.unwrap_or(&mut own);
    let (temporaries, mut keep) = memory_of(node, &mut measuring.call)?;
    if is_own {
        measuring.call = Call::new(node.file, 1);
    }
    if len == 1 {
        keep = keep.of_one_row();
    }
    // Rows can be read in less memory if nothing is kept.
    if temporaries.saturating_add(keep.cost()) > MOST_MEMORY {
        keep = Size::default();
    }
    let memory = temporaries.saturating_add(keep.cost());
    measuring.with_memory((memory, node.at()), |call, mut scratch| {
        let (mut bytes, mut rows) = (0, 0usize);
        let kept = if scratch.room() as u64 >= memory { keep.take(&mut scratch)? } else { Kept::default() };
        let mut cx = Context::new(call, scratch);
        cx.kept = kept;
        let measured = sizes(node, at..at.saturating_add(len as u64), &mut cx, &mut |sum| {
            if rows == 0 || sum <= ENOUGH {
                (bytes, rows) = (sum, rows.saturating_add(1));
            }
            sum < ENOUGH
        });
        match measured {
            // This memory is not the caller's.
            Err(e) if rows == 0 && e.kind() == Kind::NoRoom => Err(no_memory(node.at())),
            // The next batch finds the error, if it is not the sum that is too large.
            Err(e) if rows == 0 => Err(e),
            _ if bytes > MOST => Err(too_large(node, bytes)),
            _ => Ok((bytes.saturating_add(memory).saturating_add(SLACK), rows)),
        }
    })
}

/// Maximum number of bytes of the values of a batch: spans have 32 bits.
const MOST: u64 = u32::MAX as u64;

/// Returns the scratch bytes for reading the parts of one row, and the size of what is kept for the next rows.
fn memory_of(node: &Node<'_>, call: &mut Call) -> Result<(u64, Size)> {
    let amount = Amount { rows: 1, width: 16, at: None };
    let (temporaries, keep) = call.both(
        |call| need(node, amount, &mut Context::new(call, Scratch::new(&mut [0; ASIDE]))),
        // This also visits children that reading ignores.
        |call| Size::of(node, &mut Context::new(call, Scratch::new(&mut [0; ASIDE]))),
    )?;
    Ok((temporaries.saturating_add(SLACK), keep))
}

impl<'f> Node<'f> {
    /// Returns whether the rows are parts of variants that are put together. Those of a scalar are not.
    pub(in crate::vortex) const fn is_put_together(&self) -> bool {
        matches!(self.dtype.shape, Shape::VariantPart { .. }) && self.encoding().is_some()
    }

    /// Returns the first of `len` values or metadata starting at `at`, and how many those are.
    pub(in crate::vortex) fn put_together<'s>(
        &self,
        at: u64,
        len: usize,
        cx: &mut Context<'_, 's>,
    ) -> Result<(VarBytes<'s>, usize)>
    where
        'f: 's,
    {
        let cells = cx.take::<u64>(len)?;
        let (temporaries, keep) = memory_of(self, &mut Call::new(self.file, 1))?;
        let (used, done) = match self.put_into(at, cells, (temporaries, keep), cx) {
            // Rows can be read in less memory if nothing is kept.
            Err(e) if e.kind() == Kind::NoRoom && !keep.is_none() => {
                match self.put_into(at, cells, (temporaries, Size::default()), cx) {
                    // It takes too long without: more memory helps.
                    Err(again) if again.kind() == Kind::Limit => return Err(e),
                    put => put?,
                }
            }
            put => put?,
        };
        // These are the bytes of the arena, which was taken from the same memory.
        let data = cx.take::<u8>(used)?;
        let cells = cells.get(..done).unwrap_or_default();
        Ok((VarBytes { data, spans: Spans::Each(bytemuck::cast_slice::<u64, [u32; 2]>(cells)) }, done))
    }

    /// Puts rows together at the start of the scratch memory. Returns the number of bytes and of rows.
    fn put_into(
        &self,
        at: u64,
        cells: &mut [u64],
        (temporaries, keep): (u64, Size),
        cx: &mut Context<'_, '_>,
    ) -> Result<(usize, usize)> {
        let mut scratch = cx.scratch.scope();
        let others = temporaries.saturating_add(keep.cost());
        let room = (scratch.room() as u64).saturating_sub(others).min(MOST);
        // At most as much as there is.
        let arena = scratch.take::<u8>(crate::bytes::saturated(room))?;
        let mut kept = keep.take(&mut scratch)?;
        // The first row has all of the budget and enough memory, so that its errors are errors of the file.
        let mut first = 0;
        if !cells.is_empty() {
            let mut call = Call::new(self.file, 1);
            let mut own = Context::new(&mut call, scratch.scope());
            own.kept = kept.again();
            sizes(self, at..at.saturating_add(1), &mut own, &mut |sum| {
                first = sum;
                false
            })?;
        }
        if first > MOST {
            return Err(too_large(self, first));
        }
        if first > room {
            return Err(Error::needing(Kind::NoRoom, What::SCRATCH, 0, first.saturating_add(others)));
        }
        let mut call = Call::new(self.file, 1);
        let mut copying = Context::new(&mut call, scratch);
        copying.kept = kept;
        copying.copy_texts_to(arena);
        let done = Part::of(self)?.rows(at, cells, &mut copying)?;
        Ok((copying.used().unwrap_or(0), done))
    }
}
