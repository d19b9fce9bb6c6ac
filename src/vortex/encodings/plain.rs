//! Values as they are in memory: null, primitive, bool, bytebool.

use super::*;
use crate::bytes::{Bits, product, saturated};
use crate::error::Error;

/// `vortex.null`: no row has a value.
pub(super) const NULL: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Nulls,
    need: need::nothing,
    cells: |_, _, _, out, _| {
        out.fill(&[0; 32]);
        Ok(())
    },
};

/// `vortex.primitive`: the bytes of a buffer.
pub(super) const PRIMITIVE: Scheme = Scheme {
    validity: Validity::Child(VALIDITY),
    holds: Holds::Values,
    need: need::children,
    cells: |node, _, at, out, _| {
        prim_cells(node, out)?;
        out.load(fixed(node, out.width(), at, out.len())?)
    },
};

/// `vortex.bool`: the bits of a buffer.
pub(super) const BOOL: Scheme = Scheme {
    validity: Validity::Child(VALIDITY),
    holds: Holds::Values,
    need: need::children,
    cells: |node, _, at, out, _| {
        let Cells::W1(out) = out else { return Err(node.mistyped()) };
        let bits = bits(node, at, out.len())?;
        for (bytes, word) in out.chunks_mut(64).zip(bits.words()) {
            for (i, byte) in bytes.iter_mut().enumerate() {
                *byte = u8::from(word >> i & 1 == 1);
            }
        }
        Ok(())
    },
};

/// `vortex.bytebool`: any byte but 0 is true.
pub(super) const BYTE_BOOL: Scheme = Scheme {
    validity: Validity::Child(VALIDITY),
    holds: Holds::Values,
    need: need::children,
    cells: |node, _, at, out, _| {
        let Cells::W1(out) = out else { return Err(node.mistyped()) };
        let bytes = fixed(node, 1, at, out.len())?;
        for (to, byte) in out.iter_mut().zip(bytes) {
            *to = u8::from(*byte != 0);
        }
        Ok(())
    },
};

/// The only buffer of each of these encodings, and of decimals.
pub(super) const VALUES: usize = 0;

/// The only child.
const VALIDITY: usize = 0;

/// Metadata of `vortex.bool`: number of bits before the first row, at most 7.
const BIT_OFFSET: u32 = 1;

/// Returns rows `at..at + len` of the buffer, which must have exactly one cell of `width` bytes per row of the array.
pub(in crate::vortex) fn fixed<'f>(node: &Node<'f>, width: usize, at: u64, len: usize) -> Result<&'f [u8]> {
    let buffer = node.buffer(VALUES)?;
    let need = product(node.rows, width as u64);
    if buffer.bytes.len() as u64 != need {
        return Err(Error::needing(Kind::Truncated, What::VORTEX_BUFFER, buffer.at, need));
    }
    let start = saturated(at).saturating_mul(width);
    let end = start.saturating_add(len.saturating_mul(width));
    buffer.bytes.get(start..end).ok_or_else(|| node.error(Kind::OutOfRange, What::VORTEX_ROWS, node.rows))
}

/// Checks the alignment of the numbers of a primitive array.
pub(super) fn check(node: &Node<'_>, checks: &Checks<'_, '_>) -> Result<()> {
    checks.aligned(node, VALUES, node.prim()?.size())
}

/// Returns rows `at..at + len` of a `vortex.bool`.
pub(in crate::vortex) fn bits<'f>(node: &Node<'f>, at: u64, len: usize) -> Result<Bits<'f>> {
    let [offset] = node.numbers(&[BIT_OFFSET])?;
    if offset > 7 {
        return Err(node.error(Kind::Invalid, What::VORTEX_METADATA, offset));
    }
    let buffer = node.buffer(VALUES)?;
    let end = node.rows.saturating_add(offset);
    if end.div_ceil(8) > buffer.bytes.len() as u64 {
        return Err(Error::needing(Kind::Truncated, What::VORTEX_BUFFER, buffer.at, end.div_ceil(8)));
    }
    // The position is inside the buffer, so it fits in `usize`.
    let first = saturated(at.saturating_add(offset));
    Bits::new(buffer.bytes, first, len).map_err(|e| e.moved(buffer.at))
}

/// Writes null, primitive and bool.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use crate::vortex::encodings::constant;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::{Array, Bitmap, Numbers};

    /// Rows without a value.
    pub fn null() -> Array {
        Array::new(Encoding::Null)
    }

    /// Integers or floats as they are in memory.
    pub fn primitive(numbers: &Numbers, valid: Option<Array>) -> Array {
        let (bytes, size) = numbers.stored();
        Array::new(Encoding::Primitive).buffer(bytes, size).child(valid)
    }

    /// One bit per row.
    pub fn bits(bits: &Bitmap, valid: Option<Array>) -> Array {
        Array::new(Encoding::Bool).buffer(bits.bytes.clone(), 1).child(valid)
    }

    /// The validity of rows; `None` if all have a value.
    pub fn validity(valid: Option<&Bitmap>) -> Option<Array> {
        let valid = valid?;
        match valid.ones() {
            ones if ones == valid.len => None,
            0 => Some(constant::write::boolean(false)),
            _ => Some(bits(valid, None)),
        }
    }
}
