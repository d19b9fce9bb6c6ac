//! Writing: columns in, one file out.

use core::mem::take;

use pilaster::Result;
use pilaster::filo::Element;

use super::{address, module};
use crate::describe;
use crate::write::Writing;

/// The next column, of values of a kind of the tape; whether there is such a kind.
#[unsafe(no_mangle)]
pub extern "C" fn column(kind: u32, rows: u32) -> u32 {
    module(|module| module.writing.column(kind, rows as usize).into())
}

/// The input is a part of that column: 0 its values, 1 its validity, 2 where its strings lie, or the offsets of its instants.
#[unsafe(no_mangle)]
pub extern "C" fn part(which: u32) {
    module(|module| {
        let bytes = take(&mut module.input);
        module.writing.part(which, bytes);
    });
}

/// Makes a Filo vector of the column.
#[unsafe(no_mangle)]
pub extern "C" fn filo(element: u32) -> u32 {
    make(|writing, _| match (element as usize).checked_sub(1).and_then(|k| Element::ALL.get(k)) {
        Some(element) => writing.filo(*element),
        None => Err(pilaster::Error::new(pilaster::error::Kind::Misuse, pilaster::error::What::FILO_ELEMENT, 0)),
    })
}

/// Makes a DataSeries file of the columns; the input is the XML description of their type.
#[unsafe(no_mangle)]
pub extern "C" fn dataseries(compressed: u32) -> u32 {
    make(|writing, xml| writing.series(xml, compressed != 0))
}

/// Makes a DataSeries file of what is whole in the one that is the input.
#[unsafe(no_mangle)]
pub extern "C" fn recover() -> u32 {
    make(Writing::recover)
}

/// 0 if the file is made, 2 if `about` says why it is not.
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

/// Where the file lies.
#[unsafe(no_mangle)]
pub extern "C" fn made() -> u32 {
    module(|module| address(module.writing.made.as_ptr()))
}

/// How long it is.
#[unsafe(no_mangle)]
pub extern "C" fn made_len() -> u32 {
    module(|module| module.writing.made.len() as u32)
}

/// Where the JSON about it lies.
#[unsafe(no_mangle)]
pub extern "C" fn about() -> u32 {
    module(|module| address(module.writing.about.bytes().as_ptr()))
}

/// How long that is.
#[unsafe(no_mangle)]
pub extern "C" fn about_len() -> u32 {
    module(|module| module.writing.about.bytes().len() as u32)
}
