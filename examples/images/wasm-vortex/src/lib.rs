//! A minimal module with the Vortex reader. The page writes a file to `buffer()` and calls a function.

#![no_std]

use core::cell::UnsafeCell;

use entries::{Call, failed, vortex};

const ROOM: usize = 32 << 10;

struct Lent(UnsafeCell<[u8; 2 * ROOM]>);
// SAFETY: the module has one thread.
unsafe impl Sync for Lent {}

static BUFFER: Lent = Lent(UnsafeCell::new([0; 2 * ROOM]));

/// Returns the buffer for the file, `ROOM` bytes, followed by as many bytes of scratch memory.
#[unsafe(no_mangle)]
pub extern "C" fn buffer() -> *mut u8 {
    BUFFER.0.get().cast()
}

/// Reads column `column` of the file of `len` bytes in the buffer, batch by batch.
#[unsafe(no_mangle)]
pub extern "C" fn read(len: usize, column: u32) -> u32 {
    // SAFETY: one thread, and no call keeps its slices.
    let (bytes, memory) = unsafe { (*BUFFER.0.get()).split_at_mut(ROOM) };
    let call = Call { bytes: bytes.get(..len).unwrap_or_default(), memory, kind: column, row: 0 };
    vortex::read(call).unwrap_or_else(failed)
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
