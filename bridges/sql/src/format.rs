//! The formats of files, for listing tables and `CREATE EXTERNAL TABLE`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion_common::stats::Precision;
use datafusion_common::{DataFusionError, GetExt, Result, Statistics, not_impl_err, plan_err};
use datafusion_datasource::TableSchema;
use datafusion_datasource::file::FileSource;
use datafusion_datasource::file_compression_type::FileCompressionType;
use datafusion_datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::file_sink_config::FileSinkConfig;
use datafusion_datasource::sink::DataSinkExec;
use datafusion_datasource::source::DataSourceExec;
use datafusion_expr::dml::InsertOp;
use datafusion_physical_expr::LexRequirement;
use datafusion_physical_plan::ExecutionPlan;
use datafusion_session::Session;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use object_store::{ObjectMeta, ObjectStore};
use pilaster::any;

use crate::counts::Counts;
use crate::error::Failure;
use crate::heads::Heads;
use crate::options::Options;
use crate::sink::Sink;
use crate::source::Source;
use crate::store::{Remote, shown};
use crate::{open, schema, statistics};

/// Number of files whose schemas are read at the same time.
const AT_ONCE: usize = 8;

/// Maximum number of bytes at the end of a file of Vortex or Jay that are fetched for its columns: the metadata of some thousand
/// columns.
const TAIL: u64 = 448 << 10;

/// Maximum number of these bytes of all files of a table.
const TAILS: u64 = 16 << 20;

/// Files of one format.
#[derive(Clone, Debug)]
pub struct Format {
    options: Options,
    heads: Arc<Heads>,
}

impl Format {
    /// Creates the format of files that are read with `options`.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Format { options, heads: Arc::default() }
    }

    /// Returns the options.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Runs a function over a file on a thread. If the file has its metadata at the end, `tail` bytes there are fetched first. Returns the error of a damaged file if such files are left out.
    async fn each<R: Send + 'static>(
        &self,
        store: Arc<dyn ObjectStore>,
        meta: ObjectMeta,
        tail: u64,
        run: impl FnOnce(&Arc<Remote>, &Options, &Heads) -> Result<R, Failure> + Send + 'static,
    ) -> Result<Result<R, Failure>> {
        let path = shown(&store, &meta.location);
        let remote = Remote::new(store, meta, path.clone(), Counts::unseen());
        if matches!(self.options.format, any::Format::Vortex | any::Format::Jay) {
            remote.expect_tail(tail);
        }
        let (options, heads) = (self.options.clone(), Arc::clone(&self.heads));
        match open::on_thread(&path, move || run(&remote, &options, &heads)).await? {
            Err(e) if self.options.skip_damaged && e.is_damage() => {
                self.heads.warn(&e);
                Ok(Err(e))
            }
            done => Ok(Ok(done?)),
        }
    }
}

#[async_trait]
impl FileFormat for Format {
    fn get_ext(&self) -> String {
        self.options.extension().to_owned()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        if compression.is_compressed() {
            return not_impl_err!("files of {} have compression of their own", self.options.format);
        }
        Ok(self.get_ext())
    }

    /// Files are not compressed as a whole. Tables over directories then ask for the extension of the format.
    fn compression_type(&self) -> Option<FileCompressionType> {
        Some(FileCompressionType::UNCOMPRESSED)
    }

    /// Returns the columns of all files, by name. Without a file that has any, it is an error.
    async fn infer_schema(
        &self,
        _: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        objects: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        if objects.is_empty() {
            return plan_err!("all files of the table have 0 bytes, so that its columns are unknown");
        }
        let tail = TAILS.checked_div(objects.len() as u64).map_or(TAIL, |tail| tail.min(TAIL));
        let schemas = objects.iter().map(|meta| self.each(Arc::clone(store), meta.clone(), tail, schema::schema));
        let schemas: Vec<_> = stream::iter(schemas.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await?;
        let (mut merged, mut left_out) = (None, None);
        for (meta, schema) in objects.iter().zip(schemas) {
            let schema = match schema {
                Ok(schema) => schema,
                Err(e) => {
                    left_out = left_out.or(Some(e));
                    continue;
                }
            };
            let path = || shown(store, &meta.location);
            merged =
                Some(Schema::try_merge(merged.into_iter().chain([schema])).map_err(|e| {
                    DataFusionError::Plan(format!("{}: its columns do not fit other files: {e}", path()))
                })?);
        }
        match (merged, left_out) {
            (Some(merged), _) => Ok(Arc::new(merged)),
            (None, Some(e)) => plan_err!("all files of the table are damaged; the first one: {e}"),
            (None, None) => Ok(Arc::new(Schema::empty())),
        }
    }

    async fn infer_stats(
        &self,
        _: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<Statistics> {
        let table = Arc::clone(&schema);
        let facts = self.each(Arc::clone(store), object.clone(), 0, move |remote, options, heads| {
            statistics::facts(remote, options, heads, &table)
        });
        let mut known = Statistics::new_unknown(&schema);
        let Ok(facts) = facts.await? else { return Ok(known) };
        known.column_statistics = facts.columns;
        known.num_rows = match facts.rows.and_then(|rows| usize::try_from(rows).ok()) {
            // Rows of a damaged file may be left out.
            Some(rows) if self.options.skip_damaged || self.options.tolerant => Precision::Inexact(rows),
            Some(rows) => Precision::Exact(rows),
            None => Precision::Absent,
        };
        Ok(known)
    }

    async fn create_physical_plan(&self, _: &dyn Session, scan: FileScanConfig) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(DataSourceExec::from_data_source(scan))
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        _: &dyn Session,
        config: FileSinkConfig,
        order: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if config.insert_op != InsertOp::Append {
            return not_impl_err!("files are added to a table, but not replaced");
        }
        // Only COPY has a place; a table, to which INSERT adds files, is also read.
        if !config.original_url.is_empty() && self.options != Options::new(self.options.format) {
            return plan_err!("{}: the options of {} concern reading", config.original_url, self.options.format);
        }
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(Sink::new(config, self.options.format)), order)))
    }

    fn file_source(&self, table: TableSchema) -> Arc<dyn FileSource> {
        Arc::new(Source::new(table, self.options.clone()).with_heads(Arc::clone(&self.heads)))
    }
}

/// Creates a [`Format`] with the options of an SQL statement.
#[derive(Clone, Debug)]
pub struct Factory {
    options: Options,
    name: &'static str,
}

impl Factory {
    /// Creates the factory of a format, which SQL calls by its name.
    #[must_use]
    pub const fn new(format: any::Format) -> Self {
        Factory { options: Options::new(format), name: format.name() }
    }

    /// Creates the factory that is called by the extension of files.
    #[must_use]
    pub const fn by_extension(format: any::Format) -> Self {
        let options = Options::new(format);
        Factory { name: options.extension(), options }
    }
}

impl GetExt for Factory {
    fn get_ext(&self) -> String {
        self.name.to_owned()
    }
}

impl FileFormatFactory for Factory {
    fn create(&self, _: &dyn Session, given: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        Ok(Arc::new(Format::new(self.options.clone().with(given)?)))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(Format::new(self.options.clone()))
    }
}

/// The formats of single files.
#[cfg(feature = "session")]
const FILES: [any::Format; 4] = [any::Format::DataSeries, any::Format::Jay, any::Format::Vortex, any::Format::Filo];

/// Adds all formats to a session: `STORED AS DATASERIES`, `JAY`, `VORTEX`, `FILO` and `BCOLZ`.
///
/// ```
/// use datafusion::execution::SessionStateBuilder;
/// use datafusion::prelude::SessionContext;
///
/// # #[tokio::main]
/// # async fn main() -> datafusion::error::Result<()> {
/// let mut state = SessionStateBuilder::new().with_default_features().build();
/// pilaster_datafusion::register(&mut state)?;
/// let context = SessionContext::new_with_state(state);
/// context.sql("CREATE EXTERNAL TABLE keyed STORED AS JAY LOCATION '../../examples/data/keyed_1.jay'").await?;
/// let batches = context.sql("SELECT count(*), sum(k) FROM keyed").await?.collect().await?;
/// assert_eq!(batches[0].num_rows(), 1);
/// # Ok(())
/// # }
/// ```
///
/// A format of the same name that the session had is replaced.
///
/// # Errors
/// None at present.
#[cfg(feature = "session")]
pub fn register(state: &mut datafusion::execution::SessionState) -> Result<()> {
    use datafusion::datasource::provider::DefaultTableFactory;

    for format in FILES {
        for factory in [Factory::new(format), Factory::by_extension(format)] {
            state.register_file_format(Arc::new(factory), true)?;
        }
        let listing = Arc::new(DefaultTableFactory::new());
        state.table_factories_mut().insert(format.name().to_ascii_uppercase(), listing);
    }
    state.table_factories_mut().insert("BCOLZ".to_owned(), Arc::new(crate::DatasetFactory));
    Ok(())
}
