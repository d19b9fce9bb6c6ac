//! A logger that writes a DataSeries file into a slice, like firmware: without a heap, with memory whose size is known
//! at compile time.
//!
//! `cargo run --example log_to_slice [FILE]`. With an argument, writes the log to the file, too.

use std::error::Error;

use pilaster::bytes::{LittleEndian, Scratch, SliceSink};
use pilaster::column::{Part, Table};
use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
use pilaster::dataseries::{File, ReadOptions, record};

record! {
    struct Reading = "Reading" namespace "example.org" version 1.0 {
        time: int64 relative,
        celsius: double,
        errors: int32 nullable,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // On a microcontroller these are statics: the file, an index entry for each extent, the rows that are not yet
    // written.
    let (mut flash, mut slots, mut rows) = ([0; 4096], [IndexSlot::EMPTY; 8], [0; 1024]);
    let bytes = log(&mut flash, &mut slots, &mut rows).map_err(|why| format!("the log is full: {why:?}"))?;

    // Any DataSeries reader can open it. This one compares the types with its own, and requires memory for one extent
    // only.
    let mut memory = [0; 4096];
    let mut scratch = Scratch::new(&mut memory);
    let file = File::<LittleEndian>::open(bytes, &ReadOptions::DEFAULT, &mut scratch)?;
    let (mut table, mut count) = (file.table("Reading")?, 0);
    while let Some(part) = table.next_part(&mut scratch.scope())? {
        count += part.rows();
    }
    assert_eq!(count, 40);
    println!("{count} rows in {} bytes", bytes.len());
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

/// Writes 40 rows into `flash`, and returns the bytes of the file.
fn log<'b>(
    flash: &'b mut [u8],
    slots: &mut [IndexSlot],
    rows: &mut [u8],
) -> Result<&'b [u8], pilaster::bytes::WriteError<pilaster::Error>> {
    let mut log = Writer::<LittleEndian, _>::new(SliceSink::new(flash), Descriptions::of::<Reading>(), slots);
    let mut extent = ExtentBuffer::of::<Reading>(Memory::rows(rows))?;
    for i in 0..40 {
        let reading = Reading { time: 1_700_000_000 + i, celsius: 21.5, errors: (i % 10 == 0).then_some(3) };
        // If the memory is full, writes the rows as an extent.
        if extent.push(&reading).is_err() {
            log.flush(&mut extent)?;
            extent.push(&reading)?;
        }
    }
    log.flush(&mut extent)?;
    Ok(log.finish()?.into_written())
}
