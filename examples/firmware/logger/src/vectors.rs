//! Blocks of samples as Filo vectors: in DataSeries records with one vector per column, and in radio frames with one
//! vector each.

use embedded_io::Write;
use heapless::Vec;
use pilaster::bytes::{EmbeddedIoSink, LittleEndian, Sink, WriteError};
use pilaster::dataseries::record;
use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
use pilaster::error::{Kind, Result};
use pilaster::filo::Packing;
use pilaster::filo::write::Line;
use pilaster::filo::write::append::{Append, Doubles, Ints, Lines};

use crate::sensors::{SAMPLE_EVERY, Sample, sample};

/// Number of samples of a block.
pub const SAMPLES: usize = 256;
/// A sample may be up to 3 milliseconds late, which fits into two bits.
const LATE: Packing = Packing::U2;
/// Hundredths of a degree and thousandths of gravity fit into 16 bits.
const NARROW: Packing = Packing::I16;

const TIME_LEN: usize = Lines::max_len(LATE, SAMPLES);
const Z_LEN: usize = Ints::max_len(NARROW, false, SAMPLES);
const TEMP_LEN: usize = Doubles::max_len(NARROW, false, SAMPLES);
/// In the pool, each vector has a length before it and padding after it.
const POOL_LEN: usize = 16 + TIME_LEN + Z_LEN + TEMP_LEN + 3 * 12;

record! {
    /// A block of samples: one Filo vector per column.
    pub struct Block<'a> = "Block" namespace "example.org" version 1.0 {
        /// Number of its first sample.
        first: int64,
        /// Milliseconds: longs, delta-delta encoded.
        time: variable32,
        /// Thousandths of standard gravity: 16-bit ints.
        z: variable32,
        /// Hundredths of a degree Celsius: doubles, stored as 16-bit ints of equal value.
        temp: variable32,
    }
}

/// The types of the file.
pub const TYPES: Descriptions<'static> = Descriptions::of::<Block<'_>>();

/// All memory of the logger.
#[derive(Debug)]
pub struct Buffers {
    time: [u8; TIME_LEN],
    z: [u8; Z_LEN],
    temp: [u8; TEMP_LEN],
    rows: [u8; 24],
    pool: [u8; POOL_LEN],
    slots: [IndexSlot; 16],
}

impl Buffers {
    /// The initial value for a `static`.
    pub const NEW: Buffers = Buffers {
        time: [0; TIME_LEN],
        z: [0; Z_LEN],
        temp: [0; TEMP_LEN],
        rows: [0; 24],
        pool: [0; POOL_LEN],
        slots: [IndexSlot::EMPTY; 16],
    };
}

/// Returns the line of the clock starting at sample `first`. No sample is early, and none is later than [`LATE`] can
/// store.
const fn ticks(first: i64) -> Line {
    Line { base: crate::sensors::START + first * SAMPLE_EVERY, slope: SAMPLE_EVERY as i32 }
}

/// Logs `blocks` blocks to `out`.
///
/// # Errors
/// Errors of the sink.
pub fn log<W: Write>(out: W, buffers: &mut Buffers, blocks: i64) -> Result<W, WriteError<W::Error>> {
    let Buffers { time, z, temp, rows, pool, slots } = buffers;
    let mut file = Writer::<LittleEndian, _>::new(EmbeddedIoSink(out), TYPES, slots);
    let mut extent = ExtentBuffer::of::<Block<'_>>(Memory { rows, pool, unique: &mut [] })?;
    for block in 0..blocks {
        let first = block * SAMPLES as i64;
        let mut times = Lines::new(time, ticks(first), LATE)?;
        let mut zs = Ints::new(z, NARROW)?;
        let mut temps = Doubles::new(temp, NARROW)?;
        for n in first..first + SAMPLES as i64 {
            let Sample { time, z, temp } = sample(n);
            times.push(time)?;
            zs.push(z)?;
            temps.push(temp)?;
        }
        file.push(&mut extent, &Block { first, time: times.finish()?, z: zs.finish()?, temp: temps.finish()? })?;
        file.flush(&mut extent)?;
    }
    Ok(file.finish()?.0)
}

/// Maximum size of a radio frame in bytes.
pub const FRAME_LEN: usize = 252;

/// A radio frame.
pub type Frame = Vec<u8, FRAME_LEN>;

/// Fills a frame with the times of samples starting at `first`. Returns their number.
///
/// # Errors
/// None, because a frame has space for a vector.
pub fn time_frame(first: i64, frame: &mut Frame) -> Result<usize> {
    let mut buffer = [0; FRAME_LEN];
    fill(Lines::new(&mut buffer, ticks(first), LATE)?, first, frame, |sample| sample.time)
}

/// Fills a frame with accelerations starting at `first`. Returns their number.
///
/// # Errors
/// As above.
pub fn z_frame(first: i64, frame: &mut Frame) -> Result<usize> {
    let mut buffer = [0; FRAME_LEN];
    fill(Ints::new(&mut buffer, NARROW)?, first, frame, |sample| sample.z)
}

/// Fills a frame with temperatures starting at `first`. Returns their number.
///
/// # Errors
/// As above.
pub fn temp_frame(first: i64, frame: &mut Frame) -> Result<usize> {
    let mut buffer = [0; FRAME_LEN];
    fill(Doubles::new(&mut buffer, NARROW)?, first, frame, |sample| sample.temp)
}

/// Appends samples until the vector is full. The frame contains this vector only, so their lengths are equal.
fn fill<'b, W: Append<'b>>(
    mut vector: W,
    first: i64,
    frame: &mut Frame,
    value: impl Fn(Sample) -> W::Value<'static>,
) -> Result<usize> {
    let rows = loop {
        let rows = vector.rows();
        match vector.push(value(sample(first + rows as i64))) {
            Ok(()) => {}
            Err(e) if e.kind() == Kind::NoRoom => break rows,
            Err(e) => return Err(e),
        }
    };
    frame.clear();
    Sink::put(frame, vector.finish()?)?;
    Ok(rows)
}
