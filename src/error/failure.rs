//! Errors that name a file.

use std::borrow::ToOwned;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::Error;

/// An error of a file, or of one of the files of a dataset.
///
/// ```
/// use pilaster::error::{Cause, Failure};
///
/// /// Whether a dataset is damaged, and not only absent.
/// fn damaged(failure: &Failure) -> bool {
///     match &failure.cause {
///         Cause::Io(e) => e.kind() != std::io::ErrorKind::NotFound,
///         Cause::Format(_) => true,
///         _ => true,
///     }
/// }
///
/// # #[cfg(feature = "bcolz")] {
/// let failure = pilaster::bcolz::Dataset::open("no-such-directory").unwrap_err();
/// assert!(!damaged(&failure) && failure.path.starts_with("no-such-directory"));
/// assert!(failure.to_string().starts_with("no-such-directory"));
/// # }
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Failure {
    /// The path of the file; of a file of a dataset, the path that the dataset was opened by, joined with its name.
    #[cfg_attr(feature = "defmt", defmt(Debug2Format))]
    pub path: PathBuf,
    /// The error.
    pub cause: Cause,
}

/// The error of a file.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Cause {
    /// The file cannot be read or written. Most often it does not exist.
    Io(#[cfg_attr(feature = "defmt", defmt(Display2Format))] io::Error),
    /// The bytes of the file are invalid, or the values cannot be written in its format.
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
