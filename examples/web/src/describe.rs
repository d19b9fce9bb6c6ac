//! Columns and their types as JSON.

use pilaster::Result;
#[cfg(feature = "rows")]
use pilaster::any;
#[cfg(feature = "rows")]
use pilaster::column::{Column as _, Type};
use pilaster::error::{Error, Kind};

use crate::json::Json;

/// Whether any format of this build has columns with children.
#[cfg(feature = "rows")]
pub const NESTED: bool = cfg!(any(feature = "jay", feature = "bcolz", feature = "vortex"));

/// Begins a table: `{"name", "rows", "columns": [`; the columns follow.
#[cfg(feature = "rows")]
pub fn table(json: &mut Json, name: &str, rows: u64) {
    json.open(b'{').name("name", name).count("rows", rows).key("columns").open(b'[');
}

/// Ends a table.
#[cfg(feature = "rows")]
pub fn end(json: &mut Json) {
    json.close(b']').close(b'}');
}

/// Describes a column: `{"name", "type", "nullable", ..., "children"}`. `name` does not contain the name of the parent.
#[cfg(feature = "rows")]
pub fn column(json: &mut Json, name: &str, column: &any::Column<'_>) -> Result<()> {
    begin(json, name, column.ty(), column.nullable());
    #[cfg(feature = "jay")]
    #[allow(irrefutable_let_patterns, reason = "not where there are other formats in the build")]
    if let any::Column::Jay(column) = column {
        json.name("stored", column.field().stype().name());
    }
    if let Some(zone) = column.zone()? {
        json.name("zone", zone);
    }
    let ty = column.ty();
    if NESTED && (ty.children() > 0 || ty == Type::Struct(0)) {
        json.key("children").open(b'[');
        for k in 0..ty.children() {
            let name = if let Type::Struct(_) = ty { column.child_name(k)? } else { "" };
            self::column(json, name, &column.child(k)?)?;
        }
        json.close(b']');
    }
    json.close(b'}');
    Ok(())
}

/// Describes a column by its type alone; the object stays open.
#[cfg(feature = "rows")]
pub fn begin(json: &mut Json, name: &str, ty: Type, nullable: bool) {
    json.open(b'{').name("name", name).key("nullable").bool(nullable);
    json.name("type", kind_of(ty));
    match ty {
        Type::Decimal { precision, scale } => {
            json.count("precision", precision.into()).key("scale").signed(scale.into());
        }
        Type::Date(unit) | Type::Time(unit) | Type::Timestamp(unit) => {
            json.name("unit", unit.name());
        }
        Type::FixedBytes(size) | Type::FixedList(size) => {
            json.count("size", size.into());
        }
        _ => {}
    }
}

#[cfg(feature = "rows")]
const fn kind_of(ty: Type) -> &'static str {
    match ty {
        Type::Null => "null",
        Type::Bool => "bool",
        Type::Prim(prim) => prim.name(),
        Type::Decimal { .. } => "decimal",
        Type::Date(_) => "date",
        Type::Time(_) => "time",
        Type::Timestamp(_) => "timestamp",
        Type::Bytes => "bytes",
        Type::FixedBytes(_) => "fixed_bytes",
        Type::Utf8 => "string",
        Type::List => "list",
        Type::FixedList(_) => "fixed_list",
        Type::Struct(_) => "struct",
        Type::Map => "map",
        Type::Opaque => "object",
        _ => "unknown",
    }
}

/// Describes an error for the page; the object stays open.
pub fn error(json: &mut Json, e: &Error) {
    json.open(b'{').name("kind", kind(e.kind())).name("field", e.what().name());
    json.count("offset", e.at()).count("need", e.need().into());
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Truncated => "Truncated",
        Kind::Trailing => "Trailing",
        Kind::Invalid => "Invalid",
        Kind::Unsupported => "Unsupported",
        Kind::WrongType => "WrongType",
        Kind::Checksum => "Checksum",
        Kind::Overflow => "Overflow",
        Kind::Limit => "Limit",
        Kind::NoRoom => "NoRoom",
        Kind::OutOfRange => "OutOfRange",
        Kind::Utf8 => "Utf8",
        Kind::Lossy => "Lossy",
        Kind::Misuse => "Misuse",
        Kind::Missing => "Missing",
        _ => "Unknown",
    }
}
