//! Facts about the rows of a file before they are read: their number, and bounds of columns.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion_common::stats::Precision;
use datafusion_common::{ColumnStatistics, ScalarValue};
use pilaster::any::{self, File};
use pilaster::bytes::{Ranges, Scratch};
use pilaster::column::{Memory, Part as _, Table as _};

use crate::error::{Failure, Reason};
use crate::extents::Extents;
use crate::heads::Heads;
use crate::options::Options;
use crate::order::extreme;
use crate::store::Remote;
use crate::{open, zones};

/// Maximum number of bytes of a DataSeries file whose rows are counted: the headers of its extents then take few requests.
const COUNTED: u64 = 256 << 10;

/// Statistics of a file, from its metadata.
pub(crate) struct Facts {
    /// The number of rows.
    pub rows: Option<u64>,
    /// Facts about each column of the table, if statistics are trusted.
    pub columns: Vec<ColumnStatistics>,
}

/// Maximum number of columns whose zones are read for the statistics of a file.
const BOUNDED: usize = 256;

/// Returns what metadata tell about a file, for a table with the columns of `schema`. Blocks.
pub(crate) fn facts(
    remote: &Arc<Remote>,
    options: &Options,
    heads: &Heads,
    schema: &SchemaRef,
) -> Result<Facts, Failure> {
    let unknown = || vec![ColumnStatistics::new_unknown(); schema.fields().len()];
    // Without an index, the end of a log may be missing: its rows before are read all the same.
    if options.format == any::Format::DataSeries && (options.sequential || remote.len() > COUNTED) {
        return Ok(Facts { rows: None, columns: unknown() });
    }
    open::with_file(remote, options, heads, |file, ranges| {
        let facts = || -> Result<Facts, Reason> {
            let rows = Some(counted(remote, file, options, ranges)?);
            let mut columns = unknown();
            if options.trust_statistics && matches!(file, File::Jay(_) | File::Vortex(_)) {
                bounds(file, options, schema, &mut columns)?;
            }
            Ok(Facts { rows, columns })
        };
        facts().map_err(|e| remote.failure(ranges, e))
    })
}

/// Sets the bounds of columns, as claims of the file.
fn bounds(
    file: &File<'_>,
    options: &Options,
    schema: &SchemaRef,
    columns: &mut [ColumnStatistics],
) -> Result<(), Reason> {
    let name = options.table.as_deref();
    let mut known = zones::bounded(schema, file.table(name)?, |_| true)?;
    // DataFusion casts these bounds as a condition casts the column, and fails at one of 1e300 and a cast to an integer.
    known.retain(|(_, ty)| !ty.is_floating());
    let (mut table, mut memory) = (file.table(name)?, Memory::default());
    let Some(part) = table.next_part(&mut Scratch::new(&mut []))? else { return Ok(()) };
    for (name, ty) in known.into_iter().take(BOUNDED) {
        let found = zones::zones_of(&part, (&name, &ty), &(0..part.rows()), true, &mut memory)?;
        // Zones of some of the rows say nothing about the others.
        if found.last().is_none_or(|zone| zone.rows.end < part.rows()) {
            continue;
        }
        let Some(column) = schema.index_of(&name).ok().and_then(|k| columns.get_mut(k)) else { continue };
        let claim = |value: Option<ScalarValue>| value.map_or(Precision::Absent, Precision::Inexact);
        column.min_value = claim(extreme(found.iter().map(|zone| zone.min.clone()), false));
        column.max_value = claim(extreme(found.iter().map(|zone| zone.max.clone()), true));
        let nulls = found.iter().try_fold(0u64, |sum, zone| sum.checked_add(zone.nulls?));
        let nulls = nulls.and_then(|nulls| usize::try_from(nulls).ok());
        column.null_count = nulls.map_or(Precision::Absent, Precision::Inexact);
    }
    Ok(())
}

fn counted(remote: &Remote, file: &File<'_>, options: &Options, ranges: &Ranges) -> Result<u64, Reason> {
    let name = options.table.as_deref();
    let mut table = file.table(name)?;
    Ok(match file {
        File::DataSeries(series) => Extents::new(series, file, ranges, (name, &(0..remote.len())))?.count(remote)?,
        _ => table.next_part(&mut Scratch::new(&mut []))?.map_or(0, |part| part.rows()),
    })
}
