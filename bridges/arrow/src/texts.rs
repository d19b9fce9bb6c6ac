//! Texts and byte strings.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::make_view;
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{ArrayRef, BinaryViewArray, FixedSizeBinaryArray, OffsetSizeTrait, StringViewArray};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, ScalarBuffer};
use arrow_data::ByteView;
use arrow_schema::DataType;
use pilaster::column::{Spans, VarBytes};
use pilaster::error::{Error as FileError, Kind, What};

use crate::Error;
use crate::array::{ascending, strings, text_rows, too_long, wrong_type};
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
        DataType::LargeUtf8 => gathered::<LargeUtf8Type>(texts, nulls, home),
        DataType::Binary => gathered::<BinaryType>(texts, nulls, home),
        DataType::LargeBinary => gathered::<LargeBinaryType>(texts, nulls, home),
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
    if let Some((offsets, data)) = adjacent::<T::Offset>(texts, nulls.as_ref(), home)
        && let Ok(array) = strings::<T>(offsets, data, home.own(nulls.clone()))
    {
        return Ok(array);
    }
    let (offsets, data) = joined::<T::Offset>(texts, nulls.as_ref(), home)?;
    home.copy(data.len() as u64);
    strings::<T>(offsets, data, home.own(nulls))
}

/// Returns texts that follow each other in the file: where each starts in their bytes, the end of the last, and the bytes. `None` for
/// other texts. The bytes of a missing row need not be UTF-8.
fn adjacent<O: OffsetSizeTrait>(
    texts: &VarBytes<'_>,
    nulls: Option<&NullBuffer>,
    home: &mut Home,
) -> Option<(ScalarBuffer<O>, Buffer)> {
    let file = home.in_file(texts.data)?;
    let bytes = texts.len().saturating_add(1).saturating_mul(size_of::<O>());
    if bytes as u64 > home.limit.min(home.room) {
        return None;
    }
    let mut offsets: Vec<O> = home.pool.take(texts.len().saturating_add(1));
    offsets.clear();
    let all = match texts.spans {
        Spans::Off32(stored) => rebased(stored, &mut offsets)?,
        Spans::Off64(stored) => rebased(stored, &mut offsets)?,
        Spans::Each(spans) => chained(spans, (nulls, texts.data.len()), &mut offsets)?,
        _ => return None,
    };
    file.get(all.clone())?;
    home.compact(bytes as u64);
    Some((home.pool.buffer(offsets).into(), file.slice_with_length(all.start, all.len())))
}

/// Counts offsets from the first one. Returns the place of the texts.
fn rebased<S: Copy + Into<u64>, O: OffsetSizeTrait>(stored: &[S], offsets: &mut Vec<O>) -> Option<Range<usize>> {
    let (first, last) = ((*stored.first()?).into(), (*stored.last()?).into());
    for offset in stored {
        offsets.push(O::from_usize(usize::try_from((*offset).into().checked_sub(first)?).ok()?)?);
    }
    Some(usize::try_from(first).ok()?..usize::try_from(last).ok()?)
}

/// Returns the place of texts, in `len` bytes, each of which starts at the end of the one before; missing rows are left out.
fn chained<O: OffsetSizeTrait>(
    spans: &[[u32; 2]],
    (nulls, len): (Option<&NullBuffer>, usize),
    offsets: &mut Vec<O>,
) -> Option<Range<usize>> {
    let mut all: Option<Range<usize>> = None;
    offsets.push(O::default());
    for (i, span) in spans.iter().enumerate() {
        let text = if present(nulls, i) { place(span) } else { 0..0 };
        if text.end > len {
            return None;
        }
        if !text.is_empty() {
            let before = all.unwrap_or(text.start..text.start);
            if before.end != text.start {
                return None;
            }
            all = Some(before.start..text.end);
        }
        offsets.push(O::from_usize(all.as_ref().map_or(0, Range::len))?);
    }
    Some(all.unwrap_or_default())
}

/// Copies the texts of all rows, which are contiguous then. Returns where each starts, and the end of the last.
fn joined<O: OffsetSizeTrait>(
    texts: &VarBytes<'_>,
    nulls: Option<&NullBuffer>,
    home: &mut Home,
) -> Result<(ScalarBuffer<O>, Buffer), Error> {
    if nulls.is_none()
        && let Some(found) = moved::<O>(texts, home)
    {
        return Ok(found);
    }
    // Loops of their own, which do not ask in each row how the texts are stored.
    match (texts.spans, nulls) {
        (Spans::Each(spans), None) => join(spans.iter().map(place), texts.data, home),
        (Spans::Each(spans), Some(nulls)) if nulls.len() >= spans.len() => {
            let rows = spans.iter().zip(nulls.iter());
            join(rows.map(|(span, present)| if present { place(span) } else { 0..0 }), texts.data, home)
        }
        _ => {
            let start = texts.data.as_ptr().addr();
            let place = |i: usize| {
                let text = if present(nulls, i) { texts.get(i)? } else { return Ok(0..0) };
                let at = text.as_ptr().addr().saturating_sub(start);
                Ok(at..at.saturating_add(text.len()))
            };
            let places = (0..texts.len()).map(place).collect::<Result<Vec<_>, Error>>()?;
            join(places.iter().cloned(), texts.data, home)
        }
    }
}

/// Copies texts with offsets that ascend at once; `None` for other texts, and for more bytes than are allowed.
fn moved<O: OffsetSizeTrait>(texts: &VarBytes<'_>, home: &mut Home) -> Option<(ScalarBuffer<O>, Buffer)> {
    let mut offsets: Vec<O> = home.pool.take(texts.len().saturating_add(1));
    offsets.clear();
    let all = match texts.spans {
        Spans::Off32(stored) => rebased(stored, &mut offsets),
        Spans::Off64(stored) => rebased(stored, &mut offsets),
        _ => None,
    };
    let is_allowed = |bytes: &&[u8]| bytes.len() as u64 <= home.limit.min(home.room) && ascending(&offsets);
    let bytes = all.and_then(|all| texts.data.get(all)).filter(is_allowed);
    let offsets = home.pool.buffer(offsets);
    Some((offsets.into(), home.pool.copy(bytes?)))
}

const fn place([at, len]: &[u32; 2]) -> Range<usize> {
    let at = *at as usize;
    at..at.saturating_add(*len as usize)
}

/// Number of bytes that are copied at once.
const WORD: usize = 16;

fn join<O: OffsetSizeTrait>(
    places: impl ExactSizeIterator<Item = Range<usize>> + Clone,
    data: &[u8],
    home: &mut Home,
) -> Result<(ScalarBuffer<O>, Buffer), Error> {
    let most = home.limit.min(home.room);
    let mut offsets: Vec<O> = home.pool.take(places.len().saturating_add(1));
    offsets.clear();
    offsets.push(O::default());
    let mut total = 0usize;
    for (i, place) in places.clone().enumerate() {
        // A text that each row repeats can take any amount of memory.
        total = total.saturating_add(place.len());
        if total as u64 > most {
            return Err(too_large(i as u64, total as u64));
        }
        offsets.push(O::from_usize(total).ok_or_else(|| too_long(total))?);
    }
    let mut joined: Vec<u8> = home.pool.take(total.saturating_add(WORD));
    joined.resize(total.saturating_add(WORD), 0);
    let mut to = joined.as_mut_slice();
    for Range { start, end } in places {
        let len = end.saturating_sub(start);
        // Most texts are short, and bytes after a text are overwritten by the next one.
        let word = data.get(start..).and_then(<[u8]>::first_chunk::<WORD>);
        match (word, to.first_chunk_mut::<WORD>()) {
            (Some(from), Some(to)) if len <= WORD => *to = *from,
            _ => {
                let text = data.get(start..end).ok_or_else(|| outside(start, len))?;
                to.get_mut(..len).ok_or_else(|| outside(start, len))?.copy_from_slice(text);
            }
        }
        to = to.get_mut(len..).unwrap_or_default();
    }
    joined.truncate(total);
    Ok((home.pool.buffer(offsets).into(), home.pool.buffer(joined)))
}

#[cold]
fn outside(at: usize, len: usize) -> Error {
    FileError::needing(Kind::Truncated, What::TEXT, at as u64, len as u64).into()
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
    if *ty == DataType::Utf8View
        && let Some(array) = consecutive(texts, nulls.as_ref(), (at, home))?
    {
        return Ok(array);
    }
    let lens = lens(texts, nulls.as_ref())?;
    if *ty == DataType::Utf8View && lens.all <= tight(texts.data.len()) {
        return checked_at_once(texts, nulls, tight(lens.long) < lens.all, home);
    }
    let mut views = Views::new(texts, nulls.as_ref(), home)?;
    let data = match texts.data.len() <= tight(views.long) {
        true => home.taken(texts.data, at),
        false => views.gathered(texts, home)?,
    };
    views.array(ty, data, nulls, home)
}

/// Returns texts that follow each other as views of a copy of their bytes, which is made at once; `None` for other texts, and where many
/// bytes belong to texts that are within their view.
fn consecutive(
    texts: &VarBytes<'_>,
    nulls: Option<&NullBuffer>,
    (at, home): (&Range<usize>, &mut Home),
) -> Result<Option<ArrayRef>, Error> {
    let Spans::Each(spans) = texts.spans else { return Ok(None) };
    // Most texts are short.
    if texts.data.len() < spans.len().saturating_mul(INLINE) {
        return Ok(None);
    }
    let mut offsets: Vec<i32> = home.pool.take(spans.len().saturating_add(1));
    offsets.clear();
    let all = chained(spans, (nulls, texts.data.len()), &mut offsets);
    let lens = offsets.iter().zip(offsets.iter().skip(1)).map(|(start, end)| end.abs_diff(*start) as usize);
    let short: usize = lens.filter(|len| *len <= INLINE).sum();
    let offsets = home.pool.buffer(offsets);
    let bytes = all.and_then(|all| texts.data.get(all));
    let fits = |bytes: &&[u8]| {
        let len = bytes.len();
        len as u64 <= home.limit.min(home.room) && len <= tight(len.saturating_sub(short))
    };
    let Some(bytes) = bytes.filter(fits) else { return Ok(None) };
    let data = home.taken(bytes, at);
    let array = strings::<Utf8Type>(offsets.into(), data, home.own(nulls.cloned()))?;
    Ok(Some(Arc::new(StringViewArray::from(array.as_string::<i32>()))))
}

/// Number of bytes of texts.
#[derive(Default)]
struct Lens {
    all: usize,
    /// Number of bytes of texts that are not within their view.
    long: usize,
}

fn lens(texts: &VarBytes<'_>, nulls: Option<&NullBuffer>) -> Result<Lens, Error> {
    let mut sum = Lens::default();
    let mut add = |len: usize| {
        sum.all = sum.all.saturating_add(len);
        sum.long = sum.long.saturating_add(if len > INLINE { len } else { 0 });
    };
    match (texts.spans, nulls) {
        (Spans::Each(spans), None) => spans.iter().for_each(|[_, len]| add(*len as usize)),
        (Spans::Off32(stored), None) => {
            stored.iter().zip(stored.iter().skip(1)).for_each(|(from, to)| add(to.wrapping_sub(*from) as usize));
        }
        _ => {
            for i in 0..texts.len() {
                add(if present(nulls, i) { texts.get(i)?.len() } else { 0 });
            }
        }
    }
    Ok(sum)
}

/// Returns views of a copy of the texts. Arrow checks views text by text, and the bytes of offsets all at once.
fn checked_at_once(
    texts: &VarBytes<'_>,
    nulls: Option<NullBuffer>,
    short: bool,
    home: &mut Home,
) -> Result<ArrayRef, Error> {
    let (offsets, data) = joined::<i32>(texts, nulls.as_ref(), home)?;
    home.compact(data.len() as u64);
    let array = strings::<Utf8Type>(offsets, data, home.own(nulls))?;
    let views = StringViewArray::from(array.as_string::<i32>());
    // Texts that are within their view need no other bytes.
    Ok(Arc::new(if short { views.gc() } else { views }))
}

/// Views of the bytes where they are, or of a copy if that takes much less memory.
fn views(ty: &DataType, held: &HeldTexts, nulls: Option<NullBuffer>, home: &mut Home) -> Result<ArrayRef, Error> {
    let texts = held.texts();
    // Arrow checks views text by text, and the bytes of offsets all at once.
    if *ty == DataType::Utf8View
        && let Some((offsets, data)) = adjacent::<i32>(&texts, nulls.as_ref(), home)
        && let Ok(array) = strings::<Utf8Type>(offsets, data, home.own(nulls.clone()))
    {
        return Ok(Arc::new(StringViewArray::from(array.as_string::<i32>())));
    }
    if *ty == DataType::Utf8View && !home.is_in_file(&held.data) {
        let lens = lens(&texts, nulls.as_ref())?;
        // Offsets reach no further.
        if lens.all <= tight(held.data.len()).min(i32::MAX as usize) {
            return checked_at_once(&texts, nulls, tight(lens.long) < lens.all, home);
        }
    }
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
