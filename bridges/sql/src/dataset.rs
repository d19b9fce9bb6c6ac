//! bcolz datasets, which are directories, as tables.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatchReader as _;
use async_trait::async_trait;
use datafusion_common::stats::Precision;
use datafusion_common::{Result, Statistics, exec_datafusion_err, plan_err};
use datafusion_datasource::file_scan_config::FileScanConfigBuilder;
use datafusion_datasource::source::DataSourceExec;
use datafusion_datasource::{ListingTableUrl, PartitionedFile, TableSchema};
use datafusion_execution::object_store::ObjectStoreUrl;
use datafusion_expr::{CreateExternalTable, Expr, TableType};
use datafusion_physical_plan::ExecutionPlan;
use datafusion_session::{Session, TableProvider, TableProviderFactory};
use object_store::ObjectMeta;
use pilaster::any::Format;
use pilaster::bcolz;
use pilaster::bytes::Scratch;
use pilaster::column::{Bookmark, Table};

use crate::error::{Failure, Reason};
use crate::options::Options;
use crate::scan::{Put, Reading, Scan, count, limited};
use crate::schema::table_schema;
use crate::share::share;
use crate::source::Source;
use crate::{help, open};

/// A bcolz dataset: a directory of the local file system, which workers have under the same path. Only the columns of a query
/// are read.
#[derive(Debug)]
pub struct Dataset {
    dataset: Arc<bcolz::Dataset>,
    schema: SchemaRef,
    options: Options,
}

impl Dataset {
    /// Opens the directory of a dataset.
    ///
    /// # Errors
    /// A missing or invalid file, with its path; a type that Arrow lacks.
    pub fn open(dir: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let dir = dir.as_ref();
        let dataset = opened(dir, options)?;
        let read = open::read_options();
        let (table, failed) = Watched::new(&dataset);
        let schema = pilaster_arrow::read(table, read).map(|reader| reader.schema());
        let schema = schema.map_err(|e| failure(dir, options, failed.take().unwrap_or_else(|| e.into())))?;
        let schema = Arc::new(table_schema(&schema, options).map_err(|e| failure(dir, options, e))?);
        Ok(Dataset { schema, dataset: Arc::new(dataset), options: options.clone() })
    }

    /// Returns the options.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
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
        let rows = if self.dataset.is_tolerant() || self.options.skip_damaged {
            Precision::Inexact(rows)
        } else {
            Precision::Exact(rows)
        };
        Some(Statistics::new_unknown(&self.schema).with_num_rows(rows))
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let dir = std::path::absolute(self.dataset.dir())?;
        let statistics = self.statistics().unwrap_or_else(|| Statistics::new_unknown(&self.schema));
        let meta = ObjectMeta {
            location: object_store::path::Path::from_absolute_path(&dir)?,
            last_modified: Default::default(),
            size: size(&dir, DEPTH).map_err(|e| exec_datafusion_err!("{}: {e}", dir.display()))?.max(1),
            e_tag: None,
            version: None,
        };
        let file = PartitionedFile::new_from_meta(meta).with_statistics(Arc::new(statistics.clone()));
        let table = TableSchema::from(&self.schema);
        let source = Source::new(table, self.options.clone()).with_directory(Some(dir));
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
            .with_file(file)
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(scan))
    }
}

/// Maximum depth of the directories of a dataset: its columns, and their chunks.
const DEPTH: u32 = 4;

/// Returns the number of bytes of the files of a directory.
fn size(dir: &Path, depth: u32) -> io::Result<u64> {
    let mut sum = 0u64;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        let size = match depth.checked_sub(1) {
            Some(depth) if meta.is_dir() => size(&entry.path(), depth)?,
            _ => meta.len(),
        };
        sum = sum.saturating_add(size);
    }
    Ok(sum)
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
        for (given, what) in [
            (!command.schema.fields().is_empty(), "columns are those of its files"),
            (!command.table_partition_cols.is_empty(), "directories are no partitions"),
            (!command.order_exprs.is_empty(), "order is not known"),
            (!command.constraints.is_empty(), "constraints are not known"),
        ] {
            if given {
                return plan_err!("{location}: a bcolz dataset takes a location and options only; its {what}");
            }
        }
        let options = Options::new(Format::Bcolz).with(&command.options)?;
        Ok(Arc::new(Dataset::open(directory(location)?, &options)?))
    }
}

/// Returns the directory that a path or a URL of the local file system means.
fn directory(location: &str) -> Result<PathBuf> {
    if !location.contains("://") {
        return Ok(PathBuf::from(location));
    }
    let url = ListingTableUrl::parse(location)?;
    match url.get_url().to_file_path() {
        Ok(dir) if url.scheme() == "file" => Ok(dir),
        _ => plan_err!("{location}: a bcolz dataset is a directory of the local file system"),
    }
}

/// Reads the rows of a dataset that a byte range owns, of `len` bytes. Blocks.
pub(crate) fn run(scan: &Scan, dir: &Path, len: u64, put: &mut Put<'_>) -> Result<(), Failure> {
    let dataset = opened(dir, &scan.options)?;
    let rows = share(scan.range.as_ref(), len, dataset.rows());
    let mut limited = limited(scan, put);
    if scan.columns.fields().is_empty() {
        let done = count(scan, rows.end.saturating_sub(rows.start), &mut limited);
        return done.map(|_| ()).map_err(|reason| failure(dir, &scan.options, reason));
    }
    let (table, failed) = Watched::new(&dataset);
    let done = Reading::default().rows(scan, table, Some(rows), &mut limited);
    done.map(|_| ()).map_err(|reason| failure(dir, &scan.options, failed.take().unwrap_or(reason)))
}

fn failure(dir: &Path, options: &Options, reason: Reason) -> Failure {
    let failure = Failure::new(dir.display().to_string(), reason);
    let help = help::dataset(options, dir, &failure);
    failure.helped(help)
}

fn opened(dir: &Path, options: &Options) -> Result<bcolz::Dataset, Failure> {
    let opened = match options.tolerant {
        true => bcolz::Dataset::open_tolerant(dir, |e| log::warn!("left out: {e}")),
        false => bcolz::Dataset::open(dir),
    };
    opened.map_err(|e| failure(dir, options, (&e).into()))
}

/// The error of a file of a table.
type Failed = Rc<RefCell<Option<Reason>>>;

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
        self.failed.replace(self.table.failed().map(Reason::from));
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

    fn bookmark(&self) -> Bookmark {
        self.table.bookmark()
    }

    fn seek(&mut self, to: Bookmark) -> pilaster::Result<()> {
        self.table.seek(to)
    }

    fn choose(&mut self, columns: Option<&[usize]>) -> bool {
        self.table.choose(columns)
    }

    fn lists(&self, name: &str) -> bool {
        self.table.lists(name)
    }
}
