//! Rows that a predicate leaves by its own columns, so that other columns are read for these rows only.

use std::collections::HashSet;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array as _, AsArray as _, BooleanArray};
use arrow::compute::prep_null_mask_filter;
use arrow::record_batch::RecordBatch;
use datafusion_common::{Result, ScalarValue, internal_datafusion_err};
use datafusion_physical_expr::expressions::{DynamicFilterTracking, Literal};
use datafusion_physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion_physical_expr::{PhysicalExpr, conjunction, split_conjunction};
use datafusion_physical_expr_common::physical_expr::{is_volatile, snapshot_physical_expr};
use pilaster::any::Table;

use crate::counts::Counts;
use crate::error::Reason;
use crate::scan::{Reading, Scan, present};

/// Number of rows whose predicate is asked before other columns of them are read.
pub(crate) const ROWS: u64 = 1 << 18;

/// Two ranges with a gap of at most this many rows are read as one.
const GAP: u64 = 1 << 12;

/// If a predicate leaves more ranges of a piece, all rows of it are read: each range costs a request per column, and keeps all that it
/// fetched in memory.
const RANGES: usize = 4;

/// Number of times that a predicate which left most rows, or rows everywhere, is not asked.
const PAUSE: u32 = 8;

/// A predicate, and how it is asked.
pub(crate) struct Late<'s> {
    /// The scan of the columns of the predicate.
    scan: Scan,
    reading: Reading,
    /// The predicate in terms of the table.
    predicate: Arc<dyn PhysicalExpr>,
    tracking: DynamicFilterTracking,
    /// The predicate as it is now, in terms of its columns; `None` if all rows meet it, or if it cannot be asked.
    now: Option<Arc<dyn PhysicalExpr>>,
    /// How often the predicate is not asked from now on.
    pause: u32,
    counts: &'s Counts,
}

impl<'s> Late<'s> {
    /// Returns the predicate of a scan, if it may save reading other columns. Rows that are counted by a limit stay, and so do those
    /// of damaged files, whose number must not depend on the predicate.
    pub fn new(scan: &Scan, mut table: Table<'_>, counts: &'s Counts) -> Result<Option<Self>, Reason> {
        let Some(predicate) = &scan.predicate else { return Ok(None) };
        if scan.limit.is_some() || scan.options.skip_damaged || scan.options.tolerant {
            return Ok(None);
        }
        // Columns of paths are not in files. Each part leaves out rows on its own.
        let schema = &scan.file_schema;
        let own = |part: &&Arc<dyn PhysicalExpr>| {
            let stored =
                |name: &str, index: usize| schema.fields().get(index).is_some_and(|field| field.name() == name);
            !is_volatile(part) && collect_columns(part).iter().all(|column| stored(column.name(), column.index()))
        };
        let predicate = conjunction(split_conjunction(predicate).into_iter().filter(own).cloned());
        let used = collect_columns(&predicate);
        let names: HashSet<_> = used.iter().map(|column| column.name()).collect();
        let indices: Vec<_> =
            (0..schema.fields().len()).filter(|k| used.iter().any(|used| used.index() == *k)).collect();
        let saves = scan.columns.fields().iter().any(|field| !names.contains(field.name().as_str()));
        if indices.is_empty() || names.len() != indices.len() || !saves {
            return Ok(None);
        }
        let columns = Arc::new(schema.project(&indices).map_err(pilaster_arrow::Error::from)?);
        if present(&columns, &mut table)?.is_empty() {
            return Ok(None);
        }
        let tracking = DynamicFilterTracking::classify(&predicate);
        let scan = scan.with_columns(columns);
        let (reading, now) = (Reading::default(), None);
        let mut late = Late { scan, reading, predicate, tracking, now, pause: 0, counts };
        late.rebuild();
        Ok(Some(late))
    }

    fn rebuild(&mut self) {
        let now = snapshot_physical_expr(Arc::clone(&self.predicate));
        let now = now.and_then(|now| reassign_expr_columns(now, &self.scan.columns)).ok();
        let always = |now: &Arc<dyn PhysicalExpr>| {
            let literal = now.downcast_ref::<Literal>();
            literal.is_some_and(|literal| *literal.value() == ScalarValue::Boolean(Some(true)))
        };
        self.now = now.filter(|now| !always(now));
    }

    /// Returns ranges that have all of `rows` that meet the predicate, as it is now.
    pub fn kept(&mut self, table: Table<'_>, rows: Range<u64>) -> Result<Vec<Range<u64>>, Reason> {
        if self.tracking.watcher().is_some_and(|tracker| tracker.changed()) {
            self.rebuild();
            self.pause = 0;
        }
        let Some(now) = self.now.clone() else { return Ok(vec![rows]) };
        if self.pause > 0 {
            self.pause = self.pause.saturating_sub(1);
            return Ok(vec![rows]);
        }
        let (mut kept, mut row, mut asked) = (Vec::new(), rows.start, true);
        let mut put = |batch: RecordBatch| {
            match met(&now, &batch) {
                Ok(met) => add(&mut kept, row, &met),
                Err(_) => asked = false,
            }
            row = row.saturating_add(batch.num_rows() as u64);
            asked
        };
        self.reading.rows(&self.scan, table, Some(rows.clone()), &mut put)?;
        if !asked {
            // DataFusion asks the same of the same rows, if no other condition leaves them out, and tells why it cannot.
            self.now = None;
            return Ok(vec![rows]);
        }
        let len = |rows: &Range<u64>| rows.end.saturating_sub(rows.start);
        let (all, left) = (len(&rows), kept.iter().map(len).fold(0, u64::saturating_add));
        if kept.len() > RANGES || left > all >> 1 {
            self.pause = PAUSE;
        }
        if kept.len() > RANGES {
            return Ok(vec![rows]);
        }
        self.counts.rows_filtered.add(usize::try_from(all.saturating_sub(left)).unwrap_or(usize::MAX));
        Ok(kept)
    }
}

/// Returns which rows of a batch meet a predicate.
fn met(predicate: &Arc<dyn PhysicalExpr>, batch: &RecordBatch) -> Result<BooleanArray> {
    let met = predicate.evaluate(batch)?.into_array(batch.num_rows())?;
    let met = met.as_boolean_opt().ok_or_else(|| internal_datafusion_err!("a condition that is no boolean"))?;
    Ok(if met.nulls().is_some() { prep_null_mask_filter(met) } else { met.clone() })
}

/// Adds the rows of a batch that meet a predicate to ranges. `first`: the row of the batch.
fn add(kept: &mut Vec<Range<u64>>, first: u64, met: &BooleanArray) {
    for (start, end) in met.values().set_slices() {
        let (start, end) = (first.saturating_add(start as u64), first.saturating_add(end as u64));
        match kept.last_mut() {
            Some(last) if start.saturating_sub(last.end) <= GAP => last.end = end,
            _ => kept.push(start..end),
        }
    }
}

/// Returns a range of rows in pieces of at most [`ROWS`] rows, which end at multiples of it.
pub(crate) fn pieces(rows: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut start = rows.start;
    std::iter::from_fn(move || {
        let end = start.saturating_add(1).checked_next_multiple_of(ROWS).unwrap_or(rows.end).min(rows.end);
        let some = mem::replace(&mut start, end)..end;
        (!some.is_empty()).then_some(some)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_rows_that_meet() {
        let mut kept = Vec::new();
        let met =
            |rows: &[usize], len: usize| BooleanArray::from((0..len).map(|k| rows.contains(&k)).collect::<Vec<_>>());
        add(&mut kept, 100, &met(&[3, 4, 5000], 6000));
        assert_eq!(kept, [103..105, 5100..5101]);
        add(&mut kept, 6100, &met(&[0], 10));
        add(&mut kept, 6110, &met(&[], 10));
        assert_eq!(kept, [103..105, 5100..6101]);
    }

    #[test]
    fn pieces_are_all_rows() {
        assert_eq!(pieces(5..5).count(), 0);
        assert_eq!(pieces(5..ROWS * 2 + 1).collect::<Vec<_>>(), [5..ROWS, ROWS..ROWS * 2, ROWS * 2..ROWS * 2 + 1]);
    }
}
