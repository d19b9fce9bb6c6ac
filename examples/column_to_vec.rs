//! Reads one column of a file of any format into a `Vec`.
//!
//! `cargo run --example column_to_vec [FILE COLUMN]`. Without arguments, reads an example in memory.

use std::error::Error;

use pilaster::any::{Format, Hints, Owned};
use pilaster::bytes::Scratch;
use pilaster::column::Table;
use pilaster::filo::{Element, write};

fn main() -> Result<(), Box<dyn Error>> {
    if let [_, path, column] = &*std::env::args().collect::<Vec<_>>() {
        // `Option`, because rows of an arbitrary file may be missing.
        let mut owned = Owned::open(path, &Hints::default())?;
        let values: Vec<Option<f64>> = owned.file()?.table(None)?.to_vec(column)?;
        println!("{values:?}");
        return Ok(());
    }
    // A Filo vector stores neither its element type nor the name of its column, which is called `v`.
    let hints = Hints { element: Some(Element::Int), ..Hints::default() };
    let mut owned = Owned::from_bytes(sample()?, Format::Filo, &hints)?;
    let file = owned.file()?;
    // 32-bit integers can be read as any wider type.
    let values: Vec<i64> = file.table(None)?.to_vec("v")?;
    assert_eq!(values, [1, 2, -5, 101]);
    println!("{values:?}");
    // Any other type is an error, which names the type of the column.
    let e = file.table(None)?.to_vec::<u8>("v").unwrap_err();
    assert_eq!(e.to_string(), "column of int32 cannot be read as the type asked for");
    let e = file.table(None)?.to_vec::<i64>("price").unwrap_err();
    assert_eq!(e.to_string(), "no column is called \"price\"");
    Ok(())
}

/// Encodes a vector of four integers.
fn sample() -> pilaster::Result<Vec<u8>> {
    let rows = write::Rows::all(write::Plain::Int(&[1, 2, -5, 101]));
    let mut chunk = vec![0; 64];
    let len = write::encode_auto(&rows, &mut chunk, &mut Scratch::new(&mut []))?;
    chunk.truncate(len);
    Ok(chunk)
}
