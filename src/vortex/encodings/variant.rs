//! `vortex.variant` and `vortex.parquet.variant`: values of any type. A variant is read as a struct of two byte strings,
//! the metadata with the names of fields, and the value, in the encoding of Apache Parquet.

use super::*;
use crate::meta::proto::Message;
use crate::vortex::dtype::Shape;
use crate::vortex::scheme::Answer;
use crate::vortex::shredded;
use crate::vortex::stored_type::StoredType;
use crate::vortex::tree::BYTES_PER_NODE;

/// `vortex.variant`: a variant, and perhaps values that are stored apart from it.
pub(super) const VARIANT: Scheme = Scheme {
    validity: Validity::As(variant_child::CORE),
    holds: Holds::Wrapped(|node| match node.children()? {
        1 => core(node),
        children => Err(node.error(Kind::Invalid, What::VORTEX_METADATA, children as u64)),
    }),
    need: wrapped::need,
    cells: wrapped::cells,
};

/// `vortex.variant` with values that are stored apart.
const SHREDDED: Scheme = Scheme {
    validity: Validity::As(variant_child::CORE),
    need: |node, amount, cx| core(node)?.temporaries(amount, cx),
    ..PARQUET_VARIANT
};

/// `vortex.parquet.variant`: metadata, value, and perhaps values that are stored apart.
pub(super) const PARQUET_VARIANT: Scheme = Scheme {
    validity: Validity::Depends(validity),
    holds: Holds::Nested(Nested { child, each: structure::each }),
    need: |node, amount, cx| need::some_children(node, 0..Metadata::of(node)?.first, amount, cx),
    cells: structure::cells,
};

/// Metadata or value of either, as bytes.
const PART: Scheme = Scheme {
    validity: Validity::All,
    holds: Holds::PackedTexts(shredded::bound),
    need: shredded::need,
    cells: shredded::cells,
};

pub(in crate::vortex) mod variant_child {
    /// The variant without the values that are stored apart.
    pub const CORE: usize = 0;
    pub const SHREDDED: usize = 1;
}

pub(in crate::vortex) mod variant_field {
    /// The type of the values that are stored apart; absent without such values.
    pub const SHREDDED_TYPE: u32 = 1;
}

pub(in crate::vortex) mod field {
    pub const HAS_VALUE: u32 = 1;
    /// The type of the values that are stored apart; absent without such values.
    pub const TYPED_TYPE: u32 = 2;
    pub const VALUE_NULLABLE: u32 = 3;
}

/// Returns the description of an array of variants, or of the part of it that the node is about.
pub(in crate::vortex) fn scheme(node: &Node<'_>, encoding: Encoding) -> &'static Scheme {
    match (node.dtype.shape, encoding) {
        (Shape::VariantPart { .. }, _) => &PART,
        // The original refuses other types.
        (shape, _) if !matches!(shape, Shape::Variant) => &UNKNOWN,
        (_, Encoding::Variant) if node.metadata().is_ok_and(|metadata| metadata.bytes().is_empty()) => &VARIANT,
        (_, Encoding::Variant) => &SHREDDED,
        _ => &PARQUET_VARIANT,
    }
}

/// Returns the array inside of a `vortex.variant`.
fn core<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    node.aligned(variant_child::CORE, &variant_type(node)?)
}

/// Returns the type of the rows of a node that is about the values of variants. The validity of the variants does not
/// matter to it.
fn variant_type(node: &Node<'_>) -> Result<Ty> {
    match node.dtype.shape {
        Shape::Variant => Ok(node.dtype),
        Shape::VariantPart { .. } => Ok(Ty::variant(true)),
        _ => Err(node.mistyped()),
    }
}

/// The metadata of `vortex.parquet.variant`.
struct Metadata<'f> {
    has_value: bool,
    value_nullable: bool,
    typed: Option<Message<'f>>,
    /// The number of the first child that is not the validity.
    first: usize,
}

impl<'f> Metadata<'f> {
    fn of(node: &Node<'f>) -> Result<Self> {
        let message = node.metadata()?;
        let [has_value, value_nullable] = [field::HAS_VALUE, field::VALUE_NULLABLE].map(|field| message.uint(field));
        let typed = message.message(field::TYPED_TYPE)?;
        let has_value = has_value?.is_some_and(|bit| bit != 0);
        let value_nullable = value_nullable?.is_some_and(|bit| bit != 0);
        let parts = usize::from(has_value).saturating_add(typed.is_some().into());
        let children = node.children()?;
        let first = children.checked_sub(parts.saturating_add(1)).filter(|first| *first <= 1 && parts > 0);
        let first = first.ok_or_else(|| node.error(Kind::Invalid, What::VORTEX_METADATA, children as u64))?;
        Ok(Metadata { has_value, value_nullable, typed, first })
    }
}

fn validity(node: &Node<'_>) -> Result<Answer> {
    Ok(if Metadata::of(node)?.first > 0 { Validity::Child(0) } else { Validity::All })
}

/// A node and one of its rows.
pub(in crate::vortex) type At<N> = (N, u64);

/// The parts of one variant, each a row of a node.
#[derive(Clone, Copy)]
pub(in crate::vortex) struct Parts<'f> {
    pub metadata: At<Node<'f>>,
    /// The value as bytes, if the row has them.
    pub value: Option<At<Node<'f>>>,
    /// The value that is stored apart, if the row has one.
    pub typed: Option<At<Typed<'f>>>,
}

/// Values that are stored apart.
#[derive(Clone, Copy)]
pub(in crate::vortex) struct Typed<'f> {
    pub node: Node<'f>,
    pub ty: StoredType<'f>,
    /// Whether fields and items are structs of `value` and `typed_value`, as Apache Parquet stores them.
    pub has_shells: bool,
}

/// The children of a `vortex.parquet.variant`, each with its rows.
struct Children<'f> {
    metadata: Node<'f>,
    value: Option<Node<'f>>,
    typed: Option<Typed<'f>>,
}

impl<'f> Children<'f> {
    fn of(node: &Node<'f>) -> Result<Self> {
        let Metadata { has_value, value_nullable, typed, first } = Metadata::of(node)?;
        let metadata = node.aligned(first, &Ty::binary(false))?;
        let mut next = first.saturating_add(1);
        let mut value = None;
        if has_value {
            value = Some(node.aligned(next, &Ty::binary(value_nullable))?);
            next = next.saturating_add(1);
        }
        let typed = typed.map(|ty| {
            let ty = StoredType::of(ty)?;
            Ok(Typed { node: node.aligned(next, &ty.ty)?, ty, has_shells: true })
        });
        Ok(Children { metadata, value, typed: typed.transpose()? })
    }
}

/// Returns the values that a `vortex.variant` stores apart, if it does.
pub(in crate::vortex) fn typed<'f>(node: &Node<'f>) -> Result<Option<Typed<'f>>> {
    if node.encoding() == Some(Encoding::ParquetVariant) {
        return Ok(Children::of(node)?.typed);
    }
    let ty = node.metadata()?.message(variant_field::SHREDDED_TYPE)?;
    let children = node.children()?;
    if children != if ty.is_some() { 2 } else { 1 } {
        return Err(node.error(Kind::Invalid, What::VORTEX_METADATA, children as u64));
    }
    let Some(ty) = ty else { return Ok(None) };
    let ty = StoredType::of(ty)?;
    let node = node.aligned(variant_child::SHREDDED, &ty.ty)?;
    Ok(Some(Typed { node, ty, has_shells: false }))
}

impl<'f> Parts<'f> {
    /// Returns the parts of row `at` of an array of variants, or `None` if the variant is missing.
    pub fn of(node: &Node<'f>, at: u64, cx: &mut Context<'_, '_>) -> Result<Option<Self>> {
        let rows = node.retyped(Ty::variant(true));
        if !rows.is_valid(at, &mut cx.scope())? {
            return Ok(None);
        }
        Parts::stored(&rows, at, cx).map(Some)
    }

    /// Returns the parts of a row that has a value.
    pub fn stored(node: &Node<'f>, at: u64, cx: &mut Context<'_, '_>) -> Result<Self> {
        // The metadata are parsed for each row, in addition to reading whether it has a value.
        cx.spend_many(node.metadata()?.bytes().len() as u64 / BYTES_PER_NODE, node.at())?;
        match node.encoding() {
            Some(Encoding::ParquetVariant) => {
                let Children { metadata, value, typed } = Children::of(node)?;
                let (value, typed) = (value.map(|value| (value, at)), typed.map(|typed| (typed, at)));
                Ok(Parts { metadata: (metadata, at), value, typed })
            }
            Some(Encoding::Variant) => {
                let (core, row) = shredded::stored(&core(node)?, at, cx)?;
                let parts = Parts::stored(&core, row, cx)?;
                match (typed(node)?, parts.typed) {
                    (Some(_), Some(_)) => Err(node.error(Kind::Invalid, What::VORTEX_METADATA, 0)),
                    (Some(typed), None) => Ok(Parts { typed: Some((typed, at)), ..parts }),
                    (None, _) => Ok(parts),
                }
            }
            _ => Err(node.undecoded()),
        }
    }
}

/// Returns the metadata, or the value: as it is stored if it is in one array, and every row has one.
fn child<'f>(node: &Node<'f>, k: usize, _: &Ty) -> Result<Node<'f>> {
    let put_together = || Ok(node.retyped(Ty::variant_part(k != 0)));
    let (inner, is_shredded) = match node.encoding() {
        Some(Encoding::Variant) => (core(node)?, typed(node)?.is_some()),
        _ => (*node, false),
    };
    if inner.encoding() != Some(Encoding::ParquetVariant) {
        return put_together();
    }
    match Children::of(&inner)? {
        Children { metadata, .. } if k == 0 => Ok(metadata),
        Children { value: Some(value), typed: None, .. } if !is_shredded && value.is_never_null()? => {
            Ok(value.retyped(value.dtype.required()))
        }
        _ => put_together(),
    }
}

/// Calls `each` with the arrays that values are put together from, which all have the rows of `node`.
pub(in crate::vortex) fn each_part<'f>(node: &Node<'f>, each: &mut dyn FnMut(&Node<'f>) -> Result<()>) -> Result<()> {
    if node.encoding() == Some(Encoding::Variant) {
        each(&core(node)?)?;
    } else {
        let Children { metadata, value, .. } = Children::of(node)?;
        each(&metadata)?;
        value.as_ref().map_or(Ok(()), &mut *each)?;
    }
    typed(node)?.map_or(Ok(()), |typed| each(&typed.node))
}

/// Checks an array of variants: reads all metadata and values. A value that is put together is always read row by row, so
/// that it is the same in every batch; its parts are read, too.
pub(super) fn check(node: &Node<'_>, top: bool, checks: &mut Checks<'_, '_>) -> Result<()> {
    match node.holds() {
        // The variants inside of another one have no names of their own.
        Some(Holds::Nested(_)) if !node.dtype.has_table() => check_parts(node, checks),
        Some(Holds::PackedTexts(_)) if matches!(node.dtype.shape, Shape::VariantPart { is_value: true }) => {
            check_parts(node, checks)
        }
        Some(Holds::Wrapped(inner)) => checks.node(&inner(node)?, top),
        Some(Holds::Nested(_)) => list::check_items(node, checks),
        _ => Ok(()),
    }
}

/// Reads the arrays that values are put together from.
fn check_parts(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let typed = if node.encoding() == Some(Encoding::Variant) {
        checks.node(&core(node)?, false)?;
        typed(node)?
    } else {
        let Children { metadata, value, typed } = Children::of(node)?;
        checks.whole(&metadata)?;
        if let Some(value) = &value {
            checks.whole(value)?;
        }
        typed
    };
    typed.map_or(Ok(()), |typed| checks.whole(&typed.node))
}

/// Writes variants.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use super::field;
    use crate::meta::proto::write::Writer;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Variants from their metadata and value, the only two `parts`.
    pub fn variant(parts: Vec<Array>, valid: Option<Array>) -> Array {
        let mut message = Writer::default();
        message.some(field::HAS_VALUE, 1);
        let array = Array::new(Encoding::ParquetVariant).message(&mut message).child(valid);
        Array::new(Encoding::Variant).child(parts.into_iter().fold(array, Array::child))
    }
}
