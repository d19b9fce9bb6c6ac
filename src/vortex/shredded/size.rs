//! Upper bounds: how many bytes values take that are put together, and the temporaries of reading their parts.

use core::ops::Range;

use super::{Found, ListItems, ObjectFields, ValueAt, has_objects, is_value, stored};
use crate::column::Prim;
use crate::encoding::cells::Cells;
use crate::encoding::variant::{self, Header};
use crate::error::{Error, Kind, Result};
use crate::vortex::context::Context;
use crate::vortex::dtype::{Shape, Ty};
use crate::vortex::encodings::variant::{At, Parts};
use crate::vortex::need::{Amount, SLACK};
use crate::vortex::node::{Form, Node};
use crate::vortex::raw::Encoding;
use crate::vortex::scheme::Holds;
use crate::vortex::tree::Ask;

/// An upper bound of the bytes of the arena that a value takes.
#[derive(Clone, Copy, Default)]
struct Size {
    /// Bytes of the value.
    keep: u64,
    /// Bytes that are in use at once until the value is complete.
    peak: u64,
}

impl Size {
    const fn of(bytes: u64) -> Self {
        Size { keep: bytes, peak: bytes }
    }

    /// Returns the size of a value that follows this one.
    const fn then(self, next: Self) -> Self {
        let peak = self.keep.saturating_add(next.peak);
        Size { keep: self.keep.saturating_add(next.keep), peak: if peak > self.peak { peak } else { self.peak } }
    }

    /// Returns the size of an object or array of `count` items with these contents. A table precedes them until the
    /// header is complete, which follows them until it replaces the table.
    const fn in_header(self, count: u64) -> Self {
        let numbers = count.saturating_mul(8);
        let header = numbers.saturating_add(Header::MOST as u64);
        let table = header.saturating_add(Header::MOST as u64);
        Size { keep: self.keep.saturating_add(header), peak: self.peak.saturating_add(table).saturating_add(header) }
    }
}

/// Returns an upper bound of the bytes of the arena that `len` values starting at `at` take.
pub(in crate::vortex) fn bound(node: &Node<'_>, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<u64> {
    let mut peak = 0;
    sizes(node, at..at.saturating_add(len as u64), cx, &mut |sum| {
        peak = sum;
        true
    })?;
    Ok(peak)
}

/// Calls `each` after each row with an upper bound of the bytes that this row and those before it take, until it returns
/// `false`.
pub(super) fn sizes(
    node: &Node<'_>,
    rows: Range<u64>,
    cx: &mut Context<'_, '_>,
    each: &mut dyn FnMut(u64) -> bool,
) -> Result<()> {
    let (is_value, has_names) = (is_value(node), has_objects(node)?);
    let mut all = Size::default();
    for at in rows {
        all = all.then(row(node, at, (is_value, has_names), cx)?);
        if !each(all.peak) {
            break;
        }
    }
    Ok(())
}

fn row(node: &Node<'_>, at: u64, (is_value, has_names): (bool, bool), cx: &mut Context<'_, '_>) -> Result<Size> {
    let Some(Parts { metadata, value, typed }) = Parts::of(node, at, cx)? else {
        return Ok(Size::of(variant::NO_NAMES.len() as u64));
    };
    let names = if has_names || !is_value { text(metadata, cx)? } else { Size::default() };
    if !is_value {
        return Ok(names);
    }
    let value = self::value(&ValueAt { value, typed }, cx)?;
    // The names precede the value until it is complete.
    Ok(Size { keep: value.keep, peak: names.then(value).peak })
}

/// Returns the size of the text in a row. Without memory for a frame of Zstandard, its texts count with the whole frame.
fn text((node, at): At<Node<'_>>, cx: &mut Context<'_, '_>) -> Result<Size> {
    let (node, at) = stored(&node, at, cx)?;
    if node.encoding() == Some(Encoding::Zstd) && cx.kept.has_rows() {
        let mut cell = [0];
        node.cells(Ask::Spans, at, &mut Cells::W8(&mut cell), &mut cx.scope())?;
        let [_, len]: [u32; 2] = bytemuck::cast(cell);
        return Ok(Size::of(len.into()));
    }
    match (node.holds(), &node.form) {
        (Some(Holds::Texts(bound) | Holds::PackedTexts(bound) | Holds::Packed(bound)), _) => {
            bound(&node, at, 1, &mut cx.scope()).map(Size::of)
        }
        (Some(Holds::Nulls), _) => Ok(Size::default()),
        (None, Form::Scalar(scalar)) => Ok(Size::of(scalar.bytes()?.len() as u64)),
        _ => Err(node.undecoded()),
    }
}

fn value(place: &ValueAt<'_>, cx: &mut Context<'_, '_>) -> Result<Size> {
    match place.find(cx)? {
        Found::Missing => Ok(Size::of(1)),
        Found::Bytes(bytes) => text(bytes, cx),
        Found::Apart((typed, at)) => match typed.ty.ty.shape {
            Shape::List => {
                let mut items = ListItems::of(&typed, at, cx)?;
                let (mut all, count) = (Size::default(), items.len());
                while let Some(item) = items.take(cx)? {
                    all = all.then(value(&item, cx)?);
                }
                Ok(all.in_header(count))
            }
            Shape::Utf8 | Shape::Binary => Ok(text((typed.node, at), cx)?.then(Size::of(variant::MOST as u64))),
            _ => Ok(Size::of(variant::MOST as u64)),
        },
        Found::Object((typed, at), rest) => {
            let rest = rest.map_or(Ok(Size::default()), |rest| text(rest, cx))?;
            let (mut fields, mut all, mut count) = (ObjectFields::of(&typed, at, cx)?, Size::default(), 0u64);
            while let Some((_, field)) = fields.take(cx)? {
                all = all.then(value(&field, cx)?);
                count = count.saturating_add(1);
            }
            // Each of the other fields has at least 3 bytes. Their object precedes the new one.
            let object = all.then(Size::of(rest.keep)).in_header(count.saturating_add(rest.keep / 3));
            Ok(Size { keep: object.keep, peak: rest.then(object).peak })
        }
    }
}

/// Returns the scratch bytes for the temporaries of one row: rows are read one by one.
pub(in crate::vortex) fn need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    cx.spend(node.at())?;
    let one = Amount { rows: 1, width: amount.width.max(16), at: None };
    // The type of a child does not matter, only its encoding. Rows are read as numbers, so that texts under Zstandard count
    // with their frames, and validity as the validity of variants.
    let (number, variant) = (Ty::prim(Prim::I64, true), Ty::variant(true));
    let is_nested = matches!(
        node.encoding(),
        Some(
            Encoding::Variant
                | Encoding::ParquetVariant
                | Encoding::Struct
                | Encoding::List
                | Encoding::ListView
                | Encoding::FixedSizeList
        )
    );
    let repeats = matches!(
        node.encoding(),
        Some(
            Encoding::Chunked | Encoding::Masked | Encoding::Dict | Encoding::RunEnd | Encoding::Sparse | Encoding::Ext
        )
    );
    let mut most = 0;
    if !is_nested {
        most = node.retyped(number).temporaries(one, cx)?;
        if repeats {
            most = most.max(node.retyped(variant).temporaries(one, cx)?);
        }
    }
    for k in 0..if is_nested || repeats { node.children()? } else { 0 } {
        most = most.max(need(&node.child(k, &number, node.rows)?, one, cx)?);
    }
    // The offset and the size of a list.
    Ok(most.saturating_add(if is_nested { SLACK.saturating_mul(2) } else { 0 }))
}

/// Returns the error for a value that may be larger than offsets of 32 bits can tell.
#[cold]
pub(super) fn too_large(node: &Node<'_>, bytes: u64) -> Error {
    node.error(Kind::Overflow, crate::error::What::VORTEX_TEXT, bytes)
}
