//! Reads the rows of one file, or those that a byte range of it owns, on a thread that may block.

use std::collections::HashSet;
use std::iter;
use std::mem;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{RecordBatchOptions, new_null_array};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchReader};
use datafusion_common::{DataFusionError, exec_datafusion_err};
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr_adapter::{BatchAdapter, BatchAdapterFactory};
use pilaster::any::{File, Part};
use pilaster::bytes::{Ranges, Scratch};
use pilaster::column::{Memory, Part as _, Table};
use pilaster::error::Kind;
use pilaster_arrow::{ReadOptions, Spare};

use crate::error::{Failure, Reason};
use crate::extents::Extents;
use crate::filter::Filter;
use crate::heads::Heads;
use crate::late::{self, Late};
use crate::options::Options;
use crate::order::Order;
use crate::schema::{ambiguous, columns};
use crate::share::share;
use crate::store::Remote;
use crate::zones::Pruner;
use crate::{help, open};

/// A choice of rows and columns of a file.
pub(crate) struct Scan {
    pub options: Options,
    /// The columns of files of the table.
    pub file_schema: SchemaRef,
    /// The columns that are read, of these.
    pub columns: SchemaRef,
    pub predicate: Option<Arc<dyn PhysicalExpr>>,
    /// Maximum number of rows that are wanted.
    pub limit: Option<usize>,
    pub batch_rows: usize,
    /// The byte range; the whole file if `None`.
    pub range: Option<Range<u64>>,
    pub heads: Arc<Heads>,
    /// The rows that are wanted first.
    pub order: Option<Order>,
    /// The directory of a dataset.
    pub directory: Option<PathBuf>,
}

impl Scan {
    /// Returns the scan of other columns, without predicate.
    pub fn with_columns(&self, columns: SchemaRef) -> Scan {
        Scan {
            options: self.options.clone(),
            file_schema: Arc::clone(&self.file_schema),
            columns,
            predicate: None,
            limit: self.limit,
            batch_rows: self.batch_rows,
            range: self.range.clone(),
            heads: Arc::clone(&self.heads),
            order: None,
            directory: self.directory.clone(),
        }
    }
}

/// Passes batches on. Returns whether more are wanted.
pub(crate) type Put<'p> = dyn FnMut(RecordBatch) -> bool + 'p;

/// Number of bytes that are fetched before memory is released.
const WINDOW: u64 = 32 << 20;

/// Number of stored bytes that a step reads, estimated.
const STEP: u64 = 8 << 20;

/// Bounds of the number of rows of a step. The number is a multiple of the least one, which is used if the predicate changes
/// while the query runs: it is asked again before each step.
const STEP_ROWS: (u64, u64) = (1 << 16, 1 << 22);

/// Maximum number of rows of a batch without columns.
const EMPTY_ROWS: u64 = 1 << 20;

/// Reads the rows.
pub(crate) fn run(scan: &Scan, remote: &Arc<Remote>, put: &mut Put<'_>) -> Result<(), Failure> {
    let mut limited = limited(scan, put);
    open::with_file(remote, &scan.options, &scan.heads, |file, ranges| {
        let failure = |reason: Reason| remote.failure(ranges, reason);
        let name = scan.options.table.as_deref();
        // Which of several tables is meant is an error of its own.
        file.table(name).map_err(|e| failure(e.into()))?;
        let done = match file {
            File::DataSeries(series) => {
                let range = scan.range.clone().unwrap_or(0..remote.len());
                Extents::new(series, file, ranges, (name, &range)).map_err(Reason::from).and_then(|extents| {
                    if scan.columns.fields().iter().all(|field| !extents.lists(field.name())) {
                        return match scan.options.skip_damaged {
                            true => count_unpacked(scan, extents, &mut limited),
                            false => count(scan, extents.count(remote)?, &mut limited).map(|_| ()),
                        };
                    }
                    Reading::default().rows(scan, extents, None, &mut limited).map(|_| ())
                })
            }
            file => rows(scan, remote, (file, ranges), &mut limited),
        };
        done.map_err(failure)
    })
}

/// Passes batches on until the limit is reached.
pub(crate) fn limited<'p>(scan: &Scan, put: &'p mut Put<'_>) -> impl FnMut(RecordBatch) -> bool + 'p {
    let mut left = scan.limit.unwrap_or(usize::MAX);
    move |batch| {
        let rows = batch.num_rows();
        let batch = if rows > left { batch.slice(0, left) } else { batch };
        left = left.saturating_sub(rows);
        put(batch) && left > 0
    }
}

/// Passes on batches of `rows` rows of a file that has none of the columns, which are null there. Returns whether more are wanted.
pub(crate) fn count(scan: &Scan, mut rows: u64, put: &mut Put<'_>) -> Result<bool, Reason> {
    let fields = scan.columns.fields();
    let most = if fields.is_empty() { EMPTY_ROWS } else { scan.batch_rows.max(1) as u64 };
    while rows > 0 {
        let some = rows.min(most);
        let len = usize::try_from(some).unwrap_or(usize::MAX);
        let options = RecordBatchOptions::new().with_row_count(Some(len));
        let nulls = fields.iter().map(|field| new_null_array(field.data_type(), len)).collect();
        let batch = RecordBatch::try_new_with_options(Arc::clone(&scan.columns), nulls, &options);
        if !put(batch.map_err(pilaster_arrow::Error::from)?) {
            return Ok(false);
        }
        rows = rows.saturating_sub(some);
    }
    Ok(true)
}

/// Counts the rows of all parts before the first damaged one. Columns have the same rows.
fn count_unpacked<T: Table>(scan: &Scan, mut table: T, put: &mut Put<'_>) -> Result<(), Reason> {
    let mut memory = Memory::default();
    loop {
        let rows = match table.next_part(&mut memory.scratch()) {
            Ok(Some(part)) => part.rows(),
            Ok(None) => return Ok(()),
            Err(e) => {
                memory.grow(e)?;
                continue;
            }
        };
        if !count(scan, rows, put)? {
            return Ok(());
        }
    }
}

/// Reads the rows of a file that has one part.
fn rows(
    scan: &Scan,
    remote: &Arc<Remote>,
    (file, ranges): (&File<'_>, &Ranges),
    put: &mut Put<'_>,
) -> Result<(), Reason> {
    let name = scan.options.table.as_deref();
    let mut table = file.table(name)?;
    let Some(part) = table.next_part(&mut Scratch::new(&mut []))? else { return Ok(()) };
    let mine = share(scan.range.as_ref(), remote.len(), part.rows());
    let none = scan.columns.fields().is_empty();
    let empty = none || present(&scan.columns, &mut file.table(name)?)?.is_empty();
    if empty && scan.predicate.is_none() {
        return count(scan, mine.end.saturating_sub(mine.start), put).map(|_| ());
    }
    remote.read_columns(file, scan.columns.fields().len());
    let mut pruner = match &scan.predicate {
        Some(predicate) if matches!(file, File::Jay(_) | File::Vortex(_)) => {
            Some(Pruner::new(scan, predicate, file.table(name)?, remote.counts())?)
        }
        _ => None,
    };
    let changes = pruner.as_ref().is_some_and(Pruner::changes);
    let step = if changes { STEP_ROWS.0 } else { step(remote.len(), part.rows()) };
    // A few bytes keep all that was fetched with them.
    let fetched = || u64::try_from(remote.counts().bytes_read.value()).unwrap_or(u64::MAX);
    let (mut window, mut read, mut before) = (ranges.window(), ranges.bytes_read(), fetched());
    let mut reading = Reading::default();
    let mut filter = Filter::new(scan, file.table(name)?)?;
    let mut late = match &filter {
        Some(filter) => Late::new(scan, filter, file.table(name)?, remote.counts())?,
        None => None,
    };
    let all = mine.clone();
    for rows in steps(scan, &part, (mine, step), pruner.as_mut().filter(|_| changes))? {
        let kept = match &mut pruner {
            Some(pruner) => pruner.kept(&part, rows, &all)?,
            None => iter::once(rows).collect(),
        };
        for rows in kept {
            let file = file.with_input(window.input());
            let more = match &mut filter {
                Some(filter) => left(scan, &file, (filter, late.as_mut()), rows, put)?,
                None if empty => count(scan, rows.end.saturating_sub(rows.start), put)?,
                None => reading.rows(scan, file.table(name)?, Some(rows), put)?,
            };
            if !more {
                return Ok(());
            }
        }
        if ranges.bytes_read().saturating_sub(read).max(fetched().saturating_sub(before)) >= WINDOW {
            (window, read, before) = (ranges.window(), ranges.bytes_read(), fetched());
        }
    }
    Ok(())
}

/// Reads the rows that a predicate leaves. Returns whether more are wanted.
fn left(
    scan: &Scan,
    file: &File<'_>,
    (filter, late): (&mut Filter, Option<&mut Late<'_>>),
    rows: Range<u64>,
    put: &mut Put<'_>,
) -> Result<bool, Reason> {
    let name = scan.options.table.as_deref();
    let Some(late) = late else { return filter.rows(file.table(name)?, rows, put) };
    for rows in late::pieces(rows) {
        let kept = late.kept(file.table(name)?, rows)?;
        // Without rows, nothing else tells that no more are wanted.
        if kept.is_empty() && !put(RecordBatch::new_empty(Arc::clone(&scan.columns))) {
            return Ok(false);
        }
        for rows in kept {
            if !filter.rows(file.table(name)?, rows, put)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Maximum number of steps that are sorted.
const SORTED: u64 = 1 << 16;

/// Returns the row ranges in which `rows` are read. They end at multiples of their length, as chunks of many writers do. If the
/// predicate changes with the rows that were read, those come first which are likely to change it.
fn steps<'s>(
    scan: &Scan,
    part: &Part<'_>,
    (rows, step): (Range<u64>, u64),
    changing: Option<&mut Pruner<'_>>,
) -> Result<Box<dyn Iterator<Item = Range<u64>> + 's>, Reason> {
    let mut start = rows.start;
    let all = iter::from_fn(move || {
        let end = start.saturating_add(1).checked_next_multiple_of(step).unwrap_or(rows.end).min(rows.end);
        let some = start..end;
        start = end;
        (!some.is_empty()).then_some(some)
    });
    let few = rows.end.saturating_sub(rows.start).checked_div(step).is_some_and(|count| count < SORTED);
    Ok(match (changing, &scan.order) {
        (Some(pruner), Some(order)) if few => {
            let mut steps = all.collect();
            pruner.sort(part, order, &mut steps)?;
            Box::new(steps.into_iter())
        }
        _ => Box::new(all),
    })
}

/// Returns the number of rows of a step.
fn step(len: u64, rows: u64) -> u64 {
    let some = u128::from(rows).saturating_mul(STEP.into()).checked_div(len.into()).unwrap_or(0);
    let some = u64::try_from(some).unwrap_or(u64::MAX).clamp(STEP_ROWS.0, STEP_ROWS.1);
    some.saturating_sub(some.checked_rem(STEP_ROWS.0).unwrap_or(0))
}

/// How batches of a file become batches of the table, once it is known.
#[derive(Default)]
pub(crate) struct Reading {
    adapter: Option<(SchemaRef, BatchAdapter)>,
    spare: Spare,
}

impl Reading {
    /// Reads rows of a table, or all. Returns whether more are wanted.
    pub fn rows<T: Table>(
        &mut self,
        scan: &Scan,
        mut table: T,
        rows: Option<Range<u64>>,
        put: &mut Put<'_>,
    ) -> Result<bool, Reason> {
        let names = Some(present(&scan.columns, &mut table)?);
        // Which rows of a file with several parts were chosen is not known here.
        let mut row = rows.as_ref().map(|rows| rows.start);
        let batch_rows = scan.batch_rows.min(scan.limit.unwrap_or(usize::MAX)).max(1);
        let options =
            ReadOptions { columns: names, rows, batch_rows, spare: mem::take(&mut self.spare), ..open::read_options() };
        let mut reader = pilaster_arrow::read(table, options)?;
        let adapter = self.adapter(scan, &reader.schema())?;
        for batch in &mut reader {
            let batch = batch.map_err(pilaster_arrow::Error::from)?;
            let fitting = adapter.adapt_batch(&batch).map_err(|e| unfit(scan, &batch, row, e))?;
            row = row.map(|row| row.saturating_add(batch.num_rows() as u64));
            if !put(fitting) {
                return Ok(false);
            }
        }
        self.spare = reader.into_spare();
        Ok(true)
    }

    /// Returns what casts columns of the file, and adds those that it does not have.
    fn adapter(&mut self, scan: &Scan, schema: &SchemaRef) -> Result<&BatchAdapter, Reason> {
        let known = self.adapter.take().filter(|(known, _)| known == schema);
        let known = match known {
            Some(known) => known,
            None => {
                // Columns of the same type need no cast, whether or not the file has missing values.
                let stored = Arc::new(columns(schema, &Options::new(scan.options.format)));
                let adapter = BatchAdapterFactory::new(Arc::clone(&scan.columns)).make_adapter(&stored)?;
                (Arc::clone(schema), adapter)
            }
        };
        Ok(&self.adapter.insert(known).1)
    }
}

/// Returns the error with the first column and row of a batch whose value the table cannot have. `first`: the row of the batch.
fn unfit(scan: &Scan, batch: &RecordBatch, first: Option<u64>, e: DataFusionError) -> DataFusionError {
    let stored = batch.schema();
    for field in scan.columns.fields() {
        let Some(batch) = stored.index_of(field.name()).ok().and_then(|k| batch.project(&[k]).ok()) else { continue };
        let wanted = Arc::new(Schema::new(vec![Arc::clone(field)]));
        let stored = Arc::new(columns(&batch.schema(), &Options::new(scan.options.format)));
        let Ok(adapter) = BatchAdapterFactory::new(wanted).make_adapter(&stored) else { continue };
        let fits = |rows: usize| adapter.adapt_batch(&batch.slice(0, rows)).is_ok();
        if fits(batch.num_rows()) {
            continue;
        }
        let (mut fit, mut unfit) = (0, batch.num_rows());
        while unfit.saturating_sub(fit) > 1 {
            let middle = usize::midpoint(fit, unfit);
            *(if fits(middle) { &mut fit } else { &mut unfit }) = middle;
        }
        let row = first.map_or(String::new(), |first| format!(", row {}", first.saturating_add(fit as u64)));
        let is_bytes = scan.options.binary_as_string
            && batch.columns().first().is_some_and(|column| *column.data_type() == DataType::BinaryView);
        let help = if is_bytes { format!(" ({})", help::BYTES) } else { String::new() };
        return exec_datafusion_err!("column {:?}{row}: {e}{help}", field.name());
    }
    e
}

/// Returns the names of the columns of `schema` that a table has. Of a table without parts, none is read.
pub(crate) fn present<T: Table>(schema: &SchemaRef, table: &mut T) -> Result<Vec<String>, Reason> {
    let names = || schema.fields().iter().map(|field| field.name().clone());
    let listed: Vec<_> = names().filter(|name| table.lists(name)).collect();
    if !listed.is_empty() {
        return Ok(listed);
    }
    let mut memory = pilaster::column::Memory::default();
    table.restart()?;
    let present = loop {
        match table.next_part(&mut memory.scratch()) {
            Ok(None) => break Vec::new(),
            Ok(Some(part)) => {
                let (wanted, mut found) = (names().collect::<HashSet<_>>(), HashSet::new());
                for k in 0..part.width() {
                    match part.name(k) {
                        // Files that were added to the table later were not asked for their columns.
                        Ok(name) if wanted.contains(name) && !found.insert(name.to_owned()) => {
                            return Err(ambiguous(name));
                        }
                        Err(e) if e.kind() != Kind::Utf8 => return Err(e.into()),
                        _ => {}
                    }
                }
                break names().filter(|name| found.contains(name)).collect();
            }
            Err(e) => memory.grow(e)?,
        }
    };
    table.restart()?;
    Ok(present)
}
