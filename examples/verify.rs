//! Verifies an untrusted file: reads all of it, and reports the first error.
//!
//! `cargo run --example verify [FILE]`. Without an argument, verifies damaged copies of an example.

use std::error::Error;
use std::process::ExitCode;

use pilaster::any::{FileError, Format, Hints, Owned};
use pilaster::bytes::LittleEndian;
use pilaster::column::Memory;
use pilaster::dataseries::record;
use pilaster::dataseries::write::{self, Descriptions, ExtentBuffer, IndexSlot, Writer};

record! {
    struct Tick = "Tick" namespace "example.org" version 1.0 {
        time: int64,
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(path) = std::env::args().nth(1) {
        // The error of opening already names the file.
        let opened = Owned::open(&path, &Hints::default()).map_err(|why| why.to_string());
        let verdict = opened.and_then(|mut owned| verify(&mut owned).map_err(|why| format!("{path}: {why}")));
        return Ok(match verdict {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                println!("{why}");
                ExitCode::FAILURE
            }
        });
    }
    let sound = sample()?;
    verify(&mut Owned::from_bytes(sound.clone(), Format::DataSeries, &Hints::default())?)?;
    // Damages each byte of a copy. The result is an error at most, never a panic.
    let mut refused = 0;
    for at in 0..sound.len() {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x10;
        let opened = Owned::from_bytes(damaged, Format::DataSeries, &Hints::default());
        let verdict = opened.map_err(Into::into).and_then(|mut owned| verify(&mut owned));
        refused += usize::from(verdict.is_err());
        if let (0, Err(why)) = (at % 100, verdict) {
            println!("byte {at}: {why}");
        }
    }
    println!("{refused} of {} damaged files are refused", sound.len());
    Ok(ExitCode::SUCCESS)
}

/// Reads all of a file. The work is bounded by its size, not by numbers in the file.
fn verify(owned: &mut Owned<'_>) -> Result<(), Box<dyn Error>> {
    let file = owned.file()?;
    let mut memory = Memory::default();
    loop {
        match file.verify(&mut memory.scratch()) {
            // `grow` returns every error except one about too little memory.
            Err(FileError::Format(e)) => memory.grow(e)?,
            verdict => return Ok(verdict?),
        }
    }
}

/// Writes a file of one row.
fn sample() -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut slots, mut rows) = ([IndexSlot::EMPTY; 1], [0; 64]);
    let mut log = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Tick>(), &mut slots);
    let mut extent = ExtentBuffer::of::<Tick>(write::Memory::rows(&mut rows))?;
    extent.push(&Tick { time: 1000 })?;
    log.flush(&mut extent)?;
    Ok(log.finish()?)
}
