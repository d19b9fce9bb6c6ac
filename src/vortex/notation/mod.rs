//! Types in the notation of the original implementation: `{a=i64, t=vortex.timestamp[ms, tz=UTC](i64?)}`.

use core::fmt::{self, Formatter, Write};

#[cfg(feature = "alloc")]
mod parse;

use super::dtype::{DType, Shape};
#[cfg(feature = "alloc")]
use super::dtype::{PRIMS, UNITS};
use crate::column::{Prim, Unit};
use crate::limits::{Fuel, Limits};

#[cfg(feature = "alloc")]
pub use parse::DTypeBuf;

/// Maximum number of nodes of a type that are shown, or parsed.
const SHOWN: u32 = 1 << 16;

/// Writes the type as the original implementation does. An invalid child, or one after the first 65,536 nodes, is `…`.
impl fmt::Display for DType<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        show(*self, &mut Fuel::new(&Limits { max_nodes: SHOWN, ..Limits::DEFAULT }), f)
    }
}

fn show(dtype: DType<'_>, fuel: &mut Fuel, f: &mut Formatter<'_>) -> fmt::Result {
    if fuel.spend(0).is_err() {
        return f.write_char('…');
    }
    if let Ok(Some((id, _))) = dtype.extension() {
        return extension(dtype, id, fuel, f);
    }
    match dtype.ty.shape {
        // Always nullable.
        Shape::Null => return f.write_str("null"),
        Shape::Bool => f.write_str("bool")?,
        Shape::Utf8 => f.write_str("utf8")?,
        Shape::Binary => f.write_str("binary")?,
        Shape::Prim(prim) => f.write_str(name(prim))?,
        Shape::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})")?,
        Shape::List => {
            f.write_str("list(")?;
            child(dtype, 0, fuel, f)?;
            f.write_char(')')?;
        }
        Shape::FixedList(size) => {
            f.write_str("fixed_size_list(")?;
            child(dtype, 0, fuel, f)?;
            write!(f, ")[{size}]")?;
        }
        Shape::Map | Shape::Entries => {
            f.write_str("map(")?;
            if let Ok(entry) = dtype.child(0) {
                child(entry, 0, fuel, f)?;
                f.write_str(", ")?;
                child(entry, 1, fuel, f)?;
            }
            write!(f, ", keys_sorted={})", dtype.keys_sorted())?;
        }
        Shape::Struct(_) | Shape::Entry => {
            f.write_char('{')?;
            for k in 0..dtype.children() {
                let name = dtype.name(k).unwrap_or("…");
                write!(f, "{}{name}=", if k > 0 { ", " } else { "" })?;
                child(dtype, k, fuel, f)?;
            }
            f.write_char('}')?;
        }
        #[cfg(feature = "vortex-variant")]
        Shape::Variant => f.write_str("variant")?,
        #[cfg(feature = "vortex-variant")]
        Shape::VariantPart { .. } => f.write_str("binary")?,
        Shape::Other => f.write_str(if cfg!(feature = "vortex-variant") { "union" } else { "variant" })?,
    }
    if dtype.nullable() { f.write_char('?') } else { Ok(()) }
}

fn child(dtype: DType<'_>, k: usize, fuel: &mut Fuel, f: &mut Formatter<'_>) -> fmt::Result {
    match dtype.child(k) {
        Ok(child) => show(child, fuel, f),
        Err(_) => f.write_char('…'),
    }
}

/// Writes the id, for calendar types the unit and the zone, and the storage type.
fn extension(dtype: DType<'_>, id: &[u8], fuel: &mut Fuel, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(core::str::from_utf8(id).unwrap_or("…"))?;
    if let Some((unit, zone)) = dtype.calendar_unit() {
        write!(f, "[{}", symbol(unit))?;
        if !zone.is_empty() {
            write!(f, ", tz={}", core::str::from_utf8(zone).unwrap_or("…"))?;
        }
        f.write_char(']')?;
    }
    f.write_char('(')?;
    match dtype.storage() {
        Ok(storage) => show(storage, fuel, f)?,
        Err(_) => f.write_char('…')?,
    }
    f.write_char(')')
}

const fn symbol(unit: Unit) -> &'static str {
    match unit {
        Unit::Nano => "ns",
        Unit::Micro => "µs",
        Unit::Milli => "ms",
        Unit::Second => "s",
        _ => "days",
    }
}

const fn name(prim: Prim) -> &'static str {
    match prim {
        Prim::U8 => "u8",
        Prim::U16 => "u16",
        Prim::U32 => "u32",
        Prim::U64 => "u64",
        Prim::I8 => "i8",
        Prim::I16 => "i16",
        Prim::I32 => "i32",
        Prim::I64 => "i64",
        Prim::F16 => "f16",
        Prim::F32 => "f32",
        Prim::F64 => "f64",
    }
}
