//! Upper bounds of the scratch memory that a read takes for its temporaries.

use core::ops::Range;

use super::context::Context;
use super::dtype::Shape;
use super::encodings::patches::{PatchSource, Patches};
use super::node::Node;
use super::raw::Encoding;
use super::scheme::{Answer, Holds};
use super::text::Plan;
use crate::bytes::{FAST, saturated};
use crate::error::Result;

/// Upper bound of the bytes lost to alignment per allocation.
pub(super) const SLACK: u64 = 64;

/// Counts are saturated at this number: no memory holds more, and sums of several sizes do not overflow.
pub(super) const MOST: u64 = 1 << 48;

/// Rows to be read.
#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub(super) rows: u64,
    /// Size of a cell in bytes. Lengths, offsets and indices are read as words of 8 bytes; in small builds it is at least 8.
    pub(super) width: u64,
    /// The first of the rows, if it is known. Chunks without any of the rows then need not be looked at.
    pub(super) at: Option<u64>,
}

impl Amount {
    /// Returns the amount for the rows in a chunk with rows `chunk`; `None` if it has none of the rows.
    pub(super) fn of(self, chunk: &Range<u64>) -> Option<Self> {
        let may_be_in = self.at.is_none_or(|at| at < chunk.end && chunk.start < at.saturating_add(self.rows));
        if !may_be_in {
            return None;
        }
        let (Some(at), true) = (self.at, FAST) else { return Some(self) };
        let (from, end) = (at.max(chunk.start), at.saturating_add(self.rows).min(chunk.end));
        Some(Amount { rows: end.saturating_sub(from), at: from.checked_sub(chunk.start), ..self })
    }

    /// Returns the amount for the same cells and at most `rows` rows.
    pub(super) fn at_most(self, rows: u64) -> Self {
        Amount { rows: self.rows.min(rows), ..self }
    }

    /// Returns the amount for cells of at least 8 bytes. In small builds all have this size.
    pub(super) fn in_words(self) -> Self {
        if !FAST {
            return self;
        }
        Amount { width: self.width.max(8), ..self }
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
    let mut own = own;
    if let Some(patches) = Patches::of(node, place)? {
        let mut count = amount.rows.min(patches.len());
        if FAST {
            own = own.saturating_add(patches.indices()?.search_need());
            let found = amount.at.and_then(|at| patches.between(at, amount.rows, cx));
            count = found.map_or(count, |found| count.min(found));
        }
        own = own.saturating_add(indexed(count, amount.width));
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

/// Returns the bytes for some of the children, which are decoded consecutively in the same scratch memory: the bytes for the
/// child that takes the most. Small builds count all of them, as they do not tell the children apart.
pub(super) fn some_children(
    node: &Node<'_>,
    children: Range<usize>,
    amount: Amount,
    cx: &mut Context<'_, '_>,
) -> Result<u64> {
    let mut all = 0u64;
    for k in children {
        let (same, texts) = if FAST { role(node, k)? } else { (false, true) };
        let amount = if same { amount } else { Amount { at: None, ..amount.in_words() } };
        // The type of the child does not matter here, only its encoding.
        let child = node.child(k, &node.dtype, u64::MAX)?;
        let own = match texts {
            true => child.temporaries(amount, cx)?,
            false => child.temporaries(amount, &mut cx.without_texts())?,
        };
        all = if FAST { all.max(own) } else { all.saturating_add(own) };
    }
    Ok(all)
}

/// Returns whether child `k` has the same rows as the node, in cells of the same size, and whether it may store the texts of a
/// node of texts. Other children are indices, offsets and the like.
fn role(node: &Node<'_>, k: usize) -> Result<(bool, bool)> {
    let Some(scheme) = node.scheme() else { return Ok((false, true)) };
    let same = matches!(node.validity_of(scheme.validity)?, Answer::As(of) if of == k);
    Ok(match scheme.holds {
        Holds::Wrapped(_) if k == 0 => (true, true),
        // A layout is asked for one chunk with its own rows. Any chunk of an array may have the rows.
        Holds::Chunks(_) => (node.layout().is_some(), true),
        // The values of runs, and of patches, follow their places.
        Holds::Picked(..) | Holds::Patched => (same, k == 1),
        _ => (same, same),
    })
}

/// Returns 0, for encodings without temporaries.
pub(super) fn nothing(_: &Node<'_>, _: Amount, _: &mut Context<'_, '_>) -> Result<u64> {
    Ok(0)
}

impl Node<'_> {
    /// Returns an upper bound of the bytes that reading some rows takes besides their own cells.
    pub(super) fn temporaries(&self, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
        cx.spend(self.at())?;
        let width = if FAST { amount.width } else { amount.width.max(8) };
        let amount = Amount { rows: amount.rows.min(self.rows).clamp(1, MOST), width, ..amount };
        self.scheme().map_or(Ok(0), |scheme| (scheme.need)(self, amount, cx))
    }
}

/// The scratch bytes of one step of a read.
#[derive(Clone, Copy, Default)]
struct Step {
    /// Bytes of the result.
    kept: u64,
    /// Bytes of temporaries, which are free again for the next step.
    freed: u64,
}

// A read decodes the values of some rows, and then their validity.
impl Node<'_> {
    /// Returns an upper bound of the scratch bytes that [`values`](Self::values) and [`valid_rows`](Self::valid_rows) take
    /// for `rows` rows starting at `at`, consecutively.
    pub(super) fn read_need(&self, shape: Shape, at: u64, rows: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
        if let Shape::Null = shape {
            return Ok(0);
        }
        // The plan for texts, which is made for the values, does not concern the validity.
        let validity = match self.decoded_validity(at, saturated(rows), cx)? {
            Some(node) => node.packed_step(at, rows, cx)?,
            None => Step::default(),
        };
        let values = self.values_step(shape, at, rows, cx)?;
        Ok(values.kept.saturating_add(values.freed.max(validity.kept.saturating_add(validity.freed))))
    }

    fn values_step(&self, shape: Shape, at: u64, rows: u64, cx: &mut Context<'_, '_>) -> Result<Step> {
        let (len, mut kept, mut width) = (saturated(rows), 0, 8);
        match shape {
            Shape::Null | Shape::Other => return Ok(Step::default()),
            Shape::Bool if self.encoding() == Some(Encoding::Bool) => return Ok(Step::default()),
            Shape::Bool => return self.packed_step(at, rows, cx),
            Shape::Prim(prim) if self.borrowed(prim, at, len)?.is_some() => return Ok(Step::default()),
            Shape::Prim(prim) => width = prim.size() as u64,
            Shape::Decimal { .. } => width = self.dtype.cell().ok_or_else(|| self.mistyped())? as u64,
            shape if shape.is_text() => {
                if let Plan::Copied(bound) = self.plan(at, len, cx)? {
                    kept = bound;
                    cx.copy_texts_to(&mut []);
                }
            }
            _ if self.stride()?.is_some() => return Ok(Step::default()),
            _ => {}
        }
        let freed = self.temporaries(Amount { rows, width, at: Some(at) }, cx)?;
        Ok(Step { kept: piece(rows, width).saturating_add(kept), freed })
    }

    /// Returns the bytes for one bit per row, of cells of one byte.
    fn packed_step(&self, at: u64, rows: u64, cx: &mut Context<'_, '_>) -> Result<Step> {
        let freed = self.temporaries(Amount { rows, width: 1, at: Some(at) }, cx)?.saturating_add(piece(rows, 1));
        Ok(Step { kept: piece(rows.div_ceil(8), 1), freed })
    }
}
