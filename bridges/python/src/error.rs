//! Errors: `pilaster.Error`, and errors of Python itself.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{fmt, io};

use pilaster::any::FileError;
use pilaster::bytes::WriteError;
use pilaster::error::{Cause, Kind, What};
use pilaster_arrow::arrow_schema::ArrowError;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::exit;

/// Why a call fails.
#[derive(Debug)]
pub enum Failure {
    /// The file is invalid, or cannot hold the values: `pilaster.Error`.
    Error(Facts),
    /// The file cannot be read or written: `OSError`.
    Io(io::Error, String),
    /// An argument is wrong: `ValueError`.
    Value(String),
    /// An argument has the wrong type: `TypeError`.
    Type(String),
    /// An error of Python.
    Python(PyErr),
}

/// What `pilaster.Error` tells.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub text: String,
    pub kind: String,
    pub field: Option<String>,
    pub offset: Option<u64>,
    pub need: Option<u32>,
}

impl Facts {
    /// Returns what an error tells. A row, an index or a part of a name is no offset.
    fn of(e: &pilaster::Error, text: String) -> Self {
        let is_place =
            !matches!(e.kind(), Kind::NoRoom | Kind::OutOfRange | Kind::Lossy | Kind::Misuse | Kind::Unknown);
        Facts {
            text,
            kind: format!("{:?}", e.kind()),
            field: Some(e.what().name().to_owned()),
            offset: is_place.then(|| e.at()),
            need: Some(e.need()).filter(|_| e.kind() != Kind::Unknown),
        }
    }
}

pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Calls `work`; its panic is an error of the kind `Internal`, so that a bug is an `Exception` like any other.
pub fn guarded<T, E: From<Failure>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    // What `work` has changed is not used after a panic: streams end, and files that are being written are removed.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failure::of_panic(&*panic).into()))
}

/// Calls `work` without the interpreter, as [`guarded`] does.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    py.detach(|| guarded(work))
}

impl Failure {
    /// Returns an error without a place in a file.
    pub fn other(kind: &str, text: impl fmt::Display) -> Self {
        Failure::Error(Facts { text: text.to_string(), kind: kind.to_owned(), ..Facts::default() })
    }

    /// Returns the error with the field that it is about.
    pub fn of_field(self, field: &str) -> Self {
        match self {
            Failure::Error(facts) => Failure::Error(Facts { field: Some(field.to_owned()), ..facts }),
            other => other,
        }
    }

    /// Returns the error with the name of the file that it is about.
    pub fn of(self, path: Option<&str>) -> Self {
        match (self, path) {
            (Failure::Error(facts), Some(path)) if !facts.text.starts_with(path) => {
                Failure::Error(Facts { text: format!("{path}: {}", facts.text), ..facts })
            }
            (Failure::Io(e, known), Some(path)) if known.is_empty() => Failure::Io(e, path.to_owned()),
            (failure, _) => failure,
        }
    }

    /// Returns the error of a file of a dataset, which keeps its own.
    pub fn from_dataset(e: &pilaster::error::Failure) -> Self {
        let path = e.path.display().to_string();
        match &e.cause {
            Cause::Io(e) => Failure::Io(shared(e), path),
            Cause::Format(e) => Failure::from(*e).of(Some(&path)),
            _ => Failure::other("Unknown", e),
        }
    }

    /// Returns the error of a panic. Only its text is known.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Failure::other("Internal", format!("a bug in pilaster: {}", text.unwrap_or("a panic")))
    }

    /// Returns a text without NUL, which has no place in a C string.
    pub fn text(&self) -> String {
        let text = match self {
            Failure::Error(facts) => facts.text.clone(),
            Failure::Io(e, path) if path.is_empty() => e.to_string(),
            Failure::Io(e, path) => format!("{path}: {e}"),
            Failure::Value(text) | Failure::Type(text) => text.clone(),
            Failure::Python(e) => e.to_string(),
        };
        text.replace('\0', "\u{fffd}")
    }

    /// Returns the failure and keeps this one.
    pub fn share(&self) -> Self {
        match self {
            Failure::Error(facts) => Failure::Error(facts.clone()),
            Failure::Io(e, path) => Failure::Io(shared(e), path.clone()),
            Failure::Value(text) => Failure::Value(text.clone()),
            Failure::Type(text) => Failure::Type(text.clone()),
            Failure::Python(e) => match exit::call(|py| e.clone_ref(py)) {
                Some(e) => Failure::Python(e),
                None => Failure::other("Missing", "the interpreter ends"),
            },
        }
    }

    /// Returns the error for a consumer of a stream.
    pub fn to_arrow(&self) -> ArrowError {
        match self {
            Failure::Io(e, _) => ArrowError::IoError(self.text(), io::Error::from(e.kind())),
            _ => ArrowError::ExternalError(self.text().into()),
        }
    }
}

impl From<pilaster::Error> for Failure {
    fn from(e: pilaster::Error) -> Self {
        Failure::Error(Facts::of(&e, e.to_string()))
    }
}

impl From<pilaster::error::Failure> for Failure {
    fn from(e: pilaster::error::Failure) -> Self {
        let path = e.path.display().to_string();
        match e.cause {
            Cause::Io(e) => Failure::Io(e, path),
            Cause::Format(e) => Failure::from(e).of(Some(&path)),
            _ => Failure::other("Unknown", e),
        }
    }
}

impl From<FileError> for Failure {
    fn from(e: FileError) -> Self {
        match e {
            FileError::Format(e) => e.into(),
            FileError::Dataset(e) => e.into(),
        }
    }
}

impl From<pilaster_cli::Failure> for Failure {
    fn from(e: pilaster_cli::Failure) -> Self {
        use pilaster_cli::Failure as F;
        let text = e.text().unwrap_or_default();
        match e {
            F::Format(e) => e.into(),
            F::Usage(_) | F::Untyped(_) => Failure::Value(text),
            F::Target(_, e) | F::Output(e) => e.into(),
            F::Input(_) | F::Printed | F::PrintedUsage => Failure::other("Invalid", text),
        }
    }
}

impl From<pilaster_arrow::Error> for Failure {
    fn from(e: pilaster_arrow::Error) -> Self {
        use pilaster_arrow::Error as E;
        let e = match e {
            // An error of Python that went through a reader, such as `KeyboardInterrupt`.
            E::Arrow(ArrowError::ExternalError(e)) => match e.downcast::<PyErr>() {
                Ok(e) => return Failure::Python(*e),
                // Ours, which became one of Arrow in the reader.
                Err(e) => match e.downcast::<E>() {
                    Ok(e) => return Failure::from(*e),
                    Err(e) => E::Arrow(ArrowError::ExternalError(e)),
                },
            },
            e => e,
        };
        let text = e.to_string();
        let mut inner = &e;
        while let E::Column { error, .. } = inner {
            inner = error;
        }
        let text = format!("{text}{}", option(inner));
        let file = match inner {
            E::File(e) => Some(*e),
            E::Target { error, .. } => match error.downcast_ref::<WriteError<io::Error>>() {
                Some(WriteError::Sink(e)) => return Failure::Io(shared(e), String::new()),
                _ => written(&**error),
            },
            _ => None,
        };
        match file {
            // The number of a column is not an offset in a file.
            Some(e) if matches!(inner, E::Target { .. }) => {
                Failure::Error(Facts { offset: None, need: None, ..Facts::of(&e, text) })
            }
            Some(e) => Failure::Error(Facts::of(&e, text)),
            None => match inner {
                E::Unsupported(_) | E::Refused(..) | E::Lacking { .. } | E::Lost { .. } => {
                    Failure::other("Unsupported", text)
                }
                E::Offsets(_) | E::Full(_) => Failure::other("Limit", text),
                _ => Failure::other("Invalid", text),
            },
        }
    }
}

/// Returns which option of `write` helps with an error, in parentheses; nothing for others.
fn option(e: &pilaster_arrow::Error) -> &'static str {
    use pilaster_arrow::Error as E;
    match e {
        E::Lost { what, .. } if what.starts_with("the time zone") => " (any_time=True drops it)",
        E::Lost { .. } => " (any_time=True stores integers)",
        E::Refused(ty, _) if ty.contains("Duration(") => " (any_time=True does)",
        E::Target { ty, error, .. } => match written(&**error) {
            Some(e) => of_writer(e, ty),
            None => "",
        },
        _ => "",
    }
}

/// Returns which option helps with the error of a writer of a column of the type `ty`.
fn of_writer(e: pilaster::Error, ty: &str) -> &'static str {
    match (e.what(), e.kind()) {
        (What::BCOLZ_MISSING, _) => " (fill_missing=True writes NaN, 0, false or an empty text for a missing value)",
        (What::JAY_SENTINEL, _) => {
            " (sentinels=\"missing\" makes it missing, sentinels=\"widen\" chooses a wider type)"
        }
        (What::JAY_TYPE, Kind::WrongType) if ty.starts_with("timestamp[") && !ty.contains("[D]") => {
            " (any_time=True converts to nanoseconds)"
        }
        (What::JAY_TYPE, Kind::WrongType) if ty.contains("bytes") || ty == "object" => {
            " (bytes_as_text=True stores bytes that are UTF-8 as texts)"
        }
        _ => "",
    }
}

/// Returns the error of the format that a writer had.
fn written(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Option<pilaster::Error> {
    let of_sink = || match error.downcast_ref::<WriteError<io::Error>>()? {
        WriteError::Format(e) => Some(*e),
        WriteError::Sink(_) => None,
    };
    let of_dataset = || match error.downcast_ref::<WriteError<pilaster::bcolz::Failure>>()? {
        WriteError::Format(e) => Some(*e),
        // The writer of a dataset adds the path of the file.
        WriteError::Sink(failure) => match &failure.cause {
            Cause::Format(e) => Some(*e),
            _ => None,
        },
    };
    error.downcast_ref::<pilaster::Error>().copied().or_else(of_sink).or_else(of_dataset)
}

impl From<WriteError<io::Error>> for Failure {
    fn from(e: WriteError<io::Error>) -> Self {
        match e {
            WriteError::Format(e) => e.into(),
            WriteError::Sink(e) => e.into(),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        // A file of Python has raised it, such as `KeyboardInterrupt`.
        match e.downcast::<PyErr>() {
            Ok(e) => Failure::Python(e),
            Err(e) => Failure::Io(e, String::new()),
        }
    }
}

impl From<ArrowError> for Failure {
    fn from(e: ArrowError) -> Self {
        pilaster_arrow::Error::from(e).into()
    }
}

impl From<PyErr> for Failure {
    fn from(e: PyErr) -> Self {
        Failure::Python(e)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Error(facts) => Python::attach(|py| match error_type(py) {
                Ok(ty) => {
                    let Facts { text, kind, field, offset, need } = facts;
                    PyErr::from_type(ty.clone(), (text, kind, field, offset, need))
                }
                Err(e) => e,
            }),
            // Python chooses the subclass by the number.
            Failure::Io(e, path) => match number(&e) {
                Some(number) if path.is_empty() => PyOSError::new_err((number, plain(&e))),
                Some(number) => PyOSError::new_err((number, plain(&e), path)),
                None if path.is_empty() => e.into(),
                None => io::Error::new(e.kind(), format!("{path}: {e}")).into(),
            },
            Failure::Value(text) => PyValueError::new_err(text),
            Failure::Type(text) => PyTypeError::new_err(text),
            Failure::Python(e) => e,
        }
    }
}

/// Returns an error with the number or the text of one that belongs to others.
fn shared(e: &io::Error) -> io::Error {
    e.raw_os_error().map_or_else(|| io::Error::new(e.kind(), e.to_string()), io::Error::from_raw_os_error)
}

/// Returns the number of an error of the system. One that `tempfile` has wrapped tells it in its text only.
fn number(e: &io::Error) -> Option<i32> {
    e.raw_os_error().or_else(|| e.to_string().split_once("(os error ")?.1.split_once(')')?.0.parse().ok())
}

/// Returns the text of an error of the system without its number, which Python adds.
fn plain(e: &io::Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

fn error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    TYPE.import(py, "pilaster._error", "Error")
}
