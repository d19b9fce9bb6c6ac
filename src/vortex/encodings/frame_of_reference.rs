//! `fastlanes.for`: differences from a reference value. The metadata is the reference value.

use super::*;
use crate::encoding::integers;
use crate::vortex::scalar::Scalar;

pub(super) const SCHEME: Scheme =
    Scheme { validity: Validity::As(ENCODED), holds: Holds::Values, need: need::children, cells };

/// The only child.
const ENCODED: usize = 0;

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    checks.node(&node.aligned(ENCODED, &node.dtype)?, false)
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    node.child_cells((ENCODED, &node.dtype), (ask, at), out, cx)?;
    prim_cells(node, out)?;
    integers::add(Scalar::new(node.metadata()?).integer(node.prim()?)?, out.again());
    Ok(())
}

/// Writes differences from a reference.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Differences from a reference, which is a scalar of the type of the rows.
    pub fn differences(reference: Vec<u8>, encoded: Array) -> Array {
        Array::new(Encoding::For).metadata(reference).child(encoded)
    }
}
