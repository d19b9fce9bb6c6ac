//! Checks that involve several columns: all names differ, no buffers overlap.
//!
//! Up to [`FEW`] columns need only stack memory; with more columns, each takes eight bytes of scratch memory.

use crate::bytes::{FileRange, Scratch, low32, sort_by};
use crate::error::{Error, Kind, Result, What};
use crate::generated::jay as views;
use crate::hash::lookup2;
use crate::meta::flat::Linked;

type Columns<'a> = Linked<'a, views::Column<'a>>;

/// Maximum number of columns that are compared on the stack.
const FEW: usize = 32;

/// Checks that all names differ. The caller has checked that each name is present; together they take `meta` bytes.
pub(super) fn unique_names(columns: &Columns<'_>, meta: u64, scratch: &mut Scratch<'_>) -> Result<()> {
    let count = columns.len();
    let mut few = [0u64; FEW];
    let mut inner = scratch.scope();
    let keys = match few.get_mut(..count) {
        Some(keys) => keys,
        None => inner.take::<u64>(count)?,
    };
    // Names in a FlatBuffer may overlap. Without this limit, a few bytes would cause much work.
    let mut left = meta;
    for (k, key) in keys.iter_mut().enumerate() {
        let name = name(columns, k);
        left = match left.checked_sub(name.len() as u64) {
            Some(left) => left,
            None => return Err(Error::new(Kind::Invalid, What::JAY_NAME, k as u64)),
        };
        *key = u64::from(lookup2(0, name)) << 32 | u64::from(low32(k as u64));
    }
    let (hash, of) = (|key: u64| key >> 32, |key: u64| name(columns, low32(key) as usize));
    sort_by(keys, |a, b| hash(*a).cmp(&hash(*b)).then_with(|| of(*a).cmp(of(*b))).is_lt());
    for (a, b) in keys.iter().zip(keys.iter().skip(1)) {
        if hash(*a) == hash(*b) && of(*a) == of(*b) {
            let at = columns.get(low32(*a.max(b)) as usize)?.at();
            return Err(Error::new(Kind::Invalid, What::JAY_NAME, at));
        }
    }
    Ok(())
}

fn name<'a>(columns: &Columns<'a>, k: usize) -> &'a [u8] {
    columns.get(k).and_then(|column| column.name()).ok().flatten().map_or(&[], |name| name.bytes())
}

/// Counts the buffers of a file and detects whether they are in ascending order, as every writer stores them. Then they
/// are disjoint, and no list of them is needed.
pub(super) struct Disjoint {
    end: u64,
    pub(super) count: usize,
    pub(super) ascending: bool,
}

impl Disjoint {
    pub(super) const NONE: Disjoint = Disjoint { end: 0, count: 0, ascending: true };

    pub(super) fn add(&mut self, span: FileRange) {
        self.ascending &= span.at >= self.end;
        self.end = span.end().unwrap_or(u64::MAX);
        self.count = self.count.saturating_add(1);
    }
}

/// Checks that buffers do not overlap. `spans` holds start and end of each buffer in any order; it is sorted here.
pub(super) fn disjoint(spans: &mut [[u64; 2]]) -> Result<()> {
    sort_by(spans, |a, b| a < b);
    for ([_, end], [next, _]) in spans.iter().zip(spans.iter().skip(1)) {
        if next < end {
            return Err(Error::needing(Kind::Invalid, What::JAY_BUFFER, *next, end.saturating_sub(*next)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_that_touch_do_not_overlap() {
        assert_eq!(disjoint(&mut [[16, 24], [0, 8], [8, 16]]), Ok(()));
        let e = disjoint(&mut [[16, 24], [0, 17]]).unwrap_err();
        assert_eq!((e.what(), e.at(), e.need()), (What::JAY_BUFFER, 16, 1));
    }
}
