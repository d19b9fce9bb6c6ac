//! `fastlanes.delta`: differences from the previous integer of the lane, in blocks of 1024 rows. A block is always
//! decoded as a whole.

use super::*;
use crate::bytes::{FAST, product, saturated};
use crate::encoding::fastlanes::{self, BLOCK};

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Depends(|node| {
        let absent = node.children()? <= child::VALIDITY;
        Ok(if absent { Validity::Decoded } else { Validity::Child(child::VALIDITY) })
    }),
    holds: Holds::Values,
    need: |node, amount, cx| {
        let block = BLOCK as u64;
        let own = need::piece(block.wrapping_mul(2).wrapping_add(128), amount.width).wrapping_add(2 * need::SLACK);
        need::with_children(own, node, amount.at_least(block), cx)
    },
    cells,
};

mod child {
    /// The first integers of each block, one per lane.
    pub const BASES: usize = 0;
    pub const DELTAS: usize = 1;
    pub const VALIDITY: usize = 2;
}

mod field {
    pub const DELTAS_LEN: u32 = 1;
    pub const OFFSET: u32 = 2;
}

struct Metadata {
    deltas_len: u64,
    /// Number of rows at the start of the first block that were cut off.
    offset: u64,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [deltas_len, offset] = node.numbers(&[field::DELTAS_LEN, field::OFFSET])?;
        if offset >= BLOCK as u64 || !deltas_len.is_multiple_of(BLOCK as u64) {
            return Err(node.error(Kind::Invalid, What::VORTEX_METADATA, offset));
        }
        Ok(Metadata { deltas_len, offset })
    }
}

/// Number of bitmap rows whose counting costs as much as a node.
const ROWS_PER_NODE: u64 = 1 << 14;

/// Bases and deltas of cells of `width` bytes.
fn children<'f>(node: &Node<'f>, width: usize, deltas_len: u64) -> Result<[Node<'f>; 2]> {
    let bases_len = product(fastlanes::block_of(deltas_len).0, fastlanes::lanes(width) as u64);
    // Old forms have nullable children; whether a null is in them is asked elsewhere.
    let dtype = node.dtype.required();
    Ok([node.child(child::BASES, &dtype, bases_len)?, node.child(child::DELTAS, &dtype, deltas_len)?])
}

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let children = &children(node, node.prim()?.size(), Metadata::of(node)?.deltas_len)?;
    children.iter().try_for_each(|child| checks.node(child, false))
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Metadata { deltas_len, offset } = Metadata::of(node)?;
    if ask == Ask::Valid {
        no_nulls(node, deltas_len, cx)?;
        out.fill(&ONE);
        return Ok(());
    }
    prim_cells(node, out)?;
    let width = out.width();
    let lanes = fastlanes::lanes(width);
    let [bases, deltas] = &children(node, width, deltas_len)?;
    let first = at.saturating_add(offset);
    let mut done = 0usize;
    while done < out.len() {
        let row = first.saturating_add(done as u64);
        let (block, skip) = fastlanes::block_of(row);
        let len = BLOCK.saturating_sub(skip).min(out.len().saturating_sub(done));
        let mut t = cx.scope();
        let mut base = t.take_cells(width, lanes)?;
        bases.cells(Ask::Values, product(block, lanes as u64), &mut base, &mut t)?;
        let mut delta = t.take_cells(width, BLOCK)?;
        deltas.cells(Ask::Values, block.saturating_mul(BLOCK as u64), &mut delta, &mut t)?;
        if len == BLOCK {
            fastlanes::undelta(&mut base, &mut delta, &mut out.part(done, len))?;
        } else {
            let mut values = t.take_cells(width, BLOCK)?;
            fastlanes::undelta(&mut base, &mut delta, &mut values)?;
            let (mut to, mut from) = (out.part(done, len), values.part(skip, len));
            for (to, byte) in to.bytes_mut().iter_mut().zip(from.bytes_mut()) {
                *to = *byte;
            }
        }
        done = done.saturating_add(len);
    }
    Ok(())
}

/// Returns an error if a delta is null. Releases up to 0.75 stored nullable deltas instead of a validity child; such an
/// array can be read only if no row is null.
#[cold]
fn no_nulls(node: &Node<'_>, deltas_len: u64, cx: &mut Context<'_, '_>) -> Result<()> {
    let deltas = &node.child(child::DELTAS, &node.dtype, deltas_len)?;
    if FAST {
        cx.spend_many(deltas_len / ROWS_PER_NODE, node.at())?;
        // An error is found again below.
        if deltas.all_valid(0, saturated(deltas_len), cx).unwrap_or(false) {
            return Ok(());
        }
    }
    let mut row = 0u64;
    let mut valid = [0; 64];
    while row < deltas_len {
        let count = saturated(deltas_len.saturating_sub(row)).min(64);
        let valid = valid.get_mut(..count).unwrap_or_default();
        deltas.cells(Ask::Valid, row, &mut Cells::W1(valid), cx)?;
        if valid.iter().fold(1, |all, valid| all & *valid) == 0 {
            return Err(node.undecoded());
        }
        row = row.saturating_add(64);
    }
    Ok(())
}
