//! The logger of `flash_log` on an nRF52840. The log is in the last pages of the internal flash, and is resumed after
//! every reset.

#![no_std]
#![no_main]

use core::{ptr, slice};

use embedded_hal::digital::OutputPin;
use logger::flash::{Buffers, log};
use nrf52840_hal::gpio::{Level, p0};
use nrf52840_hal::nvmc::Nvmc;
use nrf52840_hal::pac::Peripherals;
use pilaster::dataseries::flash::Ring;

/// Each segment has four pages of the flash.
const RING: Ring = Ring { start: 0, segment: 16 << 10, segments: 4 };
const LOG_LEN: usize = 64 << 10;

unsafe extern "C" {
    /// The start of the log (see `build.rs`).
    static mut _log: u8;
}

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut BUFFERS: Buffers = Buffers::NEW;
    let Some(board) = Peripherals::take() else { cortex_m::peripheral::SCB::sys_reset() };
    // SAFETY: nothing else is linked there, and this is the only reference.
    let region = unsafe { slice::from_raw_parts_mut(ptr::addr_of_mut!(_log), LOG_LEN) };
    let mut led = p0::Parts::new(board.P0).p0_13.into_push_pull_output(Level::High);
    let done = log(
        Nvmc::new(board.NVMC, region),
        RING,
        BUFFERS,
        i64::MAX,
        |_| {},
        |progress| {
            // The LED of the development kit, on if low. It toggles with every extent.
            let _ = if progress.flushed & 1 == 0 { led.set_low() } else { led.set_high() };
        },
    );
    // The flash has failed, or contains other data: the LED stays on.
    if done.is_err() {
        let _ = led.set_low();
    }
    loop {
        cortex_m::asm::wfi();
    }
}

/// Required because the flash driver has assertions.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
