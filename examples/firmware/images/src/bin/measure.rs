//! Writes one record of five fields with this crate and with others; prints stack, instructions and bytes of each.

#![no_std]
#![no_main]

use core::hint::black_box;

use images::{Lent, measured};
use pilaster::error::{Error, Kind, What};
use rivals::{Page, Write};

static PAGE: Lent<Page> = Lent::new(Page::NEW);
static LENT: Lent<rivals::Lent> = Lent::new(rivals::Lent::NEW);

/// Number of records to write.
const READINGS: u32 = 1024;

const WRITERS: &[(&str, Write)] = &[
    ("nothing", rivals::nothing),
    ("dataseries_stored", rivals::dataseries_stored),
    ("dataseries_lzf", rivals::dataseries_lzf),
    ("dataseries_lz4", rivals::dataseries_lz4),
    ("filo", rivals::filo),
    ("vortex_256", rivals::vortex_256),
    // The rows do not fit the RAM of the Cortex-M0.
    #[cfg(target_has_atomic = "32")]
    ("vortex_1024", rivals::vortex_1024),
    ("postcard", rivals::postcard),
    ("minicbor", rivals::minicbor),
];

#[cortex_m_rt::entry]
fn main() -> ! {
    images::exit(run())
}

fn run() -> Result<(), Error> {
    let (page, lent) = PAGE.take().zip(LENT.take()).ok_or(Error::new(Kind::Misuse, What::SCRATCH, 0))?;
    let mut other = 0;
    for (name, write) in WRITERS.iter().copied() {
        let mut done = Ok(());
        page.written = 0;
        let instructions = measured::instructions(|| done = black_box(write)(page, lent, READINGS));
        done?;
        let bytes = page.written;
        let stack = measured::stack(|| done = black_box(write)(page, lent, READINGS));
        done?;
        if other == 0 {
            other = instructions;
        }
        // Per record, in tenths. The instructions of `nothing`, which makes the readings, are subtracted.
        let each = |n: u64| (n * 10 + u64::from(READINGS) / 2) / u64::from(READINGS);
        let instructions = each(instructions.saturating_sub(other));
        let bytes = each(bytes.into());
        defmt::info!(
            "measured {=str} stack {} instructions {}.{} bytes {}.{}",
            name,
            stack,
            instructions / 10,
            instructions % 10,
            bytes / 10,
            bytes % 10
        );
    }
    Ok(())
}
