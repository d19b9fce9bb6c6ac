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
