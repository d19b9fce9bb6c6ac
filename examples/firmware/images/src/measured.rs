//! Measures the stack and the instructions of a call.

use core::hint::black_box;
use core::ptr;

use cortex_m::Peripherals;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;

include!(concat!(env!("OUT_DIR"), "/chip.rs"));

/// Picoseconds per instruction with `-icount shift=6` of QEMU.
const INSTRUCTION_PS: u64 = 64_000;
/// Mask of the timer, which has 24 bits and counts down.
const MASK: u32 = 0xff_ffff;

/// Calls `f` and returns the number of instructions, at most ten million. Instructions are not cycles.
pub fn instructions(f: impl FnOnce()) -> u64 {
    // SAFETY: no other code uses the timer.
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

/// Number of bytes below the stack pointer that are painted, more than any call here takes.
const DEPTH: usize = 2560;
const PAINT: u32 = 0x5ca1_ab1e;

/// Calls `f` and returns the number of bytes of stack that it took.
#[inline(never)]
pub fn stack(f: impl FnOnce()) -> usize {
    let top = cortex_m::register::msp::read() as usize & !3;
    let words = || (top.wrapping_sub(DEPTH)..top.wrapping_sub(32)).step_by(4).map(|at| at as *mut u32);
    // SAFETY: the stack grows down from the end of RAM, and no static is near it. The words next to the stack pointer
    // are not painted, because the calls here use them.
    words().for_each(|word| unsafe { ptr::write_volatile(word, PAINT) });
    black_box(f)();
    // SAFETY: as above.
    let touched = words().find(|word| unsafe { ptr::read_volatile(*word) } != PAINT);
    touched.map_or(0, |word| top.wrapping_sub(word as usize))
}

/// An image with one writer only, to measure its size.
#[macro_export]
macro_rules! only {
    ($write:path) => {
        static PAGE: $crate::Lent<rivals::Page> = $crate::Lent::new(rivals::Page::NEW);
        static LENT: $crate::Lent<rivals::Lent> = $crate::Lent::new(rivals::Lent::NEW);

        #[cortex_m_rt::entry]
        fn main() -> ! {
            let Some((page, lent)) = PAGE.take().zip(LENT.take()) else { loop {} };
            core::hint::black_box($write(page, lent, core::hint::black_box(1024)).is_ok());
            // All images contain both, and their contents count as used.
            core::hint::black_box((page, lent));
            loop {
                cortex_m::asm::wfi();
            }
        }
    };
}
