//! The names of types in the expectations. Each format has the names that its original program has.

use pilaster::Result;
use pilaster::column::{Column, Type, Unit};

/// Returns the name of a type in the expectations of `format`. `texts`: a column of byte strings is text.
pub fn type_name<C: Column>(column: &C, format: &str, texts: bool) -> Result<String> {
    let child = |column: &C, k| type_name(&column.child(k)?, format, texts);
    Ok(match (format, column.ty()) {
        // Timestamps of Filo appear as the stored integers.
        ("filo", Type::Timestamp(Unit::Milli)) => "int64".into(),
        ("dataseries", Type::Bytes) if texts => "string".into(),
        ("dataseries" | "bcolz", Type::FixedBytes(_)) => "bytes".into(),
        ("bcolz", Type::Timestamp(unit)) => format!("datetime64[{}]", unit.name()),
        ("jay", Type::List) => format!("array<{}>", child(column, 0)?),
        ("jay", Type::Date(_)) => "date32".into(),
        ("jay", Type::Timestamp(_)) => "time64".into(),
        ("jay", Type::Null) => "void".into(),
        ("vortex", Type::Timestamp(unit)) => match column.zone()? {
            Some(zone) => format!("timestamp[{},{zone}]", unit.name()),
            None => format!("timestamp[{}]", unit.name()),
        },
        (_, Type::List) => format!("list<{}>", child(column, 0)?),
        ("vortex", Type::FixedList(n)) => format!("fixed_size_list<{},{n}>", child(column, 0)?),
        (_, Type::Map) => {
            let entry = column.child(0)?;
            format!("map<{},{}>", child(&entry, 0)?, child(&entry, 1)?)
        }
        ("vortex", Type::Struct(n)) => {
            let field = |k| Ok(format!("{}:{}", column.child_name(k)?, child(column, k)?));
            format!("struct<{}>", (0..n as usize).map(field).collect::<Result<Vec<_>>>()?.join(","))
        }
        (_, ty) => ty.to_string(),
    })
}
