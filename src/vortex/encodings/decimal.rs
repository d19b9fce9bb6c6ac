//! `vortex.decimal`: integers of a width that may differ from the width of the type.

use super::*;
use crate::bytes::FAST;
use crate::encoding::cells::narrow;
use crate::vortex::scalar::{fits, wide};

pub(super) const SCHEME: Scheme =
    Scheme { validity: Validity::Child(VALIDITY), holds: Holds::Values, need: need::children, cells };

/// The only child.
const VALIDITY: usize = 0;

mod field {
    /// The size of an integer in bytes, as an exponent of two.
    pub const WIDTH: u32 = 1;
}

/// Returns the size of a stored integer in bytes.
fn width(node: &Node<'_>) -> Result<usize> {
    match node.numbers(&[field::WIDTH])? {
        [width @ 0..=5] => Ok(1 << width),
        [other] => Err(node.error(Kind::Invalid, What::VORTEX_METADATA, other)),
    }
}

pub(super) fn check(node: &Node<'_>, checks: &Checks<'_, '_>) -> Result<()> {
    checks.aligned(node, plain::VALUES, width(node)?)
}

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    if node.dtype.cell() != Some(out.width()) {
        return Err(node.mistyped());
    }
    let size = width(node)?;
    let bytes = plain::fixed(node, size, at, out.len())?;
    if size == out.width() {
        return out.load(bytes);
    }
    if FAST && size < out.width() {
        return extended(node, (out, size), |numbers| numbers.load(bytes));
    }
    for (i, number) in bytes.chunks_exact(size.max(1)).enumerate() {
        put(node, number, (i, at), out, cx)?;
    }
    Ok(())
}

/// Fills cells with numbers of `size` bytes, which `fill` stores in cells of that size. Every number fits.
pub(super) fn extended(
    node: &Node<'_>,
    (out, size): (&mut Cells<'_>, usize),
    fill: impl FnOnce(&mut Cells<'_>) -> Result<()>,
) -> Result<()> {
    let width = out.width();
    fill(&mut narrow(out.bytes_mut(), size, width).ok_or_else(|| node.mistyped())?)?;
    out.extend(size);
    Ok(())
}

/// Stores a number of 1 to 32 bytes in cell `i`. Fails if it does not fit, unless row `at + i` is null.
pub(super) fn put(
    node: &Node<'_>,
    number: &[u8],
    (i, at): (usize, u64),
    out: &mut Cells<'_>,
    cx: &mut Context<'_, '_>,
) -> Result<()> {
    let Some(value) = &wide(number) else { return Ok(()) };
    if !fits(value, out.width()) && node.is_valid(at.saturating_add(i as u64), cx)? {
        return Err(node.error(Kind::Overflow, What::VORTEX_BUFFER, at.saturating_add(i as u64)));
    }
    out.part(i, 1).fill(value);
    Ok(())
}

/// Writes decimals.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::field;
    use crate::meta::proto::write::Writer;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::{Array, Numbers};

    /// Unscaled integers as they are in memory.
    pub fn decimal(numbers: &Numbers, valid: Option<Array>) -> Array {
        let (bytes, size) = numbers.stored();
        let mut message = Writer::default();
        message.some(field::WIDTH, size.max(1).ilog2().into());
        Array::new(Encoding::Decimal).message(&mut message).buffer(bytes, size).child(valid)
    }
}
