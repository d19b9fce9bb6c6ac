//! The readings of four sensors as Vortex files, one per sensor, and samples in a fifth.

use embedded_io::Write;
use pilaster::bytes::{EmbeddedIoSink, WriteError};
use pilaster::vortex::log::{Fields, Log, Policy, Record, group_words};
use pilaster::vortex::record;

use crate::sensors::{self, AIR_EVERY, BATTERY_EVERY, MOTION_EVERY, PRESSURE_EVERY};

record! {
    /// Temperature and humidity, once a second.
    pub struct Air {
        time: timestamp_ms "UTC",
        /// Degrees Celsius.
        temp: f64,
        /// Per cent; missing while the sensor heats itself dry.
        humidity: i32 nullable,
    }
}
record! {
    /// The battery, every five seconds.
    pub struct Battery {
        time: timestamp_ms "UTC",
        millivolts: i32,
        charging: bool,
    }
}
record! {
    /// Acceleration, 25 times a second.
    pub struct Motion {
        time: timestamp_ms "UTC",
        /// Thousandths of standard gravity.
        x: i32,
        y: i32,
        z: i32,
    }
}
record! {
    /// Air pressure, five times a second.
    pub struct Pressure {
        time: timestamp_ms "UTC",
        /// Pascal.
        pascal: f64,
    }
}
record! {
    /// A sample of a block.
    pub struct Sample {
        time: timestamp_ms "UTC",
        /// Thousandths of standard gravity.
        z: i32,
        /// Hundredths of a degree Celsius, a whole number.
        temp: f64,
    }
}

/// Returns the reading `ms` milliseconds after the start.
#[must_use]
pub fn air(ms: i64) -> Air {
    let sensors::Air { time, temp, humidity } = sensors::air(ms);
    Air { time, temp, humidity }
}

/// As above.
#[must_use]
pub fn battery(ms: i64) -> Battery {
    let sensors::Battery { time, millivolts, charging } = sensors::battery(ms);
    Battery { time, millivolts, charging }
}

/// As above.
#[must_use]
pub fn motion(ms: i64) -> Motion {
    let sensors::Motion { time, x, y, z } = sensors::motion(ms);
    Motion { time, x, y, z }
}

/// As above.
#[must_use]
pub fn pressure(ms: i64) -> Pressure {
    let sensors::Pressure { time, pascal } = sensors::pressure(ms);
    Pressure { time, pascal }
}

/// Returns sample `n`.
#[must_use]
pub fn sample(n: i64) -> Sample {
    let sensors::Sample { time, z, temp } = sensors::sample(n);
    Sample { time, z, temp }
}

/// Maximum number of rows of a row group, for each sensor.
const AIR_ROWS: usize = 32;
const BATTERY_ROWS: usize = 8;
const MOTION_ROWS: usize = 256;
const PRESSURE_ROWS: usize = 64;
/// As above, for samples.
const SAMPLE_ROWS: usize = 256;
/// Maximum number of row groups of a sensor, and of samples.
const GROUPS: usize = 4;
const SAMPLE_GROUPS: usize = 8;

/// All memory of the logger.
#[derive(Debug)]
pub struct Buffers {
    air: [u8; Air::memory_len(AIR_ROWS, 0)],
    battery: [u8; Battery::memory_len(BATTERY_ROWS, 0)],
    /// Also for samples.
    motion: [u8; Motion::memory_len(MOTION_ROWS, 0)],
    pressure: [u8; Pressure::memory_len(PRESSURE_ROWS, 0)],
    air_groups: [u32; GROUPS * group_words(Air::FIELDS.len())],
    battery_groups: [u32; GROUPS * group_words(Battery::FIELDS.len())],
    motion_groups: [u32; GROUPS * group_words(Motion::FIELDS.len())],
    pressure_groups: [u32; GROUPS * group_words(Pressure::FIELDS.len())],
    sample_groups: [u32; SAMPLE_GROUPS * group_words(Sample::FIELDS.len())],
}

impl Buffers {
    /// The initial value for a `static`.
    pub const NEW: Buffers = Buffers {
        air: [0; Air::memory_len(AIR_ROWS, 0)],
        battery: [0; Battery::memory_len(BATTERY_ROWS, 0)],
        motion: [0; Motion::memory_len(MOTION_ROWS, 0)],
        pressure: [0; Pressure::memory_len(PRESSURE_ROWS, 0)],
        air_groups: [0; GROUPS * group_words(Air::FIELDS.len())],
        battery_groups: [0; GROUPS * group_words(Battery::FIELDS.len())],
        motion_groups: [0; GROUPS * group_words(Motion::FIELDS.len())],
        pressure_groups: [0; GROUPS * group_words(Pressure::FIELDS.len())],
        sample_groups: [0; SAMPLE_GROUPS * group_words(Sample::FIELDS.len())],
    };
}

/// The outputs of [`log`], one per sensor.
#[derive(Debug)]
pub struct Outputs<W> {
    pub air: W,
    pub battery: W,
    pub motion: W,
    pub pressure: W,
}

/// Counts of the logged data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Logged {
    /// Number of rows.
    pub rows: u32,
    /// Number of row groups.
    pub groups: u32,
    /// Number of bytes.
    pub bytes: u64,
}

/// A log of one sensor. Its columns are a list, so that all sensors share one copy of the code. A device with a single log
/// has less code with `Log::of::<Air>`, which links only the encodings of these columns.
struct SensorLog<'m, W: Write> {
    log: Log<'m, EmbeddedIoSink<W>, Fields<'static>>,
    rows: u32,
}

type Outcome<T, W> = Result<T, WriteError<<W as embedded_io::ErrorType>::Error>>;

impl<'m, W: Write> SensorLog<'m, W> {
    fn new<R: Record>(out: W, memory: (&'m mut [u8], usize), groups: &'m mut [u32]) -> Outcome<Self, W> {
        // The file is valid after 1, 2, 4, 8 … row groups, and when it is finished.
        let log = Log::new(EmbeddedIoSink(out), Fields::new(R::FIELDS)?, memory, groups, Policy::Doubling)?;
        Ok(SensorLog { log, rows: 0 })
    }

    fn push(&mut self, row: &impl Record) -> Outcome<(), W> {
        self.rows += 1;
        row.with_cells(|cells| self.log.push_cells(cells))
    }

    /// Writes the last rows, and adds the counts of this log to `logged`.
    fn finish(mut self, logged: &mut Logged) -> Outcome<(), W> {
        self.log.end()?;
        logged.rows += self.rows;
        logged.groups += self.log.groups();
        logged.bytes += self.log.at();
        Ok(())
    }
}

/// Logs the readings of `millis` milliseconds, of each sensor to its output.
///
/// # Errors
/// Errors of the sinks; [`Kind::NoRoom`](pilaster::error::Kind::NoRoom) for more row groups than there is memory for.
pub fn log<W: Write>(to: Outputs<W>, buffers: &mut Buffers, millis: i64) -> Outcome<Logged, W> {
    let b = buffers;
    let mut airs = SensorLog::new::<Air>(to.air, (&mut b.air, AIR_ROWS), &mut b.air_groups)?;
    let mut batteries = SensorLog::new::<Battery>(to.battery, (&mut b.battery, BATTERY_ROWS), &mut b.battery_groups)?;
    let mut motions = SensorLog::new::<Motion>(to.motion, (&mut b.motion, MOTION_ROWS), &mut b.motion_groups)?;
    let mut pressures =
        SensorLog::new::<Pressure>(to.pressure, (&mut b.pressure, PRESSURE_ROWS), &mut b.pressure_groups)?;
    for ms in (0..millis).step_by(MOTION_EVERY as usize) {
        motions.push(&motion(ms))?;
        if ms % PRESSURE_EVERY == 0 {
            pressures.push(&pressure(ms))?;
        }
        if ms % AIR_EVERY == 0 {
            airs.push(&air(ms))?;
        }
        if ms % BATTERY_EVERY == 0 {
            batteries.push(&battery(ms))?;
        }
    }
    let mut logged = Logged::default();
    airs.finish(&mut logged)?;
    batteries.finish(&mut logged)?;
    motions.finish(&mut logged)?;
    pressures.finish(&mut logged)?;
    Ok(logged)
}

/// Logs `count` samples.
///
/// # Errors
/// Errors of [`log`].
pub fn log_samples<W: Write>(out: W, buffers: &mut Buffers, count: i64) -> Outcome<Logged, W> {
    let memory = (&mut buffers.motion[..], SAMPLE_ROWS);
    let mut samples = SensorLog::new::<Sample>(out, memory, &mut buffers.sample_groups)?;
    for n in 0..count {
        samples.push(&sample(n))?;
    }
    let mut logged = Logged::default();
    samples.finish(&mut logged)?;
    Ok(logged)
}

const _: () = assert!(Sample::memory_len(SAMPLE_ROWS, 0) <= Motion::memory_len(MOTION_ROWS, 0));
