//! The board that QEMU emulates. Messages are sent through defmt, files through semihosting, and the exit status shows
//! whether the checks passed.
//!
//! There is no allocator, and the panic handler calls an undefined function. An image that requires an allocator or can
//! panic does not link.

#![no_std]

mod awaited;
pub mod flash;
mod host;
mod kept;
mod lent;
pub mod measured;
mod messages;

pub use awaited::{Slow, block_on};
pub use host::{Failed, File, exit};
pub use kept::{kept, reset};
pub use lent::Lent;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn a_panic_survived() -> !;
    }
    // SAFETY: no image with this call links.
    unsafe { a_panic_survived() }
}
