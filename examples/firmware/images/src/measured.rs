//! How much stack a call takes, and how many instructions.

use core::hint::black_box;
use core::ptr;

use cortex_m::Peripherals;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;

include!(concat!(env!("OUT_DIR"), "/chip.rs"));

/// Of QEMU's `-icount shift=6`: picoseconds that an instruction lasts.
const INSTRUCTION_PS: u64 = 64_000;
/// The timer has 24 bits, and counts down.
const MASK: u32 = 0xff_ffff;

/// Calls `f`; gives back the number of instructions that it took, up to ten million. They are no cycles.
pub fn instructions(f: impl FnOnce()) -> u64 {
    // SAFETY: nobody else has the timer.
    let mut timer = unsafe { Peripherals::steal() }.SYST;
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(MASK);
    timer.clear_current();
    timer.enable_counter();
    let before = SYST::get_current();
    f();
    let ticks = before.wrapping_sub(SYST::get_current()) & MASK;
    u64::from(ticks) * TICK_PS / INSTRUCTION_PS
}

/// Bytes that are painted below the stack pointer: more than any call here takes.
const DEPTH: usize = 3 << 10;
const PAINT: u32 = 0x5ca1_ab1e;

/// Calls `f`; gives back how many bytes of stack it took.
#[inline(never)]
pub fn stack(f: impl FnOnce()) -> usize {
    let top = cortex_m::register::msp::read() as usize & !3;
    let words = || (top.wrapping_sub(DEPTH)..top.wrapping_sub(32)).step_by(4).map(|at| at as *mut u32);
    // SAFETY: the stack grows down from the end of RAM, which no value comes near to. The words next to its
    // pointer stay as they are, for the calls that paint.
    words().for_each(|word| unsafe { ptr::write_volatile(word, PAINT) });
    black_box(f)();
    // SAFETY: as above.
    let touched = words().find(|word| unsafe { ptr::read_volatile(*word) } != PAINT);
    touched.map_or(0, |word| top.wrapping_sub(word as usize))
}

/// An image that writes with one writer, for its size.
#[macro_export]
macro_rules! only {
    ($write:path) => {
        static PAGE: $crate::Lent<rivals::Page> = $crate::Lent::new(rivals::Page::NEW);
        static LENT: $crate::Lent<rivals::Lent> = $crate::Lent::new(rivals::Lent::NEW);

        #[cortex_m_rt::entry]
        fn main() -> ! {
            let Some((page, lent)) = PAGE.take().zip(LENT.take()) else { loop {} };
            core::hint::black_box($write(page, lent, core::hint::black_box(1024)).is_ok());
            // All images have both, and somebody sees what is in them.
            core::hint::black_box((page, lent));
            loop {
                cortex_m::asm::wfi();
            }
        }
    };
}
