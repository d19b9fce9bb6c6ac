//! The fields of a schema from the columns of a part.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields};
use pilaster::column::{Column, Part, Type};

use crate::held::{Held, HeldRanges, HeldSpans, Home, read};
use crate::schema::{EXTENSION, EXTENSION_METADATA, TYPE, UNIT, VARIANT, ZONE, data_type, lacks};
use crate::{Error, array};

/// Maximum depth of nested types: arrays are built by recursion.
const DEPTH: u32 = 64;

/// How texts or lists are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Small,
    Large,
    Each,
}

/// Returns the fields of the chosen columns of a part.
pub(crate) fn all<P: Part>(part: &P, picks: &[usize], flat: bool, home: &mut Home) -> Result<Vec<Field>, Error> {
    let mut fields = Vec::with_capacity(picks.len());
    for k in picks {
        let name = part.name(*k)?;
        let made = part.column(*k).map_err(Error::from).and_then(|column| top(name, &column, flat, home));
        fields.push(made.map_err(|e| e.in_column(name))?);
    }
    Ok(fields)
}

/// Returns the field of a column; texts that are stored with a dictionary keep it, and are views of its texts if `flat`.
pub(crate) fn top<C: Column>(name: &str, column: &C, flat: bool, home: &mut Home) -> Result<Field, Error> {
    let texts = matches!(column.ty(), Type::Utf8 | Type::Bytes);
    // With `offsets` and with `views`, all texts are alike, however they are stored.
    if texts && !(flat && (home.offsets || home.views)) && encoded(column)? {
        if flat {
            let ty = if column.ty() == Type::Utf8 { DataType::Utf8View } else { DataType::BinaryView };
            return Ok(Field::new(name, ty, column.nullable()).with_metadata(metadata(column)?));
        }
        let values = column.dictionary(0)?.ok_or_else(array::wrong_type)?.values;
        let values = field(name, &values, DEPTH, home)?;
        let ty = DataType::Dictionary(Box::new(DataType::Int32), Box::new(values.data_type().clone()));
        return Ok(Field::new(name, ty, column.nullable()));
    }
    field(name, column, DEPTH, home)
}

/// Returns whether all rows of a column are stored with a dictionary.
fn encoded<C: Column>(column: &C) -> Result<bool, Error> {
    let mut row = 0;
    while row < column.rows() {
        let Some(found) = column.dictionary(row)? else { return Ok(false) };
        let end = found.first.saturating_add(found.len);
        if end <= row {
            return Ok(false);
        }
        row = end;
    }
    Ok(row > 0)
}

fn field<C: Column>(name: &str, column: &C, depth: u32, home: &mut Home) -> Result<Field, Error> {
    let below = depth.checked_sub(1).ok_or_else(|| Error::Unsupported(format!("type of over {DEPTH} levels")))?;
    let ty = column.ty();
    let child =
        |k: usize, home: &mut Home| field(column.child_name(k).unwrap_or("item"), &column.child(k)?, below, home);
    let item = |home: &mut Home| {
        let item = child(0, home)?.with_name("item");
        let ty = if home.common { without_views(item.data_type()) } else { item.data_type().clone() };
        Ok::<_, Error>(Arc::new(item.with_data_type(ty)))
    };
    let arrow = match ty {
        Type::Utf8 => texts([DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View], column, home)?,
        Type::Bytes | Type::Opaque => {
            texts([DataType::Binary, DataType::LargeBinary, DataType::BinaryView], column, home)?
        }
        Type::List => {
            let item = item(home)?;
            match stored(column, home)? {
                Form::Small => DataType::List(item),
                Form::Large => DataType::LargeList(item),
                Form::Each if home.common => DataType::List(item),
                Form::Each => DataType::ListView(item),
            }
        }
        Type::FixedList(size) => {
            let size = i32::try_from(size).map_err(|_| Error::Unsupported(ty.to_string()))?;
            DataType::FixedSizeList(item(home)?, size)
        }
        Type::Struct(_) => DataType::Struct(structure(column, below, home)?),
        Type::Map => {
            let entries = column.child(0)?;
            let pair = structure(&entries, below, home)?;
            let pair = pair.iter().enumerate().map(|(k, field)| match k {
                0 => field.as_ref().clone().with_nullable(false),
                _ => field.as_ref().clone(),
            });
            let pair = DataType::Struct(pair.collect());
            DataType::Map(Field::new("entries", pair, false).into(), false)
        }
        Type::Timestamp(_) if !lacks(ty) => match (data_type(ty), column.zone()?) {
            (Some(DataType::Timestamp(unit, _)), zone) => DataType::Timestamp(unit, zone.map(Into::into)),
            _ => return Err(Error::Unsupported(ty.to_string())),
        },
        ty => match data_type(ty).ok_or_else(|| Error::Unsupported(ty.to_string()))? {
            DataType::Decimal32(digits, scale) | DataType::Decimal64(digits, scale) if home.common => {
                DataType::Decimal128(digits, scale)
            }
            ty => ty,
        },
    };
    let nullable = column.nullable() || ty == Type::Null;
    Ok(Field::new(name, arrow, nullable).with_metadata(metadata(column)?))
}

/// Returns a type of items without views of texts, which pandas does not read in lists.
fn without_views(ty: &DataType) -> DataType {
    match ty {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::Struct(fields) => {
            let plain = |field: &FieldRef| field.as_ref().clone().with_data_type(without_views(field.data_type()));
            DataType::Struct(fields.iter().map(plain).collect())
        }
        ty => ty.clone(),
    }
}

fn structure<C: Column>(column: &C, depth: u32, home: &mut Home) -> Result<Fields, Error> {
    (0..column.ty().children())
        .map(|k| field(column.child_name(k)?, &column.child(k)?, depth, home))
        .collect::<Result<Fields, Error>>()
}

/// Returns what the Arrow type does not tell.
fn metadata<C: Column>(column: &C) -> Result<HashMap<String, String>, Error> {
    let ty = column.ty();
    let mut facts = HashMap::new();
    if lacks(ty) {
        facts.insert(UNIT.to_owned(), ty.to_string());
        if let Some(zone) = column.zone()? {
            facts.insert(ZONE.to_owned(), zone.to_owned());
        }
    }
    if ty == Type::Opaque {
        facts.insert(TYPE.to_owned(), ty.to_string());
    }
    if column.is_variant() {
        facts.insert(EXTENSION.to_owned(), VARIANT.to_owned());
        facts.insert(EXTENSION_METADATA.to_owned(), String::new());
    }
    Ok(facts)
}

fn texts<C: Column>([small, large, view]: [DataType; 3], column: &C, home: &mut Home) -> Result<DataType, Error> {
    if home.views {
        return Ok(view);
    }
    Ok(match stored(column, home)? {
        Form::Small => small,
        Form::Large => large,
        Form::Each => view,
    })
}

/// Reads the first row to find how texts or lists are stored.
fn stored<C: Column>(column: &C, home: &mut Home) -> Result<Form, Error> {
    if column.rows() == 0 || home.offsets {
        return Ok(Form::Small);
    }
    Ok(match read(column, 0..1, home)?.values {
        Held::Texts(texts) => match texts.spans {
            HeldSpans::Off64(_) => Form::Large,
            HeldSpans::Off32(_) => Form::Small,
            _ => Form::Each,
        },
        Held::Nested(HeldRanges::Off64(_)) => Form::Large,
        Held::Nested(HeldRanges::Each(_)) => Form::Each,
        _ => Form::Small,
    })
}
