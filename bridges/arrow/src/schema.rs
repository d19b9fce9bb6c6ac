//! The Arrow type of every column type, and back.
//!
//! | column type | Arrow type |
//! |---|---|
//! | null, bool, integers, floats | the same |
//! | decimal | `Decimal32`, `Decimal64`, `Decimal128`, `Decimal256`: the narrowest that holds the digits |
//! | dates in days, in milliseconds | `Date32`, `Date64` |
//! | times and timestamps in s, ms, us, ns | the same, timestamps with their zone |
//! | dates, times, timestamps in other units | `Int64` with the type in the field's metadata under [`UNIT`] |
//! | texts, byte strings | as they are stored: with 32-bit or 64-bit offsets, or as views; or as a dictionary |
//! | objects of a program | byte strings with `object` in the field's metadata under [`TYPE`] |
//! | variants | `Struct` of `metadata` and `value` with the extension type [`VARIANT`] |
//! | lists | `List`, `LargeList`, `ListView` as they are stored; `FixedSizeList`, `Struct`, `Map` |
//!
//! Arrow requires that a decimal has at least as many digits as digits after the point. A column with fewer has the
//! larger precision, which is exact.

use arrow_schema::{DataType, Field, FieldRef, Schema, TimeUnit};
use pilaster::column::{Prim, Type, Unit};

use crate::Error;

/// Key in the metadata of a field: the type of a date, time or timestamp whose unit Arrow lacks, such as
/// `timestamp[ps]`. Its values are the integers that are stored.
pub const UNIT: &str = "pilaster.unit";

/// Key in the metadata of a field of [`UNIT`]: the time zone.
pub const ZONE: &str = "pilaster.zone";

/// Key in the metadata of a field: `object` for [`Type::Opaque`].
pub const TYPE: &str = "pilaster.type";

/// Name of the extension type of variants.
pub const VARIANT: &str = "arrow.parquet.variant";

/// Keys in the metadata of a field: name and metadata of its extension type.
pub(crate) const EXTENSION: &str = "ARROW:extension:name";
pub(crate) const EXTENSION_METADATA: &str = "ARROW:extension:metadata";

/// The types without parameters, in the form with 32-bit offsets. Both directions use it.
static PLAIN: [(Type, DataType); 26] = [
    (Type::Null, DataType::Null),
    (Type::Bool, DataType::Boolean),
    (Type::Prim(Prim::I8), DataType::Int8),
    (Type::Prim(Prim::I16), DataType::Int16),
    (Type::Prim(Prim::I32), DataType::Int32),
    (Type::Prim(Prim::I64), DataType::Int64),
    (Type::Prim(Prim::U8), DataType::UInt8),
    (Type::Prim(Prim::U16), DataType::UInt16),
    (Type::Prim(Prim::U32), DataType::UInt32),
    (Type::Prim(Prim::U64), DataType::UInt64),
    (Type::Prim(Prim::F16), DataType::Float16),
    (Type::Prim(Prim::F32), DataType::Float32),
    (Type::Prim(Prim::F64), DataType::Float64),
    (Type::Date(Unit::Day), DataType::Date32),
    (Type::Date(Unit::Milli), DataType::Date64),
    (Type::Time(Unit::Second), DataType::Time32(TimeUnit::Second)),
    (Type::Time(Unit::Milli), DataType::Time32(TimeUnit::Millisecond)),
    (Type::Time(Unit::Micro), DataType::Time64(TimeUnit::Microsecond)),
    (Type::Time(Unit::Nano), DataType::Time64(TimeUnit::Nanosecond)),
    (Type::Timestamp(Unit::Second), DataType::Timestamp(TimeUnit::Second, None)),
    (Type::Timestamp(Unit::Milli), DataType::Timestamp(TimeUnit::Millisecond, None)),
    (Type::Timestamp(Unit::Micro), DataType::Timestamp(TimeUnit::Microsecond, None)),
    (Type::Timestamp(Unit::Nano), DataType::Timestamp(TimeUnit::Nanosecond, None)),
    (Type::Bytes, DataType::Binary),
    (Type::Utf8, DataType::Utf8),
    (Type::Opaque, DataType::Binary),
];

/// Returns the number of the first column with a NUL in a name or in a time zone, also inside of its type. Arrow's C data interface has
/// both as C strings, which end at a NUL; its implementation for Rust panics at a NUL in a time zone.
///
/// ```
/// use pilaster_arrow::arrow_schema::{DataType, Field, Schema, TimeUnit};
/// use pilaster_arrow::schema::column_with_nul;
///
/// let at = |zone: &str| Field::new("at", DataType::Timestamp(TimeUnit::Second, Some(zone.into())), true);
/// assert_eq!(column_with_nul(&Schema::new(vec![at("UTC")])), None);
/// assert_eq!(column_with_nul(&Schema::new(vec![at("UTC"), at("U\0C")])), Some(1));
/// ```
#[must_use]
pub fn column_with_nul(schema: &Schema) -> Option<usize> {
    schema.fields().iter().position(|field| has_nul(field))
}

fn has_nul(field: &Field) -> bool {
    field.name().contains('\0') || type_has_nul(field.data_type())
}

fn type_has_nul(ty: &DataType) -> bool {
    match ty {
        DataType::Timestamp(_, Some(zone)) => zone.contains('\0'),
        DataType::List(of)
        | DataType::LargeList(of)
        | DataType::ListView(of)
        | DataType::LargeListView(of)
        | DataType::FixedSizeList(of, _)
        | DataType::Map(of, _) => has_nul(of),
        DataType::Struct(fields) => fields.iter().any(|of| has_nul(of)),
        DataType::Dictionary(_, values) => type_has_nul(values),
        DataType::RunEndEncoded(_, values) => has_nul(values),
        _ => false,
    }
}

/// Returns the Arrow type of a column type without children, texts with 32-bit offsets; `None` for a nested type and for
/// one that Arrow lacks.
///
/// A date, time or timestamp in a unit that Arrow lacks is `Int64`; its field needs [`UNIT`].
///
/// ```
/// use pilaster::column::{Type, Unit};
/// use pilaster_arrow::arrow_schema::DataType;
/// use pilaster_arrow::schema::data_type;
///
/// assert_eq!(data_type(Type::Date(Unit::Day)), Some(DataType::Date32));
/// assert_eq!(data_type(Type::Timestamp(Unit::Pico)), Some(DataType::Int64));
/// assert_eq!(data_type(Type::Decimal { precision: 20, scale: 3 }), Some(DataType::Decimal128(20, 3)));
/// ```
#[must_use]
pub fn data_type(ty: Type) -> Option<DataType> {
    if let Some((_, plain)) = PLAIN.iter().find(|(known, _)| *known == ty) {
        return Some(plain.clone());
    }
    match ty {
        Type::Decimal { precision, scale } => decimal(precision, scale),
        Type::FixedBytes(len) => i32::try_from(len).ok().map(DataType::FixedSizeBinary),
        ty if lacks(ty) => Some(DataType::Int64),
        _ => None,
    }
}

/// Returns the column type of a field, or `None` if no column type holds its values without a conversion: intervals,
/// unions, and durations, which [`durations`](crate::durations) makes integers. It is the reverse of [`data_type`]; nested types, dictionaries, views and large offsets have the
/// column type of their values.
///
/// ```
/// use pilaster::column::{Type, Unit};
/// use pilaster_arrow::arrow_schema::{DataType, Field};
/// use pilaster_arrow::schema::{UNIT, column_type};
///
/// let field = Field::new("t", DataType::Int64, true);
/// let in_weeks = field.clone().with_metadata([(UNIT.to_owned(), "date64[W]".to_owned())].into());
/// assert_eq!(column_type(&in_weeks), Some(Type::Date(Unit::Week)));
/// assert_eq!(column_type(&Field::new("s", DataType::Utf8View, true)), Some(Type::Utf8));
/// ```
#[must_use]
pub fn column_type(field: &Field) -> Option<Type> {
    let said = |key: &str| field.metadata().get(key).map(String::as_str);
    match field.data_type() {
        ty @ DataType::Int64 => said(UNIT).and_then(lacking).or_else(|| plain(ty)),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView
            if said(TYPE) == Some(&Type::Opaque.to_string()) =>
        {
            Some(Type::Opaque)
        }
        ty => plain(ty),
    }
}

/// Returns the type of a name whose unit Arrow lacks.
fn lacking(name: &str) -> Option<Type> {
    let temporal = Unit::ALL.iter().flat_map(|unit| [Type::Date(*unit), Type::Time(*unit), Type::Timestamp(*unit)]);
    temporal.filter(|ty| lacks(*ty)).find(|ty| ty.to_string() == name)
}

/// Returns a nested type whose fields, items, entries or values of runs become those that `of` returns; any other type as it is.
pub(crate) fn with_fields(ty: &DataType, of: &dyn Fn(&FieldRef) -> FieldRef) -> DataType {
    match ty {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        DataType::List(item) => DataType::List(of(item)),
        DataType::LargeList(item) => DataType::LargeList(of(item)),
        DataType::ListView(item) => DataType::ListView(of(item)),
        DataType::LargeListView(item) => DataType::LargeListView(of(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(of(item), *len),
        DataType::Map(entries, sorted) => DataType::Map(of(entries), *sorted),
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(ends.clone(), of(values)),
        other => other.clone(),
    }
}

/// Parses a list of columns with their types, such as `id: uint32, price: decimal(10,2), at: timestamp[ms, UTC]`. The
/// types have the names that this library prints ([`Type`]), or names of Arrow (`LargeUtf8`). `UTC` is written as the
/// offset `+00:00`, as texts are parsed without a database of zones.
///
/// ```
/// use pilaster_arrow::arrow_schema::{DataType, TimeUnit};
/// use pilaster_arrow::schema::parse;
///
/// let schema = parse("id: uint32, price: decimal(10,2), at: timestamp[ms, UTC]")?;
/// assert_eq!(schema.field(1).data_type(), &DataType::Decimal64(10, 2));
/// assert_eq!(schema.field(2).data_type(), &DataType::Timestamp(TimeUnit::Millisecond, Some("+00:00".into())));
/// assert!(parse("id: unit32").is_err());
/// # Ok::<(), pilaster_arrow::Error>(())
/// ```
///
/// # Errors
/// [`Error::Input`] with the part of the text that is no column, and the types that there are; two columns with the same
/// name.
pub fn parse(text: &str) -> Result<Schema, Error> {
    let (mut fields, mut depth, mut start, mut named) = (Vec::<Field>::new(), 0i32, 0, false);
    for (i, byte) in text.bytes().chain([b',']).enumerate() {
        match byte {
            b':' => named = true,
            // Brackets of a type, not of a name.
            b'(' | b'[' | b'<' if named => depth = depth.saturating_add(1),
            b')' | b']' | b'>' if named => depth = depth.saturating_sub(1),
            b',' if depth <= 0 || i == text.len() => {
                let column = text.get(start..i).unwrap_or_default().trim();
                (start, depth, named) = (i.saturating_add(1), 0, false);
                let field = field_of(column)?;
                if fields.iter().any(|known| known.name() == field.name()) {
                    return Err(Error::Input(format!("column {:?} has two types", field.name())));
                }
                fields.push(field);
            }
            _ => {}
        }
    }
    Ok(Schema::new(fields))
}

/// Parses a name and a type.
fn field_of(column: &str) -> Result<Field, Error> {
    let wrong = || Error::Input(format!("{column:?} is no column; example: \"id: int64, at: timestamp[ms]\""));
    let (name, ty) = last_colon(column).and_then(|at| column.split_at_checked(at)).ok_or_else(wrong)?;
    let (name, ty) = (name.trim(), ty.trim_start_matches(':').trim());
    if name.is_empty() {
        return Err(wrong());
    }
    let found = type_of(ty).map_err(|why| {
        let what = if why.is_empty() { format!("there are {}", names()) } else { why };
        Error::Input(format!("column {name:?}: {ty:?} is no type of a column; {what}"))
    })?;
    Ok(Field::new(name, found, true))
}

/// Returns the offset of the last colon that is not within brackets of the type.
fn last_colon(column: &str) -> Option<usize> {
    let mut depth = 0i32;
    let mut bytes = column.bytes().enumerate().rev();
    let colon = bytes.find(|(_, byte)| {
        depth = match byte {
            b')' | b']' | b'>' => depth.saturating_add(1),
            b'(' | b'[' | b'<' => depth.saturating_sub(1),
            _ => depth,
        };
        *byte == b':' && depth <= 0
    });
    colon.map(|(at, _)| at)
}

/// Returns the names of the types that a text can name.
fn names() -> String {
    let plain = PLAIN.iter().filter(|(ty, _)| *ty != Type::Opaque).map(|(ty, _)| ty.to_string());
    let names = plain.collect::<Vec<_>>().join(", ");
    format!("{names}, utf8, timestamp[ms, UTC], decimal(P,S), fixed_bytes(N), and names of Arrow such as LargeUtf8")
}

/// Returns the Arrow type with a name. An error is empty if no type is called so.
fn type_of(name: &str) -> Result<DataType, String> {
    let mut known = PLAIN.iter().filter(|(ty, _)| *ty != Type::Opaque);
    if name == "utf8" {
        return Ok(DataType::Utf8);
    }
    if let Some((_, ty)) = known.find(|(ty, _)| ty.to_string() == name) {
        return Ok(ty.clone());
    }
    let within = |start: &str, end: char| name.strip_prefix(start)?.strip_suffix(end);
    if let Some((unit, zone)) = within("timestamp[", ']').and_then(|inner| inner.split_once(',')) {
        let DataType::Timestamp(unit, _) = type_of(&format!("timestamp[{}]", unit.trim()))? else {
            return Err(String::new());
        };
        let zone = if matches!(zone.trim(), "UTC" | "Z") { "+00:00" } else { zone.trim() };
        if !is_offset(zone) {
            return Err(format!("the zone {zone:?} is neither UTC nor an offset such as +02:00"));
        }
        return Ok(DataType::Timestamp(unit, Some(zone.into())));
    }
    if let Some((precision, scale)) = within("decimal(", ')').and_then(|inner| inner.split_once(',')) {
        let digits = "a decimal has 1 to 76 digits, and at most as many after the point";
        let (Ok(precision), Ok(scale)) = (precision.trim().parse::<u8>(), scale.trim().parse::<i8>()) else {
            return Err(digits.to_owned());
        };
        if scale < 0 {
            return Err(
                "digits that are left out before the point (a negative scale) have no meaning for texts".to_owned()
            );
        }
        let is_wide = u8::try_from(scale).is_ok_and(|scale| scale > precision);
        return decimal(precision, scale).filter(|_| !is_wide).ok_or_else(|| digits.to_owned());
    }
    if let Some(len) = within("fixed_bytes(", ')') {
        let len = len.trim().parse().ok().and_then(|len| data_type(Type::FixedBytes(len)));
        return len.ok_or_else(|| format!("the number of bytes is 0 to {}", i32::MAX));
    }
    // Arrow's parser takes some texts that are no type; those it prints are.
    let parsed: DataType = name.parse().map_err(|_| String::new())?;
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    if plain(&parsed.to_string()) != plain(name) {
        return Err(format!("is {:?} meant?", parsed.to_string()));
    }
    match parsed {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => type_of(&format!("decimal({precision},{scale})")).map(|_| parsed),
        parsed => Ok(parsed),
    }
}

/// Returns whether a text is an offset from UTC, such as +02:00. Names of zones require a database.
fn is_offset(zone: &str) -> bool {
    let Some(rest) = zone.strip_prefix(['+', '-']) else { return false };
    let number = |text: &str, most: u32| text.len() == 2 && text.parse::<u32>().is_ok_and(|number| number <= most);
    rest.split_once(':').is_some_and(|(hours, minutes)| number(hours, 23) && number(minutes, 59))
}

fn plain(ty: &DataType) -> Option<Type> {
    Some(match ty {
        DataType::LargeUtf8 | DataType::Utf8View => Type::Utf8,
        DataType::LargeBinary | DataType::BinaryView => Type::Bytes,
        DataType::Timestamp(unit, Some(_)) => return plain(&DataType::Timestamp(*unit, None)),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Type::Decimal { precision: *precision, scale: *scale },
        DataType::FixedSizeBinary(len) => Type::FixedBytes(u32::try_from(*len).ok()?),
        DataType::List(_) | DataType::LargeList(_) | DataType::ListView(_) | DataType::LargeListView(_) => Type::List,
        DataType::FixedSizeList(_, len) => Type::FixedList(u32::try_from(*len).ok()?),
        DataType::Struct(fields) => Type::Struct(u32::try_from(fields.len()).ok()?),
        DataType::Map(..) => Type::Map,
        DataType::Dictionary(_, values) => return plain(values),
        DataType::RunEndEncoded(_, values) => return column_type(values),
        ty => return PLAIN.iter().find(|(_, known)| known == ty).map(|(ty, _)| *ty),
    })
}

/// Returns whether Arrow has the kind of type, but not the unit.
pub(crate) fn lacks(ty: Type) -> bool {
    matches!(ty, Type::Date(_) | Type::Time(_) | Type::Timestamp(_)) && !PLAIN.iter().any(|(known, _)| *known == ty)
}

fn decimal(precision: u8, scale: i8) -> Option<DataType> {
    let digits = precision.max(u8::try_from(scale).unwrap_or(0));
    Some(match digits {
        1..=9 => DataType::Decimal32(digits, scale),
        10..=18 => DataType::Decimal64(digits, scale),
        19..=38 => DataType::Decimal128(digits, scale),
        39..=76 => DataType::Decimal256(digits, scale),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn nuls_are_found_at_any_depth() {
        let zoned = DataType::Timestamp(TimeUnit::Second, Some("a\0".into()));
        let item = |ty: DataType| Arc::new(Field::new("item", ty, true));
        let named = Arc::new(Field::new("a\0b", DataType::Int8, true));
        for ty in [
            zoned.clone(),
            DataType::List(item(zoned.clone())),
            DataType::Struct(vec![Arc::clone(&named)].into()),
            DataType::FixedSizeList(item(DataType::Struct(vec![named].into())), 2),
            DataType::Dictionary(Box::new(DataType::Int8), Box::new(zoned.clone())),
            DataType::RunEndEncoded(Arc::new(Field::new("ends", DataType::Int32, false)), item(zoned)),
        ] {
            let fields = vec![Field::new("k", DataType::Int8, true), Field::new("v", ty, true)];
            assert_eq!(column_with_nul(&Schema::new(fields)), Some(1));
        }
        assert_eq!(column_with_nul(&Schema::new(vec![Field::new("v", DataType::Utf8, true)])), None);
    }

    #[test]
    fn every_type_reads_back() {
        let mut types: Vec<Type> = PLAIN.iter().map(|(ty, _)| *ty).collect();
        types.extend(Unit::ALL.iter().flat_map(|unit| [Type::Date(*unit), Type::Time(*unit), Type::Timestamp(*unit)]));
        types.extend([1, 9, 10, 18, 19, 38, 39, 76].map(|precision| Type::Decimal { precision, scale: 1 }));
        types.push(Type::FixedBytes(7));
        for ty in types {
            let mut field = Field::new("x", data_type(ty).unwrap_or(DataType::Null), true);
            let key = if lacks(ty) { UNIT } else { TYPE };
            if lacks(ty) || ty == Type::Opaque {
                field = field.with_metadata([(key.to_owned(), ty.to_string())].into());
            }
            assert_eq!(column_type(&field), Some(ty));
        }
    }

    #[test]
    fn names_may_have_brackets_and_colons() {
        let names = |text: &str| {
            let schema = parse(text).map_err(|e| e.to_string())?;
            Ok::<_, String>(
                schema.fields().iter().map(|field| format!("{} {}", field.name(), field.data_type())).collect(),
            )
        };
        let zoned = "Timestamp(ms, \"+02:00\")";
        let all: Vec<String> = vec![format!("at {zoned}"), "b Int8".to_owned()];
        assert_eq!(names("at:timestamp[ms, +02:00],b:int8"), Ok(all));
        let all = ["a<b Int8", "c) Utf8", "d] Int8", "e:f Decimal32(4, 2)", "g Int8"].map(str::to_owned).to_vec();
        assert_eq!(names("a<b: int8, c): utf8, d]:int8, e:f:decimal(4,2), g: int8"), Ok(all));
    }

    #[test]
    fn types_are_parsed_exactly() {
        let types = parse("a: decimal(4, 2), b b:fixed_bytes(3),c: timestamp[us, -02:30], d: LargeUtf8, e: int8");
        let types: Vec<_> =
            types.iter().flat_map(|schema| schema.fields().iter().map(|f| f.data_type().clone())).collect();
        let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("-02:30".into()));
        let fixed = DataType::FixedSizeBinary(3);
        assert_eq!(types, [DataType::Decimal32(4, 2), fixed, zoned, DataType::LargeUtf8, DataType::Int8]);
        for (text, expected) in [
            ("a: decimal(10,-2)", "negative scale"),
            ("a: Decimal64(10, -2)", "negative scale"),
            ("a: decimal(2,3)", "at most as many after the point"),
            ("a: decimal(77,0)", "1 to 76 digits"),
            ("a: decimal(256,0)", "1 to 76 digits"),
            ("a: decimal(10,2", "no type of a column"),
            ("a: int64 x", "no type of a column"),
            ("a: Int64()", "no type of a column"),
            ("a: unit32", "there are null, bool, int8"),
            ("a: object", "there are null, bool, int8"),
            ("a: timestamp[ms, Rome]", "neither UTC nor an offset"),
            ("a: timestamp[ms,]", "neither UTC nor an offset"),
            ("a: timestamp[ms, +2:00]", "neither UTC nor an offset"),
            ("a: timestamp[ps]", "no type of a column"),
            ("a: fixed_bytes(-1)", "number of bytes"),
            ("a: int8, a: int16", "two types"),
            (": int8", "no column"),
            ("a: int8,", "no column"),
            ("int8", "no column"),
        ] {
            let e = parse(text).map_err(|e| e.to_string());
            assert!(e.as_ref().is_err_and(|e| e.contains(expected)), "{text}: {e:?}");
        }
    }

    #[test]
    fn a_decimal_has_as_many_digits_as_arrow_requires() {
        assert_eq!(decimal(2, 12), Some(DataType::Decimal64(12, 12)));
        assert_eq!(decimal(3, -2), Some(DataType::Decimal32(3, -2)));
        assert_eq!((decimal(2, 77), decimal(0, 0)), (None, None));
    }
}
