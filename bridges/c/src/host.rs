//! Files of every format as Arrow C streams, for programs of a host. With the heap and threads.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pilaster::any::{Hints, Owned};
use pilaster::error::{Cause, Error, Kind, What};
use pilaster_arrow::{ReadOptions, read};

use crate::error::Failure;
use crate::raw::{Out, Text, exports};

/// Number of record batches that wait for the program.
const AHEAD: usize = 2;

/// What the thread that reads a file sends: a batch, an error, or the end. Without an end, the thread has died.
type Item = Option<Result<RecordBatch, ArrowError>>;

/// Record batches from a thread, which owns the file.
struct Batches {
    schema: SchemaRef,
    from: Receiver<Item>,
    ended: bool,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let died = || Some(Err(ArrowError::ExternalError("the thread that reads the file has died".into())));
        let next = self.from.recv().unwrap_or_else(|_| died());
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

/// Sends the schema of a table, or the failure, and then its rows.
fn send(path: PathBuf, table: Option<String>, schema: &SyncSender<Result<SchemaRef, Failure>>, to: &SyncSender<Item>) {
    let opened = Owned::open(path, &Hints::default()).map_err(|failure| match failure.cause {
        Cause::Format(e) => Failure::Library(e),
        Cause::Io(e) => {
            let number = e.raw_os_error().unwrap_or_default().unsigned_abs();
            Failure::Library(Error::needing(Kind::Missing, What::INPUT, 0, number.into()))
        }
        _ => Failure::Library(Error::new(Kind::Missing, What::INPUT, 0)),
    });
    let mut owned = match opened {
        Ok(owned) => owned,
        Err(failure) => return drop(schema.send(Err(failure))),
    };
    let wrong = |e: pilaster_arrow::Error| match e {
        pilaster_arrow::Error::File(e) => Failure::Library(e),
        _ => Failure::Library(Error::new(Kind::Unsupported, What::INPUT, 0)),
    };
    let file = owned.file().and_then(|file| file.table(table.as_deref()).map(|_| file));
    let file = match file {
        Ok(file) => file,
        Err(e) => return drop(schema.send(Err(e.into()))),
    };
    let reader = file.table(table.as_deref()).map_err(Failure::from);
    let reader = match reader.and_then(|table| read(table, ReadOptions::default()).map_err(wrong)) {
        Ok(reader) => reader,
        Err(failure) => return drop(schema.send(Err(failure))),
    };
    if schema.send(Ok(reader.schema())).is_err() {
        return;
    }
    for batch in reader {
        // The program has released the stream.
        if to.send(Some(batch)).is_err() {
            return;
        }
    }
    let _ended = to.send(None);
}

/// Opens a table of a file.
fn open(path: PathBuf, table: Option<String>) -> Result<Batches, Failure> {
    let ((schema, schemas), (to, from)) = (sync_channel(1), sync_channel(AHEAD));
    let cannot = |_| Failure::Library(Error::new(Kind::Limit, What::INPUT, 0));
    let reader = thread::Builder::new().name("pilaster".to_owned());
    reader.spawn(move || send(path, table, &schema, &to)).map_err(cannot)?;
    let died = |_| Failure::Library(Error::new(Kind::Missing, What::INPUT, 0));
    Ok(Batches { schema: schemas.recv().map_err(died)??, from, ended: false })
}

/// Returns a text of C as a `String`.
fn text(text: Text, argument: u32) -> Result<String, Failure> {
    let bytes = text.bytes(argument)?;
    let utf8 = |_| Failure::Library(Error::new(Kind::Utf8, What::INPUT, argument.into()));
    String::from_utf8(bytes.to_vec()).map_err(utf8)
}

exports! {
    /// Opens a file as a stream of record batches.
    fn pilaster_open_stream(path: Text, table: Text, stream: Out<FFI_ArrowArrayStream>) {
        let (path, table) = (text(path, 1)?, text(table, 2)?);
        // A place for the result comes before the work.
        stream.tell(FFI_ArrowArrayStream::empty(), 3)?;
        let batches = open(path.into(), Some(table).filter(|table| !table.is_empty()))?;
        stream.tell(FFI_ArrowArrayStream::new(Box::new(batches)), 3)
    }
}
