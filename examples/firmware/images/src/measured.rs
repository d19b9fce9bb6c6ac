//! Measures the stack and the instructions of a call.

use core::hint::black_box;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::Peripherals;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;

include!(concat!(env!("OUT_DIR"), "/chip.rs"));

/// Picoseconds per instruction with `-icount shift=6` of QEMU.
const INSTRUCTION_PS: u64 = 64_000;
/// The largest value of the timer, which counts down.
const MOST: u32 = 0xff_ffff;
/// Number of times that the timer has reached zero.
static ROUNDS: AtomicU32 = AtomicU32::new(0);

#[cortex_m_rt::exception]
fn SysTick() {
    ROUNDS.store(ROUNDS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// Returns the number of rounds, and the value of the timer in the last one.
fn now() -> (u32, u32) {
    loop {
        let (rounds, value) = (ROUNDS.load(Ordering::Relaxed), SYST::get_current());
        // Zero: before the first round, or before the interrupt.
        if value != 0 && rounds == ROUNDS.load(Ordering::Relaxed) {
            return (rounds, value);
        }
    }
}

/// Calls `f` and returns the number of instructions. Instructions are not cycles.
pub fn instructions(f: impl FnOnce()) -> u64 {
    // SAFETY: no other code uses the timer.
    let mut timer = unsafe { Peripherals::steal() }.SYST;
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(MOST);
    timer.clear_current();
    timer.enable_interrupt();
    timer.enable_counter();
    let (first_round, before) = now();
    f();
    let (round, after) = now();
    timer.disable_interrupt();
    let rounds = u64::from(round.wrapping_sub(first_round)) * (u64::from(MOST) + 1);
    (rounds + u64::from(before)).wrapping_sub(after.into()) * TICK_PS / INSTRUCTION_PS
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
