//! A minimal module with the Filo reader. The page writes a chunk to `buffer()` and calls a function.

#![no_std]

use core::cell::UnsafeCell;

use entries::{Call, failed, filo};

const ROOM: usize = 32 << 10;

struct Lent(UnsafeCell<[u8; 2 * ROOM]>);
// SAFETY: the module has one thread.
unsafe impl Sync for Lent {}

static BUFFER: Lent = Lent(UnsafeCell::new([0; 2 * ROOM]));

/// Returns the buffer for the chunk, `ROOM` bytes, followed by as many bytes of scratch memory.
#[unsafe(no_mangle)]
pub extern "C" fn buffer() -> *mut u8 {
    BUFFER.0.get().cast()
}

/// Reads row `row` of the chunk of `len` bytes in the buffer.
#[unsafe(no_mangle)]
pub extern "C" fn get(len: usize, kind: u32, row: u32) -> u32 {
    filo::get(call(len, kind, row)).unwrap_or_else(failed)
}

/// Reads all rows of the chunk.
#[unsafe(no_mangle)]
pub extern "C" fn batches(len: usize, kind: u32) -> u32 {
    filo::batches(call(len, kind, 0)).unwrap_or_else(failed)
}

fn call(len: usize, kind: u32, row: u32) -> Call<'static> {
    // SAFETY: one thread, and no call keeps its slices.
    let (bytes, memory) = unsafe { (*BUFFER.0.get()).split_at_mut(ROOM) };
    Call { bytes: bytes.get(..len).unwrap_or_default(), memory, kind, row }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
