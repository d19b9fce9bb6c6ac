//! Functions for writing: columns in, one file out.

use core::mem::take;

use pilaster::Result;
use pilaster::filo::Element;

use super::{address, module};
use crate::describe;
use crate::write::Writing;

/// Begins a column with values of a kind. Returns 0 if there is no such kind, or no memory.
#[unsafe(no_mangle)]
pub extern "C" fn column(kind: u32, rows: u32) -> u32 {
    module(|module| module.writing.column(kind, rows as usize).into())
}

/// Stores the input as a part of the column: 0 values, 1 validity, 2 spans of strings, or UTC offsets of date-times.
#[unsafe(no_mangle)]
pub extern "C" fn part(which: u32) {
    module(|module| {
        let bytes = take(&mut module.input);
        module.writing.part(which, bytes);
    });
}

/// Writes the column as a Filo vector.
#[unsafe(no_mangle)]
pub extern "C" fn filo(element: u32) -> u32 {
    make(|writing, _| match (element as usize).checked_sub(1).and_then(|k| Element::ALL.get(k)) {
        Some(element) => writing.filo(*element),
        None => Err(pilaster::Error::new(pilaster::error::Kind::Misuse, pilaster::error::What::FILO_ELEMENT, 0)),
    })
}

/// Writes the columns as a DataSeries file. The input is the XML description of their type.
#[unsafe(no_mangle)]
pub extern "C" fn dataseries(compressed: u32) -> u32 {
    make(|writing, xml| writing.series(xml, compressed != 0))
}

/// Writes the intact extents of a damaged DataSeries file, the input, as a new file.
#[unsafe(no_mangle)]
pub extern "C" fn recover() -> u32 {
    make(Writing::recover)
}

/// Returns 0 if the file is written, or 2 for an error, which is in `about`.
fn make(call: impl FnOnce(&mut Writing, alloc::vec::Vec<u8>) -> Result<()>) -> u32 {
    module(|module| {
        let input = take(&mut module.input);
        match call(&mut module.writing, input) {
            Ok(()) if module.writing.about.is_whole() => 0,
            Ok(()) => 2,
            Err(e) => {
                let json = &mut module.writing.about;
                json.clear();
                describe::error(json, &e);
                json.close(b'}');
                2
            }
        }
    })
}

/// Returns the address of the file.
#[unsafe(no_mangle)]
pub extern "C" fn made() -> u32 {
    module(|module| address(module.writing.made.as_ptr()))
}

/// Returns the length of the file in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn made_len() -> u32 {
    module(|module| module.writing.made.len() as u32)
}

/// Returns the address of the JSON about the file.
#[unsafe(no_mangle)]
pub extern "C" fn about() -> u32 {
    module(|module| address(module.writing.about.bytes().as_ptr()))
}

/// Returns the length of that JSON in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn about_len() -> u32 {
    module(|module| module.writing.about.bytes().len() as u32)
}
