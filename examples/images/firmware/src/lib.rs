//! The code that the images share. There is no allocator: an image whose entry requires one does not link.

#![no_std]

use core::hint::black_box;

use entries::{Call, Entry};

/// Runs one entry on memory with arbitrary contents. It is the same in every image, so that the size of an entry is the
/// difference to the empty image.
#[inline(never)]
pub fn run(entry: Entry) -> ! {
    // SAFETY: the upper half of the RAM of the board, which the linker does not use (see build.rs).
    let (bytes, memory) = unsafe {
        (
            core::slice::from_raw_parts(black_box(0x2020_0000 as *const u8), black_box(4096)),
            core::slice::from_raw_parts_mut(black_box(0x2030_0000 as *mut u8), black_box(4096)),
        )
    };
    black_box(entry(Call { bytes, memory, kind: black_box(1), row: black_box(0) }).is_ok());
    loop {
        cortex_m::asm::wfi();
    }
}

/// An image of one entry.
#[macro_export]
macro_rules! image {
    ($entry:path) => {
        #[cortex_m_rt::entry]
        fn main() -> ! {
            $crate::run($entry)
        }

        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            loop {}
        }
    };
}
