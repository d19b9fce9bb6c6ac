//! Typed records of four sensors in one DataSeries file, compressed by LZF.

use embedded_io::Write;
use pilaster::bytes::{EmbeddedIoSink, LittleEndian, Scratch, WriteError};
use pilaster::codec::HashTable;
use pilaster::dataseries::write::{AsyncWriter, Descriptions, ExtentBuffer, IndexSlot, Lzf, Memory, Writer};

use crate::sensors::{
    AIR_EVERY, Air, BATTERY_EVERY, Battery, MOTION_EVERY, Motion, PRESSURE_EVERY, Pressure, air, battery, motion,
    pressure,
};

/// The types of the file.
pub const TYPES: Descriptions<'static> = Descriptions::of::<(Air, Battery, Motion, Pressure)>();

/// All memory of the logger.
#[derive(Debug)]
pub struct Buffers {
    air: [u8; 256],
    battery: [u8; 128],
    motion: [u8; 1024],
    pressure: [u8; 512],
    packed: [u8; 768],
    /// 256 slots of two bytes, and one byte for alignment.
    table: [u8; 513],
    slots: [IndexSlot; 32],
    window: [u8; 64],
}

impl Buffers {
    /// The initial value for a `static`.
    pub const NEW: Buffers = Buffers {
        air: [0; 256],
        battery: [0; 128],
        motion: [0; 1024],
        pressure: [0; 512],
        packed: [0; 768],
        table: [0; 513],
        slots: [IndexSlot::EMPTY; 32],
        window: [0; 64],
    };
}

/// Counts of the logged data.
#[derive(Clone, Copy, Debug)]
pub struct Logged {
    /// Number of records of all types.
    pub rows: u32,
    /// Number of extents.
    pub extents: usize,
    /// Number of bytes before index and trailer.
    pub bytes: u64,
}

/// Logs the readings of `millis` milliseconds to `out`.
///
/// # Errors
/// Errors of the sink; [`Kind::NoRoom`](pilaster::error::Kind::NoRoom) for more extents than slots of the index.
pub fn log<W: Write>(out: W, buffers: &mut Buffers, millis: i64) -> Result<(Logged, W), WriteError<W::Error>> {
    let lzf = Lzf::<256>::new(HashTable::take(&mut Scratch::new(&mut buffers.table))?, &mut buffers.packed);
    let mut file = Writer::<LittleEndian, _, _>::with(EmbeddedIoSink(out), TYPES, &mut buffers.slots, lzf);
    let mut airs = ExtentBuffer::of::<Air>(Memory::rows(&mut buffers.air))?;
    let mut batteries = ExtentBuffer::of::<Battery>(Memory::rows(&mut buffers.battery))?;
    let mut motions = ExtentBuffer::of::<Motion>(Memory::rows(&mut buffers.motion))?;
    let mut pressures = ExtentBuffer::of::<Pressure>(Memory::rows(&mut buffers.pressure))?;
    let mut rows = 0;
    for ms in (0..millis).step_by(MOTION_EVERY as usize) {
        file.push(&mut motions, &motion(ms))?;
        rows += 1;
        if ms % PRESSURE_EVERY == 0 {
            file.push(&mut pressures, &pressure(ms))?;
            rows += 1;
        }
        if ms % AIR_EVERY == 0 {
            file.push(&mut airs, &air(ms))?;
            rows += 1;
        }
        if ms % BATTERY_EVERY == 0 {
            file.push(&mut batteries, &battery(ms))?;
            rows += 1;
        }
    }
    file.flush(&mut airs)?;
    file.flush(&mut batteries)?;
    file.flush(&mut motions)?;
    file.flush(&mut pressures)?;
    let logged = Logged { rows, extents: file.extents(), bytes: file.at() };
    Ok((logged, file.finish()?.0))
}

/// Like [`log`], but awaits `out`. The bytes of the file are the same.
///
/// # Errors
/// Errors of [`log`].
pub async fn log_async<W: embedded_io_async::Write>(
    out: W,
    buffers: &mut Buffers,
    millis: i64,
) -> Result<W, WriteError<W::Error>> {
    let Buffers { air: a, battery: b, motion: m, pressure: p, packed, table, slots, window } = buffers;
    let lzf = Lzf::<256>::new(HashTable::take(&mut Scratch::new(table))?, packed);
    let mut file = AsyncWriter::<LittleEndian, _, _>::with(out, TYPES, slots, lzf, window);
    let mut airs = ExtentBuffer::of::<Air>(Memory::rows(a))?;
    let mut batteries = ExtentBuffer::of::<Battery>(Memory::rows(b))?;
    let mut motions = ExtentBuffer::of::<Motion>(Memory::rows(m))?;
    let mut pressures = ExtentBuffer::of::<Pressure>(Memory::rows(p))?;
    for ms in (0..millis).step_by(MOTION_EVERY as usize) {
        file.push(&mut motions, &motion(ms)).await?;
        if ms % PRESSURE_EVERY == 0 {
            file.push(&mut pressures, &pressure(ms)).await?;
        }
        if ms % AIR_EVERY == 0 {
            file.push(&mut airs, &air(ms)).await?;
        }
        if ms % BATTERY_EVERY == 0 {
            file.push(&mut batteries, &battery(ms)).await?;
        }
    }
    file.flush(&mut airs).await?;
    file.flush(&mut batteries).await?;
    file.flush(&mut motions).await?;
    file.flush(&mut pressures).await?;
    file.finish().await
}
