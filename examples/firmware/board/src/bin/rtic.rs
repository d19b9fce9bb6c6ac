//! The logger of `interrupts.rs` with RTIC: a task of the timer's interrupt samples, and `idle` logs what waits. Neither waits for the other.

#![no_std]
#![no_main]

#[path = "../serial.rs"]
mod serial;

use logger::interrupts::{Drain, Extents, Sampler, Samples, TYPES};
use logger::sensors::{MOTION_EVERY, Motion, motion};
use nrf52840_hal::pac::TIMER0;
use nrf52840_hal::timer::{Periodic, Timer};

use crate::serial::Serial;

#[rtic::app(device = nrf52840_hal::pac)]
mod app {
    use pilaster::bytes::LittleEndian;
    use pilaster::dataseries::write::{Stored, Writer};

    use super::{
        Drain, Extents, MOTION_EVERY, Motion, Periodic, Sampler, Samples, Serial, TIMER0, TYPES, Timer, motion,
    };

    #[shared]
    struct Shared {}

    #[local]
    struct Local {
        sampler: Sampler<'static, Motion>,
        drain: Drain<'static, Motion>,
        tick: Timer<TIMER0, Periodic>,
        serial: Option<Serial>,
        time: i64,
    }

    #[init(local = [samples: Samples<Motion, 64> = Samples::new()])]
    fn init(context: init::Context) -> (Shared, Local) {
        let (sampler, drain) = context.local.samples.split();
        let board = context.device;
        let mut tick = Timer::periodic(board.TIMER0);
        tick.enable_interrupt();
        // It counts microseconds.
        tick.start(1000 * MOTION_EVERY as u32);
        let serial = Serial::new(board.UARTE0, board.P0);
        (Shared {}, Local { sampler, drain, tick, serial: Some(serial), time: 0 })
    }

    /// A row every 40 milliseconds, whatever `idle` does.
    #[task(binds = TIMER0, local = [sampler, tick, time])]
    fn sample(context: sample::Context) {
        let sample::LocalResources { sampler, tick, time, .. } = context.local;
        tick.reset_event();
        sampler.push(motion(*time));
        *time += MOTION_EVERY;
    }

    #[idle(local = [drain, serial, memory: ([u8; 1024], [u8; 96]) = ([0; 1024], [0; 96])])]
    fn idle(context: idle::Context) -> ! {
        let idle::LocalResources { drain, serial, memory, .. } = context.local;
        let (Some(serial), Ok(mut extents)) = (serial.take(), Extents::new(&mut memory.0, &mut memory.1)) else {
            cortex_m::peripheral::SCB::sys_reset()
        };
        // A file that is never finished needs no slots of an index.
        let mut file = Writer::<LittleEndian, _, _>::with(serial, TYPES, &mut [], Stored);
        while extents.log(drain, &mut file).is_ok() {
            cortex_m::asm::wfi();
        }
        cortex_m::peripheral::SCB::sys_reset()
    }
}

/// Required because the drivers have assertions.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
