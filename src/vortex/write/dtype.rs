//! Logical types to write (format description, section 5), and their FlatBuffer.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::holds;
use crate::column::{Column, Prim, Type, Unit};
use crate::error::{Error, Kind, Result};
use crate::generated::vortex::{self as flat, Type as Tag};
use crate::limits::{Depth, Fuel};
use crate::meta::flat::write::{Field, Place, Writer};
use crate::vortex::dtype::{number_of_prim, number_of_unit};
use crate::vortex::raw::Calendar;
use crate::vortex::time_zone;

/// The type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::vortex) struct Logical {
    pub nullable: bool,
    pub shape: Shape,
    /// What an extension says about values of this storage type.
    pub extension: Option<Extension>,
}

/// The shape of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::vortex) enum Shape {
    Null,
    Bool,
    Prim(Prim),
    Decimal {
        precision: u8,
        scale: i8,
    },
    Utf8,
    Binary,
    List(Box<Logical>),
    FixedList(u32, Box<Logical>),
    Struct(Vec<(String, Logical)>),
    /// Key and value.
    Map(Box<[Logical; 2]>),
    /// Metadata and value, both bytes.
    #[cfg(feature = "vortex-variant")]
    Variant(Box<[Logical; 2]>),
}

/// Id and metadata of an extension type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::vortex) struct Extension {
    pub id: Calendar,
    pub unit: Unit,
    metadata: Vec<u8>,
}

impl Logical {
    pub(in crate::vortex) const fn new(shape: Shape, nullable: bool) -> Self {
        Logical { nullable, shape, extension: None }
    }

    /// Returns the type that stores the rows of `column`. `fuel` bounds the work, because columns that share children
    /// may have a type without end.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the format has no such type; [`Kind::Invalid`] in `What::VORTEX_TIME_ZONE` if readers do not know
    /// a time zone; [`Kind::Limit`] if the type has more levels than `depth`, or
    /// more nodes than `fuel`; errors of the column.
    pub(super) fn of<C: Column>(column: &C, depth: Depth, fuel: &mut Fuel) -> Result<Self> {
        fuel.spend(0)?;
        let ty = column.ty();
        if !holds(ty) {
            return Err(Error::new(Kind::WrongType, ty.what(), 0));
        }
        let mut child = |k| Logical::of(&column.child(k)?, depth.child(0)?, fuel);
        let plain = |shape| Logical::new(shape, column.nullable());
        let time = |id, unit, prim, zone: &str| -> Result<Self> {
            let number = number_of_unit(unit).ok_or_else(|| Error::new(Kind::WrongType, ty.what(), 0))?;
            let mut metadata = Vec::from([number]);
            if id == Calendar::Timestamp {
                time_zone::check(zone.as_bytes(), 0)?;
                let len = u16::try_from(zone.len()).map_err(|_| Error::new(Kind::Overflow, ty.what(), 0))?;
                metadata.extend_from_slice(&len.to_le_bytes());
                metadata.extend_from_slice(zone.as_bytes());
            }
            let extension = Some(Extension { id, unit, metadata });
            Ok(Logical { extension, ..Logical::new(Shape::Prim(prim), column.nullable()) })
        };
        #[cfg(feature = "vortex-variant")]
        if column.is_variant() && ty == Type::Struct(2) {
            // Every variant has metadata and a value, which may be null.
            let pair = [Logical { nullable: false, ..child(0)? }, Logical { nullable: false, ..child(1)? }];
            if pair.iter().all(|part| part.shape == Shape::Binary) {
                return Ok(plain(Shape::Variant(Box::new(pair))));
            }
        }
        Ok(match ty {
            Type::Null => Logical::new(Shape::Null, true),
            Type::Bool => plain(Shape::Bool),
            Type::Prim(prim) => plain(Shape::Prim(prim)),
            Type::Decimal { precision, scale } => plain(Shape::Decimal { precision, scale }),
            Type::Date(unit @ Unit::Day) => time(Calendar::Date, unit, Prim::I32, "")?,
            Type::Date(unit @ Unit::Milli) => time(Calendar::Date, unit, Prim::I64, "")?,
            Type::Time(unit @ (Unit::Second | Unit::Milli)) => time(Calendar::Time, unit, Prim::I32, "")?,
            Type::Time(unit @ (Unit::Micro | Unit::Nano)) => time(Calendar::Time, unit, Prim::I64, "")?,
            Type::Timestamp(unit @ (Unit::Second | Unit::Milli | Unit::Micro | Unit::Nano)) => {
                time(Calendar::Timestamp, unit, Prim::I64, column.zone()?.unwrap_or_default())?
            }
            Type::Bytes | Type::FixedBytes(_) | Type::Opaque => plain(Shape::Binary),
            Type::Utf8 => plain(Shape::Utf8),
            Type::List => plain(Shape::List(Box::new(child(0)?))),
            Type::FixedList(size) => plain(Shape::FixedList(size, Box::new(child(0)?))),
            Type::Struct(fields) => {
                let mut field = |k| Ok((column.child_name(k)?.into(), child(k)?));
                plain(Shape::Struct((0..fields as usize).map(&mut field).collect::<Result<_>>()?))
            }
            Type::Map => {
                let (entry, depth) = (column.child(0)?, depth.child(0)?);
                let mut of = |k| Logical::of(&entry.child(k)?, depth.child(0)?, fuel);
                // Keys are never missing.
                plain(Shape::Map(Box::new([Logical { nullable: false, ..of(0)? }, of(1)?])))
            }
            ty @ (Type::Date(_) | Type::Time(_) | Type::Timestamp(_)) => {
                return Err(Error::new(Kind::WrongType, ty.what(), 0));
            }
        })
    }

    /// Returns whether rows of `other` can be stored in a column of this type: `other` is the same type, or differs
    /// only in that no row is missing where rows of this type may be.
    pub(super) fn takes(&self, other: &Logical) -> bool {
        (self.nullable || !other.nullable)
            && self.extension == other.extension
            && match (&self.shape, &other.shape) {
                (Shape::List(item), Shape::List(others)) => item.takes(others),
                (Shape::FixedList(size, item), Shape::FixedList(of, others)) => size == of && item.takes(others),
                (Shape::Struct(fields), Shape::Struct(others)) => {
                    fields.len() == others.len()
                        && fields.iter().zip(others).all(|((name, ty), (other, of))| name == other && ty.takes(of))
                }
                #[cfg(feature = "vortex-variant")]
                (Shape::Variant(pair), Shape::Variant(others)) => {
                    pair.iter().zip(&**others).all(|(ty, of)| ty.takes(of))
                }
                (Shape::Map(pair), Shape::Map(others)) => pair.iter().zip(&**others).all(|(ty, of)| ty.takes(of)),
                (shape, other) => shape == other,
            }
    }

    /// Returns whether rows are variants, or have variants inside.
    #[cfg(feature = "vortex-variant")]
    pub(super) fn has_variants(&self) -> bool {
        match &self.shape {
            Shape::Variant(_) => true,
            Shape::List(item) | Shape::FixedList(_, item) => item.has_variants(),
            Shape::Struct(fields) => fields.iter().any(|(_, ty)| ty.has_variants()),
            Shape::Map(pair) => pair.iter().any(Logical::has_variants),
            _ => false,
        }
    }

    /// Returns the struct of an entry, if this is a map.
    pub(super) fn entry(&self) -> Option<Logical> {
        let Shape::Map(pair) = &self.shape else { return None };
        let [key, value] = &**pair;
        let fields = Vec::from([(String::from("key"), key.clone()), (String::from("value"), value.clone())]);
        Some(Logical::new(Shape::Struct(fields), false))
    }

    /// Returns whether values are floats.
    pub(super) const fn is_float(&self) -> bool {
        matches!(self.shape, Shape::Prim(Prim::F16 | Prim::F32 | Prim::F64))
    }

    /// Returns the type with missing rows.
    pub(super) fn optional(&self) -> Logical {
        Logical { nullable: true, ..self.clone() }
    }

    /// Returns the FlatBuffer of the type.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        let root = self.put(&mut writer);
        writer.finish(root)
    }

    fn put(&self, to: &mut Writer) -> Place {
        let nullable = Field::U8(u8::from(self.nullable));
        let (tag, member) = match &self.shape {
            Shape::Null => (Tag::NULL, to.table(&[])),
            Shape::Bool => (Tag::BOOL, to.table(&[(flat::Bool::NULLABLE, nullable)])),
            Shape::Prim(prim) => {
                let ptype = (flat::Primitive::PTYPE, Field::U8(number_of_prim(*prim)));
                (Tag::PRIMITIVE, to.table(&[ptype, (flat::Primitive::NULLABLE, nullable)]))
            }
            Shape::Decimal { precision, scale } => {
                let precision = (flat::Decimal::PRECISION, Field::U8(*precision));
                let scale = (flat::Decimal::SCALE, Field::U8(scale.cast_unsigned()));
                (Tag::DECIMAL, to.table(&[precision, scale, (flat::Decimal::NULLABLE, nullable)]))
            }
            Shape::Utf8 => (Tag::UTF8, to.table(&[(flat::Utf8::NULLABLE, nullable)])),
            Shape::Binary => (Tag::BINARY, to.table(&[(flat::Binary::NULLABLE, nullable)])),
            Shape::List(item) => {
                let item = (flat::List::ELEMENT_TYPE, Field::Place(item.put(to)));
                (Tag::LIST, to.table(&[item, (flat::List::NULLABLE, nullable)]))
            }
            Shape::FixedList(size, item) => {
                let item = (flat::FixedSizeList::ELEMENT_TYPE, Field::Place(item.put(to)));
                let size = (flat::FixedSizeList::SIZE, Field::U32(*size));
                (Tag::FIXED_SIZE_LIST, to.table(&[item, size, (flat::FixedSizeList::NULLABLE, nullable)]))
            }
            Shape::Struct(fields) => {
                let types: Vec<Place> = fields.iter().map(|(_, ty)| ty.put(to)).collect();
                let names: Vec<Place> = fields.iter().map(|(name, _)| to.text(name)).collect();
                let (names, types) = (Field::Place(to.places(&names)), Field::Place(to.places(&types)));
                let all =
                    [(flat::Struct::NAMES, names), (flat::Struct::DTYPES, types), (flat::Struct::NULLABLE, nullable)];
                (Tag::STRUCT, to.table(&all))
            }
            #[cfg(feature = "vortex-variant")]
            Shape::Variant(_) => (Tag::VARIANT, to.table(&[(flat::Variant::NULLABLE, nullable)])),
            Shape::Map(pair) => {
                let [key, value] = &**pair;
                let key = (flat::Map::KEY_TYPE, Field::Place(key.put(to)));
                let value = (flat::Map::VALUE_TYPE, Field::Place(value.put(to)));
                (Tag::MAP, to.table(&[key, value, (flat::Map::NULLABLE, nullable)]))
            }
        };
        let stored = dtype(tag, member, to);
        let Some(Extension { id, metadata, .. }) = &self.extension else { return stored };
        let metadata = to.vector(metadata, metadata.len(), 1);
        let id = to.text(id.id());
        let fields = [
            (flat::Extension::ID, Field::Place(id)),
            (flat::Extension::STORAGE_DTYPE, Field::Place(stored)),
            (flat::Extension::METADATA, Field::Place(metadata)),
        ];
        let member = to.table(&fields);
        dtype(Tag::EXTENSION, member, to)
    }
}

/// Writes a type, whose member has these fields.
pub(in crate::vortex) fn put_dtype(tag: u8, fields: &[(u8, Field)], to: &mut Writer) -> Place {
    let member = to.table(fields);
    dtype(tag, member, to)
}

/// Writes the union of a type: the field of the tag, and the one of the member after it.
fn dtype(tag: u8, member: Place, to: &mut Writer) -> Place {
    let member = (flat::DType::TYPE.saturating_add(1), Field::Place(member));
    to.table(&[(flat::DType::TYPE, Field::U8(tag)), member])
}
