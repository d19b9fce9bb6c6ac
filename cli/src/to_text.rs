//! `convert` to CSV and JSON lines: `cat` with a file as its output.

use std::io::Write;

use pilaster::bytes::{IoSink, WriteError};
use pilaster::error::{Error, Kind, What};

use crate::args::{Convert, Form, Text};
use crate::cat;
use crate::failure::Failure;
use crate::goal::{Goal, is_gzip};
use crate::target::Target;

/// Writes the rows of a file as text. A target whose name ends with `.gz` is compressed.
pub fn convert(how: &Convert, form: Form, out: &mut dyn Write) -> Result<(), Failure> {
    let (text, mut failed) = (Text::of(how, form)?, None);
    let target = Target::file(&how.target, how.force)?;
    let len = target.fill(|IoSink(mut sink)| {
        let done = match is_gzip(&how.target) {
            false => cat::run(&text, None, &mut sink),
            true => compressed(&mut sink, |sink| cat::run(&text, None, sink)),
        };
        match done {
            Ok(()) => Ok(IoSink(sink)),
            Err(Failure::Output(e)) => Err(WriteError::Sink(e)),
            Err(failure) => {
                failed = Some(failure);
                Err(Error::new(Kind::Misuse, What::INPUT, 0).into())
            }
        }
    });
    match failed {
        Some(failure) => Err(failure),
        None if target.is_stdout() => len.map(|_| ()),
        None => Ok(writeln!(out, "{}: {} bytes of {}", how.target.display(), len?, Goal::Text(form))?),
    }
}

#[cfg(feature = "arrow")]
fn compressed(sink: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut gzip = flate2::write::GzEncoder::new(sink, flate2::Compression::default());
    write(&mut gzip)?;
    gzip.finish()?;
    Ok(())
}

#[cfg(not(feature = "arrow"))]
fn compressed(_: &mut dyn Write, _: impl FnOnce(&mut dyn Write) -> Result<(), Failure>) -> Result<(), Failure> {
    Err(Failure::Usage(format!("a file that is compressed cannot be written{}", crate::foreign::remedy("gz"))))
}
