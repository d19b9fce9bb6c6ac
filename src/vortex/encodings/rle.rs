//! `fastlanes.rle`: values and one index per row, in blocks of 1024 rows.

use super::lookup::{Lookup, SMALL};
use super::*;
use crate::encoding::fastlanes::{BLOCK, block_of};

pub(super) const SCHEME: Scheme = Scheme { validity: Validity::Decoded, holds: Holds::Values, need, cells };

mod child {
    pub const VALUES: usize = 0;
    pub const INDICES: usize = 1;
    /// The index of the first value of each block.
    pub const STARTS: usize = 2;
}

mod field {
    pub const VALUES_LEN: u32 = 1;
    pub const INDICES_LEN: u32 = 2;
    pub const INDICES_TYPE: u32 = 3;
    pub const STARTS_LEN: u32 = 4;
    pub const STARTS_TYPE: u32 = 5;
    pub const OFFSET: u32 = 6;
}

struct Metadata {
    values_len: u64,
    indices_len: u64,
    indices_type: u64,
    starts_len: u64,
    starts_type: u64,
    /// Number of rows at the start of the first block that were cut off.
    offset: u64,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [values_len, indices_len, indices_type, starts_len, starts_type, offset] = node.numbers(&[
            field::VALUES_LEN,
            field::INDICES_LEN,
            field::INDICES_TYPE,
            field::STARTS_LEN,
            field::STARTS_TYPE,
            field::OFFSET,
        ])?;
        if offset >= BLOCK as u64 {
            return Err(node.error(Kind::Invalid, What::VORTEX_METADATA, offset));
        }
        Ok(Metadata { values_len, indices_len, indices_type, starts_len, starts_type, offset })
    }
}

fn need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    let block = BLOCK as u64;
    let own = need::piece(block.min(amount.rows), 4).wrapping_add(need::piece(block.max(SMALL), amount.width));
    need::with_children(own, node, amount, cx)
}

/// Checks indices and starts, and reads all values.
pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let Metadata { values_len, indices_len, indices_type, starts_len, starts_type, .. } = Metadata::of(node)?;
    checks.node(&node.integers(child::INDICES, indices_type, node.dtype.nullable, indices_len)?, false)?;
    checks.node(&node.integers(child::STARTS, starts_type, false, starts_len)?, false)?;
    checks.whole(&node.child(child::VALUES, &node.dtype.required(), values_len)?)
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Metadata { values_len, indices_len, indices_type, starts_len, starts_type, offset } = Metadata::of(node)?;
    let indices = &node.integers(child::INDICES, indices_type, node.dtype.nullable, indices_len)?;
    let first = at.saturating_add(offset);
    if ask == Ask::Valid {
        return indices.cells(ask, first, out, cx);
    }
    let values = &node.child(child::VALUES, &node.dtype.required(), values_len)?;
    let starts = &node.integers(child::STARTS, starts_type, false, starts_len)?;
    let bad = |need| node.error(Kind::Invalid, What::VORTEX_METADATA, need);
    let origin = starts.index(0, cx)?;
    let start_of = |block: u64, cx: &mut Context<'_, '_>| -> Result<u64> {
        if block == starts_len {
            return Ok(values_len);
        }
        let at = starts.index(block, cx)?;
        at.checked_sub(origin).filter(|at| *at <= values_len).ok_or_else(|| bad(at))
    };
    let mut done = 0usize;
    while done < out.len() {
        let row = first.saturating_add(done as u64);
        let (block, skip) = block_of(row);
        let len = BLOCK.saturating_sub(skip).min(out.len().saturating_sub(done));
        let (start, end) = (start_of(block, cx)?, start_of(block.saturating_add(1), cx)?);
        let count = end.checked_sub(start).ok_or_else(|| bad(end))?;
        let mut t = cx.scope();
        let numbers = t.take::<u32>(len)?;
        indices.indices32(row, numbers, &mut t)?;
        if count == 1 {
            numbers.fill(0);
        }
        let lookup = Lookup { codes: indices, at: row, values, first: start, count };
        lookup.cells(ask, numbers, &mut out.part(done, len), &mut t)?;
        done = done.saturating_add(len);
    }
    Ok(())
}

/// Writes runs of blocks.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::field;
    use crate::column::Prim;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// The values of all runs, the run of each row in its block, and the first run of each block. Each has its number of
    /// rows, for the indices a multiple of 1,024.
    pub fn runs(
        (values, values_len): (Array, usize),
        ((indices, indices_prim), indices_len): ((Array, Prim), usize),
        ((starts, starts_prim), starts_len): ((Array, Prim), usize),
    ) -> Array {
        let number = |prim: Prim| u64::from(number_of_prim(prim));
        let mut message = Writer::default();
        message.uint(field::VALUES_LEN, values_len as u64).uint(field::INDICES_LEN, indices_len as u64);
        message.some(field::INDICES_TYPE, number(indices_prim)).uint(field::STARTS_LEN, starts_len as u64);
        message.some(field::STARTS_TYPE, number(starts_prim)).uint(field::OFFSET, 0);
        Array::new(Encoding::Rle).message(&mut message).child(values).child(indices).child(starts)
    }
}
