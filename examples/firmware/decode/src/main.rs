//! Prints what an image said through defmt: `decode IMAGE < what QEMU put out`.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::{env, fs, io};

use defmt_decoder::{DecodeError, Table};

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
    let table = Table::parse(&fs::read(&image)?)?.ok_or("the image has no defmt table")?;
    let (mut frames, mut input, mut out) = (table.new_stream_decoder(), [0; 4096], io::stdout().lock());
    loop {
        let len = io::stdin().read(&mut input)?;
        if len == 0 {
            return Ok(());
        }
        frames.received(&input[..len]);
        loop {
            match frames.decode() {
                Ok(frame) => writeln!(out, "{}", frame.display(false))?,
                Err(DecodeError::UnexpectedEof) => break,
                Err(DecodeError::Malformed) => return Err("a frame is malformed".into()),
            }
        }
    }
}
