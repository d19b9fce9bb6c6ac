//! Writes the readings of four sensors to `air.vortex`, `battery.vortex`, `motion.vortex` and `pressure.vortex` on the
//! host, and samples to `samples.vortex`.

#![no_std]
#![no_main]

use core::ffi::CStr;

use images::{Failed, File, Lent};
use logger::vortex::{Buffers, Outputs, log, log_samples};
use pilaster::bytes::WriteError;

static BUFFERS: Lent<Buffers> = Lent::new(Buffers::NEW);

#[cortex_m_rt::entry]
fn main() -> ! {
    images::exit(run())
}

fn create(name: &CStr) -> Result<File, WriteError<Failed>> {
    File::create(name).map_err(WriteError::Sink)
}

fn run() -> Result<(), WriteError<Failed>> {
    let buffers = BUFFERS.take().ok_or(WriteError::Sink(Failed))?;
    let to = Outputs {
        air: create(c"air.vortex")?,
        battery: create(c"battery.vortex")?,
        motion: create(c"motion.vortex")?,
        pressure: create(c"pressure.vortex")?,
    };
    let sensors = log(to, buffers, 30_000)?;
    defmt::info!("{} rows in {} row groups, {} bytes", sensors.rows, sensors.groups, sensors.bytes);
    let samples = log_samples(create(c"samples.vortex")?, buffers, 2048)?;
    defmt::info!("{} samples in {} row groups, {} bytes", samples.rows, samples.groups, samples.bytes);
    if (sensors.rows, samples.rows) == (936, 2048) { Ok(()) } else { Err(WriteError::Sink(Failed)) }
}
