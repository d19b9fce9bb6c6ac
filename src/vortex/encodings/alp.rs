//! `vortex.alp`: floats as integers times a power of ten, with patches for floats without such an integer.

use super::patches::PatchSource;
use super::*;
use crate::column::Prim;
use crate::encoding::alp;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::As(child::ENCODED),
    holds: Holds::Values,
    need: |node, amount, cx| need::with_patches(0, PATCHES, node, amount, cx),
    cells,
};

mod child {
    pub const ENCODED: usize = 0;
    pub const PATCHES: usize = 1;
}

mod field {
    pub const EXPONENT: u32 = 1;
    pub const FACTOR: u32 = 2;
    pub const PATCHES: u32 = 3;
}

struct Metadata {
    exponent: u32,
    factor: u32,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [exponent, factor] = node.numbers(&[field::EXPONENT, field::FACTOR])?;
        Ok(Metadata { exponent: narrow(exponent), factor: narrow(factor) })
    }
}

const PATCHES: PatchSource = PatchSource { field: field::PATCHES, first_child: child::PATCHES };

/// The integers.
fn encoded<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    let encoded = match node.prim()? {
        Prim::F32 => Prim::I32,
        Prim::F64 => Prim::I64,
        _ => return Err(node.mistyped()),
    };
    node.aligned(child::ENCODED, &Ty::prim(encoded, node.dtype.nullable))
}

/// Returns the number of rows starting at `row` without a patch, at least 1.
pub(in crate::vortex) fn unpatched(node: &Node<'_>, row: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
    patches::unpatched(node, PATCHES, row, cx)
}

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    checks.node(&encoded(node)?, false)?;
    patches::check(node, PATCHES, &node.dtype.required(), checks)
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Metadata { exponent, factor } = Metadata::of(node)?;
    encoded(node)?.cells(ask, at, out, cx)?;
    alp::decode(exponent, factor, out.again()).map_err(|e| e.moved(node.at()))?;
    patches::apply(node, PATCHES, &node.dtype.required(), at, out, cx)
}

/// Writes floats as integers.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::field;
    use crate::encoding::alp::Exponents;
    use crate::meta::proto::write::Writer;
    use crate::vortex::encodings::patches::write::Patches;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// The integers of floats, and the floats that have none.
    pub fn integers(exponents: Exponents, encoded: Array, patches: Option<Patches>) -> Array {
        let mut message = Writer::default();
        message.some(field::EXPONENT, exponents.e.into()).some(field::FACTOR, exponents.f.into());
        let array = Array::new(Encoding::Alp);
        let Some(patches) = patches else { return array.message(&mut message).child(encoded) };
        message.bytes(field::PATCHES, &patches.message());
        array.message(&mut message).child(encoded).child(patches.indices).child(patches.values)
    }
}
