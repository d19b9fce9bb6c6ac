//! The values of a batch in buffers of Arrow.

use std::ops::Range;

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use bytemuck::{NoUninit, must_cast_slice};
use pilaster::column::{Batch, Column, Ranges, Spans, Validity, Values, VarBytes};
use pilaster::error::{Error as FileError, Kind, What};

use crate::Error;
use crate::pool::Pool;

/// The memory that values may lie in, and how many bytes were copied from elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Home {
    pub file: Option<Buffer>,
    pub copied: u64,
    /// How many bytes were copied from a block to a smaller one.
    pub compacted: u64,
    /// Maximum number of bytes that one read may take.
    pub limit: u64,
    /// Number of bytes that the items of lists, structs and maps may still take in the current batch.
    pub room: u64,
    /// Texts and lists have offsets of 32 bits, however they are stored.
    pub offsets: bool,
    /// Texts are views, however they are stored.
    pub views: bool,
    /// Lists have offsets, also where they are stored in any order, and decimals 128 bits or more.
    pub common: bool,
    /// Memory in which columns are decoded.
    pub block: Vec<u8>,
    pub pool: Pool,
}

/// Values of rows, in buffers.
#[derive(Debug)]
pub(crate) enum Held {
    Null,
    Bool(BooleanBuffer),
    Numbers { bytes: Buffer, size: usize },
    Texts(HeldTexts),
    Nested(HeldRanges),
}

#[derive(Debug)]
pub(crate) struct HeldTexts {
    pub data: Buffer,
    pub spans: HeldSpans,
}

#[derive(Debug)]
pub(crate) enum HeldSpans {
    Off32(Buffer),
    Off64(Buffer),
    Each(Buffer),
    Stride { count: usize, len: u32 },
    Slots { first: u32, size: u32, lens: Buffer },
    Same { count: usize },
}

#[derive(Debug)]
pub(crate) enum HeldRanges {
    Stride { first: u64, size: u64, count: usize },
    Off32(Buffer),
    Off64(Buffer),
    Each(Buffer),
}

/// Rows that were read: their number, values and missing rows, and the column that nested values refer to.
#[derive(Debug)]
pub(crate) struct Rows<C> {
    pub len: usize,
    pub values: Held,
    pub nulls: Option<NullBuffer>,
    pub of: C,
}

/// The pieces of [`Values`], in the order of the list in [`Taken`].
enum Shape {
    Null,
    Bool { first: usize, len: usize },
    Numbers { size: usize },
    Text(Form),
    Nested(Form),
}

#[derive(Clone, Copy)]
enum Form {
    Off32,
    Off64,
    Each,
    Stride { first: u64, size: u64, count: usize },
    Slots { first: u32, size: u32 },
    Same { count: usize },
}

enum Missing {
    None,
    All,
    Bits { bytes: Buffer, first: usize },
}

/// What a batch consists of.
type Taken = (Shape, Vec<Buffer>, Missing);

/// Reads rows from `rows.start`. Like [`Column::read`] it may return fewer rows.
pub(crate) fn read<C: Column>(column: &C, rows: Range<u64>, home: &mut Home) -> Result<Rows<C>, Error> {
    decode(column, rows, home, rows_of)
}

/// Decodes rows from `rows.start`, and passes the batch and the addresses of the block with its values to `take`.
///
/// All columns are decoded into one block, and from there copied to buffers of their size. So a batch that is kept does not keep
/// memory that decoding required beside the values, which is often as large as they are.
pub(crate) fn decode<C: Column, T>(
    column: &C,
    rows: Range<u64>,
    home: &mut Home,
    take: impl FnOnce(&Batch<'_, C>, &Range<usize>, &mut Home) -> Result<T, Error>,
) -> Result<T, Error> {
    let Range { start, mut end } = rows;
    let mut need = column.need(start..end)?;
    while need > home.limit {
        end = start.saturating_add(end.saturating_sub(start) >> 1);
        if end == start {
            return Err(too_large(start, need));
        }
        need = column.need(start..end)?;
    }
    while need > home.room {
        // Fewer rows, unless most of the memory does not depend on their number.
        let half = start.saturating_add(end.saturating_sub(start) >> 1);
        let less = if half > start { column.need(start..half)? } else { need };
        if less >= need || less > need.saturating_sub(need >> 2) {
            break;
        }
        (need, end) = (less, half);
    }
    let need = usize::try_from(need).map_err(|_| too_large(start, need))?;
    let mut block = std::mem::take(&mut home.block);
    if block.len() < need {
        drop(block);
        // The operating system provides pages of new memory, already zero, when values are written to them.
        block = vec![0; need];
    }
    let at = span(&block);
    let mut scratch = pilaster::bytes::Scratch::new(block.get_mut(..need).unwrap_or_default());
    let taken = take(&column.read(start..end, &mut scratch)?, &at, home)?;
    home.block = block;
    Ok(taken)
}

/// Bytes that a buffer may have beside its values: an eighth of them, and some more.
pub(crate) const SPARE: usize = 64;

/// Returns the maximum size of a buffer with `used` bytes of values.
pub(crate) const fn tight(used: usize) -> usize {
    used.saturating_add(used >> 3).saturating_add(SPARE)
}

/// Returns the rows of a batch whose values may lie in a block at the addresses `at`.
pub(crate) fn rows_of<C: Column>(batch: &Batch<'_, C>, at: &Range<usize>, home: &mut Home) -> Result<Rows<C>, Error> {
    let taken = taken(batch, at, home)?;
    held(taken, batch.len, batch.of)
}

/// Copies the rows of a batch.
pub(crate) fn copied<C: Column>(batch: &Batch<'_, C>, home: &mut Home) -> Result<Rows<C>, Error> {
    rows_of(batch, &(0..0), home)
}

fn held<C>((shape, pieces, missing): Taken, len: usize, of: C) -> Result<Rows<C>, Error> {
    let nulls = match missing {
        Missing::None => None,
        Missing::All => Some(NullBuffer::new_null(len)),
        Missing::Bits { bytes, first } => Some(NullBuffer::new(bits(bytes, first, len)?)),
    };
    let mut pieces = pieces.into_iter();
    let mut next = || pieces.next().unwrap_or_default();
    let values = match shape {
        Shape::Null => Held::Null,
        Shape::Bool { first, len } => Held::Bool(bits(next(), first, len)?),
        Shape::Numbers { size } => Held::Numbers { bytes: next(), size },
        Shape::Text(form) => Held::Texts(HeldTexts { data: next(), spans: spans(form, next) }),
        Shape::Nested(form) => Held::Nested(match form {
            Form::Off32 => HeldRanges::Off32(next()),
            Form::Off64 => HeldRanges::Off64(next()),
            Form::Stride { first, size, count } => HeldRanges::Stride { first, size, count },
            _ => HeldRanges::Each(next()),
        }),
    };
    Ok(Rows { len, values, nulls, of })
}

fn spans(form: Form, mut next: impl FnMut() -> Buffer) -> HeldSpans {
    match form {
        Form::Off32 => HeldSpans::Off32(next()),
        Form::Off64 => HeldSpans::Off64(next()),
        Form::Each => HeldSpans::Each(next()),
        Form::Stride { size, count, .. } => HeldSpans::Stride { count, len: u32::try_from(size).unwrap_or(u32::MAX) },
        Form::Slots { first, size } => HeldSpans::Slots { first, size, lens: next() },
        Form::Same { count } => HeldSpans::Same { count },
    }
}

/// Finds the pieces of a batch: which lie in the file, which in the block at address `at`, and which must be copied.
fn taken<C>(batch: &Batch<'_, C>, at: &Range<usize>, home: &mut Home) -> Result<Taken, Error> {
    let missing = match batch.validity {
        Validity::All => Missing::None,
        Validity::None => Missing::All,
        Validity::Bits(bits) => {
            let (bytes, first) = bits.as_bytes();
            Missing::Bits { bytes: home.piece(bytes, at), first }
        }
    };
    let mut place = |bytes: &[u8]| home.piece(bytes, at);
    let (shape, pieces) = match batch.values {
        Values::Null => (Shape::Null, vec![]),
        Values::Bool(bits) => {
            let (bytes, first) = bits.as_bytes();
            (Shape::Bool { first, len: bits.len() }, vec![place(bytes)])
        }
        Values::Bytes(texts) | Values::Utf8(texts) => texts_of(&texts, at, home),
        Values::Nested(ranges) => match ranges {
            Ranges::Stride { first, size, count } => (Shape::Nested(Form::Stride { first, size, count }), vec![]),
            Ranges::Off32(offsets) => (Shape::Nested(Form::Off32), vec![place(raw(offsets))]),
            Ranges::Off64(offsets) => (Shape::Nested(Form::Off64), vec![place(raw(offsets))]),
            Ranges::Each(spans) => (Shape::Nested(Form::Each), vec![place(raw(spans))]),
        },
        numbers => {
            let (bytes, size) =
                numbers.number_bytes().ok_or_else(|| FileError::new(Kind::WrongType, What::COLUMN, 0))?;
            (Shape::Numbers { size }, vec![place(bytes)])
        }
    };
    Ok((shape, pieces, missing))
}

/// Finds the pieces of texts. Of bytes that must be copied, only the bytes of the rows are.
fn texts_of(texts: &VarBytes<'_>, at: &Range<usize>, home: &mut Home) -> (Shape, Vec<Buffer>) {
    let stays = home.is_within(texts.data, at);
    let mut place = |bytes: &[u8]| home.piece(bytes, at);
    if let Some(narrow) = narrowed(texts).filter(|_| !stays) {
        let data = place(narrow.data);
        let (spans, form) = narrow.spans;
        return (Shape::Text(form), vec![data, spans]);
    }
    let mut pieces = vec![place(texts.data)];
    let form = match texts.spans {
        Spans::Off32(offsets) => added(&mut pieces, place(raw(offsets)), Form::Off32),
        Spans::Off64(offsets) => added(&mut pieces, place(raw(offsets)), Form::Off64),
        Spans::Each(spans) => added(&mut pieces, place(raw(spans)), Form::Each),
        Spans::Slots { first, size, lens } => added(&mut pieces, place(lens), Form::Slots { first, size }),
        Spans::Stride { count, len } => Form::Stride { first: 0, size: len.into(), count },
        Spans::Same { count } => Form::Same { count },
    };
    (Shape::Text(form), pieces)
}

/// The bytes of some rows, with spans that count from their start.
struct Narrow<'t> {
    data: &'t [u8],
    spans: (Buffer, Form),
}

/// Returns the bytes that texts refer to; `None` if the spans have another form, or are invalid, which is found later.
fn narrowed<'t>(texts: &VarBytes<'t>) -> Option<Narrow<'t>> {
    let data = |start: u64, end: u64| texts.data.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?);
    match texts.spans {
        Spans::Off32(offsets) => {
            let (first, last) = (*offsets.first()?, *offsets.last()?);
            let ascends = offsets.iter().all(|offset| *offset >= first);
            let spans: Vec<u32> = offsets.iter().map(|offset| offset.wrapping_sub(first)).collect();
            ascends.then_some(Narrow {
                data: data(first.into(), last.into())?,
                spans: (Buffer::from_vec(spans), Form::Off32),
            })
        }
        Spans::Off64(offsets) => {
            let (first, last) = (*offsets.first()?, *offsets.last()?);
            let ascends = offsets.iter().all(|offset| *offset >= first);
            let spans: Vec<u64> = offsets.iter().map(|offset| offset.wrapping_sub(first)).collect();
            ascends.then_some(Narrow { data: data(first, last)?, spans: (Buffer::from_vec(spans), Form::Off64) })
        }
        Spans::Each(spans) => {
            // The spans of missing rows are of no length, and may be anywhere.
            let used = || spans.iter().filter(|[_, len]| *len > 0);
            let first = used().map(|[at, _]| *at).min().unwrap_or(0);
            let last = used().map(|[at, len]| u64::from(*at).saturating_add((*len).into())).max().unwrap_or(0);
            let moved: Vec<[u32; 2]> =
                spans.iter().map(|[at, len]| [if *len > 0 { at.saturating_sub(first) } else { 0 }, *len]).collect();
            Some(Narrow { data: data(first.into(), last)?, spans: (Buffer::from(raw(&moved)), Form::Each) })
        }
        _ => None,
    }
}

fn added(pieces: &mut Vec<Buffer>, piece: Buffer, form: Form) -> Form {
    pieces.push(piece);
    form
}

fn raw<T: NoUninit>(values: &[T]) -> &[u8] {
    must_cast_slice(values)
}

/// The addresses of `bytes`.
pub(crate) fn span(bytes: &[u8]) -> Range<usize> {
    let start = bytes.as_ptr().addr();
    start..start.saturating_add(bytes.len())
}

/// Returns whether the addresses `at` are addresses within `home`.
pub(crate) const fn contains(home: &Range<usize>, at: &Range<usize>) -> bool {
    home.start <= at.start && at.end <= home.end
}

impl Home {
    /// Counts copied bytes.
    pub(crate) fn copy(&mut self, bytes: u64) {
        self.copied = self.copied.saturating_add(bytes);
    }

    /// Counts bytes that were copied to a smaller block.
    pub(crate) fn compact(&mut self, bytes: u64) {
        self.compacted = self.compacted.saturating_add(bytes);
    }

    /// Returns whether a buffer lies in the file, which stays in memory anyway.
    pub(crate) fn is_in_file(&self, buffer: &Buffer) -> bool {
        self.file.as_ref().is_some_and(|file| file.data_ptr() == buffer.data_ptr())
    }

    /// Returns the bits of missing rows in a buffer of their own, if they alone would keep a large block.
    pub(crate) fn own(&mut self, nulls: Option<NullBuffer>) -> Option<NullBuffer> {
        let nulls = nulls?;
        let len = nulls.len().div_ceil(8);
        let buffer = nulls.buffer();
        if self.is_in_file(buffer) || buffer.capacity() <= len.saturating_mul(2).saturating_add(SPARE) {
            return Some(nulls);
        }
        self.compact(len as u64);
        Some(NullBuffer::new(BooleanBuffer::new(Buffer::from(nulls.inner().sliced().as_slice()), 0, nulls.len())))
    }

    /// Returns whether bytes lie in the block or in the file.
    pub(crate) fn is_within(&self, bytes: &[u8], block: &Range<usize>) -> bool {
        let at = span(bytes);
        contains(block, &at) || self.in_file(bytes).is_some()
    }

    /// Returns bytes of the file, where they are; `None` if they are not in it.
    pub(crate) fn in_file(&self, bytes: &[u8]) -> Option<Buffer> {
        let file = self.file.as_ref()?;
        let (home, at) = (span(file), span(bytes));
        contains(&home, &at).then(|| file.slice_with_length(at.start.saturating_sub(home.start), bytes.len()))
    }

    /// Returns bytes as a buffer: bytes of the file where they are, others copied. Only bytes that are not in `block` count as
    /// copied, as those in it were just decoded.
    fn piece(&mut self, bytes: &[u8], block: &Range<usize>) -> Buffer {
        self.in_file(bytes).unwrap_or_else(|| self.taken(bytes, block))
    }

    /// Copies bytes of a block, or of elsewhere, and counts them.
    pub(crate) fn taken(&mut self, bytes: &[u8], block: &Range<usize>) -> Buffer {
        let at = span(bytes);
        match contains(block, &at) {
            true => self.compact(bytes.len() as u64),
            false => self.copy(bytes.len() as u64),
        }
        self.pool.copy(bytes)
    }
}

/// Returns the bits from `first` on. Arrow's constructor would panic if there are too few.
fn bits(bytes: Buffer, first: usize, len: usize) -> Result<BooleanBuffer, Error> {
    match first.checked_add(len) {
        Some(end) if end.div_ceil(8) <= bytes.len() => Ok(BooleanBuffer::new(bytes, first, len)),
        _ => Err(FileError::new(Kind::Truncated, What::ROW, len as u64).into()),
    }
}

#[cold]
pub(crate) fn too_large(row: u64, need: u64) -> Error {
    FileError::needing(Kind::Limit, What::MAX_DECODED, row, need).into()
}

impl HeldTexts {
    /// Returns the texts as the library defines them.
    pub(crate) fn texts(&self) -> VarBytes<'_> {
        let spans = match &self.spans {
            HeldSpans::Off32(offsets) => Spans::Off32(cast(offsets)),
            HeldSpans::Off64(offsets) => Spans::Off64(cast(offsets)),
            HeldSpans::Each(spans) => Spans::Each(cast(spans)),
            HeldSpans::Stride { count, len } => Spans::Stride { count: *count, len: *len },
            HeldSpans::Slots { first, size, lens } => Spans::Slots { first: *first, size: *size, lens },
            HeldSpans::Same { count } => Spans::Same { count: *count },
        };
        VarBytes { data: &self.data, spans }
    }
}

impl HeldRanges {
    /// Returns the ranges as the library defines them.
    pub(crate) fn ranges(&self) -> Ranges<'_> {
        match self {
            HeldRanges::Stride { first, size, count } => Ranges::Stride { first: *first, size: *size, count: *count },
            HeldRanges::Off32(offsets) => Ranges::Off32(cast(offsets)),
            HeldRanges::Off64(offsets) => Ranges::Off64(cast(offsets)),
            HeldRanges::Each(spans) => Ranges::Each(cast(spans)),
        }
    }
}

/// Returns the values in `bytes`, which are a slice of them or a copy that [`Pool::copy`] has aligned.
pub(crate) fn cast<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> &[T] {
    bytemuck::try_cast_slice(bytes).unwrap_or_default()
}
