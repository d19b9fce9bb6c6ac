//! The scan of files: what is read, and what is counted.

use std::fmt;
use std::sync::Arc;

use datafusion_common::Result;
use datafusion_common::config::ConfigOptions;
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_datasource::TableSchema;
use datafusion_datasource::file::FileSource;
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::file_stream::FileOpener;
use datafusion_datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion_physical_expr::projection::ProjectionExprs;
use datafusion_physical_expr::{PhysicalExpr, conjunction};
use datafusion_physical_plan::DisplayFormatType;
use datafusion_physical_plan::execution_plan::apply_expression_roots;
use datafusion_physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion_physical_plan::metrics::ExecutionPlanMetricsSet;
use object_store::ObjectStore;
use pilaster::any;

use crate::counts::Counts;
use crate::opener::Opener;
use crate::options::Options;
use crate::store::Heads;

/// A scan of files of one format.
#[derive(Clone)]
pub struct Source {
    options: Options,
    table: TableSchema,
    projection: SplitProjection,
    predicate: Option<Arc<dyn PhysicalExpr>>,
    batch_rows: usize,
    metrics: ExecutionPlanMetricsSet,
    heads: Arc<Heads>,
}

/// Minimum number of rows of a batch. DataFusion cuts larger batches without copying.
const BATCH_ROWS: usize = 1 << 15;

impl Source {
    /// Creates the scan of all columns of a table.
    #[must_use]
    pub fn new(table: TableSchema, options: Options) -> Self {
        Source {
            options,
            projection: SplitProjection::unprojected(&table),
            table,
            predicate: None,
            batch_rows: BATCH_ROWS,
            metrics: ExecutionPlanMetricsSet::new(),
            heads: Arc::default(),
        }
    }

    /// Returns the options.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the predicate that leaves out rows by statistics, in terms of the table's schema.
    #[must_use]
    pub const fn predicate(&self) -> Option<&Arc<dyn PhysicalExpr>> {
        self.predicate.as_ref()
    }

    /// Sets the predicate.
    #[must_use]
    pub fn with_predicate(self, predicate: Option<Arc<dyn PhysicalExpr>>) -> Self {
        Source { predicate, ..self }
    }

    /// Sets where metadata of files are kept.
    pub(crate) fn with_heads(self, heads: Arc<Heads>) -> Self {
        Source { heads, ..self }
    }
}

impl FileSource for Source {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let file_schema = Arc::clone(self.table.file_schema());
        let columns = Arc::new(file_schema.project(&self.projection.file_indices)?);
        let opener = Opener {
            store,
            options: self.options.clone(),
            file_schema,
            columns,
            predicate: self.predicate.clone(),
            limit: config.limit,
            batch_rows: self.batch_rows,
            heads: Arc::clone(&self.heads),
            counts: Counts::new(&self.metrics, partition),
        };
        ProjectionOpener::try_new(self.projection.clone(), Arc::new(opener), self.table.file_schema())
    }

    fn table_schema(&self) -> &TableSchema {
        &self.table
    }

    fn with_batch_size(&self, rows: usize) -> Arc<dyn FileSource> {
        Arc::new(Source { batch_rows: rows.max(BATCH_ROWS), ..self.clone() })
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.predicate.clone()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection.source)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        self.options.format.name()
    }

    fn fmt_extra(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(predicate) = &self.predicate {
            write!(f, ", predicate={predicate}")?;
        }
        if self.options.trust_statistics {
            f.write_str(", trust_statistics")?;
        }
        if self.options.skip_damaged {
            f.write_str(", skip_damaged")?;
        }
        Ok(())
    }

    /// A Filo vector is fetched completely, and is not split.
    fn supports_repartitioning(&self) -> bool {
        self.options.format != any::Format::Filo
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        let merged = self.projection.source.try_merge(projection)?;
        let projection = SplitProjection::new(self.table.file_schema(), &merged);
        Ok(Some(Arc::new(Source { projection, ..self.clone() })))
    }

    /// Keeps the filters to leave out rows by statistics. They are applied again above.
    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let answers = vec![PushedDown::No; filters.len()];
        let predicate = conjunction(self.predicate.iter().cloned().chain(filters));
        let source: Arc<dyn FileSource> = Arc::new(self.clone().with_predicate(Some(predicate)));
        Ok(FilterPushdownPropagation::with_parent_pushdown_result(answers).with_updated_node(source))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        apply_expression_roots(self.predicate.iter().chain(self.projection.source.iter().map(|p| &p.expr)), f)
    }
}
