//! `vortex.runend`: values and the ends of their runs.

use super::*;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Picked(|node| Metadata::of(node)?.values(node), None),
    need: |node, amount, cx| need::with_children(need::indexed(amount.rows, amount.width), node, amount, cx),
    cells,
};

mod child {
    pub const ENDS: usize = 0;
    pub const VALUES: usize = 1;
}

mod field {
    pub const ENDS_TYPE: u32 = 1;
    pub const RUNS: u32 = 2;
    pub const OFFSET: u32 = 3;
}

struct Metadata {
    ends_type: u64,
    runs: u64,
    /// Number of rows at the start that were cut off.
    offset: u64,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [ends_type, runs, offset] = node.numbers(&[field::ENDS_TYPE, field::RUNS, field::OFFSET])?;
        Ok(Metadata { ends_type, runs, offset })
    }

    fn values<'f>(&self, node: &Node<'f>) -> Result<Node<'f>> {
        node.child(child::VALUES, &node.dtype, self.runs)
    }
}

/// Fills `out`: a row has the value of the first run that ends after it.
fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let bad = |need| node.error(Kind::Invalid, What::RUNS, need);
    let metadata = Metadata::of(node)?;
    let ends = &node.integers(child::ENDS, metadata.ends_type, false, metadata.runs)?;
    let start = at.checked_add(metadata.offset).ok_or_else(|| bad(metadata.offset))?;
    let end = start.checked_add(out.len() as u64).ok_or_else(|| bad(metadata.offset))?;
    // The runs from the run of the first row to the run of the last row.
    let (first, behind) = (ends.first_above(start, cx)?, ends.below(end, cx)?.saturating_add(1));
    let count = behind.checked_sub(first).filter(|_| behind <= ends.rows).ok_or_else(|| bad(behind))?;
    let count = usize::try_from(count).ok().filter(|count| *count <= out.len()).ok_or_else(|| bad(count))?;
    let mut t = cx.scope();
    let places = t.take::<u64>(count)?;
    ends.indices(first, places, &mut t)?;
    for end in places.iter_mut() {
        *end = end.checked_sub(start).ok_or_else(|| bad(*end))?;
    }
    let mut cells = t.take_cells(out.width(), count)?;
    metadata.values(node)?.cells(ask, first, &mut cells, &mut t)?;
    out.expand(&cells, places).map_err(|k| bad(first.saturating_add(k as u64)))
}
