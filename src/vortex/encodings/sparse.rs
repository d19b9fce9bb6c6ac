//! `vortex.sparse`: one scalar in every row, except for rows with a patch.

use super::patches::{PatchSource, Patches};
use super::*;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Patched,
    need: |node, amount, cx| need::with_patches(0, PATCHES, node, amount, cx),
    cells,
};

mod child {
    /// The patches; there is no other child.
    pub const PATCHES: usize = 0;
}

mod field {
    pub const PATCHES: u32 = 1;
}

const PATCHES: PatchSource = PatchSource { field: field::PATCHES, first_child: child::PATCHES };

fn patches<'n, 'f>(node: &'n Node<'f>) -> Result<Patches<'n, 'f>> {
    let missing = || node.error(Kind::Invalid, What::VORTEX_METADATA, field::PATCHES.into());
    Patches::of(node, PATCHES)?.ok_or_else(missing)
}

/// Returns the values of the patches.
pub(in crate::vortex) fn values<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    patches(node)?.values(&node.dtype)
}

/// Whether row `row` has a patch.
pub(in crate::vortex) fn is_patched(node: &Node<'_>, row: u64, cx: &mut Context<'_, '_>) -> Result<bool> {
    Ok(patches(node)?.run_at(row, cx)?.1.is_ok())
}

/// Checks the patches, and what the fill value holds.
pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    checks.scalar(node)?;
    patches(node)?.check(&node.dtype, checks)
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let fill = constant::scalar(node)?;
    // The patches below replace the fill value. Ranges into two different lists do not meet here: `Rows::concrete`
    // and `Rows::unbroken` cut the rows into runs that all have a patch or all have none, unless the fill is null.
    if ask == Ask::Ranges && fill.is_null()? {
        out.fill(&[0; 32]);
    } else {
        node.scalar(&fill, &node.dtype)?.cells(ask, at, out, cx)?;
    }
    patches(node)?.apply(&node.dtype, (ask, at), out, cx)
}

/// Returns the node that stores the first of the rows: the values of the patches, or the scalar. Items of nested rows
/// are in the same node.
pub(in crate::vortex) fn part<'f>(rows: &Rows<'f>, cx: &mut Context<'_, '_>) -> Result<Rows<'f>> {
    let node = &rows.node;
    Ok(match patches(node)?.run_at(rows.at, cx)? {
        (first, Ok(patched)) => Rows { node: values(node)?, at: first, left: rows.left.min(patched) },
        (_, Err(unpatched)) => Rows { node: constant::value(node)?, at: rows.at, left: rows.left.min(unpatched) },
    })
}

/// Writes rows of which most are the same.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use super::field;
    use crate::meta::proto::write::Writer;
    use crate::vortex::encodings::patches::write::Patches;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// A scalar in every row without a patch.
    pub fn sparse(fill: Vec<u8>, patches: Patches) -> Array {
        let mut message = Writer::default();
        message.bytes(field::PATCHES, &patches.message());
        let array = Array::new(Encoding::Sparse).buffer(fill, 1).message(&mut message);
        array.child(patches.indices).child(patches.values)
    }
}
