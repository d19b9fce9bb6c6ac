//! The parts of commands that differ between formats.

use std::io::Write;

use pilaster::Error;
use pilaster::any::File;

use crate::failure::Failure;
use crate::open::{self, Input};

/// The parts of commands that are specific to one format.
pub trait Special {
    /// Prints the output of `info` after the lines that all formats have.
    fn info(&self, input: &Input, out: &mut dyn Write) -> Result<(), Failure>;

    /// Prints the members of the document of `dump`, after the members that all formats have.
    fn dump(&self, input: &Input, file: &File<'_>, out: &mut dyn Write) -> Result<(), Failure>;

    /// Checks everything.
    fn verify(&self, _input: &Input, file: &File<'_>) -> Result<(), Failure> {
        open::verify(file)
    }

    /// Returns a description of what was checked, for the output of `verify`.
    fn verified(&self, input: &Input, file: &File<'_>) -> Result<String, Failure>;

    /// Converts an error of the library; adds details that only the file has.
    fn explain(&self, e: Error) -> Failure {
        Failure::Format(e)
    }

    /// Performs checks that `convert` itself does not make.
    fn before_convert(&self, _input: &Input) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns the number of leading columns that are the key.
    fn keys(&self) -> usize {
        0
    }
}
