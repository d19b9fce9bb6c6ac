//! `vortex.decimal_byte_parts`: the integers of decimals as a child array.

use super::*;
use crate::bytes::FAST;
use crate::column::Prim;
use crate::vortex::dtype::Shape;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::As(child::HIGH),
    holds: Holds::Values,
    need: |node, amount, cx| {
        // Integers that are not wider than the decimals are extended in place.
        let in_place =
            FAST && node.dtype.cell().is_some_and(|width| Metadata::of(node).is_ok_and(|of| of.high.size() <= width));
        let own = if in_place { 0 } else { need::piece(amount.rows, 8) };
        need::with_children(own, node, amount.in_words(), cx)
    },
    cells,
};

mod child {
    /// The part with the sign.
    pub const HIGH: usize = 0;
}

mod field {
    pub const HIGH_TYPE: u32 = 1;
    pub const LOWER_PARTS: u32 = 2;
}

struct Metadata {
    high: Prim,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [high, lower_parts] = node.numbers(&[field::HIGH_TYPE, field::LOWER_PARTS])?;
        let high = node.integer(high)?;
        if signed(high) && lower_parts == 0 { Ok(Metadata { high }) } else { Err(node.undecoded()) }
    }
}

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let Metadata { high } = Metadata::of(node)?;
    checks.node(&node.aligned(child::HIGH, &Ty::prim(high, node.dtype.nullable))?, false)
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Metadata { high } = Metadata::of(node)?;
    let parts = &node.aligned(child::HIGH, &Ty::prim(high, node.dtype.nullable))?;
    if !matches!(node.dtype.shape, Shape::Decimal { .. }) {
        return Err(node.mistyped());
    }
    if out.width() == high.size() {
        return parts.cells(ask, at, out, cx);
    }
    if node.dtype.cell() != Some(out.width()) {
        return Err(node.mistyped());
    }
    if FAST && high.size() < out.width() {
        return decimal::extended(node, (out, high.size()), |numbers| parts.cells(ask, at, numbers, cx));
    }
    let mut t = cx.scope();
    let numbers = t.take::<u64>(out.len())?;
    parts.indices(at, numbers, &mut t)?;
    for (i, number) in numbers.iter().enumerate() {
        decimal::put(node, &number.to_le_bytes(), (i, at), out, &mut t)?;
    }
    Ok(())
}

/// Writes decimals as integers.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::field;
    use crate::column::Prim;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Unscaled integers of type `prim`.
    pub fn parts((high, prim): (Array, Prim)) -> Array {
        let mut message = Writer::default();
        message.some(field::HIGH_TYPE, number_of_prim(prim).into());
        Array::new(Encoding::DecimalByteParts).message(&mut message).child(high)
    }
}
