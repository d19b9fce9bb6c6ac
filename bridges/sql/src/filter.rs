//! A predicate that is applied to rows while they are read.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array as _, AsArray as _, BooleanArray, RecordBatchOptions};
use arrow::compute::{BatchCoalescer, prep_null_mask_filter};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion_common::{Result, ScalarValue, internal_datafusion_err};
use datafusion_physical_expr::expressions::{DynamicFilterTracking, Literal};
use datafusion_physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion_physical_expr::{PhysicalExpr, conjunction, split_conjunction};
use datafusion_physical_expr_common::physical_expr::{is_volatile, snapshot_physical_expr};
use pilaster::any::{self, Table};

use crate::error::Reason;
use crate::options::Options;
use crate::scan::{Put, Reading, Scan, count, present};

/// Number of bytes of rows that wait, from which on they are passed on.
const BYTES: usize = 8 << 20;

/// Number of rows that are read, from which on those that meet the predicate are passed on.
const ROWS: usize = 1 << 18;

/// Whether a scan applies predicates. The rows that are left of damaged files must not depend on them.
pub(crate) const fn applied(options: &Options) -> bool {
    matches!(options.format, any::Format::Jay | any::Format::Vortex) && !options.skip_damaged && !options.tolerant
}

/// Whether a part of a predicate can be applied to rows of a file: columns of paths are not in it.
pub(crate) fn applies(part: &Arc<dyn PhysicalExpr>, file_schema: &Schema) -> bool {
    let stored = |name: &str, index: usize| file_schema.fields().get(index).is_some_and(|field| field.name() == name);
    !is_volatile(part) && collect_columns(part).iter().all(|column| stored(column.name(), column.index()))
}

/// Returns the predicate of a scan with a limit, which counts rows that the limit takes. Conditions that change while the query runs
/// come from nodes above the limit, so they must not choose which rows it counts.
pub(crate) fn below_limit(predicate: &Arc<dyn PhysicalExpr>) -> Option<Arc<dyn PhysicalExpr>> {
    let is_static =
        |part: &&Arc<dyn PhysicalExpr>| matches!(DynamicFilterTracking::classify(part), DynamicFilterTracking::Static);
    let parts: Vec<_> = split_conjunction(predicate).into_iter().filter(is_static).cloned().collect();
    if parts.is_empty() { None } else { Some(conjunction(parts)) }
}

/// Returns the predicate as it is now; `None` if all rows meet it.
pub(crate) fn now(predicate: &Arc<dyn PhysicalExpr>) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let now = snapshot_physical_expr(Arc::clone(predicate))?;
    let literal = now.downcast_ref::<Literal>().map(Literal::value);
    Ok(if literal == Some(&ScalarValue::Boolean(Some(true))) { None } else { Some(now) })
}

/// Returns which rows of a batch meet a predicate.
pub(crate) fn met(predicate: &Arc<dyn PhysicalExpr>, batch: &RecordBatch) -> Result<BooleanArray> {
    let met = predicate.evaluate(batch)?.into_array(batch.num_rows())?;
    let met = met.as_boolean_opt().ok_or_else(|| internal_datafusion_err!("a condition that is no boolean"))?;
    Ok(if met.nulls().is_some() { prep_null_mask_filter(met) } else { met.clone() })
}

/// A predicate, and the columns that are read for it and for the scan.
pub(crate) struct Filter {
    /// The scan of both.
    scan: Scan,
    /// Whether a file has none of the columns.
    empty: bool,
    reading: Reading,
    predicate: Arc<dyn PhysicalExpr>,
    tracking: DynamicFilterTracking,
    kept: Kept,
}

impl Filter {
    /// Returns the predicate of a scan, if it is applied here.
    pub fn new(scan: &Scan, mut table: Table<'_>) -> Result<Option<Self>, Reason> {
        let Some(predicate) = scan.predicate.as_ref().filter(|_| applied(&scan.options)) else { return Ok(None) };
        let parts: Vec<_> =
            split_conjunction(predicate).into_iter().filter(|part| applies(part, &scan.file_schema)).cloned().collect();
        if parts.is_empty() {
            return Ok(None);
        }
        let predicate = conjunction(parts);
        let used = collect_columns(&predicate);
        let mut fields = scan.columns.fields().to_vec();
        for (k, field) in scan.file_schema.fields().iter().enumerate() {
            if used.iter().any(|used| used.index() == k) && !fields.iter().any(|known| known.name() == field.name()) {
                fields.push(Arc::clone(field));
            }
        }
        let tracking = DynamicFilterTracking::classify(&predicate);
        let columns = Arc::new(Schema::new(fields));
        let empty = present(&columns, &mut table)?.is_empty();
        // Rows that change the predicate, and those that are counted, do not wait for others.
        let eager = scan.limit.is_some() || matches!(tracking, DynamicFilterTracking::Watching(_));
        let kept = Kept::new(scan, eager);
        let scan = Scan { limit: None, ..scan.with_columns(columns) };
        let mut filter = Filter { scan, empty, reading: Reading::default(), predicate, tracking, kept };
        filter.rebuild()?;
        Ok(Some(filter))
    }

    /// The predicate.
    pub const fn predicate(&self) -> &Arc<dyn PhysicalExpr> {
        &self.predicate
    }

    /// The columns that are read.
    pub const fn columns(&self) -> &SchemaRef {
        &self.scan.columns
    }

    fn rebuild(&mut self) -> Result<()> {
        let now = now(&self.predicate)?.map(|now| reassign_expr_columns(now, &self.scan.columns));
        self.kept.predicate = now.transpose()?;
        Ok(())
    }

    /// Passes on the rows that meet the predicate. Returns whether more are wanted.
    pub fn rows(&mut self, table: Table<'_>, rows: Range<u64>, put: &mut Put<'_>) -> Result<bool, Reason> {
        if self.tracking.watcher().is_some_and(|tracker| tracker.changed()) {
            self.rebuild()?;
        }
        let mut failed = None;
        let kept = &mut self.kept;
        let mut each = |batch: RecordBatch| match kept.add(&batch, put) {
            Ok(more) => more,
            Err(e) => {
                failed = Some(e);
                false
            }
        };
        let more = match self.empty {
            true => count(&self.scan, rows.end.saturating_sub(rows.start), &mut each)?,
            false => self.reading.rows(&self.scan, table, Some(rows), &mut each)?,
        };
        match failed {
            Some(e) => Err(e.into()),
            None => Ok(more && self.kept.pass(put)?),
        }
    }
}

/// Rows that meet a predicate, until they are passed on.
struct Kept {
    /// The columns that are wanted, which are the first ones of a batch.
    columns: SchemaRef,
    /// The predicate as it is now, in terms of the batches.
    predicate: Option<Arc<dyn PhysicalExpr>>,
    waiting: BatchCoalescer,
    /// Number of rows that wait, if no columns are wanted.
    rows: usize,
    /// Number of rows that were read since rows were passed on.
    read: usize,
    eager: bool,
}

impl Kept {
    fn new(scan: &Scan, eager: bool) -> Self {
        let columns = Arc::clone(&scan.columns);
        let rows = scan.batch_rows.max(1);
        let waiting = BatchCoalescer::new(Arc::clone(&columns), rows).with_biggest_coalesce_batch_size(Some(rows >> 1));
        Kept { columns, predicate: None, waiting, rows: 0, read: 0, eager }
    }

    /// Adds the rows of a batch that meet the predicate. Returns whether more are wanted.
    fn add(&mut self, batch: &RecordBatch, put: &mut Put<'_>) -> Result<bool> {
        let (len, count) = (batch.num_rows(), self.columns.fields().len());
        let met = self.predicate.as_ref().map(|predicate| met(predicate, batch)).transpose()?;
        let left = met.as_ref().map_or(len, BooleanArray::true_count);
        if count == 0 {
            self.rows = self.rows.saturating_add(left);
        } else if left > 0 {
            let wanted = batch.project(&(0..count).collect::<Vec<_>>())?;
            match met.filter(|_| left < len) {
                // The coalescer would copy rows that wait for no others.
                None if self.eager && self.waiting.is_empty() => {
                    self.read = 0;
                    return Ok(put(wanted));
                }
                Some(met) => self.waiting.push_batch_with_filter(wanted, &met)?,
                None => self.waiting.push_batch(wanted)?,
            }
        }
        self.read = self.read.saturating_add(len);
        if self.read >= ROWS || self.eager && left > 0 || self.waiting.size() >= BYTES {
            return self.pass(put);
        }
        while let Some(batch) = self.waiting.next_completed_batch() {
            if !put(batch) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Passes on all rows that wait; without any, a batch without rows, as nothing else tells whether more are wanted.
    fn pass(&mut self, put: &mut Put<'_>) -> Result<bool> {
        self.waiting.finish_buffered_batch()?;
        self.read = 0;
        let options = RecordBatchOptions::new().with_row_count(Some(mem::take(&mut self.rows)));
        let mut next = match self.columns.fields().is_empty() {
            true => Some(RecordBatch::try_new_with_options(Arc::clone(&self.columns), Vec::new(), &options)?),
            false => {
                self.waiting.next_completed_batch().or_else(|| Some(RecordBatch::new_empty(Arc::clone(&self.columns))))
            }
        };
        while let Some(batch) = next {
            if !put(batch) {
                return Ok(false);
            }
            next = self.waiting.next_completed_batch();
        }
        Ok(true)
    }
}
