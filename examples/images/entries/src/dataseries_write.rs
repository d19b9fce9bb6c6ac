//! A logger of DataSeries extents: three fields, rows from the bytes of the call.

use pilaster::bytes::{LittleEndian, Scratch, Sink, WriteError};
use pilaster::codec::HashTable;
use pilaster::dataseries::record;
use pilaster::dataseries::write::{Compress, Descriptions, ExtentBuffer, IndexSlot, Lz4, Lzf, Memory, Resume, Writer};
use pilaster::error::Result;

use crate::Call;

record! {
    /// A reading of a probe.
    pub struct Reading = "Probe" namespace "example.org" version 1.0 {
        time: int64 relative,
        temp: double scaled 0.01,
        state: int32,
    }
}

const TYPES: Descriptions<'static> = Descriptions::of::<Reading>();

/// A sink that sums the bytes, in place of a flash or a radio.
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

/// Logs a row for each byte, and finishes the file.
fn log<C: Compress>(
    writer: &mut Writer<'_, LittleEndian, Sum, C>,
    rows: &mut [u8],
    bytes: &[u8],
    kind: u32,
) -> core::result::Result<u32, WriteError<core::convert::Infallible>> {
    let mut extent = ExtentBuffer::of::<Reading>(Memory::rows(rows))?;
    for byte in bytes {
        let state = i32::from(*byte);
        writer.push(
            &mut extent,
            &Reading { time: i64::from(kind) + i64::from(*byte), temp: f64::from_bits(u64::from(*byte) << 50), state },
        )?;
    }
    writer.flush(&mut extent)?;
    writer.end()?;
    Ok(writer.sink().0)
}

/// Splits memory into 1 KiB for an extent and the rest.
fn kilobyte(memory: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    memory.split_at_mut_checked(1024).unwrap_or_default()
}

/// Without compression.
#[inline(never)]
pub fn stored(call: Call<'_>) -> Result<u32> {
    let (rows, memory) = kilobyte(call.memory);
    let slots = IndexSlot::over(memory);
    log(&mut Writer::new(Sum(0), TYPES, slots), rows, call.bytes, call.kind).map_err(format)
}

macro_rules! compressed {
    ($($(#[$doc:meta])* $name:ident = $compress:ident;)*) => {$(
        $(#[$doc])*
        #[inline(never)]
        pub fn $name(call: Call<'_>) -> Result<u32> {
            let (rows, memory) = kilobyte(call.memory);
            let (out, memory) = kilobyte(memory);
            let (table, memory) = kilobyte(memory);
            let compress = $compress::<256>::new(HashTable::take(&mut Scratch::new(table))?, out);
            let mut writer = Writer::with(Sum(0), TYPES, IndexSlot::over(memory), compress);
            log(&mut writer, rows, call.bytes, call.kind).map_err(format)
        }
    )*};
}

compressed! {
    /// With LZ4, and a table of 512 bytes.
    lz4 = Lz4;
    /// With LZF, and a table of 512 bytes.
    lzf = Lzf;
}

/// Resumes a log and finishes it.
#[inline(never)]
pub fn resume(call: Call<'_>) -> Result<u32> {
    let (rows, memory) = kilobyte(call.memory);
    let slots = IndexSlot::over(memory);
    let resume = Resume::find::<LittleEndian>(call.bytes, TYPES, slots)?;
    log(&mut Writer::resume(Sum(0), TYPES, slots, &resume), rows, call.bytes, call.kind).map_err(format)
}
