//! The constants of the file format, for reading and writing.

pub use crate::generated::jay::SType;

use crate::column::{Prim, Type, Unit};

/// The start signature: the first eight bytes (section 1).
pub const HEAD: [u8; 8] = *b"JAY1\0\0\0\0";
/// The end signature: the last eight bytes.
pub const TAIL: [u8; 8] = *b"\0\0\0\x001JAY";
/// The last four bytes of very old files.
pub const OLD_TAIL: [u8; 4] = *b"JAY1";
/// Size in bytes of the end of a file, after the metadata: its length, and the end signature.
pub const TAIL_LEN: u64 = 16;
/// Minimum size in bytes of a file: both signatures and the metadata length.
pub const MIN_LEN: u64 = 24;
/// Alignment in bytes: buffers and metadata start at multiples of it, and the file length is a multiple of it.
pub const ALIGN: u64 = 8;
/// Minimum size in bytes of the metadata, a FlatBuffer.
pub const MIN_META: u64 = 16;

/// Index of the validity bitmap in [`Field::buffers`](super::Field::buffers): one bit per row, 1 = has a value; empty
/// if the column has no bitmap.
pub const VALIDITY: usize = 0;
/// Index of the buffer of values, or of the offsets of strings and arrays.
pub const DATA: usize = 1;
/// Index of the buffer of the characters of strings.
pub const TEXT: usize = 2;

/// The byte of a missing row of a Bool8 column without bitmap.
pub const NA_BOOL: u8 = 0x80;
/// Flag in the 32-bit end offset of a string: the row is missing. Used if the column has no bitmap.
pub const NA_OFFSET32: u32 = 1 << 31;
/// Flag in the 64-bit end offset of a string: the row is missing. Used if the column has no bitmap.
pub const NA_OFFSET64: u64 = 1 << 63;
/// Bits of the NaN that the original writes for a missing Float32.
pub const NA_F32: u32 = 0x7fc0_0000;
/// Bits of the NaN that the original writes for a missing Float64.
pub const NA_F64: u64 = 0x7ff8_0000_0000_0000;

/// The properties of a storage type, for code that shows or dispatches on it:
///
/// ```
/// use pilaster::column::Type;
/// use pilaster::jay::SType;
///
/// let stype = SType::Str32;
/// assert_eq!((stype.name(), stype.ty(), stype.is_text()), ("str32", Some(Type::Utf8), true));
/// // A bitmap, offsets of 4 bytes each, and characters.
/// assert_eq!((stype.buffers(), stype.width()), (3, 4));
/// assert!(SType::Arr64.is_array() && SType::Arr64.ty() == Some(Type::List));
/// assert_eq!(SType::from(99).ty(), None);
/// ```
impl SType {
    /// Returns the size in bytes of an element, or of an offset; 0 for void and unknown types.
    #[must_use]
    pub const fn width(self) -> u64 {
        match self {
            SType::Bool8 | SType::Int8 => 1,
            SType::Int16 => 2,
            SType::Int32 | SType::Float32 | SType::Date32 | SType::Str32 | SType::Arr32 => 4,
            SType::Int64 | SType::Float64 | SType::Time64 | SType::Str64 | SType::Arr64 => 8,
            SType::Void0 | SType::Unknown(_) => 0,
        }
    }

    /// Returns the logical type of the elements, or `None` for an unknown type.
    #[must_use]
    pub const fn ty(self) -> Option<Type> {
        Some(match self {
            SType::Bool8 => Type::Bool,
            SType::Int8 => Type::Prim(Prim::I8),
            SType::Int16 => Type::Prim(Prim::I16),
            SType::Int32 => Type::Prim(Prim::I32),
            SType::Int64 => Type::Prim(Prim::I64),
            SType::Float32 => Type::Prim(Prim::F32),
            SType::Float64 => Type::Prim(Prim::F64),
            SType::Str32 | SType::Str64 => Type::Utf8,
            SType::Date32 => Type::Date(Unit::Day),
            SType::Time64 => Type::Timestamp(Unit::Nano),
            SType::Void0 => Type::Null,
            SType::Arr32 | SType::Arr64 => Type::List,
            SType::Unknown(_) => return None,
        })
    }

    /// Returns the number type of an element; `None` for booleans and offsets.
    #[must_use]
    pub(super) const fn prim(self) -> Option<Prim> {
        match self {
            SType::Date32 => Some(Prim::I32),
            SType::Time64 => Some(Prim::I64),
            _ => match self.ty() {
                Some(Type::Prim(prim)) => Some(prim),
                _ => None,
            },
        }
    }

    /// Returns the name in the original's interface: `int32`, `str64`, `arr32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SType::Bool8 => "bool8",
            SType::Int8 => "int8",
            SType::Int16 => "int16",
            SType::Int32 => "int32",
            SType::Int64 => "int64",
            SType::Float32 => "float32",
            SType::Float64 => "float64",
            SType::Str32 => "str32",
            SType::Str64 => "str64",
            SType::Date32 => "date32",
            SType::Time64 => "time64",
            SType::Void0 => "void",
            SType::Arr32 => "arr32",
            SType::Arr64 => "arr64",
            SType::Unknown(_) => "unknown",
        }
    }

    /// Returns whether the elements are strings.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(self, SType::Str32 | SType::Str64)
    }

    /// Returns whether the elements are arrays.
    #[must_use]
    pub const fn is_array(self) -> bool {
        matches!(self, SType::Arr32 | SType::Arr64)
    }

    /// Returns the number of buffers of a column in the new layout (section 4.2).
    #[must_use]
    pub const fn buffers(self) -> usize {
        match self {
            SType::Void0 => 0,
            SType::Str32 | SType::Str64 => 3,
            _ => 2,
        }
    }
}
