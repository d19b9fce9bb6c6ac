//! The layouts (format description, section 7): the scheme, children and metadata of each.

use super::context::Context;
use super::encodings;
use super::encodings::{chunked, dict, structure};
use super::need::{self, Amount};
use super::node::Node;
use super::raw::LayoutId;
use super::rows::Rows;
use super::scheme::{Holds, Nested, Scheme, Validity};
use crate::error::{Kind, Result, What};
use crate::generated::vortex as flat;
#[cfg(feature = "std")]
use crate::meta::flat::{Linked, Table};

impl LayoutId {
    /// Returns the description of the layout.
    pub(super) const fn scheme(self) -> &'static Scheme {
        match self {
            LayoutId::Flat => &FLAT,
            LayoutId::Struct => &STRUCT,
            LayoutId::Chunked => &CHUNKED,
            LayoutId::Dict => &DICT,
            LayoutId::Zoned | LayoutId::Stats => &ZONED,
            LayoutId::Unknown => &encodings::UNKNOWN,
        }
    }
}

/// `vortex.flat`: an array in a segment.
const FLAT: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Wrapped(|node| node.array()),
    need: encodings::wrapped::need,
    cells: encodings::wrapped::cells,
};

/// `vortex.struct`: one child per field, preceded by the validity child if present.
const STRUCT: Scheme = Scheme {
    validity: Validity::Depends(structure::validity),
    holds: Holds::Nested(Nested { child: structure::child, each: structure::each }),
    need: structure::need,
    cells: structure::cells,
};

/// `vortex.chunked`: the concatenated rows of the children.
const CHUNKED: Scheme =
    Scheme { validity: Validity::Decoded, holds: Holds::Chunks(chunk), need: chunked_need, cells: chunked::cells };

/// Returns the rows in the chunk that stores the first of them.
fn chunk<'f>(rows: &Rows<'f>, cx: &mut Context<'_, '_>) -> Result<Rows<'f>> {
    let node = &rows.node;
    let (mut k, mut first) = cx.known_chunk(node, rows.at);
    if let Some(chunks) = node.layouts()? {
        while k < chunks.len() {
            #[cfg(feature = "std")]
            if let Some(next) = skipped(&chunks, (k, first), rows.at) {
                cx.spend_many(next.0.saturating_sub(k) as u64, node.at())?;
                (k, first) = next;
                continue;
            }
            cx.spend(node.at())?;
            let end = first.saturating_add(chunks.get(k)?.scalar(flat::Layout::ROW_COUNT, 0)?);
            if rows.at < end && end <= node.rows {
                cx.found_chunk(node, k, first);
                return rows.in_chunk(k, first, end);
            }
            (k, first) = (k.saturating_add(1), end);
            if rows.at < end {
                break;
            }
        }
    }
    Err(node.error(Kind::Invalid, What::VORTEX_ROWS, first))
}

/// Skips chunks before the one that stores row `at`: returns a later chunk and its first row, or `None` if the next chunk
/// stores the row, or is damaged.
#[cfg(feature = "std")]
fn skipped(chunks: &Linked<'_, Table<'_>>, (k, first): (usize, u64), at: u64) -> Option<(usize, u64)> {
    let next = chunks.sum_up_to(flat::Layout::ROW_COUNT, (k, first), at);
    (next.0 > k).then_some(next)
}

/// Returns the maximum of the chunks with some of the rows: they are decoded consecutively, in the same scratch memory.
fn chunked_need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    let Some(chunks) = node.layouts()? else { return Ok(0) };
    let (mut most, mut k, mut first) = (0, 0, 0u64);
    #[cfg(feature = "std")]
    if let Some(at) = amount.at {
        (k, first) = cx.known_chunk(node, at);
    }
    while k < chunks.len() {
        #[cfg(feature = "std")]
        if let Some(at) = amount.at {
            if let Some(next) = skipped(&chunks, (k, first), at) {
                (k, first) = next;
                continue;
            }
            if first >= at.saturating_add(amount.rows) {
                break;
            }
        }
        let end = first.saturating_add(chunks.get(k)?.scalar(flat::Layout::ROW_COUNT, 0)?);
        let next = k.saturating_add(1);
        if let Some(amount) = amount.of(&(first..end)) {
            most = need::some_children(node, k..next, amount, cx)?.max(most);
        }
        (k, first) = (next, end);
    }
    Ok(most)
}

/// `vortex.dict`: distinct values, and one code per row.
const DICT: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Picked(dict_values, Some(dict_codes)),
    need: |node, amount, cx| dict::need_of(&dict_codes(node)?, &dict_values(node)?, amount, cx),
    cells: |node, ask, at, out, cx| dict::pick(&dict_codes(node)?, &dict_values(node)?, (ask, at), out, cx),
};

/// Children of a dictionary layout.
pub(super) mod dict_child {
    pub const VALUES: usize = 0;
    pub const CODES: usize = 1;
}

/// Metadata of a dictionary layout.
pub(super) mod dict_field {
    pub const CODES_TYPE: u32 = 1;
    pub const CODES_NULLABLE: u32 = 2;
}

/// Returns the values of a dictionary layout.
pub(super) fn dict_values<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    node.child(dict_child::VALUES, &node.dtype, 0)
}

/// Returns the codes of a dictionary layout.
pub(super) fn dict_codes<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    dict::codes_of(node, dict_child::CODES, [dict_field::CODES_TYPE, dict_field::CODES_NULLABLE])
}

/// `vortex.zoned` and `vortex.stats`: rows, and a table with one row per zone.
const ZONED: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Wrapped(data),
    need: encodings::wrapped::need,
    cells: encodings::wrapped::cells,
};

/// Children of a layout with zones.
pub(super) mod zoned_child {
    pub const DATA: usize = 0;
    pub const ZONES: usize = 1;
}

/// Returns the node with the rows that the zones describe.
pub(super) fn data<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    node.aligned(zoned_child::DATA, &node.dtype)
}
