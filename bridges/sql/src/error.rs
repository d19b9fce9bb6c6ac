//! Errors, each with the path of the file.

use std::{fmt, io};

use arrow::error::ArrowError;
use datafusion_common::DataFusionError;
use pilaster::error::{Cause, Kind};

/// Why a file cannot be read, and which one.
#[derive(Debug)]
pub struct Failure {
    /// The path of the file within its store.
    pub path: String,
    /// The reason.
    pub reason: Reason,
    /// What helps, if that is known.
    pub help: Option<Box<str>>,
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
    /// A file of a dataset cannot be read.
    Dataset {
        /// The error, with the path of the file.
        text: String,
        /// Whether the file is missing or invalid.
        damage: bool,
    },
    /// The columns of the file do not fit the table.
    Schema(DataFusionError),
    /// The reader ended without a result, which is a bug.
    Ended,
}

impl Failure {
    /// Creates the error of a file.
    #[must_use]
    pub const fn new(path: String, reason: Reason) -> Self {
        Failure { path, reason, help: None }
    }

    /// Returns the error with what helps, if that is known.
    #[must_use]
    pub fn helped(mut self, help: Option<String>) -> Self {
        self.help = help.map(String::into_boxed_str).or(self.help);
        self
    }

    /// Returns the error of the library that is the reason.
    pub(crate) fn of_library(&self) -> Option<pilaster::Error> {
        match &self.reason {
            Reason::Format(e) => Some(*e),
            _ => None,
        }
    }

    /// Whether invalid or missing bytes of the file are the reason, so that other files can still be read. A call that asks
    /// for an unknown table, a limit, or a feature that this library does not have is no damage.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match &self.reason {
            Reason::Format(e) => is_invalid(*e),
            Reason::Arrow(e) => is_refused(e),
            Reason::Dataset { damage, .. } => *damage,
            _ => false,
        }
    }
}

/// Whether an error says that bytes are invalid.
const fn is_invalid(e: pilaster::Error) -> bool {
    matches!(e.kind(), Kind::Truncated | Kind::Trailing | Kind::Invalid | Kind::Checksum | Kind::Overflow | Kind::Utf8)
}

/// Whether an error of the bridge to Arrow says that bytes are invalid.
fn is_refused(e: &pilaster_arrow::Error) -> bool {
    match e {
        pilaster_arrow::Error::File(e) => is_invalid(*e),
        pilaster_arrow::Error::Column { error, .. } => is_refused(error),
        // Values that a type of Arrow does not allow.
        pilaster_arrow::Error::Arrow(ArrowError::InvalidArgumentError(_)) => true,
        pilaster_arrow::Error::Arrow(ArrowError::ExternalError(e)) => e.downcast_ref().is_some_and(is_refused),
        _ => false,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text of a dataset names one of its files.
        if !matches!(self.reason, Reason::Dataset { .. }) {
            write!(f, "{}: ", self.path)?;
        }
        match &self.reason {
            Reason::Format(e) => e.fmt(f),
            Reason::Arrow(e) => e.fmt(f),
            Reason::Fetch(e) => e.fmt(f),
            Reason::Dataset { text, .. } => f.write_str(text),
            Reason::Schema(e) => e.fmt(f),
            Reason::Ended => f.write_str("the reader ended without a result; please report this as a bug"),
        }?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, " ({help})"))
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

impl From<&pilaster::error::Failure> for Reason {
    fn from(e: &pilaster::error::Failure) -> Self {
        let damage = match &e.cause {
            Cause::Io(e) => e.kind() == io::ErrorKind::NotFound,
            Cause::Format(e) => is_invalid(*e),
            _ => false,
        };
        Reason::Dataset { text: e.to_string(), damage }
    }
}

#[cfg(test)]
mod tests {
    use pilaster::error::What;

    use super::*;

    #[test]
    fn calls_and_limits_are_no_damage() {
        let failure = |reason| Failure::new("a.ds".to_owned(), reason);
        let of = |kind| pilaster::Error::new(kind, What::TABLE, 0);
        for (kind, damage) in [
            (Kind::Invalid, true),
            (Kind::Truncated, true),
            (Kind::Checksum, true),
            (Kind::Unknown, false),
            (Kind::Misuse, false),
            (Kind::Limit, false),
            (Kind::Unsupported, false),
            (Kind::NoRoom, false),
        ] {
            assert_eq!(failure(of(kind).into()).is_damage(), damage, "{kind:?}");
            let column = pilaster_arrow::Error::Column { column: "t".to_owned(), error: Box::new(of(kind).into()) };
            let wrapped = ArrowError::ExternalError(Box::new(column));
            assert_eq!(failure(pilaster_arrow::Error::from(wrapped).into()).is_damage(), damage, "{kind:?}");
        }
        assert!(!failure(Reason::Arrow(pilaster_arrow::Error::Offsets(1 << 31))).is_damage());
        assert!(!failure(Reason::Ended).is_damage());
    }
}
