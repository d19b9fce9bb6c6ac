//! `vortex.zigzag`: signed integers as unsigned integers with the sign in the lowest bit.

use super::*;
use crate::column::Prim;
use crate::encoding::integers;

pub(super) const SCHEME: Scheme =
    Scheme { validity: Validity::As(ENCODED), holds: Holds::Values, need: need::children, cells };

/// The only child.
const ENCODED: usize = 0;

/// The unsigned integers.
fn encoded<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    let unsigned = match node.prim()? {
        Prim::I8 => Prim::U8,
        Prim::I16 => Prim::U16,
        Prim::I32 => Prim::U32,
        Prim::I64 => Prim::U64,
        _ => return Err(node.mistyped()),
    };
    node.aligned(ENCODED, &Ty::prim(unsigned, node.dtype.nullable))
}

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    checks.node(&encoded(node)?, false)
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    encoded(node)?.cells(ask, at, out, cx)?;
    integers::unzigzag(out.again());
    Ok(())
}

/// Writes integers with the sign in the lowest bit.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Signed integers as the unsigned ones of `encoded`.
    pub fn zigzag(encoded: Array) -> Array {
        Array::new(Encoding::ZigZag).child(encoded)
    }
}
