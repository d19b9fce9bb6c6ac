//! The rows of a part that filters leave.

use std::collections::VecDeque;
use std::ops::Range;

use pilaster::column::{Column, Memory, Part};

use crate::options::Filter;
use crate::{Error, held};

/// Returns the rows among `rows` in which no filter excludes a zone.
pub(crate) fn kept<P: Part>(part: &P, rows: Range<u64>, filters: &[Filter<'_>]) -> Result<VecDeque<Range<u64>>, Error> {
    let mut kept = VecDeque::from([rows]);
    for filter in filters {
        let column = part.named(&filter.column).map_err(|e| Error::from(e).in_column(&filter.column))?;
        let mut left = VecDeque::new();
        for rows in kept {
            one(&column, rows, filter, &mut left).map_err(|e| e.in_column(&filter.column))?;
        }
        kept = left;
    }
    kept.retain(|rows| rows.start < rows.end);
    Ok(kept)
}

/// Appends the rows among `rows` that one filter leaves.
fn one<C: Column>(
    column: &C,
    rows: Range<u64>,
    filter: &Filter<'_>,
    left: &mut VecDeque<Range<u64>>,
) -> Result<(), Error> {
    let mut memory = Memory::default();
    let mut row = rows.start;
    while row < rows.end {
        let mut scratch = memory.scratch();
        let zone = match column.zone_around(row, &mut scratch) {
            Ok(zone) => zone,
            Err(e) => {
                memory.grow(e)?;
                continue;
            }
        };
        // A zone that does not reach further would be asked for again without end.
        let known = zone.filter(|zone| zone.rows.start <= row && row < zone.rows.end);
        let (end, may) = known.map_or((rows.end, true), |zone| (zone.rows.end, (filter.may_match)(&zone)));
        let end = end.min(rows.end);
        match left.back_mut() {
            Some(last) if may && last.end == row => last.end = end,
            _ if may => left.push_back(row..end),
            _ => {}
        }
        row = end;
    }
    Ok(())
}

/// Returns whether all rows of a column can be held at once: they lie in the file, and are not decoded.
pub(crate) fn raw<C: Column>(column: &C, rows: &Range<u64>, home: &held::Home) -> bool {
    let most = home.file.as_ref().map_or(0, |file| (file.len() as u64).saturating_mul(8));
    rows.end.saturating_sub(rows.start) <= most && column.need(rows.clone()) == Ok(0)
}
