//! Upper bounds of the scratch memory that a read takes for its temporaries.

use core::ops::Range;

use super::context::Context;
use super::encodings::patches::{PatchSource, Patches};
use super::node::Node;
use crate::bytes::FAST;
use crate::error::Result;

/// Upper bound of the bytes lost to alignment per allocation.
pub(super) const SLACK: u64 = 64;

/// Counts are saturated at this number: no memory holds more, and sums of several sizes do not overflow.
pub(super) const MOST: u64 = 1 << 48;

/// Rows to be read.
#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub(super) rows: u64,
    /// Size of a cell in bytes, at least 8: lengths, offsets and indices are always read as words of 8 bytes.
    pub(super) width: u64,
    /// The first of the rows, if it is known. Chunks without any of the rows then need not be looked at.
    pub(super) at: Option<u64>,
}

impl Amount {
    /// Returns whether one of the rows may be in `chunk`.
    pub(super) fn may_be_in(self, chunk: &Range<u64>) -> bool {
        self.at.is_none_or(|at| at < chunk.end && chunk.start < at.saturating_add(self.rows))
    }

    /// Returns the amount for the same cells and at most `rows` rows.
    pub(super) fn at_most(self, rows: u64) -> Self {
        Amount { rows: self.rows.min(rows), ..self }
    }

    /// Returns the amount for the same cells and at least `rows` rows.
    pub(super) fn at_least(self, rows: u64) -> Self {
        Amount { rows: self.rows.max(rows), ..self }
    }
}

/// Returns the bytes of an allocation of `count` values of `size` bytes, at most 40, with alignment.
pub(super) fn piece(count: u64, size: u64) -> u64 {
    count.min(MOST).wrapping_mul(size).wrapping_add(SLACK)
}

/// Returns the bytes for `count` cells and one index per cell.
pub(super) fn indexed(count: u64, width: u64) -> u64 {
    piece(count, width.wrapping_add(8)).wrapping_add(SLACK)
}

/// Returns `own` bytes plus the bytes for the patches in `place` and for all children.
pub(super) fn with_patches(
    own: u64,
    place: PatchSource,
    node: &Node<'_>,
    amount: Amount,
    cx: &mut Context<'_, '_>,
) -> Result<u64> {
    let patches = Patches::of(node, place)?;
    let mut own =
        patches.map_or(own, |patches| own.saturating_add(indexed(amount.rows.min(patches.len()), amount.width)));
    if let Some(patches) = patches
        && FAST
    {
        own = own.saturating_add(patches.indices()?.search_need());
    }
    with_children(own, node, amount, cx)
}

/// Returns the bytes for all children.
pub(super) fn children(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    some_children(node, 0..node.children()?, amount, cx)
}

/// Returns `own` bytes plus the bytes for all children.
pub(super) fn with_children(own: u64, node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    Ok(own.saturating_add(children(node, amount, cx)?))
}

/// Returns `own` bytes plus the bytes for the child that takes the most, for children that are decoded consecutively, in the
/// same scratch memory. The sum of all children, which is an upper bound too, takes less flash.
pub(super) fn with_largest_child(own: u64, node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    if !FAST {
        return with_children(own, node, amount, cx);
    }
    Ok(own.saturating_add(joined(node, 0..node.children()?, amount, cx, u64::max)?))
}

/// Returns the bytes for some of the children.
pub(super) fn some_children(
    node: &Node<'_>,
    children: Range<usize>,
    amount: Amount,
    cx: &mut Context<'_, '_>,
) -> Result<u64> {
    joined(node, children, amount, cx, u64::saturating_add)
}

/// Joins the bytes for some of the children.
fn joined(
    node: &Node<'_>,
    children: Range<usize>,
    amount: Amount,
    cx: &mut Context<'_, '_>,
    join: fn(u64, u64) -> u64,
) -> Result<u64> {
    let (mut all, amount) = (0u64, Amount { at: None, ..amount });
    for k in children {
        // The type of the child does not matter here, only its encoding.
        all = join(all, node.child(k, &node.dtype, u64::MAX)?.temporaries(amount, cx)?);
    }
    Ok(all)
}

/// Returns 0, for encodings without temporaries.
pub(super) fn nothing(_: &Node<'_>, _: Amount, _: &mut Context<'_, '_>) -> Result<u64> {
    Ok(0)
}

impl Node<'_> {
    /// Returns an upper bound of the bytes that reading some rows takes besides their own cells.
    pub(super) fn temporaries(&self, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
        cx.spend(self.at())?;
        let amount = Amount { rows: amount.rows.min(self.rows).clamp(1, MOST), width: amount.width.max(8), ..amount };
        self.scheme().map_or(Ok(0), |scheme| (scheme.need)(self, amount, cx))
    }
}
