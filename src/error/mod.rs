//! The error type of this crate: a kind, a field, an offset, and the required size or the value found.
//!
//! An [`Error`] is a value of 16 bytes, `Copy`, and holds no text. Only [`What::name`] and `Display` refer to the
//! texts, so the linker drops them from an image that never prints.
//!
//! ```
//! use pilaster::error::{Error, Kind, What};
//!
//! let e = Error::needing(Kind::Truncated, What::INPUT, 100, 4);
//! assert_eq!((e.kind(), e.what(), e.at(), e.need()), (Kind::Truncated, What::INPUT, 100, 4));
//! assert_eq!(e.to_string(), "input at offset 100: truncated, 4 bytes needed");
//! ```

mod caller;
#[cfg(feature = "std")]
mod failure;
mod what;

pub(crate) use caller::FIELDS;
#[cfg(feature = "std")]
pub use failure::{Cause, Failure};
pub use what::What;
pub(crate) use what::{Fields, RANGE, fields};

use core::fmt;
use core::num::NonZero;

/// The result of functions of this crate that can fail.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The kind of an error. The meaning of [`Error::at`] and [`Error::need`] depends on it. The number of a kind does not change
/// between releases: `kind as u8` is part of the interfaces for C and Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum Kind {
    /// The input ends inside the field. `need`: the size of the field in bytes, starting at `at`; 0 if unknown.
    Truncated = 0,
    /// The input continues after its end. `need`: the number of excess bytes.
    Trailing = 1,
    /// The format does not allow the value of the field. `need`: the value, saturated at `u32::MAX`.
    Invalid = 2,
    /// A number or id is unknown, or this crate does not support it. `need`: the id.
    Unsupported = 3,
    /// The bytes are well formed but do not fit the requested type. `need`: the id found.
    WrongType = 4,
    /// A stored check value differs from the computed one. `need`: the stored value, saturated at `u32::MAX`.
    Checksum = 5,
    /// A sum or product of numbers from the file overflows. `need`: one of them.
    Overflow = 6,
    /// A limit of [`Limits`](crate::limits::Limits) was reached. `need`: the limit.
    Limit = 7,
    /// Memory that the caller provided is too small. `need`: the size in bytes that a destination must have. In a
    /// [`Scratch`](crate::bytes::Scratch) it is the size of the allocation that failed: enlarge the memory by as much
    /// and try again.
    NoRoom = 8,
    /// An index is not below the count of items. `at`: the index; `need`: the count.
    OutOfRange = 9,
    /// A text is invalid UTF-8. `at`: the first wrong byte; `need`: 0.
    Utf8 = 10,
    /// The chosen encoding cannot hold a value. `at`: the row; `need`: 0. Of a writer of
    /// `filo::write::append`: the value and the width.
    Lossy = 11,
    /// A call in the wrong order, or with an argument that does not fit. `at`: the row, offset or number, depending on
    /// the function.
    Misuse = 12,
    /// A file was provided as ranges of bytes, and none of them contains the required one. `at` and `need`: the offset
    /// and the length of the required range.
    Missing = 13,
    /// No column or table has the requested name. `at` and `need`: the first twelve bytes of the name.
    Unknown = 14,
}

impl Kind {
    /// Returns the kind with this number.
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
            13 => Kind::Missing,
            _ => Kind::Unknown,
        }
    }
}

/// An error: kind, field, offset, and the required size or the value found.
///
/// The offset is two `u32` instead of one `u64`, which keeps the alignment at 4 and the size at 16. The code is not
/// zero, so `Result<()>` is as large as the error.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error {
    /// Low half of the offset first.
    at: [u32; 2],
    need: u32,
    /// The field, the kind in the lowest four bits, and one added.
    code: NonZero<u32>,
}

/// Converts to `u32`, saturating.
#[allow(clippy::cast_possible_truncation, reason = "saturated on the line itself")]
const fn saturated(need: u64) -> u32 {
    if need > u32::MAX as u64 { u32::MAX } else { need as u32 }
}

// A kind has four bits.
const _: () = assert!((Kind::Unknown as u32) < 16);

const _: () = assert!(size_of::<Result<()>>() == 16 && align_of::<Error>() == 4);

impl Error {
    /// Creates an error of `kind` in `what` at offset (or row, or index) `at`, with [`need`](Self::need) 0.
    #[cold]
    #[must_use]
    pub const fn new(kind: Kind, what: What, at: u64) -> Self {
        Self::needing(kind, what, at, 0)
    }

    /// Like [`new`](Self::new), with a value for [`need`](Self::need), saturated at `u32::MAX`.
    #[cold]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "the two halves of `at` are kept apart")]
    pub const fn needing(kind: Kind, what: What, at: u64, need: u64) -> Self {
        let code = (what.id() as u32) << 4 | kind as u32;
        Error {
            at: [at as u32, (at >> 32) as u32],
            need: saturated(need),
            code: NonZero::<u32>::MIN.saturating_add(code),
        }
    }

    /// Creates the error that no `what` (a column or a table) is called `name`. It holds the first twelve bytes of the
    /// name.
    #[cold]
    #[must_use]
    pub(crate) fn unknown(what: What, name: &str) -> Self {
        let mut first = [0; 12];
        for (to, byte) in first.iter_mut().zip(name.bytes()) {
            *to = byte;
        }
        let [a, b, c, d, e, f, g, h, need @ ..] = first;
        let at = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        Self::needing(Kind::Unknown, what, at, u32::from_le_bytes(need).into())
    }

    /// Returns the offset of the field in the file, or a row or an index: see [`Kind`].
    #[must_use]
    pub const fn at(&self) -> u64 {
        let [low, high] = self.at;
        low as u64 | (high as u64) << 32
    }

    /// Returns the required size, or the value found: see [`Kind`]. Larger numbers are saturated at `u32::MAX`.
    #[must_use]
    pub const fn need(&self) -> u32 {
        self.need
    }

    /// Returns the field, structure or resource.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "the field has 16 bits")]
    pub const fn what(&self) -> What {
        What::new((self.code() >> 4) as u16)
    }

    /// Returns the kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        Kind::of(self.code() & 15)
    }

    /// Returns the number of the field, shifted by 4 bits, with the kind in the lowest 4 bits.
    const fn code(&self) -> u32 {
        self.code.get().wrapping_sub(1)
    }

    /// Returns this error with `by` added to its offset: for a structure that was parsed separately and lies at `by` in
    /// the file.
    #[cold]
    #[must_use]
    #[allow(dead_code, reason = "formats use it")]
    pub(crate) const fn moved(self, by: u64) -> Self {
        Self::needing(self.kind(), self.what(), self.at().saturating_add(by), self.need as u64)
    }

    /// Returns an error of another kind, field and offset, with the [`need`](Self::need) of this one.
    #[cold]
    #[allow(dead_code, reason = "not every format has use for it")]
    pub(crate) const fn turned(self, kind: Kind, what: What, at: u64) -> Self {
        Self::needing(kind, what, at, self.need as u64)
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Error {
    fn format(&self, f: defmt::Formatter<'_>) {
        match self.kind() {
            // The value that was found.
            Kind::Invalid | Kind::Unsupported | Kind::Checksum => {
                defmt::write!(f, "{}: {}, at {}, value {}", self.what(), self.kind(), self.at(), self.need());
            }
            Kind::Truncated | Kind::NoRoom => {
                defmt::write!(f, "{}: {}, at {}, need {} bytes", self.what(), self.kind(), self.at(), self.need());
            }
            _ => defmt::write!(f, "{}: {}, at {}, need {}", self.what(), self.kind(), self.at(), self.need()),
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
        let e = Error::needing(Kind::Invalid, What::INPUT, 0x1_2345_6789_abcd, 7);
        assert_eq!((e.at(), e.need()), (0x1_2345_6789_abcd, 7));
        assert_eq!(e.moved(3).at(), 0x1_2345_6789_abd0);
        assert_eq!(e.moved(3).need(), 7);
    }

    #[test]
    fn numbers_of_kinds_stay() {
        use Kind::{Checksum, Invalid, Limit, Lossy, Missing, Misuse, NoRoom, OutOfRange, Overflow};
        use Kind::{Trailing, Truncated, Unknown, Unsupported, Utf8, WrongType};
        let all = [
            Truncated,
            Trailing,
            Invalid,
            Unsupported,
            WrongType,
            Checksum,
            Overflow,
            Limit,
            NoRoom,
            OutOfRange,
            Utf8,
            Lossy,
            Misuse,
            Missing,
            Unknown,
        ];
        assert!(all.into_iter().map(|kind| kind as u8).eq(0..15));
    }

    #[test]
    fn field_and_kind_come_back() {
        for number in 0..15 {
            let kind = Kind::of(number);
            assert_eq!(kind as u32, number);
            for what in [What::INPUT, What::MAX_DECODED, What::new(u16::MAX)] {
                let e = Error::needing(kind, what, u64::MAX - 1, u64::MAX);
                assert_eq!((e.kind(), e.what(), e.at(), e.need()), (kind, what, u64::MAX - 1, u32::MAX));
            }
        }
    }

    /// Errors are values: they can differ, can be constants, and keep their contents when later errors are created.
    #[test]
    fn errors_are_values() {
        const FIRST: Error = Error::needing(Kind::Truncated, What::INPUT, 1, 2);
        const SECOND: Error = Error::new(Kind::Invalid, What::TEXT, 3);
        assert_ne!(FIRST, SECOND);
        assert_eq!((FIRST.kind(), FIRST.what(), FIRST.at(), FIRST.need()), (Kind::Truncated, What::INPUT, 1, 2));
    }

    #[test]
    fn need_saturates() {
        let e = Error::needing(Kind::NoRoom, What::SCRATCH, 0, u64::MAX);
        assert_eq!(e.need(), u32::MAX);
    }
}
