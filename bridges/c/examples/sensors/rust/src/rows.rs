//! Records that are declared in Rust, for a logger in C: a function for each type of records, and one to begin and to end.

use core::ffi::c_void;

use logger::sensors::{Air, Battery, Motion, Pressure};
use logger::typed::TYPES;
use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::codec::HashTable;
use pilaster::dataseries::write::{ExtentBuffer, IndexSlot, Lzf, Memory, Of, Writer};
use pilaster_c::error::{Failure, Report};
use pilaster_c::raw::{At, CSink, In, Marked, Out, Put, State};

type Extent<R> = ExtentBuffer<'static, LittleEndian, Of<R>>;

/// All of the logger but its memory.
pub struct Log {
    file: Writer<'static, LittleEndian, CSink, Lzf<'static, 256>>,
    airs: Extent<Air>,
    batteries: Extent<Battery>,
    motions: Extent<Motion>,
    pressures: Extent<Pressure>,
}

impl Marked for Log {
    const MARK: u32 = 0x5e50_4c09;
}

/// `sensors_memory`: the memory of the logger, as C has it: zeros.
#[repr(C, align(8))]
pub struct Lent {
    air: [u8; 256],
    battery: [u8; 128],
    motion: [u8; 1024],
    pressure: [u8; 512],
    packed: [u8; 768],
    table: [u8; 520],
    slots: [u8; 256],
}

// What log_rust.c reserves: `sensors_log` and `sensors_memory`.
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<State<Log>>() <= 800 && size_of::<Lent>() == 3464);

/// Begins a log.
#[unsafe(no_mangle)]
pub extern "C" fn sensors_begin(
    log: At<Log>,
    memory: Out<Lent>,
    put: Option<Put>,
    context: Out<c_void>,
    error: Out<Report>,
) -> i32 {
    error.answer(log.place(1, || {
        let [memory] = memory.lend(1, 2)? else { return Err(Failure::argument(2)) };
        let Lent { air, battery, motion, pressure, packed, table, slots } = memory;
        let lzf = Lzf::<256>::new(HashTable::take(&mut Scratch::new(table))?, packed);
        Ok(Log {
            file: Writer::with(CSink::new(put, context, 3)?, TYPES, IndexSlot::over(slots), lzf),
            airs: ExtentBuffer::of::<Air>(Memory::rows(air))?,
            batteries: ExtentBuffer::of::<Battery>(Memory::rows(battery))?,
            motions: ExtentBuffer::of::<Motion>(Memory::rows(motion))?,
            pressures: ExtentBuffer::of::<Pressure>(Memory::rows(pressure))?,
        })
    }))
}

/// Ends the log.
#[unsafe(no_mangle)]
pub extern "C" fn sensors_end(log: At<Log>, error: Out<Report>) -> i32 {
    error.answer(log.take(1, |Log { file, airs, batteries, motions, pressures }| {
        file.flush(airs)?;
        file.flush(batteries)?;
        file.flush(motions)?;
        file.flush(pressures)?;
        Ok(file.end()?)
    }))
}

macro_rules! rows {
    ($($(#[$doc:meta])* fn $name:ident($extent:ident: $record:ident, $row:ident: $c:ident { $($field:ident: $ty:ty),* } => $value:expr);)*) => {$(
        /// A row as C has it.
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub struct $c {
            $($field: $ty,)*
        }

        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(log: At<Log>, row: In<$c>, error: Out<Report>) -> i32 {
            error.answer(log.with(1, |log| {
                let $row = row.load(2)?;
                Ok(log.file.push(&mut log.$extent, &$value)?)
            }))
        }
    )*};
}

rows! {
    /// Adds a row of Air.
    fn sensors_air(airs: Air, row: CAir { time: i64, temp: f64, humidity: i32, is_null: u8 } => Air {
        time: row.time,
        temp: row.temp,
        humidity: (row.is_null == 0).then_some(row.humidity),
    });
    /// Adds a row of Battery.
    fn sensors_battery(batteries: Battery, row: CBattery { time: i64, millivolts: i32, charging: u8 } => Battery {
        time: row.time,
        millivolts: row.millivolts,
        charging: row.charging != 0,
    });
    /// Adds a row of Motion.
    fn sensors_motion(motions: Motion, row: CMotion { time: i64, x: i32, y: i32, z: i32 } => Motion {
        time: row.time,
        x: row.x,
        y: row.y,
        z: row.z,
    });
    /// Adds a row of Pressure.
    fn sensors_pressure(pressures: Pressure, row: CPressure { time: i64, pascal: f64 } => Pressure {
        time: row.time,
        pascal: row.pascal,
    });
}
