//! Primitive values that are stored apart.

use crate::bytes::low32;
use crate::column::{Prim, Unit};
use crate::encoding::cells::Cells;
use crate::encoding::variant::{Primitive, Scaled};
use crate::error::{Kind, Result, What};
use crate::vortex::context::Context;
use crate::vortex::dtype::Shape;
use crate::vortex::encodings::variant::Typed;
use crate::vortex::node::Node;
use crate::vortex::stored_type::Meaning;
use crate::vortex::tree::Ask;

/// Returns the primitive in a row, for the types that Apache Parquet allows.
pub(super) fn primitive<'v>(typed: &Typed<'_>, at: u64, cx: &mut Context<'_, '_>) -> Result<Primitive<'v>> {
    let node = &typed.node;
    let shape = node.dtype.shape;
    let unsupported = || node.error(Kind::Unsupported, What::VARIANT, 0);
    let (bits, size) = number(node, at, cx)?;
    let signed = |bits: i128| i64::try_from(bits).unwrap_or_default();
    Ok(match (typed.ty.meaning, shape) {
        (Meaning::Plain, Shape::Null) => Primitive::Null,
        (Meaning::Plain, Shape::Bool) => Primitive::Bool(bits != 0),
        (Meaning::Plain, Shape::Prim(Prim::I8 | Prim::I16 | Prim::I32 | Prim::I64)) => {
            Primitive::Int(signed(bits), size)
        }
        (Meaning::Plain, Shape::Prim(Prim::F32)) => {
            Primitive::Float(f32::from_bits(low32(signed(bits).cast_unsigned())))
        }
        (Meaning::Plain, Shape::Prim(Prim::F64)) => Primitive::Double(f64::from_bits(signed(bits).cast_unsigned())),
        (Meaning::Plain, Shape::Decimal { precision: ..=38, scale }) => match u8::try_from(scale) {
            Ok(scale) if scale <= 38 => Primitive::Decimal(Scaled { value: bits, scale, size: size.max(4) }),
            _ => return Err(unsupported()),
        },
        (Meaning::Date(Unit::Day), Shape::Prim(Prim::I32)) => Primitive::Date(i32::try_from(bits).unwrap_or_default()),
        (Meaning::Time(Unit::Micro), Shape::Prim(Prim::I64)) => Primitive::Time(signed(bits)),
        (Meaning::Timestamp(Unit::Micro, utc), Shape::Prim(Prim::I64)) => Primitive::Micros(signed(bits), utc),
        // The original stores whole microseconds as such.
        (Meaning::Timestamp(Unit::Nano, utc), Shape::Prim(Prim::I64)) => match signed(bits) {
            nanos if nanos % 1000 == 0 => Primitive::Micros(nanos / 1000, utc),
            nanos => Primitive::Nanos(nanos, utc),
        },
        _ => return Err(unsupported()),
    })
}

/// Returns the number in a row, sign-extended, and its size in bytes.
fn number(node: &Node<'_>, at: u64, cx: &mut Context<'_, '_>) -> Result<(i128, usize)> {
    macro_rules! cell {
        ($cells:ident, $unsigned:ty, $signed:ty) => {{
            let mut cell: [$unsigned; 1] = [0];
            node.cells(Ask::Values, at, &mut Cells::$cells(&mut cell), cx)?;
            let [cell] = cell;
            i128::from(cell.cast_signed())
        }};
    }
    let size = node.dtype.cell().unwrap_or(0);
    let number = match size {
        1 => cell!(W1, u8, i8),
        2 => cell!(W2, u16, i16),
        4 => cell!(W4, u32, i32),
        8 => cell!(W8, u64, i64),
        16 => cell!(W16, u128, i128),
        _ => return Err(node.error(Kind::Unsupported, What::VARIANT, size as u64)),
    };
    Ok((number, size))
}
