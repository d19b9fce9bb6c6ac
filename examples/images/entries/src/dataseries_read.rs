//! Reading DataSeries files.

use pilaster::bytes::{BigEndian, Endian, LittleEndian, Scratch, SliceSink, WriteError};
use pilaster::codec::HashTable;
use pilaster::column::{Column as _, Part as _, Table as _, fit};
use pilaster::dataseries::write::{Cell, Descriptions, ExtentBuffer, IndexSlot, Lzf, Memory, Record as _, Writer};
use pilaster::dataseries::{AnyFile, Column, File, Part, ReadOptions, record};
use pilaster::error::Result;

use crate::Call;

/// Counts as a use of the value, whatever it is, so that reading it is not optimised away.
fn used<T>(value: T) -> u32 {
    core::hint::black_box(&value);
    1
}

record! {
    /// A reading of a probe.
    pub struct Reading<'a> = "Probe" namespace "example.org" version 1.0 {
        time: int64 relative,
        temp: double scaled 0.01,
        state: int32 nullable,
        note: variable32,
    }
}

const TYPES: Descriptions<'static> = Descriptions::of::<Reading<'_>>();

/// Writes a log for [`read`] and returns its length in bytes.
pub fn sample(memory: &mut [u8]) -> Result<usize> {
    let (mut slots, mut rows, mut pool, mut out) = ([IndexSlot::EMPTY; 4], [0; 512], [0; 512], [0; 1024]);
    let mut scratch = [0; 1024];
    let lzf = Lzf::<256>::new(HashTable::take(&mut Scratch::new(&mut scratch))?, &mut out);
    let mut writer = Writer::<LittleEndian, _, _>::with(SliceSink::new(memory), TYPES, &mut slots, lzf);
    let memory = Memory { rows: &mut rows, pool: &mut pool, ..Memory::default() };
    let mut extent = ExtentBuffer::of::<Reading<'_>>(memory)?;
    for n in 0..12i32 {
        let state = (n % 3 != 0).then_some(n);
        extent.push(&Reading { time: i64::from(n), temp: f64::from(n), state, note: b"twice, twice" })?;
    }
    writer.flush(&mut extent).map_err(format)?;
    Ok(writer.finish().map_err(format)?.len())
}

fn format(e: WriteError<pilaster::Error>) -> pilaster::Error {
    match e {
        WriteError::Format(e) | WriteError::Sink(e) => e,
    }
}

/// The reader of firmware, which knows its types: opens a log, verifies its extents, and reads a column row by row.
#[inline(never)]
pub fn read(call: Call<'_>) -> Result<u32> {
    let mut scratch = Scratch::new(call.memory);
    let file = File::<LittleEndian>::open_known(call.bytes, TYPES, &ReadOptions::DEFAULT)?;
    let mut n = 0u32;
    for extent in file.extents() {
        let extent = extent?;
        if extent.type_name() == Reading::NAME.as_bytes() {
            let part = extent.unpack_as::<Reading<'_>>(&ReadOptions::DEFAULT, &mut scratch.scope())?;
            n = n.wrapping_add(cells(&part, call.kind)?);
        }
    }
    Ok(n)
}

/// Like [`read`], with the types that the file describes. Opens by trailer and index.
#[inline(never)]
pub fn open(call: Call<'_>) -> Result<u32> {
    let mut kept = Scratch::new(call.memory);
    rows(File::<LittleEndian>::open(call.bytes, &ReadOptions::DEFAULT, &mut kept)?, call.kind, &mut kept)
}

/// Like [`open`], for the other byte order. Reads from the start, without index and trailer.
#[inline(never)]
pub fn open_big(call: Call<'_>) -> Result<u32> {
    let mut kept = Scratch::new(call.memory);
    rows(File::<BigEndian>::open_sequential(call.bytes, &ReadOptions::DEFAULT, &mut kept)?, call.kind, &mut kept)
}

#[inline(always)]
fn rows<E: Endian>(file: File<'_, E>, kind: u32, scratch: &mut Scratch<'_>) -> Result<u32> {
    let mut n = 0u32;
    for extent in file.extents() {
        let extent = extent?;
        let mut scratch = scratch.scope();
        let part = extent.unpack(&file.type_of(&extent)?, &ReadOptions::DEFAULT, &mut scratch)?;
        n = n.wrapping_add(cells(&part, kind)?);
    }
    Ok(n)
}

#[inline(always)]
fn cells(part: &Part<'_>, k: u32) -> Result<u32> {
    let mut n = 0u32;
    let column = part.column(k as usize)?;
    for row in 0..part.rows() {
        n = n.wrapping_add(match column.get(row)? {
            Some(Cell::Bytes(bytes)) => bytes.len() as u32,
            value => used(value),
        });
    }
    Ok(n)
}

/// Either byte order, and all other functions that read: a table by name, columns batch by batch, the required memory,
/// and the check of everything.
#[inline(never)]
pub fn any(call: Call<'_>) -> Result<u32> {
    let mut kept = Scratch::new(call.memory);
    let open = if call.row == 0 { AnyFile::open } else { AnyFile::open_sequential };
    let file = open(call.bytes, &ReadOptions::DEFAULT, &mut kept)?;
    let mut n = used(file.verify(&mut kept.scope())?).wrapping_add(file.need()? as u32);
    for ty in file.types().iter() {
        let mut table = file.table(ty.name())?;
        loop {
            let mut inner = kept.scope();
            let Some(part) = table.next_part(&mut inner)? else { break };
            for k in 0..part.width() {
                n = n.wrapping_add(part.name(k)?.len() as u32);
                n = n.wrapping_add(batches(part, part.column(k)?, &mut inner)?);
            }
        }
        table.restart()?;
    }
    Ok(n)
}

fn batches(part: Part<'_>, column: Column<'_>, scratch: &mut Scratch<'_>) -> Result<u32> {
    let (mut row, mut n) = (0, 0u32);
    while row < part.rows() {
        let mut inner = scratch.scope();
        let rows = fit(&column, row..part.rows(), inner.room())?;
        let read = column.read(rows, &mut inner)?;
        n = n.wrapping_add(used(&read));
        row = row.saturating_add(read.len as u64);
    }
    Ok(n)
}
