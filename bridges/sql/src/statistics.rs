//! Facts about a file before its rows are read: its columns, and the number of its rows.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatchReader as _;
use pilaster::any::File;
use pilaster::bytes::{Ranges, Scratch};
use pilaster::column::{Part as _, Table as _};
use pilaster_arrow::ReadOptions;

use crate::error::{Failure, Reason};
use crate::extents::Extents;
use crate::open;
use crate::options::Options;
use crate::store::{Heads, Remote};

/// Maximum number of bytes of a DataSeries file whose rows are counted: the headers of its extents then take few requests.
const COUNTED: u64 = 256 << 10;

/// Returns the columns of a file, each of which can be null. Blocks.
pub(crate) fn schema(remote: &Arc<Remote>, options: &Options, heads: &Heads) -> Result<Schema, Failure> {
    open::with_file(remote, options, heads, |file, ranges| {
        let schema = || -> Result<SchemaRef, Reason> {
            let name = options.table.as_deref();
            let read = ReadOptions { flat: true, offsets: true, ..ReadOptions::default() };
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
        Ok(columns(&schema, options))
    })
}

/// Returns the columns of `schema` as a table has them: each can be null.
pub(crate) fn columns(schema: &Schema, options: &Options) -> Schema {
    let fields = schema.fields().iter().map(|field| {
        let field = Field::clone(field).with_nullable(true);
        let is_text = options.binary_as_string && *field.data_type() == DataType::Binary;
        if is_text { field.with_data_type(DataType::Utf8) } else { field }
    });
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), HashMap::new())
}

/// Returns the number of rows of a file, if metadata tell it. Blocks.
pub(crate) fn rows(remote: &Arc<Remote>, options: &Options, heads: &Heads) -> Result<Option<u64>, Failure> {
    open::with_file(remote, options, heads, |file, ranges| {
        counted(remote, file, options, ranges).map_err(|e| remote.failure(ranges, e))
    })
}

fn counted(remote: &Remote, file: &File<'_>, options: &Options, ranges: &Ranges) -> Result<Option<u64>, Reason> {
    let name = options.table.as_deref();
    let mut table = file.table(name)?;
    match file {
        File::DataSeries(_) if remote.len() > COUNTED => Ok(None),
        File::DataSeries(series) => Ok(Some(Extents::new(series, file, ranges, (name, &(0..remote.len())))?.count()?)),
        _ => Ok(Some(table.next_part(&mut Scratch::new(&mut []))?.map_or(0, |part| part.rows()))),
    }
}
