//! Variants whose values are stored in several parts: bytes, and values in arrays of their own. The value of a row is put
//! together from them, by the rules of Apache Parquet ("Variant Shredding").

mod build;
mod primitive;
mod read;
mod size;

use core::ops::Range;

use super::children::Children;
use super::context::Context;
use super::dtype::Shape;
use super::encodings::variant::{self, At, Parts, Typed};
use super::encodings::{constant, run_end, sparse};
use super::node::{Form, Node};
use super::raw::Encoding;
use super::rows::Rows;
use super::scalar::Items;
use super::scheme::Holds;
use super::stored_type::StructFields;
use super::tree::{Ask, NOWHERE, span_of};
use crate::encoding::cells::Cells;
use crate::error::{Kind, Result, What};

pub(super) use build::cells;
pub(super) use read::measure;
pub(super) use size::{bound, need};

/// Maximum number of rows of a batch.
pub(super) const ROWS: u64 = 4096;

/// The parts of a value, each a row of a node.
#[derive(Clone, Copy)]
struct ValueAt<'f> {
    value: Option<At<Node<'f>>>,
    typed: Option<At<Typed<'f>>>,
}

/// Where a value is stored.
enum Found<'f> {
    /// Nowhere: the value is missing.
    Missing,
    Bytes(At<Node<'f>>),
    /// A value other than an object, stored apart.
    Apart(At<Typed<'f>>),
    /// An object with fields that are stored apart, and perhaps the object with its other fields, as bytes.
    Object(At<Typed<'f>>, Option<At<Node<'f>>>),
}

/// Returns the node that stores a row, below chunks, dictionaries and other encodings that select or repeat rows, and the
/// row in it.
pub(super) fn stored<'f>(node: &Node<'f>, at: u64, cx: &mut Context<'_, '_>) -> Result<(Node<'f>, u64)> {
    let mut rows = Rows { node: *node, at, left: 1 };
    cx.read_one_by_one();
    loop {
        let node = &rows.node;
        let picked = |values: Node<'f>, code: u64| match code < values.rows {
            true => Ok(Rows { node: values, at: code, left: 1 }),
            false => Err(node.error(Kind::Invalid, What::CODES, code)),
        };
        rows = match node.holds() {
            Some(Holds::Wrapped(inner)) => Rows { node: inner(node)?, ..rows },
            Some(Holds::Chunks(chunk)) => chunk(&rows, &mut cx.scope())?,
            Some(Holds::Patched) => sparse::part(&rows, &mut cx.scope())?,
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
        rows.node.spend(1, cx)?;
    }
}

impl<'f> ValueAt<'f> {
    const NOWHERE: ValueAt<'static> = ValueAt { value: None, typed: None };

    /// Returns where the value in a row of an array of variants, or of values that are stored apart, is.
    fn of(values: &Typed<'f>, at: u64, cx: &mut Context<'_, '_>) -> Result<Self> {
        let Typed { node, ty, has_shells } = values;
        if matches!(ty.ty.shape, Shape::Variant) {
            return ValueAt::of_variant(node, at, cx);
        }
        if !*has_shells {
            return Ok(ValueAt { value: None, typed: Some((*values, at)) });
        }
        let mut found = ValueAt::NOWHERE;
        if !node.is_valid(at, &mut cx.scope())? {
            return Ok(found);
        }
        ty.spend(cx)?;
        let (node, at) = stored(node, at, cx)?;
        let (mut fields, mut children) = (ty.fields(), node.nested_nodes()?);
        while let Some((name, ty)) = fields.take()? {
            let child = children.take(&ty.ty)?;
            match name {
                b"value" if matches!(ty.ty.shape, Shape::Binary) => found.value = Some((child, at)),
                b"typed_value" => found.typed = Some((Typed { node: child, ty, has_shells: true }, at)),
                _ => return Err(node.mistyped()),
            }
        }
        Ok(found)
    }

    /// Returns where the value in a row of an array of variants inside of others is.
    fn of_variant(node: &Node<'f>, at: u64, cx: &mut Context<'_, '_>) -> Result<Self> {
        if !node.is_valid(at, &mut cx.scope())? {
            return Ok(ValueAt::NOWHERE);
        }
        let (node, at) = stored(node, at, cx)?;
        if node.holds().is_none() {
            return Err(node.undecoded());
        }
        let Parts { value, typed, .. } = Parts::stored(&node, at, cx)?;
        Ok(ValueAt { value, typed })
    }

    /// Returns where the value is stored. Only an object may be in both parts.
    fn find(&self, cx: &mut Context<'_, '_>) -> Result<Found<'f>> {
        let typed = match self.typed {
            Some((typed, at)) if typed.node.is_valid(at, &mut cx.scope())? => Some((typed, at)),
            _ => None,
        };
        let value = match self.value {
            Some((value, at)) if value.is_valid(at, &mut cx.scope())? => Some((value, at)),
            _ => None,
        };
        Ok(match (typed, value) {
            (None, None) => Found::Missing,
            (None, Some(value)) => Found::Bytes(value),
            (Some(typed), rest) if matches!(typed.0.ty.ty.shape, Shape::Struct(_)) => Found::Object(typed, rest),
            (Some(typed), None) => Found::Apart(typed),
            (Some(_), Some((value, at))) => return Err(value.error(Kind::Invalid, What::VARIANT, at)),
        })
    }
}

/// The items of a list in one row.
struct ListItems<'f> {
    /// The array of the items; the list itself if it is a scalar.
    array: Typed<'f>,
    /// The rows of the items that are not taken yet, or their numbers in the scalar.
    rows: Range<u64>,
    /// The items of a scalar that are not taken yet.
    scalars: Option<Items<'f>>,
}

impl<'f> ListItems<'f> {
    fn of(typed: &Typed<'f>, at: u64, cx: &mut Context<'_, '_>) -> Result<Self> {
        typed.ty.spend(cx)?;
        let (node, at) = stored(&typed.node, at, cx)?;
        let ty = typed.ty.item()?;
        let array = |node| Typed { node, ty, has_shells: typed.has_shells };
        if let Form::Scalar(scalar) = &node.form {
            let items = scalar.items()?;
            return Ok(ListItems { array: array(node), rows: 0..items.len()?, scalars: Some(items) });
        }
        let mut cell = 0;
        node.cells(Ask::Ranges, at, &mut Cells::W8(core::slice::from_mut(&mut cell)), &mut cx.scope())?;
        let span = span_of(cell);
        if span == NOWHERE {
            return Err(node.error(Kind::Overflow, What::VORTEX_OFFSETS, u32::MAX.into()));
        }
        let child = node.nested_of(0, || Ok(ty.ty))?.ok_or_else(|| node.undecoded())?;
        let start = u64::from(span.at);
        Ok(ListItems { array: array(child), rows: start..start.saturating_add(span.len.into()), scalars: None })
    }

    /// Returns the number of items that are not taken yet.
    const fn len(&self) -> u64 {
        self.rows.end.saturating_sub(self.rows.start)
    }

    /// Returns the value of the next item.
    fn take(&mut self, cx: &mut Context<'_, '_>) -> Result<Option<ValueAt<'f>>> {
        let Typed { node, ty, .. } = &self.array;
        let Some(row) = self.rows.next() else { return Ok(None) };
        cx.spend(node.at())?;
        let Some(scalars) = &mut self.scalars else { return ValueAt::of(&self.array, row, cx).map(Some) };
        let Some(item) = scalars.take()? else { return Ok(None) };
        ValueAt::of(&Typed { node: node.scalar(&item, &ty.ty)?, ..self.array }, 0, cx).map(Some)
    }
}

/// The fields of an object in one row that are stored apart.
struct ObjectFields<'f> {
    at: u64,
    has_shells: bool,
    fields: StructFields<'f>,
    children: Children<'f>,
}

impl<'f> ObjectFields<'f> {
    fn of(typed: &Typed<'f>, at: u64, cx: &mut Context<'_, '_>) -> Result<Self> {
        typed.ty.spend(cx)?;
        let (node, at) = stored(&typed.node, at, cx)?;
        Ok(ObjectFields { at, has_shells: typed.has_shells, fields: typed.ty.fields(), children: node.nested_nodes()? })
    }

    /// Returns name and value of the next field.
    fn take(&mut self, cx: &mut Context<'_, '_>) -> Result<Option<(&'f [u8], ValueAt<'f>)>> {
        let Some((name, ty)) = self.fields.take()? else { return Ok(None) };
        let node = self.children.take(&ty.ty)?;
        let value = ValueAt::of(&Typed { node, ty, has_shells: self.has_shells }, self.at, cx)?;
        Ok(Some((name, value)))
    }
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
