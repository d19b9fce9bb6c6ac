//! `vortex.runend`: values and the ends of their runs.

use super::*;
use crate::bytes::FAST;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Picked(|node| Metadata::of(node)?.values(node), None),
    need: |node, amount, cx| {
        let (mut amount, mut search) = (amount, 0);
        if FAST {
            // No more runs are decoded than the array has, and no more than the rows have, which a search without memory
            // tells.
            let (ends, start) = ends(node, amount.at.unwrap_or(0))?;
            let known = amount.at.filter(|_| !ends.is_paged());
            let known = known.and_then(|_| runs(node, (&ends, start), amount.rows, cx).ok());
            amount = amount.at_most(known.map_or(ends.rows, |(_, count)| count));
            search = ends.search_need();
        }
        let own = need::indexed(amount.rows, amount.width);
        need::with_children(own.saturating_add(search), node, amount, cx)
    },
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

/// The ends of the runs, which must ascend, and the row to find for row `at`.
fn ends<'f>(node: &Node<'f>, at: u64) -> Result<(Node<'f>, u64)> {
    let Metadata { ends_type, runs, offset } = Metadata::of(node)?;
    let start = at.checked_add(offset).ok_or_else(|| node.error(Kind::Invalid, What::RUNS, offset))?;
    Ok((node.integers(child::ENDS, ends_type, false, runs)?, start))
}

/// Returns the number of rows starting at `at` that lie in one run.
pub(in crate::vortex) fn left(node: &Node<'_>, at: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
    let (ends, start) = ends(node, at)?;
    let end = ends.index(ends.first_above(start, cx)?, cx)?;
    Ok(end.saturating_sub(start).max(1))
}

/// Returns the number of the run of row `at`.
#[cfg(feature = "vortex-variant")]
pub(in crate::vortex) fn run_of(node: &Node<'_>, at: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
    let (ends, start) = ends(node, at)?;
    ends.first_above(start, cx)
}

/// Checks that the runs are in order, and reads all values.
pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let (ends, _) = ends(node, 0)?;
    checks.ordered(&ends, true, &|need| node.error(Kind::Invalid, What::RUNS, need))?;
    checks.whole(&Metadata::of(node)?.values(node)?)
}

/// Returns the number of the run of row `start` of `ends`, and the number of runs from there to the run of the last of `rows`
/// rows.
fn runs(node: &Node<'_>, (ends, start): (&Node<'_>, u64), rows: u64, cx: &mut Context<'_, '_>) -> Result<(u64, u64)> {
    let bad = |need| node.error(Kind::Invalid, What::RUNS, need);
    let end = start.checked_add(rows).ok_or_else(|| bad(start))?;
    let (first, behind) = (ends.first_above(start, cx)?, ends.below(end, cx)?.saturating_add(1));
    let count = behind.checked_sub(first).filter(|_| behind <= ends.rows).ok_or_else(|| bad(behind))?;
    Ok((first, count))
}

/// Fills `out`: a row has the value of the first run that ends after it.
fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let bad = |need| node.error(Kind::Invalid, What::RUNS, need);
    let (ends, start) = &ends(node, at)?;
    let start = *start;
    let (first, count) = runs(node, (ends, start), out.len() as u64, cx)?;
    let count = usize::try_from(count).ok().filter(|count| *count <= out.len()).ok_or_else(|| bad(count))?;
    let mut t = cx.scope();
    let places = t.take::<u64>(count)?;
    ends.indices(first, places, &mut t)?;
    for end in places.iter_mut() {
        *end = end.checked_sub(start).ok_or_else(|| bad(*end))?;
    }
    let mut cells = t.take_cells(out.width(), count)?;
    Metadata::of(node)?.values(node)?.cells(ask, first, &mut cells, &mut t)?;
    out.expand(&cells, places).map_err(|k| bad(first.saturating_add(k as u64)))
}

/// Writes runs.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::field;
    use crate::column::Prim;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// The ends of `count` runs, and the value of each.
    pub fn runs(count: usize, (ends, prim): (Array, Prim), values: Array) -> Array {
        let mut message = Writer::default();
        message.some(field::ENDS_TYPE, number_of_prim(prim).into()).uint(field::RUNS, count as u64);
        Array::new(Encoding::RunEnd).message(&mut message).child(ends).child(values)
    }
}
