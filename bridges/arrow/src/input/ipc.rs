//! Arrow IPC files and streams.

use std::io;
use std::sync::Arc;

use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;

use super::framed::{Framed, check};
use super::{AnyReader, FileKind, Input};
use crate::Error;

/// An open IPC file or stream.
#[derive(Debug)]
pub(super) struct Ipc {
    input: Input,
    schema: SchemaRef,
    /// The first row of each batch of a file, and the number of rows; `None` for a stream.
    starts: Option<Vec<u64>>,
}

impl Ipc {
    pub fn open(input: Input, kind: FileKind) -> Result<Self, Error> {
        if kind == FileKind::IpcStream {
            let schema = StreamReader::try_new(Framed::new(input.read_from(0), input.len()), None)?.schema();
            return Ok(Ipc { input, schema, starts: None });
        }
        let starts = starts(&input)?;
        let schema = FileReader::try_new(input.read_from(0), None)?.schema();
        Ok(Ipc { input, schema, starts: Some(starts) })
    }

    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub fn rows(&self) -> Option<u64> {
        self.starts.as_ref()?.last().copied()
    }

    /// Returns the number of batches of a file.
    pub fn groups(&self) -> Option<usize> {
        // The last start is the end.
        self.starts.as_ref().map(|starts| starts.len().saturating_sub(1))
    }

    pub fn batches(&self, columns: Option<&[usize]>, row: u64) -> Result<(AnyReader, u64), Error> {
        let columns = columns.map(<[usize]>::to_vec);
        let Some(starts) = &self.starts else {
            let from = Framed::new(self.input.read_from(0), self.input.len());
            return Ok((Box::new(StreamReader::try_new(from, columns)?), 0));
        };
        let mut reader = FileReader::try_new(self.input.read_from(0), columns)?;
        // The last start is the end.
        let batch = starts.partition_point(|start| *start <= row).saturating_sub(1);
        let first = starts.get(batch).copied().unwrap_or_default();
        if batch < reader.num_batches() {
            reader.set_index(batch)?;
            return Ok((Box::new(reader), first));
        }
        let none = arrow_array::RecordBatchIterator::new(std::iter::empty(), Arc::clone(&self.schema));
        Ok((Box::new(none), first))
    }
}

/// Reads the number of rows of each batch of a file. The blocks that Arrow will read are checked to be in the file.
fn starts(input: &Input) -> Result<Vec<u64>, Error> {
    let read = |at: u64, len: usize| input.range(at, len).map_err(|e| input.failed(format!("at offset {at}: {e}")));
    let end = input.len().checked_sub(10).ok_or_else(|| input.failed("too short for an Arrow file"))?;
    let tail = read(end, 10)?;
    let tail: [u8; 10] = tail.as_ref().try_into().map_err(|_| input.failed("too short for an Arrow file"))?;
    let len = read_footer_length(tail)?;
    let at = end.checked_sub(len as u64).ok_or_else(|| input.failed(format!("footer of {len} bytes")))?;
    let footer = read(at, len)?;
    let footer = root_as_footer(&footer).map_err(|e| input.failed(format!("footer: {e}")))?;
    if footer.schema().is_none() {
        return Err(input.failed("footer without schema"));
    }
    for block in footer.dictionaries().iter().flatten() {
        message(input, block)?;
    }
    let (mut starts, mut rows) = (vec![0u64], 0u64);
    for block in footer.recordBatches().iter().flatten() {
        rows = rows.saturating_add(message(input, block)?);
        starts.push(rows);
    }
    Ok(starts)
}

/// Returns the number of rows in the record batch of a block; 0 if it has none.
fn message(input: &Input, block: &Block) -> Result<u64, Error> {
    let wrong = || input.failed(format!("block at offset {} is not in the file", block.offset()));
    let number = |n: i64| u64::try_from(n).map_err(|_| wrong());
    let (at, len) = (number(block.offset())?, number(block.metaDataLength().into())?);
    let end = at.checked_add(len).and_then(|end| end.checked_add(u64::try_from(block.bodyLength()).ok()?));
    if end.is_none_or(|end| end > input.len()) {
        return Err(wrong());
    }
    let bytes = input.range(at, usize::try_from(len).map_err(|_| wrong())?).map_err(|e| input.failed(e))?;
    // Before version 0.15 of Arrow, only the length was before the message.
    let prefix = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = root_as_message(bytes.get(prefix..).ok_or_else(wrong)?).map_err(|e| input.failed(e))?;
    let body = at.saturating_add(len);
    check(&message, input.len(), |at| {
        let bytes = input.range(body.saturating_add(at), 8)?;
        bytes.first_chunk().copied().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    })
    .map_err(|why| input.failed(format!("block at offset {}: {why}", block.offset())))?;
    let rows = message.header_as_record_batch().map_or(0, |batch| batch.length());
    u64::try_from(rows).map_err(|_| input.failed(format!("batch of {rows} rows")))
}
