//! `convert` to Arrow and Parquet files.

use pilaster::bytes::{IoSink, Scratch, WriteError};
use pilaster::column::Table;
use pilaster::error::{Kind as ErrorKind, What};
use pilaster_arrow::Builder;
use pilaster_arrow::arrow_array::RecordBatch;
use pilaster_arrow::arrow_schema::{Schema, SchemaRef};
use pilaster_arrow::write::{Compression, Kind, Writer};

use crate::args::Convert;
use crate::conversion::View;
use crate::extents::LEAVE_OUT;
use crate::failure::Failure;
use crate::noting::{Noting, located};
use crate::target::Target;

/// Maximum number of rows in a record batch.
const ROWS: u64 = 1 << 16;

/// Writes the rows of a table. Returns the size of the target in bytes.
pub fn write<T: Table>(
    table: &mut View<'_, T>,
    (how, target): (&Convert, &Target<'_>),
    kind: Kind,
    scratch: &mut Scratch<'_>,
) -> Result<u64, Failure> {
    let compression = how.arrow.compression.unwrap_or(match kind {
        Kind::Parquet => Compression::Snappy,
        _ => Compression::None,
    });
    let (mut refused, mut failed) = (None, None);
    let done = target.fill(|IoSink(sink)| {
        // The schema is known with the first batch.
        let (mut sink, mut writer) = (Some(sink), None);
        let mut put = |batch: RecordBatch| {
            if let Some(sink) = sink.take() {
                writer = Some(Writer::new(sink, &batch.schema(), kind, compression)?);
            }
            writer.as_mut().map_or(Ok(()), |writer| writer.put(&batch))
        };
        let mut builder = Noting::new(Builder::new(ROWS, &mut put));
        table.restart()?;
        let done = builder.convert(table, how.threads, scratch, &mut refused);
        drop(builder);
        let finish = || match (writer, sink) {
            (Some(writer), _) => writer.finish(),
            // A table without rows may not tell its columns.
            (None, Some(sink)) => Writer::new(sink, &SchemaRef::from(Schema::empty()), kind, compression)?.finish(),
            (None, None) => Err(pilaster::Error::new(ErrorKind::Misuse, What::COLUMN, 0).into()),
        };
        match done.and_then(|()| finish().map_err(WriteError::Sink)) {
            Ok(sink) => Ok(IoSink(sink)),
            Err(WriteError::Format(e)) => Err(e.into()),
            Err(WriteError::Sink(e)) => match e.into_io() {
                Ok(e) => Err(WriteError::Sink(e)),
                Err(e) => {
                    failed = Some(Failure::Input(format!("{e}{LEAVE_OUT}")));
                    Err(pilaster::Error::new(ErrorKind::Misuse, What::INPUT, 0).into())
                }
            },
        }
    });
    match failed {
        Some(failure) => Err(failure),
        None => done.map_err(|failure| located(failure, refused, |_, _| LEAVE_OUT)),
    }
}
