//! bcolz datasets, which are directories, as tables.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use arrow::array::RecordBatchOptions;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::{RecordBatch, RecordBatchReader as _};
use async_trait::async_trait;
use datafusion_common::stats::Precision;
use datafusion_common::{Result, Statistics, plan_err};
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_expr::{CreateExternalTable, Expr, TableType};
use datafusion_physical_plan::ExecutionPlan;
use datafusion_physical_plan::stream::RecordBatchReceiverStream;
use datafusion_physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion_session::{Session, TableProvider, TableProviderFactory};
use pilaster::any::Format;
use pilaster::bcolz;
use pilaster::bytes::Scratch;
use pilaster::column::Table;
use pilaster_arrow::ReadOptions;
use tokio::sync::mpsc;

use crate::error::{Failure, Reason};
use crate::options::Options;
use crate::statistics::columns;

/// Minimum number of rows of a partition.
const PARTITION_ROWS: u64 = 1 << 16;

/// Maximum number of rows of a batch.
const BATCH_ROWS: usize = 1 << 15;

/// A bcolz dataset: a directory of the local file system. Only the columns of a query are read. Its rows are not
/// distributed over workers.
#[derive(Debug)]
pub struct Dataset {
    dataset: Arc<bcolz::Dataset>,
    schema: SchemaRef,
}

impl Dataset {
    /// Opens the directory of a dataset.
    ///
    /// # Errors
    /// A missing or invalid file, with its path; a type that Arrow lacks.
    pub fn open(dir: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let dir = dir.as_ref();
        let opened = match options.tolerant {
            true => bcolz::Dataset::open_tolerant(dir, |e| log::warn!("damaged file left out: {e}")),
            false => bcolz::Dataset::open(dir),
        };
        let fail = |reason: Reason| Failure { path: dir.display().to_string(), reason };
        let dataset = opened.map_err(|e| fail(e.into()))?;
        let read = ReadOptions { flat: true, offsets: true, ..ReadOptions::default() };
        let (table, failed) = Watched::new(&dataset);
        let schema = pilaster_arrow::read(table, read).map(|reader| reader.schema());
        let schema = schema.map_err(|e| fail(reason(e, &failed)))?;
        Ok(Dataset {
            schema: Arc::new(columns(&schema, &Options { binary_as_string: false, ..options.clone() })),
            dataset: Arc::new(dataset),
        })
    }
}

#[async_trait]
impl TableProvider for Dataset {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn statistics(&self) -> Option<Statistics> {
        let rows = usize::try_from(self.dataset.rows()).ok()?;
        let rows = if self.dataset.is_tolerant() { Precision::Inexact(rows) } else { Precision::Exact(rows) };
        Some(Statistics::new_unknown(&self.schema).with_num_rows(rows))
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => Arc::clone(&self.schema),
        };
        let (rows, most) = (self.dataset.rows(), state.config().target_partitions().max(1) as u64);
        let count = rows.div_ceil(PARTITION_ROWS).clamp(1, most);
        let step = rows.div_ceil(count).next_multiple_of(PARTITION_ROWS);
        let streams = (0..count).map(|k| -> Arc<dyn PartitionStream> {
            let start = step.saturating_mul(k).min(rows);
            let end = start.saturating_add(step).min(rows);
            Arc::new(Rows { dataset: Arc::clone(&self.dataset), schema: Arc::clone(&schema), rows: start..end })
        });
        Ok(Arc::new(StreamingTableExec::try_new(Arc::clone(&schema), streams.collect(), None, [], false, limit)?))
    }
}

/// Creates the tables of `STORED AS BCOLZ`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DatasetFactory;

#[async_trait]
impl TableProviderFactory for DatasetFactory {
    async fn create(&self, _: &dyn Session, command: &CreateExternalTable) -> Result<Arc<dyn TableProvider>> {
        let [location] = &command.locations[..] else {
            return plan_err!("a bcolz dataset is one directory, not {}", command.locations.len());
        };
        let options = Options::new(Format::Bcolz).with(&command.options)?;
        let dir = PathBuf::from(location.strip_prefix("file://").unwrap_or(location));
        Ok(Arc::new(Dataset::open(dir, &options)?))
    }
}

/// Some rows of a dataset.
#[derive(Debug)]
struct Rows {
    dataset: Arc<bcolz::Dataset>,
    schema: SchemaRef,
    rows: Range<u64>,
}

impl PartitionStream for Rows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), 2);
        let (put, dataset, schema, rows) =
            (builder.tx(), Arc::clone(&self.dataset), Arc::clone(&self.schema), self.rows.clone());
        builder.spawn_blocking(move || {
            let path = dataset.dir().display().to_string();
            read(&dataset, &schema, rows, &put).map_err(|reason| Failure { path, reason }.into())
        });
        builder.build()
    }
}

/// Passes rows on until the consumer wants no more.
fn read(
    dataset: &bcolz::Dataset,
    schema: &SchemaRef,
    rows: Range<u64>,
    put: &mpsc::Sender<Result<RecordBatch>>,
) -> Result<(), Reason> {
    let columns: Vec<_> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let options = ReadOptions {
        columns: Some(columns),
        rows: Some(rows),
        batch_rows: BATCH_ROWS,
        flat: true,
        offsets: true,
        ..ReadOptions::default()
    };
    let (table, failed) = Watched::new(dataset);
    let run = || -> Result<(), pilaster_arrow::Error> {
        for batch in pilaster_arrow::read(table, options)? {
            if put.blocking_send(Ok(with_schema(&batch?, schema)?)).is_err() {
                break;
            }
        }
        Ok(())
    };
    run().map_err(|e| reason(e, &failed))
}

/// Returns a batch whose columns can all be null.
fn with_schema(batch: &RecordBatch, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &options)
}

/// The text of an error of a table, with the path of the file.
type Failed = Rc<RefCell<Option<String>>>;

/// Returns the error of a table that was dropped, with the path of the file if it is known.
fn reason(e: pilaster_arrow::Error, failed: &Failed) -> Reason {
    failed.take().map_or_else(|| e.into(), Reason::Dataset)
}

/// A table that tells in which file an error occurred when it is dropped.
struct Watched<'d> {
    table: bcolz::Table<'d>,
    failed: Failed,
}

impl<'d> Watched<'d> {
    fn new(dataset: &'d bcolz::Dataset) -> (Self, Failed) {
        let failed = Failed::default();
        (Watched { table: dataset.table(), failed: Rc::clone(&failed) }, failed)
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.failed.replace(self.table.failed().map(ToString::to_string));
    }
}

impl<'d> Table for Watched<'d> {
    type Part<'p>
        = <bcolz::Table<'d> as Table>::Part<'p>
    where
        Self: 'p;

    fn next_part<'p>(&'p mut self, outer: &mut Scratch<'p>) -> pilaster::Result<Option<Self::Part<'p>>>
    where
        Self: 'p,
    {
        self.table.next_part(outer)
    }

    fn skip(&mut self, rows: u64) -> pilaster::Result<u64> {
        self.table.skip(rows)
    }

    fn restart(&mut self) -> pilaster::Result<()> {
        self.table.restart()
    }

    fn choose(&mut self, columns: Option<&[usize]>) -> bool {
        self.table.choose(columns)
    }

    fn lists(&self, name: &str) -> bool {
        self.table.lists(name)
    }
}
