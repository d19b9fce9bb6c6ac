//! Logs the readings of `log_dataseries` through an asynchronous sink; the file is identical.

#![no_std]
#![no_main]

use images::{Failed, File, Lent, Slow, block_on};
use logger::typed::{Buffers, log_async};
use pilaster::bytes::WriteError;

/// Buffers at an unaligned address. They work the same, but slower on a Cortex-M0.
#[repr(C, align(4))]
struct Odd(u8, Buffers);

static BUFFERS: Lent<Odd> = Lent::new(Odd(0, Buffers::NEW));

#[cortex_m_rt::entry]
fn main() -> ! {
    images::exit(run())
}

fn run() -> Result<(), WriteError<Failed>> {
    let Odd(_, buffers) = BUFFERS.take().ok_or(WriteError::Sink(Failed))?;
    let out = File::create(c"log_async.ds").map_err(WriteError::Sink)?;
    let (done, waited) = block_on(log_async(Slow(out), buffers, 30_000));
    done?;
    defmt::info!("waited {} times", waited);
    if waited > 100 { Ok(()) } else { Err(WriteError::Sink(Failed)) }
}
