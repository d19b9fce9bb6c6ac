//! Which encoding a vector has, with the width of its numbers.

use core::fmt;

use super::raw::{Header, Packing};

/// An encoding in full: what a reader found, or what a writer shall make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Encoding {
    /// All rows missing (section 4).
    Empty,
    /// Dense numbers, or bits for booleans (8.1).
    Simple(Packing),
    /// One number (8.2).
    Const(Packing),
    /// Base and differences (8.3).
    Diff(Packing),
    /// Differences of instants to a line; `zones` if they have more than one UTC offset (8.4).
    DiffDateTime {
        /// Differences in milliseconds.
        millis: Packing,
        /// Differences in quarter hours.
        zones: Option<Packing>,
    },
    /// Strings (8.5).
    SimpleString,
    /// One string (8.6).
    ConstString,
    /// Strings by code (8.7).
    DictString(Packing),
    /// Dense numbers without missing rows (9.1).
    Packed(Packing),
    /// Packed numbers with an NA mask (9.2).
    Masked(Packing),
    /// One value, no missing rows (9.3, 10.4).
    Repeated,
    /// Line and residuals (9.4).
    DeltaDelta(Packing),
    /// Byte strings of any length (10.1).
    Utf8,
    /// Byte strings in slots (10.2).
    FixedMaxUtf8,
    /// Byte strings by code (10.3).
    DictUtf8(Packing),
}

impl Encoding {
    /// The header word of the current release (0.3.3 and later).
    #[must_use]
    pub const fn header(self) -> Header {
        match self {
            Encoding::Empty => Header::Empty,
            Encoding::Simple(_) => Header::SimplePrimitive,
            Encoding::Const(_) => Header::ConstPrimitive,
            Encoding::Diff(_) => Header::DiffPrimitive,
            Encoding::DiffDateTime { .. } => Header::DiffDateTime,
            Encoding::SimpleString => Header::SimpleString,
            Encoding::ConstString => Header::ConstString,
            Encoding::DictString(_) => Header::DictString,
            Encoding::Packed(Packing::W64) => Header::Primitive,
            Encoding::Packed(_) => Header::Int,
            Encoding::Masked(Packing::W64) => Header::MaskedPrimitive,
            Encoding::Masked(_) => Header::MaskedInt,
            Encoding::Repeated => Header::Repeated,
            Encoding::DeltaDelta(_) => Header::DeltaDelta,
            Encoding::Utf8 => Header::Utf8,
            Encoding::FixedMaxUtf8 => Header::FixedMaxUtf8,
            Encoding::DictUtf8(_) => Header::DictUtf8,
        }
    }

    /// Width and sign of the stored numbers, codes or residuals, where the encoding has any.
    #[must_use]
    pub const fn packing(self) -> Option<Packing> {
        match self {
            Encoding::Simple(p)
            | Encoding::Const(p)
            | Encoding::Diff(p)
            | Encoding::DiffDateTime { millis: p, .. }
            | Encoding::DictString(p)
            | Encoding::Packed(p)
            | Encoding::Masked(p)
            | Encoding::DeltaDelta(p)
            | Encoding::DictUtf8(p) => Some(p),
            _ => None,
        }
    }
}

impl fmt::Display for Encoding {
    /// The format's name of the kind, and the width: `Int u4`, `DeltaDelta i8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.header().name())?;
        match self.packing() {
            Some(Packing::W64) => f.write_str(" 64"),
            Some(packing) => write!(f, " {}{}", if packing.signed() { 'i' } else { 'u' }, packing.bits()),
            None => Ok(()),
        }
    }
}
