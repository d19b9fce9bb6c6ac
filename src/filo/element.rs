//! Element types. The caller must name them, because a vector does not store its type.

use core::fmt;
use core::str::FromStr;

use crate::column::{Prim, Type, Unit};
use crate::error::{Error, Kind, What};

/// The element type of a vector. It is not stored; the header word only selects an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Element {
    /// True or false.
    Boolean,
    /// 32-bit signed.
    Int,
    /// 64-bit signed.
    Long,
    /// IEEE binary32.
    Float,
    /// IEEE binary64.
    Double,
    /// Text in FlatBuffer vectors.
    String,
    /// Text in BinaryVectors. The format does not enforce UTF-8.
    Utf8,
    /// [`Utf8`](Element::Utf8) vectors whose bytes need not be text.
    Blob,
    /// Milliseconds since 1970-01-01, stored as a long.
    Timestamp,
    /// Milliseconds since 1970-01-01 and an offset from UTC: two columns, `v` and `v.utc_offset_ms`.
    DateTime,
}

impl Element {
    /// Every element type.
    pub const ALL: [Element; 10] = [
        Element::Boolean,
        Element::Int,
        Element::Long,
        Element::Float,
        Element::Double,
        Element::String,
        Element::Utf8,
        Element::Blob,
        Element::Timestamp,
        Element::DateTime,
    ];

    /// Returns the name used by the command line tool, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Element::Boolean => "boolean",
            Element::Int => "int",
            Element::Long => "long",
            Element::Float => "float",
            Element::Double => "double",
            Element::String => "string",
            Element::Utf8 => "utf8",
            Element::Blob => "blob",
            Element::Timestamp => "timestamp",
            Element::DateTime => "datetime",
        }
    }

    /// Returns the logical type of column 0.
    #[must_use]
    pub(crate) const fn ty(self) -> Type {
        match self {
            Element::Boolean => Type::Bool,
            Element::Int => Type::Prim(Prim::I32),
            Element::Long => Type::Prim(Prim::I64),
            Element::Float => Type::Prim(Prim::F32),
            Element::Double => Type::Prim(Prim::F64),
            Element::String | Element::Utf8 => Type::Utf8,
            Element::Blob => Type::Bytes,
            Element::Timestamp | Element::DateTime => Type::Timestamp(Unit::Milli),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Element {
    type Err = Error;

    /// Parses a [`name`](Element::name), ignoring ASCII case.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for any other text.
    fn from_str(name: &str) -> Result<Self, Error> {
        Element::ALL
            .into_iter()
            .find(|element| element.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| Error::new(Kind::Unsupported, What::FILO_ELEMENT, 0))
    }
}
