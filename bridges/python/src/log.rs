//! A DataSeries log: rows that are on the disk soon after they were written.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use arrow_array::{RecordBatch, RecordBatchReader};
use pilaster::any::Format;
use pilaster::bytes::IoSink;
use pilaster_arrow::arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use pilaster_arrow::{Batches, write_series};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Failure, Result, detached, guarded};
use crate::make::{self, Class};
use crate::options::{Options, series_options};
use crate::raw;

/// Batches that come from Python.
struct Arriving {
    schema: SchemaRef,
    batches: Receiver<RecordBatch>,
}

impl Iterator for Arriving {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.recv().ok().map(Ok)
    }
}

impl RecordBatchReader for Arriving {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A file that is written by a thread, batch by batch.
struct Open {
    batches: SyncSender<RecordBatch>,
    thread: JoinHandle<Result<()>>,
}

/// Writes batches to a DataSeries file as they come. `pilaster.dataseries.Logger` makes the batches.
#[pyclass(frozen, module = "pilaster._pilaster")]
pub struct _Log {
    path: PathBuf,
    options: Options,
    open: Mutex<Option<Open>>,
}

#[pymethods]
impl _Log {
    #[new]
    fn new(path: PathBuf, options: &Bound<'_, PyDict>) -> Result<Self> {
        let options = Options::new(Format::DataSeries, options)?;
        series_options(&options)?;
        // The file is created with the first rows. One that exists is an error now, before there are any.
        if fs::symlink_metadata(&path).is_ok() {
            let e = io::Error::new(io::ErrorKind::AlreadyExists, "exists, and a log is a new file");
            return Err(Failure::Io(e, path.display().to_string()));
        }
        Ok(_Log { path, options, open: Mutex::new(None) })
    }

    /// Passes rows on: a list and the name of the kind for each column, the same kinds in each call. They are in the file when the extent
    /// before them is, or after `close`.
    fn put(&self, py: Python<'_>, columns: &Bound<'_, PyDict>, kinds: &Bound<'_, PyDict>) -> Result<()> {
        let batch = guarded(|| batch(columns, kinds))?;
        detached(py, || {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let log = match &mut *open {
                Some(log) => log,
                none => none.insert(self.start(batch.schema())?),
            };
            match log.batches.send(batch) {
                Ok(()) => Ok(()),
                // The thread has failed.
                Err(_) => Self::end(open.take()),
            }
        })
    }

    /// Writes the index, and waits until the file is on the disk.
    fn close(&self, py: Python<'_>) -> Result<()> {
        detached(py, || Self::end(self.open.lock().unwrap_or_else(PoisonError::into_inner).take()))
    }
}

/// The kinds of values that a log has.
const KINDS: [(&str, Class); 8] = [
    ("bool", Class::Bool),
    ("int", Class::Int),
    ("float", Class::Float),
    ("text", Class::Text),
    ("bytes", Class::Bytes),
    ("date", Class::Date),
    ("datetime", Class::Datetime),
    ("zoned datetime", Class::ZonedDatetime),
];

/// Returns the kind of a value that can be logged, and the value as one of Python itself. `None` has no kind.
#[pyfunction]
#[pyo3(signature = (value, /))]
pub fn _log_value<'py>(value: &Bound<'py, PyAny>) -> Result<(Option<&'static str>, Bound<'py, PyAny>)> {
    if value.is_none() {
        return Ok((None, value.clone()));
    }
    let value = if make::class(value).is_some() { value.clone() } else { make::plain(value)? };
    let class = make::class(&value);
    let Some((name, class)) = KINDS.into_iter().find(|(_, known)| Some(*known) == class) else {
        let names = KINDS.map(|(name, _)| name).join(", ");
        return Err(Failure::Type(format!("{} is no value of a log, which has {names}", value.get_type().name()?)));
    };
    // What a column does not hold is an error of this row rather than of all rows of an extent. It holds all bytes.
    if class != Class::Bytes {
        drop(make::of_class(std::slice::from_ref(&value), Some(class), 0)?);
    }
    match class {
        Class::Int if value.extract::<i64>().is_err() => Err(Failure::Value(format!("{value} has more than 64 bits"))),
        // It could change.
        Class::Bytes => Ok((Some(name), raw::new_bytes(value.py(), &raw::buffered(&value, false)?)?.into_any())),
        _ => Ok((Some(name), value)),
    }
}

/// Returns rows as a batch whose columns may all have missing values: later rows have some.
fn batch(columns: &Bound<'_, PyDict>, kinds: &Bound<'_, PyDict>) -> Result<RecordBatch> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, values) in columns {
        let kind: String = kinds.get_item(&name)?.map_or_else(|| Ok(String::new()), |kind| kind.extract())?;
        let class = KINDS.into_iter().find(|(known, _)| *known == kind).map(|(_, class)| class);
        let class = class.ok_or_else(|| Failure::Value(format!("column {name}: no kind {kind:?}")))?;
        let rows: Vec<Bound<'_, PyAny>> = values.extract()?;
        let array = make::of_class(&rows, Some(class), 0)?;
        fields.push(Field::new(name.extract::<String>()?, array.data_type().clone(), true));
        arrays.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

impl _Log {
    fn start(&self, schema: SchemaRef) -> Result<Open> {
        let (batches, arriving) = sync_channel(0);
        let options = series_options(&self.options)?;
        let mut table = Batches::new(Arriving { schema, batches: arriving })?;
        // Last, so that no empty file stays after another error.
        let file = File::create_new(&self.path).map_err(|e| Failure::Io(e, self.path.display().to_string()))?;
        let thread = thread::Builder::new().name("pilaster-log".to_owned()).spawn(move || {
            let IoSink(file) = write_series(&mut table, &options, IoSink(file))?;
            file.sync_all()?;
            Ok(())
        })?;
        Ok(Open { batches, thread })
    }

    fn end(open: Option<Open>) -> Result<()> {
        let Some(Open { batches, thread }) = open else { return Ok(()) };
        drop(batches);
        thread.join().unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)))
    }
}
