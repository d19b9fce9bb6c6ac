//! The errors of a command, and their exit status.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::is_separator;

use pilaster::any::FileError;

use crate::escape::escaped;

/// An error that stops a command.
#[derive(Debug)]
pub enum Failure {
    /// The call is bad: status 2.
    Usage(String),
    /// A Filo vector lacks its element type: status 2.
    Untyped(String),
    /// The input is bad, by an error of the library: status 1.
    Format(pilaster::Error),
    /// The input is bad: status 1.
    Input(String),
    /// Writing the target failed, which the text names: status 1.
    Target(String, io::Error),
    /// Writing to standard output failed: status 1, or 0 if its reader has closed it.
    Output(io::Error),
    /// Errors of several files, which were printed: status 1.
    Printed,
    /// Errors of several files that only lack an option, which were printed: status 2.
    PrintedUsage,
}

impl Failure {
    /// Returns the failure of a file: `error` with its path.
    pub fn of_file(path: &std::path::Path, error: impl fmt::Display) -> Self {
        Failure::Input(format!("{}: {error}", path.display()))
    }

    /// Returns the failure with the name of the file that it is about. An error of a file of a dataset begins with the
    /// path of the dataset already.
    pub fn of(self, path: impl fmt::Display) -> Self {
        let path = path.to_string();
        let is_named = |message: &str| {
            let rest = message.strip_prefix(&path);
            rest.is_some_and(|rest| path.ends_with(is_separator) || rest.starts_with(|c| c == ':' || is_separator(c)))
        };
        match self {
            Failure::Format(e) => Failure::Input(format!("{path}: {e}")),
            Failure::Input(message) if !is_named(&message) => Failure::Input(format!("{path}: {message}")),
            other => other,
        }
    }

    /// Returns the text about the input or the call; `None` if neither is bad, or if it was printed.
    pub fn text(&self) -> Option<String> {
        let is_about = !matches!(self, Failure::Output(_) | Failure::Printed | Failure::PrintedUsage);
        is_about.then(|| self.to_string())
    }

    /// Returns the failure of one row of column `name`.
    pub fn in_row(name: &str, row: u64, error: impl fmt::Display) -> Self {
        Failure::Input(format!("column {name}, row {row}: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Format(e) => e.fmt(f),
            Failure::Input(text) | Failure::Usage(text) | Failure::Untyped(text) | Failure::Target(text, _) => {
                f.write_str(text)
            }
            Failure::Output(e) => write!(f, "standard output: {e}"),
            Failure::Printed | Failure::PrintedUsage => f.write_str("several files have errors, which were printed"),
        }
    }
}

impl std::error::Error for Failure {}

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

/// Prints the line about a failure. Returns the exit status.
pub fn end(done: Result<(), Failure>) -> u8 {
    match done {
        Ok(()) => 0,
        Err(Failure::Output(e)) if e.kind() == ErrorKind::BrokenPipe => 0,
        Err(failure) => {
            print(&failure);
            let usage = matches!(failure, Failure::Usage(_) | Failure::Untyped(_) | Failure::PrintedUsage);
            if usage { 2 } else { 1 }
        }
    }
}

/// Prints the line about a failure.
pub fn print(failure: &Failure) {
    if !matches!(failure, Failure::Printed | Failure::PrintedUsage) {
        warn(&failure.to_string());
    }
}

/// Prints a line on standard error.
pub fn warn(line: &str) {
    // An error of standard error cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "pilaster: {}", escaped(line));
}
