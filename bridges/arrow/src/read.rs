//! Record batches of a table.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pilaster::column::{Column, Memory, Part, Table};
use pilaster::error::{Error as FileError, Kind, What};

use crate::held::Home;
use crate::options::{Filter, Known, ReadOptions, Spare};
use crate::{Error, array, fields, prune, texts};

/// Returns the record batches of `table`. The first part is opened to find the types, and a row of each text and list
/// is read, as texts have the form in which they are stored, unless [`ReadOptions::offsets`] sets it.
///
/// ```
/// use arrow_array::RecordBatchReader;
/// use pilaster::column::{Borrowed, Once, Prim, Type, Values};
/// use pilaster_arrow::{ReadOptions, read};
///
/// let columns = [("year", Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1870, 1848])))];
/// let mut reader = read(Once::new(&columns[..]), ReadOptions::default())?;
/// assert_eq!(reader.schema().field(0).name(), "year");
/// assert_eq!(reader.next().expect("a batch")?.num_rows(), 2);
/// assert!(reader.next().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// An unknown column; a type that Arrow lacks; errors of the first part.
pub fn read<T: Table>(mut table: T, options: ReadOptions<'_>) -> Result<Reader<'_, T>, Error> {
    let mut memory = Memory::default();
    let mut home =
        Home { file: options.bytes, limit: options.limits.max_decoded, offsets: options.offsets, ..Home::default() };
    (home.views, home.common) = (options.views, options.common);
    let (mut places, mut known) = (options.spare.places, options.spare.values);
    (home.block, home.pool) = (options.spare.block, options.spare.pool);
    let limit = home.limit;
    table.choose(Some(&[]));
    table.restart()?;
    let found = with_part(&mut table, &mut memory, limit, |part| {
        let (picks, filtered) = picks(part, options.columns.as_deref(), &options.filters)?;
        // If no type depends on how rows are stored, a part is enough that has none.
        let known = options.flat && options.offsets;
        let fields = if known { Some(fields::all(part, &picks, true, &mut home)?) } else { None };
        Ok((picks, filtered, fields))
    })?;
    let (picks, mut unpacked, mut fields) = found.unwrap_or_default();
    unpacked.extend(&picks);
    table.choose(Some(&unpacked));
    table.restart()?;
    if fields.is_none() {
        fields = with_part(&mut table, &mut memory, limit, |part| fields::all(part, &picks, options.flat, &mut home))?;
        table.restart()?;
    }
    let rows = options.rows.unwrap_or(0..u64::MAX);
    let at = if rows.start > 0 { table.skip(rows.start)? } else { 0 };
    let first = at == 0;
    if first {
        // Parts without rows may have been skipped.
        table.restart()?;
    }
    let schema = Schema::new_with_metadata(fields.unwrap_or_default(), options.metadata);
    // Reading a row of each text did not copy anything that is returned.
    (home.copied, home.compacted) = (0, 0);
    places.resize(picks.len(), Default::default());
    if known.columns != picks || known.part != at {
        known = Known { columns: picks.clone(), part: at, values: picks.iter().map(|_| None).collect() };
    }
    let cursor = Cursor {
        places,
        pending: picks.iter().map(|_| None).collect(),
        known,
        whole: vec![true; picks.len()],
        fewer: vec![u64::MAX; picks.len()],
        picks,
        schema: Arc::new(schema),
        kept: None,
        home,
        most: options.batch_rows.max(1),
        filters: options.filters,
    };
    Ok(Reader { table, memory, rows, at, place: Place::Next, first, queue: VecDeque::new(), cursor })
}

/// Calls `take` with the next part, in memory that grows until it is enough.
fn with_part<T: Table, R>(
    table: &mut T,
    memory: &mut Memory,
    limit: u64,
    take: impl FnOnce(&T::Part<'_>) -> Result<R, Error>,
) -> Result<Option<R>, Error> {
    loop {
        match table.next_part(&mut memory.scratch()) {
            Ok(Some(part)) => return take(&part).map(Some),
            Ok(None) => return Ok(None),
            Err(e) => grow(memory, e, limit)?,
        }
    }
}

/// Makes room for a part. Few bytes can claim any size of it, which [`ReadOptions::limits`] bounds.
fn grow(memory: &mut Memory, e: FileError, limit: u64) -> Result<(), Error> {
    if e.kind() == Kind::NoRoom && u64::from(e.need()) > limit.saturating_mul(2) {
        return Err(FileError::needing(Kind::Limit, What::MAX_DECODED, e.at(), e.need().into()).into());
    }
    Ok(memory.grow(e)?)
}

/// Returns the numbers of the chosen columns, and of those that filters ask.
fn picks<P: Part>(
    part: &P,
    columns: Option<&[String]>,
    filters: &[Filter<'_>],
) -> Result<(Vec<usize>, Vec<usize>), Error> {
    let number = |name: &String| match part.find(name) {
        Ok(Some(k)) => Ok(k),
        // The error says that there is no such column.
        Ok(None) => part.named(name).map(|_| 0).map_err(|e| Error::from(e).in_column(name)),
        Err(e) => Err(e.into()),
    };
    let filtered = filters.iter().map(|filter| number(&filter.column)).collect::<Result<_, Error>>()?;
    let chosen = match columns {
        None => (0..part.width()).collect(),
        Some(names) => names.iter().map(number).collect::<Result<_, Error>>()?,
    };
    Ok((chosen, filtered))
}

/// The record batches of a table: [`read()`] creates it. After an error there are no more.
#[derive(Debug)]
pub struct Reader<'o, T> {
    table: T,
    memory: Memory,
    rows: Range<u64>,
    /// The first row of the current part.
    at: u64,
    place: Place,
    /// Whether the next part is the first one.
    first: bool,
    queue: VecDeque<RecordBatch>,
    cursor: Cursor<'o>,
}

/// Where the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the start of a part.
    Next,
    /// Within the first part, which costs nothing to open again: so that its batches need not be kept.
    Within,
    /// At the end.
    End,
}

/// The position within a part.
#[derive(Debug)]
struct Cursor<'o> {
    picks: Vec<usize>,
    schema: SchemaRef,
    filters: Vec<Filter<'o>>,
    most: usize,
    home: Home,
    /// Where each column was read last.
    places: Vec<pilaster::column::Place>,
    /// The rows still to read, once the part is opened.
    kept: Option<prune::Kept>,
    /// Rows of each column that are read, but not returned yet.
    pending: Vec<Option<ArrayRef>>,
    /// The values of the last dictionary of each column.
    known: Known,
    /// Whether the rest of each column may be read at once. In a part one failure ends this.
    whole: Vec<bool>,
    /// Maximum number of rows of each column that are read at once. Where lists have too many items, or texts too many bytes, it
    /// becomes less in a part.
    fewer: Vec<u64>,
}

impl<T> Reader<'_, T> {
    /// Returns the table, for errors that only it knows in full.
    #[must_use]
    pub const fn table(&self) -> &T {
        &self.table
    }

    /// Returns the memory, and the places in the file, for the next reader of the same columns.
    #[must_use]
    pub fn into_spare(self) -> Spare {
        let Cursor { home, places, known, .. } = self.cursor;
        Spare { block: home.block, pool: home.pool, places, values: known }
    }

    /// Returns the number of bytes that were copied from where they were decoded or stored to where Arrow needs them.
    #[must_use]
    pub const fn copied_bytes(&self) -> u64 {
        self.cursor.home.copied
    }

    /// Returns the number of decoded bytes that were copied to a smaller buffer, because decoding took more memory than
    /// the values: a batch that is kept takes at most an eighth more than its values.
    #[must_use]
    pub const fn compacted_bytes(&self) -> u64 {
        self.cursor.home.compacted
    }
}

impl<T: Table> Reader<'_, T> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            if let Some(batch) = self.queue.pop_front() {
                return Ok(Some(batch));
            }
            if self.place == Place::End || self.at >= self.rows.end {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Queues one batch, or all batches of a part that is unpacked into memory.
    fn fill(&mut self) -> Result<(), Error> {
        if self.place == Place::Within {
            self.table.restart()?;
        }
        let mut scratch = self.memory.scratch();
        let room = scratch.room();
        let part = match self.table.next_part(&mut scratch) {
            Ok(Some(part)) => part,
            Ok(None) => {
                self.place = Place::End;
                return Ok(());
            }
            Err(e) => return grow(&mut self.memory, e, self.cursor.home.limit),
        };
        let free = self.first && scratch.room() == room;
        self.cursor.enter(self.at);
        let within = |row: u64| row.saturating_sub(self.at).min(part.rows());
        let rows = within(self.rows.start)..within(self.rows.end);
        loop {
            match self.cursor.batch(&part, rows.clone())? {
                Some(batch) => self.queue.push_back(batch),
                None => break,
            }
            if free {
                self.place = Place::Within;
                return Ok(());
            }
        }
        self.cursor.leave();
        self.at = self.at.saturating_add(part.rows());
        // The table is positioned after this part, even if it was opened again.
        (self.place, self.first) = (Place::Next, false);
        Ok(())
    }
}

impl Cursor<'_> {
    /// Returns the next batch of a part, of its rows `rows`; `None` after the last one.
    fn batch<P: Part>(&mut self, part: &P, rows: Range<u64>) -> Result<Option<RecordBatch>, Error> {
        let kept = self.kept.get_or_insert_with(|| prune::Kept::new(rows, &self.filters));
        let Some(rows) = kept.rows(part, &self.filters)? else { return Ok(None) };
        let left = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        let mut count = self.most.min(left);
        for i in 0..self.picks.len() {
            count = count.min(self.column(part, i, rows.clone())?);
        }
        if count == 0 {
            return Err(FileError::new(Kind::Truncated, What::ROW, rows.start).into());
        }
        let mut arrays = Vec::with_capacity(self.picks.len());
        for pending in &mut self.pending {
            let Some(array) = pending.take() else { continue };
            arrays.push(array.slice(0, count));
            let rest = array.len().saturating_sub(count);
            *pending = (rest > 0).then(|| array.slice(count, rest));
        }
        if let Some(kept) = &mut self.kept {
            kept.take(count as u64);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(Some(RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)?))
    }

    /// Reads rows of chosen column `i`, unless some are left. Returns their number.
    fn column<P: Part>(&mut self, part: &P, i: usize, rows: Range<u64>) -> Result<usize, Error> {
        let (Some(pending), Some(values), Some(whole), Some(fewer), Some(place), Some(k)) = (
            self.pending.get_mut(i),
            self.known.values.get_mut(i),
            self.whole.get_mut(i),
            self.fewer.get_mut(i),
            self.places.get_mut(i),
            self.picks.get(i),
        ) else {
            return Ok(0);
        };
        let field = self.schema.fields().get(i).ok_or_else(array::wrong_type)?;
        let known = pending.take();
        let array = match known {
            Some(array) => array,
            None => {
                let mut read = || -> Result<ArrayRef, Error> {
                    let column = part.column(*k)?.at_place(*place);
                    *place = column.place(rows.start)?;
                    let column = column.at_place(*place);
                    self.home.room = self.home.limit;
                    let some = rows.start..rows.end.min(rows.start.saturating_add(self.most as u64));
                    if let DataType::Dictionary(_, ty) = field.data_type() {
                        return array::dictionary(&column, some, ty, values, &mut self.home);
                    }
                    if texts::has_views(field.data_type()) && column.dictionary(rows.start)?.is_some() {
                        return array::picked(&column, some, field.data_type(), values, &mut self.home);
                    }
                    // Texts in the file are checked once, and offsets stay as they are, if they are read at once.
                    if *whole && is_plain(field.data_type()) && prune::raw(&column, &rows, &self.home) {
                        // Memory for all rows would have any size. Whether they take some shows in a single row, unless only others
                        // are invalid.
                        let before = (self.home.copied, self.home.compacted);
                        let row = rows.start..rows.start.saturating_add(1);
                        let one = array::some(&column, row, field.data_type(), &mut self.home);
                        let takes_none = |home: &Home| (home.copied, home.compacted) == before;
                        if one.is_ok()
                            && takes_none(&self.home)
                            && let Ok(array) = array::some(&column, rows.clone(), field.data_type(), &mut self.home)
                            && takes_none(&self.home)
                        {
                            return Ok(array);
                        }
                        *whole = false;
                    }
                    halved(&column, some, field.data_type(), fewer, &mut self.home)
                };
                read().map_err(|e| e.in_column(field.name()))?
            }
        };
        let len = array.len();
        *pending = Some(array);
        Ok(len)
    }

    /// Forgets the dictionaries of another part.
    fn enter(&mut self, part: u64) {
        if self.known.part != part {
            self.known.part = part;
            self.known.values.iter_mut().for_each(|values| *values = None);
        }
    }

    /// Forgets the part, but not its dictionaries, which the next reader may need.
    fn leave(&mut self) {
        self.kept = None;
        self.pending.iter_mut().for_each(|pending| *pending = None);
        self.whole.fill(true);
        self.fewer.fill(u64::MAX);
    }
}

/// Reads rows, or fewer if their items or bytes take too much memory. `fewer`: how many rows do not, as far as is known.
fn halved<C: Column>(
    column: &C,
    rows: Range<u64>,
    ty: &DataType,
    fewer: &mut u64,
    home: &mut Home,
) -> Result<ArrayRef, Error> {
    let mut count = rows.end.saturating_sub(rows.start).min(*fewer);
    loop {
        home.room = home.limit;
        match array::some(column, rows.start..rows.start.saturating_add(count), ty, home) {
            Err(e) if count > 1 && e.is_too_much() => count >>= 1,
            done => return done,
        }
        *fewer = count;
    }
}

/// Whether values of a type lie in the file as Arrow takes them, if reading them takes no memory.
fn is_plain(ty: &DataType) -> bool {
    let texts = matches!(
        ty,
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::FixedSizeBinary(_)
            | DataType::Boolean
    );
    texts || ty.is_primitive()
}

impl<T: Table> Iterator for Reader<'_, T> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch();
        if next.is_err() {
            self.place = Place::End;
            self.queue.clear();
        }
        next.map_err(ArrowError::from).transpose()
    }
}

impl<T: Table> RecordBatchReader for Reader<'_, T> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.cursor.schema)
    }
}
