//! `vortex.zigzag`: signed integers as unsigned integers with the sign in the lowest bit.

use super::*;
use crate::column::Prim;
use crate::encoding::integers;

pub(super) const SCHEME: Scheme =
    Scheme { validity: Validity::As(ENCODED), holds: Holds::Values, need: need::children, cells };

/// The only child.
const ENCODED: usize = 0;

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let unsigned = match node.prim()? {
        Prim::I8 => Prim::U8,
        Prim::I16 => Prim::U16,
        Prim::I32 => Prim::U32,
        Prim::I64 => Prim::U64,
        _ => return Err(node.mistyped()),
    };
    node.child_cells((ENCODED, &Ty::prim(unsigned, node.dtype.nullable)), (ask, at), out, cx)?;
    integers::unzigzag(out.again());
    Ok(())
}
