//! Logical types (section 5).

use core::fmt;

use crate::column::{Prim, Type, Unit};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::{self as flat, PType};
use crate::limits::{Depth, Fuel};
use crate::meta::flat::{Flat, Table};

/// A logical type: a view of its place in the dtype FlatBuffer, or one that an encoding implies.
#[derive(Clone, Copy)]
pub struct DType<'a> {
    flat: Flat<'a>,
    pub(super) ty: Ty,
}

/// A type as nodes carry it, who know the buffer: what it looks like, and where its table is.
#[derive(Clone, Copy)]
pub(super) struct Ty {
    pub(super) shape: Shape,
    pub(super) nullable: bool,
    /// `None` where an encoding implies the type.
    place: Option<(u32, Depth)>,
}

/// What values look like; those of an extension as those of the type that it stores.
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
    /// So many fields.
    Struct(u32),
    Map,
    /// The list of entries that a map is stored as.
    Entries,
    /// A struct of key and value.
    Entry,
    /// Known, and never decoded: variants and unions.
    Other,
}

/// What a calendar type of the standard extensions counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calendar {
    Date,
    Time,
    Timestamp,
}

impl Ty {
    pub(super) const BOOL: Ty = Ty { shape: Shape::Bool, nullable: false, place: None };

    pub(super) const fn prim(prim: Prim, nullable: bool) -> Self {
        Ty { shape: Shape::Prim(prim), nullable, place: None }
    }

    pub(super) const fn binary(nullable: bool) -> Self {
        Ty { shape: Shape::Binary, nullable, place: None }
    }

    /// The same without nulls.
    pub(super) const fn required(&self) -> Self {
        Ty { nullable: false, ..*self }
    }

    /// The list that a map is stored as.
    pub(super) fn entries(&self) -> Result<Self> {
        match self.shape {
            Shape::Map => Ok(Ty { shape: Shape::Entries, ..*self }),
            _ => Err(Error::new(Kind::Invalid, What::VtxDType, 0)),
        }
    }

    /// Bytes of a cell, where values are cells: numbers, bools, decimals by their precision.
    pub(super) const fn cell(&self) -> Option<usize> {
        match self.shape {
            Shape::Null | Shape::Bool => Some(1),
            Shape::Prim(prim) => Some(prim.size()),
            Shape::Decimal { precision, .. } => Some(decimal_size(precision)),
            _ => None,
        }
    }

    /// How many children.
    pub(super) const fn children(&self) -> usize {
        match self.shape {
            Shape::List | Shape::FixedList(_) | Shape::Map | Shape::Entries => 1,
            Shape::Struct(fields) => fields as usize,
            Shape::Entry => 2,
            _ => 0,
        }
    }
}

impl<'a> DType<'a> {
    /// The type in a dtype FlatBuffer, such as a caller keeps for files that have none.
    ///
    /// # Errors
    /// What is wrong with its root; children are looked at when they are asked for.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        DType::of(Flat::new(bytes).root()?)
    }

    /// The type in a table.
    pub(super) fn of(table: Table<'a>) -> Result<Self> {
        let (flat, place) = table.place();
        let mut dtype = flat::DType::from(table);
        let (shape, nullable) = loop {
            let at = dtype.at();
            let bad = |need: u64| Error::new(Kind::Invalid, What::VtxDType, at).with_need(need);
            // One way out for all that may be null.
            break match dtype.type_()?.ok_or_else(|| bad(0))? {
                flat::Type::Null(_) => (Shape::Null, Ok(true)),
                flat::Type::Bool(ty) => (Shape::Bool, ty.nullable()),
                flat::Type::Primitive(ty) => (Shape::Prim(prim_of(ty.ptype()?, at)?), ty.nullable()),
                flat::Type::Decimal(ty) => {
                    let (precision, scale) = (ty.precision()?, ty.scale()?);
                    if !(1..=76).contains(&precision) || scale > 76 {
                        return Err(bad(precision.into()));
                    }
                    (Shape::Decimal { precision, scale }, ty.nullable())
                }
                flat::Type::Utf8(ty) => (Shape::Utf8, ty.nullable()),
                flat::Type::Binary(ty) => (Shape::Binary, ty.nullable()),
                flat::Type::Struct(ty) => {
                    let [names, dtypes] = [ty.names()?.map_or(0, |v| v.len()), ty.dtypes()?.map_or(0, |v| v.len())];
                    if names != dtypes {
                        return Err(bad(names as u64));
                    }
                    (Shape::Struct(u32::try_from(names).unwrap_or(u32::MAX)), ty.nullable())
                }
                flat::Type::List(ty) => {
                    ty.element_type()?.ok_or_else(|| bad(0))?;
                    (Shape::List, ty.nullable())
                }
                flat::Type::FixedSizeList(ty) => {
                    ty.element_type()?.ok_or_else(|| bad(0))?;
                    (Shape::FixedList(ty.size()?), ty.nullable())
                }
                flat::Type::Extension(ty) => {
                    dtype = storage_of(&ty)?;
                    continue;
                }
                flat::Type::Map(ty) => (Shape::Map, ty.nullable()),
                flat::Type::Variant(ty) => (Shape::Other, ty.nullable()),
                flat::Type::Union(ty) => (Shape::Other, ty.nullable()),
                flat::Type::Unknown(tag) => return Err(bad(tag.into())),
            };
        };
        Ok(DType { flat, ty: Ty { shape, nullable: nullable?, place: Some(place) } })
    }

    /// A type of the same buffer, or none of it.
    pub(super) const fn with(&self, ty: Ty) -> Self {
        DType { ty, ..*self }
    }

    /// What its table holds, if it has one.
    fn table(&self) -> Result<Option<flat::Type<'a>>> {
        match self.ty.place {
            Some(place) => flat::DType::from(self.flat.again(place)).type_(),
            None => Ok(None),
        }
    }

    /// Whether a map says that its keys are in order.
    pub(super) fn keys_sorted(&self) -> bool {
        matches!(self.storage().and_then(|dtype| dtype.table()), Ok(Some(flat::Type::Map(map))) if map.keys_sorted() == Ok(true))
    }

    /// The type that values are stored as: that of an extension, of an extension of one, and so on.
    pub(super) fn storage(&self) -> Result<Self> {
        let mut dtype = *self;
        while let Some(flat::Type::Extension(ty)) = dtype.table()? {
            dtype = DType::of(storage_of(&ty)?.into())?;
        }
        Ok(dtype)
    }

    /// The id and metadata of an extension type.
    ///
    /// # Errors
    /// What is wrong with its table.
    pub fn extension(&self) -> Result<Option<(&'a [u8], &'a [u8])>> {
        let Some(flat::Type::Extension(ty)) = self.table()? else { return Ok(None) };
        let id = ty.id()?.map_or(&[][..], |id| id.bytes());
        Ok(Some((id, ty.metadata()?.map_or(&[][..], |bytes| bytes.bytes()))))
    }

    /// Unit and zone of a standard date, time or timestamp.
    fn calendar(&self) -> Option<(Calendar, Unit, &'a [u8])> {
        let (id, metadata) = self.extension().ok()??;
        let calendar = match id {
            b"vortex.date" => Calendar::Date,
            b"vortex.time" => Calendar::Time,
            b"vortex.timestamp" => Calendar::Timestamp,
            _ => return None,
        };
        let unit = match metadata.first()? {
            0 => Unit::Nano,
            1 => Unit::Micro,
            2 => Unit::Milli,
            3 => Unit::Second,
            4 => Unit::Day,
            _ => return None,
        };
        let zone = match (calendar, metadata) {
            (Calendar::Timestamp, [_, low, high, rest @ ..]) => {
                rest.get(..usize::from(u16::from_le_bytes([*low, *high])))?
            }
            (Calendar::Timestamp, _) => return None,
            _ => &[],
        };
        Some((calendar, unit, zone))
    }

    /// Unit and zone of a standard date, time or timestamp; the zone may be empty.
    pub(super) fn calendar_unit(&self) -> Option<(Unit, &'a [u8])> {
        self.calendar().map(|(_, unit, zone)| (unit, zone))
    }

    /// The zone of a timestamp that has one.
    pub(super) fn zone(&self) -> Result<Option<&'a str>> {
        match self.calendar() {
            Some((_, _, zone)) if !zone.is_empty() => {
                core::str::from_utf8(zone).map(Some).map_err(|_| Error::new(Kind::Utf8, What::VtxDType, 0))
            }
            _ => Ok(None),
        }
    }

    /// Units of the type per second, for timestamps.
    pub(super) fn per_second(&self) -> Option<u64> {
        match self.calendar()? {
            (Calendar::Timestamp, Unit::Nano, _) => Some(1_000_000_000),
            (Calendar::Timestamp, Unit::Micro, _) => Some(1_000_000),
            (Calendar::Timestamp, Unit::Milli, _) => Some(1_000),
            (Calendar::Timestamp, Unit::Second, _) => Some(1),
            _ => None,
        }
    }

    /// The type in the words of all formats. An extension that is not known, and one that does not store
    /// what it should, is what it stores.
    #[must_use]
    pub fn ty(&self) -> Type {
        let shape = self.ty.shape;
        if let Some((calendar, unit, _)) = self.calendar() {
            // What the names of these types promise about their width, storage must keep.
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
            Shape::Other => Type::Opaque,
        }
    }

    /// Whether values may be missing.
    #[must_use]
    pub const fn nullable(&self) -> bool {
        self.ty.nullable
    }

    /// How many children the type has.
    #[must_use]
    pub const fn children(&self) -> usize {
        self.ty.children()
    }

    /// The type of child `k`: of an element, a field, an entry of a map.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is none, or what is wrong with it.
    pub fn child(&self, k: usize) -> Result<Self> {
        let none = || Error::new(Kind::OutOfRange, What::Child, k as u64).with_need(self.children() as u64);
        if k >= self.children() {
            return Err(none());
        }
        let storage = self.storage()?;
        let child = match (storage.table()?, self.ty.shape) {
            (Some(flat::Type::List(ty)), _) => ty.element_type()?,
            (Some(flat::Type::FixedSizeList(ty)), _) => ty.element_type()?,
            (Some(flat::Type::Struct(ty)), _) => match ty.dtypes()? {
                Some(dtypes) => Some(dtypes.get(k)?),
                None => None,
            },
            (Some(flat::Type::Map(map)), Shape::Entry) => {
                let dtype = if k == 0 { map.key_type()? } else { map.value_type()? };
                Some(dtype.ok_or(Error::new(Kind::Invalid, What::VtxDType, map.at()))?)
            }
            (Some(flat::Type::Map(_)), _) => {
                return Ok(storage.with(Ty { shape: Shape::Entry, nullable: false, ..storage.ty }));
            }
            _ => None,
        };
        DType::of(child.ok_or_else(none)?.into())
    }

    /// The name of field `k`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is none, [`Kind::Utf8`] if it is not text.
    pub fn name(&self, k: usize) -> Result<&'a str> {
        match (self.ty.shape, k) {
            (Shape::Entry, 0) => return Ok("key"),
            (Shape::Entry, 1) => return Ok("value"),
            (Shape::Struct(_), _) => {
                if let Some(flat::Type::Struct(ty)) = self.storage()?.table()?
                    && let Some(names) = ty.names()?
                    && k < names.len()
                {
                    return names.get(k)?.text();
                }
            }
            _ => return Err(Error::new(Kind::OutOfRange, What::Child, k as u64)),
        }
        Err(Error::new(Kind::OutOfRange, What::Child, k as u64).with_need(self.children() as u64))
    }
}

impl DType<'_> {
    /// Looks at the types of all children: a small file may describe a tree without end.
    pub(super) fn walk(&self, fuel: &mut Fuel) -> Result<()> {
        fuel.spend(self.ty.place.map_or(0, |place| self.flat.again(place).at()))?;
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

fn storage_of<'a>(ty: &flat::Extension<'a>) -> Result<flat::DType<'a>> {
    ty.storage_dtype()?.ok_or(Error::new(Kind::Invalid, What::VtxDType, ty.at()))
}

/// The number type of a number of the schema, at offset `at`.
fn prim_of(ptype: PType, at: u64) -> Result<Prim> {
    Ok(match ptype {
        PType::U8 => Prim::U8,
        PType::U16 => Prim::U16,
        PType::U32 => Prim::U32,
        PType::U64 => Prim::U64,
        PType::I8 => Prim::I8,
        PType::I16 => Prim::I16,
        PType::I32 => Prim::I32,
        PType::I64 => Prim::I64,
        PType::F16 => Prim::F16,
        PType::F32 => Prim::F32,
        PType::F64 => Prim::F64,
        PType::Unknown(number) => {
            return Err(Error::new(Kind::Invalid, What::VtxDType, at).with_need(number.into()));
        }
    })
}

/// The integer type in field `number` of metadata at `at`: an enum that is left out where it is 0 (U8).
pub(super) fn integer(ptype: Option<u64>, at: u64) -> Result<Prim> {
    let ptype = ptype.unwrap_or(0);
    let prim = prim_of(PType::from(u8::try_from(ptype).unwrap_or(u8::MAX)), at)?;
    match prim {
        Prim::F16 | Prim::F32 | Prim::F64 => Err(Error::new(Kind::Invalid, What::VtxMetadata, at).with_need(ptype)),
        prim => Ok(prim),
    }
}

/// Whether an integer type has a sign.
pub(super) const fn signed(prim: Prim) -> bool {
    matches!(prim, Prim::I8 | Prim::I16 | Prim::I32 | Prim::I64)
}

/// Bytes of the narrowest integer that holds so many digits.
pub(super) const fn decimal_size(precision: u8) -> usize {
    match precision {
        ..=2 => 1,
        3..=4 => 2,
        5..=9 => 4,
        10..=18 => 8,
        19..=38 => 16,
        _ => 32,
    }
}
