//! Rows that a predicate leaves, by the statistics of zones.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::record_batch::RecordBatchReader as _;
use datafusion_common::pruning::PruningStatistics;
use datafusion_common::{Column as Named, ScalarValue};
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::expressions::DynamicFilterTracking;
use datafusion_physical_expr::utils::collect_columns;
use datafusion_pruning::{PruningPredicate, PruningPredicateBuilder};
use pilaster::any::{Column, Part, Table};
use pilaster::column::{Column as _, Memory, Part as _, Value};
use pilaster::vortex;
use pilaster_arrow::ReadOptions;
use pilaster_arrow::schema::UNIT;

use crate::counts::Counts;
use crate::error::Reason;
use crate::open;
use crate::order::Order;
use crate::scan::{Scan, present};
use crate::values::{maximum, minimum, trusted, unordered};

/// Maximum number of zones that are asked at once.
const MOST: usize = 1 << 16;

/// Number of times that the zones of a few rows are asked after the predicate changed, as it may change again. To ask the zones of all rows takes
/// about as long.
const FEW: u32 = 16;

/// Rows whose zones were asked, and the ranges that they are cut into, with whether these may have rows that meet the predicate.
type Asked = (Range<u64>, Vec<(Range<u64>, bool)>);

/// Leaves out rows of a part that cannot meet a predicate.
pub(crate) struct Pruner<'s> {
    schema: SchemaRef,
    predicate: Arc<dyn PhysicalExpr>,
    /// Whether the predicate changes while the query runs.
    tracking: DynamicFilterTracking,
    pruning: Option<Arc<PruningPredicate>>,
    /// The columns of the predicate whose bounds can be used, with their types.
    columns: Vec<(String, DataType)>,
    trust: bool,
    counts: &'s Counts,
    memory: Memory,
    /// The last rows that were asked, a few of them if the predicate changes.
    asked: Asked,
    /// All rows, as far as they were asked at once since the predicate changed.
    all: Option<Asked>,
    /// How often a few rows were asked since the predicate changed.
    few: u32,
}

impl<'s> Pruner<'s> {
    pub fn new(
        scan: &Scan,
        predicate: &Arc<dyn PhysicalExpr>,
        table: Table<'_>,
        counts: &'s Counts,
    ) -> Result<Self, Reason> {
        let mut wanted: HashSet<_> =
            collect_columns(predicate).into_iter().map(|column| column.name().to_owned()).collect();
        let unordered = unordered(predicate, &scan.file_schema);
        wanted.retain(|name| !unordered.contains(name));
        let columns = bounded(&scan.file_schema, table, |name| wanted.contains(name))?;
        let mut pruner = Pruner {
            schema: Arc::clone(&scan.file_schema),
            predicate: Arc::clone(predicate),
            tracking: DynamicFilterTracking::classify(predicate),
            pruning: None,
            columns,
            trust: scan.options.trust_statistics,
            counts,
            memory: Memory::default(),
            asked: (0..0, Vec::new()),
            all: None,
            few: 0,
        };
        pruner.rebuild();
        Ok(pruner)
    }

    /// Whether the predicate changes while the query runs.
    pub const fn changes(&self) -> bool {
        matches!(self.tracking, DynamicFilterTracking::Watching(_))
    }

    fn rebuild(&mut self) {
        let builder = PruningPredicateBuilder::new().with_file_schema(Arc::clone(&self.schema));
        self.pruning = builder.build(Arc::clone(&self.predicate));
    }

    /// Returns the ranges of `rows` that may have rows that meet the predicate, as it is now. Other parts of `all` may be asked next,
    /// the ones after `rows` unless the predicate changes.
    pub fn kept(&mut self, part: &Part<'_>, rows: Range<u64>, all: &Range<u64>) -> Result<Vec<Range<u64>>, Reason> {
        if self.tracking.watcher().is_some_and(|tracker| tracker.changed()) {
            self.rebuild();
            (self.asked, self.all, self.few) = ((0..0, Vec::new()), None, 0);
        }
        let (mut row, mut kept) = (rows.start, Vec::new());
        while row < rows.end {
            if self.changes() && self.few >= FEW && self.all.is_none() {
                self.all = Some(self.ask(part, all.clone())?);
            }
            let known = self.all.as_ref().is_some_and(|(asked, _)| asked.contains(&row));
            if !known && !self.asked.0.contains(&row) {
                self.few = self.few.saturating_add(1);
                let end = if self.changes() { rows.end } else { all.end.max(rows.end) };
                self.asked = self.ask(part, row..end)?;
            }
            let asked = self.all.as_ref().filter(|_| known).unwrap_or(&self.asked);
            let next = row..asked.0.end.min(rows.end);
            row = next.end;
            self.take(&asked.1, &next, &mut kept);
        }
        Ok(kept)
    }

    /// Adds the ranges of `rows` that may have rows that meet the predicate, of the blocks that were asked.
    fn take(&self, blocks: &[(Range<u64>, bool)], rows: &Range<u64>, kept: &mut Vec<Range<u64>>) {
        let blocks = blocks.get(blocks.partition_point(|(block, _)| block.end <= rows.start)..).unwrap_or_default();
        for (block, may) in blocks.iter().take_while(|(block, _)| block.start < rows.end) {
            // A block that reaches into other rows is counted once.
            let first = usize::from(rows.contains(&block.start));
            let block = block.start.max(rows.start)..block.end.min(rows.end);
            self.counts.zones.add(first);
            if !may {
                self.counts.zones_pruned.add(first);
                let rows = block.end.saturating_sub(block.start);
                self.counts.rows_pruned.add(usize::try_from(rows).unwrap_or(usize::MAX));
                continue;
            }
            match kept.last_mut() {
                Some(last) if last.end == block.start => last.end = block.end,
                _ => kept.push(block),
            }
        }
    }

    /// Asks the zones of rows, from the first one on, about the predicate.
    fn ask(&mut self, part: &Part<'_>, rows: Range<u64>) -> Result<Asked, Reason> {
        let Some(pruning) = self.pruning.clone() else { return Ok((rows.clone(), vec![(rows, true)])) };
        let mut columns = Vec::new();
        for (name, ty) in self.columns.clone() {
            let found = zones_of(part, (&name, &ty), &rows, self.trust, &mut self.memory)?;
            columns.push(Known { name, ty, zones: found });
        }
        // Zones of no column, or of a few rows only, say nothing about the other rows.
        let known = columns.iter().filter_map(|known| known.zones.last()).map(|zone| zone.rows.end).min();
        let rows = rows.start..known.unwrap_or(rows.end).min(rows.end);
        let mut zones = Zones { cuts: vec![rows.start, rows.end], columns };
        for known in &zones.columns {
            zones.cuts.extend(known.zones.iter().map(|zone| zone.rows.end).filter(|end| *end < rows.end));
        }
        zones.cuts.sort_unstable();
        zones.cuts.dedup();
        // A bound may have no value of the type of a cast. The rows tell whether any of them does.
        let Ok(keep) = pruning.prune(&zones) else { return Ok((rows.clone(), vec![(rows, true)])) };
        Ok((rows, zones.blocks().zip(keep).collect()))
    }

    /// Sorts steps so that those come first which may have the first rows of an order.
    pub fn sort(&mut self, part: &Part<'_>, order: &Order, steps: &mut Vec<Range<u64>>) -> Result<(), Reason> {
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Ok(()) };
        let known = self.columns.iter().find(|(name, _)| *name == order.column).cloned();
        let Some((name, ty)) = known else { return Ok(()) };
        let zones = zones_of(part, (&name, &ty), &(first.start..last.end), self.trust, &mut self.memory)?;
        order.sort(steps, &zones);
        Ok(())
    }
}

/// Returns the columns of a table whose bounds can be used, of those that `wanted` names, with the types of the schema.
pub(crate) fn bounded(
    schema: &SchemaRef,
    mut table: Table<'_>,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(String, DataType)>, Reason> {
    let mut columns = present(schema, &mut table)?;
    columns.retain(|name| wanted(name));
    let options = ReadOptions { columns: Some(columns), ..open::read_options() };
    let stored = pilaster_arrow::read(table, options)?.schema();
    // Bounds of another type, such as decimals of another scale, are other numbers.
    let same = stored.fields().iter().filter_map(|field| {
        let of_table = schema.field_with_name(field.name()).ok()?;
        let alike = of_table.data_type() == field.data_type()
            || of_table.data_type().is_integer() && field.data_type().is_integer();
        let plain = !field.metadata().contains_key(UNIT);
        (alike && plain).then(|| (field.name().clone(), of_table.data_type().clone()))
    });
    Ok(same.collect())
}

/// Returns what is known about rows of a column.
pub(crate) fn zones_of(
    part: &Part<'_>,
    (name, ty): (&str, &DataType),
    rows: &Range<u64>,
    trust: bool,
    memory: &mut Memory,
) -> Result<Vec<Zone>, Reason> {
    let column = part.named(name)?;
    if let Column::Vortex(column) = &column
        && let Some(map) = column.zones()?
    {
        return mapped(&map, ty, rows, trust, memory);
    }
    let (mut row, mut found) = (rows.start, Vec::new());
    while row < rows.end && found.len() < MOST {
        let zone = match column.zone_around(row, &mut memory.scratch()) {
            Ok(zone) => zone,
            Err(e) => {
                memory.grow(e)?;
                continue;
            }
        };
        // A zone that does not reach further would be asked for again without end.
        let Some(zone) = zone.filter(|zone| zone.rows.contains(&row)) else { break };
        row = zone.rows.end;
        // Others do not say whether there are NaN. In Jay, they are missing values.
        let known = !ty.is_floating() || matches!(column, Column::Jay(_));
        found.push(Zone {
            min: minimum(&zone.min, ty, trust).filter(|_| known),
            max: maximum(&zone.max, ty, trust).filter(|_| known),
            nulls: trusted(&zone.nulls, trust).copied(),
            rows: zone.rows,
        });
    }
    Ok(found)
}

/// Returns the bounds of zones in a zone map. They are columns, of which many values are read at once: one by one they
/// cost 2 microseconds per zone, as much as reading 1 % of the rows.
fn mapped(
    map: &vortex::Zones<'_>,
    ty: &DataType,
    rows: &Range<u64>,
    trust: bool,
    memory: &mut Memory,
) -> Result<Vec<Zone>, Reason> {
    let last = rows.end.checked_sub(1).and_then(|row| map.around(row));
    // All that a zone map says are claims.
    let (Some(first), Some(last), true) = (map.around(rows.start), last, trust) else { return Ok(Vec::new()) };
    let zones = first..last.saturating_add(1).min(first.saturating_add(MOST as u64));
    let mut found: Vec<_> =
        zones.clone().map(|i| Zone { rows: map.rows(i), min: None, max: None, nulls: None }).collect();
    let mut each = |column: Option<vortex::Column<'_>>, set: &dyn Fn(&mut Zone, Value<'_>)| -> Result<(), Reason> {
        let Some(column) = column else { return Ok(()) };
        let (mut at, mut left) = (zones.start, found.iter_mut());
        while at < zones.end {
            match column.read(at..zones.end, &mut memory.scratch()) {
                // It may have fewer rows.
                Ok(values) => {
                    for (k, zone) in left.by_ref().take(values.len).enumerate() {
                        set(zone, values.value(k)?);
                    }
                    at = at.saturating_add(values.len as u64);
                }
                Err(e) => memory.grow(e)?,
            }
        }
        Ok(())
    };
    let nans = map.nan_count().filter(|_| ty.is_floating());
    if nans.is_some() || !ty.is_floating() {
        each(map.min(), &|zone, value| zone.min = minimum(&value.into(), ty, trust))?;
        each(map.max(), &|zone, value| zone.max = maximum(&value.into(), ty, trust))?;
    }
    // NaN, which bounds leave out, is above or below all other numbers for Arrow.
    each(nans, &|zone, value| {
        if value != Value::Int(0) {
            (zone.min, zone.max) = (None, None);
        }
    })?;
    each(map.null_count(), &|zone, value| {
        let Value::Int(count) = value else { return };
        zone.nulls = trusted(&u64::try_from(count).ok().into(), trust).copied();
    })?;
    Ok(found)
}

/// Facts about rows of a column.
pub(crate) struct Zone {
    pub rows: Range<u64>,
    pub min: Option<ScalarValue>,
    pub max: Option<ScalarValue>,
    pub nulls: Option<u64>,
}

/// A column with its zones, which follow each other.
struct Known {
    name: String,
    ty: DataType,
    zones: Vec<Zone>,
}

/// The zones of several columns, cut into blocks of rows that are each in one zone of every column.
struct Zones {
    /// The starts of all blocks, and the end of the last one.
    cuts: Vec<u64>,
    columns: Vec<Known>,
}

impl Zones {
    fn block(&self, k: usize) -> Option<Range<u64>> {
        match self.cuts.get(k..k.checked_add(2)?) {
            Some([start, end]) => Some(*start..*end),
            _ => None,
        }
    }

    fn blocks(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        (0..self.num_containers()).filter_map(|k| self.block(k))
    }

    /// Returns a value for each block, of a column.
    fn each<T>(
        &self,
        column: &Named,
        value: impl Fn(&Zone, &Range<u64>) -> Option<T>,
    ) -> Option<(Vec<Option<T>>, &DataType)> {
        let known = self.columns.iter().find(|known| known.name == column.name)?;
        let mut zones = known.zones.iter().peekable();
        let values = self.blocks().map(|block| {
            while zones.next_if(|zone| zone.rows.end <= block.start).is_some() {}
            let zone = zones.peek().filter(|zone| zone.rows.start <= block.start && block.end <= zone.rows.end)?;
            value(zone, &block)
        });
        Some((values.collect(), &known.ty))
    }

    fn bounds(&self, column: &Named, bound: impl Fn(&Zone) -> Option<ScalarValue>) -> Option<ArrayRef> {
        let (values, ty) = self.each(column, |zone, _| bound(zone))?;
        let unknown = ScalarValue::try_from(ty).ok()?;
        ScalarValue::iter_to_array(values.into_iter().map(|value| value.unwrap_or_else(|| unknown.clone()))).ok()
    }
}

impl PruningStatistics for Zones {
    fn min_values(&self, column: &Named) -> Option<ArrayRef> {
        self.bounds(column, |zone| zone.min.clone())
    }

    fn max_values(&self, column: &Named) -> Option<ArrayRef> {
        self.bounds(column, |zone| zone.max.clone())
    }

    fn num_containers(&self) -> usize {
        self.cuts.len().saturating_sub(1)
    }

    /// Returns the number of nulls of blocks that are a whole zone, or whose zone has none or only nulls.
    fn null_counts(&self, column: &Named) -> Option<ArrayRef> {
        let (nulls, _) = self.each(column, |zone, block| {
            let len = |rows: &Range<u64>| rows.end.saturating_sub(rows.start);
            match zone.nulls? {
                0 => Some(0),
                nulls if zone.rows == *block => Some(nulls),
                nulls if nulls >= len(&zone.rows) => Some(len(block)),
                _ => None,
            }
        })?;
        Some(Arc::new(UInt64Array::from(nulls)))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        Some(Arc::new(self.blocks().map(|block| block.end.saturating_sub(block.start)).collect::<UInt64Array>()))
    }

    fn contained(&self, _: &Named, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}
