//! Facts about a file before its rows are read: its columns, and the number of its rows.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatchReader as _;
use datafusion_common::stats::Precision;
use datafusion_common::{ColumnStatistics, ScalarValue, plan_datafusion_err};
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

/// Returns the columns of a file, each of which can be null. Blocks.
pub(crate) fn schema(remote: &Arc<Remote>, options: &Options, heads: &Heads) -> Result<Schema, Failure> {
    open::with_file(remote, options, heads, |file, ranges| {
        let schema = || -> Result<SchemaRef, Reason> {
            let name = options.table.as_deref();
            let read = open::read_options();
            file.table(name)?;
            Ok(match file {
                File::DataSeries(series) => {
                    pilaster_arrow::read(Extents::new(series, file, ranges, (name, &(0..remote.len())))?, read)?
                        .schema()
                }
                file => pilaster_arrow::read(file.table(name)?, read)?.schema(),
            })
        };
        let schema = schema().map_err(|e| remote.failure(ranges, e))?;
        distinct(&schema, options).map_err(|e| remote.failure(ranges, e))
    })
}

/// Returns the first name that two columns have, which SQL cannot tell apart.
pub(crate) fn twice(schema: &Schema) -> Option<&str> {
    let mut known = HashSet::new();
    schema.fields().iter().map(|field| field.name().as_str()).find(|name| !known.insert(*name))
}

/// Returns the columns of `schema` as a table has them.
///
/// # Errors
/// Two columns of one name.
pub(crate) fn distinct(schema: &Schema, options: &Options) -> Result<Schema, Reason> {
    match twice(schema) {
        Some(name) => Err(Reason::Schema(plan_datafusion_err!(
            "two columns are called {name:?}, which SQL cannot tell apart; pilaster cat and convert read them"
        ))),
        None => Ok(columns(schema, options)),
    }
}

/// Returns the columns of `schema` for a table: each can be null.
pub(crate) fn columns(schema: &Schema, options: &Options) -> Schema {
    let fields = schema.fields().iter().map(|field| {
        let field = Field::clone(field).with_nullable(true);
        let is_text = options.binary_as_string && *field.data_type() == DataType::BinaryView;
        if is_text { field.with_data_type(DataType::Utf8View) } else { field }
    });
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), HashMap::new())
}

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
    if options.format == any::Format::DataSeries && remote.len() > COUNTED {
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
