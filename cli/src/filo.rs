//! Facts about Filo vectors for `info` and `dump`.

use std::io::Write;

use pilaster::any::File;
use pilaster::filo::Packing;
use pilaster::filo::{Element, Vector};
use serde_json::{Value, json};

use crate::columns::Columns;
use crate::dump;
use crate::failure::Failure;
use crate::feed::{Chosen, Windows};
use crate::info;
use crate::open::Input;
use crate::special::Special;

impl Special for Vector<'_> {
    fn info(&self, input: &Input, out: &mut dyn Write) -> Result<(), Failure> {
        head(self, input.bytes()?, out)?;
        let (file, columns) = (File::Filo(*self), Columns::all(self, input.rules())?);
        let windows = Windows::new(input, &file, None);
        info::columns(&Chosen { windows, columns: &columns }, 0, out)
    }

    fn dump(&self, input: &Input, file: &File<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        // Every element type of Filo has a missing value, even if the encoding cannot store it.
        let heads = dump::heads(self, "filo", |_| true)?;
        let columns = Columns::all(self, input.rules())?;
        let table = Chosen { windows: Windows::new(input, file, None), columns: &columns };
        dump::table(self.rows(), &facts(self, input.bytes()?), &heads, &table, 0, out)
    }

    fn facts(&self, input: &Input) -> Result<Vec<(&'static str, Value)>, Failure> {
        Ok(facts(self, input.bytes()?))
    }

    fn verified(&self, input: &Input, _: &File<'_>) -> Result<String, Failure> {
        let (rows, size, encoding) = (self.rows(), input.len(), self.encoding());
        Ok(format!("{rows} rows, {size} bytes, filo {encoding} as {}", self.element()))
    }
}

fn head(vector: &Vector<'_>, bytes: &[u8], out: &mut dyn Write) -> Result<(), Failure> {
    let word = bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let encoding = vector.encoding();
    writeln!(out, "element   {}", element_name(vector.element()))?;
    writeln!(out, "header    0x{word:08x} ({})", vector.header().name())?;
    writeln!(out, "encoding  {encoding}")?;
    if let Some(packing) = encoding.packing() {
        let sign = match packing {
            Packing::W64 => "",
            packing if packing.signed() => ", signed",
            _ => ", unsigned",
        };
        writeln!(out, "packing   {} bits{sign}", packing.bits())?;
    }
    write!(out, "rows      {}", vector.rows())?;
    if vector.rows() > 0 {
        write!(out, ", {:.2} bytes each", bytes.len() as f64 / vector.rows() as f64)?;
    }
    writeln!(out)?;
    Ok(())
}

/// Returns the facts about a Filo vector. The view does not keep the header word: its two high bytes have no meaning,
/// except as the row count of an empty vector.
fn facts(vector: &Vector<'_>, bytes: &[u8]) -> Vec<(&'static str, Value)> {
    let word = bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let mut facts = vec![
        ("element_type", json!(element_name(vector.element()))),
        ("header", json!(format!("0x{word:08x}"))),
        ("size_bytes", json!(bytes.len())),
    ];
    if matches!(vector.element(), Element::Timestamp | Element::DateTime) {
        facts.push(("unit", json!("milliseconds since epoch")));
    }
    facts
}

/// Returns the name of the element type in the original program.
const fn element_name(element: Element) -> &'static str {
    match element {
        Element::Boolean => "Boolean",
        Element::Int => "Int",
        Element::Long => "Long",
        Element::Float => "Float",
        Element::Double => "Double",
        Element::String => "String",
        Element::Utf8 => "UTF8",
        Element::Blob => "Blob",
        Element::Timestamp => "Timestamp",
        Element::DateTime => "DateTime",
    }
}
