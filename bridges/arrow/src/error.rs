//! Errors of the bridge.

use std::{fmt, io};

use arrow_schema::ArrowError;
use pilaster::any::Format;
use pilaster::error::{Kind, What};

/// Why a table cannot be read as Arrow, or Arrow not as a table.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file is invalid, or the call is.
    File(pilaster::Error),
    /// A column is invalid, or its name is unknown.
    Column {
        /// The name of the column.
        column: String,
        /// The reason.
        error: Box<Error>,
    },
    /// Arrow cannot represent the values, or refuses them: text that is not UTF-8, for instance.
    Arrow(ArrowError),
    /// A type that Arrow does not have.
    Unsupported(String),
    /// A number of items, or of bytes, that offsets of 32 bits do not reach.
    Offsets(u64),
    /// A type that a file format of Arrow's values does not have.
    Lacking {
        /// The name of the format.
        format: &'static str,
        /// The type.
        what: String,
    },
    /// A type of Arrow that no column of this library can have, and what to do about it.
    Refused(String, &'static str),
    /// A date, a time or a time zone that a format stores as something else, or not at all.
    Lost {
        /// The format.
        format: Format,
        /// The type or the zone.
        what: String,
    },
    /// A format cannot store a column, or its writer failed.
    Target {
        /// The name of the column; empty if the error concerns no column.
        column: String,
        /// The type of the column.
        ty: String,
        /// What to do about it; may be empty.
        remedy: &'static str,
        /// The error of the writer.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The source can be read only once, but its rows are required again.
    Once,
    /// A group of rows takes more bytes than [`Builder::bounded`](crate::Builder::bounded) allows.
    Full(u64),
    /// An input is invalid, or cannot be read.
    Input(String),
}

impl Error {
    /// Returns the error with the name of the column in which it occurred.
    pub(crate) fn in_column(self, column: &str) -> Self {
        match self {
            named @ Error::Column { .. } => named,
            error => Error::Column { column: column.to_owned(), error: Box::new(error) },
        }
    }
}

impl Error {
    /// Whether fewer rows may help: their values take too much memory, or too many items.
    pub(crate) fn is_too_much(&self) -> bool {
        match self {
            Error::File(e) => e.kind() == Kind::Limit && e.what() == What::MAX_DECODED,
            Error::Offsets(_) => true,
            _ => false,
        }
    }

    /// Returns the error of reading or writing a file if this is one.
    ///
    /// # Errors
    /// This error, if it is any other one.
    pub fn into_io(self) -> Result<io::Error, Self> {
        match self {
            Error::Arrow(ArrowError::IoError(_, e)) => Ok(e),
            Error::Arrow(ArrowError::ExternalError(e)) => match e.downcast::<io::Error>() {
                Ok(e) => Ok(*e),
                Err(e) => Err(Error::Arrow(ArrowError::ExternalError(e))),
            },
            other => Err(other),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File(e) => e.fmt(f),
            Error::Column { column, error } => write!(f, "column {column:?}: {error}"),
            Error::Arrow(e) => e.fmt(f),
            Error::Lacking { format, what } => write!(f, "{format} has no {what}, which Arrow files have"),
            Error::Offsets(end) => write!(f, "offsets of 32 bits do not reach {end}; fewer rows per batch help"),
            Error::Unsupported(what) => write!(f, "Arrow has no {what}"),
            Error::Refused(ty, remedy) => write!(f, "no format stores {ty}; {remedy}"),
            Error::Lost { format, what } => write!(f, "{format} cannot store {what}"),
            Error::Target { column, ty, remedy, error } => {
                if !column.is_empty() {
                    write!(f, "column {column:?} ({ty}): ")?;
                }
                error.fmt(f)?;
                if remedy.is_empty() { Ok(()) } else { write!(f, "; {remedy}") }
            }
            Error::Once => f.write_str("the source can be read only once; store it in a file, and read that"),
            Error::Full(most) => write!(f, "a group of rows of more than {most} bytes; feed fewer rows at once"),
            Error::Input(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

impl From<pilaster::Error> for Error {
    fn from(e: pilaster::Error) -> Self {
        Error::File(e)
    }
}

impl From<ArrowError> for Error {
    fn from(e: ArrowError) -> Self {
        Error::Arrow(e)
    }
}

impl From<Error> for ArrowError {
    /// Keeps an error of Arrow, and wraps others as [`ArrowError::ExternalError`].
    fn from(e: Error) -> Self {
        match e {
            Error::Arrow(e) => e,
            e => ArrowError::ExternalError(Box::new(e)),
        }
    }
}
