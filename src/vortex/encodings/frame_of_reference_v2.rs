//! `fastlanes.for.v2`: differences from a reference value, with a reference for each block of 1024 rows.

use super::*;
use crate::encoding::fastlanes::{self, BLOCK};
use crate::encoding::integers;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::As(child::ENCODED),
    holds: Holds::Values,
    need: |node, amount, cx| need::children(node, amount.at_least(TOGETHER as u64), cx),
    cells,
};

mod child {
    pub const ENCODED: usize = 0;
    /// One integer per block.
    pub const REFERENCES: usize = 1;
}

mod field {
    /// Number of rows at the start of the first block that were cut off.
    pub const OFFSET: u32 = 1;
}

/// Maximum number of references that are read at once.
const TOGETHER: usize = 32;

fn offset(node: &Node<'_>) -> Result<u64> {
    match node.numbers(&[field::OFFSET])? {
        [offset] if offset < BLOCK as u64 => Ok(offset),
        [offset] => Err(node.error(Kind::Invalid, What::VORTEX_METADATA, offset)),
    }
}

fn references<'f>(node: &Node<'f>, offset: u64) -> Result<Node<'f>> {
    let blocks = node.rows.saturating_add(offset).div_ceil(BLOCK as u64);
    node.child(child::REFERENCES, &node.dtype.required(), blocks)
}

/// Returns the number of rows that have the same reference.
pub(in crate::vortex) fn left_in_block(rows: &Rows<'_>) -> Result<u64> {
    let (_, skip) = fastlanes::block_of(rows.at.saturating_add(offset(&rows.node)?));
    Ok(rows.left.min(BLOCK.saturating_sub(skip) as u64))
}

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    checks.node(&node.aligned(child::ENCODED, &node.dtype)?, false)?;
    checks.node(&references(node, offset(node)?)?, false)
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    node.child_cells((child::ENCODED, &node.dtype), (ask, at), out, cx)?;
    prim_cells(node, out)?;
    let offset = offset(node)?;
    let references = references(node, offset)?;
    let mut done = 0usize;
    while done < out.len() {
        let (block, mut skip) = fastlanes::block_of(at.saturating_add(offset).saturating_add(done as u64));
        let left = skip.saturating_add(out.len()).saturating_sub(done).div_ceil(BLOCK);
        let mut together = [0; TOGETHER];
        let together = together.get_mut(..left.min(TOGETHER)).unwrap_or_default();
        references.indices(block, together, cx)?;
        for reference in together {
            let len = BLOCK.saturating_sub(skip).min(out.len().saturating_sub(done));
            integers::add(*reference, out.part(done, len));
            (done, skip) = (done.saturating_add(len), 0);
        }
    }
    Ok(())
}
