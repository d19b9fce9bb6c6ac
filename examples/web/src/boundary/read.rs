//! Reading: one file, opened once.

use alloc::string::String;

use super::{address, module};
use crate::session::{Source, Status};

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

/// The input is what was wanted under that number. 0 if there is no memory to note it.
#[unsafe(no_mangle)]
pub extern "C" fn give(number: u32, at: u64) -> u32 {
    module(|module| {
        let bytes = core::mem::take(&mut module.input);
        module.session.give(number as usize, at, Some(bytes)).into()
    })
}

/// There is no such file. 0 if there is no memory to note that.
#[unsafe(no_mangle)]
pub extern "C" fn absent(number: u32) -> u32 {
    module(|module| module.session.give(number as usize, 0, None).into())
}

/// Reads rows of the columns in the input.
#[unsafe(no_mangle)]
pub extern "C" fn read(table: u32, from: u64, to: u64) -> u32 {
    module(|module| {
        let (columns, _) = module.input.as_chunks();
        module.session.read(table as usize, columns, from..to) as u32
    })
}

/// Walks everything.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub extern "C" fn verify() -> u32 {
    module(|module| module.session.verify() as u32)
}

/// Describes how the file is stored.
#[cfg(feature = "check")]
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
