//! A logger of DataSeries extents: three fields, rows from the bytes of the call.

use pilaster::bytes::{LittleEndian, Scratch, Sink};
use pilaster::codec::Table;
use pilaster::dataseries::record;
use pilaster::dataseries::write::{
    Compress, Description, Extent, IndexSlot, Lz4, Lzf, Memory, Resume, Stored, WriteError, Writer,
};
use pilaster::error::Result;

use crate::Call;

record! {
    /// What a probe logs.
    pub struct Reading = "Probe" namespace "example.org" version 1.0 {
        time: int64 relative,
        temp: double scaled 0.01,
        state: int32,
    }
}

const TYPES: [Description<'static>; 1] = [Description::of::<Reading>()];

/// A flash, a radio: here, a sum.
struct Sum(u32);

impl Sink for Sum {
    type Error = core::convert::Infallible;

    fn put(&mut self, bytes: &[u8]) -> core::result::Result<(), Self::Error> {
        for byte in bytes {
            self.0 = self.0.rotate_left(5) ^ u32::from(*byte);
        }
        Ok(())
    }
}

fn format(e: WriteError<core::convert::Infallible>) -> pilaster::Error {
    match e {
        WriteError::Format(e) => e,
        WriteError::Sink(never) => match never {},
    }
}

/// Logs a row for each byte, and ends the file.
fn log<C: Compress>(
    mut writer: Writer<'_, LittleEndian, Sum, C>,
    rows: &mut [u8],
    bytes: &[u8],
    kind: u32,
) -> core::result::Result<u32, WriteError<core::convert::Infallible>> {
    let mut extent = Extent::of::<Reading>(Memory::rows(rows))?;
    for byte in bytes {
        let state = i32::from(*byte);
        writer.push(
            &mut extent,
            &Reading { time: i64::from(kind) + i64::from(*byte), temp: f64::from_bits(u64::from(*byte) << 50), state },
        )?;
    }
    writer.flush(&mut extent)?;
    Ok(writer.finish()?.0)
}

/// Without compression.
#[inline(never)]
pub fn stored(call: Call<'_>) -> Result<u32> {
    with(call, |_, _| Ok(Stored))
}

/// With LZ4, and a table of 512 bytes.
#[inline(never)]
pub fn lz4(call: Call<'_>) -> Result<u32> {
    with(call, |scratch, out| Ok(Lz4::<256>::new(Table::take(scratch)?, out)))
}

/// With LZF, and a table of 512 bytes.
#[inline(never)]
pub fn lzf(call: Call<'_>) -> Result<u32> {
    with(call, |scratch, out| Ok(Lzf::<256>::new(Table::take(scratch)?, out)))
}

#[inline(always)]
fn with<'s, C: Compress + 's>(
    call: Call<'s>,
    compress: impl FnOnce(&mut Scratch<'s>, &'s mut [u8]) -> Result<C>,
) -> Result<u32> {
    let mut scratch = Scratch::new(call.memory);
    let slots = IndexSlot::take(&mut scratch, 64)?;
    let (rows, out) = (scratch.take::<u8>(1024)?, scratch.take::<u8>(1024)?);
    let compress = compress(&mut scratch, out)?;
    let writer = Writer::with(Sum(0), &TYPES, slots, compress).map_err(format)?;
    log(writer, rows, call.bytes, call.kind).map_err(format)
}

/// Finds where a log goes on, goes on, and ends it.
#[inline(never)]
pub fn resume(call: Call<'_>) -> Result<u32> {
    let mut scratch = Scratch::new(call.memory);
    let slots = IndexSlot::take(&mut scratch, 64)?;
    let rows = scratch.take::<u8>(1024)?;
    let resume = Resume::find::<LittleEndian>(call.bytes, &TYPES, slots)?;
    log(Writer::resume(Sum(0), &TYPES, slots, &resume), rows, call.bytes, call.kind).map_err(format)
}
