//! RAM that keeps its contents over a reset.

use core::ptr;

unsafe extern "C" {
    /// Its start, after the RAM that the linker uses (see `build.rs`).
    static mut _kept: u64;
}
/// Its size in bytes.
const LEN: usize = 5 << 10;

/// Returns the value in this RAM, which is all zeros after power-on.
///
/// # Safety
/// Must be called at most once after each reset, always with the same type. Every byte pattern must be a valid value of
/// it.
pub unsafe fn kept<T: Copy>() -> &'static mut T {
    const { assert!(size_of::<T>() <= LEN && align_of::<T>() <= 8) };
    // SAFETY: nothing else uses this RAM, and the caller guarantees the rest.
    unsafe { &mut *ptr::addr_of_mut!(_kept).cast() }
}

/// Resets the machine like a power cut. Files of the host stay open.
pub fn reset() -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
