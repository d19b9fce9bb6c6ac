//! Chooses the type of an array for a column of another format.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::cells::wrong_type;
use crate::bcolz::Dtype;
use crate::bcolz::dtype::Code;
use crate::bcolz::meta::MAX_DIMENSIONS;
use crate::column::{Batch, Column, Ranges, Type, Unit, Values};
use crate::error::Result;
use crate::limits::{Depth, Limits};

/// Returns whether an array can represent a column of this type. For a list of fixed length or a struct, the same must
/// hold for its elements or fields.
#[must_use]
pub const fn holds(ty: Type) -> bool {
    matches!(
        ty,
        Type::Bool
            | Type::Prim(_)
            | Type::Timestamp(_)
            | Type::Date(_)
            | Type::Bytes
            | Type::FixedBytes(1..)
            | Type::Utf8
            | Type::Opaque
            | Type::FixedList(1..)
            | Type::Struct(1..)
    )
}

/// Returns the lengths of `col` after the first, and the column of its items.
pub(super) fn items<C: Column>(col: &C) -> Result<(Vec<u64>, C)> {
    let (mut inner, mut col) = (Vec::new(), *col);
    while let Type::FixedList(length) = col.ty() {
        inner.push(u64::from(length));
        // The rows are the first dimension.
        if inner.len() >= MAX_DIMENSIONS {
            return Err(wrong_type());
        }
        col = col.child(0)?;
    }
    Ok((inner, col))
}

/// Returns the columns of the fields of an item, with records expanded; the item itself if it has no fields.
pub(super) fn leaves<C: Column>(item: &C, depth: Depth) -> Result<Vec<C>> {
    let Type::Struct(count) = item.ty() else { return Ok(Vec::from([*item])) };
    let mut all = Vec::new();
    for k in 0..count as usize {
        all.extend(leaves(&item.child(k)?, depth.child(0)?)?);
    }
    Ok(all)
}

/// Returns the type of an item as text. `longest` is the maximum number of characters or bytes of each leaf.
pub(super) fn dtype<C: Column>(item: &C, longest: &[usize]) -> Result<String> {
    let mut longest = longest.iter().copied();
    match item.ty() {
        Type::Struct(_) => record(item, &mut longest, Depth::new(&Limits::DEFAULT)),
        ty => Ok(scalar(ty, longest.next().unwrap_or(0))?.to_string()),
    }
}

fn record<C: Column>(item: &C, longest: &mut impl Iterator<Item = usize>, depth: Depth) -> Result<String> {
    let mut text = String::from("[");
    for k in 0..item.ty().children() {
        let (field, name) = (item.child(k)?, item.child_name(k)?);
        // The reader does not support escapes.
        if field.ty() == Type::Opaque || name.contains(['\'', '\\']) || name.chars().any(char::is_control) {
            return Err(wrong_type());
        }
        let dtype = match field.ty() {
            Type::Struct(_) => record(&field, longest, depth.child(0)?)?,
            ty => format!("'{}'", Code(scalar(ty, longest.next().unwrap_or(0))?)),
        };
        let gap = if k > 0 { ", " } else { "" };
        text.push_str(&format!("{gap}('{name}', {dtype})"));
    }
    text.push(']');
    Ok(text)
}

fn scalar(ty: Type, longest: usize) -> Result<Dtype<'static>> {
    // An item has at least one byte.
    let longest = u32::try_from(longest.max(1)).map_err(|_| wrong_type())?;
    Ok(match ty {
        Type::Bool => Dtype::Bool,
        Type::Prim(prim) => Dtype::Number { prim, big: false },
        Type::Timestamp(unit) => Dtype::Time { unit, big: false },
        Type::Date(unit) => Dtype::Time { unit, big: false },
        Type::Bytes => Dtype::Bytes(longest),
        Type::Utf8 => Dtype::Text { chars: longest, big: false },
        Type::FixedBytes(size @ 1..) => Dtype::Void(size),
        Type::Opaque => Dtype::Object,
        _ => return Err(wrong_type()),
    })
}

/// Returns whether rows of a column of type `ty` can be appended to items of `dtype`.
pub(super) fn fits(dtype: &Dtype<'_>, ty: Type) -> bool {
    match (dtype, ty) {
        (Dtype::Time { unit, .. }, Type::Date(of)) => *unit == of && of != Unit::Week,
        (Dtype::Struct(fields), Type::Struct(count)) => fields.count() == count,
        (dtype, ty) => dtype.ty() == ty,
    }
}

/// Returns the length of the longest text of a batch: in characters for UTF-8, in bytes for byte strings.
pub(super) fn longest<C>(batch: &Batch<'_, C>) -> Result<usize> {
    let mut most = 0;
    match batch.values {
        Values::Utf8(texts) => {
            for i in (0..batch.len).filter(|i| batch.validity.get(*i)) {
                most = texts.text(i)?.chars().count().max(most);
            }
        }
        Values::Bytes(texts) => {
            for i in (0..batch.len).filter(|i| batch.validity.get(*i)) {
                most = texts.get(i)?.len().max(most);
            }
        }
        _ => {}
    }
    Ok(most)
}

/// Calls `each` with every run of consecutive child rows, and the row of the batch that it begins at. Each row of the
/// batch must have `size` child rows.
pub(super) fn runs(
    ranges: &Ranges<'_>,
    len: usize,
    size: u64,
    mut each: impl FnMut(usize, core::ops::Range<u64>) -> Result<()>,
) -> Result<()> {
    let (mut first, mut run) = (0usize, 0..0u64);
    for row in 0..len {
        let range = ranges.get(row)?;
        if range.end.saturating_sub(range.start) != size {
            return Err(wrong_type());
        }
        if range.start == run.end && !run.is_empty() {
            run.end = range.end;
            continue;
        }
        if !run.is_empty() {
            each(first, run)?;
        }
        (first, run) = (row, range);
    }
    if run.is_empty() { Ok(()) } else { each(first, run) }
}
