//! Files that a predicate leaves, by the statistics that were read for the plan.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use arrow::datatypes::SchemaRef;
use datafusion_common::pruning::PruningStatistics;
use datafusion_common::stats::Precision;
use datafusion_common::{Column, ColumnStatistics, Result, ScalarValue};
use datafusion_datasource::PartitionedFile;
use datafusion_datasource::file_groups::FileGroup;
use datafusion_physical_expr::PhysicalExpr;
use datafusion_pruning::PruningPredicateBuilder;

use crate::values::unordered;

/// Returns the groups without the files that have no rows which meet a predicate; `None` if all files may have some. One file is
/// kept at least, as a scan has a partition.
pub(crate) fn kept(
    groups: &[FileGroup],
    schema: &SchemaRef,
    predicate: &Arc<dyn PhysicalExpr>,
) -> Result<Option<Vec<FileGroup>>> {
    let files: Vec<_> = groups.iter().flat_map(FileGroup::iter).collect();
    let builder = PruningPredicateBuilder::new().with_file_schema(Arc::clone(schema));
    let Some(pruning) = builder.build(Arc::clone(predicate)) else { return Ok(None) };
    let unordered = unordered(predicate, schema);
    // A bound may have no value of the type of a cast.
    let Ok(keep) = pruning.prune(&Files { files: &files, schema, unordered }) else { return Ok(None) };
    if keep.iter().all(|keep| *keep) {
        return Ok(None);
    }
    let mut keep = keep.into_iter();
    let mut left: Vec<FileGroup> = groups
        .iter()
        .map(|group| group.iter().filter(|_| keep.next().unwrap_or(true)).cloned().collect::<Vec<_>>().into())
        .filter(|group: &FileGroup| !group.is_empty())
        .collect();
    if left.is_empty() {
        left.extend(files.first().map(|file| FileGroup::new(vec![PartitionedFile::clone(file)])));
    }
    Ok(Some(left))
}

/// The statistics of files.
struct Files<'f> {
    files: &'f [&'f PartitionedFile],
    schema: &'f SchemaRef,
    /// Columns whose bounds cannot be used.
    unordered: HashSet<String>,
}

impl Files<'_> {
    /// Returns a fact of each file about a column.
    fn each<T>(
        &self,
        column: &Column,
        fact: impl Fn(&ColumnStatistics) -> Option<T>,
    ) -> Option<impl Iterator<Item = Option<T>>> {
        let index = self.schema.index_of(column.name()).ok()?;
        let of_file = move |file: &&PartitionedFile| fact(file.statistics.as_ref()?.column_statistics.get(index)?);
        Some(self.files.iter().map(of_file))
    }

    fn bounds(
        &self,
        column: &Column,
        bound: impl Fn(&ColumnStatistics) -> &Precision<ScalarValue>,
    ) -> Option<ArrayRef> {
        if self.unordered.contains(column.name()) {
            return None;
        }
        let unknown = ScalarValue::try_from(self.schema.field_with_name(column.name()).ok()?.data_type()).ok()?;
        let values = self.each(column, |facts| bound(facts).get_value().cloned())?;
        ScalarValue::iter_to_array(values.map(|value| value.unwrap_or_else(|| unknown.clone()))).ok()
    }
}

impl PruningStatistics for Files<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column, |facts| &facts.min_value)
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column, |facts| &facts.max_value)
    }

    fn num_containers(&self) -> usize {
        self.files.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        let counts = self.each(column, |facts| u64::try_from(*facts.null_count.get_value()?).ok())?;
        Some(Arc::new(counts.collect::<UInt64Array>()))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        let rows = |file: &&PartitionedFile| u64::try_from(*file.statistics.as_ref()?.num_rows.get_value()?).ok();
        Some(Arc::new(self.files.iter().map(rows).collect::<UInt64Array>()))
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}
