//! Texts and byte strings.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::make_view;
use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{ArrayRef, BinaryViewArray, FixedSizeBinaryArray, OffsetSizeTrait, StringViewArray};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, ScalarBuffer};
use arrow_data::ByteView;
use arrow_schema::DataType;
use pilaster::column::VarBytes;

use crate::Error;
use crate::array::{strings, text_rows, too_long, wrong_type};
use crate::held::{HeldSpans, HeldTexts, Home, tight, too_large};

/// Texts of at most this many bytes are within their view.
const INLINE: usize = 12;

/// Returns the texts as an array of type `ty`: without a copy if they are stored so, else gathered.
pub(crate) fn array(
    ty: &DataType,
    held: &HeldTexts,
    nulls: Option<NullBuffer>,
    home: &mut Home,
) -> Result<ArrayRef, Error> {
    match ty {
        DataType::Utf8 => with_offsets::<Utf8Type>(held, nulls, home),
        DataType::LargeUtf8 => with_offsets::<LargeUtf8Type>(held, nulls, home),
        DataType::Binary => with_offsets::<BinaryType>(held, nulls, home),
        DataType::LargeBinary => with_offsets::<LargeBinaryType>(held, nulls, home),
        DataType::Utf8View | DataType::BinaryView => views(ty, held, nulls, home),
        DataType::FixedSizeBinary(size) => fixed(*size, held, nulls, home),
        _ => Err(wrong_type()),
    }
}

fn with_offsets<T: ByteArrayType>(
    held: &HeldTexts,
    nulls: Option<NullBuffer>,
    home: &mut Home,
) -> Result<ArrayRef, Error> {
    if let Some((offsets, data)) = stored::<T>(held) {
        // The bytes of a missing row need not be UTF-8: then the others are gathered.
        match strings::<T>(offsets, data, nulls.clone()) {
            Err(e) if nulls.is_none() => return Err(e),
            Err(_) => {}
            array => return array,
        }
    }
    gathered::<T>(&held.texts(), nulls, home)
}

/// Copies the texts of a batch to an array of type `ty`, but not the bytes between them.
pub(crate) fn copied(
    ty: &DataType,
    texts: &VarBytes<'_>,
    nulls: Option<NullBuffer>,
    home: &mut Home,
) -> Result<ArrayRef, Error> {
    match ty {
        DataType::Utf8 => gathered::<Utf8Type>(texts, nulls, home),
        DataType::Binary => gathered::<BinaryType>(texts, nulls, home),
        DataType::FixedSizeBinary(size) => padded(*size, texts, nulls, home),
        _ => Err(wrong_type()),
    }
}

/// Returns stored offsets of the same width with the bytes up to the last one, if Arrow can take them as they are.
/// Arrow checks all bytes, so bytes before the first text would be checked again with every batch.
fn stored<T: ByteArrayType>(held: &HeldTexts) -> Option<(ScalarBuffer<T::Offset>, Buffer)> {
    let offsets = match (&held.spans, T::Offset::IS_LARGE) {
        (HeldSpans::Off32(offsets), false) | (HeldSpans::Off64(offsets), true) => offsets,
        _ => return None,
    };
    let size = size_of::<T::Offset>();
    if offsets.len() < size || offsets.as_ptr().align_offset(size) != 0 {
        return None;
    }
    let offsets: ScalarBuffer<T::Offset> = offsets.clone().into();
    let (first, last) = (offsets.first()?, offsets.last()?);
    // Offsets above 2^31 in the file are negative here.
    let (first, last) = (first.to_usize()?, last.to_usize()?);
    let data = held.data.get(..last).map(|data| held.data.slice_with_length(0, data.len()))?;
    (first == 0).then_some((offsets, data))
}

/// Gathers the bytes of all rows, none of missing ones.
fn gathered<T: ByteArrayType>(
    texts: &VarBytes<'_>,
    nulls: Option<NullBuffer>,
    home: &mut Home,
) -> Result<ArrayRef, Error> {
    let rows = texts.len();
    let row = |i: usize| if present(nulls.as_ref(), i) { texts.get(i) } else { Ok(&[][..]) };
    let mut offsets: Vec<T::Offset> = home.pool.take(rows.saturating_add(1));
    offsets.clear();
    offsets.push(T::Offset::default());
    let mut total = 0usize;
    for i in 0..rows {
        // A text that each row repeats can take any amount of memory.
        total = total.saturating_add(row(i)?.len());
        if total as u64 > home.limit.min(home.room) {
            return Err(too_large(i as u64, total as u64));
        }
        offsets.push(T::Offset::from_usize(total).ok_or_else(|| too_long(total))?);
    }
    let mut data: Vec<u8> = home.pool.take(total);
    data.clear();
    for i in 0..rows {
        data.extend_from_slice(row(i)?);
    }
    home.copy(data.len() as u64);
    let (offsets, data) = (home.pool.buffer(offsets), home.pool.buffer(data));
    strings::<T>(offsets.into(), data, home.own(nulls))
}

fn present(nulls: Option<&NullBuffer>, i: usize) -> bool {
    nulls.is_none_or(|nulls| i < nulls.len() && nulls.is_valid(i))
}

/// Returns whether a type has views.
pub(crate) const fn has_views(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8View | DataType::BinaryView)
}

/// Returns texts that were decoded into a block at the addresses `at` as views of a copy of their bytes.
pub(crate) fn decoded(
    ty: &DataType,
    texts: &VarBytes<'_>,
    nulls: Option<NullBuffer>,
    (at, home): (&Range<usize>, &mut Home),
) -> Result<ArrayRef, Error> {
    let mut views = Views::new(texts, nulls.as_ref(), home)?;
    let data = match texts.data.len() <= tight(views.long) {
        true => home.taken(texts.data, at),
        false => views.gathered(texts, home)?,
    };
    views.array(ty, data, nulls, home)
}

/// Views of the bytes where they are, or of a copy if that takes much less memory.
fn views(ty: &DataType, held: &HeldTexts, nulls: Option<NullBuffer>, home: &mut Home) -> Result<ArrayRef, Error> {
    let texts = held.texts();
    let mut views = Views::new(&texts, nulls.as_ref(), home)?;
    // The spans of decoded texts lie in the same block, and would be kept with them.
    let data = match home.is_in_file(&held.data) || held.data.capacity() <= tight(views.long) {
        true => held.data.clone(),
        false => views.gathered(&texts, home)?,
    };
    views.array(ty, data, nulls, home)
}

/// Views of texts, of missing ones none.
struct Views {
    views: Vec<u128>,
    /// Bytes of the texts that are not within their view.
    long: usize,
}

impl Views {
    fn new(texts: &VarBytes<'_>, nulls: Option<&NullBuffer>, home: &mut Home) -> Result<Self, Error> {
        let (rows, start) = (texts.len(), texts.data.as_ptr().addr());
        let mut views: Vec<u128> = home.pool.take(rows);
        views.clear();
        let mut long = 0usize;
        for i in 0..rows {
            let text = if present(nulls, i) { texts.get(i)? } else { &[] };
            if text.len() <= INLINE {
                views.push(make_view(text, 0, 0));
                continue;
            }
            let at = text.as_ptr().addr().saturating_sub(start);
            let (Ok(at), Ok(_)) = (u32::try_from(at), i32::try_from(text.len())) else { return Err(too_long(at)) };
            long = long.saturating_add(text.len());
            views.push(make_view(text, 0, at));
        }
        Ok(Views { views, long })
    }

    /// Copies the texts that are not within their view, which then refer to the copy.
    fn gathered(&mut self, texts: &VarBytes<'_>, home: &mut Home) -> Result<Buffer, Error> {
        let mut data: Vec<u8> = home.pool.take(self.long);
        data.clear();
        for (i, view) in self.views.iter_mut().enumerate() {
            let mut parts = ByteView::from(*view);
            if parts.length as usize > INLINE {
                let at = data.len();
                parts.offset = u32::try_from(at).map_err(|_| too_long(at))?;
                *view = parts.into();
                data.extend_from_slice(texts.get(i)?);
            }
        }
        home.compact(data.len() as u64);
        Ok(home.pool.buffer(data))
    }

    fn array(self, ty: &DataType, data: Buffer, nulls: Option<NullBuffer>, home: &mut Home) -> Result<ArrayRef, Error> {
        let (views, nulls) = (home.pool.buffer(self.views).into(), home.own(nulls));
        Ok(match ty {
            DataType::Utf8View => Arc::new(StringViewArray::try_new(views, vec![data], nulls)?),
            DataType::BinaryView => Arc::new(BinaryViewArray::try_new(views, vec![data], nulls)?),
            _ => return Err(wrong_type()),
        })
    }
}

fn fixed(size: i32, held: &HeldTexts, nulls: Option<NullBuffer>, home: &mut Home) -> Result<ArrayRef, Error> {
    let width = usize::try_from(size).map_err(|_| wrong_type())?;
    let rows = text_rows(held);
    let total = width.checked_mul(rows).ok_or_else(|| too_large(0, u64::MAX))?;
    match &held.spans {
        HeldSpans::Stride { len, .. } if *len as usize == width && total <= held.data.len() => {
            let data = held.data.slice_with_length(0, total);
            Ok(Arc::new(FixedSizeBinaryArray::try_new_with_len(size, data, nulls, rows)?))
        }
        _ => padded(size, &held.texts(), nulls, home),
    }
}

/// Gathers the bytes of all rows, with zeros after shorter ones.
fn padded(size: i32, texts: &VarBytes<'_>, nulls: Option<NullBuffer>, home: &mut Home) -> Result<ArrayRef, Error> {
    let width = usize::try_from(size).map_err(|_| wrong_type())?;
    let rows = texts.len();
    let total = width.checked_mul(rows).ok_or_else(|| too_large(0, u64::MAX))?;
    if total as u64 > home.limit {
        return Err(too_large(0, total as u64));
    }
    let mut data = Vec::with_capacity(total);
    for i in 0..rows {
        let text = if present(nulls.as_ref(), i) { texts.get(i)? } else { &[] };
        data.extend_from_slice(text.get(..width).unwrap_or(text));
        data.resize(width.saturating_mul(i.saturating_add(1)), 0);
    }
    home.copy(data.len() as u64);
    Ok(Arc::new(FixedSizeBinaryArray::try_new_with_len(size, Buffer::from_vec(data), nulls, rows)?))
}
