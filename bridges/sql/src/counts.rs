//! The counters of a scan, as metrics that `EXPLAIN ANALYZE` shows.

use std::sync::Arc;

use datafusion_physical_plan::ExecutionPlan;
use datafusion_physical_plan::metrics::{Count, ExecutionPlanMetricsSet, Label, MetricBuilder};

use crate::error::Failure;

/// The counters of a partition.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// Ranges of rows that statistics could exclude.
    pub zones: Count,
    /// Ranges of rows that statistics excluded.
    pub zones_pruned: Count,
    /// Rows that statistics excluded.
    pub rows_pruned: Count,
    /// Rows that the predicate excluded by its own columns, before others were read.
    pub rows_filtered: Count,
    /// Bytes that were fetched.
    pub bytes_read: Count,
    /// Ranges that were fetched.
    pub requests: Count,
    /// The set of the counters. Those of damaged files are added to it when there is one.
    metrics: ExecutionPlanMetricsSet,
    partition: usize,
}

/// The name of the counter of damaged files that were left out, from the damage on.
const FILES_SKIPPED: &str = "files_skipped";

/// The label of that counter: the error of the file.
const DAMAGE: &str = "damage";

impl Counts {
    pub fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let count = |name: &'static str| MetricBuilder::new(metrics).counter(name, partition);
        Counts {
            zones: count("zones"),
            zones_pruned: count("zones_pruned"),
            rows_pruned: count("rows_pruned"),
            rows_filtered: count("rows_filtered"),
            bytes_read: count("bytes_read"),
            requests: count("requests"),
            metrics: metrics.clone(),
            partition,
        }
    }

    /// Counts a damaged file that was left out, from the damage on. The error travels with the counter from a worker to its coordinator.
    pub fn skipped(&self, failure: &Failure) {
        let label = Label::new(DAMAGE, failure.to_string());
        MetricBuilder::new(&self.metrics).with_label(label).counter(FILES_SKIPPED, self.partition).add(1);
    }

    /// Returns counters that are not read.
    pub fn unseen() -> Self {
        Counts::new(&ExecutionPlanMetricsSet::new(), 0)
    }
}

/// Returns the errors of the damaged files that a plan left out while it ran, from the damage on: one for each. Files are left out if
/// [`Options::skip_damaged`](crate::Options::skip_damaged) is set; a table has no files of 0 bytes. The plan of a query on workers has the
/// counters of workers after `rewrite_distributed_plan_with_metrics` of datafusion-distributed.
///
#[cfg_attr(feature = "session", doc = "```")]
#[cfg_attr(not(feature = "session"), doc = "```ignore")]
/// # use datafusion::execution::SessionStateBuilder;
/// # use datafusion::prelude::SessionContext;
/// # #[tokio::main]
/// # async fn main() -> datafusion::error::Result<()> {
/// # let mut state = SessionStateBuilder::new().with_default_features().build();
/// # pilaster_datafusion::register(&mut state)?;
/// # let context = SessionContext::new_with_state(state);
/// let bytes = std::fs::read("../../examples/data/tiny.ds")?;
/// let dir = tempfile::tempdir()?;
/// // The first extent after the types is damaged.
/// let mut bytes = bytes;
/// bytes[450] ^= 1;
/// std::fs::write(dir.path().join("tiny.ds"), bytes)?;
/// let place = dir.path().display();
/// let sql = format!(
///     "CREATE EXTERNAL TABLE tiny STORED AS DATASERIES LOCATION '{place}/' OPTIONS ('skip_damaged' 'true')"
/// );
/// context.sql(&sql).await?;
/// let plan = context.sql("SELECT * FROM tiny").await?.create_physical_plan().await?;
/// datafusion::physical_plan::collect(plan.clone(), context.task_ctx()).await?;
/// let skipped = pilaster_datafusion::skipped(&plan);
/// assert!(skipped.len() == 1 && skipped[0].contains("tiny.ds: dataseries"), "{skipped:?}");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn skipped(plan: &Arc<dyn ExecutionPlan>) -> Vec<String> {
    let metrics = plan.metrics();
    let counted =
        metrics.iter().flat_map(|metrics| metrics.iter()).filter(|metric| metric.value().name() == FILES_SKIPPED);
    let labels = counted.flat_map(|metric| metric.labels()).filter(|label| label.name() == DAMAGE);
    let mut found: Vec<_> = labels.map(|label| label.value().to_owned()).collect();
    found.extend(plan.children().into_iter().flat_map(skipped));
    // A query can read a file twice.
    found.sort_unstable();
    found.dedup();
    found
}
