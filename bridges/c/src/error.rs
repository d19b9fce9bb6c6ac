//! Results of calls as numbers.

use pilaster::bytes::WriteError;
use pilaster::error::{Error, Kind};

/// Why a call failed. It is no larger than [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The library has refused.
    Library(Error),
    /// An argument was refused, or a function of the caller has failed: what [`Report`] says.
    Call {
        /// [`ARGUMENT`], [`STATE`], [`CALLER`], or the negative number that a function of the caller returned.
        code: i32,
        /// The number of an argument, counted from 1.
        at: u32,
        /// What would do, or the number that a function of the caller returned.
        need: u32,
    },
}

const _: () = assert!(size_of::<Failure>() == size_of::<Error>(), "each call returns one");

/// The code of [`Failure::argument`].
pub const ARGUMENT: i32 = 32;
/// The code of [`Failure::state`].
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

impl Failure {
    /// An argument, counted from 1, is a null pointer, unaligned, too long, or has a member that is.
    #[must_use]
    pub const fn argument(number: u32) -> Self {
        Failure::refused(ARGUMENT, number)
    }

    /// An argument, counted from 1, must have `need` bytes.
    #[must_use]
    pub const fn too_short(number: u32, need: u32) -> Self {
        Failure::Call { code: ARGUMENT, at: number, need }
    }

    /// The state of an argument, counted from 1, is not initialised, is finished, or is in use by a call that has not returned.
    #[must_use]
    pub const fn state(number: u32) -> Self {
        Failure::refused(STATE, number)
    }

    /// Argument `number` is refused, or its state: `code` is [`ARGUMENT`] or [`STATE`].
    #[must_use]
    pub const fn refused(code: i32, number: u32) -> Self {
        Failure::Call { code, at: number, need: 0 }
    }

    /// A function of the caller has returned this number.
    #[must_use]
    pub const fn caller(number: i32) -> Self {
        match number {
            ..0 => Failure::refused(number, 0),
            _ => Failure::Call { code: CALLER, at: 0, need: number.unsigned_abs() },
        }
    }
}

impl Report {
    /// Describes the outcome of a call.
    pub fn of(done: Done) -> Report {
        match done {
            Ok(()) => Report::default(),
            Err(Failure::Library(e)) => {
                Report { code: code(e.kind()), what: e.what().id().into(), at: e.at(), need: e.need().into() }
            }
            Err(Failure::Call { code, at, need }) => Report { code, what: 0, at: at.into(), need: need.into() },
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
            WriteError::Format(e) => e.into(),
            WriteError::Sink(number) => Failure::caller(number),
        }
    }
}
