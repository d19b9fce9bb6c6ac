//! `vortex.constant`: the same scalar in every row. This module also reads the rows inside a nested scalar.

use super::*;
use crate::meta::proto::Message;
use crate::vortex::dtype::Shape;
use crate::vortex::scalar::{Scalar, Steps};
use crate::vortex::text;
use crate::vortex::tree::span_value;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Constant,
    need: need::children,
    cells: |node, ask, at, out, cx| value(node)?.cells(ask, at, out, cx),
};

/// The buffer with the scalar, also of `vortex.sparse`.
const SCALAR: usize = 0;

/// Returns the scalar of a constant array, or the scalar of a sparse array for rows without a patch.
pub(in crate::vortex) fn scalar<'f>(node: &Node<'f>) -> Result<Scalar<'f>> {
    let buffer = node.buffer(SCALAR)?;
    Ok(Scalar::new(Message::new_at(buffer.bytes, buffer.at)))
}

/// Returns the scalar as a node with the rows of `node`.
pub(in crate::vortex) fn value<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    node.scalar(&scalar(node)?, &node.dtype)
}

/// Returns whether the scalar of a constant array of booleans is true.
pub(in crate::vortex) fn is_true(node: &Node<'_>) -> Result<bool> {
    Ok(scalar(node)?.cell(Shape::Bool)?.first() == Some(&1))
}

/// Returns the length in bytes of a text scalar.
pub(in crate::vortex) fn text_len(node: &Node<'_>) -> Result<u64> {
    Ok(scalar(node)?.bytes()?.len() as u64)
}

/// Fills `out` with the cells of rows that are all the same scalar.
pub(in crate::vortex) fn scalar_cells(
    node: &Node<'_>,
    scalar: &Scalar<'_>,
    (ask, at): (Ask, u64),
    out: &mut Cells<'_>,
    cx: &mut Context<'_, '_>,
) -> Result<()> {
    match ask {
        Ask::Values => out.fill(&scalar.cell(node.dtype.shape)?),
        Ask::Valid => out.fill(if scalar.is_null()? { &[0; 32] } else { &ONE }),
        Ask::Spans => out.fill(&span_value(text::put_scalar(&node.blob, scalar, cx)?)),
        Ask::Ranges if is_struct(node) => return list::strides(node, 1, at, out),
        Ask::Ranges => out.fill(&span_value(span(0, items_len(node, scalar)?))),
    }
    Ok(())
}

fn is_struct(node: &Node<'_>) -> bool {
    node.dtype.shape.is_struct()
}

/// Returns the number of items of a scalar list. Fails if a fixed-size list has another number than its type, unless it
/// is null.
fn items_len(node: &Node<'_>, scalar: &Scalar<'_>) -> Result<u64> {
    let len = scalar.items()?.len()?;
    match node.dtype.shape {
        Shape::FixedList(size) if !scalar.is_null()? && len != u64::from(size) => {
            Err(node.error(Kind::Invalid, What::VORTEX_SCALAR, len))
        }
        _ => Ok(len),
    }
}

/// Fills `out` with the cells of rows inside a scalar, at the end of `steps`.
pub(in crate::vortex) fn item_cells(
    node: &Node<'_>,
    (scalar, steps): (&Scalar<'_>, Steps),
    (ask, at): (Ask, u64),
    out: &mut Cells<'_>,
    cx: &mut Context<'_, '_>,
) -> Result<()> {
    let ranges = ask == Ask::Ranges;
    if ranges && is_struct(node) {
        return list::strides(node, 1, at, out);
    }
    let (mut before, mut start, mut i) = (at, 0u64, 0usize);
    scalar.each(steps, &mut move |item| {
        // The items of consecutive items are consecutive.
        let len = if ranges { items_len(node, item)? } else { 0 };
        match before.checked_sub(1) {
            Some(fewer) => before = fewer,
            None if i < out.len() => {
                let row = &mut out.part(i, 1);
                if ranges {
                    row.fill(&span_value(span(start, len)));
                } else {
                    scalar_cells(node, item, (ask, at), row, cx)?;
                }
                i = i.saturating_add(1);
            }
            None => return Ok(false),
        }
        start = start.saturating_add(len);
        Ok(true)
    })?;
    Ok(())
}

/// Writes constants.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use crate::vortex::raw::Encoding;
    use crate::vortex::write::{Array, scalar};

    /// The same scalar, a protobuf message, in every row.
    pub fn constant(scalar: Vec<u8>) -> Array {
        Array::new(Encoding::Constant).buffer(scalar, 1)
    }

    /// The same boolean in every row.
    pub fn boolean(value: bool) -> Array {
        constant(scalar::boolean(value))
    }
}
