//! RAM that a reset leaves as it is.

use core::ptr;

unsafe extern "C" {
    /// Where it begins: behind the RAM that the linker fills (see `build.rs`).
    static mut _kept: u64;
}
/// How much there is.
const LEN: usize = 5 << 10;

/// The value that lies there, zeros when the machine is switched on.
///
/// # Safety
/// To be called once after each reset, always with the same type, and one of which all bytes are values.
pub unsafe fn kept<T: Copy>() -> &'static mut T {
    const { assert!(size_of::<T>() <= LEN && align_of::<T>() <= 8) };
    // SAFETY: nothing else lies there, and the caller sees to the rest.
    unsafe { &mut *ptr::addr_of_mut!(_kept).cast() }
}

/// Resets the machine, as a power cut does. Files of the host stay open.
pub fn reset() -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
