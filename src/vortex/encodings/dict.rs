//! `vortex.dict`: distinct values, and one code per row. A row is null if its code or its value is null.

use super::lookup::{Lookup, SMALL};
use super::*;
use crate::bytes::FAST;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Picked(values, Some(codes)),
    need: |node, amount, cx| need_of(&codes(node)?, &values(node)?, amount, cx),
    cells: |node, ask, at, out, cx| pick(&codes(node)?, &values(node)?, (ask, at), out, cx),
};

mod child {
    pub const CODES: usize = 0;
    pub const VALUES: usize = 1;
}

mod field {
    pub const VALUES_LEN: u32 = 1;
    pub const CODES_TYPE: u32 = 2;
    /// If absent, codes are nullable if the rows are.
    pub const CODES_NULLABLE: u32 = 3;
}

/// Returns the codes of an array.
fn codes<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    codes_of(node, child::CODES, [field::CODES_TYPE, field::CODES_NULLABLE])
}

/// Returns the codes: child `k`, whose type and nullability are in the metadata `fields`. Also used by the layout.
pub(in crate::vortex) fn codes_of<'f>(node: &Node<'f>, k: usize, fields: [u32; 2]) -> Result<Node<'f>> {
    let [codes_type, nullable] = fields;
    let nullable = node.metadata()?.uint(nullable)?.map_or(node.dtype.nullable, |nullable| nullable != 0);
    let [codes_type] = node.numbers(&[codes_type])?;
    node.aligned(k, &Ty::prim(node.integer(codes_type)?, nullable))
}

/// Returns the values of an array.
fn values<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    let len = node.metadata()?.uint32(field::VALUES_LEN)?.unwrap_or(0);
    node.child(child::VALUES, &node.dtype, len.into())
}

/// Checks the codes, and reads all values.
pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    checks.node(&codes(node)?, false)?;
    checks.whole(&values(node)?)
}

/// Fills `out` with the cells of the values that the codes select.
pub(in crate::vortex) fn pick(
    codes: &Node<'_>,
    values: &Node<'_>,
    (ask, at): (Ask, u64),
    out: &mut Cells<'_>,
    cx: &mut Context<'_, '_>,
) -> Result<()> {
    let mut t = cx.scope();
    let numbers = t.take::<u32>(out.len())?;
    codes.indices32(at, numbers, &mut t)?;
    Lookup { codes, at, values, first: 0, count: values.rows }.cells(ask, numbers, out, &mut t)?;
    if ask == Ask::Valid && codes.dtype.nullable {
        let (valid, Cells::W1(out)) = (t.take::<u8>(out.len())?, out) else { return Err(values.mistyped()) };
        codes.cells(Ask::Valid, at, &mut Cells::W1(valid), &mut t)?;
        for (to, valid) in out.iter_mut().zip(valid) {
            *to &= *valid;
        }
    }
    Ok(())
}

/// Returns the bytes for the codes and for the values, which are decoded as a whole or one by one.
pub(in crate::vortex) fn need_of(
    codes: &Node<'_>,
    values: &Node<'_>,
    amount: Amount,
    cx: &mut Context<'_, '_>,
) -> Result<u64> {
    let Amount { rows: n, width, .. } = amount;
    let whole = if cx.copies_texts() { values.rows } else { values.rows.min(n.max(SMALL)) };
    let table = need::piece(whole, width);
    let values = values.temporaries(Amount { rows: whole.max(1), at: None, ..amount }, cx)?;
    if !FAST {
        let own = need::piece(n, 5).wrapping_add(table).wrapping_add(2 * need::SLACK);
        return Ok(own.saturating_add(codes.temporaries(amount, cx)?).saturating_add(values));
    }
    let amount = Amount { width: codes.prim()?.size() as u64, ..amount };
    let validity = if codes.dtype.nullable { need::piece(n, 1) } else { 0 };
    let codes = codes.temporaries(amount, &mut cx.without_texts())?.saturating_add(validity);
    // The codes are read before the table is made, and their validity after it is used.
    Ok(need::piece(n, 4).saturating_add(codes.max(table.saturating_add(values))))
}

/// Writes dictionaries.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::field;
    use crate::column::Prim;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Codes of `len` distinct values, one of which may be null.
    pub fn dictionary((codes, prim): (Array, Prim), len: usize, values: Array) -> Array {
        let mut message = Writer::default();
        message.uint(field::VALUES_LEN, len as u64).some(field::CODES_TYPE, number_of_prim(prim).into());
        message.uint(field::CODES_NULLABLE, 0);
        Array::new(Encoding::Dict).message(&mut message).child(codes).child(values)
    }
}
