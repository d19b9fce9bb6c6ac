//! A log in NOR flash with fifty power cuts. After each reset, mounts the log, checks every reading and resumes.
//! Finally writes the flash to `flash.bin`.

#![no_std]
#![no_main]

use embedded_io::Write as _;
use images::flash::{ERASE, Kept, RING, UNITS};
use images::{Failed, File, Lent, kept, reset};
use logger::flash::{Buffers, Found, log};
use nor::{Cut, Nor};
use pilaster::bytes::WriteError;

/// Number of power cuts.
const CUTS: u32 = 50;
/// Maximum number of readings between two cuts.
const READINGS: i64 = 400;

static BUFFERS: Lent<Buffers> = Lent::new(Buffers::NEW);

/// The errors of this image.
#[derive(defmt::Format)]
enum Wrong {
    Log(WriteError<nor::Failed>),
    Host(Failed),
    /// The number of readings that were flushed, and the number that was found.
    Lost(i64, i64),
    /// Some erase units wear out before others.
    Uneven([u32; UNITS]),
    Memory,
}

#[cortex_m_rt::entry]
fn main() -> ! {
    images::exit(run())
}

fn run() -> Result<(), Wrong> {
    let buffers = BUFFERS.take().ok_or(Wrong::Memory)?;
    // SAFETY: the only call, and `Kept` consists of numbers only.
    let Kept { flash, wear, boots, cuts, flushed, given_up } = unsafe { kept::<Kept>() };
    if *boots == 0 {
        // Initial contents of the flash: neither erased nor a log.
        flash.iter_mut().zip((0u8..=255).cycle()).for_each(|(byte, noise)| *byte = noise.wrapping_mul(29));
    }
    // Another operation and byte after each start.
    let cut = Cut { operation: boots.wrapping_mul(7) % 60, byte: boots.wrapping_mul(11) % 48 };
    let last = *cuts == CUTS;
    *boots = boots.wrapping_add(1);

    let (promised, lost_before, mut there) = (*flushed, *given_up, Found::default());
    let done = log(
        Nor::<4, ERASE>::new(flash, wear, (!last).then_some(cut)),
        RING,
        buffers,
        promised.wrapping_add(READINGS),
        |found| there = found,
        |progress| (*flushed, *given_up) = (progress.flushed, lost_before.wrapping_add(progress.given_up)),
    );
    if there.next < promised || there.first > there.next {
        return Err(Wrong::Lost(promised, there.next));
    }
    match done {
        Err(WriteError::Sink(nor::Failed::Power)) => *cuts = cuts.wrapping_add(1),
        Err(e) => return Err(Wrong::Log(e)),
        Ok(()) => {}
    }
    if !last {
        reset();
    }
    let (least, most) = wear.iter().fold((u32::MAX, 0), |(least, most), unit| (least.min(*unit), most.max(*unit)));
    defmt::info!(
        "{} cuts, {} segments begun, {} given up; erased {} to {} times",
        cuts,
        there.begun,
        given_up,
        least,
        most
    );
    defmt::info!("readings {} to {} at the last mount, {} torn", there.first, there.next, there.torn);
    if most.wrapping_sub(least) > most / 4 {
        return Err(Wrong::Uneven(*wear));
    }
    File::create(c"flash.bin").and_then(|mut file| file.write_all(flash)).map_err(Wrong::Host)
}
