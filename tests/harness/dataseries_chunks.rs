//! Records that carry chunks: what was written, and what is read after damage.

use pilaster::bytes::{Endian, Scratch, SliceSink};
use pilaster::column::Part as _;
use pilaster::dataseries::chunks::{Chunk, Chunks};
use pilaster::dataseries::write::{Cell, Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
use pilaster::dataseries::{Extent, ExtentType, HEADER_LEN, Part};
use pilaster::error::Kind;

use super::dataseries::{ROOM, in_order, options, split};

/// The most chunks that are written.
const MOST: usize = 16;

/// A byte of flags; the offset and the change of a byte that is damaged; then chunks: column, element, first row, rows,
/// length, bytes. With bit 2 of the flags, the rest is an extent as it is.
pub fn run(data: &[u8]) {
    let Some((big, verify, rest)) = split(data) else { return };
    if data[0] & 4 != 0 {
        in_order!(big, stored(rest, verify));
    } else if let Some((&[low, high, change], rows)) = rest.split_first_chunk() {
        in_order!(big, written(rows, usize::from(u16::from_le_bytes([low, high])), change, verify));
    }
}

/// Extents that follow each other.
fn stored<E: Endian>(mut bytes: &[u8], verify: bool) {
    let mut at = HEADER_LEN as u64;
    while let Ok(extent) = Extent::<E>::of(bytes, at) {
        read(&extent, verify, |_, _| ());
        bytes = &bytes[extent.bytes().unwrap().len()..];
        at += extent.bytes().unwrap().len() as u64;
    }
}

fn written<E: Endian>(data: &[u8], at: usize, change: u8, verify: bool) {
    let (mut chunks, mut count, mut rest) = ([None; MOST], 0, data);
    while let Some((&[column, element, first, rows, len], more)) = rest.split_first_chunk()
        && count < MOST
    {
        let (chunk, more) = more.split_at(more.len().min(usize::from(len)));
        let (column, first, rows) = (i32::from(column), i64::from(first) << (rows & 31), i32::from(rows) - 1);
        chunks[count] = Some(Chunk { column, element, first, rows, chunk });
        (count, rest) = (count + 1, more);
    }
    let chunks = &chunks[..count];
    let (mut file, mut slots) = ([0; 1 << 14], [IndexSlot::EMPTY; 1]);
    let (mut rows, mut pool) = ([0; 1 << 10], [0; 1 << 13]);
    let memory = Memory { rows: &mut rows, pool: &mut pool, ..Memory::default() };
    let mut log = Writer::<E, _>::new(SliceSink::new(&mut file), Descriptions::of::<Chunk<'_>>(), &mut slots);
    let mut extent = ExtentBuffer::of::<Chunk<'_>>(memory).expect("a type without options");
    chunks.iter().flatten().for_each(|chunk| extent.push(chunk).expect("room for all"));
    log.begin().expect("room for all");
    let start = usize::try_from(log.at()).expect("below the size of the file");
    log.flush(&mut extent).expect("room for all");
    let len = log.at() as usize - start;
    if len == 0 {
        return;
    }
    log.finish().expect("room for all");

    let bytes = &mut file[start..start + len];
    let sound = Extent::<E>::of(bytes, start as u64).expect("an extent");
    let mut seen = 0;
    read(&sound, true, |k, chunk| {
        assert_eq!((Some(chunk), k), (chunks[k].as_ref(), seen));
        seen += 1;
    });
    assert_eq!(seen, count, "all are read");
    bytes[at % len] ^= change;
    if let Ok(damaged) = Extent::<E>::of(bytes, start as u64) {
        read(&damaged, verify, |_, _| ());
    }
}

/// Reads the chunks of an extent in every way.
fn read<E: Endian>(extent: &Extent<'_, E>, verify: bool, mut each: impl FnMut(usize, &Chunk<'_>)) {
    let mut memory = [0xa5; ROOM];
    let ty = ExtentType::of::<Chunk<'_>>();
    let Ok(part) = extent.unpack(&ty, &options(verify), &mut Scratch::new(&mut memory)) else { return };
    let chunks = Chunks::of(&part).expect("the type of this module");
    assert_eq!((chunks.len(), chunks.is_empty()), (part.rows(), part.rows() == 0));
    assert!(chunks.get(chunks.len()).is_err_and(|e| e.kind() == Kind::OutOfRange) && chunks.get(u64::MAX).is_err());
    let mut all = chunks.iter();
    for row in 0..chunks.len() {
        let chunk = chunks.get(row);
        assert_eq!(all.next(), Some(chunk));
        assert!(chunk.is_ok() || !verify, "row {row} of a sound extent: {chunk:?}");
        assert_eq!(chunk, by_columns(&part, row), "row {row}");
        if let Ok(chunk) = chunk {
            each(row as usize, &chunk);
        }
    }
    assert_eq!(all.next(), None);
}

/// Returns the row as the columns have it.
fn by_columns<'s>(part: &Part<'s>, row: u64) -> pilaster::Result<Chunk<'s>> {
    let cell = |k| part.column(k).and_then(|column| column.get(row)).map(|cell| cell.expect("no field is nullable"));
    match (cell(0)?, cell(1)?, cell(2)?, cell(3)?, cell(4)?) {
        (Cell::Int32(column), Cell::Byte(element), Cell::Int64(first), Cell::Int32(rows), Cell::Bytes(chunk)) => {
            Ok(Chunk { column, element, first, rows, chunk })
        }
        other => panic!("fields of other types: {other:?}"),
    }
}
