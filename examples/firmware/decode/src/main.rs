//! Prints the messages that an image sent through defmt: `decode IMAGE < OUTPUT_OF_QEMU`.
//!
//! Decodes what the images here send: no timestamps, no floats, one hint (`:?`). `defmt-print` decodes everything.

mod frames;
mod table;

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::{env, fs, io};

use frames::Frames;
use table::Table;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match decode() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("decode: {e}");
            ExitCode::FAILURE
        }
    }
}

fn decode() -> Result<()> {
    let image = env::args_os().nth(1).ok_or("usage: decode IMAGE < FRAMES")?;
    let table = Table::parse(&fs::read(&image)?)?;
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input)?;
    let (mut frames, mut out) = (Frames::new(&table, &input), io::stdout().lock());
    while let Some(message) = frames.next()? {
        writeln!(out, "{message}")?;
    }
    Ok(())
}
