//! The rows of a file as record batches, decoded by threads while the consumer takes them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::{hint, mem, thread};

use arrow_array::{RecordBatch, RecordBatchReader};
use pilaster::any::{File, Format, Table};
use pilaster::column::{Memory, Part as _, Table as _, Zone};
use pilaster_arrow::arrow_schema::{ArrowError, Schema, SchemaRef};
use pilaster_arrow::{Filter, ReadOptions, Spare};

use crate::condition::{Condition, filtered, may_match};
use crate::error::{Failure, Result, guarded};
use crate::raw;
use crate::schema::unambiguous;
use crate::selection::Selection;
use crate::source::Source;

/// Bounds of the number of rows of a piece, which one thread reads. Chunks of most files end at multiples of the least one.
const PIECE_ROWS: (u64, u64) = (1 << 16, 1 << 19);

/// Number of stored bytes that a piece has if ranges of the file are read, so that they can be released.
const PIECE_BYTES: u64 = 32 << 20;

/// Maximum size of a block that a batch is expected to take. glibc keeps twice as much.
const BLOCK_BYTES: usize = 16 << 20;

/// Number of batches that a thread decodes before the consumer takes them.
const WAITING: usize = 8;

/// Returns the table to read, of a file that may have several.
pub fn table<'f>(file: &'f File<'f>, name: Option<&str>) -> Result<Table<'f>> {
    let names: Vec<&str> = file.tables().collect();
    let listed = || names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) if !names.contains(&name) => {
            Err(Failure::Value(format!("there is no table {name:?}; there are {}", listed())))
        }
        None if names.len() > 1 => {
            Err(Failure::Value(format!("the file has several tables, choose one with table=: {}", listed())))
        }
        name => Ok(file.table(name)?),
    }
}

/// Returns the number of rows of a table.
pub fn count(table: &mut Table<'_>) -> Result<u64> {
    table.restart()?;
    let (mut rows, mut memory) = (table.skip(u64::MAX)?, Memory::default());
    loop {
        match table.next_part(&mut memory.scratch()) {
            Ok(None) => return Ok(rows),
            Ok(Some(part)) => rows = rows.saturating_add(part.rows()),
            Err(e) => memory.grow(e)?,
        }
    }
}

/// Returns the schema of the chosen columns.
pub fn schema(source: &Source, selection: &Selection) -> Result<SchemaRef> {
    source.with_file(|file| {
        let options = options(source, selection, None);
        let schema = pilaster_arrow::read(table(file, selection.table.as_deref())?, options)?.schema();
        checked(&schema)?;
        Ok(schema)
    })
}

/// Checks that a C string can hold each name and each time zone: other programs read the schema.
fn checked(schema: &Schema) -> Result<()> {
    match pilaster_arrow::schema::column_with_nul(schema).and_then(|k| schema.fields().get(k)) {
        None => Ok(()),
        Some(field) => {
            let name = field.name();
            let text =
                format!("a name or a time zone of column {name:?} has a NUL, which Arrow's C interface does not allow");
            Err(Failure::other("Unsupported", text))
        }
    }
}

/// Returns what is read: also columns of conditions.
fn options<'o>(source: &Source, selection: &Selection, rows: Option<Range<u64>>) -> ReadOptions<'o> {
    ReadOptions {
        bytes: source.buffer().cloned(),
        columns: selection.columns.clone(),
        rows,
        batch_rows: selection.batch_rows.max(1),
        flat: !selection.dictionaries,
        // Polars reads no views of lists, and takes narrow decimals for wide ones.
        common: true,
        ..ReadOptions::default()
    }
}

/// Checks that the columns of a selection exist, and that its conditions fit their types.
pub fn check(source: Arc<Source>, selection: Selection) -> Result<()> {
    Plan::new(source, selection).map(|_| ())
}

/// A reading that is prepared: what each piece is read with.
struct Plan {
    source: Arc<Source>,
    selection: Selection,
    schema: SchemaRef,
    /// The conditions, for the columns that are read.
    filters: Vec<Arc<pilaster_cli::Filter>>,
    /// The columns that are read, if there are conditions: of the schema, and then others that conditions name.
    names: Vec<String>,
}

impl Plan {
    fn new(source: Arc<Source>, selection: Selection) -> Result<Self> {
        let by_name = || selection.conditions.iter().flat_map(|condition| &condition.columns);
        let by_name = || selection.columns.iter().flatten().chain(by_name());
        if by_name().next().is_some() {
            let all = self::schema(&source, &Selection { columns: None, ..selection.clone() })?;
            by_name().try_for_each(|name| unambiguous(&all, name))?;
        }
        let schema = schema(&source, &selection)?;
        let mut plan = Plan { source, selection, schema, filters: Vec::new(), names: Vec::new() };
        if plan.selection.conditions.is_empty() {
            return Ok(plan);
        }
        let mut names: Vec<String> = plan.schema.fields().iter().map(|field| field.name().clone()).collect();
        for name in plan.selection.conditions.iter().flat_map(|condition| &condition.columns) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let wider = Selection { columns: Some(names.clone()), ..plan.selection.clone() };
        let all = self::schema(&plan.source, &wider)?;
        // A literal of another type is an error before any row is read.
        let bound = |condition: &Condition| condition.bound(&all).map(Arc::new);
        plan.filters = plan.selection.conditions.iter().map(bound).collect::<Result<_>>()?;
        plan.names = names;
        Ok(plan)
    }

    /// Reads rows. `put` returns whether more are wanted.
    fn piece(
        &self,
        file: &File<'_>,
        rows: Option<Range<u64>>,
        kept: &mut Kept,
        put: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        let window = self.source.window();
        let file = match &window {
            Some(window) => file.with_input(window.input()),
            None => *file,
        };
        let mut options = options(&self.source, &self.selection, rows);
        options.spare = mem::take(&mut kept.spare);
        let width = self.schema.fields().len();
        let is_wider = self.names.len() > width;
        if is_wider {
            options.columns = Some(self.names.clone());
        }
        for filter in &self.filters {
            for (place, number) in filter.columns.iter().enumerate() {
                let (filter, trust) = (Arc::clone(filter), self.selection.trust);
                let may_match = Box::new(move |zone: &Zone<'_>| may_match(&filter, place, trust, zone));
                let column = self.names.get(*number).cloned().unwrap_or_default();
                options.filters.push(Filter { column, may_match });
            }
        }
        let mut reader = pilaster_arrow::read(table(&file, self.selection.table.as_deref())?, options)?;
        while let Some(batch) = reader.next() {
            let batch = batch.map_err(|e| match reader.table() {
                // Its error also names the file.
                Table::Dataset(dataset) => dataset.failed().map_or_else(|| Failure::from(e), Failure::from_dataset),
                _ => Failure::from(e),
            })?;
            let mut batch = filtered(batch, &self.filters)?;
            if is_wider {
                batch = batch.project(&(0..width).collect::<Vec<_>>())?;
            }
            let is_left_out = batch.num_rows() == 0 && !self.filters.is_empty();
            if !is_left_out && !put(batch) {
                return Ok(());
            }
        }
        kept.spare = reader.into_spare();
        Ok(())
    }

    /// Cuts the rows into pieces; a single one without bounds if they are not to be counted.
    fn pieces(&self, file: &File<'_>) -> Result<Pieces> {
        let Selection { rows: wanted, threads, .. } = &self.selection;
        let mapped = self.source.window().is_none();
        // A single chunk is decoded whole.
        let whole = matches!(file.format(), Format::Filo) || matches!(file, File::Bcolz(..));
        if whole {
            return Ok(Pieces { rows: None, left: VecDeque::from([wanted.clone()]) });
        }
        let all = count(&mut table(file, self.selection.table.as_deref())?)?;
        let (mut start, end) = match wanted {
            Some(wanted) => (wanted.start.min(all), wanted.end.min(all)),
            None => (0, all),
        };
        let count = end.saturating_sub(start);
        // One thread reads one batch at a time, which finds the memory of the batch before.
        let mut step = match threads {
            0 | 1 => PIECE_ROWS.0,
            threads => count.checked_div((*threads as u64).saturating_mul(4)).unwrap_or(count),
        };
        if !mapped {
            // A chunk in which one piece ends and the next one begins is fetched for both: few pieces, whatever the threads.
            let fit = u128::from(all).saturating_mul(PIECE_BYTES.into()).checked_div(self.source.len().into());
            step = fit.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(u64::MAX);
        }
        let step = step.clamp(PIECE_ROWS.0, PIECE_ROWS.1).next_multiple_of(PIECE_ROWS.0);
        let mut left = VecDeque::new();
        while start < end {
            let next = start.saturating_add(1).checked_next_multiple_of(step).unwrap_or(end).min(end);
            left.push_back(Some(start..next));
            start = next;
        }
        if left.is_empty() {
            left.push_back(wanted.clone());
        }
        Ok(Pieces { rows: Some(count), left })
    }

    /// Reads pieces until no piece is left.
    fn work(&self, tasks: &Mutex<Receiver<Task>>) {
        let mut current: Option<SyncSender<Message>> = None;
        let done = guarded(|| {
            self.source.with_file(|file| {
                let mut kept = Kept::default();
                loop {
                    let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((rows, out)) = task else { return Ok(()) };
                    let out = current.insert(out);
                    let mut gone = false;
                    self.piece(file, rows, &mut kept, &mut |batch| {
                        gone = out.send(Message::Batch(batch)).is_err();
                        !gone
                    })?;
                    // A consumer that is gone wants no more.
                    if gone || out.send(Message::End).is_err() {
                        return Ok(());
                    }
                }
            })
        });
        let Err(failed) = done else { return };
        match current {
            Some(out) => drop(out.send(Message::Failed(failed))),
            // The file cannot be opened any more: the piece that waits longest gets the error.
            None => {
                if let Ok((_, out)) = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv() {
                    drop(out.send(Message::Failed(failed)));
                }
            }
        }
    }
}

/// What one piece leaves for the next one of the same thread.
#[derive(Default)]
struct Kept {
    spare: Spare,
}

struct Pieces {
    /// The number of rows, if it was counted.
    rows: Option<u64>,
    left: VecDeque<Option<Range<u64>>>,
}

/// Rows to read, and where they go.
type Task = (Option<Range<u64>>, SyncSender<Message>);

enum Message {
    Batch(RecordBatch),
    /// The piece is complete. Without it, its thread has ended by a bug.
    End,
    Failed(Failure),
}

/// The first error of a stream, for the caller that knows the stream: consumers only get its text.
pub type Note = Arc<Mutex<Option<Failure>>>;

/// The record batches of a file, in order. After an error there are no more.
pub struct Stream {
    schema: SchemaRef,
    ready: VecDeque<RecordBatch>,
    /// Pieces that are not read yet.
    left: VecDeque<Option<Range<u64>>>,
    tasks: Option<Sender<Task>>,
    open: VecDeque<Receiver<Message>>,
    python: bool,
    /// Set if the calling thread reads, piece by piece. Not of files of Python.
    inline: Option<Arc<Plan>>,
    kept: Kept,
    note: Note,
}

/// Lets the allocator of glibc keep the memory of a batch for the next one. It adapts to the largest block that was released: until then it
/// returns the blocks of each batch to the system, and gets them back as pages that are cleared, which takes up to a third of the time. The
/// block is never written to, so that it takes no memory; if the system refuses it, nothing is kept.
fn keep_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(hint::black_box(raw::room::<u8>(BLOCK_BYTES).ok())));
}

/// Starts to read a file. Few rows are read at once.
pub fn stream(source: Arc<Source>, selection: Selection) -> Result<Stream> {
    keep_memory();
    let plan = Plan::new(source, selection)?;
    let schema = Arc::clone(&plan.schema);
    let Pieces { rows, left } = plan.source.with_file(|file| plan.pieces(file))?;
    let mut stream = Stream {
        schema,
        ready: VecDeque::new(),
        left,
        tasks: None,
        open: VecDeque::new(),
        python: plan.source.is_python(),
        inline: None,
        kept: Kept::default(),
        note: Note::default(),
    };
    let small = match rows {
        Some(rows) => rows <= PIECE_ROWS.0,
        None => plan.source.len() <= 1 << 20 && plan.source.buffer().is_some(),
    };
    // The values of Jay lie in the file, and take no thread to decode.
    let is_raw = plan.source.format() == Format::Jay && plan.source.buffer().is_some();
    let threads = if is_raw { 1 } else { plan.selection.threads.min(stream.left.len()) };
    let plan = Arc::new(plan);
    if stream.python {
        // The thread of the consumer may hold the interpreter, so that it never reads.
        if !stream.start(&plan, threads.max(1)) {
            return Err(Failure::other(
                "Limit",
                "no thread can be started, without which a file of Python is not read",
            ));
        }
    } else if small || threads <= 1 || !stream.start(&plan, threads) {
        // Few rows, or the caller wants no threads, or the system has none.
        stream.inline = Some(plan);
    }
    if small {
        stream.fill()?;
    }
    Ok(stream)
}

impl Stream {
    /// Starts threads. Returns whether there is one.
    fn start(&mut self, plan: &Arc<Plan>, threads: usize) -> bool {
        let (tasks, taken) = mpsc::channel();
        let taken = Arc::new(Mutex::new(taken));
        let mut started = 0usize;
        for _ in 0..threads {
            let (plan, taken) = (Arc::clone(plan), Arc::clone(&taken));
            let thread = thread::Builder::new().name("pilaster".to_owned());
            started = started.saturating_add(thread.spawn(move || plan.work(&taken)).is_ok().into());
        }
        if started == 0 {
            return false;
        }
        self.tasks = Some(tasks);
        // One piece more than there are threads, so that none waits for the consumer.
        for _ in 0..=started {
            self.task();
        }
        true
    }

    /// Lets the next piece be read.
    fn task(&mut self) {
        if let (Some(tasks), Some(rows)) = (&self.tasks, self.left.pop_front()) {
            let (out, piece) = mpsc::sync_channel(WAITING);
            // If all threads have ended, receiving from the piece fails, too.
            let _ = tasks.send((rows, out));
            self.open.push_back(piece);
        }
    }

    /// Reads the next piece that has rows on the calling thread.
    fn fill(&mut self) -> Result<()> {
        let Some(plan) = self.inline.clone() else { return Ok(()) };
        while self.ready.is_empty()
            && let Some(rows) = self.left.pop_front()
        {
            plan.source.with_file(|file| {
                plan.piece(file, rows, &mut self.kept, &mut |batch| {
                    self.ready.push_back(batch);
                    true
                })
            })?;
        }
        Ok(())
    }

    fn advance(&mut self) -> Option<Result<RecordBatch>> {
        if self.ready.is_empty()
            && let Err(failure) = self.fill()
        {
            return Some(Err(failure));
        }
        if let Some(batch) = self.ready.pop_front() {
            return Some(Ok(batch));
        }
        loop {
            match self.open.front()?.recv() {
                Ok(Message::Batch(batch)) => return Some(Ok(batch)),
                Ok(Message::End) => {
                    self.open.pop_front();
                    self.task();
                }
                Ok(Message::Failed(failure)) => return Some(Err(failure)),
                Err(_) => {
                    return Some(Err(Failure::other("Internal", "a thread of pilaster has ended before its rows")));
                }
            }
        }
    }

    /// Returns where the first error is noted.
    pub fn note(&self) -> Note {
        Arc::clone(&self.note)
    }

    /// Returns the next batch; after an error or a panic none.
    pub fn batch(&mut self) -> Option<Result<RecordBatch>> {
        let next = guarded(|| match self.python {
            // The threads call Python, for which no waiting consumer may be attached.
            true => raw::unattached(|| self.advance().transpose()),
            false => self.advance().transpose(),
        });
        if next.is_err() {
            self.end();
        }
        next.transpose()
    }

    /// Releases all that is not passed on yet.
    fn end(&mut self) {
        let python = self.python;
        let mut end = || {
            (self.tasks, self.left, self.open) = (None, VecDeque::new(), VecDeque::new());
            self.ready.clear();
        };
        // Errors of Python are among it, for the caller that may have released the interpreter.
        if python { raw::attached(end) } else { end() }
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    /// No panic reaches the consumer, which is in C.
    fn next(&mut self) -> Option<Self::Item> {
        self.batch().map(|next| {
            next.map_err(|failure| {
                let note = || {
                    let e = failure.to_arrow();
                    *self.note.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                    e
                };
                // The text of an error of Python is asked of Python.
                if self.python { raw::attached(note) } else { note() }
            })
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.end();
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
