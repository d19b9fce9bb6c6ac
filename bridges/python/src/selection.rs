//! The rows and columns that are read.

use std::ops::Range;
use std::thread;

use pyo3::prelude::*;
use pyo3::types::PySlice;

use crate::condition::Condition;
use crate::error::{Failure, Result};

/// The rows and columns that are read, and how.
#[derive(Clone, Debug)]
pub struct Selection {
    pub table: Option<String>,
    pub columns: Option<Vec<String>>,
    pub rows: Option<Range<u64>>,
    pub conditions: Vec<Condition>,
    /// Whether statistics that nothing checks may leave out rows.
    pub trust: bool,
    pub batch_rows: usize,
    /// Whether texts that are stored with a dictionary remain so.
    pub dictionaries: bool,
    pub threads: usize,
}

impl Default for Selection {
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        Selection {
            table: None,
            columns: None,
            rows: None,
            conditions: Vec::new(),
            trust: false,
            batch_rows: BATCH_ROWS,
            dictionaries: false,
            threads,
        }
    }
}

/// More threads do not make reading faster, as their results wait for each other.
const MOST_THREADS: usize = 8;

/// Maximum number of rows of a batch, unless the caller says another.
const BATCH_ROWS: usize = 1 << 16;

/// Returns the selection with other choices, where they are given.
pub fn chosen(
    before: &Selection,
    table: Option<String>,
    columns: Option<&Bound<'_, PyAny>>,
    rows: Option<&Bound<'_, PyAny>>,
    conditions: Option<&Bound<'_, PyAny>>,
) -> Result<Selection> {
    let mut selection = before.clone();
    if table.is_some() {
        selection.table = table;
    }
    if let Some(columns) = columns {
        selection.columns = Some(match columns.extract::<String>() {
            Ok(one) => vec![one],
            Err(_) => columns.extract()?,
        });
    }
    if let Some(rows) = rows {
        selection.rows = Some(within(before.rows.as_ref(), &range(rows)?));
    }
    if let Some(conditions) = conditions {
        selection.conditions.extend(Condition::list(conditions)?);
    }
    Ok(selection)
}

/// Returns the rows of a table that are `rows` of the ones chosen before.
fn within(before: Option<&Range<u64>>, rows: &Range<u64>) -> Range<u64> {
    let Range { start, end } = before.cloned().unwrap_or(0..u64::MAX);
    let at = |row: u64| start.saturating_add(row).min(end);
    at(rows.start)..at(rows.end)
}

/// Reads a number of rows, a pair, a slice or a range.
fn range(rows: &Bound<'_, PyAny>) -> Result<Range<u64>> {
    let wrong = || Failure::Value(format!("rows={rows} is no number, (start, end) or slice of rows that ascend"));
    if let Ok(count) = rows.extract::<u64>() {
        return Ok(0..count);
    }
    let step = |object: &Bound<'_, PyAny>| -> PyResult<bool> {
        let step = object.getattr("step")?;
        Ok(step.is_none() || step.eq(1)?)
    };
    let pair: (Option<u64>, Option<u64>) = if rows.is_instance_of::<PySlice>() || rows.hasattr("step")? {
        let one = |name| rows.getattr(name)?.extract::<Option<u64>>();
        match (step(rows)?, one("start"), one("stop")) {
            (true, Ok(start), Ok(stop)) => (start, stop),
            _ => return Err(wrong()),
        }
    } else {
        rows.extract().map_err(|_| wrong())?
    };
    let range = pair.0.unwrap_or(0)..pair.1.unwrap_or(u64::MAX);
    if range.start > range.end { Err(wrong()) } else { Ok(range) }
}
