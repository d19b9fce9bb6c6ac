//! Writes typed records of four sensors, with LZF, through embedded-io to `log.ds` on the host.

#![no_std]
#![no_main]

use images::{Failed, File, Lent};
use logger::typed::{Buffers, log};
use pilaster::bytes::WriteError;

/// Buffers at an aligned address, which is faster on a Cortex-M0.
#[repr(align(4))]
struct Even(Buffers);

static BUFFERS: Lent<Even> = Lent::new(Even(Buffers::NEW));

#[cortex_m_rt::entry]
fn main() -> ! {
    images::exit(run())
}

fn run() -> Result<(), WriteError<Failed>> {
    let Even(buffers) = BUFFERS.take().ok_or(WriteError::Sink(Failed))?;
    let out = File::create(c"log.ds").map_err(WriteError::Sink)?;
    let (logged, _) = log(out, buffers, 30_000)?;
    defmt::info!("{} records in {} extents, {} bytes", logged.rows, logged.extents, logged.bytes);
    if logged.rows == 936 { Ok(()) } else { Err(WriteError::Sink(Failed)) }
}
