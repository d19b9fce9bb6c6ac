//! The columns of a file, and of a table.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatchReader as _;
use datafusion_common::plan_datafusion_err;
use pilaster::any::File;

use crate::error::{Failure, Reason};
use crate::extents::Extents;
use crate::heads::Heads;
use crate::open;
use crate::options::Options;
use crate::store::Remote;

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
        table_schema(&schema, options).map_err(|e| remote.failure(ranges, e))
    })
}

/// Returns the first name that two columns have, which SQL cannot tell apart.
pub(crate) fn duplicate(schema: &Schema) -> Option<&str> {
    let mut known = HashSet::new();
    schema.fields().iter().map(|field| field.name().as_str()).find(|name| !known.insert(*name))
}

/// Returns the columns of `schema` as a table has them.
///
/// # Errors
/// Two columns of one name.
pub(crate) fn table_schema(schema: &Schema, options: &Options) -> Result<Schema, Reason> {
    duplicate(schema).map_or_else(|| Ok(columns(schema, options)), |name| Err(ambiguous(name)))
}

/// Returns the error of a name that two columns have.
pub(crate) fn ambiguous(name: &str) -> Reason {
    Reason::Schema(plan_datafusion_err!(
        "two columns are called {name:?}, which SQL cannot tell apart; pilaster cat reads them"
    ))
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
