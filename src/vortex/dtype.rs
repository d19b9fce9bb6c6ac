//! Logical types (section 5).

use core::fmt;

use crate::column::{Prim, Type, Unit};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::{self as flat, PType};
use crate::limits::Fuel;
use crate::meta::flat::Flat;

/// A logical type: a view of its place in the dtype FlatBuffer, or one that an encoding implies.
#[derive(Clone, Copy)]
pub struct DType<'a> {
    pub(super) shape: Shape<'a>,
    pub(super) nullable: bool,
}

/// What values look like.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    Null,
    Bool,
    Prim(Prim),
    Decimal {
        precision: u8,
        scale: i8,
    },
    Utf8,
    Binary,
    List(flat::DType<'a>),
    FixedList(flat::DType<'a>, u32),
    Struct(flat::Struct<'a>),
    Extension(flat::Extension<'a>),
    Map(flat::Map<'a>),
    /// The list of entries that a map is stored as.
    Entries(flat::Map<'a>),
    /// A struct of key and value.
    Entry(flat::Map<'a>),
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

impl<'a> DType<'a> {
    /// The type in a dtype FlatBuffer, such as a caller keeps for files that have none.
    ///
    /// # Errors
    /// What is wrong with its root; children are looked at when they are asked for.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        DType::of(Flat::new(bytes).root()?)
    }

    pub(super) const BOOL: DType<'static> = DType { shape: Shape::Bool, nullable: false };

    pub(super) const fn prim(prim: Prim, nullable: bool) -> Self {
        DType { shape: Shape::Prim(prim), nullable }
    }

    /// The type that an extension stores.
    pub(super) fn of(dtype: flat::DType<'a>) -> Result<Self> {
        let bad = |need: u64| Error::new(Kind::Invalid, What::VtxDType, dtype.at()).with_need(need);
        let ty = dtype.type_()?.ok_or_else(|| bad(0))?;
        // One way out for all that may be null.
        let (shape, nullable) = match ty {
            flat::Type::Null(_) => (Shape::Null, Ok(true)),
            flat::Type::Bool(ty) => (Shape::Bool, ty.nullable()),
            flat::Type::Primitive(ty) => (Shape::Prim(prim_of(ty.ptype()?, dtype.at())?), ty.nullable()),
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
                (Shape::Struct(ty), ty.nullable())
            }
            flat::Type::List(ty) => (Shape::List(ty.element_type()?.ok_or_else(|| bad(0))?), ty.nullable()),
            flat::Type::FixedSizeList(ty) => {
                (Shape::FixedList(ty.element_type()?.ok_or_else(|| bad(0))?, ty.size()?), ty.nullable())
            }
            flat::Type::Extension(ty) => (Shape::Extension(ty), storage_of(&ty).map(|storage| storage.nullable)),
            flat::Type::Map(ty) => (Shape::Map(ty), ty.nullable()),
            flat::Type::Variant(ty) => (Shape::Other, ty.nullable()),
            flat::Type::Union(ty) => (Shape::Other, ty.nullable()),
            flat::Type::Unknown(tag) => return Err(bad(tag.into())),
        };
        Ok(DType { shape, nullable: nullable? })
    }

    /// The same without nulls.
    pub(super) const fn required(&self) -> Self {
        DType { nullable: false, ..*self }
    }

    /// The type that values are stored as: that of an extension, of an extension of one, and so on.
    pub(super) fn storage(&self) -> Result<Self> {
        let mut dtype = *self;
        while let Shape::Extension(ty) = dtype.shape {
            dtype = storage_of(&ty)?;
        }
        Ok(dtype)
    }

    /// The list that a map is stored as.
    pub(super) fn entries(&self) -> Result<Self> {
        match self.storage()?.shape {
            Shape::Map(map) => Ok(DType { shape: Shape::Entries(map), nullable: self.nullable }),
            _ => Err(Error::new(Kind::Invalid, What::VtxDType, 0)),
        }
    }

    /// Bytes of a cell, where values are cells: numbers, bools, decimals by their precision.
    pub(super) fn cell(&self) -> Result<Option<usize>> {
        Ok(match self.storage()?.shape {
            Shape::Null | Shape::Bool => Some(1),
            Shape::Prim(prim) => Some(prim.size()),
            Shape::Decimal { precision, .. } => Some(decimal_size(precision)),
            _ => None,
        })
    }

    /// The id and metadata of an extension type.
    ///
    /// # Errors
    /// What is wrong with its table.
    pub fn extension(&self) -> Result<Option<(&'a [u8], &'a [u8])>> {
        let Shape::Extension(ty) = self.shape else { return Ok(None) };
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
        let storage = self.storage().map_or(Shape::Other, |dtype| dtype.shape);
        if let Some((calendar, unit, _)) = self.calendar() {
            // What the names of these types promise about their width, storage must keep.
            let wide = match storage {
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
        match storage {
            Shape::Null => Type::Null,
            Shape::Bool => Type::Bool,
            Shape::Prim(prim) => Type::Prim(prim),
            Shape::Decimal { precision, scale } => Type::Decimal { precision, scale },
            Shape::Utf8 => Type::Utf8,
            Shape::Binary => Type::Bytes,
            Shape::List(_) => Type::List,
            Shape::FixedList(_, size) => Type::FixedList(size),
            Shape::Struct(ty) => Type::Struct(fields(&ty)),
            Shape::Map(_) | Shape::Entries(_) => Type::Map,
            Shape::Entry(_) => Type::Struct(2),
            Shape::Extension(_) | Shape::Other => Type::Opaque,
        }
    }

    /// Whether values may be missing.
    #[must_use]
    pub const fn nullable(&self) -> bool {
        self.nullable
    }

    /// How many children the type has.
    #[must_use]
    pub fn children(&self) -> usize {
        self.ty().children()
    }

    /// The type of child `k`: of an element, a field, an entry of a map.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is none, or what is wrong with it.
    pub fn child(&self, k: usize) -> Result<Self> {
        let none = || Error::new(Kind::OutOfRange, What::Child, k as u64).with_need(self.children() as u64);
        match self.storage()?.shape {
            Shape::List(of) | Shape::FixedList(of, _) if k == 0 => DType::of(of),
            Shape::Struct(ty) => match ty.dtypes()? {
                Some(dtypes) if k < dtypes.len() => DType::of(dtypes.get(k)?),
                _ => Err(none()),
            },
            Shape::Map(map) | Shape::Entries(map) if k == 0 => Ok(DType { shape: Shape::Entry(map), nullable: false }),
            Shape::Entry(map) => {
                let dtype = match k {
                    0 => map.key_type()?,
                    1 => map.value_type()?,
                    _ => return Err(none()),
                };
                DType::of(dtype.ok_or(Error::new(Kind::Invalid, What::VtxDType, map.at()))?)
            }
            _ => Err(none()),
        }
    }

    /// The name of field `k`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is none, [`Kind::Utf8`] if it is not text.
    pub fn name(&self, k: usize) -> Result<&'a str> {
        match (self.storage()?.shape, k) {
            (Shape::Entry(_), 0) => Ok("key"),
            (Shape::Entry(_), 1) => Ok("value"),
            (Shape::Struct(ty), _) => match ty.names()? {
                Some(names) if k < names.len() => names.get(k)?.text(),
                _ => Err(Error::new(Kind::OutOfRange, What::Child, k as u64).with_need(self.children() as u64)),
            },
            _ => Err(Error::new(Kind::OutOfRange, What::Child, k as u64)),
        }
    }
}

impl DType<'_> {
    /// Looks at the types of all children: a small file may describe a tree without end.
    pub(super) fn walk(&self, fuel: &mut Fuel) -> Result<()> {
        let at = match self.shape {
            Shape::List(ty) | Shape::FixedList(ty, _) => ty.at(),
            Shape::Struct(ty) => ty.at(),
            Shape::Map(ty) | Shape::Entries(ty) | Shape::Entry(ty) => ty.at(),
            _ => 0,
        };
        fuel.spend(at)?;
        for k in 0..self.children() {
            if matches!(self.storage()?.shape, Shape::Struct(_)) {
                self.name(k)?;
            }
            self.child(k)?.walk(fuel)?;
        }
        Ok(())
    }
}

impl fmt::Debug for DType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DType").field("type", &self.ty()).field("nullable", &self.nullable).finish()
    }
}

fn storage_of<'a>(ty: &flat::Extension<'a>) -> Result<DType<'a>> {
    DType::of(ty.storage_dtype()?.ok_or(Error::new(Kind::Invalid, What::VtxDType, ty.at()))?)
}

fn fields(ty: &flat::Struct<'_>) -> u32 {
    let count = ty.dtypes().ok().flatten().map_or(0, |dtypes| dtypes.len());
    u32::try_from(count).unwrap_or(u32::MAX)
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
