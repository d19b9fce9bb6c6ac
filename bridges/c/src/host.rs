//! Files as Arrow C streams, for programs of a host. With the heap and threads.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pilaster::any::{Hints, Owned};
use pilaster::column::{Memory, Part as _, Table};
use pilaster::error::{Cause, Error, Kind, What};
use pilaster::filo::Element;
use pilaster_arrow::schema::column_with_nul;
use pilaster_arrow::{ReadOptions, read};

use crate::error::Failure;
use crate::raw::{In, Out, Text, exports};

/// Number of record batches that wait for the program.
const AHEAD: usize = 2;

/// What the thread that reads a file sends: a batch, an error, or the end. Only a thread that panics sends no end; the library for C aborts
/// at a panic instead.
type Item = Option<Result<RecordBatch, ArrowError>>;

/// Record batches from a thread, which owns the file. It ends before they are dropped, so that no thread outlives its stream.
struct Batches {
    schema: SchemaRef,
    /// `None` when they are dropped: the next batch that is sent ends the thread.
    from: Option<Receiver<Item>>,
    thread: Option<JoinHandle<()>>,
    ended: bool,
}

impl Drop for Batches {
    fn drop(&mut self) {
        drop(self.from.take());
        // A panic of the thread is no concern of a program that has released the stream.
        let _joined = self.thread.take().map(JoinHandle::join);
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let died = || Some(Err(ArrowError::ExternalError("the thread that reads the file has died".into())));
        let next = self.from.as_ref().and_then(|from| from.recv().ok()).unwrap_or_else(died);
        // Nothing follows an error.
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// `pilaster_hints`: what a file does not say.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CHints {
    /// The element type of a Filo vector.
    element: Text,
    /// The type of the items of a Blosc chunk, or of the rows of a Vortex file.
    dtype: Text,
    /// 1 for a DataSeries file that is read without its index.
    sequential: u32,
}

/// A table of a file, and what the file does not say.
#[derive(Default)]
struct Asked {
    path: PathBuf,
    table: Option<String>,
    element: Option<Element>,
    dtype: Option<String>,
    sequential: bool,
}

impl Asked {
    fn new(path: Text, table: Text) -> Result<Self, Failure> {
        Ok(Asked { path: text(path, 1)?.into(), table: some(table, 2)?, ..Asked::default() })
    }

    /// Adds hints, argument 3.
    fn hinted(self, CHints { element, dtype, sequential }: CHints) -> Result<Self, Failure> {
        let element = some(element, 3)?.map(|name| name.parse()).transpose()?;
        let sequential = match sequential {
            0 | 1 => sequential == 1,
            _ => return Err(Failure::argument(3)),
        };
        Ok(Asked { element, dtype: some(dtype, 3)?, sequential, ..self })
    }
}

/// Returns the failure of an error of the bridge to Arrow: the error of the file, or the kind of what the bridge refuses, with the number of
/// the column that `number` returns for its name.
fn refused(mut e: pilaster_arrow::Error, number: impl Fn(&str) -> Option<usize>) -> Failure {
    use pilaster_arrow::Error as Refused;
    // The outermost name is a column of the table; names inside are parts of its values.
    let mut column = None;
    while let Refused::Column { column: name, error } = e {
        (e, column) = (*error, column.or(Some(number(&name))));
    }
    let column = column.flatten();
    let (kind, need) = match e {
        Refused::File(e) => return e.into(),
        Refused::Arrow(e) => refused_by_arrow(&e),
        Refused::Offsets(_) => (Kind::Limit, LARGEST_OFFSET),
        Refused::Full(most) => (Kind::Limit, most),
        Refused::Input(_) => (Kind::Invalid, 0),
        Refused::Once => (Kind::Misuse, 0),
        // A type that Arrow, or a format, does not have.
        _ => (Kind::Unsupported, 0),
    };
    match column {
        Some(k) => Error::needing(kind, What::COLUMN, k as u64, need).into(),
        None => Error::needing(kind, What::INPUT, 0, need).into(),
    }
}

/// The largest offset of Arrow's smaller arrays.
const LARGEST_OFFSET: u64 = i32::MAX as u64;

/// Returns the kind of an error of Arrow, and the number that comes with it: values that Arrow refuses, such as texts that are not UTF-8, are
/// invalid.
fn refused_by_arrow(e: &ArrowError) -> (Kind, u64) {
    match e {
        ArrowError::OffsetOverflowError(_) => (Kind::Limit, LARGEST_OFFSET),
        ArrowError::DictionaryKeyOverflowError | ArrowError::RunEndIndexOverflowError => (Kind::Limit, 0),
        ArrowError::MemoryError(_) => (Kind::NoRoom, 0),
        ArrowError::ArithmeticOverflow(_) => (Kind::Overflow, 0),
        ArrowError::NotYetImplemented(_) => (Kind::Unsupported, 0),
        ArrowError::IoError(_, e) => (Kind::Missing, e.raw_os_error().unwrap_or_default().unsigned_abs().into()),
        _ => (Kind::Invalid, 0),
    }
}

/// Returns the number of the column named `name`, if the first part of a table has one.
fn number<T: Table>(mut table: T, name: &str) -> Option<usize> {
    let mut memory = Memory::default();
    loop {
        match table.next_part(&mut memory.scratch()) {
            Ok(part) => return part?.find(name).ok().flatten(),
            Err(e) => memory.grow(e).ok()?,
        }
    }
}

/// Sends the schema of a table, or the failure, and then its rows.
fn send(asked: Asked, schema: &SyncSender<Result<SchemaRef, Failure>>, to: &SyncSender<Item>) {
    let Asked { path, table, element, dtype, sequential } = asked;
    let hints = Hints { element, dtype: dtype.as_deref(), sequential, ..Hints::default() };
    let opened = Owned::open(path, &hints).map_err(|failure| match failure.cause {
        Cause::Format(e) => e.into(),
        Cause::Io(e) => {
            let number = e.raw_os_error().unwrap_or_default().unsigned_abs();
            Failure::from(Error::needing(Kind::Missing, What::INPUT, 0, number.into()))
        }
        _ => Failure::from(Error::new(Kind::Missing, What::INPUT, 0)),
    });
    let mut owned = match opened {
        Ok(owned) => owned,
        Err(failure) => return drop(schema.send(Err(failure))),
    };
    let file = owned.file().and_then(|file| file.table(table.as_deref()).map(|_| file));
    let file = match file {
        Ok(file) => file,
        Err(e) => return drop(schema.send(Err(e.into()))),
    };
    let place = |name: &str| file.table(table.as_deref()).ok().and_then(|table| number(table, name));
    let reader = file.table(table.as_deref()).map_err(Failure::from);
    let reader = match reader.and_then(|table| read(table, ReadOptions::default()).map_err(|e| refused(e, place))) {
        Ok(reader) => reader,
        Err(failure) => return drop(schema.send(Err(failure))),
    };
    if let Some(k) = column_with_nul(&reader.schema()) {
        return drop(schema.send(Err(Error::new(Kind::Unsupported, What::COLUMN, k as u64).into())));
    }
    if schema.send(Ok(reader.schema())).is_err() {
        return;
    }
    for batch in reader {
        // The program has released the stream.
        if to.send(Some(batch.map_err(without_nul))).is_err() {
            return;
        }
    }
    let _ended = to.send(None);
}

/// Returns an error whose text is a C string: without NUL, which ends one. The stream panics at another one.
fn without_nul(e: ArrowError) -> ArrowError {
    let text = match &e {
        ArrowError::ExternalError(e) => e.to_string(),
        e => e.to_string(),
    };
    if text.contains('\0') { ArrowError::ExternalError(text.replace('\0', "\u{fffd}").into()) } else { e }
}

/// Opens a table of a file.
fn open(asked: Asked) -> Result<Batches, Failure> {
    let ((schema, schemas), (to, from)) = (sync_channel(1), sync_channel(AHEAD));
    let cannot = |_| Failure::from(Error::new(Kind::Limit, What::INPUT, 0));
    let reader = thread::Builder::new().name("pilaster".to_owned());
    let thread = reader.spawn(move || send(asked, &schema, &to)).map_err(cannot)?;
    let died = |_| Failure::from(Error::new(Kind::Missing, What::INPUT, 0));
    match schemas.recv().map_err(died).and_then(|schema| schema) {
        Ok(schema) => Ok(Batches { schema, from: Some(from), thread: Some(thread), ended: false }),
        Err(failure) => {
            let _joined = thread.join();
            Err(failure)
        }
    }
}

/// Returns a text of C as a `String`.
fn text(text: Text, argument: u32) -> Result<String, Failure> {
    let bytes = text.bytes(argument)?;
    let utf8 = |_| Failure::from(Error::new(Kind::Utf8, What::INPUT, argument.into()));
    String::from_utf8(bytes.to_vec()).map_err(utf8)
}

/// Returns a text of C, unless it is empty.
fn some(text: Text, argument: u32) -> Result<Option<String>, Failure> {
    Ok(Some(self::text(text, argument)?).filter(|text| !text.is_empty()))
}

exports! {
    /// Opens a file as a stream of record batches.
    fn pilaster_open_stream(path: Text, table: Text, stream: Out<FFI_ArrowArrayStream>) {
        // Before other arguments are checked: `release` of a stream that is not opened is null.
        stream.tell(FFI_ArrowArrayStream::empty(), 3)?;
        let asked = Asked::new(path, table)?;
        stream.tell(FFI_ArrowArrayStream::new(Box::new(open(asked)?)), 3)
    }

    /// Opens a file that does not say everything.
    fn pilaster_open_stream_with(path: Text, table: Text, hints: In<CHints>, stream: Out<FFI_ArrowArrayStream>) {
        stream.tell(FFI_ArrowArrayStream::empty(), 4)?;
        let asked = Asked::new(path, table)?.hinted(hints.load(3)?)?;
        stream.tell(FFI_ArrowArrayStream::new(Box::new(open(asked)?)), 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::Schema;
    use pilaster::column::{Borrowed, Once, Type, Values};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[test]
    fn a_released_stream_has_no_thread() {
        static ENDED: AtomicBool = AtomicBool::new(false);
        let (to, from) = sync_channel::<Item>(AHEAD);
        let thread = thread::spawn(move || {
            while to.send(Some(Ok(RecordBatch::new_empty(Arc::new(Schema::empty()))))).is_ok() {}
            thread::sleep(Duration::from_millis(100));
            ENDED.store(true, Ordering::SeqCst);
        });
        let schema = Arc::new(Schema::empty());
        let mut batches = Batches { schema, from: Some(from), thread: Some(thread), ended: false };
        assert!(matches!(batches.next(), Some(Ok(_))));
        drop(batches);
        assert!(ENDED.load(Ordering::SeqCst));
    }

    #[test]
    fn the_error_of_a_column_is_that_of_the_file() {
        let file = Error::new(Kind::Checksum, What::DATASERIES_FIXED, 7);
        let column = |error| pilaster_arrow::Error::Column { column: "a".into(), error: Box::new(error) };
        assert_eq!(refused(column(pilaster_arrow::Error::File(file)), |_| Some(3)), file.into());
    }

    #[test]
    fn what_the_bridge_refuses_has_its_kind_and_column() {
        use pilaster_arrow::Error as Refused;
        let text = || ArrowError::InvalidArgumentError("Invalid UTF8 sequence at string index 3".into());
        for (refusal, kind, need) in [
            (Refused::Unsupported("a type".into()), Kind::Unsupported, 0),
            (Refused::Arrow(text()), Kind::Invalid, 0),
            (Refused::Arrow(ArrowError::OffsetOverflowError(1 << 40)), Kind::Limit, LARGEST_OFFSET),
            (Refused::Arrow(ArrowError::NotYetImplemented("a type".into())), Kind::Unsupported, 0),
            (Refused::Offsets(3_000_000_000), Kind::Limit, LARGEST_OFFSET),
            (Refused::Full(77), Kind::Limit, 77),
            (Refused::Input("text".into()), Kind::Invalid, 0),
        ] {
            let column = Refused::Column { column: "a".into(), error: Box::new(refusal) };
            let found = refused(column, |name| (name == "a").then_some(3));
            assert_eq!(found, Error::needing(kind, What::COLUMN, 3, need).into());
        }
        let nowhere = refused(Refused::Arrow(text()), |_| Some(3));
        assert_eq!(nowhere, Error::new(Kind::Invalid, What::INPUT, 0).into());
    }

    #[test]
    fn texts_of_errors_are_c_strings() {
        let text = |e: ArrowError| without_nul(e).to_string();
        assert_eq!(text(ArrowError::ExternalError("a\0b".into())), "External error: a\u{fffd}b");
        assert!(matches!(without_nul(ArrowError::MemoryError("a".into())), ArrowError::MemoryError(_)));
    }

    #[test]
    fn a_column_is_found_by_its_name() {
        let column = || Borrowed::new(Type::Bool, Values::Null);
        let columns = [("a", column()), ("b", column())];
        assert_eq!(number(Once::new(&columns[..]), "b"), Some(1));
        assert_eq!(number(Once::new(&columns[..]), "c"), None);
    }
}
