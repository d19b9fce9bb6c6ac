//! What is wrong with a file of a dataset.

use std::borrow::ToOwned;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, What};

/// What is wrong with a dataset, and with which of its files.
#[derive(Debug)]
pub struct Failure {
    /// The file, under the path that the dataset was opened by.
    pub path: PathBuf,
    /// What is wrong with it.
    pub cause: Cause,
}

/// What is wrong with a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause {
    /// It cannot be read or written; above all, it is not there.
    Io(io::Error),
    /// Its bytes are wrong.
    Format(Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.cause {
            Cause::Io(e) => e.fmt(f),
            Cause::Format(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Cause::Io(e) => Some(e),
            Cause::Format(e) => Some(e),
        }
    }
}

impl Failure {
    pub(super) fn io(path: &Path, e: io::Error) -> Self {
        Failure { path: path.to_owned(), cause: Cause::Io(e) }
    }

    pub(super) fn format(path: &Path, e: Error) -> Self {
        Failure { path: path.to_owned(), cause: Cause::Format(e) }
    }

    /// What the traits of [`column`](crate::column) say of it; `number` stands for the file.
    pub(super) fn error(&self, number: u64) -> Error {
        match self.cause {
            Cause::Format(e) => e,
            Cause::Io(_) => Error::new(Kind::Truncated, What::BcolzFile, number),
        }
    }
}
