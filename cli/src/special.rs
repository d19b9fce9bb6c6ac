//! What a command has to ask of each format, because no two have the same.

use std::io::Write;

use pilaster::Error;
use pilaster::any::File;

use crate::failure::Failure;
use crate::open::{self, Input};

/// The facts that only one format has.
pub trait Special {
    /// Prints what `info` says after the lines that all files have.
    fn info(&self, input: &Input, out: &mut dyn Write) -> Result<(), Failure>;

    /// Prints the members of the document of `dump`, after those that all files have.
    fn dump(&self, input: &Input, file: &File<'_>, out: &mut dyn Write) -> Result<(), Failure>;

    /// Checks everything.
    fn verify(&self, _input: &Input, file: &File<'_>) -> Result<(), Failure> {
        open::verify(file)
    }

    /// Returns what was checked, in words.
    fn verified(&self, input: &Input, file: &File<'_>) -> Result<String, Failure>;

    /// Returns the failure of an error of the library, with what only the file knows about it.
    fn explain(&self, e: Error) -> Failure {
        Failure::Format(e)
    }

    /// Checks what `convert` would not find.
    fn before_convert(&self, _input: &Input) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns the number of leading columns that are the key.
    fn keys(&self) -> usize {
        0
    }
}
