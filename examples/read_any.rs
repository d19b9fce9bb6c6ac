//! Reads a file of any format: its tables, the types of their columns, and the first rows.
//!
//! `cargo run --example read_any [FILE]`. Without an argument, reads an example in memory.

use std::error::Error;

use pilaster::any::{Format, Hints, Owned};
use pilaster::bytes::LittleEndian;
use pilaster::column::{Column, Memory, Part, Table, Value, fit};
use pilaster::dataseries::record;
use pilaster::dataseries::write::{self, Descriptions, ExtentBuffer, IndexSlot, Writer};

/// Number of rows of each column that are printed.
const ROWS: u64 = 3;

record! {
    struct Tick = "Tick" namespace "example.org" version 1.0 {
        time: int64 relative,
        price: double,
        size: int32 nullable,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut owned = match std::env::args().nth(1) {
        Some(path) => Owned::open(path, &Hints::default())?,
        None => Owned::from_bytes(sample()?, Format::DataSeries, &Hints::default())?,
    };
    let file = owned.file()?;
    println!("{}", file.format());
    for name in file.tables() {
        let mut table = file.table(Some(name))?;
        // Reads one part only. The memory grows until the part fits.
        let mut memory = Memory::default();
        let part = loop {
            match table.next_part(&mut memory.scratch()) {
                Ok(part) => break part,
                Err(e) => memory.grow(e)?,
            }
        };
        let Some(part) = part else { continue };
        println!("table {name:?}, first part of {} rows", part.rows());
        for k in 0..part.width() {
            let column = part.column(k)?;
            println!("  {} {}: {}", part.name(k)?, column.ty(), first_rows(&column)?.join(", "));
        }
    }
    Ok(())
}

/// Returns the first rows of a column of any format, as text.
fn first_rows(column: &impl Column) -> pilaster::Result<Vec<String>> {
    let mut memory = Memory::with_len(1 << 16)?;
    let mut scratch = memory.scratch();
    let rows = fit(column, 0..column.rows().min(ROWS), scratch.room())?;
    let batch = column.read(rows, &mut scratch)?;
    (0..batch.len)
        .map(|i| {
            Ok(match batch.value(i)? {
                Value::Null => "missing".to_owned(),
                Value::Int(value) => value.to_string(),
                Value::F64(value) => value.to_string(),
                Value::Text(text) | Value::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
                // Dates, lists and other types, by `column.ty()`.
                other => format!("{other:?}"),
            })
        })
        .collect()
}

/// Writes a file of two rows.
fn sample() -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut slots, mut rows) = ([IndexSlot::EMPTY; 1], [0; 256]);
    let mut log = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Tick>(), &mut slots);
    let mut extent = ExtentBuffer::of::<Tick>(write::Memory::rows(&mut rows))?;
    extent.push(&Tick { time: 1000, price: 99.5, size: Some(7) })?;
    extent.push(&Tick { time: 1010, price: 99.25, size: None })?;
    log.flush(&mut extent)?;
    Ok(log.finish()?)
}
