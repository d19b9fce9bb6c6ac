//! The encodings of a vector, with the width of its numbers.

use core::fmt;

use super::raw::{Header, Packing};

/// The encoding of a vector that was read or is to be written.
///
/// ```
/// use pilaster::filo::{Encoding, Header, Packing};
///
/// let encoding = Encoding::Masked(Packing::I16);
/// assert_eq!(encoding.packing(), Some(Packing::I16));
/// assert_eq!(encoding.to_string(), "masked Int i16");
/// let header = encoding.header();
/// assert_eq!((header, header.word(), header.name()), (Header::MaskedInt, 0x706, "masked Int"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Encoding {
    /// All rows are missing (section 4).
    Empty,
    /// Dense numbers, or bits for booleans (section 8.1).
    Simple(Packing),
    /// One number for all rows (section 8.2).
    Const(Packing),
    /// A base and differences to it (section 8.3).
    Diff(Packing),
    /// A base and differences of instants to it (section 8.4).
    DiffDateTime {
        /// Width of the differences in milliseconds.
        millis: Packing,
        /// Width of the differences of UTC offsets, in quarter hours; `None` if all rows have one offset.
        zones: Option<Packing>,
    },
    /// Strings (section 8.5).
    SimpleString,
    /// One string for all rows (section 8.6).
    ConstString,
    /// Strings by code (section 8.7).
    DictString(Packing),
    /// Dense numbers without missing rows (section 9.1).
    Packed(Packing),
    /// Packed numbers with an NA mask (section 9.2).
    Masked(Packing),
    /// One value for all rows, none of which is missing (sections 9.3, 10.4).
    Repeated,
    /// A line and residuals to it (section 9.4).
    DeltaDelta(Packing),
    /// Byte strings of any length (section 10.1).
    Utf8,
    /// Byte strings in slots of one size (section 10.2).
    FixedMaxUtf8,
    /// Byte strings by code (section 10.3).
    DictUtf8(Packing),
}

impl Encoding {
    /// Returns the header word of the current release (0.3.3 and later).
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

    /// Returns width and sign of the stored numbers, codes or residuals, or `None` if the encoding has none.
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
    /// Writes the format's name of the kind, then the width: `Int u4`, `DeltaDelta i8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.header().name())?;
        match self.packing() {
            Some(Packing::W64) => f.write_str(" 64"),
            Some(packing) => write!(f, " {}{}", if packing.signed() { 'i' } else { 'u' }, packing.bits()),
            None => Ok(()),
        }
    }
}
