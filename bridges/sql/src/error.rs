//! Errors, each with the path of the file.

use std::{fmt, io};

use arrow::error::ArrowError;
use datafusion_common::DataFusionError;

/// Why a file cannot be read, and which one.
#[derive(Debug)]
pub struct Failure {
    /// The path of the file within its store.
    pub path: String,
    /// The reason.
    pub reason: Reason,
}

/// Why a file cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The file is invalid; the error has the offset.
    Format(pilaster::Error),
    /// Arrow cannot represent its rows, or the file is invalid.
    Arrow(pilaster_arrow::Error),
    /// A range of the file cannot be fetched; the error has the range.
    Fetch(io::Error),
    /// A file of a dataset is missing or invalid; the error has its path.
    Dataset(String),
    /// The columns of the file do not fit the table.
    Schema(DataFusionError),
    /// The reader ended without a result, which is a bug.
    Ended,
}

impl Failure {
    /// Whether the content of the file is the reason, so that other files can still be read.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self.reason, Reason::Format(_) | Reason::Arrow(_) | Reason::Dataset(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Reason::Dataset(text) = &self.reason {
            return f.write_str(text);
        }
        write!(f, "{}: ", self.path)?;
        match &self.reason {
            Reason::Format(e) => e.fmt(f),
            Reason::Arrow(e) => e.fmt(f),
            Reason::Fetch(e) => e.fmt(f),
            Reason::Dataset(text) => f.write_str(text),
            Reason::Schema(e) => e.fmt(f),
            Reason::Ended => f.write_str("the reader ended without a result; please report this as a bug"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for DataFusionError {
    fn from(e: Failure) -> Self {
        DataFusionError::External(Box::new(e))
    }
}

impl From<pilaster::Error> for Reason {
    fn from(e: pilaster::Error) -> Self {
        Reason::Format(e)
    }
}

impl From<pilaster_arrow::Error> for Reason {
    fn from(e: pilaster_arrow::Error) -> Self {
        match e {
            pilaster_arrow::Error::File(e) => Reason::Format(e),
            // Readers of batches wrap errors of files.
            pilaster_arrow::Error::Arrow(ArrowError::ExternalError(e)) => match e.downcast::<pilaster_arrow::Error>() {
                Ok(e) => Reason::from(*e),
                Err(e) => Reason::Arrow(pilaster_arrow::Error::Arrow(ArrowError::ExternalError(e))),
            },
            e => Reason::Arrow(e),
        }
    }
}

impl From<DataFusionError> for Reason {
    fn from(e: DataFusionError) -> Self {
        Reason::Schema(e)
    }
}

impl From<pilaster::error::Failure> for Reason {
    fn from(e: pilaster::error::Failure) -> Self {
        Reason::Dataset(e.to_string())
    }
}
