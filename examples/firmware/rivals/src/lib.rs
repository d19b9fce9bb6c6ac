//! Writers of one record of five fields, by this crate and by others, for `measure`.
//!
//! All write the same readings one by one into the same page.

#![no_std]
#![forbid(unsafe_code)]

use pilaster::bytes::{LittleEndian, Sink, WriteError};
use pilaster::codec::HashTable;
use pilaster::dataseries::record;
use pilaster::dataseries::write::{Compress, Descriptions, ExtentBuffer, IndexSlot, Lz4, Lzf, Memory, Stored, Writer};
use pilaster::error::{Error, Kind, Result, What};
use pilaster::filo::Packing;
use pilaster::filo::write::Line;
use pilaster::filo::write::append::{Append, Booleans, Ints, Lines};
use pilaster::vortex;
use pilaster::vortex::log::{Log, Policy, Record as _, group_words};

record! {
    /// A reading of a weather station, one per second.
    #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, minicbor::Encode)]
    pub struct Reading = "Reading" namespace "example.org" version 1.0 {
        /// Milliseconds since 1970.
        #[n(0)]
        time: int64 relative,
        /// Degrees Celsius, to a tenth.
        #[n(1)]
        temp: double relative scaled 0.1,
        /// Per cent.
        #[n(2)]
        humidity: int32 relative,
        /// The voltage of the battery.
        #[n(3)]
        millivolts: int32 relative,
        /// Whether the sun shines on the panel.
        #[n(4)]
        charging: bool,
    }
}

vortex::record! {
    /// A reading as a row of a Vortex file.
    struct Row {
        time: timestamp_ms "UTC",
        temp: f64,
        humidity: i32,
        millivolts: i32,
        charging: bool,
    }
}

/// Milliseconds between two readings.
const EVERY: i64 = 1000;
/// The start in milliseconds since 1970.
const START: i64 = 1_700_000_000_000;

/// Reading `n`.
#[must_use]
pub fn reading(n: u32) -> Reading {
    // Pseudo-random, depends on `n` only.
    let noise = n.wrapping_mul(0x9e37_79b9) >> 16;
    let wave = |period: u32, height: u32| {
        let at = n % period * 2;
        (if at > period { 2 * period - at } else { at } * height / period) as i32
    };
    Reading {
        time: START + i64::from(n) * EVERY,
        temp: f64::from(183 + wave(1800, 60)) * 0.1,
        humidity: 41 + wave(3600, 25),
        millivolts: 3912 - wave(7200, 300) + i32::from(noise.is_multiple_of(8)),
        charging: n % 1200 > 500,
    }
}

/// The output: a page of flash that is overwritten again and again.
#[derive(Debug)]
pub struct Page {
    bytes: [u8; 256],
    at: usize,
    /// Number of bytes so far.
    pub written: u32,
}

impl Page {
    /// An empty page.
    pub const NEW: Page = Page { bytes: [0; 256], at: 0, written: 0 };
}

impl Sink for Page {
    type Error = Error;

    fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.written = self.written.wrapping_add(bytes.len() as u32);
        while !bytes.is_empty() {
            if self.at >= self.bytes.len() {
                self.at = 0;
            }
            let room = self.bytes.get_mut(self.at..).unwrap_or_default();
            let (now, later) = bytes.split_at_checked(room.len()).unwrap_or((bytes, &[]));
            if let Some(room) = room.get_mut(..now.len()) {
                room.copy_from_slice(now);
            }
            (self.at, bytes) = (self.at.wrapping_add(now.len()), later);
        }
        Ok(())
    }
}

/// The buffers of a writer. Rows are aligned to words, which is faster on a Cortex-M0.
#[derive(Debug)]
#[repr(C, align(4))]
pub struct Lent {
    rows: [u8; Row::memory_len(MOST_ROWS, 0)],
    out: [u8; 512],
    table: HashTable<256>,
    slots: [IndexSlot; 64],
    groups: [u32; GROUPS * group_words(Row::FIELDS.len())],
}

/// Size in bytes of the rows of a DataSeries extent.
const EXTENT: usize = 2048;
/// Maximum number of rows of a row group of Vortex: what the RAM of a chip holds, here of a Cortex-M0 without 32-bit
/// atomics, and of others.
const MOST_ROWS: usize = if cfg!(target_has_atomic = "32") { 1024 } else { 256 };
/// Maximum number of row groups.
const GROUPS: usize = 4;

impl Lent {
    /// The initial value for a `static`.
    pub const NEW: Lent = Lent {
        rows: [0; Row::memory_len(MOST_ROWS, 0)],
        out: [0; 512],
        table: HashTable::new(),
        slots: [IndexSlot::EMPTY; 64],
        groups: [0; GROUPS * group_words(Row::FIELDS.len())],
    };
}

/// Writes a given number of readings.
pub type Write = fn(&mut Page, &mut Lent, u32) -> Result<()>;

fn flat(e: WriteError<Error>) -> Error {
    match e {
        WriteError::Format(e) | WriteError::Sink(e) => e,
    }
}

/// Makes the readings only, as every other writer does in addition to writing.
///
/// # Errors
/// None.
pub fn nothing(_: &mut Page, _: &mut Lent, readings: u32) -> Result<()> {
    for n in 0..readings {
        core::hint::black_box(reading(n));
    }
    Ok(())
}

/// Writes a DataSeries file with its index.
fn dataseries<C: Compress>(
    page: &mut Page,
    rows: &mut [u8],
    slots: &mut [IndexSlot],
    compress: C,
    readings: u32,
) -> Result<(), WriteError<Error>> {
    let mut file = Writer::<LittleEndian, _, _>::with(page, Descriptions::of::<Reading>(), slots, compress);
    let mut extent = ExtentBuffer::of::<Reading>(Memory::rows(rows))?;
    for n in 0..readings {
        file.push(&mut extent, &reading(n))?;
    }
    file.flush(&mut extent)?;
    file.end()
}

/// DataSeries, uncompressed extents of 2 KiB.
///
/// # Errors
/// [`Kind::NoRoom`] for more extents than slots of the index.
pub fn dataseries_stored(page: &mut Page, lent: &mut Lent, readings: u32) -> Result<()> {
    let (rows, _) = part(&mut lent.rows, EXTENT);
    dataseries(page, rows, &mut lent.slots, Stored, readings).map_err(flat)
}

/// DataSeries, extents of 2 KiB compressed by LZF.
///
/// # Errors
/// As above.
pub fn dataseries_lzf(page: &mut Page, lent: &mut Lent, readings: u32) -> Result<()> {
    let Lent { rows, out, table, slots, .. } = lent;
    let (rows, _) = part(rows, EXTENT);
    let lzf = Lzf::new(table, out);
    dataseries(page, rows, slots, lzf, readings).map_err(flat)
}

/// DataSeries, extents of 2 KiB compressed by LZ4.
///
/// # Errors
/// As above.
pub fn dataseries_lz4(page: &mut Page, lent: &mut Lent, readings: u32) -> Result<()> {
    let Lent { rows, out, table, slots, .. } = lent;
    let (rows, _) = part(rows, EXTENT);
    let lz4 = Lz4::new(table, out);
    dataseries(page, rows, slots, lz4, readings).map_err(flat)
}

/// Number of rows of a vector.
const ROWS: usize = 256;

/// Five Filo vectors for every 256 readings.
///
/// # Errors
/// None.
pub fn filo(page: &mut Page, lent: &mut Lent, readings: u32) -> Result<()> {
    // One vector per field, each with memory for 256 rows.
    let memory = lent.rows.as_mut_slice();
    let (a, memory) = part(memory, Lines::max_len(Packing::U2, ROWS));
    let (b, memory) = part(memory, Ints::max_len(Packing::I16, false, ROWS));
    let (c, memory) = part(memory, Ints::max_len(Packing::I8, false, ROWS));
    let (d, memory) = part(memory, Ints::max_len(Packing::I16, false, ROWS));
    let (e, _) = part(memory, Booleans::max_len(ROWS));
    let (mut from, mut seen, mut whole) = (0, 0f64, 0);
    while from < readings {
        let line = Line { base: START + i64::from(from) * EVERY, slope: EVERY as i32 };
        let mut time = Lines::new(a, line, Packing::U2)?;
        let mut temp = Ints::new(b, Packing::I16)?;
        let mut humidity = Ints::new(c, Packing::I8)?;
        let mut millivolts = Ints::new(d, Packing::I16)?;
        let mut charging = Booleans::new(e)?;
        let until = readings.min(from + ROWS as u32);
        for n in from..until {
            let reading = reading(n);
            time.push(reading.time)?;
            // Most temperatures are equal to the previous one, which is cheap to detect.
            if reading.temp.to_bits() != seen.to_bits() {
                (seen, whole) = (reading.temp, tenths(reading.temp));
            }
            temp.push(whole)?;
            humidity.push(reading.humidity)?;
            millivolts.push(reading.millivolts)?;
            charging.push(reading.charging)?;
        }
        from = until;
        page.put(time.finish()?)?;
        page.put(temp.finish()?)?;
        page.put(humidity.finish()?)?;
        page.put(millivolts.finish()?)?;
        page.put(charging.finish()?)?;
    }
    Ok(())
}

/// Rounds to tenths. After the addition of 1.5 * 2^52, the low bits of the mantissa are the integer. (A cast makes four
/// comparisons of the double, which are slow on chips without hardware doubles.)
#[inline(never)]
fn tenths(value: f64) -> i32 {
    const UNITS: f64 = 6_755_399_441_055_744.0;
    (value * 10.0 + UNITS).to_bits() as i32
}

fn part(bytes: &mut [u8], len: usize) -> (&mut [u8], &mut [u8]) {
    bytes.split_at_mut_checked(len).unwrap_or_default()
}

/// Writes a Vortex file with a checkpoint at its start and one at its end.
fn vortex(page: &mut Page, lent: &mut Lent, rows: usize, readings: u32) -> Result<(), WriteError<Error>> {
    let (memory, _) = part(&mut lent.rows, Row::memory_len(rows, 0));
    let mut log = Log::of::<Row>(page, (memory, rows), &mut lent.groups, Policy::ByHand)?;
    for n in 0..readings {
        let Reading { time, temp, humidity, millivolts, charging } = reading(n);
        log.push(&Row { time, temp, humidity, millivolts, charging })?;
    }
    log.end()
}

/// Vortex, row groups of 256 rows.
///
/// # Errors
/// [`Kind::NoRoom`] for more row groups than there is memory for.
pub fn vortex_256(page: &mut Page, lent: &mut Lent, readings: u32) -> Result<()> {
    vortex(page, lent, 256, readings).map_err(flat)
}

/// Vortex, row groups of 1,024 rows, which are packed best.
///
/// # Errors
/// As above, and on a chip whose memory holds fewer rows.
pub fn vortex_1024(page: &mut Page, lent: &mut Lent, readings: u32) -> Result<()> {
    vortex(page, lent, 1024, readings).map_err(flat)
}

/// postcard, consecutive records.
///
/// # Errors
/// None.
pub fn postcard(page: &mut Page, _: &mut Lent, readings: u32) -> Result<()> {
    let mut buffer = [0; 64];
    for n in 0..readings {
        match postcard::to_slice(&reading(n), &mut buffer) {
            Ok(bytes) => page.put(bytes)?,
            Err(_) => return Err(Error::new(Kind::NoRoom, What::DESTINATION, 0)),
        }
    }
    Ok(())
}

/// minicbor, consecutive records.
///
/// # Errors
/// None.
pub fn minicbor(page: &mut Page, _: &mut Lent, readings: u32) -> Result<()> {
    let mut buffer = [0u8; 64];
    for n in 0..readings {
        let mut to = minicbor::encode::write::Cursor::new(&mut buffer[..]);
        match minicbor::encode(reading(n), &mut to) {
            Ok(()) => {
                let len = to.position();
                page.put(buffer.get(..len).unwrap_or_default())?;
            }
            Err(_) => return Err(Error::new(Kind::NoRoom, What::DESTINATION, 0)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn a_third_of_postcard() {
        let bytes = |write: Write| {
            let (mut page, mut lent) = (Page::NEW, Lent::NEW);
            write(&mut page, &mut lent, 1024).unwrap();
            page.written
        };
        let postcard = bytes(postcard);
        assert!(postcard < bytes(minicbor));
        for write in [dataseries_lzf, dataseries_lz4, filo] {
            assert!(bytes(write) * 3 <= postcard);
        }
        // Packed integers take whole blocks of 1,024 rows, so that smaller row groups are stored as they are.
        assert!(bytes(vortex_1024) * 2 <= postcard, "{}", bytes(vortex_1024));
        assert!(bytes(vortex_256) * 10 <= postcard * 11, "{}", bytes(vortex_256));
    }
}
