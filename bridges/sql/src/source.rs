//! The scan of files: what is read, and what is counted.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion_common::Result;
use datafusion_common::config::ConfigOptions;
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_datasource::TableSchema;
use datafusion_datasource::file::FileSource;
use datafusion_datasource::file_groups::FileGroupPartitioner;
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::file_stream::FileOpener;
use datafusion_datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion_physical_expr::projection::ProjectionExprs;
use datafusion_physical_expr::{
    EquivalenceProperties, LexOrdering, PhysicalExpr, PhysicalSortExpr, conjunction, split_conjunction,
};
use datafusion_physical_plan::execution_plan::apply_expression_roots;
use datafusion_physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion_physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_physical_plan::{DisplayFormatType, SortOrderPushdownResult};
use object_store::ObjectStore;
use pilaster::any;

use crate::counts::Counts;
use crate::files;
use crate::filter;
use crate::heads::Heads;
use crate::opener::Opener;
use crate::options::Options;
use crate::order::Order;

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
    /// The rows that are wanted first.
    order: Option<Order>,
    /// The directory of a dataset.
    directory: Option<PathBuf>,
}

/// Number of rows of a batch, unless more or fewer are chosen. It is more than the default of DataFusion, which cuts larger batches
/// without copying, as large batches are read faster.
const BATCH_ROWS: usize = 1 << 16;

/// The number of rows of a batch that DataFusion chooses if its user does not.
const DEFAULT_ROWS: usize = 1 << 13;

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
            order: None,
            directory: None,
        }
    }

    /// Returns the options.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the predicate that leaves out rows, in terms of the table's schema.
    #[must_use]
    pub const fn predicate(&self) -> Option<&Arc<dyn PhysicalExpr>> {
        self.predicate.as_ref()
    }

    /// Sets the predicate. Scans of Vortex and Jay apply its parts that have columns of files only, unless damage is left out; others keep
    /// all rows, so that a filter must follow.
    #[must_use]
    pub fn with_predicate(self, predicate: Option<Arc<dyn PhysicalExpr>>) -> Self {
        Source { predicate, ..self }
    }

    /// Sets the rows that are wanted first.
    pub(crate) fn with_order(self, order: Option<Order>) -> Self {
        Source { order, ..self }
    }

    /// Sets the directory of a dataset.
    pub(crate) fn with_directory(self, directory: Option<PathBuf>) -> Self {
        Source { directory, ..self }
    }

    /// Returns the directory of a dataset.
    #[cfg(feature = "codec")]
    pub(crate) const fn directory(&self) -> Option<&PathBuf> {
        self.directory.as_ref()
    }

    /// Returns the predicate, and the rows that are wanted first, of a scan. Neither of them may choose the rows that a limit counts.
    pub(crate) fn chosen(&self, config: &FileScanConfig) -> (Option<Arc<dyn PhysicalExpr>>, Option<Order>) {
        match config.limit {
            Some(_) => (self.predicate.as_ref().and_then(filter::below_limit), None),
            None => (self.predicate.clone(), self.order.clone()),
        }
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
        let (predicate, order) = self.chosen(config);
        let opener = Opener {
            store,
            url: config.object_store_url.clone(),
            options: self.options.clone(),
            file_schema,
            columns,
            predicate,
            limit: config.limit,
            batch_rows: self.batch_rows,
            heads: Arc::clone(&self.heads),
            order,
            directory: self.directory.clone(),
            counts: Counts::new(&self.metrics, partition),
        };
        ProjectionOpener::try_new(self.projection.clone(), Arc::new(opener), self.table.file_schema())
    }

    fn table_schema(&self) -> &TableSchema {
        &self.table
    }

    fn with_batch_size(&self, rows: usize) -> Arc<dyn FileSource> {
        let batch_rows = if rows == DEFAULT_ROWS { BATCH_ROWS } else { rows };
        Arc::new(Source { batch_rows, ..self.clone() })
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
        if let Some(order) = &self.order {
            write!(f, ", first_by={}{}", order.column, if order.descending { " DESC" } else { "" })?;
        }
        if self.options.trust_statistics {
            f.write_str(", trust_statistics")?;
        }
        if self.options.skip_damaged {
            f.write_str(", skip_damaged")?;
        }
        Ok(())
    }

    /// A Filo vector is fetched completely, and is not split; nor is a file whose rows after damage are left out.
    fn supports_repartitioning(&self) -> bool {
        self.options.format != any::Format::Filo && !self.options.skip_damaged
    }

    /// Leaves out files by their statistics, before the others are split.
    fn repartitioned(
        &self,
        partitions: usize,
        least: usize,
        ordering: Option<LexOrdering>,
        config: &FileScanConfig,
    ) -> Result<Option<FileScanConfig>> {
        let kept = match &self.predicate {
            Some(predicate) if self.options.trust_statistics => {
                files::kept(&config.file_groups, self.table.table_schema(), predicate)?
            }
            _ => None,
        };
        let groups = kept.as_ref().unwrap_or(&config.file_groups);
        let split = FileGroupPartitioner::new()
            .with_target_partitions(partitions)
            .with_repartition_file_min_size(least)
            .with_preserve_order_within_groups(ordering.is_some());
        let split = if self.supports_repartitioning() { split.repartition_file_groups(groups) } else { None };
        let changed = |groups| {
            let mut changed = config.clone();
            changed.file_groups = groups;
            changed
        };
        Ok(split.or(kept).map(changed))
    }

    /// The zones that may have the first rows are read first, so that the rows found exclude the others. Other formats have
    /// no zones, or one.
    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        _: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        let zoned = self.options.format == any::Format::Vortex && self.options.trust_statistics;
        let Some(order) = Order::of(order, &self.projection.source).filter(|_| zoned) else {
            return Ok(SortOrderPushdownResult::Unsupported);
        };
        Ok(SortOrderPushdownResult::Inexact { inner: Arc::new(self.clone().with_order(Some(order))) })
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        let merged = self.projection.source.try_merge(projection)?;
        let projection = SplitProjection::new(self.table.file_schema(), &merged);
        Ok(Some(Arc::new(Source { projection, ..self.clone() })))
    }

    /// Keeps the filters to leave out rows by statistics. Those that the scan cannot apply are applied above.
    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let applies = |part: &Arc<dyn PhysicalExpr>| {
            filter::applied(&self.options)
                && split_conjunction(part).into_iter().all(|part| filter::applies(part, self.table.file_schema()))
        };
        let answers = filters.iter().map(|part| if applies(part) { PushedDown::Yes } else { PushedDown::No }).collect();
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

#[cfg(test)]
mod tests {
    use arrow::datatypes::Schema;

    use super::*;

    #[test]
    fn a_chosen_number_of_rows_is_the_number_of_rows() {
        let table = TableSchema::from(&Arc::new(Schema::empty()));
        let source = Source::new(table, Options::new(any::Format::Vortex));
        let rows = |chosen| source.with_batch_size(chosen).downcast_ref::<Source>().map(|source| source.batch_rows);
        assert_eq!([rows(100), rows(DEFAULT_ROWS), rows(1 << 20)], [Some(100), Some(BATCH_ROWS), Some(1 << 20)]);
    }
}
