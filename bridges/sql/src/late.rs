//! Rows that a predicate leaves by its own columns, so that other columns are read for these rows only.

use std::collections::HashSet;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::BooleanArray;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion_expr::Operator;
use datafusion_physical_expr::expressions::{BinaryExpr, Column, DynamicFilterTracking};
use datafusion_physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion_physical_expr::{PhysicalExpr, conjunction, split_conjunction};
use pilaster::any::Table;

use crate::counts::Counts;
use crate::error::Reason;
use crate::filter::{self, Filter, met};
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

/// How deep a predicate is searched for what it says about one column.
const DEPTH: u32 = 64;

/// What a predicate says about some of its columns, and how it is asked.
pub(crate) struct Late<'s> {
    /// The scan of the columns that are asked.
    scan: Scan,
    reading: Reading,
    /// The predicate in terms of the table.
    predicate: Arc<dyn PhysicalExpr>,
    tracking: DynamicFilterTracking,
    /// The condition as it is now, in terms of the columns that are asked; `None` if it is not asked.
    now: Option<Arc<dyn PhysicalExpr>>,
    /// The columns that the filter reads.
    read: SchemaRef,
    /// The columns of the file.
    present: HashSet<String>,
    /// How often the condition is not asked from now on.
    pause: u32,
    counts: &'s Counts,
}

impl<'s> Late<'s> {
    /// Returns what saves reading columns of a filter; `None` if a limit ends the scan with the first rows.
    pub fn new(scan: &Scan, filter: &Filter, mut table: Table<'_>, counts: &'s Counts) -> Result<Option<Self>, Reason> {
        if scan.limit.is_some() {
            return Ok(None);
        }
        let read = Arc::clone(filter.columns());
        let predicate = Arc::clone(filter.predicate());
        let mut late = Late {
            scan: scan.with_columns(Arc::clone(&read)),
            reading: Reading::default(),
            tracking: DynamicFilterTracking::classify(&predicate),
            predicate,
            now: None,
            present: present(&read, &mut table)?.into_iter().collect(),
            read,
            pause: 0,
            counts,
        };
        late.rebuild();
        Ok(Some(late))
    }

    /// Makes the condition of the predicate as it is now. One that cannot be made is not asked.
    fn rebuild(&mut self) {
        self.now = filter::now(&self.predicate).ok().flatten().and_then(|now| self.condition(&now));
    }

    /// Returns the condition in terms of its columns, if it may save reading others. Conditions of the first rows of an order have
    /// the form `a > 1 OR a = 1 AND b > 2`: the first column decides nearly all rows.
    fn condition(&mut self, predicate: &Arc<dyn PhysicalExpr>) -> Option<Arc<dyn PhysicalExpr>> {
        let parts = split_conjunction(predicate).into_iter().map(|part| {
            let mut columns: Vec<_> = collect_columns(part).into_iter().collect();
            columns.sort_by_key(Column::index);
            let weaker = columns.iter().find_map(|column| weakened(part, column, DEPTH));
            weaker.unwrap_or_else(|| Arc::clone(part))
        });
        let condition = conjunction(parts);
        let used: HashSet<_> = collect_columns(&condition).iter().map(|column| column.name().to_owned()).collect();
        let saves = self.read.fields().iter().any(|field| !used.contains(field.name()));
        if !saves || used.is_disjoint(&self.present) {
            return None;
        }
        let fields = self.read.fields().iter().filter(|field| used.contains(field.name())).cloned();
        let columns = Schema::new(fields.collect::<Vec<_>>());
        if *self.scan.columns != columns {
            (self.scan, self.reading) = (self.scan.with_columns(Arc::new(columns)), Reading::default());
        }
        reassign_expr_columns(condition, &self.scan.columns).ok()
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
            // The filter asks more of the same rows, if no other condition leaves them out, and tells why it cannot.
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

/// Returns a condition of one column that all rows meet which meet `part`; `None` if no such condition was found.
fn weakened(part: &Arc<dyn PhysicalExpr>, column: &Column, depth: u32) -> Option<Arc<dyn PhysicalExpr>> {
    if collect_columns(part).iter().all(|used| used == column) {
        return Some(Arc::clone(part));
    }
    let (binary, depth) = (part.downcast_ref::<BinaryExpr>()?, depth.checked_sub(1)?);
    let sides = [binary.left(), binary.right()].map(|side| weakened(side, column, depth));
    match (binary.op(), sides) {
        (Operator::And, [Some(left), Some(right)]) => Some(Arc::new(BinaryExpr::new(left, Operator::And, right))),
        (Operator::And, [one, other]) => one.or(other),
        (Operator::Or, [Some(left), Some(right)]) => Some(Arc::new(BinaryExpr::new(left, Operator::Or, right))),
        _ => None,
    }
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
