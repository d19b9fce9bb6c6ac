//! Functions for reading. An instance opens one file once.

use alloc::string::String;

use super::{address, module};
use crate::session::{Source, Status};

/// Sets the file to open. Flags: 1 a directory, 2 sequential, 4 tolerant.
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

/// Stores the input as the requested bytes `number`, starting at offset `at`. Returns 0 if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn give(number: u32, at: u64) -> u32 {
    module(|module| {
        let bytes = core::mem::take(&mut module.input);
        module.session.give(number as usize, at, Some(bytes)).into()
    })
}

/// Notes that the requested file `number` does not exist. Returns 0 if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn absent(number: u32) -> u32 {
    module(|module| module.session.give(number as usize, 0, None).into())
}

/// Reads rows of the columns whose numbers are in the input.
#[cfg(feature = "rows")]
#[unsafe(no_mangle)]
pub extern "C" fn read(table: u32, from: u64, to: u64) -> u32 {
    module(|module| {
        let (columns, _) = module.input.as_chunks();
        module.session.read(table as usize, columns, from..to) as u32
    })
}

/// Verifies the file.
#[cfg(feature = "verify")]
#[unsafe(no_mangle)]
pub extern "C" fn verify() -> u32 {
    module(|module| module.session.verify() as u32)
}

/// Describes how the file is stored.
#[cfg(feature = "info")]
#[unsafe(no_mangle)]
pub extern "C" fn info() -> u32 {
    module(|module| module.session.info() as u32)
}

/// Returns the address of the reply.
#[unsafe(no_mangle)]
pub extern "C" fn reply() -> u32 {
    module(|module| address(module.session.reply.bytes().as_ptr()))
}

/// Returns the length of the reply in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn reply_len() -> u32 {
    module(|module| module.session.reply.bytes().len() as u32)
}

/// Returns the address of the tape.
#[cfg(feature = "rows")]
#[unsafe(no_mangle)]
pub extern "C" fn tape() -> u32 {
    module(|module| address(module.session.tape.words.as_ptr().cast()))
}

/// Returns the length of the tape in words.
#[cfg(feature = "rows")]
#[unsafe(no_mangle)]
pub extern "C" fn tape_len() -> u32 {
    module(|module| module.session.tape.words.len() as u32)
}

const _: () = assert!(Status::More as u32 == 3);
