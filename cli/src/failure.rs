//! The errors of a command, and their exit status.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use pilaster::any::FileError;

use crate::escape::escaped;

/// An error that stops a command.
#[derive(Debug)]
pub enum Failure {
    /// The call is bad: status 2.
    Usage(String),
    /// The input is bad, by an error of the library: status 1.
    Format(pilaster::Error),
    /// The input is bad: status 1.
    Input(String),
    /// Writing to standard output failed: status 1, or 0 if its reader has closed it.
    Output(io::Error),
}

impl Failure {
    /// Returns the failure of a file: `error` with its path.
    pub fn of_file(path: &std::path::Path, error: impl fmt::Display) -> Self {
        Failure::Input(format!("{}: {error}", path.display()))
    }

    /// Returns the failure of one row of column `name`.
    pub fn in_row(name: &str, row: u64, error: impl fmt::Display) -> Self {
        Failure::Input(format!("column {name}, row {row}: {error}"))
    }
}

impl From<pilaster::Error> for Failure {
    fn from(error: pilaster::Error) -> Self {
        Failure::Format(error)
    }
}

impl From<pilaster::bcolz::Failure> for Failure {
    fn from(failure: pilaster::bcolz::Failure) -> Self {
        Failure::Input(failure.to_string())
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Format(e) => e.into(),
            FileError::Dataset(failure) => failure.into(),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// Prints a failure in one line, and returns the exit status.
pub fn end(done: Result<(), Failure>, name: &str) -> ExitCode {
    let (status, line) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Output(e)) if e.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Output(e)) => (1, format!("standard output: {e}")),
        Err(Failure::Format(e)) => (1, format!("{name}: {e}")),
        Err(Failure::Input(message)) => (1, format!("{name}: {message}")),
        Err(Failure::Usage(message)) => (2, message),
    };
    warn(&line);
    ExitCode::from(status)
}

/// Prints a line on standard error.
pub fn warn(line: &str) {
    // An error of standard error cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "pilaster: {}", escaped(line));
}
