//! The functions that the page calls, and all that is not safe here: their names, and that there is one thread.

#![allow(unsafe_code, reason = "exported names, and one thread; see each place")]

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use crate::pieces::memory;
use crate::session::{Session, Source, Status};

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// The page throws an error that says so, and the instance is not used any more. No input leads here.
#[cfg(target_family = "wasm")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

struct Module {
    input: Vec<u8>,
    session: Session,
}

struct OneThread(RefCell<Option<Module>>);
// SAFETY: a module of WebAssembly without shared memory has one thread.
unsafe impl Sync for OneThread {}

static MODULE: OneThread = OneThread(RefCell::new(None));

/// The module, made by the first call. It has no imports, so no call comes during another.
fn module<T>(call: impl FnOnce(&mut Module) -> T) -> T {
    let new = || Module { input: Vec::new(), session: Session::default() };
    call(MODULE.0.borrow_mut().get_or_insert_with(new))
}

fn address(bytes: *const u8) -> u32 {
    bytes as usize as u32
}

// SAFETY of the names below: nothing else in the module is called so.

/// Lends `len` bytes to write into; 0 if there are none.
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

/// Says what the file is. Flags: 1 a directory, 2 from the front, 4 with tolerance.
#[unsafe(no_mangle)]
pub extern "C" fn file(len: u64, flags: u32, element: u32) {
    module(|module| {
        let name = String::from_utf8(core::mem::take(&mut module.input)).unwrap_or_default();
        let _ = element;
        module.session.source = Source {
            len,
            name,
            directory: flags & 1 != 0,
            sequential: flags & 2 != 0,
            tolerant: flags & 4 != 0,
            #[cfg(feature = "filo")]
            element: (element as usize).checked_sub(1).and_then(|k| pilaster::filo::Element::ALL.get(k).copied()),
        };
    });
}

/// Opens the file.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> u32 {
    module(|module| module.session.open() as u32)
}

/// The input is what was wanted under that number.
#[unsafe(no_mangle)]
pub extern "C" fn give(number: u32, at: u64) {
    module(|module| {
        let bytes = core::mem::take(&mut module.input);
        module.session.give(number as usize, at, Some(bytes));
    });
}

/// There is no such file.
#[unsafe(no_mangle)]
pub extern "C" fn absent(number: u32) {
    module(|module| module.session.give(number as usize, 0, None));
}

/// Reads rows of the columns in the input.
#[unsafe(no_mangle)]
pub extern "C" fn read(table: u32, from: u64, to: u64) -> u32 {
    module(|module| {
        let words = module.input.as_chunks::<4>().0;
        let columns: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        module.session.read(table as usize, &columns, from..to) as u32
    })
}

/// Walks everything.
#[unsafe(no_mangle)]
pub extern "C" fn verify() -> u32 {
    module(|module| module.session.verify() as u32)
}

/// Describes how the file is stored.
#[unsafe(no_mangle)]
pub extern "C" fn info() -> u32 {
    module(|module| module.session.info() as u32)
}

/// Where the reply lies.
#[unsafe(no_mangle)]
pub extern "C" fn reply() -> u32 {
    module(|module| address(module.session.reply.bytes().as_ptr()))
}

/// How long the reply is.
#[unsafe(no_mangle)]
pub extern "C" fn reply_len() -> u32 {
    module(|module| module.session.reply.bytes().len() as u32)
}

/// Where the tape lies.
#[unsafe(no_mangle)]
pub extern "C" fn tape() -> u32 {
    module(|module| address(module.session.tape.words.as_ptr().cast()))
}

/// How many words the tape has.
#[unsafe(no_mangle)]
pub extern "C" fn tape_len() -> u32 {
    module(|module| module.session.tape.words.len() as u32)
}

const _: () = assert!(Status::More as u32 == 3);
