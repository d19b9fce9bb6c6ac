//! Arrays around one child with the same rows: ext, map, masked.

use super::*;

/// `vortex.ext`: rows of the storage type of the extension.
pub(super) const EXT: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Wrapped(|node| node.aligned(child::ROWS, &node.dtype().storage()?.ty)),
    need: need::children,
    cells,
};

/// `vortex.map`: a list of entries.
pub(super) const MAP: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Wrapped(|node| node.aligned(child::ROWS, &node.dtype.entries()?)),
    need: need::children,
    cells,
};

/// `vortex.masked`: rows without nulls, and their validity.
pub(super) const MASKED: Scheme = Scheme {
    validity: Validity::Child(child::VALIDITY),
    holds: Holds::Wrapped(|node| node.aligned(child::ROWS, &node.dtype.required())),
    need: need::children,
    cells,
};

mod child {
    pub const ROWS: usize = 0;
    /// Validity, only in `vortex.masked`.
    pub const VALIDITY: usize = 1;
}

/// Fills `out` with the cells of the inner node.
pub(in crate::vortex) fn cells(
    node: &Node<'_>,
    ask: Ask,
    at: u64,
    out: &mut Cells<'_>,
    cx: &mut Context<'_, '_>,
) -> Result<()> {
    inner(node)?.cells(ask, at, out, cx)
}

/// Returns the bytes that the inner node takes.
pub(in crate::vortex) fn need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    inner(node)?.temporaries(amount, cx)
}

pub(super) fn inner<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    match node.holds() {
        Some(Holds::Wrapped(inner)) => inner(node),
        _ => Err(node.undecoded()),
    }
}

/// Writes arrays around a child.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Rows of the storage type of an extension.
    pub fn extension(rows: Array) -> Array {
        Array::new(Encoding::Ext).child(rows)
    }

    /// A list of entries, which must be a list view.
    pub fn map(rows: Array) -> Array {
        Array::new(Encoding::Map).child(rows)
    }

    /// Rows without nulls, and their validity.
    pub fn masked(rows: Array, valid: Array) -> Array {
        Array::new(Encoding::Masked).child(rows).child(valid)
    }
}
