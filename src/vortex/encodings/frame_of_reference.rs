//! `fastlanes.for`: differences from a reference value. The metadata is the reference value.

use super::*;
use crate::encoding::integers;
use crate::vortex::scalar::Scalar;

pub(super) const SCHEME: Scheme =
    Scheme { validity: Validity::As(ENCODED), holds: Holds::Values, need: need::children, cells };

/// The only child.
const ENCODED: usize = 0;

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    node.child_cells((ENCODED, &node.dtype), (ask, at), out, cx)?;
    prim_cells(node, out)?;
    integers::add(Scalar::new(node.metadata()?).integer(node.prim()?)?, out.again());
    Ok(())
}
