//! Record batches from the rows that a conversion feeds.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use pilaster::bytes::WriteError;
use pilaster::column::{Batch, Build, Column, Feed};
use pilaster::error::{Error as FileError, Kind, What};
use pilaster::limits::Limits;

use crate::held::Home;
use crate::{Error, array, fields, join};

/// Maximum size in bytes of arrays that are joined to one.
const JOINED: usize = 1 << 24;

/// A builder that [`convert`](pilaster::column::convert) feeds, and that passes record batches on.
///
/// Unlike [`read()`](crate::read()), it copies all values, and texts and lists have offsets of 32 bits however they are
/// stored; in return its caller chooses the rows. The first batch has no rows if the table has none, so that its schema
/// is known.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Borrowed, Once, Prim, Type, Values, convert};
/// use pilaster_arrow::Builder;
///
/// let columns = [("year", Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1870, 1848])))];
/// let mut batches = Vec::new();
/// let mut builder = Builder::new(65_536, |batch| Ok(batches.push(batch)));
/// convert(&mut Once::new(&columns[..]), &mut builder, &mut Scratch::new(&mut [0; 64]))?;
/// drop(builder);
/// assert_eq!((batches.len(), batches[0].num_rows()), (1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Builder<F> {
    put: F,
    group_rows: u64,
    /// Number of rows in the current group.
    rows: u64,
    /// The fields, until the first group ends.
    fields: Vec<Field>,
    schema: Option<SchemaRef>,
    /// The rows of each column in the current group.
    columns: Vec<Vec<ArrayRef>>,
    /// Whether a batch was passed on.
    told: bool,
    /// Maximum size in bytes of a group, and its size so far.
    most: u64,
    size: u64,
    metadata: HashMap<String, String>,
    home: Home,
}

impl<F: FnMut(RecordBatch) -> Result<(), Error>> Builder<F> {
    /// Creates a builder that passes batches of at most `group_rows` rows to `put`; 0 counts as 1.
    pub fn new(group_rows: u64, put: F) -> Self {
        Builder {
            put,
            group_rows,
            rows: 0,
            fields: Vec::new(),
            schema: None,
            columns: Vec::new(),
            told: false,
            most: u64::MAX,
            size: 0,
            metadata: HashMap::new(),
            home: Home { limit: Limits::DEFAULT.max_decoded, offsets: true, ..Home::default() },
        }
    }

    /// Sets the metadata of the schema.
    #[must_use]
    pub fn with_metadata(self, metadata: HashMap<String, String>) -> Self {
        Builder { metadata, ..self }
    }

    /// Sets upper limits: [`Limits::max_decoded`] of what the items of lists in a group may take, so that a few bytes of a file cannot
    /// claim any amount of memory.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Builder { home: Home { limit: limits.max_decoded, ..self.home }, ..self }
    }

    /// Sets the maximum size in bytes of a group of several rows. A larger one is the error [`Error::Full`]; its rows can
    /// be fed again in smaller groups.
    #[must_use]
    pub fn bounded(self, most: u64) -> Self {
        Builder { most, ..self }
    }

    fn add<C: Column>(&mut self, k: usize, name: &str, column: &C, batch: &Batch<'_, C>) -> Result<(), Error> {
        if self.schema.is_none() && self.fields.len() == k {
            self.fields.push(fields::top(name, column, true, &mut self.home)?);
        }
        let known =
            self.schema.as_ref().map_or_else(|| self.fields.get(k), |schema| schema.fields().get(k).map(Arc::as_ref));
        let ty = known.ok_or_else(array::wrong_type)?.data_type();
        let bounded = self.most < u64::MAX && self.rows > 1;
        self.home.room = if bounded { self.most.saturating_sub(self.size) } else { self.home.limit };
        let full = |e: Error| if bounded && e.is_too_much() { Error::Full(self.most) } else { e };
        let array = array::of_batch(batch, ty, &mut self.home).map_err(full)?;
        if self.columns.len() <= k {
            self.columns.resize(k.saturating_add(1), Vec::new());
        }
        let arrays = self.columns.get_mut(k).ok_or_else(array::wrong_type)?;
        self.size = self.size.saturating_add(array.get_buffer_memory_size() as u64);
        arrays.push(array);
        if self.size > self.most && self.rows > 1 {
            return Err(Error::Full(self.most));
        }
        Ok(())
    }

    /// Passes the group on, as few batches.
    fn end(&mut self) -> Result<(), Error> {
        let schema = match &self.schema {
            Some(schema) => Arc::clone(schema),
            None => {
                let fields = std::mem::take(&mut self.fields);
                Arc::new(Schema::new_with_metadata(fields, std::mem::take(&mut self.metadata)))
            }
        };
        self.schema = Some(Arc::clone(&schema));
        let mut columns: Vec<_> =
            self.columns.iter_mut().map(|arrays| joined(std::mem::take(arrays))).collect::<Result<_, _>>()?;
        let mut left = usize::try_from(self.rows).unwrap_or(usize::MAX);
        while left > 0 || !self.told {
            let count =
                columns.iter().filter_map(|arrays| arrays.last()).map(|array| array.len()).fold(left, usize::min);
            if count == 0 && left > 0 {
                return Err(FileError::new(Kind::Truncated, What::ROW, left as u64).into());
            }
            let arrays = columns.iter_mut().map(|arrays| taken(arrays, count)).collect::<Option<Vec<_>>>();
            let options = RecordBatchOptions::new().with_row_count(Some(count));
            let arrays = arrays.ok_or_else(array::wrong_type)?;
            (self.put)(RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)?)?;
            self.told = true;
            left = left.saturating_sub(count);
        }
        Ok(())
    }
}

/// Joins arrays as far as the result stays small, and returns them in reverse order.
fn joined(arrays: Vec<ArrayRef>) -> Result<Vec<ArrayRef>, Error> {
    let mut done: Vec<ArrayRef> = Vec::new();
    let (mut some, mut size) = (Vec::new(), 0usize);
    if let [_] = arrays[..] {
        return Ok(arrays);
    }
    for array in arrays {
        let more = array.get_buffer_memory_size();
        if size.saturating_add(more) > JOINED {
            end(&mut done, std::mem::take(&mut some))?;
            size = 0;
        }
        some.push(array);
        size = size.saturating_add(more);
    }
    end(&mut done, some)?;
    done.reverse();
    Ok(done)
}

/// Appends arrays as one, or as they are if offsets of 32 bits do not reach all items.
fn end(done: &mut Vec<ArrayRef>, arrays: Vec<ArrayRef>) -> Result<(), Error> {
    if arrays.is_empty() {
        return Ok(());
    }
    match join::concat(&arrays) {
        Ok(joined) => done.push(joined),
        Err(Error::Offsets(_)) => done.extend(arrays),
        Err(e) => return Err(e),
    }
    Ok(())
}

/// Takes the first `count` rows of arrays in reverse order.
fn taken(arrays: &mut Vec<ArrayRef>, count: usize) -> Option<ArrayRef> {
    let array = arrays.pop()?;
    if array.len() > count {
        arrays.push(array.slice(count, array.len().saturating_sub(count)));
    }
    Some(array.slice(0, count))
}

impl<F: FnMut(RecordBatch) -> Result<(), Error>> Build for Builder<F> {
    type Error = WriteError<Error>;

    fn feed(&self) -> Feed {
        Feed::Groups { rows: self.group_rows }
    }

    fn open(&mut self, rows: u64) -> Result<(), Self::Error> {
        (self.rows, self.size) = (rows, 0);
        self.columns.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    fn batch<C: Column>(
        &mut self,
        k: usize,
        name: &str,
        _: u64,
        column: &C,
        batch: &Batch<'_, C>,
    ) -> Result<(), Self::Error> {
        self.add(k, name, column, batch).map_err(|e| match e {
            Error::File(e) => WriteError::Format(e),
            full @ Error::Full(_) => WriteError::Sink(full),
            e => WriteError::Sink(e.in_column(name)),
        })
    }

    fn close(&mut self) -> Result<(), Self::Error> {
        self.end().map_err(WriteError::Sink)
    }
}
