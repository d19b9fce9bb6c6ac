//! Arrays of Arrow from columns.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{ByteArrayType, Int32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, NullArray, PrimitiveArray, make_array, new_empty_array,
    new_null_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pilaster::column::{Batch, Column, Spans, Values};
use pilaster::error::{Error as FileError, Kind, What};

use crate::Error;
use crate::held::{Held, HeldTexts, Home, Rows, cast, copied, decode, read, rows_of, too_large};
use crate::{nested, texts};

/// Reads rows from `rows.start` as an array of type `ty`; may return fewer, but at least one.
pub(crate) fn some<C: Column>(column: &C, rows: Range<u64>, ty: &DataType, home: &mut Home) -> Result<ArrayRef, Error> {
    decode(column, rows, home, |batch, at, home| {
        if let Values::Bytes(found) | Values::Utf8(found) = batch.values
            && let Spans::Each(spans) = found.spans
            && spans.len() == batch.len
            && !home.is_within(found.data, &(0..0))
            && texts::has_views(ty)
        {
            let rows = rows_of(&Batch { values: Values::Null, ..*batch }, at, home)?;
            let nulls = rows.nulls.filter(|nulls| nulls.null_count() > 0);
            return texts::decoded(ty, &found, nulls, (at, home));
        }
        of_rows(rows_of(batch, at, home)?, ty, home)
    })
}

/// Copies the rows of a batch to an array of type `ty`.
pub(crate) fn of_batch<C: Column>(batch: &Batch<'_, C>, ty: &DataType, home: &mut Home) -> Result<ArrayRef, Error> {
    if batch.len == 0 {
        return Ok(new_empty_array(ty));
    }
    if let Values::Bytes(found) | Values::Utf8(found) = batch.values
        && found.len() == batch.len
    {
        let rows = copied(&Batch { values: Values::Null, ..*batch }, home)?;
        let nulls = rows.nulls.filter(|nulls| nulls.null_count() > 0);
        return texts::copied(ty, &found, nulls, home);
    }
    of_rows(copied(batch, home)?, ty, home)
}

fn of_rows<C: Column>(rows: Rows<C>, ty: &DataType, home: &mut Home) -> Result<ArrayRef, Error> {
    let Rows { len, values, nulls, of } = rows;
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    match (values, ty) {
        (_, DataType::Null) => Ok(Arc::new(NullArray::new(len))),
        (Held::Null, ty) => missing(ty, len, home.limit),
        (Held::Bool(bits), DataType::Boolean) if bits.len() == len => Ok(booleans(bits, nulls, home)),
        (Held::Numbers { bytes, size }, ty) => numbers(ty, bytes, size, len, nulls, home),
        (Held::Texts(held), ty) if held.texts().len() == len => texts::array(ty, &held, nulls, home),
        (Held::Nested(held), ty) => {
            let nested = nested::Nested { ranges: held, len, nulls, of };
            nested.array(ty, home)
        }
        _ => Err(wrong_type()),
    }
}

fn booleans(bits: BooleanBuffer, nulls: Option<NullBuffer>, home: &mut Home) -> ArrayRef {
    // Arrow's checks take both bitmaps to start at the same bit, and refuse shorter ones.
    if bits.offset() == 0 || nulls.is_none() {
        return Arc::new(BooleanArray::new(bits, nulls));
    }
    let len = bits.len();
    home.copy(if bits.offset().is_multiple_of(8) { 0 } else { len.div_ceil(8) as u64 });
    Arc::new(BooleanArray::new(BooleanBuffer::new(bits.sliced(), 0, len), nulls))
}

/// Reads all of `rows`.
pub(crate) fn all<C: Column>(column: &C, rows: Range<u64>, ty: &DataType, home: &mut Home) -> Result<ArrayRef, Error> {
    let Range { mut start, end } = rows;
    // Bits of that many missing rows are what a few bytes of a file can cost.
    let rows = end.saturating_sub(start);
    if rows.div_ceil(8) > home.limit || rows > i32::MAX.unsigned_abs().into() {
        return Err(too_large(start, rows));
    }
    if rows == 0 {
        return Ok(new_empty_array(ty));
    }
    let mut arrays: Vec<ArrayRef> = Vec::new();
    loop {
        let array = some(column, start..end, ty, home)?;
        start = start.saturating_add(array.len() as u64);
        let empty = array.is_empty();
        arrays.push(array);
        if start >= end {
            break;
        }
        if empty {
            return Err(FileError::new(Kind::Truncated, What::ROW, start).into());
        }
    }
    if arrays.len() == 1 {
        return arrays.pop().ok_or_else(wrong_type);
    }
    let refs: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
    home.copy(arrays.iter().map(|array| array.get_buffer_memory_size() as u64).sum());
    Ok(arrow_select::concat::concat(&refs)?)
}

/// Reads rows as a dictionary, as far as one dictionary reaches. `values` keeps the values of the last one.
pub(crate) fn dictionary<C: Column>(
    column: &C,
    rows: Range<u64>,
    ty: &DataType,
    values: &mut Option<(u64, ArrayRef)>,
    home: &mut Home,
) -> Result<ArrayRef, Error> {
    let Some(found) = column.dictionary(rows.start)? else {
        // Stored as plain values: each row has a value of its own.
        let plain = some(column, rows, ty, home)?;
        let last = i32::try_from(plain.len()).map_err(|_| too_large(0, plain.len() as u64))?;
        let codes = PrimitiveArray::<Int32Type>::new((0..last).collect::<Vec<_>>().into(), plain.logical_nulls());
        return Ok(Arc::new(DictionaryArray::try_new(codes, plain)?));
    };
    let first = found.first;
    let known = values.as_ref().filter(|(at, _)| *at == first).map(|(_, known)| Arc::clone(known));
    let entries = match known {
        Some(known) => known,
        None => all(&found.values, 0..found.values.rows(), ty, home)?,
    };
    *values = Some((first, Arc::clone(&entries)));
    let end = rows.end.min(first.saturating_add(found.len));
    if first > rows.start || end <= rows.start {
        return Err(FileError::needing(Kind::OutOfRange, What::ROW, rows.start, first).into());
    }
    let within = rows.start.saturating_sub(first)..end.saturating_sub(first);
    let Rows { len, values: codes, nulls, .. } = read(&found.codes, within, home)?;
    let Held::Numbers { bytes, size } = codes else { return Err(wrong_type()) };
    let keys = keys(&bytes, size, len, nulls.as_ref())?;
    // Its values were not copied: codes of 32 bits are what Arrow needs.
    let nulls = home.own(nulls.filter(|nulls| nulls.null_count() > 0));
    Ok(Arc::new(DictionaryArray::try_new(PrimitiveArray::<Int32Type>::try_new(keys, nulls)?, entries)?))
}

/// Widens codes; the code of a missing row is 0.
fn keys(bytes: &Buffer, size: usize, len: usize, nulls: Option<&NullBuffer>) -> Result<ScalarBuffer<i32>, Error> {
    let large = |code: u64| i32::try_from(code).unwrap_or(-1);
    let mut keys: Vec<i32> = match size {
        1 => bytes.iter().map(|code| i32::from(*code)).collect(),
        2 => cast::<u16>(bytes).iter().map(|code| i32::from(*code)).collect(),
        4 => cast::<u32>(bytes).iter().map(|code| large((*code).into())).collect(),
        8 => cast::<u64>(bytes).iter().map(|code| large(*code)).collect(),
        _ => return Err(wrong_type()),
    };
    keys.truncate(len);
    if let Some(nulls) = nulls {
        for (key, present) in keys.iter_mut().zip(nulls.iter()) {
            *key = if present { *key } else { 0 };
        }
    }
    Ok(keys.into())
}

fn numbers(
    ty: &DataType,
    bytes: Buffer,
    size: usize,
    len: usize,
    nulls: Option<NullBuffer>,
    home: &mut Home,
) -> Result<ArrayRef, Error> {
    let width = ty.primitive_width().ok_or_else(wrong_type)?;
    let bytes = match size == width {
        true => bytes,
        false => widened(&bytes, size, width)?,
    };
    // Arrow's integers of 256 bits are aligned to 16 bytes.
    let align = width.min(16);
    if bytes.as_ptr().align_offset(align) != 0 {
        home.copy(bytes.len() as u64);
    }
    let data = ArrayData::builder(ty.clone()).len(len).add_buffer(bytes).nulls(nulls).align_buffers(true).build()?;
    Ok(make_array(data))
}

/// Extends signed integers of `size` bytes to `width` bytes.
fn widened(bytes: &Buffer, size: usize, width: usize) -> Result<Buffer, Error> {
    let extra = width.checked_sub(size).ok_or_else(wrong_type)?;
    let mut wide: Vec<u8> = Vec::with_capacity(bytes.len().saturating_mul(2));
    for number in bytes.chunks_exact(size.max(1)) {
        // Numbers are in native byte order, as Arrow's are.
        let negative = |byte: Option<&u8>| byte.is_some_and(|byte| *byte >= 0x80);
        if cfg!(target_endian = "little") {
            let fill = if negative(number.last()) { 0xff } else { 0 };
            wide.extend_from_slice(number);
            wide.extend(std::iter::repeat_n(fill, extra));
        } else {
            let fill = if negative(number.first()) { 0xff } else { 0 };
            wide.extend(std::iter::repeat_n(fill, extra));
            wide.extend_from_slice(number);
        }
    }
    Ok(Buffer::from(wide.as_slice()))
}

/// Creates rows without a value.
fn missing(ty: &DataType, len: usize, limit: u64) -> Result<ArrayRef, Error> {
    let need = cost(ty).saturating_mul(len as u64);
    if need > limit {
        return Err(too_large(0, need));
    }
    Ok(new_null_array(ty, len))
}

/// Returns how many bytes a row without a value takes, at most.
fn cost(ty: &DataType) -> u64 {
    match ty {
        DataType::FixedSizeBinary(len) => u64::from(len.unsigned_abs()).saturating_add(1),
        DataType::FixedSizeList(field, len) => cost(field.data_type()).saturating_mul(len.unsigned_abs().max(1).into()),
        DataType::Struct(fields) => fields.iter().map(|field| cost(field.data_type())).fold(1, u64::saturating_add),
        _ => 32,
    }
}

/// Returns an array of byte strings; Arrow checks offsets and UTF-8.
pub(crate) fn strings<T: ByteArrayType>(
    offsets: ScalarBuffer<T::Offset>,
    data: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, Error> {
    if !ascending(&offsets) {
        return Err(FileError::new(Kind::Invalid, What::ROW, 0).into());
    }
    let offsets = arrow_buffer::OffsetBuffer::new(offsets);
    Ok(Arc::new(arrow_array::GenericByteArray::<T>::try_new(offsets, data, nulls)?))
}

/// Whether offsets are what the constructor of [`arrow_buffer::OffsetBuffer`] would panic without.
pub(crate) fn ascending<O: arrow_buffer::ArrowNativeType>(offsets: &[O]) -> bool {
    let not_negative = offsets.first().is_some_and(|first| *first >= O::default());
    not_negative && offsets.iter().zip(offsets.iter().skip(1)).all(|(a, b)| a <= b)
}

/// The texts of a batch with their number checked.
pub(crate) fn text_rows(held: &HeldTexts) -> usize {
    held.texts().len()
}

#[cold]
pub(crate) fn wrong_type() -> Error {
    FileError::new(Kind::WrongType, What::COLUMN, 0).into()
}

#[cold]
pub(crate) fn too_long(end: usize) -> Error {
    Error::Unsupported(format!("offset of 32 bits for {end}; fewer rows per batch help"))
}
