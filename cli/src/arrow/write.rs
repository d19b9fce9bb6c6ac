//! Record batches to Arrow and Parquet files.

use std::collections::HashMap;

use pilaster::bytes::{IoSink, Scratch, WriteError};
use pilaster::column::Table;
use pilaster::error::{Kind as ErrorKind, What};
use pilaster_arrow::arrow_array::RecordBatch;
use pilaster_arrow::arrow_schema::{ArrowError, Schema, SchemaRef};
use pilaster_arrow::write::{Compression, Kind, Writer};
use pilaster_arrow::{Builder, Error};

use super::facts;
use super::source::refused;
use crate::args::Convert;
use crate::conversion::View;
use crate::extents::LEAVE_OUT;
use crate::failure::Failure;
use crate::noting::{Noting, located};
use crate::target::{Target, TargetSink};

/// Maximum number of rows in a record batch.
const ROWS: u64 = 1 << 16;

/// Maximum size in bytes of the record batch of several rows that is made of a file.
const BYTES: u64 = 8 << 20;

/// Returns the compression that the caller wants, or the usual one.
fn compression(how: &Convert, kind: Kind) -> Compression {
    how.arrow.compression.unwrap_or(match kind {
        Kind::Parquet => Compression::Snappy,
        _ => Compression::None,
    })
}

/// Writes the rows of a table. Returns the size of the target in bytes.
pub fn write<T: Table>(
    table: &mut View<'_, T>,
    (how, target): (&Convert, &Target<'_>),
    kind: Kind,
    scratch: &mut Scratch<'_>,
) -> Result<u64, Failure> {
    let compression = compression(how, kind);
    let facts = match table.windows {
        Some(windows) => facts::metadata(&windows, table.columns)?,
        None => HashMap::new(),
    };
    let mut refused = None;
    let done = fill(target, |IoSink(sink)| {
        // The schema is known with the first batch.
        let (mut sink, mut writer) = (Some(sink), None);
        let mut put = |batch: RecordBatch| {
            if let Some(sink) = sink.take() {
                writer = Some(Writer::new(sink, &batch.schema(), kind, compression)?);
            }
            writer.as_mut().map_or(Ok(()), |writer| writer.put(&batch))
        };
        let builder = Builder::new(ROWS, &mut put).with_metadata(facts.clone());
        // Only rows that are read through windows are fed again in smaller groups. Other tables have the record batches of
        // their source, which are in memory as they are.
        let builder = if table.windows.is_some() { builder.bounded(BYTES) } else { builder };
        let mut builder = Noting::new(builder);
        table.restart()?;
        let full = |e: &WriteError<Error>| matches!(e, WriteError::Sink(Error::Full(_)));
        builder.convert_in_groups(table, how.threads, &full, scratch, &mut refused)?;
        drop(builder);
        let finish = || match (writer, sink) {
            (Some(writer), _) => writer.finish(),
            // A table without rows may not tell its columns.
            (None, Some(sink)) => Writer::new(sink, &SchemaRef::from(Schema::empty()), kind, compression)?.finish(),
            (None, None) => Err(pilaster::Error::new(ErrorKind::Misuse, What::COLUMN, 0).into()),
        };
        finish().map(IoSink).map_err(WriteError::Sink)
    });
    done.map_err(|failure| located(failure, refused, |_, _| LEAVE_OUT))
}

/// Writes record batches of one schema. Returns the size of the target in bytes. An error of `batches` is one of the source.
pub fn batches(
    mut batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    schema: &SchemaRef,
    (how, target): (&Convert, &Target<'_>),
    kind: Kind,
) -> Result<u64, Failure> {
    let mut unread = None;
    let done = fill(target, |IoSink(sink)| {
        let write = || {
            let mut writer = Writer::new(sink, schema, kind, compression(how, kind))?;
            while let Some(batch) = batches.next().transpose().map_err(|e| stopped(&mut unread, e))? {
                writer.put(&batch)?;
            }
            writer.finish()
        };
        write().map(IoSink).map_err(WriteError::Sink)
    });
    unread.map_or(done, |e| Err(refused(&e)))
}

/// Keeps an error of the source apart. Returns one that removes the target.
fn stopped(unread: &mut Option<Error>, e: ArrowError) -> Error {
    *unread = Some(of_source(e));
    pilaster::Error::new(ErrorKind::Misuse, What::INPUT, 0).into()
}

/// Returns an error of the source as it was before Arrow passed it on.
pub fn of_source(e: ArrowError) -> Error {
    match e {
        ArrowError::ExternalError(e) => match e.downcast() {
            Ok(e) => *e,
            Err(e) => ArrowError::ExternalError(e).into(),
        },
        e => e.into(),
    }
}

/// Fills the target; tells errors of the target from errors of Arrow.
fn fill(
    target: &Target<'_>,
    write: impl FnOnce(TargetSink) -> Result<TargetSink, WriteError<Error>>,
) -> Result<u64, Failure> {
    let mut failed = None;
    let done = target.fill(|sink| match write(sink) {
        Ok(sink) => Ok(sink),
        Err(WriteError::Format(e)) => Err(e.into()),
        Err(WriteError::Sink(e)) => match e.into_io() {
            Ok(e) => Err(WriteError::Sink(e)),
            Err(e) => {
                failed = Some(Failure::Input(format!("{e}{LEAVE_OUT}")));
                // The target is removed after any error.
                Err(pilaster::Error::new(ErrorKind::Misuse, What::INPUT, 0).into())
            }
        },
    });
    failed.map_or(done, Err)
}
