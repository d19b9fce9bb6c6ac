//! The counters of a scan, as metrics that `EXPLAIN ANALYZE` shows.

use datafusion_physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};

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
    /// Damaged files that were left out, from the damage on.
    pub files_skipped: Count,
}

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
            files_skipped: count("files_skipped"),
        }
    }

    /// Returns counters that are not read.
    pub fn unseen() -> Self {
        Counts::new(&ExecutionPlanMetricsSet::new(), 0)
    }
}
