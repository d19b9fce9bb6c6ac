//! Converts a table of any format to a Jay file.
//!
//! `cargo run --example convert [FILE TARGET.jay]`. Without arguments, converts an example in memory.

use std::error::Error;

use pilaster::any::{Format, Hints, Owned};
use pilaster::bytes::Scratch;
use pilaster::column::{Memory, Table, convert};
use pilaster::filo::{Element, write};
use pilaster::jay;

fn main() -> Result<(), Box<dyn Error>> {
    if let [_, source, target] = &*std::env::args().collect::<Vec<_>>() {
        let bytes = to_jay(&mut Owned::open(source, &Hints::default())?)?;
        println!("{} bytes of Jay", bytes.len());
        return Ok(std::fs::write(target, bytes)?);
    }
    // Converts a Filo vector of four integers, and reads them from the Jay file.
    let rows = write::Rows::all(write::Plain::Int(&[1, 2, -5, 101]));
    let mut chunk = vec![0; 64];
    let len = write::encode_auto(&rows, &mut chunk, &mut Scratch::new(&mut []))?;
    chunk.truncate(len);
    let hints = Hints { element: Some(Element::Int), ..Hints::default() };
    let bytes = to_jay(&mut Owned::from_bytes(chunk, Format::Filo, &hints)?)?;
    let mut back = Owned::from_bytes(bytes, Format::Jay, &Hints::default())?;
    let values: Vec<i32> = back.file()?.table(None)?.to_vec("v")?;
    assert_eq!(values, [1, 2, -5, 101]);
    println!("{values:?}");
    Ok(())
}

/// Converts the only table of a file to a Jay file.
fn to_jay(owned: &mut Owned<'_>) -> Result<Vec<u8>, Box<dyn Error>> {
    let file = owned.file()?;
    let mut table = file.table(None)?;
    // Memory for one part at a time, and for a batch of its rows.
    let mut memory = Memory::with_len(file.need()?.saturating_add(1 << 20))?;
    // A type that Jay cannot store is an error that names the column.
    let mut builder = jay::write::Builder::new(Vec::new(), &jay::write::WriteOptions::DEFAULT)?;
    convert(&mut table, &mut builder, &mut memory.scratch())?;
    Ok(builder.finish()?)
}
