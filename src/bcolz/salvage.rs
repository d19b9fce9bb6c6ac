//! Reads the intact blocks of damaged chunks.

use core::ops::Range;
use std::vec;

use super::array::Array;
use super::check::Sums;
use super::chunk::Chunk;
use super::file::HEADER;
use super::files::Files;
use super::raw::{HEADER_LEN, flag};
use super::{Column, Dtype};
use crate::bytes::{LittleEndian, Reader, Scratch, saturated};
use crate::error::{Error, Kind, Result, What};

/// Fills `to` with `rows` of an array, and sets the bit in `there` of each row that could be read and is valid. The contents of
/// other rows are arbitrary.
pub(super) fn items(files: &mut Files, array: &Array, rows: Range<u64>, to: &mut [u8], there: &mut [u8]) {
    let Ok(size) = usize::try_from(array.row) else { return };
    to.fill(0);
    // Rows after the count of the array are ignored: a file with such rows is left from an earlier write.
    let end = rows.end.min(array.own);
    let chunks = rows.start.checked_div(array.chunklen()).unwrap_or(0)..end.div_ceil(array.chunklen().max(1));
    for number in array.present(chunks) {
        let first = number.saturating_mul(array.chunklen());
        let low = first.max(rows.start);
        let high = first.saturating_add(array.chunklen()).min(end);
        let at = saturated(low.saturating_sub(rows.start));
        let count = usize::try_from(high.saturating_sub(low)).unwrap_or(0);
        let from = saturated(low.saturating_sub(first)).saturating_mul(size);
        let now = to.get_mut(at.saturating_mul(size)..).and_then(|to| to.get_mut(..count.saturating_mul(size)));
        let Some(now) = now.filter(|now| !now.is_empty()) else { continue };
        chunk(files, array, number, from, now, &mut |bytes| {
            // Only complete rows.
            let whole = bytes.start.div_ceil(size.max(1))..bytes.end.checked_div(size).unwrap_or(0);
            whole.for_each(|row| set(there, at.saturating_add(row)));
        });
    }
    let dtype = array.dtype();
    if matches!(dtype, Dtype::Text { .. } | Dtype::Struct(_)) {
        for (row, item) in to.chunks_exact(size.max(1)).enumerate() {
            // A row with an invalid text has no value.
            if Column::new(dtype, array.shape().inner(), 1, item).and_then(|column| column.check()).is_err()
                && let Some(byte) = there.get_mut(row / 8)
            {
                *byte &= !(1 << (row % 8));
            }
        }
    }
}

/// Fills `to` with consecutive objects of an array, starting at row `first`, and `spans` with their spans. Sets the bit
/// in `there` of each object that could be read.
pub(super) fn objects(
    files: &mut Files,
    array: &Array,
    first: u64,
    spans: &mut [[u32; 2]],
    mut to: &mut [u8],
    there: &mut [u8],
) {
    let mut at = 0u32;
    spans.fill([at, 0]);
    let end = first.saturating_add(spans.len() as u64).min(array.own);
    for row in array.present(first..end) {
        let k = saturated(row.saturating_sub(first));
        let Ok(nbytes) = files.open(array, row).map(|chunk| chunk.nbytes()) else { continue };
        let Some((now, rest)) = core::mem::take(&mut to).split_at_mut_checked(nbytes) else { return };
        let done = files.decode(array, row, 0, now);
        to = rest;
        let len = u32::try_from(nbytes).unwrap_or(0);
        if let (Ok(()), Some(span)) = (done, spans.get_mut(k)) {
            *span = [at, len];
            set(there, k);
        }
        at = at.saturating_add(len);
    }
}

/// Returns the total size in bytes of the objects of `rows`, without those that cannot be read and those that a part
/// cannot represent.
pub(super) fn objects_len(files: &mut Files, array: &Array, rows: Range<u64>) -> u64 {
    let (mut sums, mut total) = (Sums::new(u64::MAX), 0u64);
    for row in array.present(rows.start..rows.end.min(array.own)) {
        if let Ok(nbytes) = files.open(array, row).map(|chunk| chunk.nbytes() as u64)
            && sums.add(row, nbytes)
        {
            total = total.saturating_add(nbytes);
        }
    }
    total
}

fn set(bits: &mut [u8], k: usize) {
    if let Some(byte) = bits.get_mut(k / 8) {
        *byte |= 1 << (k % 8);
    }
}

/// Fills `to` with decoded bytes of a chunk, starting at `from`. Calls `read` with each range of `to` that was read:
/// all of it, or the runs of intact blocks if the chunk is damaged.
fn chunk(
    files: &mut Files,
    array: &Array,
    number: u64,
    from: usize,
    to: &mut [u8],
    read: &mut dyn FnMut(Range<usize>),
) {
    if files.decode(array, number, from as u64, to).is_ok() {
        return read(0..to.len());
    }
    // Starts again: it is unknown which bytes were decoded before the error.
    to.fill(0);
    files.bytes.clear();
    let bytes = array.store.read(&array.chunk_path(number), &mut files.bytes);
    let Files { bytes: file, scratch } = files;
    let Ok(chunk) = bytes.map_err(|_| missing()).and_then(|_| mended(file)) else { return };
    let most = saturated(array.chunklen().saturating_mul(array.row));
    if chunk.nbytes() > most {
        return;
    }
    scratch.resize(scratch.len().max(chunk.range_scratch_len()), 0);
    let mut block = vec![0; chunk.blocksize()];
    let mut run = 0..0;
    for start in (0..chunk.nbytes()).step_by(chunk.blocksize().max(1)) {
        let end = chunk.nbytes().min(start.saturating_add(chunk.blocksize()));
        let (low, high) = (start.max(from), end.min(from.saturating_add(to.len())));
        if low >= high {
            continue;
        }
        let block = block.get_mut(..end.saturating_sub(start)).unwrap_or_default();
        if chunk.decode_range(start..end, block, &mut Scratch::new(scratch)).is_err() {
            continue;
        }
        let inside = low.saturating_sub(from)..high.saturating_sub(from);
        let part = block.get(low.saturating_sub(start)..high.saturating_sub(start)).unwrap_or_default();
        if let Some(to) = to.get_mut(inside.clone()).filter(|to| to.len() == part.len()) {
            to.copy_from_slice(part);
        }
        // Joins adjacent blocks, because a row may begin in one block and end in the next.
        if inside.start == run.end {
            run.end = inside.end;
        } else {
            read(core::mem::replace(&mut run, inside));
        }
    }
    read(run);
}

/// Opens the chunk of a file that may be truncated. Changes the header to the remaining size: blocks that end after it
/// are invalid then, and a plain copy is shorter.
fn mended(file: &mut [u8]) -> Result<Chunk<'_>> {
    let (_, chunk) = file.split_at_mut_checked(HEADER.len()).ok_or_else(missing)?;
    let len = u32::try_from(chunk.len()).map_err(|_| missing())?;
    let header = chunk.first_chunk_mut::<HEADER_LEN>().ok_or_else(missing)?;
    let [_, _, flags, _, sizes @ ..] = header;
    if let ([nbytes, blocksize, ctbytes], []) = sizes.as_chunks_mut::<4>()
        && u32::from_le_bytes(*ctbytes) > len
    {
        *ctbytes = len.to_le_bytes();
        if *flags & flag::COPY != 0 {
            let copied = len.saturating_sub(u32::try_from(HEADER_LEN).unwrap_or(len));
            *nbytes = copied.to_le_bytes();
            *blocksize = copied.min(u32::from_le_bytes(*blocksize)).to_le_bytes();
        }
    }
    Chunk::split_from(&mut Reader::<LittleEndian>::new(chunk))
}

#[cold]
fn missing() -> Error {
    Error::new(Kind::Truncated, What::BCOLZ_FILE, 0)
}
