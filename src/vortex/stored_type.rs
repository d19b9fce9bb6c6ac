//! Logical types in the metadata of arrays: protobuf messages (format description, section 6.3).

use super::blob::Blob;
use super::context::Context;
use super::dtype::{Place, Shape, Ty, calendar, prim_of};
use super::raw::Calendar;
use super::tree::BYTES_PER_NODE;
use crate::bytes::saturated;
use crate::column::Unit;
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::Type as Tag;
use crate::meta::proto::{Fields, Message, Value};

/// The fields of the messages. The field of a kind of type in `DType` is its tag in the schema.
mod field {
    pub const NULLABLE: u32 = 1;
    pub mod primitive {
        pub const TYPE: u32 = 1;
        pub const NULLABLE: u32 = 2;
    }
    pub mod decimal {
        pub const PRECISION: u32 = 1;
        pub const SCALE: u32 = 2;
        pub const NULLABLE: u32 = 3;
    }
    pub mod structure {
        pub const NAMES: u32 = 1;
        pub const TYPES: u32 = 2;
        pub const NULLABLE: u32 = 3;
    }
    pub mod list {
        pub const ITEM: u32 = 1;
        pub const NULLABLE: u32 = 2;
    }
    pub mod fixed_list {
        pub const SIZE: u32 = 2;
        pub const NULLABLE: u32 = 3;
    }
    pub mod extension {
        pub const ID: u32 = 1;
        pub const STORAGE: u32 = 2;
        pub const METADATA: u32 = 3;
    }
}

/// The description of a type in the metadata of an array: a message with the properties of its kind.
#[derive(Clone, Copy)]
pub(super) struct Described {
    /// Offset of the message in the file.
    pub(super) at: u64,
    pub(super) len: u32,
    /// The unit of a timestamp.
    pub(super) timestamp: Option<Unit>,
}

/// What an extension says about values of the storage type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The type is no extension.
    Plain,
    Date(Unit),
    Time(Unit),
    /// A timestamp, and whether it has a time zone.
    Timestamp(Unit, bool),
    Other,
}

// Types of variants and of what they consist of.
impl Ty {
    pub(super) const fn variant(nullable: bool) -> Self {
        Ty { shape: Shape::Variant, nullable, place: Place::Implied }
    }

    pub(super) const fn variant_part(is_value: bool) -> Self {
        Ty { shape: Shape::VariantPart { is_value }, nullable: false, place: Place::Implied }
    }

    /// Returns a type that the metadata of an array describes.
    pub(super) const fn described(shape: Shape, nullable: bool, place: Described) -> Self {
        Ty { shape, nullable, place: Place::Metadata(place) }
    }

    /// Returns where the metadata of an array describe the type, or `None` for other types.
    pub(super) const fn description(&self) -> Option<Described> {
        match self.place {
            Place::Metadata(place) => Some(place),
            _ => None,
        }
    }

    /// Returns whether the type is in the dtype FlatBuffer: it is the type of a column or of rows below it.
    pub(super) const fn has_table(&self) -> bool {
        matches!(self.place, Place::Table(..))
    }
}

/// A type in the metadata of an array.
#[derive(Clone, Copy)]
pub(super) struct StoredType<'f> {
    pub(super) ty: Ty,
    pub(super) meaning: Meaning,
    /// The message of the kind of type.
    member: Message<'f>,
}

impl<'f> StoredType<'f> {
    /// Parses a type. Children are checked when they are read.
    pub(super) fn of(message: Message<'f>) -> Result<Self> {
        let (mut message, mut meaning) = (message, None);
        // Each extension is a shorter message inside of another one.
        loop {
            let (tag, member) = member(message)?;
            if tag != Tag::EXTENSION {
                let (shape, nullable) = shape(tag, member)?;
                let nullable = match nullable {
                    Some(field) => member.uint(field)?.is_some_and(|bit| bit != 0),
                    None => true,
                };
                let meaning = meaning.unwrap_or(Meaning::Plain);
                let timestamp = if let Meaning::Timestamp(unit, _) = meaning { Some(unit) } else { None };
                let len = u32::try_from(member.bytes().len()).map_err(|_| invalid(member))?;
                let ty = Ty::described(shape, nullable, Described { at: member.at(), len, timestamp });
                return Ok(StoredType { ty, meaning, member });
            }
            meaning = meaning.or(Some(extension(member)?));
            message = member.message(field::extension::STORAGE)?.ok_or_else(|| invalid(member))?;
        }
    }

    /// Returns the type of child `k` of a list or struct, whose description is in `blob`. Returns `None` for a type that is
    /// described elsewhere, or is no list and no struct.
    pub(super) fn child_of(ty: &Ty, k: usize, blob: &Blob<'f>) -> Result<Option<Ty>> {
        let Some(ty) = StoredType::in_blob(ty, blob) else { return Ok(None) };
        match ty.ty.shape {
            Shape::List | Shape::FixedList(_) => ty.item().map(|item| Some(item.ty)),
            Shape::Struct(_) => {
                let mut types = ty.member.fields();
                for _ in 0..k {
                    next(&mut types, field::structure::TYPES)?;
                }
                let message = next(&mut types, field::structure::TYPES)?.ok_or_else(|| invalid(ty.member))?;
                StoredType::of(message).map(|field| Some(field.ty))
            }
            _ => Ok(None),
        }
    }

    /// Returns the fields of a struct whose description is in `blob`, or `None` for a type that is described elsewhere.
    pub(super) fn fields_of(ty: &Ty, blob: &Blob<'f>) -> Option<StructFields<'f>> {
        StoredType::in_blob(ty, blob).map(|ty| ty.fields())
    }

    fn in_blob(ty: &Ty, blob: &Blob<'f>) -> Option<Self> {
        let Described { at, len, .. } = ty.description()?;
        let start = saturated(at.saturating_sub(blob.at));
        let bytes = blob.bytes.get(start..start.saturating_add(len as usize)).unwrap_or_default();
        Some(StoredType { ty: *ty, meaning: Meaning::Plain, member: Message::new_at(bytes, at) })
    }

    /// Spends the budget for parsing the type and those inside of it.
    pub(super) fn spend(&self, cx: &mut Context<'_, '_>) -> Result<()> {
        cx.spend_many(self.member.bytes().len() as u64 / BYTES_PER_NODE, self.member.at())
    }

    /// Returns the type of the items of a list.
    pub(super) fn item(&self) -> Result<Self> {
        let item = self.member.message(field::list::ITEM)?;
        StoredType::of(item.ok_or_else(|| invalid(self.member))?)
    }

    /// Iterates over the fields of a struct.
    pub(super) const fn fields(&self) -> StructFields<'f> {
        StructFields { names: self.member.fields(), types: self.member.fields() }
    }
}

/// The fields of a struct: names and types, which the message stores apart from each other.
pub(super) struct StructFields<'f> {
    names: Fields<'f>,
    types: Fields<'f>,
}

impl<'f> StructFields<'f> {
    /// Returns name and type of the next field.
    pub(super) fn take(&mut self) -> Result<Option<(&'f [u8], StoredType<'f>)>> {
        let name = next(&mut self.names, field::structure::NAMES)?;
        let ty = next(&mut self.types, field::structure::TYPES)?;
        match (name, ty) {
            (Some(name), Some(ty)) => Ok(Some((name.bytes(), StoredType::of(ty)?))),
            (None, None) => Ok(None),
            _ => Err(Error::new(Kind::Invalid, What::VORTEX_DTYPE, self.names.at())),
        }
    }
}

/// Returns the next value of a repeated field.
fn next<'f>(fields: &mut Fields<'f>, number: u32) -> Result<Option<Message<'f>>> {
    while let Some((found, value)) = fields.take()? {
        if let Value::Bytes(message) = value
            && found == number
        {
            return Ok(Some(message));
        }
    }
    Ok(None)
}

#[cold]
fn invalid(message: Message<'_>) -> Error {
    Error::new(Kind::Invalid, What::VORTEX_DTYPE, message.at())
}

/// Returns the tag of a type, and the message with its properties.
fn member(message: Message<'_>) -> Result<(u8, Message<'_>)> {
    let (mut fields, mut found) = (message.fields(), None);
    while let Some((number, value)) = fields.take()? {
        if let (Ok(tag), Value::Bytes(member)) = (u8::try_from(number), value) {
            found = Some((tag, member));
        }
    }
    found.ok_or_else(|| invalid(message))
}

/// Returns the shape of a type that is no extension, and the field that says whether values may be missing, if they may
/// not always be.
fn shape(tag: u8, member: Message<'_>) -> Result<(Shape, Option<u32>)> {
    Ok(match tag {
        Tag::NULL => (Shape::Null, None),
        Tag::BOOL => (Shape::Bool, Some(field::NULLABLE)),
        Tag::PRIMITIVE => {
            let prim = prim_of(member.uint(field::primitive::TYPE)?.unwrap_or(0)).ok_or_else(|| invalid(member))?;
            (Shape::Prim(prim), Some(field::primitive::NULLABLE))
        }
        Tag::DECIMAL => {
            let [precision, scale] = member.numbers([field::decimal::PRECISION, field::decimal::SCALE])?;
            // A negative scale is a varint of ten bytes.
            let scale = i8::try_from(scale.cast_signed()).ok().filter(|scale| *scale <= 76);
            let precision = u8::try_from(precision).ok().filter(|precision| (1..=76).contains(precision));
            match (precision, scale) {
                (Some(precision), Some(scale)) => (Shape::Decimal { precision, scale }, Some(field::decimal::NULLABLE)),
                _ => return Err(invalid(member)),
            }
        }
        Tag::UTF8 => (Shape::Utf8, Some(field::NULLABLE)),
        Tag::BINARY => (Shape::Binary, Some(field::NULLABLE)),
        Tag::STRUCT => {
            let (mut fields, mut count) = (member.fields(), 0u32);
            while next(&mut fields, field::structure::TYPES)?.is_some() {
                count = count.saturating_add(1);
            }
            (Shape::Struct(count), Some(field::structure::NULLABLE))
        }
        Tag::LIST => (Shape::List, Some(field::list::NULLABLE)),
        Tag::FIXED_SIZE_LIST => {
            let size = member.uint32(field::fixed_list::SIZE)?.unwrap_or(0);
            (Shape::FixedList(size), Some(field::fixed_list::NULLABLE))
        }
        Tag::VARIANT => (Shape::Variant, Some(field::NULLABLE)),
        _ => (Shape::Other, Some(field::NULLABLE)),
    })
}

/// Returns what an extension says.
fn extension(member: Message<'_>) -> Result<Meaning> {
    let bytes = |number| Ok::<_, Error>(member.message(number)?.map_or(&[][..], |message| message.bytes()));
    Ok(match calendar(bytes(field::extension::ID)?, bytes(field::extension::METADATA)?) {
        Some((Calendar::Date, unit, _)) => Meaning::Date(unit),
        Some((Calendar::Time, unit, _)) => Meaning::Time(unit),
        Some((Calendar::Timestamp, unit, zone)) => Meaning::Timestamp(unit, !zone.is_empty()),
        Some((Calendar::Unknown, ..)) | None => Meaning::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Prim;

    fn of(bytes: &[u8]) -> StoredType<'_> {
        StoredType::of(Message::new(bytes)).unwrap()
    }

    #[test]
    fn types_of_files() {
        let i64 = of(&[0x1a, 4, 8, 7, 0x10, 1]);
        assert!(matches!((i64.ty.shape, i64.ty.nullable), (Shape::Prim(Prim::I64), true)));
        // {a=variant?, b=variant?}?
        let fields = [0x3a, 20, 10, 1, b'a', 10, 1, b'b', 18, 4, 0x5a, 2, 8, 1, 18, 4, 0x5a, 2, 8, 1, 0x18, 1];
        let ty = of(&fields);
        assert!(matches!(ty.ty.shape, Shape::Struct(2)));
        let mut fields = ty.fields();
        for name in [&b"a"[..], b"b"] {
            let (found, ty) = fields.take().unwrap().unwrap();
            assert_eq!(found, name);
            assert!(matches!((ty.ty.shape, ty.ty.nullable), (Shape::Variant, true)));
        }
        assert!(fields.take().unwrap().is_none());
        let list = of(&[0x42, 8, 10, 4, 0x5a, 2, 8, 1, 0x10, 1]);
        assert!(matches!(list.item().unwrap().ty.shape, Shape::Variant));
        assert_eq!(StoredType::of(Message::new(&[])).map(drop).unwrap_err().kind(), Kind::Invalid);
    }

    #[test]
    fn timestamps_have_a_unit_and_perhaps_a_zone() {
        // vortex.timestamp[µs, tz=UTC](i64?)
        let mut bytes = std::vec![0x4a, 0, 10, 16];
        bytes.extend_from_slice(b"vortex.timestamp");
        bytes.extend_from_slice(&[0x12, 6, 0x1a, 4, 8, 7, 0x10, 1, 0x1a, 6, 1, 3, 0, b'U', b'T', b'C']);
        bytes[1] = (bytes.len() - 2) as u8;
        let ty = of(&bytes);
        assert!(ty.meaning == Meaning::Timestamp(Unit::Micro, true) && ty.ty.nullable);
    }
}
