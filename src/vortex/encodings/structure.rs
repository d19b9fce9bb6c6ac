//! `vortex.struct`, as an array and as a layout: one child per field, preceded by the validity child if present.

use super::*;
use crate::vortex::scheme::Answer;

pub(super) const SCHEME: Scheme =
    Scheme { validity: Validity::Depends(validity), holds: Holds::Nested(Nested { child, each }), need, cells };

/// The validity, present if there is one more child than fields.
const VALIDITY: usize = 0;

/// Returns the number of the child for field 0.
pub(in crate::vortex) fn first_field(node: &Node<'_>) -> Result<usize> {
    let (children, fields) = (node.children()?, node.dtype.children());
    match children.checked_sub(fields) {
        Some(0) => Ok(0),
        Some(1) if node.dtype.nullable => Ok(VALIDITY.saturating_add(1)),
        _ => Err(node.error(Kind::Invalid, What::VORTEX_ROWS, children as u64)),
    }
}

/// Returns the location of the validity. A nullable struct of release 0.36 has no validity child: all rows have a
/// value.
pub(in crate::vortex) fn validity(node: &Node<'_>) -> Result<Answer> {
    Ok(if first_field(node)? > VALIDITY { Validity::Child(VALIDITY) } else { Validity::All })
}

/// Returns the child for field `k`.
pub(in crate::vortex) fn child<'f>(node: &Node<'f>, k: usize, ty: &Ty) -> Result<Node<'f>> {
    node.aligned(first_field(node)?.saturating_add(k), ty)
}

/// Returns 1: each row has one row of each field.
pub(in crate::vortex) fn each(_: &Node<'_>) -> Result<Option<u64>> {
    Ok(Some(1))
}

/// Returns the bytes for the validity child. Fields are not read together with the rows of the struct.
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

/// Writes structs.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// One array per field.
    pub fn structure(fields: Vec<Array>, valid: Option<Array>) -> Array {
        fields.into_iter().fold(Array::new(Encoding::Struct).child(valid), |all, field| all.child(field))
    }
}
