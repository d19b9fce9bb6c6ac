//! The parts of commands that differ between formats.

use std::io::Write;

use pilaster::Error;
use pilaster::any::File;
use pilaster::column::Memory;
use serde_json::Value;

use crate::budget;
use crate::detect;
use crate::failure::Failure;
use crate::open::{self, Input};
use crate::sources::Source;
use crate::tables::{self, Table};

/// The parts of commands that are specific to one format.
pub trait Special: Sync {
    /// Prints the lines of `info --verbose` about how the file is stored.
    fn info(&self, input: &Input, out: &mut dyn Write) -> Result<(), Failure>;

    /// Returns the tables with their columns, as far as they are known without reading rows.
    fn tables(&self, input: &Input, file: &File<'_>) -> Result<Vec<Table>, Failure> {
        tables::tables(input, file)
    }

    /// Returns the facts that `dump` prints, for `info --json --verbose`.
    fn facts(&self, _input: &Input) -> Result<Vec<(&'static str, Value)>, Failure> {
        Ok(Vec::new())
    }

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
        budget::explain(e)
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

/// Opens a file for `act`. Errors name the file.
pub fn with_file(
    source: &Source,
    act: impl FnOnce(&Input<'_>, &File<'_>, &dyn Special) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let run = || {
        let input = detect::load(source, None)?;
        let mut memory = Memory::default();
        let file = input.open(&mut memory).map_err(|failure| input.failure(failure))?;
        let special = special(&file);
        let done = act(&input, &file, special).map_err(|failure| match input.failure(failure) {
            Failure::Format(e) => special.explain(e),
            other => other,
        });
        input.report();
        done
    };
    run().map_err(|failure: Failure| failure.of(&source.path))
}

/// Returns the implementation for the format of `file`.
pub fn special<'f>(file: &'f File<'f>) -> &'f dyn Special {
    match file {
        File::Filo(vector) => vector,
        File::DataSeries(series) => series,
        File::Bcolz(chunk, _) => chunk,
        File::Dataset(dataset) => *dataset,
        File::Jay(frame) => frame,
        File::Vortex(vortex) => vortex,
    }
}
