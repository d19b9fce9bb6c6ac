//! Lists with offsets, with offsets and sizes, and of a fixed size.

use super::*;
use crate::bytes::{checked_product, product};
use crate::vortex::dtype::Shape;

/// `vortex.list`: row `i` has the elements from offset `i` to offset `i + 1`.
pub(super) const LIST: Scheme = Scheme {
    validity: Validity::Child(list_child::VALIDITY),
    holds: Holds::Nested(Nested { child: elements, each: |_| Ok(None) }),
    need: need_without_elements,
    cells: |node, _, at, out, cx| {
        let Metadata { elements_len, offsets_type } = Metadata::of(node)?;
        between(node, &node.offsets(list_child::OFFSETS, offsets_type)?, elements_len, (at, out), cx)
    },
};

/// `vortex.listview`: an offset and a size per row, in any order.
pub(super) const LIST_VIEW: Scheme = Scheme {
    validity: Validity::Child(list_view_child::VALIDITY),
    holds: Holds::Nested(Nested { child: elements, each: |_| Ok(None) }),
    need: |node, amount, cx| Ok(need::piece(amount.rows, 8).saturating_add(need_without_elements(node, amount, cx)?)),
    cells: list_view_cells,
};

/// `vortex.fixed_size_list`.
pub(super) const FIXED_SIZE_LIST: Scheme = Scheme {
    validity: Validity::Child(fixed_size_list_child::VALIDITY),
    holds: Holds::Nested(Nested {
        child: |node, _, ty| {
            let rows = checked_product(node.rows, size(node)?);
            let rows = rows.ok_or_else(|| node.error(Kind::Overflow, What::VORTEX_ROWS, node.rows))?;
            node.child(ELEMENTS, ty, rows)
        },
        each: |node| size(node).map(Some),
    }),
    need: need_without_elements,
    cells: |node, _, at, out, _| strides(node, size(node)?, at, out),
};

/// The first child of each of these encodings.
const ELEMENTS: usize = 0;

mod list_child {
    pub const OFFSETS: usize = 1;
    pub const VALIDITY: usize = 2;
}

mod list_view_child {
    pub const OFFSETS: usize = 1;
    pub const SIZES: usize = 2;
    pub const VALIDITY: usize = 3;
}

mod fixed_size_list_child {
    pub const VALIDITY: usize = 1;
}

mod field {
    pub const ELEMENTS_LEN: u32 = 1;
    pub const OFFSETS_TYPE: u32 = 2;
    /// Type of the sizes, only in `vortex.listview`.
    pub const SIZES_TYPE: u32 = 3;
}

struct Metadata {
    elements_len: u64,
    offsets_type: u64,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [elements_len, offsets_type] = node.numbers(&[field::ELEMENTS_LEN, field::OFFSETS_TYPE])?;
        Ok(Metadata { elements_len, offsets_type })
    }
}

fn elements<'f>(node: &Node<'f>, _: usize, ty: &Ty) -> Result<Node<'f>> {
    node.child(ELEMENTS, ty, Metadata::of(node)?.elements_len)
}

/// Checks the offsets, and reads all items.
pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    checks.node(&node.offsets(list_child::OFFSETS, Metadata::of(node)?.offsets_type)?, false)?;
    check_items(node, checks)
}

/// Checks offsets and sizes, and reads all items.
pub(super) fn check_view(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let [sizes_type] = node.numbers(&[field::SIZES_TYPE])?;
    let offsets_type = Metadata::of(node)?.offsets_type;
    for (k, ptype) in [(list_view_child::OFFSETS, offsets_type), (list_view_child::SIZES, sizes_type)] {
        checks.node(&node.integers(k, ptype, false, node.rows)?, false)?;
    }
    check_items(node, checks)
}

/// Reads all items.
pub(super) fn check_items(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    for k in 0..node.dtype.children() {
        if let Some(items) = node.nested(k)? {
            checks.whole(&items)?;
        }
    }
    Ok(())
}

/// Returns the bytes for all children except the elements, which are not read together with the lists.
fn need_without_elements(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    need::some_children(node, ELEMENTS.saturating_add(1)..node.children()?, amount, cx)
}

/// Fills `out` with the spans between consecutive offsets starting at `at`. Fails if offsets descend or exceed `end`.
pub(super) fn between(
    node: &Node<'_>,
    offsets: &Node<'_>,
    end: u64,
    (at, out): (u64, &mut Cells<'_>),
    cx: &mut Context<'_, '_>,
) -> Result<()> {
    let Cells::W8(out) = out else { return Err(node.mistyped()) };
    if out.is_empty() {
        return Ok(());
    }
    let last = offsets.index(at.saturating_add(out.len() as u64), cx)?;
    offsets.indices(at, out, cx)?;
    let mut next = last;
    for cell in out.iter_mut().rev() {
        let start = *cell;
        let len = next.checked_sub(start).filter(|_| next <= end);
        let len = len.ok_or_else(|| node.error(Kind::Invalid, What::VORTEX_OFFSETS, next))?;
        *cell = span_cell(span(start, len));
        next = start;
    }
    Ok(())
}

fn list_view_cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Cells::W8(out) = out else { return Err(node.mistyped()) };
    let Metadata { elements_len, offsets_type } = Metadata::of(node)?;
    let [sizes_type] = node.numbers(&[field::SIZES_TYPE])?;
    node.child_indices((list_view_child::OFFSETS, offsets_type), at, out, cx)?;
    let mut t = cx.scope();
    let lens = t.take::<u64>(out.len())?;
    node.child_indices((list_view_child::SIZES, sizes_type), at, lens, &mut t)?;
    for (i, (cell, len)) in out.iter_mut().zip(lens).enumerate() {
        let inside = cell.checked_add(*len).is_some_and(|stop| stop <= elements_len);
        if !inside && node.is_valid(at.saturating_add(i as u64), &mut t)? {
            return Err(node.error(Kind::Invalid, What::VORTEX_OFFSETS, *cell));
        }
        *cell = if inside { span_cell(span(*cell, *len)) } else { 0 };
    }
    Ok(())
}

/// Returns the number of elements per row.
fn size(node: &Node<'_>) -> Result<u64> {
    match node.dtype.shape {
        Shape::FixedList(size) => Ok(size.into()),
        _ => Err(node.mistyped()),
    }
}

/// Fills `out` with the spans of rows that have `size` child rows each.
pub(super) fn strides(node: &Node<'_>, size: u64, at: u64, out: &mut Cells<'_>) -> Result<()> {
    let Cells::W8(out) = out else { return Err(node.mistyped()) };
    for (i, cell) in out.iter_mut().enumerate() {
        let row = at.saturating_add(i as u64);
        *cell = span_cell(span(product(row, size), size));
    }
    Ok(())
}

/// Writes lists.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::field;
    use crate::column::Prim;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// `len` elements, and the first one of each list, followed by the end of the last list.
    pub fn list(elements: Array, len: usize, (offsets, prim): (Array, Prim), valid: Option<Array>) -> Array {
        let mut message = Writer::default();
        message.some(field::ELEMENTS_LEN, len as u64).some(field::OFFSETS_TYPE, number_of_prim(prim).into());
        Array::new(Encoding::List).message(&mut message).child(elements).child(offsets).child(valid)
    }

    /// `len` elements, and the first one and the number of elements of each list.
    pub fn list_view(
        elements: Array,
        len: usize,
        (offsets, prim): (Array, Prim),
        (sizes, sizes_prim): (Array, Prim),
        valid: Option<Array>,
    ) -> Array {
        let mut message = Writer::default();
        message.some(field::ELEMENTS_LEN, len as u64).some(field::OFFSETS_TYPE, number_of_prim(prim).into());
        message.some(field::SIZES_TYPE, number_of_prim(sizes_prim).into());
        let array = Array::new(Encoding::ListView).message(&mut message);
        array.child(elements).child(offsets).child(sizes).child(valid)
    }

    /// The elements of lists of one length.
    pub fn fixed(elements: Array, valid: Option<Array>) -> Array {
        Array::new(Encoding::FixedSizeList).child(elements).child(valid)
    }
}
