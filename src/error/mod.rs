//! The one error of this crate: where, which field, what is wrong with it, and how much is needed.
//!
//! An [`Error`] is 16 bytes, `Copy`, and holds no text. The texts live behind [`What::name`] and
//! `Display`, which the linker drops from an image that never prints.
//!
//! Modules of WebAssembly, where every one of these bytes is passed on by code of its own, can be built with
//! `--cfg pilaster_thin_errors`: an error is nothing then but that there is one, and what it says is what the last one
//! said. Who makes others before looking at one keeps what it [said](Said). It makes a module a fifth smaller.
//!
//! ```
//! use pilaster::error::{Error, Kind, What};
//!
//! let e = Error::needing(Kind::Truncated, What::FiloHeader, 0, 4);
//! assert_eq!(e.at(), 0);
//! assert_eq!(e.to_string(), "filo header word at offset 0: truncated, 4 bytes needed");
//! ```

#[cfg(any(pilaster_thin_errors, test))]
mod thin;
mod what;
mod whole;

pub use what::What;

use core::fmt;
use core::hash::{Hash, Hasher};

#[cfg(pilaster_thin_errors)]
use thin::Parts;
#[cfg(not(pilaster_thin_errors))]
use whole::Parts;

/// The result of everything that can fail here.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// What is wrong. The meaning of [`Error::at`] and [`Error::need`] depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum Kind {
    /// The input ends inside the field. `need`: bytes that the field takes, counted from `at`.
    Truncated,
    /// Bytes are left over behind the end. `need`: how many.
    Trailing,
    /// The field has a value that the format forbids. `need`: the value (its low 32 bits).
    Invalid,
    /// A number or id that this crate does not know or does not decode. `need`: the id.
    Unsupported,
    /// The bytes are well formed but cannot be read as the type asked for. `need`: the id found.
    WrongType,
    /// A stored check value differs from the computed one. `need`: the stored value (low 32 bits).
    Checksum,
    /// A sum or product of numbers from the file leaves the number range. `need`: one of them.
    Overflow,
    /// A limit of [`Limits`](crate::limits::Limits) was reached. `need`: the limit.
    Limit,
    /// Memory lent by the caller is too small. `need`: bytes needed in all.
    NoRoom,
    /// An index is not below the count. `at`: the index; `need`: the count.
    OutOfRange,
    /// Bytes that must be text are not UTF-8. `at`: the first wrong byte.
    Utf8,
    /// The chosen encoding cannot hold a value. `at`: the row.
    Lossy,
    /// A writer was called in the wrong order or with the wrong type. `at`: the row.
    Misuse,
    /// Bytes of a file that was given in pieces, and that no piece holds. `at` and `need`: the range.
    Missing,
}

impl Kind {
    /// The kind of that number.
    const fn of(number: u32) -> Self {
        match number {
            0 => Kind::Truncated,
            1 => Kind::Trailing,
            2 => Kind::Invalid,
            3 => Kind::Unsupported,
            4 => Kind::WrongType,
            5 => Kind::Checksum,
            6 => Kind::Overflow,
            7 => Kind::Limit,
            8 => Kind::NoRoom,
            9 => Kind::OutOfRange,
            10 => Kind::Utf8,
            11 => Kind::Lossy,
            12 => Kind::Misuse,
            _ => Kind::Missing,
        }
    }
}

/// An error: where, kind, field, and how much is needed.
#[derive(Clone, Copy)]
pub struct Error(Parts);

/// What an error says, for who keeps it while others may come: with thin errors the last one alone says anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Said(whole::Parts);

impl From<Said> for Error {
    fn from(Said(parts): Said) -> Self {
        Error(Parts::new(parts.code(), parts.at(), parts.need().into()))
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Said {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{}", Error::from(*self));
    }
}

/// Field and kind as one number.
const fn code(kind: Kind, what: What) -> u32 {
    (what as u32) << 4 | kind as u32
}

/// Numbers that are larger are kept as the largest.
#[allow(clippy::cast_possible_truncation, reason = "saturated on the line itself")]
const fn saturated(need: u64) -> u32 {
    if need > u32::MAX as u64 { u32::MAX } else { need as u32 }
}

// A kind has four bits.
const _: () = assert!(Kind::Missing as u32 == 13);

impl From<&Error> for Error {
    /// For `?` on a result that is only looked at, so that what is in it need not move.
    fn from(e: &Error) -> Self {
        *e
    }
}

impl From<&mut Error> for Error {
    /// The same, of what is written to.
    fn from(e: &mut Error) -> Self {
        *e
    }
}

// `Result<()>` has room for its tag inside the code.
#[cfg(not(pilaster_thin_errors))]
const _: () = assert!(size_of::<Result<()>>() == size_of::<Error>());

impl Error {
    /// An error of `kind` in `what` at offset (or row, or index) `at`.
    #[cold]
    #[must_use]
    pub fn new(kind: Kind, what: What, at: u64) -> Self {
        Self::needing(kind, what, at, 0)
    }

    /// The same, and how much is [needed](Self::need); a larger number is kept as `u32::MAX`.
    #[cold]
    #[must_use]
    pub fn needing(kind: Kind, what: What, at: u64, need: u64) -> Self {
        Error(Parts::new(code(kind, what), at, need))
    }

    /// Offset of the field in the file (or the row or index, as the [`Kind`] says).
    #[must_use]
    pub fn at(&self) -> u64 {
        self.0.at()
    }

    /// How much is needed, or the value found: see [`Kind`]. Saturates at `u32::MAX`.
    #[must_use]
    pub fn need(&self) -> u32 {
        self.0.need()
    }

    /// The field.
    #[must_use]
    pub fn what(&self) -> What {
        What::of(self.0.code() >> 4)
    }

    /// What is wrong with it.
    #[must_use]
    pub fn kind(&self) -> Kind {
        Kind::of(self.0.code() & 15)
    }

    /// The same error with its offset moved by `by`: for a structure that was parsed on its own
    /// and lies at `by` in the file.
    #[cold]
    #[must_use]
    pub fn moved(self, by: u64) -> Self {
        Error(Parts::new(self.0.code(), self.at().saturating_add(by), self.need().into()))
    }

    /// Another error with the same [`need`](Self::need).
    #[cold]
    #[allow(dead_code, reason = "not every format has use for it")]
    pub(crate) fn turned(self, kind: Kind, what: What, at: u64) -> Self {
        Self::needing(kind, what, at, self.need().into())
    }

    /// All that it says.
    #[must_use]
    pub fn said(&self) -> Said {
        Said(whole::Parts::new(self.0.code(), self.at(), self.need().into()))
    }
}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.said() == other.said()
    }
}

impl Eq for Error {}

impl Hash for Error {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.said().hash(state);
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Error {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{}: {}, at {}, need {}", self.what(), self.kind(), self.at(), self.need());
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, at, need) = (self.what().name(), self.at(), self.need());
        match self.kind() {
            Kind::Truncated => write!(f, "{name} at offset {at}: truncated, {need} bytes needed"),
            Kind::Trailing => write!(f, "{name} at offset {at}: {need} bytes too many"),
            Kind::Invalid => write!(f, "{name} at offset {at}: invalid value {need} (0x{need:x})"),
            Kind::Unsupported => write!(f, "{name} at offset {at}: {need} (0x{need:x}) is not supported"),
            Kind::WrongType => write!(f, "{name} at offset {at}: 0x{need:08x} cannot be read as the type asked for"),
            Kind::Checksum => write!(f, "{name} at offset {at}: checksum differs, 0x{need:08x} is stored"),
            Kind::Overflow => write!(f, "{name} at offset {at}: number out of range"),
            Kind::Limit => write!(f, "{name} of {need} reached at offset {at}"),
            Kind::NoRoom => write!(f, "{name} too small: {need} bytes needed"),
            Kind::OutOfRange => write!(f, "{name} {at} does not exist, there are {need}"),
            Kind::Utf8 => write!(f, "{name} at offset {at}: not UTF-8"),
            Kind::Lossy => write!(f, "{name} cannot hold the value of row {at}"),
            Kind::Misuse => write!(f, "{name}: wrong call or type at row {at}"),
            Kind::Missing => write!(f, "{name}: {need} bytes at offset {at} are in no piece of the file"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("what", &self.what())
            .field("at", &self.at())
            .field("need", &self.need())
            .finish()
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_beyond_32_bits_survive() {
        let e = Error::needing(Kind::Invalid, What::Input, 0x1_2345_6789_abcd, 7);
        assert_eq!((e.at(), e.need()), (0x1_2345_6789_abcd, 7));
        assert_eq!(e.moved(3).at(), 0x1_2345_6789_abd0);
        assert_eq!(e.moved(3).need(), 7);
    }

    #[test]
    fn field_and_kind_come_back() {
        for kind in (0..14).map(Kind::of) {
            for what in (0..).map(What::of).take_while(|what| *what != What::VtxZones).chain([What::VtxZones]) {
                let e = Error::new(kind, what, 0);
                assert_eq!((e.kind(), e.what()), (kind, what));
            }
        }
        assert_eq!(
            (0..14).map(|n| Kind::of(n) as u32).collect::<std::vec::Vec<_>>(),
            (0..14).collect::<std::vec::Vec<_>>()
        );
    }

    /// Both kinds of parts give back what they were made of, the thin ones those of the last.
    #[test]
    fn parts_are_kept() {
        let (code, at, need) = (code(Kind::Missing, What::VtxZones), u64::MAX - 1, u32::MAX);
        let whole = whole::Parts::new(code, at, u64::MAX);
        assert_eq!((whole.code(), whole.at(), whole.need()), (code, at, need));
        let thin = thin::Parts::new(code, at, u64::MAX);
        assert_eq!((thin.code(), thin.at(), thin.need()), (code, at, need));
        let next = thin::Parts::new(0, 1, 0);
        assert_eq!((next.code(), next.at(), next.need()), (0, 1, 0));
    }

    #[test]
    fn need_saturates() {
        let e = Error::needing(Kind::NoRoom, What::Scratch, 0, u64::MAX);
        assert_eq!(e.need(), u32::MAX);
    }
}
