//! A logger of Vortex files: six columns that may get every encoding, rows from the bytes of the call.

use core::convert::Infallible;

use pilaster::bytes::{Scratch, Sink, WriteError};
use pilaster::error::Result;
use pilaster::vortex::log::{Log, Of, Policy, Resume};
use pilaster::vortex::record;

use crate::Call;

record! {
    /// A reading of a probe.
    pub struct Reading<'a> {
        time: timestamp_ms "UTC",
        state: i32,
        temp: f32,
        on: bool,
        battery: u8 nullable,
        place: utf8,
    }
}

const READING: Of<Reading<'static>> = Of::new();

/// Number of rows of a row group in memory, of their texts' bytes, and of records of row groups.
const ROWS: usize = 16;
const TEXTS: usize = 192;
const GROUPS: usize = 16;
const MEMORY: usize = Reading::memory_len(ROWS, TEXTS);

/// A sink that sums the bytes, in place of a flash or a radio.
struct Sum(u32);

impl Sink for Sum {
    type Error = Infallible;

    fn put(&mut self, bytes: &[u8]) -> core::result::Result<(), Infallible> {
        for byte in bytes {
            self.0 = self.0.rotate_left(5) ^ u32::from(*byte);
        }
        Ok(())
    }
}

fn format(e: WriteError<Infallible>) -> pilaster::Error {
    match e {
        WriteError::Format(e) => e,
        WriteError::Sink(never) => match never {},
    }
}

/// Logs a row for each byte, and finishes the file.
fn log(
    log: &mut Log<'_, Sum, Of<Reading<'static>>>,
    bytes: &[u8],
    kind: u32,
) -> core::result::Result<u32, WriteError<Infallible>> {
    for byte in bytes {
        let (time, battery) = (i64::from(kind) + i64::from(*byte), (*byte & 1 == 0).then_some(*byte));
        let temp = f32::from_bits(u32::from(*byte) << 20);
        let place = if *byte & 6 == 0 { "attic" } else { "cellar" };
        log.push(&Reading { time, state: i32::from(*byte), temp, on: *byte > 7, battery, place })?;
    }
    log.end()?;
    Ok(log.sink().0)
}

/// Writes a log, with a checkpoint after every second row group.
#[inline(never)]
pub fn write(call: Call<'_>) -> Result<u32> {
    let mut memory = Scratch::new(call.memory);
    let groups = memory.take::<u32>(GROUPS * (3 + 6))?;
    let rows = memory.take::<u8>(MEMORY)?;
    let mut writer = Log::prepare(Sum(0), READING, (rows, ROWS), groups, Policy::Every(2));
    writer.start().map_err(format)?;
    log(&mut writer, call.bytes, call.kind).map_err(format)
}

/// Resumes a log and finishes it.
#[inline(never)]
pub fn resume(call: Call<'_>) -> Result<u32> {
    let mut memory = Scratch::new(call.memory);
    let groups = memory.take::<u32>(GROUPS * (3 + 6))?;
    let rows = memory.take::<u8>(MEMORY)?;
    let found = Resume::find(call.bytes, &READING, groups)?;
    let mut writer = Log::prepare(Sum(0), READING, (rows, ROWS), groups, Policy::Every(2));
    writer.continue_at(&found).map_err(format)?;
    log(&mut writer, call.bytes, call.kind).map_err(format)
}
