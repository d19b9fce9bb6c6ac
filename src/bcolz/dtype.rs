//! Types of items, in numpy's notation (section A.3).

use core::fmt;

use super::fields::Fields;
use crate::bytes::decimal;
use crate::column::{Prim, Type, Unit};
use crate::error::{Error, Kind, Result, What};

/// Maximum size in bytes of an item.
pub(super) const MAX_ITEM: u32 = 1 << 24;

/// The type of an item, in numpy's notation.
///
/// ```
/// use pilaster::bcolz::Dtype;
/// use pilaster::column::{Type, Unit};
///
/// let text = Dtype::parse("<U4")?;
/// assert_eq!(text, Dtype::Text { chars: 4, big: false });
/// assert_eq!((text.size(), text.typesize(), text.ty()), (16, 4, Type::Utf8));
///
/// let time = Dtype::parse(">M8[ns]")?;
/// assert_eq!((time.to_string().as_str(), time.ty()), (">M8[ns]", Type::Timestamp(Unit::Nano)));
/// assert_eq!(Dtype::parse("<f8")?.to_string(), "float64");
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dtype<'a> {
    /// `bool`: a byte, 0 or 1.
    Bool,
    /// `int32`, `<f8`, `>u2`.
    Number {
        /// The type of number.
        prim: Prim,
        /// True for big-endian.
        big: bool,
    },
    /// `|S5`: this number of bytes. Trailing NULs are padding.
    Bytes(u32),
    /// `<U4`: UTF-32 characters. Trailing NULs are padding.
    Text {
        /// Maximum number of characters.
        chars: u32,
        /// True for big-endian.
        big: bool,
    },
    /// `datetime64[ns]`: 64-bit units since 1970-01-01; the minimum means "not a time".
    Time {
        /// The unit.
        unit: Unit,
        /// True for big-endian.
        big: bool,
    },
    /// `|V300`: this number of bytes.
    Void(u32),
    /// `[('a', '<i4'), ('b', '<f8')]`: records, packed, or a dict with the offsets of the fields.
    Struct(Fields<'a>),
    /// `object`: a Python pickle of any length, which is never parsed.
    Object,
}

impl<'a> Dtype<'a> {
    /// Parses the text of a type.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for types that numpy supports and this crate does not, and for unknown types; `at` is the
    /// offset in the text. [`Kind::Limit`] for items of more than 16 MiB.
    pub fn parse(text: &'a str) -> Result<Self> {
        match text.as_bytes().first() {
            Some(b'[' | b'{') => Fields::parse(text).map(Dtype::Struct),
            _ => Dtype::scalar(text),
        }
    }

    /// Parses a type other than a record.
    pub(super) fn scalar(text: &'a str) -> Result<Self> {
        let unknown = || Error::new(Kind::Unsupported, What::BCOLZ_DTYPE, 0);
        let little = |prim| Ok(Dtype::Number { prim, big: false });
        if text == "bool" {
            return Ok(Dtype::Bool);
        }
        if text == "object" {
            return Ok(Dtype::Object);
        }
        if let Some(prim) = PRIMS.iter().copied().find(|prim| prim.name() == text) {
            return little(prim);
        }
        if let Some(rest) = text.strip_prefix("datetime64") {
            return unit(rest).map(|unit| Dtype::Time { unit, big: false }).ok_or_else(unknown);
        }
        let (big, code) = match text.split_at_checked(1) {
            Some((">", code)) => (true, code),
            Some(("<" | "|" | "=", code)) => (false, code),
            _ => (false, text),
        };
        let (kind, size) = code.split_at_checked(1).ok_or_else(unknown)?;
        if kind == "M" {
            let unit = size.strip_prefix('8').and_then(unit).ok_or_else(unknown)?;
            return Ok(Dtype::Time { unit, big });
        }
        if let ("?", "") | ("b", "1") = (kind, size) {
            return Ok(Dtype::Bool);
        }
        if let ("O", "" | "8" | "4") = (kind, size) {
            return Ok(Dtype::Object);
        }
        let size = number(size).filter(|size| *size > 0).ok_or_else(unknown)?;
        if size > MAX_ITEM / 4 {
            return Err(Error::needing(Kind::Limit, What::BCOLZ_DTYPE, 1, (MAX_ITEM / 4).into()));
        }
        match kind {
            "S" | "a" => Ok(Dtype::Bytes(size)),
            "U" => Ok(Dtype::Text { chars: size, big }),
            "V" => Ok(Dtype::Void(size)),
            // The letter is the first one of the name.
            "i" | "u" | "f" => {
                let prim = PRIMS.iter().find(|prim| prim.name().starts_with(kind) && prim.size() == size as usize);
                prim.map(|prim| Dtype::Number { prim: *prim, big }).ok_or_else(unknown)
            }
            _ => Err(unknown()),
        }
    }

    /// Returns the size in bytes of an item; 0 for objects, whose sizes differ.
    #[must_use]
    pub const fn size(&self) -> u32 {
        match self {
            Dtype::Bool => 1,
            #[allow(clippy::cast_possible_truncation, reason = "1 to 8")]
            Dtype::Number { prim, .. } => prim.size() as u32,
            Dtype::Bytes(n) | Dtype::Void(n) => *n,
            Dtype::Text { chars, .. } => chars.saturating_mul(4),
            Dtype::Time { .. } => 8,
            Dtype::Struct(fields) => fields.size(),
            Dtype::Object => 0,
        }
    }

    /// Returns the item size in bytes that the shuffle uses when chunks are written (section A.3).
    #[must_use]
    pub fn typesize(&self) -> u8 {
        match self {
            Dtype::Bytes(_) | Dtype::Object => 1,
            Dtype::Text { .. } => 4,
            other => u8::try_from(other.size()).unwrap_or(1),
        }
    }

    /// Returns the type of a column of these items.
    #[must_use]
    pub const fn ty(&self) -> Type {
        match self {
            Dtype::Bool => Type::Bool,
            Dtype::Number { prim, .. } => Type::Prim(*prim),
            Dtype::Bytes(_) => Type::Bytes,
            Dtype::Text { .. } => Type::Utf8,
            Dtype::Time { unit, .. } => Type::Timestamp(*unit),
            Dtype::Void(n) => Type::FixedBytes(*n),
            Dtype::Struct(fields) => Type::Struct(fields.count()),
            Dtype::Object => Type::Opaque,
        }
    }
}

/// Writes the text that the original writes. [`Dtype::parse`] reads it.
impl fmt::Display for Dtype<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dtype::Bool => f.write_str("bool"),
            Dtype::Number { prim, big: true } if prim.size() > 1 => Code(*self).fmt(f),
            Dtype::Number { prim, .. } => f.write_str(prim.name()),
            Dtype::Time { unit, big: false } => write!(f, "datetime64[{}]", unit.name()),
            Dtype::Struct(fields) => f.write_str(fields.text()),
            Dtype::Object => f.write_str("object"),
            _ => Code(*self).fmt(f),
        }
    }
}

/// Displays a type in numpy's short form, which fields of records use: `<i4`, `|b1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code<'a>(pub(super) Dtype<'a>);

impl fmt::Display for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = |big: bool, size: usize| match (big, size) {
            (_, 1) => "|",
            (true, _) => ">",
            (false, _) => "<",
        };
        match self.0 {
            Dtype::Bool => f.write_str("|b1"),
            Dtype::Number { prim, big } => {
                let (kind, size) = (prim.name().get(..1).unwrap_or_default(), prim.size());
                write!(f, "{}{kind}{size}", order(big, size))
            }
            Dtype::Bytes(n) => write!(f, "|S{n}"),
            Dtype::Void(n) => write!(f, "|V{n}"),
            Dtype::Text { chars, big } => write!(f, "{}U{chars}", order(big, 4)),
            Dtype::Time { unit, big } => write!(f, "{}M8[{}]", order(big, 8), unit.name()),
            Dtype::Object => f.write_str("|O"),
            Dtype::Struct(_) => self.0.fmt(f),
        }
    }
}

/// All types of numbers.
const PRIMS: [Prim; 11] = [
    Prim::I8,
    Prim::I16,
    Prim::I32,
    Prim::I64,
    Prim::U8,
    Prim::U16,
    Prim::U32,
    Prim::U64,
    Prim::F16,
    Prim::F32,
    Prim::F64,
];

/// Parses decimal digits.
pub(super) fn number(digits: &str) -> Option<u32> {
    u32::try_from(decimal(digits)?).ok()
}

/// Parses a unit in brackets, such as `[ns]`.
fn unit(text: &str) -> Option<Unit> {
    let name = text.strip_prefix('[')?.strip_suffix(']')?;
    Unit::ALL.iter().copied().find(|unit| unit.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn types_of_the_text() {
        for (text, size, typesize, ty) in [
            ("bool", 1, 1, "bool"),
            ("|b1", 1, 1, "bool"),
            ("int64", 8, 8, "int64"),
            ("float16", 2, 2, "float16"),
            (">i4", 4, 4, "int32"),
            (">f8", 8, 8, "float64"),
            ("<u2", 2, 2, "uint16"),
            ("|S5", 5, 1, "bytes"),
            ("S300", 300, 1, "bytes"),
            ("<U4", 16, 4, "string"),
            (">U1", 4, 4, "string"),
            ("datetime64[ns]", 8, 8, "timestamp[ns]"),
            (">M8[D]", 8, 8, "timestamp[D]"),
            ("|V300", 300, 1, "fixed_bytes(300)"),
            ("|V255", 255, 255, "fixed_bytes(255)"),
            ("object", 0, 1, "object"),
            ("[('a', '<i4'), ('b', '<f8'), (\"it's\", '<U3')]", 24, 24, "struct(3)"),
            ("{'names': ['a'], 'formats': ['<i4'], 'offsets': [4], 'itemsize': 300}", 300, 1, "struct(1)"),
        ] {
            let dtype = Dtype::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(
                (dtype.size(), dtype.typesize(), format!("{}", dtype.ty())),
                (size, typesize, ty.into()),
                "{text}"
            );
        }
        assert_eq!(Dtype::parse(">i4"), Ok(Dtype::Number { prim: Prim::I32, big: true }));
    }

    #[test]
    fn types_are_spelled_as_they_are_read() {
        for text in [
            "bool",
            "int8",
            "uint64",
            "float16",
            ">i4",
            ">f2",
            "|S5",
            "<U4",
            ">U4",
            "datetime64[ns]",
            ">M8[D]",
            "|V300",
            "object",
            "[('a', '<i4'), (\"it's\", '|S3')]",
        ] {
            let dtype = Dtype::parse(text).unwrap();
            assert_eq!(format!("{dtype}"), text);
            // The short form means the same.
            assert_eq!(Dtype::parse(&format!("{}", Code(dtype))), Ok(dtype), "{text}");
        }
        let codes = ["bool", "int8", "int32", "float64", "datetime64[us]"]
            .map(|text| format!("{}", Code(Dtype::parse(text).unwrap())));
        assert_eq!(codes, ["|b1", "|i1", "<i4", "<f8", "<M8[us]"]);
    }

    #[test]
    fn what_is_not_understood() {
        for text in [
            "",
            "i",
            "int",
            "int128",
            "complex64",
            "timedelta64[ns]",
            "datetime64",
            "datetime64[10ms]",
            "<i3",
            "|S0",
            "|S",
            "<U-1",
            "<U+1",
            "é4",
        ] {
            assert_eq!(Dtype::parse(text).map_err(|e| e.kind()), Err(Kind::Unsupported), "{text}");
        }
        for text in ["|S4294967295", "<U1073741824", "|V4194305"] {
            assert_eq!(Dtype::parse(text).map_err(|e| e.kind()), Err(Kind::Limit), "{text}");
        }
        assert!(Dtype::parse("|S99999999999").is_err());
    }
}
