//! What is wrong with a file, and which one it is.

use std::borrow::ToOwned;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::Error;

/// What is wrong with a file or with one of a dataset's files, and which one it is.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Failure {
    /// The file, under the path that it or its dataset was opened by.
    #[cfg_attr(feature = "defmt", defmt(Debug2Format))]
    pub path: PathBuf,
    /// What is wrong with it.
    pub cause: Cause,
}

/// What is wrong with a file.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Cause {
    /// It cannot be read or written; above all, it is not there.
    Io(#[cfg_attr(feature = "defmt", defmt(Display2Format))] io::Error),
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

#[allow(dead_code, reason = "not where no format is in the build")]
impl Failure {
    pub(crate) fn io(path: &Path, e: io::Error) -> Self {
        Failure { path: path.to_owned(), cause: Cause::Io(e) }
    }

    pub(crate) fn format(path: &Path, e: Error) -> Self {
        Failure { path: path.to_owned(), cause: Cause::Format(e) }
    }
}
