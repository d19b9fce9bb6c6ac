//! Expansion of null-compacted records (section 8.6).

use super::cells;
use crate::bytes::{FAST, Scratch};
use crate::dataseries::layout::Bit;
use crate::dataseries::types::{ExtentType, FieldRecord};
use crate::error::{Error, Kind, Result, What};

/// A cell of a compacted record, which is stored only if it is not null.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Step {
    at: u32,
    null_at: u32,
    /// 0 for a field that is not nullable.
    null_mask: u8,
    /// The number of the bit in `null_mask`.
    null_shift: u8,
    /// Size of the cell in bytes.
    size: u8,
    zero: u8,
}

/// Returns the scratch size in bytes that [`expand`] takes for a type.
pub(super) fn need(ty: &ExtentType<'_>) -> u64 {
    Scratch::cost::<Step>(ty.records().len() as u64)
}

/// Expands the `compacted` stream into `records`. The stream must be used up exactly.
pub(super) fn expand(
    compacted: &[u8],
    ty: &ExtentType<'_>,
    records: &mut [u8],
    scratch: &mut Scratch<'_>,
) -> Result<()> {
    // Within a group, cells are in declaration order, which is also their order in the record. Cells of size 4 are two
    // groups: int32, then variable32.
    let steps = scratch.take::<Step>(ty.records().len())?;
    let (mut count, mut ends) = (0usize, [0; 4]);
    for ((group, cell), end) in (1..).zip(&[1, 4, 4, 8]).zip(&mut ends) {
        for field in ty.records().iter().filter(|field| field.ty().group() == group) {
            if let Some(step) = steps.get_mut(count) {
                *step = Step::of(field, *cell);
            }
            count = count.wrapping_add(1);
        }
        *end = count;
    }
    let steps = steps.get(..count).unwrap_or_default();

    let prefix = ty.layout().compact_prefix() as usize;
    let mut from = Stream { bytes: compacted, at: 0 };
    records.fill(0);
    let size = ty.record_len().max(1);
    let done = if FAST { from.records(records, size, prefix, steps, ends) } else { 0 };
    let records = records.get_mut(done.saturating_mul(size)..).unwrap_or_default();
    for record in cells::each_mut(records, size) {
        let whole = from.bytes.get(from.at..).and_then(|rest| rest.get(..prefix));
        let (Some(whole), Some(to)) = (whole, record.get_mut(..prefix)) else { return Err(from.ends(prefix)) };
        to.copy_from_slice(whole);
        from.at = from.at.saturating_add(prefix);
        from.record(steps, record)?;
    }
    match compacted.len().checked_sub(from.at) {
        Some(0) => Ok(()),
        left => {
            let left = left.unwrap_or_default() as u64;
            Err(Error::needing(Kind::Trailing, What::DATASERIES_FIXED, from.at as u64, left))
        }
    }
}

impl Step {
    #[allow(clippy::cast_possible_truncation, reason = "a mask has eight bits")]
    fn of(field: &FieldRecord, size: u8) -> Step {
        let null = field.null().unwrap_or(Bit { at: 0, mask: 0 });
        let null_shift = null.mask.trailing_zeros() as u8;
        Step { at: field.slot().at, null_at: null.at, null_mask: null.mask, null_shift, size, zero: 0 }
    }
}

/// Copies bytes. `cold` keeps it a separate call: otherwise the compiler merges the two arms of the branch before it
/// into one call.
#[cold]
fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

struct Stream<'c> {
    bytes: &'c [u8],
    at: usize,
}

impl Stream<'_> {
    /// Expands the records except for some near the end of the stream. Returns their number. Whether a cell is null is
    /// unpredictable, and a branch on it would be mispredicted half of the time, so this loop has no such branch.
    fn records(&mut self, records: &mut [u8], size: usize, prefix: usize, steps: &[Step], ends: [usize; 4]) -> usize {
        let [small, _, fours, _] = ends;
        let (rest, eights) = steps.split_at_checked(fours).unwrap_or_default();
        let (ones, fours) = rest.split_at_checked(small).unwrap_or_default();
        let stream = Stream { bytes: self.bytes, at: 0 };
        let (mut at, mut done) = (self.at, 0usize);
        for record in records.chunks_exact_mut(size) {
            let mut whole = || {
                let (to, from) = (record.get_mut(..prefix)?, stream.bytes.get(at..)?.get(..prefix)?);
                match (to, from) {
                    ([to], [from]) => *to = *from,
                    (to, from) => copy(to, from),
                }
                let at = stream.cells::<1>(at.wrapping_add(prefix), ones, record)?;
                let at = stream.cells::<4>(at, fours, record)?;
                stream.cells::<8>(at, eights, record)
            };
            let Some(next) = whole() else { break };
            at = next;
            done = done.wrapping_add(1);
        }
        self.at = at;
        done
    }

    fn cells<const N: usize>(&self, mut at: usize, steps: &[Step], record: &mut [u8]) -> Option<usize> {
        for step in steps {
            // 1 or 0, computed in a form that the compiler does not convert to a branch.
            let null = u32::from(record.get(step.null_at as usize)? & step.null_mask) >> (step.null_shift & 31);
            let there = (null as usize).wrapping_sub(1);
            let from = at.wrapping_add(N.wrapping_sub(1)) & !N.wrapping_sub(1);
            let mut cell = *self.bytes.get(from..)?.first_chunk::<N>()?;
            let [mask, ..] = there.to_ne_bytes();
            for byte in &mut cell {
                *byte &= mask;
            }
            *record.get_mut(step.at as usize..)?.first_chunk_mut::<N>()? = cell;
            at = at.wrapping_add(from.wrapping_add(N).wrapping_sub(at) & there);
        }
        Some(at)
    }

    /// Copies the cells that are not null. Each stored cell begins at a multiple of its size: the first one of a group
    /// after padding, the others because all cells of a group have the same size.
    fn record(&mut self, steps: &[Step], record: &mut [u8]) -> Result<()> {
        for step in steps {
            if record.get(step.null_at as usize).is_some_and(|byte| byte & step.null_mask != 0) {
                continue;
            }
            let n = usize::from(step.size);
            let at = self.at.wrapping_add(n.wrapping_sub(1)) & !n.wrapping_sub(1);
            let from = self.bytes.get(at..).and_then(|rest| rest.get(..n));
            let to = record.get_mut(step.at as usize..).and_then(|rest| rest.get_mut(..n));
            let (Some(from), Some(to)) = (from, to) else { return Err(self.ends(n)) };
            for (to, from) in to.iter_mut().zip(from) {
                *to = *from;
            }
            self.at = at.wrapping_add(n);
        }
        Ok(())
    }

    #[cold]
    fn ends(&self, n: usize) -> Error {
        Error::needing(Kind::Truncated, What::DATASERIES_FIXED, self.at as u64, n as u64)
    }
}
