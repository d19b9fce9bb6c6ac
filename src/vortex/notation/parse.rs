//! Parses the notation of types, and writes the FlatBuffer of the type.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::{PRIMS, UNITS, name, symbol};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::{self as flat, Type as Tag};
use crate::limits::{Depth, Fuel, Limits};
use crate::meta::flat::write::{Field, Place, Writer};
use crate::vortex::dtype::{DType, number_of_prim, number_of_unit};
use crate::vortex::raw::Calendar;
use crate::vortex::write::put_dtype;

/// A type that owns its bytes, parsed from the notation in which a [`DType`] is displayed.
///
/// A type may have up to 65,536 nodes. A name ends at the first `=`, and a zone at the first `]`. The metadata of extension types other than
/// `vortex.date`, `vortex.time` and `vortex.timestamp` is not part of the notation, and then empty.
///
/// ```
/// use pilaster::error::{Kind, What};
/// use pilaster::vortex::{DTypeBuf, File};
///
/// // A file that does not store the type of its rows.
/// # let mut bytes = *include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
/// # bytes[2712..2714].fill(0); // The field `dtype` of the postscript is now absent.
/// let dtype: DTypeBuf = "{u8=u8, i64=i64, u64n=u64?, i32=i32}".parse()?;
/// let file = File::open_as(&bytes, dtype.as_dtype())?;
/// assert_eq!(file.dtype().children(), 4);
/// assert_eq!(file.table()?.to_vec::<i32>("i32")?[..3], [-5, -3, -1]);
///
/// // An error has the position, and what is expected there.
/// let e = "list[i64]".parse::<DTypeBuf>().unwrap_err();
/// assert_eq!((e.kind(), e.what(), e.at()), (Kind::Invalid, What::NOTATION_OPEN, 4));
/// # use pilaster::column::Table;
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DTypeBuf {
    /// A FlatBuffer of a valid type.
    bytes: Vec<u8>,
}

impl DTypeBuf {
    /// Returns the type.
    #[must_use]
    pub fn as_dtype(&self) -> DType<'_> {
        // The bytes were parsed when they were made.
        DType::parse(&self.bytes).unwrap_or(DType::NULL)
    }

    /// Returns the FlatBuffer of the type, which [`DType::parse`] accepts.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Display for DTypeBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_dtype().fmt(f)
    }
}

impl FromStr for DTypeBuf {
    type Err = Error;

    /// Parses a type, such as `{a=i64, t=vortex.timestamp[ms, tz=UTC](i64?)}`.
    ///
    /// # Errors
    /// [`Kind::Invalid`] at the byte where the text is not a type; the field is what is expected there, such as
    /// `What::NOTATION_TYPE`, and `need` is the byte that is found. [`Kind::Truncated`] if the text ends there;
    /// [`Kind::Overflow`] for a number out of its range; [`Kind::Limit`] if types are nested too deep, or too many.
    fn from_str(text: &str) -> Result<Self> {
        let limits = Limits { max_nodes: super::SHOWN, ..Limits::DEFAULT };
        let mut parser = Parser { text, at: 0, fuel: Fuel::new(&limits), to: Writer::default() };
        let root = parser.ty(Depth::new(&limits))?;
        if parser.at < text.len() {
            return Err(parser.expected(What::NOTATION_END));
        }
        let bytes = parser.to.finish(root);
        // Readers refuse a type that is nested too deep; so does the parser.
        DType::parse(&bytes)?.walk(&mut Fuel::new(&limits))?;
        Ok(DTypeBuf { bytes })
    }
}

struct Parser<'t> {
    text: &'t str,
    /// The position of the next byte.
    at: usize,
    fuel: Fuel,
    to: Writer,
}

/// Characters that end a word.
const ENDS: [char; 10] = ['(', ')', '[', ']', '{', '}', ',', '=', '?', ' '];

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Creates the error for text that is not `what`.
    #[cold]
    fn expected(&self, what: What) -> Error {
        match self.rest().bytes().next() {
            Some(found) => Error::needing(Kind::Invalid, what, self.at as u64, found.into()),
            None => Error::new(Kind::Truncated, what, self.at as u64),
        }
    }

    /// Skips `token` if it is next.
    fn skip(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at = self.at.saturating_add(token.len());
        }
        found
    }

    fn take(&mut self, token: &str, what: What) -> Result<()> {
        if self.skip(token) { Ok(()) } else { Err(self.expected(what)) }
    }

    /// Skips a comma, and one space after it.
    fn comma(&mut self) -> bool {
        let found = self.skip(",");
        if found {
            self.skip(" ");
        }
        found
    }

    /// Returns the text before the first of `ends`, or all of it.
    fn until(&mut self, ends: &[char]) -> &'t str {
        let rest = self.rest();
        let text = rest.find(ends).and_then(|end| rest.get(..end)).unwrap_or(rest);
        self.at = self.at.saturating_add(text.len());
        text
    }

    /// Parses a number.
    fn number<T: FromStr + PartialOrd>(&mut self, range: core::ops::RangeInclusive<T>) -> Result<T> {
        let start = self.at;
        let digits = self.until(&ENDS);
        let wrong = |kind| Error::new(kind, What::NOTATION_NUMBER, start as u64);
        match digits.parse::<T>() {
            Ok(number) if range.contains(&number) => Ok(number),
            Err(_)
                if digits.trim_start_matches('-').bytes().any(|digit| !digit.is_ascii_digit()) || digits.is_empty() =>
            {
                self.at = start;
                Err(self.expected(What::NOTATION_NUMBER))
            }
            _ => Err(wrong(Kind::Overflow)),
        }
    }

    /// Parses a type and writes it.
    fn ty(&mut self, depth: Depth) -> Result<Place> {
        self.fuel.spend(self.at as u64)?;
        let depth = depth.child(self.at as u64)?;
        if self.skip("{") {
            return self.fields(depth);
        }
        let start = self.at;
        let word = self.until(&ENDS);
        let leaf = |tag, nullable| (tag, Vec::new(), nullable);
        let (tag, mut fields, nullable) = match word {
            "null" => return Ok(put_dtype(Tag::NULL, &[], &mut self.to)),
            "bool" => leaf(Tag::BOOL, flat::Bool::NULLABLE),
            "utf8" => leaf(Tag::UTF8, flat::Utf8::NULLABLE),
            "binary" => leaf(Tag::BINARY, flat::Binary::NULLABLE),
            "variant" => leaf(Tag::VARIANT, flat::Variant::NULLABLE),
            "decimal" => (Tag::DECIMAL, self.decimal()?, flat::Decimal::NULLABLE),
            "list" => (Tag::LIST, self.list(depth)?, flat::List::NULLABLE),
            "fixed_size_list" => (Tag::FIXED_SIZE_LIST, self.fixed_list(depth)?, flat::FixedSizeList::NULLABLE),
            "map" => (Tag::MAP, self.map(depth)?, flat::Map::NULLABLE),
            _ => {
                let Some(prim) = PRIMS.iter().find(|prim| name(**prim) == word) else {
                    return self.extension((start, word), depth);
                };
                let ptype = Field::U8(number_of_prim(*prim));
                (Tag::PRIMITIVE, Vec::from([(flat::Primitive::PTYPE, ptype)]), flat::Primitive::NULLABLE)
            }
        };
        fields.push((nullable, self.nullable()));
        Ok(put_dtype(tag, &fields, &mut self.to))
    }

    fn nullable(&mut self) -> Field {
        Field::U8(self.skip("?").into())
    }

    /// Parses a struct, from its first name.
    fn fields(&mut self, depth: Depth) -> Result<Place> {
        let (mut names, mut types) = (Vec::new(), Vec::new());
        while !self.skip("}") {
            if !names.is_empty() && !self.comma() {
                return Err(self.expected(What::NOTATION_NEXT));
            }
            names.push(self.until(&['=']));
            self.take("=", What::NOTATION_EQUALS)?;
            types.push(self.ty(depth)?);
        }
        let names: Vec<Place> = names.iter().map(|name| self.to.text(name)).collect();
        let all = [
            (flat::Struct::NAMES, Field::Place(self.to.places(&names))),
            (flat::Struct::DTYPES, Field::Place(self.to.places(&types))),
            (flat::Struct::NULLABLE, self.nullable()),
        ];
        Ok(put_dtype(Tag::STRUCT, &all, &mut self.to))
    }

    fn decimal(&mut self) -> Result<Vec<(u8, Field)>> {
        self.take("(", What::NOTATION_OPEN)?;
        let precision = self.number(1..=76u8)?;
        if !self.comma() {
            return Err(self.expected(What::NOTATION_COMMA));
        }
        let scale = self.number(i8::MIN..=76)?;
        self.take(")", What::NOTATION_CLOSE)?;
        let scale = Field::U8(scale.cast_unsigned());
        Ok(Vec::from([(flat::Decimal::PRECISION, Field::U8(precision)), (flat::Decimal::SCALE, scale)]))
    }

    /// Parses a type in parentheses.
    fn inner(&mut self, depth: Depth) -> Result<Place> {
        self.take("(", What::NOTATION_OPEN)?;
        let inner = self.ty(depth)?;
        self.take(")", What::NOTATION_CLOSE)?;
        Ok(inner)
    }

    fn list(&mut self, depth: Depth) -> Result<Vec<(u8, Field)>> {
        Ok(Vec::from([(flat::List::ELEMENT_TYPE, Field::Place(self.inner(depth)?))]))
    }

    fn fixed_list(&mut self, depth: Depth) -> Result<Vec<(u8, Field)>> {
        let item = (flat::FixedSizeList::ELEMENT_TYPE, Field::Place(self.inner(depth)?));
        self.take("[", What::NOTATION_BRACKET)?;
        let size = (flat::FixedSizeList::SIZE, Field::U32(self.number(0..=u32::MAX)?));
        self.take("]", What::NOTATION_BRACKET_END)?;
        Ok(Vec::from([item, size]))
    }

    fn map(&mut self, depth: Depth) -> Result<Vec<(u8, Field)>> {
        self.take("(", What::NOTATION_OPEN)?;
        let key = self.ty(depth)?;
        if !self.comma() {
            return Err(self.expected(What::NOTATION_COMMA));
        }
        let value = self.ty(depth)?;
        let sorted = self.comma();
        if sorted {
            self.take("keys_sorted=", What::NOTATION_SORTED)?;
        }
        let sorted = match sorted {
            true if self.skip("true") => true,
            true => self.take("false", What::NOTATION_SORTED).map(|()| false)?,
            false => false,
        };
        self.take(")", What::NOTATION_CLOSE)?;
        Ok(Vec::from([
            (flat::Map::KEY_TYPE, Field::Place(key)),
            (flat::Map::VALUE_TYPE, Field::Place(value)),
            (flat::Map::KEYS_SORTED, Field::U8(sorted.into())),
        ]))
    }

    /// Parses the unit, the zone and the storage type of an extension.
    fn extension(&mut self, (start, id): (usize, &str), depth: Depth) -> Result<Place> {
        let known = Calendar::of(id.as_bytes());
        let metadata = match known {
            // Every other word that is not a type.
            Calendar::Unknown if id.is_empty() || !self.rest().starts_with('(') => {
                self.at = start;
                return Err(self.expected(What::NOTATION_TYPE));
            }
            Calendar::Unknown => Vec::new(),
            known => self.calendar(known)?,
        };
        let stored = self.inner(depth)?;
        let metadata = self.to.vector(&metadata, metadata.len(), 1);
        let id = self.to.text(id);
        let fields = [
            (flat::Extension::ID, Field::Place(id)),
            (flat::Extension::STORAGE_DTYPE, Field::Place(stored)),
            (flat::Extension::METADATA, Field::Place(metadata)),
        ];
        Ok(put_dtype(Tag::EXTENSION, &fields, &mut self.to))
    }

    /// Parses unit and zone, in brackets. Returns the metadata of the extension.
    fn calendar(&mut self, id: Calendar) -> Result<Vec<u8>> {
        self.take("[", What::NOTATION_BRACKET)?;
        let start = self.at;
        let word = self.until(&ENDS);
        let unit = UNITS.iter().find(|unit| symbol(**unit) == word).and_then(|unit| number_of_unit(*unit));
        let Some(unit) = unit else {
            self.at = start;
            return Err(self.expected(What::NOTATION_UNIT));
        };
        let mut metadata = Vec::from([unit]);
        if id == Calendar::Timestamp {
            let at = self.at as u64;
            let zone = if self.skip(", tz=") { self.until(&[']']) } else { "" };
            let len = u16::try_from(zone.len()).map_err(|_| Error::new(Kind::Overflow, What::NOTATION_UNIT, at))?;
            metadata.extend_from_slice(&len.to_le_bytes());
            metadata.extend_from_slice(zone.as_bytes());
        }
        self.take("]", What::NOTATION_BRACKET_END)?;
        Ok(metadata)
    }
}
