//! The format strings of an image, which are stored in the ELF file only, not in flash.

use std::collections::BTreeMap;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

use crate::Result;

/// The version of the frames that this program decodes, and the encoding that `images` selects.
const MARKERS: [&str; 2] = ["_defmt_version_ = 4", "_defmt_encoding_ = raw"];

/// A string that the image refers to by index: a format string with its use, e.g. `defmt_info`.
#[derive(Debug)]
pub struct Interned {
    pub tag: String,
    pub text: String,
}

/// The strings by index.
#[derive(Debug, Default)]
pub struct Table(pub BTreeMap<u16, Interned>);

impl Table {
    /// Reads the symbols of the section `.defmt`: the address of a symbol is the index, its name a JSON object.
    ///
    /// # Errors
    /// If `elf` is not an ELF file, or its messages have another version or encoding.
    pub fn parse(elf: &[u8]) -> Result<Self> {
        let file = object::File::parse(elf)?;
        for marker in MARKERS {
            if !file.symbols().any(|symbol| symbol.name() == Ok(marker)) {
                return Err(format!("the image has no symbol `{marker}`").into());
            }
        }
        let section = file.section_by_name(".defmt").ok_or("the image has no section .defmt")?.index();
        let mut strings = BTreeMap::new();
        for symbol in file.symbols().filter(|symbol| symbol.section_index() == Some(section)) {
            // Other symbols mark the bounds of the levels.
            let name = symbol.name()?;
            if name.starts_with('{') {
                let name: serde_json::Value = serde_json::from_str(name)?;
                let field =
                    |key| name.get(key).and_then(|v| v.as_str()).map(str::to_owned).ok_or("a symbol lacks a field");
                strings.insert(symbol.address().try_into()?, Interned { tag: field("tag")?, text: field("data")? });
            }
        }
        Ok(Table(strings))
    }

    /// Returns the string with `index`.
    ///
    /// # Errors
    /// If the image has no such string.
    pub fn get(&self, index: u16) -> Result<&Interned> {
        self.0.get(&index).ok_or_else(|| format!("no string has the index {index}").into())
    }
}
