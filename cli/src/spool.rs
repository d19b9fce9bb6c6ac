//! A pipe as a temporary file, for what is not read from start to end.

use std::fs;
use std::io::{self, Read, Write as _};

/// Copies the first bytes of a pipe, and the rest, to a temporary file. It has no name, so that nothing is left whatever ends the
/// process.
pub fn in_file(first: &[u8], mut rest: impl Read) -> io::Result<fs::File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(first)?;
    io::copy(&mut rest, &mut file)?;
    Ok(file)
}
