//! Results of calls as numbers.

use pilaster::bytes::WriteError;
use pilaster::error::{Error, Kind};

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The library has refused: a kind of [`Error`].
    Library(Error),
    /// A function of the caller has failed, with this number.
    Caller(i32),
    /// An argument, counted from 1, is a null pointer, unaligned, too long, or has a member that is. `need`: the bytes that it must
    /// have, if it is too short.
    Argument(u32, u64),
    /// The state of the first argument, or of the second: not initialised, finished, or in use by a call that is not over.
    State(u32),
}

/// The code of [`Failure::Argument`].
pub const ARGUMENT: i32 = 32;
/// The code of [`Failure::State`].
pub const STATE: i32 = 33;
/// The code of a function of the caller that returned a positive number.
pub const CALLER: i32 = 34;

/// The result of what a call does.
pub type Done = Result<(), Failure>;

/// `pilaster_error`: what a call tells of its failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Report {
    /// The result of the call.
    pub code: i32,
    /// The field, a number of `What`.
    pub what: u32,
    /// Where: an offset, a row, or the number of an argument.
    pub at: u64,
    /// What would do, or what was found.
    pub need: u64,
}

/// Returns the code of a kind: its number plus 1, as 0 is success.
const fn code(kind: Kind) -> i32 {
    (kind as i32).saturating_add(1)
}

impl Report {
    /// Describes the outcome of a call.
    pub fn of(done: Done) -> Report {
        match done {
            Ok(()) => Report::default(),
            Err(Failure::Library(e)) => {
                Report { code: code(e.kind()), what: e.what().id().into(), at: e.at(), need: e.need().into() }
            }
            Err(Failure::Caller(code)) if code < 0 => Report { code, ..Report::default() },
            Err(Failure::Caller(code)) => {
                Report { code: CALLER, need: u64::from(code.unsigned_abs()), ..Report::default() }
            }
            Err(Failure::Argument(number, need)) => {
                Report { code: ARGUMENT, at: number.into(), need, ..Report::default() }
            }
            Err(Failure::State(number)) => Report { code: STATE, at: number.into(), ..Report::default() },
        }
    }
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Failure::Library(e)
    }
}

impl From<WriteError<i32>> for Failure {
    fn from(e: WriteError<i32>) -> Self {
        match e {
            WriteError::Format(e) => Failure::Library(e),
            WriteError::Sink(code) => Failure::Caller(code),
        }
    }
}
