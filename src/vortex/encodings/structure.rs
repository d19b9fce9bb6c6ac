//! `vortex.struct`, as an array and as a layout: a child for each field, after a validity child where there is one.

use super::*;
use crate::vortex::scheme::Answer;

pub(super) const SCHEME: Scheme =
    Scheme { validity: Validity::Depends(validity), holds: Holds::Nested(Nested { child, each }), need, cells };

/// The validity, if there is a child more than fields.
const VALIDITY: usize = 0;

/// The child of field 0.
pub(in crate::vortex) fn first_field(node: &Node<'_>) -> Result<usize> {
    let (children, fields) = (node.children()?, node.dtype.children());
    match children.checked_sub(fields) {
        Some(0) => Ok(0),
        Some(1) if node.dtype.nullable => Ok(VALIDITY.saturating_add(1)),
        _ => Err(node.error(Kind::Invalid, What::VORTEX_ROWS, children as u64)),
    }
}

/// A nullable struct of release 0.36 has no validity child: all rows have a value.
pub(in crate::vortex) fn validity(node: &Node<'_>) -> Result<Answer> {
    Ok(if first_field(node)? > VALIDITY { Validity::Child(VALIDITY) } else { Validity::All })
}

/// Field `k`.
pub(in crate::vortex) fn child<'f>(node: &Node<'f>, k: usize, ty: &Ty) -> Result<Node<'f>> {
    node.aligned(first_field(node)?.saturating_add(k), ty)
}

/// Each row has one row of the fields.
pub(in crate::vortex) fn each(_: &Node<'_>) -> Result<Option<u64>> {
    Ok(Some(1))
}

/// Fields are not read with the rows that hold them.
pub(in crate::vortex) fn need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    need::some_children(node, 0..first_field(node)?, amount, cx)
}

pub(in crate::vortex) fn cells(
    node: &Node<'_>,
    _: Ask,
    at: u64,
    out: &mut Cells<'_>,
    _: &mut Context<'_, '_>,
) -> Result<()> {
    list::strides(node, 1, at, out)
}
