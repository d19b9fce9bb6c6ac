//! A DataSeries log: rows that are on the disk soon after they were written.

use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use arrow_array::{RecordBatch, RecordBatchReader};
use pilaster::any::Format;
use pilaster::bytes::IoSink;
use pilaster_arrow::arrow_schema::{ArrowError, SchemaRef};
use pilaster_arrow::{Batches, write_series};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Failure, Result};
use crate::options::{Options, series_options};
use crate::write::data_of;

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
    schema: SchemaRef,
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
        Ok(_Log { path, options, open: Mutex::new(None) })
    }

    /// Passes rows on. They are in the file when the extent before them is, or after `close`.
    fn put(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> Result<()> {
        let data = data_of(data)?;
        py.detach(|| {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.is_none() {
                *open = Some(self.start(data.schema())?);
            }
            for batch in data {
                let batch = batch?;
                let Some(log) = &mut *open else { break };
                if batch.schema().fields() != log.schema.fields() {
                    let text = format!("rows of {:?} after rows of {:?}", batch.schema().fields(), log.schema.fields());
                    return Err(Failure::Type(text));
                }
                if log.batches.send(batch).is_err() {
                    // The thread has failed.
                    return Self::end(open.take());
                }
            }
            Ok(())
        })
    }

    /// Writes the index, and waits until the file is on the disk.
    fn close(&self, py: Python<'_>) -> Result<()> {
        py.detach(|| Self::end(self.open.lock().unwrap_or_else(PoisonError::into_inner).take()))
    }
}

impl _Log {
    fn start(&self, schema: SchemaRef) -> Result<Open> {
        let (batches, arriving) = sync_channel(0);
        let options = series_options(&self.options)?;
        let file = File::create_new(&self.path).map_err(|e| Failure::Io(e, self.path.display().to_string()))?;
        let arriving = Arriving { schema: Arc::clone(&schema), batches: arriving };
        let mut table = Batches::new(arriving)?;
        let thread = thread::Builder::new().name("pilaster-log".to_owned()).spawn(move || {
            let IoSink(file) = write_series(&mut table, &options, IoSink(file))?;
            file.sync_all()?;
            Ok(())
        })?;
        Ok(Open { batches, schema, thread })
    }

    fn end(open: Option<Open>) -> Result<()> {
        let Some(Open { batches, thread, .. }) = open else { return Ok(()) };
        drop(batches);
        thread.join().unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)))
    }
}
