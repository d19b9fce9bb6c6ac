//! Variants whose values are stored in several parts: bytes, and values in arrays of their own. The value of a row is put
//! together from them, by the rules of Apache Parquet ("Variant Shredding").

mod build;

use core::ops::Range;

use super::context::Context;
use super::dtype::Shape;
use super::encodings::variant::{self, At, Parts, Typed};
use super::encodings::{constant, run_end, sparse};
use super::need::Amount;
use super::node::{Form, Node};
use super::raw::Encoding;
use super::rows::Rows;
use super::scheme::Holds;
use super::stored_type::{StoredType, StructFields};
use super::tree::{Ask, NOWHERE};
use crate::column::Span;
use crate::encoding::cells::Cells;
use crate::encoding::variant::Header;
use crate::error::{Kind, Result, What};

pub(super) use build::cells;

/// Maximum number of rows that are read at once: the budget of a call must suffice for all nodes below each row.
pub(super) const ROWS: u64 = 1024;

/// The parts of a value, each a row of a node.
#[derive(Clone, Copy)]
struct Place<'f> {
    value: Option<At<Node<'f>>>,
    typed: Option<At<Typed<'f>>>,
}

impl Place<'_> {
    const NOWHERE: Place<'static> = Place { value: None, typed: None };
}

/// Returns the node that stores a row, below chunks, dictionaries and other encodings that select or repeat rows, and the
/// row in it.
pub(super) fn stored<'f>(node: &Node<'f>, at: u64, cx: &mut Context<'_, '_>) -> Result<(Node<'f>, u64)> {
    let mut rows = Rows { node: *node, at, left: 1 };
    loop {
        let node = &rows.node;
        let picked = |values: Node<'f>, code: u64| match code < values.rows {
            true => Ok(Rows { node: values, at: code, left: 1 }),
            false => Err(node.error(Kind::Invalid, What::CODES, code)),
        };
        rows = match node.holds() {
            Some(Holds::Wrapped(inner)) => Rows { node: inner(node)?, ..rows },
            Some(Holds::Chunks(chunk)) => chunk(&rows, cx)?,
            Some(Holds::Patched) => sparse::part(&rows, cx)?,
            Some(Holds::Constant) => Rows { node: constant::value(node)?, ..rows },
            Some(Holds::Picked(values, Some(codes))) => {
                let code = codes(node)?.index(rows.at, &mut cx.scope())?;
                picked(values(node)?, code)?
            }
            Some(Holds::Picked(values, None)) => {
                let run = run_end::run_of(node, rows.at, &mut cx.scope())?;
                picked(values(node)?, run)?
            }
            // Reading this node spends the budget for it.
            _ => return Ok((rows.node, rows.at)),
        };
        cx.spend(rows.node.at())?;
    }
}

impl<'f> Place<'f> {
    /// Returns the place of a row of an array of variants, or of values of type `ty` that are stored apart.
    fn of(node: &Node<'f>, ty: &StoredType<'f>, shells: bool, at: u64, cx: &mut Context<'_, '_>) -> Result<Self> {
        if matches!(ty.ty.shape, Shape::Variant) {
            let (node, at) = stored(node, at, cx)?;
            return if node.holds().is_some() {
                Parts::of(&node, at, cx).map(|Parts { value, typed, .. }| Place { value, typed })
            } else if node.is_valid(at, cx)? {
                Err(node.undecoded())
            } else {
                // The scalar null.
                Ok(Place::NOWHERE)
            };
        }
        if !shells {
            return Ok(Place { value: None, typed: Some((Typed { node: *node, ty: *ty, has_shells: false }, at)) });
        }
        let mut place = Place::NOWHERE;
        if !node.is_valid(at, &mut cx.scope())? {
            return Ok(place);
        }
        let (node, at) = stored(node, at, cx)?;
        let (mut fields, mut k) = (ty.fields(), 0);
        while let Some((name, ty)) = fields.take()? {
            let child = node.nested_of(k, || Ok(ty.ty))?.ok_or_else(|| node.undecoded())?;
            match name {
                b"value" if matches!(ty.ty.shape, Shape::Binary) => place.value = Some((child, at)),
                b"typed_value" => place.typed = Some((Typed { node: child, ty, has_shells: true }, at)),
                _ => return Err(node.mistyped()),
            }
            k = k.saturating_add(1);
        }
        Ok(place)
    }

    /// Returns the value that is stored apart, if the row has one.
    fn typed(&self, cx: &mut Context<'_, '_>) -> Result<Option<At<Typed<'f>>>> {
        match self.typed {
            Some((typed, at)) if typed.node.is_valid(at, &mut cx.scope())? => Ok(Some((typed, at))),
            _ => Ok(None),
        }
    }

    /// Returns the bytes, if the row has them.
    fn value(&self, cx: &mut Context<'_, '_>) -> Result<Option<At<Node<'f>>>> {
        match self.value {
            Some((value, at)) if value.is_valid(at, &mut cx.scope())? => Ok(Some((value, at))),
            _ => Ok(None),
        }
    }
}

/// The items of a list in one row.
fn items<'f>(typed: &Typed<'f>, at: u64, cx: &mut Context<'_, '_>) -> Result<(Node<'f>, StoredType<'f>, Range<u64>)> {
    let (node, at) = stored(&typed.node, at, cx)?;
    let mut cell = [0];
    node.cells(Ask::Ranges, at, &mut Cells::W8(&mut cell), &mut cx.scope())?;
    let span: Span = bytemuck::cast(cell);
    if span == NOWHERE {
        return Err(node.error(Kind::Overflow, What::VORTEX_OFFSETS, u32::MAX.into()));
    }
    let ty = typed.ty.item()?;
    let child = node.nested_of(0, || Ok(ty.ty))?.ok_or_else(|| node.undecoded())?;
    let start = u64::from(span.at);
    Ok((child, ty, start..start.saturating_add(span.len.into())))
}

/// The fields of an object in one row that are stored apart.
struct ObjectFields<'f> {
    node: Node<'f>,
    at: u64,
    has_shells: bool,
    fields: StructFields<'f>,
    k: usize,
}

impl<'f> ObjectFields<'f> {
    fn of(typed: &Typed<'f>, at: u64, cx: &mut Context<'_, '_>) -> Result<Self> {
        let (node, at) = stored(&typed.node, at, cx)?;
        Ok(ObjectFields { node, at, has_shells: typed.has_shells, fields: typed.ty.fields(), k: 0 })
    }

    /// Returns name and place of the next field.
    fn take(&mut self, cx: &mut Context<'_, '_>) -> Result<Option<(&'f [u8], Place<'f>)>> {
        let Some((name, ty)) = self.fields.take()? else { return Ok(None) };
        let child = self.node.nested_of(self.k, || Ok(ty.ty))?.ok_or_else(|| self.node.undecoded())?;
        self.k = self.k.saturating_add(1);
        Ok(Some((name, Place::of(&child, &ty, self.has_shells, self.at, cx)?)))
    }
}

// Upper bounds.

/// Returns an upper bound of the bytes of the arena that `len` values starting at `at` take.
pub(super) fn bound(node: &Node<'_>, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<u64> {
    let (is_value, has_names) = (is_value(node), has_objects(node)?);
    let mut sum = 0u64;
    for at in at..at.saturating_add(len as u64) {
        let Parts { metadata, value, typed } = Parts::of(node, at, cx)?;
        if has_names || !is_value {
            sum = sum.saturating_add(text_bound(metadata, cx)?);
        }
        if is_value {
            sum = sum.saturating_add(place_bound(&Place { value, typed }, cx)?).saturating_add(1);
        }
    }
    Ok(sum)
}

/// Returns whether values are put together, and not only metadata.
fn is_value(node: &Node<'_>) -> bool {
    matches!(node.dtype.shape, Shape::VariantPart { is_value: true })
}

/// Returns whether names of fields may be needed to put values together.
fn has_objects(node: &Node<'_>) -> Result<bool> {
    Ok(match variant::typed(node)? {
        Some(typed) => typed.ty.ty.shape.is_nested(),
        // An array below may have objects.
        None => node.encoding() == Some(Encoding::Variant),
    })
}

fn text_bound((node, at): At<Node<'_>>, cx: &mut Context<'_, '_>) -> Result<u64> {
    let (node, at) = stored(&node, at, cx)?;
    match (node.holds(), &node.form) {
        (Some(Holds::Texts(bound) | Holds::PackedTexts(bound)), _) => bound(&node, at, 1, &mut cx.scope()),
        (Some(Holds::Nulls), _) => Ok(0),
        (None, Form::Scalar(scalar)) => Ok(scalar.bytes()?.len() as u64),
        _ => Err(node.undecoded()),
    }
}

fn place_bound(place: &Place<'_>, cx: &mut Context<'_, '_>) -> Result<u64> {
    let Some((typed, at)) = place.typed(cx)? else {
        return place.value(cx)?.map_or(Ok(0), |value| text_bound(value, cx));
    };
    // The table and the header have up to 8 bytes for each item.
    let mut sum = (Header::MOST as u64).saturating_mul(4);
    match typed.ty.ty.shape {
        Shape::List => {
            let (child, ty, items) = items(&typed, at, cx)?;
            for at in items {
                let place = Place::of(&child, &ty, typed.has_shells, at, cx)?;
                sum = sum.saturating_add(place_bound(&place, cx)?).saturating_add(16);
            }
        }
        Shape::Struct(_) => {
            if let Some(value) = place.value(cx)? {
                // The object itself, and its fields in the new one: each has at least 3 bytes.
                sum = sum.saturating_add(text_bound(value, cx)?.saturating_mul(8));
            }
            let mut fields = ObjectFields::of(&typed, at, cx)?;
            while let Some((_, place)) = fields.take(cx)? {
                sum = sum.saturating_add(place_bound(&place, cx)?).saturating_add(16);
            }
        }
        Shape::Utf8 | Shape::Binary => sum = sum.saturating_add(text_bound((typed.node, at), cx)?),
        _ => {}
    }
    Ok(sum)
}

/// Returns the scratch bytes for the temporaries of one row: rows are read one by one.
pub(super) fn need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    cx.spend(node.at())?;
    let one = Amount { rows: 1, width: amount.width.max(16), at: None };
    let nested = matches!(
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
    let mut most = if nested { 0 } else { node.temporaries(one, cx)? };
    for k in 0..if nested || repeats { node.children()? } else { 0 } {
        // The type of the child does not matter here, only its encoding.
        most = most.max(need(&node.child(k, &node.dtype.required(), node.rows)?, one, cx)?);
    }
    Ok(most)
}
