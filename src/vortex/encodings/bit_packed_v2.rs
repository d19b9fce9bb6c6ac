//! `fastlanes.bitpacked.v2`: integers of a few bits, with a width for each block of 1024 rows, and patches for integers
//! that need more bits.

use super::patches::{PatchSource, Patches};
use super::*;
use crate::bytes::product;
use crate::encoding::fastlanes::{self, BLOCK};
use crate::error::Error;
use crate::vortex::blob::Buffer;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Depends(|node| {
        let (validity, boundaries) = children(node)?;
        Ok(if validity < boundaries { Validity::Child(validity) } else { Validity::All })
    }),
    holds: Holds::Values,
    need: |node, amount, cx| need::with_patches(0, PATCHES, node, amount.at_least(TOGETHER as u64), cx),
    cells,
};

mod child {
    /// The patches. The validity and the boundaries of the blocks follow, each if present.
    pub const PATCHES: usize = 0;
}

mod buffer {
    pub const PACKED: usize = 0;
}

mod field {
    pub const OFFSET: u32 = 1;
    pub const BOUNDARIES_TYPE: u32 = 2;
    pub const PATCHES: u32 = 3;
}

const PATCHES: PatchSource = PatchSource { field: field::PATCHES, first_child: child::PATCHES };

/// Maximum number of boundaries that are read at once.
const TOGETHER: usize = 33;

/// Returns the numbers of the children with the validity and with the boundaries. They are equal if the validity is
/// absent.
fn children(node: &Node<'_>) -> Result<(usize, usize)> {
    let next = Patches::of(node, PATCHES)?.map_or(child::PATCHES, |patches| patches.next_child());
    match node.children()?.checked_sub(next) {
        Some(1) => Ok((next, next)),
        Some(2) => Ok((next, next.saturating_add(1))),
        _ => Err(node.error(Kind::Invalid, What::VORTEX_ARRAY, node.children()? as u64)),
    }
}

struct Blocks<'f> {
    packed: Buffer<'f>,
    /// For each block, the position of its first byte, and the end of the last block. The buffer begins at the first of
    /// them, which is not 0 if blocks were cut off.
    boundaries: Node<'f>,
    /// Number of rows at the start of the first block that were cut off.
    offset: u64,
    /// Size in bytes of a block of integers that have all bits of their type.
    widest: u64,
}

impl<'f> Blocks<'f> {
    fn of(node: &Node<'f>) -> Result<Self> {
        let [offset, boundaries_type] = node.numbers(&[field::OFFSET, field::BOUNDARIES_TYPE])?;
        if offset >= BLOCK as u64 || signed(node.integer(boundaries_type)?) {
            return Err(node.error(Kind::Invalid, What::VORTEX_METADATA, offset));
        }
        let blocks = node.rows.saturating_add(offset).div_ceil(BLOCK as u64);
        let boundaries = node.integers(children(node)?.1, boundaries_type, false, blocks.saturating_add(1))?;
        let widest = product(BLOCK as u64, node.prim()?.size() as u64);
        Ok(Blocks { packed: node.buffer(buffer::PACKED)?, boundaries, offset, widest })
    }

    /// Returns the bytes between two boundaries, and the width of their integers in bits.
    fn block(&self, [first, start, end]: [u64; 3]) -> Result<(&'f [u8], u32)> {
        let bad = |need| Error::needing(Kind::Invalid, What::VORTEX_OFFSETS, self.boundaries.at(), need);
        let size = |len: &u64| len.is_multiple_of(ROW) && *len <= self.widest;
        let len = end.checked_sub(start).filter(size).ok_or_else(|| bad(end))?;
        let start = start.checked_sub(first).ok_or_else(|| bad(start))?;
        let start = usize::try_from(start).map_err(|_| bad(start))?;
        let bytes = self.packed.bytes.get(start..).and_then(|bytes| bytes.get(..usize::try_from(len).ok()?));
        let cut = || Error::needing(Kind::Truncated, What::VORTEX_BUFFER, self.packed.at, end.saturating_sub(first));
        Ok((bytes.ok_or_else(cut)?, narrow(len / ROW)))
    }
}

/// Bytes of a block per bit of width.
const ROW: u64 = (BLOCK / 8) as u64;

/// Returns the number of rows, at least 1, that have no bits and no patch.
pub(in crate::vortex) fn alike(rows: &Rows<'_>, cx: &mut Context<'_, '_>) -> Result<u64> {
    let Blocks { boundaries, offset, .. } = Blocks::of(&rows.node)?;
    let (block, skip) = fastlanes::block_of(rows.at.saturating_add(offset));
    let equal =
        Rows { node: boundaries, at: block, left: boundaries.rows.saturating_sub(block) }.alike(Ask::Values, cx)?;
    let empty = equal.saturating_sub(1).saturating_mul(BLOCK as u64).saturating_sub(skip as u64);
    Ok(empty.min(patches::unpatched(&rows.node, PATCHES, rows.at, cx)?).min(rows.left).max(1))
}

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let Blocks { packed, boundaries, .. } = &Blocks::of(node)?;
    let bad = |need| boundaries.error(Kind::Invalid, What::VORTEX_OFFSETS, need);
    if let Some([first, last]) = checks.ordered(boundaries, false, &bad)?
        && last.saturating_sub(first) != packed.bytes.len() as u64
    {
        return Err(bad(last));
    }
    patches::check(node, PATCHES, &node.dtype.required(), checks)
}

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    prim_cells(node, out)?;
    let blocks = Blocks::of(node)?;
    let base = blocks.boundaries.index(0, cx)?;
    let mut done = 0usize;
    while done < out.len() {
        let row = at.saturating_add(blocks.offset).saturating_add(done as u64);
        let (block, mut skip) = fastlanes::block_of(row);
        let left = skip.saturating_add(out.len()).saturating_sub(done).div_ceil(BLOCK);
        let mut together = [0; TOGETHER];
        let together = together.get_mut(..=left.min(TOGETHER - 1)).unwrap_or_default();
        blocks.boundaries.indices(block, together, cx)?;
        for pair in together.windows(2) {
            let &[start, end] = pair else { break };
            let (bytes, width) = blocks.block([base, start, end])?;
            let len = BLOCK.saturating_sub(skip).min(out.len().saturating_sub(done));
            let moved = |e: Error| e.moved(blocks.packed.at.saturating_add(start.saturating_sub(base)));
            fastlanes::unpack(bytes, width, skip as u64, out.part(done, len)).map_err(moved)?;
            (done, skip) = (done.saturating_add(len), 0);
        }
    }
    patches::apply(node, PATCHES, &node.dtype.required(), at, out, cx)
}
