//! A Vortex log in NOR flash with fifty power cuts. After each reset, checks that the log has all flushed readings, and
//! continues it. Finally writes the flash to `flash_vortex.bin`, and the file in it to `flash.vortex`.

#![no_std]
#![no_main]

use embedded_io::Write as _;
use images::{Failed, File, Lent, kept, reset};
use logger::vortex_flash::{Buffers, Promise, Region, log};
use nor::{Cut, Nor};
use pilaster::bytes::WriteError;

/// Number of power cuts.
const CUTS: u32 = 50;
/// Maximum number of readings between two cuts.
const READINGS: i64 = 400;
/// Size of an erase unit in bytes.
const ERASE: usize = 512;
/// Number of erase units.
const UNITS: usize = 9;

static BUFFERS: Lent<Buffers> = Lent::new(Buffers::NEW);

/// The data that survives a reset: the flash, and what the checks expect of it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Kept {
    flash: [u8; ERASE * UNITS],
    wear: [u32; UNITS],
    /// Number of starts of the machine.
    boots: u32,
    /// Number of power cuts.
    cuts: u32,
    promise: Promise,
}

/// The errors of this image.
#[derive(defmt::Format)]
enum Wrong {
    Log(WriteError<nor::Failed>),
    Host(Failed),
    /// The log has no readings, or was never given up.
    Idle(i64, u32),
    Memory,
}

#[cortex_m_rt::entry]
fn main() -> ! {
    images::exit(run())
}

fn run() -> Result<(), Wrong> {
    let buffers = BUFFERS.take().ok_or(Wrong::Memory)?;
    // SAFETY: the only call, and `Kept` consists of numbers only.
    let Kept { flash, wear, boots, cuts, promise } = unsafe { kept::<Kept>() };
    if *boots == 0 {
        // Initial contents of the flash: neither erased nor a log.
        flash.iter_mut().zip((0u8..=255).cycle()).for_each(|(byte, noise)| *byte = noise.wrapping_mul(29));
    }
    // Another operation and byte after each start.
    let cut = Cut { operation: boots.wrapping_mul(7) % 60, byte: boots.wrapping_mul(11) % 48 };
    let last = *cuts == CUTS;
    *boots = boots.wrapping_add(1);

    let until = promise.next.wrapping_add(READINGS);
    let region = Region { start: 0, end: (ERASE * UNITS) as u32 };
    let nor = Nor::<4, ERASE>::new(flash, wear, (!last).then_some(cut));
    let len = match log(nor, region, buffers, promise, until) {
        Err(WriteError::Sink(nor::Failed::Power)) => {
            *cuts = cuts.wrapping_add(1);
            reset();
        }
        Err(e) => return Err(Wrong::Log(e)),
        Ok(_) if !last => reset(),
        Ok(len) => len as usize,
    };
    let Promise { first, next, given_up, torn } = *promise;
    defmt::info!("{} cuts, {} logs given up, {} times continued after torn bytes", cuts, given_up, torn);
    defmt::info!("readings {} to {} in {} bytes", first, next, len);
    if next <= first || given_up == 0 {
        return Err(Wrong::Idle(next, given_up));
    }
    let file = flash.get(..len).unwrap_or_default();
    File::create(c"flash_vortex.bin").and_then(|mut to| to.write_all(flash)).map_err(Wrong::Host)?;
    File::create(c"flash.vortex").and_then(|mut to| to.write_all(file)).map_err(Wrong::Host)
}
