//! Logical types (section 5).

use core::fmt;

use super::raw::Calendar;
#[cfg(feature = "vortex-variant")]
use super::stored_type::Described;
use crate::column::{Prim, Type, Unit};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::{self as flat, Type as Tag};
use crate::limits::{Depth, Fuel};
use crate::meta::flat::{Flat, Table};

pub(super) use super::type_numbers::*;

/// A logical type: a view of a table in the dtype FlatBuffer, or a type that an encoding implies.
///
/// ```
/// use pilaster::column::{Prim, Type, Unit};
/// use pilaster::vortex::{DType, File};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/def_one_row_a.vortex"));
/// # let timestamp = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/timestamp_ms_utc.dtype"));
/// let file = File::open(bytes)?;
/// let table = file.dtype();
/// assert_eq!(table.to_string(), "{i=i32?, s=utf8?, f=f64?, b=bool?, l=list(i64?)?, st={q=i8?}?}");
/// assert_eq!((table.ty(), table.children(), table.nullable()), (Type::Struct(6), 6, false));
/// let list = table.child(4)?;
/// assert_eq!((table.name(4)?, list.ty(), list.child(0)?.ty()), ("l", Type::List, Type::Prim(Prim::I64)));
///
/// // A type from a buffer of its own.
/// let dtype = DType::parse(timestamp)?;
/// assert_eq!(dtype.to_string(), "vortex.timestamp[ms, tz=UTC](i64)");
/// assert_eq!(dtype.ty(), Type::Timestamp(Unit::Milli));
/// assert_eq!(dtype.extension()?, Some((&b"vortex.timestamp"[..], &b"\x02\x03\0UTC"[..])));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct DType<'a> {
    flat: Flat<'a>,
    pub(super) ty: Ty,
}

/// The type of a node: its shape, and the offset of its table in the dtype buffer, which the file of the node knows.
#[derive(Clone, Copy)]
pub(super) struct Ty {
    pub(super) shape: Shape,
    pub(super) nullable: bool,
    pub(super) place: Place,
}

/// Where a type is described.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Nowhere: an encoding implies the type.
    Implied,
    /// In the table at this offset of the dtype FlatBuffer.
    Table(u32, Depth),
    /// In the metadata of an array.
    #[cfg(feature = "vortex-variant")]
    Metadata(Described),
}

/// The shape of values. An extension type has the shape of its storage type.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Null,
    Bool,
    Prim(Prim),
    Decimal {
        precision: u8,
        scale: i8,
    },
    Utf8,
    Binary,
    List,
    FixedList(u32),
    /// A struct with this number of fields.
    Struct(u32),
    Map,
    /// The list of entries that a map is stored as.
    Entries,
    /// A struct of key and value.
    Entry,
    /// Metadata and value.
    #[cfg(feature = "vortex-variant")]
    Variant,
    /// The values of variants, or else their metadata, as bytes that are put together.
    #[cfg(feature = "vortex-variant")]
    VariantPart {
        is_value: bool,
    },
    /// A union, which is not decoded; without the feature `vortex-variant` also a variant.
    Other,
}

impl Shape {
    /// Returns whether values are row ranges of children.
    pub(super) const fn is_nested(self) -> bool {
        matches!(self, Shape::List | Shape::FixedList(_) | Shape::Map | Shape::Entries) || self.is_struct()
    }

    /// Returns whether each value is one row of each child.
    pub(super) const fn is_struct(self) -> bool {
        #[cfg(feature = "vortex-variant")]
        if matches!(self, Shape::Variant) {
            return true;
        }
        matches!(self, Shape::Struct(_) | Shape::Entry)
    }

    /// Returns whether values are texts or bytes.
    pub(super) const fn is_text(self) -> bool {
        #[cfg(feature = "vortex-variant")]
        if matches!(self, Shape::VariantPart { .. }) {
            return true;
        }
        matches!(self, Shape::Utf8 | Shape::Binary)
    }
}

/// The field of the element type. It is the same in both kinds of lists.
const ELEMENT_TYPE: u8 = flat::List::ELEMENT_TYPE;
const _: () = assert!(ELEMENT_TYPE == flat::FixedSizeList::ELEMENT_TYPE);

impl Ty {
    pub(super) const BOOL: Ty = Ty { shape: Shape::Bool, nullable: false, place: Place::Implied };

    pub(super) const fn prim(prim: Prim, nullable: bool) -> Self {
        Ty { shape: Shape::Prim(prim), nullable, place: Place::Implied }
    }

    pub(super) const fn binary(nullable: bool) -> Self {
        Ty { shape: Shape::Binary, nullable, place: Place::Implied }
    }

    /// Returns whether the metadata of an array describe the type.
    pub(super) const fn is_described(&self) -> bool {
        #[cfg(feature = "vortex-variant")]
        if self.description().is_some() {
            return true;
        }
        false
    }

    /// Returns the type without nulls.
    pub(super) const fn required(&self) -> Self {
        Ty { nullable: false, ..*self }
    }

    /// Returns the type with nulls.
    pub(super) const fn optional(&self) -> Self {
        Ty { nullable: true, ..*self }
    }

    /// Returns the list type that a map is stored as.
    pub(super) fn entries(&self) -> Result<Self> {
        match self.shape {
            Shape::Map => Ok(Ty { shape: Shape::Entries, ..*self }),
            _ => Err(Error::new(Kind::Invalid, What::VORTEX_DTYPE, 0)),
        }
    }

    /// Returns the size of a cell in bytes for nulls, bools, numbers and decimals, or `None` for other types. The size
    /// of a decimal depends on its precision.
    pub(super) const fn cell(&self) -> Option<usize> {
        match self.shape {
            Shape::Null | Shape::Bool => Some(1),
            Shape::Prim(prim) => Some(prim.size()),
            Shape::Decimal { precision, .. } => Some(decimal_size(precision)),
            _ => None,
        }
    }

    /// Returns the number of children.
    pub(super) const fn children(&self) -> usize {
        match self.shape {
            Shape::List | Shape::FixedList(_) | Shape::Map | Shape::Entries => 1,
            Shape::Struct(fields) => fields as usize,
            Shape::Entry => 2,
            #[cfg(feature = "vortex-variant")]
            Shape::Variant => 2,
            _ => 0,
        }
    }
}

impl<'a> DType<'a> {
    /// The type of rows without values.
    #[cfg(feature = "alloc")]
    pub(super) const NULL: DType<'static> =
        DType { flat: Flat::new(&[]), ty: Ty { shape: Shape::Null, nullable: true, place: Place::Implied } };

    /// Parses a dtype FlatBuffer that the caller stores apart from a file.
    ///
    /// # Errors
    /// Errors of an invalid root table. Children are checked when they are read.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        DType::of(Flat::new(bytes).root()?)
    }

    /// Parses the type in a table.
    pub(super) fn of(table: Table<'a>) -> Result<Self> {
        let (flat, place) = table.place();
        let (stored, tag, table) = storage_of(table)?;
        let at = stored.at();
        let place = Place::Table(place.0, place.1);
        let of = |shape, nullable| DType { flat, ty: Ty { shape, nullable, place } };
        let bad = |need: u64| Error::needing(Kind::Invalid, What::VORTEX_DTYPE, at, need);
        let (shape, nullable) = match tag {
            Tag::NULL => return Ok(of(Shape::Null, true)),
            Tag::BOOL => (Shape::Bool, flat::Bool::NULLABLE),
            Tag::PRIMITIVE => {
                let number = table.scalar::<u8>(flat::Primitive::PTYPE, 0)?;
                (Shape::Prim(prim_of(number.into()).ok_or_else(|| bad(number.into()))?), flat::Primitive::NULLABLE)
            }
            Tag::DECIMAL => {
                let precision = table.scalar::<u8>(flat::Decimal::PRECISION, 0)?;
                let scale = table.scalar::<i8>(flat::Decimal::SCALE, 0)?;
                if !(1..=76).contains(&precision) || scale > 76 {
                    return Err(bad(precision.into()));
                }
                (Shape::Decimal { precision, scale }, flat::Decimal::NULLABLE)
            }
            Tag::UTF8 => (Shape::Utf8, flat::Utf8::NULLABLE),
            Tag::BINARY => (Shape::Binary, flat::Binary::NULLABLE),
            Tag::STRUCT => {
                let names = table.count(flat::Struct::NAMES)?;
                if names != table.count(flat::Struct::DTYPES)? {
                    return Err(bad(names as u64));
                }
                (Shape::Struct(u32::try_from(names).unwrap_or(u32::MAX)), flat::Struct::NULLABLE)
            }
            Tag::LIST | Tag::FIXED_SIZE_LIST => {
                if table.table::<Table<'_>>(ELEMENT_TYPE)?.is_none() {
                    return Err(bad(0));
                }
                match tag {
                    Tag::LIST => (Shape::List, flat::List::NULLABLE),
                    _ => {
                        let size = table.scalar::<u32>(flat::FixedSizeList::SIZE, 0)?;
                        (Shape::FixedList(size), flat::FixedSizeList::NULLABLE)
                    }
                }
            }
            Tag::MAP => (Shape::Map, flat::Map::NULLABLE),
            #[cfg(feature = "vortex-variant")]
            Tag::VARIANT => (Shape::Variant, flat::Variant::NULLABLE),
            #[cfg(not(feature = "vortex-variant"))]
            Tag::VARIANT => (Shape::Other, flat::Variant::NULLABLE),
            Tag::UNION => (Shape::Other, flat::Union::NULLABLE),
            _ => return Err(bad(tag.into())),
        };
        Ok(of(shape, table.scalar::<bool>(nullable, false)?))
    }

    /// Returns `ty` as a type of the same buffer; an implied type belongs to any buffer.
    pub(super) const fn with(&self, ty: Ty) -> Self {
        DType { ty, ..*self }
    }

    /// Returns the table of the type, or `None` for an implied type.
    pub(super) fn table(&self) -> Option<Table<'a>> {
        match self.ty.place {
            Place::Table(at, depth) => Some(self.flat.again((at, depth))),
            _ => None,
        }
    }

    /// Returns whether a map claims that its keys are sorted.
    pub(super) fn keys_sorted(&self) -> bool {
        let stored = self.table().and_then(|table| storage_of(table).ok());
        stored.is_some_and(|(_, tag, map)| tag == Tag::MAP && flat::Map::from(map).keys_sorted() == Ok(true))
    }

    /// Returns the storage type: for an extension type, the type below all its extensions.
    pub(super) fn storage(&self) -> Result<Self> {
        let Some(table) = self.table() else { return Ok(*self) };
        let (at, depth) = storage_of(table)?.0.place().1;
        Ok(self.with(Ty { place: Place::Table(at, depth), ..self.ty }))
    }

    /// Returns the id and the metadata of an extension type, or `None` for any other type.
    ///
    /// # Errors
    /// Errors of an invalid table of the type.
    pub fn extension(&self) -> Result<Option<(&'a [u8], &'a [u8])>> {
        let Some(table) = self.table() else { return Ok(None) };
        let Some((Tag::EXTENSION, extension)) = table.member(flat::DType::TYPE)? else { return Ok(None) };
        let ty = flat::Extension::from(extension);
        let id = ty.id()?.map_or(&[][..], |id| id.bytes());
        Ok(Some((id, ty.metadata()?.map_or(&[][..], |bytes| bytes.bytes()))))
    }

    /// Returns kind, unit and zone of a standard date, time or timestamp.
    fn calendar(&self) -> Option<(Calendar, Unit, &'a [u8])> {
        let (id, metadata) = self.extension().ok()??;
        calendar(id, metadata)
    }

    /// Returns unit and zone of a standard date, time or timestamp; the zone may be empty.
    pub(super) fn calendar_unit(&self) -> Option<(Unit, &'a [u8])> {
        self.calendar().map(|(_, unit, zone)| (unit, zone))
    }

    /// Returns the zone of a timestamp, or `None` if it is empty or the type is another.
    pub(super) fn zone(&self) -> Result<Option<&'a str>> {
        match self.calendar() {
            Some((_, _, zone)) if !zone.is_empty() => {
                core::str::from_utf8(zone).map(Some).map_err(|_| Error::new(Kind::Utf8, What::VORTEX_DTYPE, 0))
            }
            _ => Ok(None),
        }
    }

    /// Returns the number of units per second for a timestamp.
    pub(super) fn per_second(&self) -> Option<u64> {
        #[cfg(feature = "vortex-variant")]
        if let Place::Metadata(Described { timestamp: Some(unit), .. }) = self.ty.place {
            return per_second(unit).map(u64::from);
        }
        match self.calendar()? {
            (Calendar::Timestamp, unit, _) => per_second(unit).map(u64::from),
            _ => None,
        }
    }

    /// Returns the type that all formats share. An unknown extension, or a known one with an unexpected storage type,
    /// is returned as its storage type.
    #[must_use]
    pub fn ty(&self) -> Type {
        let shape = self.ty.shape;
        if let Some((calendar, unit, _)) = self.calendar() {
            // `Type` fixes the width of these types, so the storage must have it.
            let wide = match shape {
                Shape::Prim(Prim::I32) => Some(false),
                Shape::Prim(Prim::I64) => Some(true),
                _ => None,
            };
            match (calendar, wide) {
                (Calendar::Date, Some(wide)) if wide != (unit == Unit::Day) => return Type::Date(unit),
                (Calendar::Time, Some(wide)) if wide != matches!(unit, Unit::Second | Unit::Milli) => {
                    return Type::Time(unit);
                }
                (Calendar::Timestamp, Some(true)) => return Type::Timestamp(unit),
                _ => {}
            }
        }
        match shape {
            Shape::Null => Type::Null,
            Shape::Bool => Type::Bool,
            Shape::Prim(prim) => Type::Prim(prim),
            Shape::Decimal { precision, scale } => Type::Decimal { precision, scale },
            Shape::Utf8 => Type::Utf8,
            Shape::Binary => Type::Bytes,
            Shape::List => Type::List,
            Shape::FixedList(size) => Type::FixedList(size),
            Shape::Struct(fields) => Type::Struct(fields),
            Shape::Map | Shape::Entries => Type::Map,
            Shape::Entry => Type::Struct(2),
            #[cfg(feature = "vortex-variant")]
            Shape::Variant => Type::Struct(2),
            #[cfg(feature = "vortex-variant")]
            Shape::VariantPart { .. } => Type::Bytes,
            Shape::Other => Type::Opaque,
        }
    }

    /// Returns whether values may be missing.
    #[must_use]
    pub const fn nullable(&self) -> bool {
        self.ty.nullable
    }

    /// Returns the number of children of the type.
    #[must_use]
    pub const fn children(&self) -> usize {
        self.ty.children()
    }

    /// Returns the type of child `k`: the element of a list, field `k`, or the entry of a map.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `k` is not below [`children`](Self::children); errors of an invalid table of the child.
    pub fn child(&self, k: usize) -> Result<Self> {
        let children = self.children();
        let none = || Error::needing(Kind::OutOfRange, What::CHILD, k as u64, children as u64);
        if k >= children {
            return Err(none());
        }
        #[cfg(feature = "vortex-variant")]
        if matches!(self.ty.shape, Shape::Variant) {
            return Ok(self.with(match k {
                0 => Ty::binary(false),
                _ => Ty::variant_part(true),
            }));
        }
        let (stored, _, table) = storage_of(self.table().ok_or_else(none)?)?;
        let child = match self.ty.shape {
            Shape::Map | Shape::Entries => {
                let (at, depth) = stored.place().1;
                return Ok(self.with(Ty { shape: Shape::Entry, nullable: false, place: Place::Table(at, depth) }));
            }
            Shape::Entry => required(&table, if k == 0 { flat::Map::KEY_TYPE } else { flat::Map::VALUE_TYPE })?,
            Shape::Struct(_) => table.element(flat::Struct::DTYPES, k)?.ok_or_else(none)?,
            Shape::List | Shape::FixedList(_) => table.table(ELEMENT_TYPE)?.ok_or_else(none)?,
            _ => return Err(none()),
        };
        DType::of(child)
    }

    /// Returns the name of field `k` of a struct.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `k` is not below the number of fields, [`Kind::Utf8`] if the name is not valid UTF-8.
    pub fn name(&self, k: usize) -> Result<&'a str> {
        match (self.ty.shape, k) {
            (Shape::Entry, 0) => return Ok("key"),
            (Shape::Entry, 1) => return Ok("value"),
            #[cfg(feature = "vortex-variant")]
            (Shape::Variant, 0) => return Ok("metadata"),
            #[cfg(feature = "vortex-variant")]
            (Shape::Variant, 1) => return Ok("value"),
            (Shape::Struct(_), _) => {
                if let Some(table) = self.table()
                    && let (_, Tag::STRUCT, table) = storage_of(table)?
                    && let Some(names) = flat::Struct::from(table).names()?
                    && k < names.len()
                {
                    return names.get(k)?.text();
                }
            }
            _ => return Err(Error::new(Kind::OutOfRange, What::CHILD, k as u64)),
        }
        Err(Error::needing(Kind::OutOfRange, What::CHILD, k as u64, self.children() as u64))
    }
}

impl DType<'_> {
    /// Checks the types of all children. `fuel` bounds the work, because a small file may describe an endless tree.
    pub(super) fn walk(&self, fuel: &mut Fuel) -> Result<()> {
        fuel.spend(self.table().map_or(0, |table| table.at()))?;
        for k in 0..self.children() {
            if matches!(self.ty.shape, Shape::Struct(_)) {
                self.name(k)?;
            }
            self.child(k)?.walk(fuel)?;
        }
        Ok(())
    }
}

impl fmt::Debug for DType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DType").field("type", &self.ty()).field("nullable", &self.nullable()).finish()
    }
}

/// Returns the storage type of the type in `table`: its table, its tag, and the member with its properties.
fn storage_of(mut table: Table<'_>) -> Result<(Table<'_>, u8, Table<'_>)> {
    loop {
        match table.member(flat::DType::TYPE)? {
            Some((Tag::EXTENSION, extension)) => table = required(&extension, flat::Extension::STORAGE_DTYPE)?,
            Some((tag, member)) => return Ok((table, tag, member)),
            None => return Err(Error::new(Kind::Invalid, What::VORTEX_DTYPE, table.at())),
        }
    }
}

/// Returns the table in a field that must be present.
fn required<'a>(table: &Table<'a>, field: u8) -> Result<Table<'a>> {
    table.table(field)?.ok_or_else(|| Error::new(Kind::Invalid, What::VORTEX_DTYPE, table.at()))
}
