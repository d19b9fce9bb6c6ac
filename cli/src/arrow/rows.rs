//! The record batches of a file, without the rows that a condition leaves out, and with progress.

use std::sync::Arc;

use pilaster::column::{Memory, Part as _, Table as _, Zone};
use pilaster_arrow::arrow_array::{BooleanArray, RecordBatch};
use pilaster_arrow::arrow_schema::{ArrowError, SchemaRef};
use pilaster_arrow::arrow_select::filter::filter_record_batch;
use pilaster_arrow::durations::{as_integers, schema_of_integers};
use pilaster_arrow::input::{AnyReader, Input, InputFile};
use pilaster_arrow::{Batches, Error, Kept, Source};

use super::source::failed;
use crate::columns::{Columns, Rules};
use crate::failure::Failure;
use crate::filter::Filter;
use crate::progress::Progress;
use crate::sieve::{Conditions, Sieve};

/// Maximum number of rows of a record batch that a condition tests.
const MOST: usize = 1 << 30;

/// A file as a source of record batches.
pub struct Rows<'f> {
    pub files: InputFile,
    /// The bytes of the file, for the progress of text, which does not say how many rows it has.
    input: Input,
    /// The condition on rows, bound to the columns of the file.
    filter: Option<&'f Filter>,
    /// The schema with integers in place of durations, if rows are read so.
    integers: Option<SchemaRef>,
}

impl<'f> Rows<'f> {
    pub fn new(files: InputFile, input: &Input, filter: Option<&'f Filter>) -> Self {
        Rows { files, input: input.clone(), filter, integers: None }
    }

    /// Makes durations integers of their units.
    pub fn with_integers_for_durations(mut self) -> Self {
        let schema = self.files.schema();
        self.integers = Some(schema_of_integers(&schema)).filter(|integers| !Arc::ptr_eq(integers, &schema));
        self
    }

    /// Returns the numbers and the types of the columns with durations, if these are read as integers.
    pub fn durations(&self) -> Vec<(usize, String)> {
        let (stored, read) = (self.files.schema(), self.schema());
        let fields = stored.fields().iter().zip(read.fields()).enumerate();
        let changed = fields.filter(|(_, (stored, read))| stored.data_type() != read.data_type());
        changed.map(|(k, (stored, _))| (k, stored.data_type().to_string())).collect()
    }
}

/// Returns all columns of a file, and the conditions bound to them. A file without batches has no columns.
pub fn bound(table: &mut Batches<Rows<'_>>, conditions: &Conditions) -> Result<(Columns, Option<Filter>), Failure> {
    table.choose(Some(&[]));
    let mut memory = Memory::default();
    let Some(part) = table.next_part(&mut memory.scratch())? else { return Ok(Default::default()) };
    let all = Columns::all(&part, Rules::default())?;
    let filter = conditions.bind(&part, &all)?;
    Ok((all, filter))
}

/// Leaves out the row groups that a condition rules out by the statistics of the file, which nothing checks.
pub fn prune(files: &mut InputFile, filter: &Filter) -> Result<(), Failure> {
    let mut may = |zones: &[Zone<'_>]| Ok(filter.may_keep(true, &mut |place| Ok(zones.get(place).cloned()))?);
    files.retain(&filter.columns, &mut may).map_err(failed)
}

impl Source for Rows<'_> {
    type Batches = Sifted;

    fn schema(&self) -> SchemaRef {
        self.integers.clone().unwrap_or_else(|| self.files.schema())
    }

    fn rows(&self) -> Option<u64> {
        self.files.rows().filter(|_| self.filter.is_none())
    }

    fn chooses(&self) -> bool {
        true
    }

    fn seeks(&self) -> bool {
        self.filter.is_none() && self.files.seeks()
    }

    fn open(&mut self, columns: Option<&[usize]>, row: u64) -> Result<(Sifted, u64), Error> {
        let schema = match (&self.integers, columns) {
            (Some(schema), Some(columns)) => Some(SchemaRef::from(schema.project(columns)?)),
            (schema, _) => schema.clone(),
        };
        let progress = match self.files.rows() {
            Some(rows) => (Progress::new(rows, true), None),
            None => (Progress::read(self.input.len(), true), Some(self.input.clone())),
        };
        let Some(filter) = self.filter else {
            let (batches, first) = self.files.open(columns, row)?;
            return Ok((Sifted { batches, progress, done: first, test: None, schema }, first));
        };
        // The columns of the condition are read, too, and removed.
        let all: Vec<usize> = (0..self.schema().fields().len()).collect();
        let wanted = columns.unwrap_or(&all);
        let mut read: Vec<usize> = wanted.iter().chain(&filter.columns).copied().collect();
        read.sort_unstable();
        read.dedup();
        let place = |k: &usize| read.iter().position(|known| known == k);
        let mut bound = filter.clone();
        bound.columns = filter.columns.iter().filter_map(place).collect();
        let kept = wanted.iter().filter_map(place).collect();
        let (batches, _) = self.files.open(Some(&read), 0)?;
        Ok((Sifted { batches, progress, done: 0, test: Some((bound, kept)), schema }, 0))
    }
}

/// Batches without the rows that a condition leaves out.
pub struct Sifted {
    batches: AnyReader,
    /// The bar, and the input whose position it shows instead of rows.
    progress: (Progress, Option<Input>),
    /// Number of rows that were read.
    done: u64,
    /// The condition over the columns that are read, and the places of those that are returned.
    test: Option<(Filter, Vec<usize>)>,
    /// The schema of the batches, if durations become integers.
    schema: Option<SchemaRef>,
}

impl Iterator for Sifted {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        let batch = batch.and_then(|batch| {
            self.done = self.done.saturating_add(batch.num_rows() as u64);
            let (progress, input) = &mut self.progress;
            progress.at(input.as_ref().map_or(self.done, Input::position));
            let batch = match &self.test {
                None => batch,
                Some((filter, kept)) => sifted(&batch, filter)?.project(kept)?,
            };
            match &self.schema {
                None => Ok(batch),
                Some(schema) => as_integers(&batch, schema).map_err(ArrowError::from),
            }
        });
        Some(batch)
    }
}

/// Returns the rows that meet a condition.
fn sifted(batch: &RecordBatch, filter: &Filter) -> Result<RecordBatch, ArrowError> {
    let keep = kept(batch, filter).map_err(ArrowError::from)?;
    filter_record_batch(batch, &BooleanArray::from(keep))
}

fn kept(batch: &RecordBatch, filter: &Filter) -> Result<Vec<bool>, Error> {
    // The other columns may be of types that no condition tests.
    let batch = batch.project(&filter.columns)?;
    let batch = as_integers(&batch, &schema_of_integers(&batch.schema()))?;
    let mut filter = filter.clone();
    filter.columns = (0..filter.columns.len()).collect();
    let mut table = Batches::from_source(Kept::new(batch.schema(), [batch.clone()]))?;
    // Batches of no bytes can claim any number of rows.
    if batch.num_rows() > MOST {
        return Err(Error::Input(format!(
            "a record batch of {} rows; conditions are for at most {MOST}",
            batch.num_rows()
        )));
    }
    let mut keep = vec![false; batch.num_rows()];
    let mut memory = Memory::default();
    let Some(part) = table.next_part(&mut memory.scratch())? else { return Ok(keep) };
    let (rows, mut row) = (part.rows(), 0);
    let mut sieve = Sieve::new(&part, &filter, false, 0)?;
    while row < rows {
        let mut range = row..rows;
        for k in sieve.test(&mut range)? {
            let at = usize::try_from(row).unwrap_or(usize::MAX).saturating_add(*k);
            if let Some(keep) = keep.get_mut(at) {
                *keep = true;
            }
        }
        row = range.end;
    }
    Ok(keep)
}
