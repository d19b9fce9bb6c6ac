//! Rows from an interrupt on an nRF52840: a timer samples 25 times a second, and never waits for the serial line. The program logs what
//! waits in the ring, and sleeps.

#![no_std]
#![no_main]

#[path = "../serial.rs"]
mod serial;

use core::cell::RefCell;

use cortex_m::interrupt::Mutex;
use cortex_m::peripheral::NVIC;
use logger::interrupts::{Extents, Sampler, Samples, TYPES};
use logger::sensors::{MOTION_EVERY, Motion, motion};
use nrf52840_hal::pac::{Peripherals, TIMER0, interrupt};
use nrf52840_hal::timer::{Periodic, Timer};
use pilaster::bytes::LittleEndian;
use pilaster::dataseries::write::{Stored, Writer};

use crate::serial::Serial;

type Tick = Timer<TIMER0, Periodic>;

/// What the program gives to the interrupt.
static GIVEN: Mutex<RefCell<Option<(Sampler<'static, Motion>, Tick)>>> = Mutex::new(RefCell::new(None));

#[interrupt]
fn TIMER0() {
    static mut OWN: Option<(Sampler<'static, Motion>, Tick)> = None;
    static mut TIME: i64 = 0;
    if OWN.is_none() {
        *OWN = cortex_m::interrupt::free(|cs| GIVEN.borrow(cs).take());
    }
    if let Some((sampler, tick)) = OWN {
        tick.reset_event();
        sampler.push(motion(*TIME));
        *TIME += MOTION_EVERY;
    }
}

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut SAMPLES: Samples<Motion, 64> = Samples::new();
    static mut MEMORY: ([u8; 1024], [u8; 96]) = ([0; 1024], [0; 96]);
    let Some(board) = Peripherals::take() else { cortex_m::peripheral::SCB::sys_reset() };
    let (sampler, mut drain) = SAMPLES.split();
    let mut tick = Timer::periodic(board.TIMER0);
    tick.enable_interrupt();
    // It counts microseconds.
    tick.start(1000 * MOTION_EVERY as u32);
    cortex_m::interrupt::free(|cs| GIVEN.borrow(cs).replace(Some((sampler, tick))));
    // SAFETY: no other code masks interrupts to be alone.
    unsafe { NVIC::unmask(interrupt::TIMER0) };

    let serial = Serial::new(board.UARTE0, board.P0);
    let mut file = Writer::<LittleEndian, _, _>::with(serial, TYPES, &mut [], Stored);
    let Ok(mut extents) = Extents::new(&mut MEMORY.0, &mut MEMORY.1) else { cortex_m::peripheral::SCB::sys_reset() };
    // A file that is never finished needs no slots of an index.
    while extents.log(&mut drain, &mut file).is_ok() {
        cortex_m::asm::wfi();
    }
    cortex_m::peripheral::SCB::sys_reset()
}

/// Required because the drivers have assertions.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
