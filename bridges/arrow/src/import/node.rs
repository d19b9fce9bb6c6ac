//! An array of a record batch as a tree of nodes, which columns refer to.

use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryType, BinaryViewType, Int16Type, Int32Type, Int64Type};
use arrow_array::types::{ByteArrayType, ByteViewType, RunEndIndexType};
use arrow_array::types::{LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, IntervalUnit};
use pilaster::column::{Prim, Type};

use super::number::Number;
use crate::Error;
use crate::schema::{EXTENSION, VARIANT, ZONE, column_type};

/// Maximum depth of nested types: nodes are made by recursion.
const DEPTH: u32 = 64;

/// One array: its type, its rows, and the buffers of its values.
#[derive(Debug)]
pub(crate) struct Node {
    pub ty: Type,
    pub nullable: bool,
    pub rows: usize,
    pub nulls: Nulls,
    pub values: Stored,
    pub zone: Option<Arc<str>>,
    /// Whether the rows are variants: structs of metadata and value.
    pub is_variant: bool,
    /// The children of a nested type, with their names. For dictionaries: the values, and the codes as a column. For
    /// runs: the values.
    pub children: Vec<(String, Node)>,
}

/// Which rows are missing, apart from those that the values of a dictionary or run make missing.
#[derive(Debug)]
pub(crate) enum Nulls {
    None,
    All,
    Bits(NullBuffer),
}

/// The values of an array, in the buffers of Arrow.
#[derive(Debug)]
pub(crate) enum Stored {
    Null,
    Bool(BooleanBuffer),
    Number(Buffer, Number),
    Off32(ScalarBuffer<i32>, Buffer),
    Off64(ScalarBuffer<i64>, Buffer),
    Fixed(Buffer, u32),
    Views(ScalarBuffer<u128>, Vec<Buffer>),
    /// Structs and fixed-size lists: the number of child rows per row.
    Stride(u64),
    List32(ScalarBuffer<i32>),
    List64(ScalarBuffer<i64>),
    Views32(ScalarBuffer<i32>, ScalarBuffer<i32>),
    Views64(ScalarBuffer<i64>, ScalarBuffer<i64>),
    /// A dictionary; the values are child 0, the codes child 1.
    Coded,
    /// Runs: the end of each, and the number of rows before the first one; the values are child 0.
    Runs(Ends, usize),
}

/// The ends of runs, in rows.
#[derive(Debug)]
pub(crate) enum Ends {
    I16(ScalarBuffer<i16>),
    I32(ScalarBuffer<i32>),
    I64(ScalarBuffer<i64>),
}

/// Returns an error for a type that no column can have, or that is nested too deeply.
pub(crate) fn check(field: &Field) -> Result<(), Error> {
    checked(field, DEPTH).map_err(|e| e.in_column(field.name()))
}

fn checked(field: &Field, depth: u32) -> Result<(), Error> {
    let Some(below) = depth.checked_sub(1) else {
        return Err(Error::Refused(format!("a type of over {DEPTH} levels"), "flatten the column"));
    };
    let ty = field.data_type();
    let plain = |ty: &DataType| checked(&Field::new("", ty.clone(), true), below);
    match ty {
        DataType::Dictionary(_, values) => return plain(values),
        DataType::RunEndEncoded(_, values) => return checked(values, below),
        _ => {}
    }
    if column_type(field).is_none() {
        return Err(Error::Refused(ty.to_string(), remedy(ty)));
    }
    match ty {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => checked(item, below),
        DataType::Struct(fields) => fields.iter().try_for_each(|field| checked(field, below)),
        _ => Ok(()),
    }
}

fn remedy(ty: &DataType) -> &'static str {
    match ty {
        DataType::Duration(_) => "store integers of its unit",
        DataType::Interval(IntervalUnit::YearMonth) => "cast it to int32",
        DataType::Interval(_) => "store its parts as integer columns",
        DataType::Union(..) => "store a column for each of its types",
        _ => "leave it out",
    }
}

/// Creates the node of an array whose type [`check`] accepted.
pub(crate) fn node(field: &Field, array: &dyn Array) -> Result<Node, Error> {
    made(field, array, DEPTH)
}

fn made(field: &Field, array: &dyn Array, depth: u32) -> Result<Node, Error> {
    let below = depth.checked_sub(1).ok_or_else(|| refused(field))?;
    let ty = column_type(field).ok_or_else(|| refused(field))?;
    let mut children = Vec::new();
    let values = match array.data_type() {
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => coded(field, array, below, &mut children)?,
        ty if ty.is_nested() => nested(field, array, below, &mut children)?,
        DataType::Null => Stored::Null,
        DataType::Boolean => Stored::Bool(array.as_boolean().values().clone()),
        DataType::Utf8 => bytes::<Utf8Type>(array, Stored::Off32),
        DataType::Binary => bytes::<BinaryType>(array, Stored::Off32),
        DataType::LargeUtf8 => bytes::<LargeUtf8Type>(array, Stored::Off64),
        DataType::LargeBinary => bytes::<LargeBinaryType>(array, Stored::Off64),
        DataType::Utf8View => views::<StringViewType>(array),
        DataType::BinaryView => views::<BinaryViewType>(array),
        DataType::FixedSizeBinary(size) => {
            Stored::Fixed(array.as_fixed_size_binary().values().clone(), size.unsigned_abs())
        }
        _ => number(ty, array).ok_or_else(|| refused(field))?,
    };
    let nulls = match (array.nulls(), &values) {
        (_, Stored::Null) => Nulls::All,
        (Some(nulls), _) if nulls.null_count() > 0 => Nulls::Bits(nulls.clone()),
        _ => Nulls::None,
    };
    let zone = match array.data_type() {
        DataType::Timestamp(_, zone) => zone.clone(),
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => {
            children.first().and_then(|(_, values)| values.zone.clone())
        }
        _ => field.metadata().get(ZONE).filter(|_| matches!(ty, Type::Timestamp(_))).map(|zone| zone.as_str().into()),
    };
    let nullable = field.is_nullable() || ty == Type::Null;
    let is_variant = match values {
        Stored::Coded | Stored::Runs(..) => children.first().is_some_and(|(_, values)| values.is_variant),
        _ => field.metadata().get(EXTENSION).is_some_and(|name| name == VARIANT) && is_pair(&mut children),
    };
    Ok(Node { ty, nullable, rows: array.len(), nulls, values, zone, is_variant, children })
}

/// Returns whether the children are the metadata and the value of variants, and puts them into this order. Variants with
/// values that are stored apart have a third child.
fn is_pair(children: &mut [(String, Node)]) -> bool {
    let [first, second] = children else { return false };
    if first.1.ty != Type::Bytes || second.1.ty != Type::Bytes {
        return false;
    }
    match (first.0.as_str(), second.0.as_str()) {
        ("metadata", "value") => true,
        ("value", "metadata") => {
            std::mem::swap(first, second);
            true
        }
        _ => false,
    }
}

/// Adds the values of a dictionary or of runs to `children`.
fn coded(field: &Field, array: &dyn Array, below: u32, children: &mut Vec<(String, Node)>) -> Result<Stored, Error> {
    let values = |values: &DataType| Field::new("", values.clone(), true).with_metadata(field.metadata().clone());
    let (stored, ty, array) = match array.data_type() {
        DataType::Dictionary(keys, ty) => {
            let array = array.as_any_dictionary();
            let codes = made(&Field::new("", keys.as_ref().clone(), true), array.keys(), 1)?;
            children.push(("codes".to_owned(), codes));
            (Stored::Coded, ty.as_ref(), array.values().as_ref())
        }
        DataType::RunEndEncoded(ends, ty) => {
            let (ends, array) = match ends.data_type() {
                DataType::Int16 => runs::<Int16Type>(array, Ends::I16),
                DataType::Int32 => runs::<Int32Type>(array, Ends::I32),
                _ => runs::<Int64Type>(array, Ends::I64),
            };
            (ends, ty.data_type(), array)
        }
        _ => return Err(refused(field)),
    };
    children.insert(0, ("values".to_owned(), made(&values(ty), array, below)?));
    Ok(stored)
}

/// Adds the children of a list, struct or map.
fn nested(field: &Field, array: &dyn Array, below: u32, children: &mut Vec<(String, Node)>) -> Result<Stored, Error> {
    let mut child = |field: &Field, array: &dyn Array| -> Result<(), Error> {
        children.push((field.name().clone(), made(field, array, below)?));
        Ok(())
    };
    match array.data_type() {
        DataType::List(item) => {
            let array = array.as_list::<i32>();
            child(item, array.values())?;
            Ok(Stored::List32(array.offsets().inner().clone()))
        }
        DataType::LargeList(item) => {
            let array = array.as_list::<i64>();
            child(item, array.values())?;
            Ok(Stored::List64(array.offsets().inner().clone()))
        }
        DataType::ListView(item) => {
            let array = array.as_list_view::<i32>();
            child(item, array.values())?;
            Ok(Stored::Views32(array.offsets().clone(), array.sizes().clone()))
        }
        DataType::LargeListView(item) => {
            let array = array.as_list_view::<i64>();
            child(item, array.values())?;
            Ok(Stored::Views64(array.offsets().clone(), array.sizes().clone()))
        }
        DataType::FixedSizeList(item, size) => {
            child(item, array.as_fixed_size_list().values())?;
            Ok(Stored::Stride(size.unsigned_abs().into()))
        }
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(array.as_struct().columns());
            columns.into_iter().try_for_each(|(field, array)| child(field, array))?;
            Ok(Stored::Stride(1))
        }
        DataType::Map(entries, _) => {
            child(entries, array.as_map().entries())?;
            Ok(Stored::List32(array.as_map().offsets().inner().clone()))
        }
        _ => Err(refused(field)),
    }
}

/// Returns the numbers of an array with a fixed width, dates and decimals included.
fn number(ty: Type, array: &dyn Array) -> Option<Stored> {
    let width = array.data_type().primitive_width()?;
    let number = match ty {
        Type::Prim(prim) => Number::Prim(prim),
        Type::Decimal { precision, .. } => Number::decimal(width, precision),
        _ => Number::Prim(if width == 4 { Prim::I32 } else { Prim::I64 }),
    };
    let data = array.to_data();
    let (from, len) = (data.offset().checked_mul(width)?, array.len().checked_mul(width)?);
    let buffer = data.buffers().first()?;
    let bytes = buffer.get(from..from.checked_add(len)?)?;
    Some(Stored::Number(buffer.slice_with_length(from, bytes.len()), number))
}

fn bytes<T: ByteArrayType>(
    array: &dyn Array,
    stored: impl FnOnce(ScalarBuffer<T::Offset>, Buffer) -> Stored,
) -> Stored {
    let array = array.as_bytes::<T>();
    stored(array.offsets().inner().clone(), array.values().clone())
}

fn views<T: ByteViewType>(array: &dyn Array) -> Stored {
    let array = array.as_byte_view::<T>();
    Stored::Views(array.views().clone(), array.data_buffers().to_vec())
}

/// Returns runs and their values. They include the values before the first row of the array.
fn runs<R: RunEndIndexType>(array: &dyn Array, ends: fn(ScalarBuffer<R::Native>) -> Ends) -> (Stored, &dyn Array) {
    let array = array.as_run::<R>();
    let runs = array.run_ends();
    (Stored::Runs(ends(runs.inner().clone()), runs.offset()), array.values().as_ref())
}

#[cold]
fn refused(field: &Field) -> Error {
    Error::Refused(field.data_type().to_string(), remedy(field.data_type()))
}

impl Ends {
    /// Returns the number of the run with row `row`, which is counted from the first run.
    pub fn find(&self, row: usize) -> usize {
        fn at<T: ArrowNativeType>(ends: &[T], row: usize) -> usize {
            ends.partition_point(|end| end.as_usize() <= row)
        }
        match self {
            Ends::I16(ends) => at(ends, row),
            Ends::I32(ends) => at(ends, row),
            Ends::I64(ends) => at(ends, row),
        }
    }

    /// Returns the end of run `run`, or `None` if there is no such run.
    pub fn end(&self, run: usize) -> Option<usize> {
        match self {
            Ends::I16(ends) => ends.get(run).map(|end| end.as_usize()),
            Ends::I32(ends) => ends.get(run).map(|end| end.as_usize()),
            Ends::I64(ends) => ends.get(run).map(|end| end.as_usize()),
        }
    }
}
