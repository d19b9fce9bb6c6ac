//! `vortex.datetimeparts`: timestamps as signed days, seconds and fractions of a second.

use super::*;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::As(child::DAYS),
    holds: Holds::Values,
    need: |node, amount, cx| need::with_children(need::piece(amount.rows, 8), node, amount, cx),
    cells,
};

mod child {
    pub const DAYS: usize = 0;
    pub const SECONDS: usize = 1;
    /// Fractions of a second in units of the type.
    pub const FRACTIONS: usize = 2;
}

mod field {
    pub const DAYS_TYPE: u32 = 1;
    pub const SECONDS_TYPE: u32 = 2;
    pub const FRACTIONS_TYPE: u32 = 3;
}

struct Metadata {
    days_type: u64,
    seconds_type: u64,
    fractions_type: u64,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [days_type, seconds_type, fractions_type] =
            node.numbers(&[field::DAYS_TYPE, field::SECONDS_TYPE, field::FRACTIONS_TYPE])?;
        Ok(Metadata { days_type, seconds_type, fractions_type })
    }
}

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let Metadata { days_type, seconds_type, fractions_type } = Metadata::of(node)?;
    checks.node(&node.integers(child::DAYS, days_type, node.dtype.nullable, node.rows)?, false)?;
    checks.node(&node.integers(child::SECONDS, seconds_type, false, node.rows)?, false)?;
    checks.node(&node.integers(child::FRACTIONS, fractions_type, false, node.rows)?, false)
}

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Metadata { days_type, seconds_type, fractions_type } = Metadata::of(node)?;
    let days = &node.integers(child::DAYS, days_type, node.dtype.nullable, node.rows)?;
    let (Some(second), Cells::W8(out)) = (node.dtype().per_second(), out) else { return Err(node.mistyped()) };
    days.indices(at, out, cx)?;
    let day = second.wrapping_mul(86_400);
    for word in out.iter_mut() {
        *word = word.wrapping_mul(day);
    }
    for (k, ptype, unit) in [(child::SECONDS, seconds_type, second), (child::FRACTIONS, fractions_type, 1)] {
        let mut t = cx.scope();
        let parts = t.take::<u64>(out.len())?;
        node.child_indices((k, ptype), at, parts, &mut t)?;
        for (word, part) in out.iter_mut().zip(parts) {
            *word = word.wrapping_add(part.wrapping_mul(unit));
        }
    }
    Ok(())
}

/// Writes timestamps in parts.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::field;
    use crate::column::Prim;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Days, seconds and fractions, each with its type. Days have the validity.
    pub fn parts(parts: [(Array, Prim); 3]) -> Array {
        let mut message = Writer::default();
        let [days, seconds, fractions] = parts.each_ref().map(|(_, prim)| u64::from(number_of_prim(*prim)));
        message.some(field::DAYS_TYPE, days).some(field::SECONDS_TYPE, seconds);
        message.some(field::FRACTIONS_TYPE, fractions);
        let array = Array::new(Encoding::DateTimeParts).message(&mut message);
        parts.into_iter().fold(array, |array, (part, _)| array.child(part))
    }
}
