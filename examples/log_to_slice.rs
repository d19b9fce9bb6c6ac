//! A logger that writes a DataSeries file into a slice, like firmware: without a heap, with memory whose size is known
//! at compile time.
//!
//! `cargo run --example log_to_slice [FILE]`. With an argument, writes the log to the file, too.

use std::error::Error;

use pilaster::bytes::{LittleEndian, Scratch, SliceSink, WriteError};
use pilaster::column::{Part, Table};
use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
use pilaster::dataseries::{File, ReadOptions, record};

record! {
    struct Alarm = "Alarm" namespace "example.org" version 1.0 {
        time: int64 relative,
        code: int32,
    }
}

record! {
    struct Reading = "Reading" namespace "example.org" version 1.0 {
        time: int64 relative,
        celsius: double,
        errors: int32 nullable,
    }
}

/// The record types of the file, in ascending order of their names.
const TYPES: Descriptions<'static> = Descriptions::of::<(Alarm, Reading)>();

fn main() -> Result<(), Box<dyn Error>> {
    // On a microcontroller these are statics: the file, an index entry for each extent, and for each type the rows that
    // are not yet written.
    let (mut flash, mut slots, mut readings, mut alarms) = ([0; 4096], [IndexSlot::EMPTY; 8], [0; 1024], [0; 64]);
    let bytes = log(&mut flash, &mut slots, &mut readings, &mut alarms)?;

    // Any DataSeries reader can open it. This one compares the types with its own, and requires memory for one extent
    // only.
    let mut memory = [0; 4096];
    let mut scratch = Scratch::new(&mut memory);
    let file = File::<LittleEndian>::open(bytes, &ReadOptions::DEFAULT, &mut scratch)?;
    let mut counts = [0; 2];
    for (count, name) in counts.iter_mut().zip(["Reading", "Alarm"]) {
        let mut table = file.table(name)?;
        while let Some(part) = table.next_part(&mut scratch.scope())? {
            *count += part.rows();
        }
    }
    assert_eq!(counts, [40, 4]);
    println!("{} readings and {} alarms in {} bytes", counts[0], counts[1], bytes.len());
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

/// Writes 40 readings and 4 alarms into `flash`, and returns the bytes of the file.
fn log<'b>(
    flash: &'b mut [u8],
    slots: &mut [IndexSlot],
    readings: &mut [u8],
    alarms: &mut [u8],
) -> Result<&'b [u8], WriteError<pilaster::Error>> {
    let mut log = Writer::<LittleEndian, _>::new(SliceSink::new(flash), TYPES, slots);
    let mut readings = ExtentBuffer::of::<Reading>(Memory::rows(readings))?;
    let mut alarms = ExtentBuffer::of::<Alarm>(Memory::rows(alarms))?;
    for i in 0..40 {
        let time = 1_700_000_000 + i;
        let failed = i % 10 == 0;
        // `push` writes the rows as an extent if the memory is full.
        log.push(&mut readings, &Reading { time, celsius: 21.5, errors: failed.then_some(3) })?;
        if failed {
            log.push(&mut alarms, &Alarm { time, code: 3 })?;
        }
    }
    log.flush(&mut readings)?;
    log.flush(&mut alarms)?;
    Ok(log.finish()?.into_written())
}
