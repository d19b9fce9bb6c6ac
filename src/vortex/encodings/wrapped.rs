//! Arrays around one child with the same rows: ext, map, masked.

use super::*;

/// `vortex.ext`: rows of the type that the extension stores.
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

/// `vortex.masked`: rows without nulls, and which of them have a value.
pub(super) const MASKED: Scheme = Scheme {
    validity: Validity::Child(child::VALIDITY),
    holds: Holds::Wrapped(|node| node.aligned(child::ROWS, &node.dtype.required())),
    need: need::children,
    cells,
};

mod child {
    pub const ROWS: usize = 0;
    /// Validity; `vortex.masked` only.
    pub const VALIDITY: usize = 1;
}

/// The cells of the node inside.
pub(in crate::vortex) fn cells(
    node: &Node<'_>,
    ask: Ask,
    at: u64,
    out: &mut Cells<'_>,
    cx: &mut Context<'_, '_>,
) -> Result<()> {
    inner(node)?.cells(ask, at, out, cx)
}

/// What the node inside needs.
pub(in crate::vortex) fn need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    inner(node)?.temporaries(amount, cx)
}

pub(super) fn inner<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    match node.holds() {
        Some(Holds::Wrapped(inner)) => inner(node),
        _ => Err(node.undecoded()),
    }
}
