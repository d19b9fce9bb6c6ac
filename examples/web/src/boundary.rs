//! The functions that the page calls. The unsafe code of this crate is here, except the heap: exported names, and a
//! static for one thread.

#![allow(unsafe_code, reason = "exported names, and a static for one thread")]

#[cfg(feature = "read")]
mod read;
#[cfg(feature = "write")]
mod write;

use alloc::vec::Vec;
use core::cell::RefCell;

use crate::heap::memory;
#[cfg(feature = "read")]
use crate::session::Session;
#[cfg(feature = "write")]
use crate::write::Writing;

/// Traps. The page then throws an error and no longer uses the instance. No input leads here.
#[cfg(target_family = "wasm")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

struct Module {
    input: Vec<u8>,
    #[cfg(feature = "read")]
    session: Session,
    #[cfg(feature = "write")]
    writing: Writing,
}

/// A value of a static.
pub struct OneThread<T>(pub T);
// SAFETY: a module of WebAssembly without shared memory has one thread.
unsafe impl<T> Sync for OneThread<T> {}

static MODULE: OneThread<RefCell<Module>> = OneThread(RefCell::new(Module {
    input: Vec::new(),
    #[cfg(feature = "read")]
    session: Session::new(),
    #[cfg(feature = "write")]
    writing: Writing::new(),
}));

/// Calls a function with the module. The module has no imports, so calls cannot be nested.
fn module<T>(call: impl FnOnce(&mut Module) -> T) -> T {
    call(&mut MODULE.0.borrow_mut())
}

fn address(bytes: *const u8) -> u32 {
    bytes as usize as u32
}

// SAFETY of the names: no other symbol of the module has one of them.

/// Returns the address of `len` bytes for input, or 0 if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: u32) -> u32 {
    module(|module| {
        module.input = Vec::new();
        let Ok(bytes) = memory(u64::from(len).max(1)) else { return 0 };
        module.input = bytes;
        module.input.truncate(len as usize);
        address(module.input.as_ptr())
    })
}
