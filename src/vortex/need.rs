//! How much scratch memory a read takes for its temporaries: an upper bound.

use core::ops::Range;

use super::context::Context;
use super::encodings::patches::{Patches, Place};
use super::node::Node;
use crate::error::Result;

/// What alignment may cost with each piece taken, in bytes.
pub(super) const SLACK: u64 = 64;

/// Larger counts are taken for this one: no memory holds as many, and sums of some pieces do not overflow.
pub(super) const MOST: u64 = 1 << 48;

/// Rows to be read.
#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub(super) rows: u64,
    /// Bytes of a cell, at least 8: lengths, offsets and indices are read as words whatever is asked for.
    pub(super) width: u64,
}

impl Amount {
    /// Returns the amount for the same cells and at least `rows` rows.
    pub(super) fn at_least(self, rows: u64) -> Self {
        Amount { rows: self.rows.max(rows), ..self }
    }
}

/// Bytes of `count` values of up to 40 bytes, wherever they begin.
pub(super) fn piece(count: u64, size: u64) -> u64 {
    count.min(MOST).wrapping_mul(size).wrapping_add(SLACK)
}

/// Bytes for some cells and as many indices.
pub(super) fn indexed(count: u64, width: u64) -> u64 {
    piece(count, width.wrapping_add(8)).wrapping_add(SLACK)
}

/// `own` bytes, those for the patches in `place`, and those for all children.
pub(super) fn with_patches(
    own: u64,
    place: Place,
    node: &Node<'_>,
    amount: Amount,
    cx: &mut Context<'_, '_>,
) -> Result<u64> {
    let patches = Patches::of(node, place)?;
    let own = patches.map_or(own, |patches| own.saturating_add(indexed(amount.rows.min(patches.len()), amount.width)));
    with_children(own, node, amount, cx)
}

/// Bytes for all children.
pub(super) fn children(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    some_children(node, 0..node.children()?, amount, cx)
}

/// `own` bytes, and those for all children.
pub(super) fn with_children(own: u64, node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    Ok(own.saturating_add(children(node, amount, cx)?))
}

/// Bytes for some of the children.
pub(super) fn some_children(
    node: &Node<'_>,
    children: Range<usize>,
    amount: Amount,
    cx: &mut Context<'_, '_>,
) -> Result<u64> {
    let mut sum = 0u64;
    for k in children {
        // What the child means does not matter here, only what it is made of.
        sum = sum.saturating_add(node.child(k, &node.dtype, u64::MAX)?.temporaries(amount, cx)?);
    }
    Ok(sum)
}

/// Bytes for nothing.
pub(super) fn nothing(_: &Node<'_>, _: Amount, _: &mut Context<'_, '_>) -> Result<u64> {
    Ok(0)
}

impl Node<'_> {
    /// An upper bound of the bytes that reading some rows takes besides their own cells.
    pub(super) fn temporaries(&self, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
        cx.spend(self.at())?;
        let amount = Amount { rows: amount.rows.min(self.rows).clamp(1, MOST), width: amount.width.max(8) };
        self.scheme().map_or(Ok(0), |scheme| (scheme.need)(self, amount, cx))
    }
}
