//! `verify`: walks everything.

use std::io::Write;

use pilaster::any::File;

use crate::Failure;
use crate::open::Input;

pub fn run(input: &Input, file: &File<'_>, out: &mut impl Write) -> Result<(), Failure> {
    file.verify()?;
    match file {
        File::Filo(vector) => writeln!(
            out,
            "{}: ok, {} rows, {} bytes, filo {} as {}",
            input.path,
            vector.rows(),
            input.bytes.len(),
            vector.encoding(),
            vector.element()
        )?,
    }
    Ok(())
}
