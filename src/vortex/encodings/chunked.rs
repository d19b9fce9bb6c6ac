//! `vortex.chunked`: the concatenated rows of several children.

use super::*;
use crate::bytes::saturated;
use crate::column::Prim;

pub(super) const SCHEME: Scheme =
    Scheme { validity: Validity::Decoded, holds: Holds::Chunks(chunk), need: need::children, cells };

mod child {
    /// The first row of each chunk, followed by the end of the last chunk.
    pub const OFFSETS: usize = 0;
    /// The first chunk; the others follow.
    pub const CHUNKS: usize = 1;
}

/// Returns the rows in the chunk that stores the first of them.
fn chunk<'f>(rows: &Rows<'f>, cx: &mut Context<'_, '_>) -> Result<Rows<'f>> {
    let node = &rows.node;
    let bad = |need| node.error(Kind::Invalid, What::VORTEX_CHUNKS, need);
    let count = node.children()?.saturating_sub(child::CHUNKS) as u64;
    let offsets = &node.child(child::OFFSETS, &Ty::prim(Prim::U64, false), count.saturating_add(1))?;
    let after = offsets.first_above(rows.at, cx)?;
    let k = after.checked_sub(1).filter(|k| *k < count).ok_or_else(|| bad(after))?;
    let [first, end] = offsets.ends(k, 1, cx)?;
    if first > end || end > node.rows {
        return Err(bad(end));
    }
    rows.in_chunk(saturated(k).saturating_add(child::CHUNKS), first, end)
}

/// Checks all chunks, and that their offsets are in order.
pub(super) fn check(node: &Node<'_>, top: bool, checks: &mut Checks<'_, '_>) -> Result<()> {
    let bad = |need| node.error(Kind::Invalid, What::VORTEX_CHUNKS, need);
    let count = node.children()?.saturating_sub(child::CHUNKS);
    let offsets = &node.child(child::OFFSETS, &Ty::prim(Prim::U64, false), (count as u64).saturating_add(1))?;
    checks.ordered(offsets, false, &bad)?;
    if node.dtype.shape.is_text() {
        // Texts of several chunks are read in one way or another, whatever rows are asked for.
        checks.read(node.file, &mut |cx| node.plan(0, saturated(node.rows), cx).map(drop))?;
    }
    let mut at = 0;
    while at < node.rows {
        let chunk = &mut None;
        checks.read(node.file, &mut |cx| {
            *chunk = Some(node.chunk_at(at, usize::MAX, cx)?);
            Ok(())
        })?;
        let Some(rows) = chunk else { return Ok(()) };
        checks.node(&rows.node, top)?;
        at = at.saturating_add(rows.left.max(1));
    }
    Ok(())
}

/// Fills `out` chunk by chunk. Also used by chunked layouts.
pub(in crate::vortex) fn cells(
    node: &Node<'_>,
    ask: Ask,
    at: u64,
    out: &mut Cells<'_>,
    cx: &mut Context<'_, '_>,
) -> Result<()> {
    let mut done = 0usize;
    while done < out.len() {
        let rows = node.chunk_at(at.saturating_add(done as u64), out.len().saturating_sub(done), cx)?;
        let len = saturated(rows.left);
        rows.node.cells(ask, rows.at, &mut out.part(done, len), cx)?;
        done = done.saturating_add(len);
    }
    Ok(())
}
