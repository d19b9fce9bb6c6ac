//! Logical types: what the rows of a column mean.

use core::fmt;

/// A plain number type.
///
/// ```
/// use pilaster::column::Prim;
///
/// assert_eq!((Prim::U16.name(), Prim::U16.size()), ("uint16", 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[allow(missing_docs, reason = "the names say it")]
pub enum Prim {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Prim {
    /// Returns the size of a value in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Prim::I8 | Prim::U8 => 1,
            Prim::I16 | Prim::U16 | Prim::F16 => 2,
            Prim::I32 | Prim::U32 | Prim::F32 => 4,
            Prim::I64 | Prim::U64 | Prim::F64 => 8,
        }
    }

    /// Returns the name that the tools print: `int32`, `uint8`, `float64`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Prim::I8 => "int8",
            Prim::I16 => "int16",
            Prim::I32 => "int32",
            Prim::I64 => "int64",
            Prim::U8 => "uint8",
            Prim::U16 => "uint16",
            Prim::U32 => "uint32",
            Prim::U64 => "uint64",
            Prim::F16 => "float16",
            Prim::F32 => "float32",
            Prim::F64 => "float64",
        }
    }
}

/// The unit of a stored date or time.
///
/// ```
/// use pilaster::column::{Type, Unit};
///
/// assert_eq!(Unit::Micro.name(), "us");
/// assert_eq!(Type::Timestamp(Unit::Micro).to_string(), "timestamp[us]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[allow(missing_docs, reason = "the names say it")]
pub enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Milli,
    Micro,
    Nano,
    Pico,
    Femto,
    Atto,
}

impl Unit {
    /// All units, the longest first.
    pub const ALL: [Unit; 13] = [
        Unit::Year,
        Unit::Month,
        Unit::Week,
        Unit::Day,
        Unit::Hour,
        Unit::Minute,
        Unit::Second,
        Unit::Milli,
        Unit::Micro,
        Unit::Nano,
        Unit::Pico,
        Unit::Femto,
        Unit::Atto,
    ];

    /// Returns the short name, as numpy and Arrow write it: `Y M W D h m s ms us ns ps fs as`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Year => "Y",
            Unit::Month => "M",
            Unit::Week => "W",
            Unit::Day => "D",
            Unit::Hour => "h",
            Unit::Minute => "m",
            Unit::Second => "s",
            Unit::Milli => "ms",
            Unit::Micro => "us",
            Unit::Nano => "ns",
            Unit::Pico => "ps",
            Unit::Femto => "fs",
            Unit::Atto => "as",
        }
    }
}

/// The logical type of a column. The children of a nested type have types of their own
/// ([`Column::child`](super::Column::child)); [`Column::zone`](super::Column::zone) returns the zone of a timestamp.
///
/// ```
/// use pilaster::column::{Prim, Type};
///
/// assert_eq!(Type::Prim(Prim::F64).to_string(), "float64");
/// assert_eq!(Type::Decimal { precision: 10, scale: 2 }.to_string(), "decimal(10,2)");
/// // A map has one child, a struct of key and value.
/// assert_eq!((Type::Struct(2).children(), Type::Map.children(), Type::Utf8.children()), (2, 1, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Type {
    /// No row has a value.
    Null,
    /// True or false: [`Values::Bool`](super::Values::Bool).
    Bool,
    /// A number.
    Prim(Prim),
    /// An integer times 10^-scale. It has 8 to 256 bits: the narrowest width that holds `precision` digits.
    Decimal {
        /// Number of decimal digits, 1 to 76.
        precision: u8,
        /// Number of digits after the point; may be negative.
        scale: i8,
    },
    /// A calendar date since 1970-01-01: 32 bits in days, 64 bits in finer units.
    Date(Unit),
    /// A time of day: 32 bits in seconds and milliseconds, 64 bits in finer units.
    Time(Unit),
    /// 64-bit units since 1970-01-01T00:00, with or without a zone.
    Timestamp(Unit),
    /// Byte strings of any length.
    Bytes,
    /// Byte strings of this length.
    FixedBytes(u32),
    /// Text. Its bytes are checked only when they are read as `str`.
    Utf8,
    /// Any number of rows of child 0.
    List,
    /// A fixed number of rows of child 0 per row.
    FixedList(u32),
    /// One row of each child; the value is the number of children.
    Struct(u32),
    /// Any number of pairs: rows of child 0, a struct of key and value.
    Map,
    /// Bytes in the encoding of one program, such as a pickle.
    Opaque,
}

impl Type {
    /// Returns the number of children of a column of this type.
    #[must_use]
    pub const fn children(self) -> usize {
        match self {
            Type::List | Type::FixedList(_) | Type::Map => 1,
            Type::Struct(n) => n as usize,
            _ => 0,
        }
    }
}

impl fmt::Display for Type {
    /// Writes the name without children and zone: `int32`, `timestamp[ms]`, `decimal(10,2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Prim(prim) => f.write_str(prim.name()),
            Type::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
            Type::Date(unit) => {
                let bits = if *unit == Unit::Day { 32 } else { 64 };
                write!(f, "date{bits}[{}]", if *unit == Unit::Day { "day" } else { unit.name() })
            }
            Type::Time(unit) => {
                let bits = if matches!(unit, Unit::Second | Unit::Milli) { 32 } else { 64 };
                write!(f, "time{bits}[{}]", unit.name())
            }
            Type::Timestamp(unit) => write!(f, "timestamp[{}]", unit.name()),
            Type::Bytes => f.write_str("bytes"),
            Type::FixedBytes(n) => write!(f, "fixed_bytes({n})"),
            Type::Utf8 => f.write_str("string"),
            Type::List => f.write_str("list"),
            Type::FixedList(n) => write!(f, "fixed_size_list({n})"),
            Type::Struct(n) => write!(f, "struct({n})"),
            Type::Map => f.write_str("map"),
            Type::Opaque => f.write_str("object"),
        }
    }
}
