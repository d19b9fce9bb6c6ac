//! `fastlanes.rle`: values and one index per row, in blocks of 1024 rows.

use super::lookup::{Lookup, SMALL};
use super::*;
use crate::bytes::FAST;
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

/// The position of the first value of each block.
struct Starts<'f> {
    indices: Node<'f>,
    /// The index of the first value.
    origin: u64,
    values_len: u64,
}

impl<'f> Starts<'f> {
    fn of(node: &Node<'f>, metadata: &Metadata, cx: &mut Context<'_, '_>) -> Result<Self> {
        let indices = node.integers(child::STARTS, metadata.starts_type, false, metadata.starts_len)?;
        Ok(Starts { origin: indices.index(0, cx)?, indices, values_len: metadata.values_len })
    }

    /// Returns the number of the first value of a block, or the number of values for the block after the last one.
    fn value(&self, block: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
        if block == self.indices.rows {
            return Ok(self.values_len);
        }
        let index = self.indices.index(block, cx)?;
        let value = index.checked_sub(self.origin).filter(|value| *value <= self.values_len);
        value.ok_or_else(|| self.indices.error(Kind::Invalid, What::VORTEX_METADATA, index))
    }

    /// Returns the first value of a block and the number of values in it.
    fn block(&self, block: u64, cx: &mut Context<'_, '_>) -> Result<(u64, u64)> {
        let (start, end) = (self.value(block, cx)?, self.value(block.saturating_add(1), cx)?);
        let count = end.checked_sub(start);
        Ok((start, count.ok_or_else(|| self.indices.error(Kind::Invalid, What::VORTEX_METADATA, end))?))
    }
}

fn need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    // A few rows may select values that are far apart, which are read together.
    let all = amount.at_least(SMALL);
    let rows = all.rows.min(BLOCK as u64);
    let mut values = rows;
    // No more values are decoded at once than a block with some of the rows has.
    if FAST && let Some(most) = amount.at.and_then(|at| most_values(node, at, amount.rows, cx).ok()) {
        values = values.min(most);
    }
    let own = need::piece(rows, 4).wrapping_add(need::piece(values, amount.width));
    need::with_children(own, node, all, cx)
}

/// Returns the number of values of the block with the most values, of the blocks with `rows` rows starting at `at`.
fn most_values(node: &Node<'_>, at: u64, rows: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
    let metadata = &Metadata::of(node)?;
    let first = at.saturating_add(metadata.offset);
    let last = first.saturating_add(rows.saturating_sub(1));
    let (starts, mut most) = (Starts::of(node, metadata, cx)?, 0);
    for block in block_of(first).0..=block_of(last).0 {
        most = starts.block(block, cx)?.1.max(most);
    }
    Ok(most)
}

/// Checks indices and starts, and reads all values.
pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let Metadata { values_len, indices_len, indices_type, starts_len, starts_type, .. } = Metadata::of(node)?;
    checks.node(&node.integers(child::INDICES, indices_type, node.dtype.nullable, indices_len)?, false)?;
    checks.node(&node.integers(child::STARTS, starts_type, false, starts_len)?, false)?;
    checks.whole(&node.child(child::VALUES, &node.dtype.required(), values_len)?)
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let metadata = &Metadata::of(node)?;
    let indices = &node.integers(child::INDICES, metadata.indices_type, node.dtype.nullable, metadata.indices_len)?;
    let first = at.saturating_add(metadata.offset);
    if ask == Ask::Valid {
        return indices.cells(ask, first, out, cx);
    }
    let values = &node.child(child::VALUES, &node.dtype.required(), metadata.values_len)?;
    let (starts, mut done) = (Starts::of(node, metadata, cx)?, 0usize);
    while done < out.len() {
        let row = first.saturating_add(done as u64);
        let (block, skip) = block_of(row);
        let len = BLOCK.saturating_sub(skip).min(out.len().saturating_sub(done));
        let (start, count) = starts.block(block, cx)?;
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
