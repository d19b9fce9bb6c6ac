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
use crate::held::{Held, HeldTexts, Home, Rows, cast, copied, decode, rows_of, too_large};
use crate::{block, join, nested, prune, texts};

/// Reads rows from `rows.start` as an array of type `ty`; may return fewer, but at least one.
pub(crate) fn some<C: Column>(column: &C, rows: Range<u64>, ty: &DataType, home: &mut Home) -> Result<ArrayRef, Error> {
    if let Some(width) = ty.primitive_width()
        && let Some(rows) = block::read(column, rows.clone(), width, home)?
    {
        return of_rows(rows, ty, home);
    }
    decode(column, rows, home, |batch, at, home| {
        if let Values::Bytes(found) | Values::Utf8(found) = batch.values
            && let Spans::Each(spans) = found.spans
            && spans.len() == batch.len
            && (has_offsets(ty) || texts::has_views(ty) && !home.is_within(found.data, &(0..0)))
        {
            let rows = rows_of(&Batch { values: Values::Null, ..*batch }, at, home)?;
            let nulls = rows.nulls.filter(|nulls| nulls.null_count() > 0);
            return match has_offsets(ty) {
                true => texts::copied(ty, &found, nulls, home),
                false => texts::decoded(ty, &found, nulls, (at, home)),
            };
        }
        of_rows(rows_of(batch, at, home)?, ty, home)
    })
}

/// Returns whether the texts of a type are contiguous.
const fn has_offsets(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary)
}

/// Copies the rows of a batch to an array of type `ty`.
pub(crate) fn of_batch<C: Column>(batch: &Batch<'_, C>, ty: &DataType, home: &mut Home) -> Result<ArrayRef, Error> {
    if batch.len == 0 {
        return Ok(new_empty_array(ty));
    }
    if let Values::Bytes(found) | Values::Utf8(found) = batch.values
        && found.len() == batch.len
        && !texts::has_views(ty)
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

/// Reads all of `rows`, within the bytes that [`Home::room`] has left.
pub(crate) fn all<C: Column>(column: &C, rows: Range<u64>, ty: &DataType, home: &mut Home) -> Result<ArrayRef, Error> {
    let Range { mut start, end } = rows;
    check(column, start..end, ty, home)?;
    if start >= end {
        return Ok(new_empty_array(ty));
    }
    let mut arrays: Vec<ArrayRef> = Vec::new();
    // How long texts are that are copied from a file shows in the copy.
    let unknown = home.file.is_none() && matches!(ty, DataType::Utf8 | DataType::Binary);
    let mut most = if unknown { FEW } else { u64::MAX };
    loop {
        let array = match has_short_dictionary(column, start..end, ty)? {
            true => picked(column, start..end, ty, &mut None, home)?,
            false => some(column, start..end.min(start.saturating_add(most)), ty, home)?,
        };
        most = most.saturating_mul(4);
        start = start.saturating_add(array.len() as u64);
        // The items of nested values are counted where they are read.
        let size = if ty.is_nested() { 0 } else { size(&array, home)? };
        home.room = home.room.checked_sub(size).ok_or_else(|| too_large(start, size))?;
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
    home.copy(arrays.iter().map(|array| array.get_buffer_memory_size() as u64).sum());
    join::concat(&arrays)
}

/// Returns whether rows are best read as views of the texts of a dictionary, which has fewer texts than there are rows.
fn has_short_dictionary<C: Column>(column: &C, rows: Range<u64>, ty: &DataType) -> Result<bool, Error> {
    if !texts::has_views(ty) {
        return Ok(false);
    }
    let count = rows.end.saturating_sub(rows.start);
    Ok(column.dictionary(rows.start)?.is_some_and(|found| found.values.rows() < count))
}

/// Number of rows of texts of unknown length that are read at once.
const FEW: u64 = 1 << 12;

/// Checks that rows can be read with the memory that is left: a few bytes of a file can claim any number of them.
fn check<C: Column>(column: &C, rows: Range<u64>, ty: &DataType, home: &Home) -> Result<(), Error> {
    let (start, count) = (rows.start, rows.end.saturating_sub(rows.start));
    // Bits of missing rows.
    if count.div_ceil(8) > home.limit || count > i32::MAX.unsigned_abs().into() {
        return Err(too_large(start, count));
    }
    let least = match ty {
        DataType::Boolean => count.div_ceil(8),
        ty => count.saturating_mul(width(ty)),
    };
    if least > home.room && (texts::has_views(ty) || !prune::raw(column, &rows, home)) {
        return Err(too_large(start, least));
    }
    Ok(())
}

/// Returns how many bytes a value takes at least, if it is not nested.
fn width(ty: &DataType) -> u64 {
    match ty {
        DataType::Utf8View | DataType::BinaryView => 16,
        DataType::LargeUtf8 | DataType::LargeBinary => 8,
        DataType::Utf8 | DataType::Binary => 4,
        DataType::FixedSizeBinary(len) => len.unsigned_abs().into(),
        ty => ty.primitive_width().unwrap_or(0) as u64,
    }
}

/// Returns the size of an array that is not nested. The bytes of views that lie in the file take no memory.
fn size(array: &ArrayRef, home: &Home) -> Result<u64, Error> {
    let data = array.to_data();
    let own = data.get_slice_memory_size()? as u64;
    if !texts::has_views(array.data_type()) {
        return Ok(own);
    }
    let texts = data.buffers().iter().skip(1).filter(|buffer| !home.is_in_file(buffer));
    Ok(texts.map(|buffer| buffer.len() as u64).fold(own, u64::saturating_add))
}

/// Reads rows as a dictionary, as far as one dictionary reaches. `values` keeps the values of the last one.
pub(crate) fn dictionary<C: Column>(
    column: &C,
    rows: Range<u64>,
    ty: &DataType,
    values: &mut Option<(u64, ArrayRef)>,
    home: &mut Home,
) -> Result<ArrayRef, Error> {
    if column.dictionary(rows.start)?.is_none() {
        // Stored as plain values: each row has a value of its own.
        let plain = some(column, rows, ty, home)?;
        let last = i32::try_from(plain.len()).map_err(|_| too_large(0, plain.len() as u64))?;
        let codes = PrimitiveArray::<Int32Type>::new((0..last).collect::<Vec<_>>().into(), plain.logical_nulls());
        return Ok(Arc::new(DictionaryArray::try_new(codes, plain)?));
    }
    coded(column, rows, ty, values, home, |keys, entries| Ok(Arc::new(DictionaryArray::try_new(keys, entries)?)))
}

/// Reads rows of a column with a dictionary as views of its values, as far as one dictionary reaches.
pub(crate) fn picked<C: Column>(
    column: &C,
    rows: Range<u64>,
    ty: &DataType,
    values: &mut Option<(u64, ArrayRef)>,
    home: &mut Home,
) -> Result<ArrayRef, Error> {
    coded(column, rows, ty, values, home, |keys, entries| {
        // Codes below 0 become large ones. One loop over all codes is 5 % of a query that groups by a text faster than the check of
        // each code that a dictionary array makes, which is left to name the code.
        let largest = keys.values().iter().fold(0, |largest, key| key.cast_unsigned().max(largest));
        if largest as usize >= entries.len() {
            DictionaryArray::try_new(keys.clone(), Arc::clone(&entries))?;
        }
        Ok(arrow_select::take::take(&entries, &keys, None)?)
    })
}

/// Reads rows as codes of the values of a dictionary, as far as one dictionary reaches. `make` gets codes and values.
fn coded<C: Column>(
    column: &C,
    rows: Range<u64>,
    ty: &DataType,
    values: &mut Option<(u64, ArrayRef)>,
    home: &mut Home,
    make: impl Fn(PrimitiveArray<Int32Type>, ArrayRef) -> Result<ArrayRef, Error>,
) -> Result<ArrayRef, Error> {
    let found = column.dictionary(rows.start)?.ok_or_else(wrong_type)?;
    let first = found.first;
    let known = values
        .as_ref()
        .filter(|(at, known)| *at == first && known.data_type() == ty)
        .map(|(_, known)| Arc::clone(known));
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
    decode(&found.codes, within, home, |batch, at, home| {
        // Only what tells the missing rows is copied; codes are widened from where they were decoded.
        let nulls = rows_of(&Batch { values: Values::Null, ..*batch }, at, home)?.nulls;
        let nulls = home.own(nulls.filter(|nulls| nulls.null_count() > 0));
        let (bytes, size) = batch.values.number_bytes().ok_or_else(wrong_type)?;
        let mut keys: Vec<i32> = home.pool.take(batch.len);
        widen(bytes, (size, batch.len), nulls.as_ref(), &mut keys)?;
        let keys = PrimitiveArray::<Int32Type>::try_new(home.pool.buffer(keys).into(), nulls)?;
        make(keys, Arc::clone(&entries))
    })
}

/// Widens codes; the code of a missing row is 0.
fn widen(
    bytes: &[u8],
    (size, len): (usize, usize),
    nulls: Option<&NullBuffer>,
    keys: &mut Vec<i32>,
) -> Result<(), Error> {
    let large = |code: u64| i32::try_from(code).unwrap_or(-1);
    keys.clear();
    match size {
        1 => keys.extend(bytes.iter().map(|code| i32::from(*code))),
        2 => keys.extend(cast::<u16>(bytes).iter().map(|code| i32::from(*code))),
        4 => keys.extend(cast::<u32>(bytes).iter().map(|code| large((*code).into()))),
        8 => keys.extend(cast::<u64>(bytes).iter().map(|code| large(*code))),
        _ => return Err(wrong_type()),
    }
    keys.truncate(len);
    if let Some(nulls) = nulls {
        for (key, present) in keys.iter_mut().zip(nulls.iter()) {
            *key = if present { *key } else { 0 };
        }
    }
    Ok(())
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
    // Decimals, which are many. The cast is from bytes that may lie anywhere.
    if (size, width) == (8, 16) {
        let words =
            bytes.chunks_exact(8).map(|word| i128::from(i64::from_ne_bytes(word.try_into().unwrap_or_default())));
        return Ok(Buffer::from_vec(words.collect::<Vec<_>>()));
    }
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
    Error::Offsets(end as u64)
}
