//! A log in NOR flash, which is resumed after a power cut.

use embedded_storage::nor_flash::NorFlash;
use pilaster::bytes::{LittleEndian, Scratch, WriteError};
use pilaster::codec::HashTable;
use pilaster::column::Part as _;
use pilaster::dataseries::ReadOptions;
use pilaster::dataseries::flash::{Cursor, Log, Ring};
use pilaster::dataseries::write::{Cell, Descriptions, ExtentBuffer, Lzf, Memory};
use pilaster::error::{Error, Kind, What};

use crate::sensors::{PRESSURE_EVERY, Pressure, START, pressure};

/// The types of the log.
pub const TYPES: Descriptions<'static> = Descriptions::of::<Pressure>();

/// All memory of the logger, also for reading the log.
#[derive(Debug)]
pub struct Buffers {
    page: [u8; 64],
    rows: [u8; 16 * 16],
    packed: [u8; 192],
    table: [u8; 128],
    /// An extent as stored; the next field is for the unpacked one.
    extent: [u8; 384],
    unpacked: [u8; 16 * 16 * 2 + 64],
}

impl Buffers {
    /// The initial value for a `static`.
    pub const NEW: Buffers = Buffers {
        page: [0; 64],
        rows: [0; 16 * 16],
        packed: [0; 192],
        table: [0; 128],
        extent: [0; 384],
        unpacked: [0; 16 * 16 * 2 + 64],
    };
}

/// The log of this device.
pub type DeviceLog<'m, F> = Log<'m, LittleEndian, F, Lzf<'m, 64>>;

/// The contents of the log in the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Number of the oldest reading.
    pub first: i64,
    /// Number of the next reading to log.
    pub next: i64,
    /// Number of extents.
    pub extents: u32,
    /// Number of segments that end with an incomplete extent.
    pub torn: u32,
    /// Number of segments begun since the creation of the log.
    pub begun: u32,
}

/// The progress of logging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The reading after the last flushed one.
    pub flushed: i64,
    /// Number of segments that were given up for new readings.
    pub given_up: u32,
}

/// Mounts the log in `flash`, checks every reading in it, and resumes logging until `until` readings are flushed or the
/// flash fails. A full log loses its oldest segment. `found` is called before the first write, `progress` after each
/// flush.
///
/// # Errors
/// Errors of the flash; [`Kind::Invalid`] with the number of a reading that differs from the sensor.
pub fn log<F: NorFlash>(
    flash: F,
    ring: Ring,
    buffers: &mut Buffers,
    until: i64,
    mut found: impl FnMut(Found),
    mut progress: impl FnMut(Progress),
) -> Result<(), WriteError<F::Error>> {
    let Buffers { page, rows, packed, table, extent, unpacked } = buffers;
    let lzf = Lzf::<64>::new(HashTable::take(&mut Scratch::new(table))?, packed);
    let mut log: DeviceLog<'_, F> = Log::mount(flash, ring, TYPES, lzf, page)?;
    let there = read(&mut log, extent, unpacked)?;
    found(there);
    let mut rows = ExtentBuffer::of::<Pressure>(Memory::rows(rows))?;
    let mut done = Progress { flushed: there.next, given_up: 0 };
    while done.flushed < until {
        // Flushes 9 to 15 readings, less than fit: only flushed readings survive a power cut.
        let next = done.flushed + 9 + done.flushed % 7;
        for n in done.flushed..next {
            rows.push(&pressure(n * PRESSURE_EVERY))?;
        }
        while let Err(e) = log.flush(&mut rows) {
            match e {
                WriteError::Format(e) if e.kind() == Kind::NoRoom => {
                    log.give_up();
                    done.given_up += 1;
                }
                e => return Err(e),
            }
        }
        done.flushed = next;
        progress(done);
    }
    Ok(())
}

/// Reads the log, starting at its oldest reading.
///
/// # Errors
/// Errors of the flash; [`Kind::Invalid`] with the number of a reading that differs from the sensor.
pub fn read<F: NorFlash>(
    log: &mut DeviceLog<'_, F>,
    memory: &mut [u8],
    unpacked: &mut [u8],
) -> Result<Found, WriteError<F::Error>> {
    let (mut cursor, mut found) = (Cursor::new(), Found::default());
    while let Some(extent) = log.next_extent(&mut cursor, memory)? {
        let part = extent.unpack_as::<Pressure>(&ReadOptions::DEFAULT, &mut Scratch::new(unpacked))?;
        for row in 0..part.rows() {
            let (time, pascal) = (part.column(0)?.get(row)?, part.column(1)?.get(row)?);
            let Some(Cell::Int64(time)) = time else { return Err(wrong(found.next).into()) };
            let n = (time - START) / PRESSURE_EVERY;
            if found.extents == 0 && row == 0 {
                (found.first, found.next) = (n, n);
            }
            let was = pressure(found.next * PRESSURE_EVERY);
            if time != was.time || pascal != Some(Cell::Double(was.pascal)) {
                return Err(wrong(found.next).into());
            }
            found.next += 1;
        }
        found.extents += 1;
    }
    (found.torn, found.begun) = (cursor.torn(), log.begun());
    Ok(found)
}

/// Reads the log in `flash`.
///
/// # Errors
/// Errors of [`read`].
pub fn read_back<F: NorFlash>(flash: F, ring: Ring, buffers: &mut Buffers) -> Result<Found, WriteError<F::Error>> {
    let Buffers { page, packed, table, extent, unpacked, .. } = buffers;
    let lzf = Lzf::<64>::new(HashTable::take(&mut Scratch::new(table))?, packed);
    let mut log: DeviceLog<'_, F> = Log::mount(flash, ring, TYPES, lzf, page)?;
    read(&mut log, extent, unpacked)
}

fn wrong(n: i64) -> Error {
    Error::new(Kind::Invalid, What::ROW, n.unsigned_abs())
}
