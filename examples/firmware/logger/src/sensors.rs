//! Four sensors with different rates: their typed records and simulated values.

use pilaster::dataseries::record;

record! {
    /// Temperature and humidity, once a second.
    pub struct Air = "Air" namespace "example.org" version 1.0 {
        /// Milliseconds.
        time: int64 relative,
        /// Degrees Celsius.
        temp: double scaled 0.01,
        /// Per cent; missing while the sensor heats itself dry.
        humidity: int32 nullable,
    }
}
record! {
    /// The battery, every five seconds.
    pub struct Battery = "Battery" namespace "example.org" version 1.0 {
        time: int64 relative,
        millivolts: int32 relative,
        charging: bool,
    }
}
record! {
    /// Acceleration, 25 times a second.
    pub struct Motion = "Motion" namespace "example.org" version 1.0 {
        time: int64 relative,
        /// Thousandths of standard gravity.
        x: int32,
        y: int32,
        z: int32,
    }
}
record! {
    /// Air pressure, five times a second.
    pub struct Pressure = "Pressure" namespace "example.org" version 1.0 {
        time: int64 relative,
        /// Pascal.
        pascal: double scaled 0.1,
    }
}

/// Milliseconds between two readings of [`Air`].
pub const AIR_EVERY: i64 = 1000;
/// As above.
pub const BATTERY_EVERY: i64 = 5000;
/// As above.
pub const MOTION_EVERY: i64 = 40;
/// As above.
pub const PRESSURE_EVERY: i64 = 200;

/// Milliseconds between two samples of a block.
pub const SAMPLE_EVERY: i64 = 40;

/// A sample of a block.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Milliseconds.
    pub time: i64,
    /// Thousandths of standard gravity.
    pub z: i32,
    /// Hundredths of a degree Celsius, a whole number.
    pub temp: f64,
}

/// The start of the log in milliseconds since 1970.
pub const START: i64 = 1_700_000_000_000;

/// Returns a pseudo-random number from 0 to `below - 1`, which depends on `n` only.
const fn noise(n: i64, below: i32) -> i32 {
    let mixed = (n as u64 ^ 0x5851_f42d).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    (mixed as u32 % below.unsigned_abs()) as i32
}

/// Returns a triangle wave from 0 to `height` and back with the given period.
const fn wave(n: i64, period: i32, height: i32) -> i32 {
    let at = (n % period as i64) as i32 * 2;
    let up = if at > period { 2 * period - at } else { at };
    up * height / period
}

/// Returns the reading `ms` milliseconds after the start.
#[must_use]
pub fn air(ms: i64) -> Air {
    let hundredths = 2130 + wave(ms / 1000, 600, 90) + noise(ms, 2);
    let humidity = (ms / 1000 % 16 != 15).then_some(41 + wave(ms / 1000, 240, 5));
    Air { time: START + ms, temp: f64::from(hundredths) * 0.01, humidity }
}

/// As above.
#[must_use]
pub fn battery(ms: i64) -> Battery {
    Battery { time: START + ms, millivolts: 3912 - (ms / 60_000) as i32 + noise(ms, 3), charging: ms > 20_000 }
}

/// As above.
#[must_use]
pub fn motion(ms: i64) -> Motion {
    Motion { time: START + ms, x: noise(ms, 5) - 2, y: wave(ms, 900, 40), z: 998 + noise(ms + 1, 4) }
}

/// As above.
#[must_use]
pub fn pressure(ms: i64) -> Pressure {
    let tenths = 1_013_250 + wave(ms / 200, 300, 60) + noise(ms, 3);
    Pressure { time: START + ms, pascal: f64::from(tenths) * 0.1 }
}

/// Returns sample `n`, which may be some milliseconds late.
#[must_use]
pub fn sample(n: i64) -> Sample {
    let ms = n * SAMPLE_EVERY;
    let Motion { z, .. } = motion(ms);
    Sample { time: START + ms + i64::from(noise(n, 4)), z, temp: f64::from(2130 + wave(n, 900, 90) + noise(n, 3)) }
}
