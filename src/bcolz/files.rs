//! Reads the chunks of an array, one file at a time.

use core::ops::Range;
use std::io;
use std::vec::Vec;

use super::Column;
use super::array::Array;
use super::chunk::Chunk;
use crate::bytes::{Scratch, saturated};
use crate::error::{Error, Failure, Kind, Result, What};

/// Reused memory for one chunk at a time: its file, and the scratch buffer of the decoder.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) bytes: Vec<u8>,
    pub(super) scratch: Vec<u8>,
}

impl Files {
    /// Reads and opens chunk `number`.
    pub(super) fn open(&mut self, array: &Array, number: u64) -> Result<Chunk<'_>, Failure> {
        let path = array.chunk_path(number);
        self.bytes.clear();
        array.store.read(&path, &mut self.bytes).map_err(|e| Failure::io(&path, e))?;
        array.chunk(number, &self.bytes).map_err(|e| Failure::format(&path, e))
    }

    /// Fills `to` with decoded bytes of chunk `number`, starting at `from`.
    pub(super) fn decode(&mut self, array: &Array, number: u64, from: u64, to: &mut [u8]) -> Result<(), Failure> {
        let len = to.len();
        let range = |_: &Chunk<'_>| {
            let from = usize::try_from(from).map_err(|_| too_large(from))?;
            Ok(from..from.saturating_add(len))
        };
        self.decode_range(array, number, range, to).map(drop)
    }

    /// Decodes all of chunk `number` to the start of `to`. Returns its size in bytes.
    pub(super) fn decode_all(&mut self, array: &Array, number: u64, to: &mut [u8]) -> Result<usize, Failure> {
        self.decode_range(array, number, |chunk| Ok(0..chunk.nbytes()), to)
    }

    /// Opens chunk `number`, and decodes the bytes of it that `range` returns to the start of `to`. Returns their number.
    fn decode_range(
        &mut self,
        array: &Array,
        number: u64,
        range: impl FnOnce(&Chunk<'_>) -> Result<Range<usize>>,
        to: &mut [u8],
    ) -> Result<usize, Failure> {
        let mut scratch = core::mem::take(&mut self.scratch);
        let chunk = self.open(array, number)?;
        let done = range(&chunk).and_then(|range| {
            let len = range.end.saturating_sub(range.start);
            // The file has changed since its size was read.
            let changed = || Error::needing(Kind::Invalid, What::BLOSC_NBYTES, 4, chunk.nbytes() as u64);
            let to = to.get_mut(..len).ok_or_else(changed)?;
            scratch.resize(scratch.len().max(chunk.range_scratch_len()), 0);
            chunk.decode_range(range, to, &mut Scratch::new(&mut scratch))?;
            Ok(len)
        });
        self.scratch = scratch;
        // Offsets in the file: the chunk follows a header of 16 bytes.
        done.map_err(|e| Failure::format(&array.chunk_path(number), e.moved(16)))
    }

    /// Decodes the rows of chunk `number` that count, and checks them. Returns their size in bytes.
    pub(super) fn verify(
        &mut self,
        array: &Array,
        number: u64,
        memory: &mut Vec<u8>,
        spend: impl FnOnce(u64) -> Result<(), Error>,
    ) -> Result<u64, Failure> {
        let (rows, held) = (array.chunk_rows(number), self.open(array, number)?.nbytes());
        // A chunk has at least the rows that count: opening it checked that.
        let nbytes = if array.row > 0 { saturated(rows.saturating_mul(array.row)).min(held) } else { held };
        spend(nbytes as u64).map_err(|e| Failure::format(&array.chunk_path(number), e))?;
        memory.resize(memory.len().max(nbytes), 0);
        self.decode(array, number, 0, memory.get_mut(..nbytes).unwrap_or_default())?;
        if array.row > 0 {
            let data = memory.get(..nbytes).unwrap_or_default();
            let first = number.saturating_mul(array.chunklen).saturating_mul(array.shape.items().unwrap_or(1));
            let checked = Column::new(array.dtype(), array.shape.inner(), rows, data).and_then(|column| column.check());
            checked.map_err(|e| Failure::format(&array.chunk_path(number), e.moved(first)))?;
        }
        Ok(nbytes as u64)
    }

    /// Returns the failure of a chunk without a file.
    pub(super) fn absent(&mut self, array: &Array, number: u64) -> Failure {
        let missing = || Failure::io(&array.chunk_path(number), io::ErrorKind::NotFound.into());
        self.open(array, number).err().unwrap_or_else(missing)
    }
}

#[cold]
pub(super) fn too_large(n: u64) -> Error {
    Error::needing(Kind::Limit, What::MAX_DECODED, 0, n)
}
