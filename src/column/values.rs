//! A decoded run of rows.

#[cfg(any(feature = "jay", feature = "bcolz", feature = "vortex"))]
use super::Prim;
use super::Validity;
use crate::bytes::{Bits, checked_product};
use crate::error::{Error, Kind, Result, What};
use crate::simd;

/// Consecutive rows of a column, flat and in native byte order.
///
/// ```
/// # #[cfg(feature = "filo")] {
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Batch, Column, Value, Values};
/// use pilaster::filo::{Element, Vector};
///
/// // The Ints 5 and -1, followed by a missing row.
/// let chunk = [6, 7, 0, 0, 12, 0, 0, 0, 0b100, 0, 0, 0, 0, 0, 0, 0, 8, 0, 1, 0, 5, 0xff, 0];
/// let column = Vector::open(&chunk, Element::Int)?.column(0)?;
/// let mut memory = [0; 64];
/// let batch = column.read(1..3, &mut Scratch::new(&mut memory))?;
/// let Batch { first, len, values, validity, .. } = batch;
/// assert_eq!((first, len, validity.nulls(len)), (1, 2, 1));
/// // A loop over numbers matches on the type once; `value` does so for each row.
/// let Values::I32(numbers) = values else { panic!("not Ints") };
/// assert_eq!((numbers[0], validity.get(0)), (-1, true));
/// assert_eq!((batch.value(0)?, batch.value(1)?), (Value::Int(-1), Value::Null));
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Batch<'s, C> {
    /// The number of the first row in the column.
    pub first: u64,
    /// Number of rows.
    pub len: usize,
    /// One value per row. The value of a row that [`validity`](Self::validity) marks as missing is unspecified.
    pub values: Values<'s>,
    /// Which rows have a value.
    pub validity: Validity<'s>,
    /// The column whose child rows the ranges of [`Values::Nested`] refer to: the column that was read, or a part of it
    /// that contains these rows.
    pub of: C,
}

/// The values of a batch. Decimals, dates, times and timestamps are the integers that they are stored as, half floats
/// their bits. Decimals over 128 bits are four words, least significant word first.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the number variants are named by their type")]
pub enum Values<'s> {
    /// No values at all.
    Null,
    /// One bit per row.
    Bool(Bits<'s>),
    I8(&'s [i8]),
    I16(&'s [i16]),
    I32(&'s [i32]),
    I64(&'s [i64]),
    I128(&'s [i128]),
    I256(&'s [[u64; 4]]),
    U8(&'s [u8]),
    U16(&'s [u16]),
    U32(&'s [u32]),
    U64(&'s [u64]),
    /// Bits of half floats.
    F16(&'s [u16]),
    F32(&'s [f32]),
    F64(&'s [f64]),
    /// Byte strings.
    Bytes(VarBytes<'s>),
    /// Text; [`VarBytes::text`] checks that it is valid UTF-8.
    Utf8(VarBytes<'s>),
    /// Lists, structs, maps: a row range of every child of [`Batch::of`] per row.
    Nested(Ranges<'s>),
}

/// Offset and length of bytes or rows.
///
/// A batch stores a span as an array, `[at, len]`: memory is cast to arrays of numbers without code from a derive macro.
///
/// ```
/// use pilaster::column::Span;
///
/// let span = Span { at: 6, len: 5 };
/// assert_eq!((Span::from([6, 5]), <[u32; 2]>::from(span)), (span, [6, 5]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Span {
    /// The first byte or row.
    pub at: u32,
    /// Number of bytes or rows.
    pub len: u32,
}

impl From<[u32; 2]> for Span {
    #[inline(always)]
    fn from([at, len]: [u32; 2]) -> Self {
        Span { at, len }
    }
}

impl From<Span> for [u32; 2] {
    #[inline(always)]
    fn from(Span { at, len }: Span) -> Self {
        [at, len]
    }
}

/// The position of each string of a batch in [`VarBytes::data`].
#[derive(Clone, Copy, Debug)]
pub enum Spans<'s> {
    /// String `i` reaches from offset `i` to offset `i + 1`.
    Off32(&'s [u32]),
    /// Like `Off32`, with 64-bit offsets.
    Off64(&'s [u64]),
    /// Each string has its own [`Span`], stored as `[at, len]`: dictionaries, views, runs.
    Each(&'s [[u32; 2]]),
    /// Consecutive strings of one length, starting at byte 0.
    Stride {
        /// Number of strings.
        count: usize,
        /// Length of each string in bytes.
        len: u32,
    },
    /// Strings in consecutive slots of one size.
    Slots {
        /// Offset of the first string.
        first: u32,
        /// Distance in bytes between the starts of two consecutive strings.
        size: u32,
        /// Length of each string in bytes.
        lens: &'s [u8],
    },
    /// Each row is the whole of the bytes.
    Same {
        /// Number of rows.
        count: usize,
    },
}

impl<'s> Values<'s> {
    /// Creates the values from the bytes of numbers in native byte order, which must be [aligned].
    #[cfg(any(feature = "jay", feature = "bcolz", feature = "vortex"))]
    pub(crate) fn numbers(prim: Prim, bytes: &'s [u8]) -> Self {
        use bytemuck::must_cast_slice as same;
        fn cast<T: bytemuck::Pod>(bytes: &[u8]) -> &[T] {
            bytemuck::try_cast_slice(bytes).unwrap_or_default()
        }
        match prim {
            Prim::I8 => Values::I8(same(bytes)),
            Prim::U8 => Values::U8(bytes),
            Prim::I16 | Prim::U16 | Prim::F16 => {
                let words: &[u16] = cast(bytes);
                match prim {
                    Prim::I16 => Values::I16(same(words)),
                    Prim::U16 => Values::U16(words),
                    _ => Values::F16(words),
                }
            }
            Prim::I32 | Prim::U32 | Prim::F32 => {
                let words: &[u32] = cast(bytes);
                match prim {
                    Prim::I32 => Values::I32(same(words)),
                    Prim::U32 => Values::U32(words),
                    _ => Values::F32(same(words)),
                }
            }
            Prim::I64 | Prim::U64 | Prim::F64 => {
                let words: &[u64] = cast(bytes);
                match prim {
                    Prim::I64 => Values::I64(same(words)),
                    Prim::U64 => Values::U64(words),
                    _ => Values::F64(same(words)),
                }
            }
        }
    }
}

impl<'s> Values<'s> {
    /// Returns the numbers as bytes in native byte order, and the size of one number in bytes; `None` for nulls,
    /// booleans, strings and nested values.
    ///
    /// For consumers that take an address and a width, such as JavaScript or C.
    ///
    /// ```
    /// use pilaster::column::Values;
    ///
    /// assert_eq!(Values::I32(&[1, -1]).number_bytes().map(|(bytes, size)| (bytes.len(), size)), Some((8, 4)));
    /// assert_eq!(Values::Null.number_bytes(), None);
    /// ```
    #[must_use]
    pub fn number_bytes(&self) -> Option<(&'s [u8], usize)> {
        fn raw<T: bytemuck::NoUninit>(values: &[T]) -> Option<(&[u8], usize)> {
            Some((bytemuck::must_cast_slice(values), size_of::<T>()))
        }
        match *self {
            Values::I8(v) => raw(v),
            Values::I16(v) => raw(v),
            Values::I32(v) => raw(v),
            Values::I64(v) => raw(v),
            Values::I128(v) => raw(v),
            Values::I256(v) => raw(v),
            Values::U8(v) => raw(v),
            Values::U16(v) | Values::F16(v) => raw(v),
            Values::U32(v) => raw(v),
            Values::U64(v) => raw(v),
            Values::F32(v) => raw(v),
            Values::F64(v) => raw(v),
            Values::Null | Values::Bool(_) | Values::Bytes(_) | Values::Utf8(_) | Values::Nested(_) => None,
        }
    }
}

/// Byte strings: spans of one slice.
///
/// ```
/// use pilaster::column::{Spans, VarBytes};
///
/// // Consecutive texts have offsets, texts in any order spans.
/// let texts = VarBytes { data: b"onetwothree", spans: Spans::Off32(&[0, 3, 6, 11]) };
/// assert_eq!((texts.len(), texts.is_empty()), (3, false));
/// assert_eq!((texts.text(2)?, texts.get(1)?), ("three", &b"two"[..]));
///
/// let spans = [[6, 5], [0, 3], [6, 5]];
/// let texts = VarBytes { spans: Spans::Each(&spans), ..texts };
/// assert!(texts.iter().eq([Ok(&b"three"[..]), Ok(b"one"), Ok(b"three")]));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct VarBytes<'s> {
    /// The bytes that the spans point into.
    pub data: &'s [u8],
    /// The position of each string.
    pub spans: Spans<'s>,
}

impl<'s> VarBytes<'s> {
    /// Returns string `i`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `i` is not below [`len`](Self::len), [`Kind::Truncated`] if its span exceeds
    /// [`data`](Self::data).
    // A Jay column of texts is summed at 0.44 of the speed without an attribute, and at 0.87 with `inline` (bench
    // `jay`).
    #[cfg_attr(not(pilaster_small), inline(always))]
    #[cfg_attr(pilaster_small, inline)]
    pub fn get(&self, i: usize) -> Result<&'s [u8]> {
        let (start, end) = self.bounds(i).ok_or_else(|| no_row(i, self.len()))?;
        let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
            return Err(outside(start, end));
        };
        self.data.get(from..to).ok_or_else(|| outside(start, end))
    }

    /// Returns string `i` as `str`.
    ///
    /// # Errors
    /// [`Kind::Utf8`] with the offset of the first invalid byte in [`data`](Self::data); errors of [`get`](Self::get).
    #[cfg_attr(not(pilaster_small), inline)]
    pub fn text(&self, i: usize) -> Result<&'s str> {
        let bytes = self.get(i)?;
        simd::text(bytes).map_err(|e| self.no_text(i, e))
    }

    #[cold]
    fn no_text(&self, i: usize, e: core::str::Utf8Error) -> Error {
        let start = self.bounds(i).map_or(0, |(start, _)| start);
        Error::new(Kind::Utf8, What::TEXT, start.saturating_add(e.valid_up_to() as u64))
    }

    /// Returns the number of strings.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.spans {
            Spans::Off32(offsets) => offsets.len().saturating_sub(1),
            Spans::Off64(offsets) => offsets.len().saturating_sub(1),
            Spans::Each(spans) => spans.len(),
            Spans::Slots { lens, .. } => lens.len(),
            Spans::Stride { count, .. } | Spans::Same { count } => count,
        }
    }

    /// Returns whether there are no strings.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an iterator over all strings.
    ///
    /// # Errors
    /// Each item is the result of [`get`](Self::get).
    pub fn iter(&self) -> impl Iterator<Item = Result<&'s [u8]>> + use<'s> {
        let strings = *self;
        (0..strings.len()).map(move |i| strings.get(i))
    }

    #[inline]
    fn bounds(&self, i: usize) -> Option<(u64, u64)> {
        let next = i.checked_add(1)?;
        match self.spans {
            Spans::Off32(offsets) => Some(((*offsets.get(i)?).into(), (*offsets.get(next)?).into())),
            Spans::Off64(offsets) => Some((*offsets.get(i)?, *offsets.get(next)?)),
            Spans::Each(spans) => {
                let [at, len] = *spans.get(i)?;
                Some((at.into(), u64::from(at).saturating_add(len.into())))
            }
            Spans::Slots { first, size, lens } => {
                let start = u64::from(size).saturating_mul(i as u64).saturating_add(first.into());
                Some((start, start.saturating_add((*lens.get(i)?).into())))
            }
            Spans::Stride { count, len } if i < count => {
                let start = (i as u64).saturating_mul(len.into());
                Some((start, start.saturating_add(len.into())))
            }
            Spans::Same { count } if i < count => Some((0, self.data.len() as u64)),
            _ => None,
        }
    }
}

/// The rows of the children that belong to each row of a nested batch.
///
/// The range of a missing row is unspecified, and so are the values of the children there: a child does not know which
/// rows of its parent are missing. Check the parent's validity.
///
/// ```
/// use pilaster::column::Ranges;
///
/// // Three lists: two elements, none, and one.
/// let lists = Ranges::Off32(&[0, 2, 2, 3]);
/// assert_eq!((lists.len(), lists.is_empty()), (3, false));
/// assert_eq!((lists.get(0)?, lists.get(1)?), (0..2, 2..2));
/// // Fixed-size lists of four elements.
/// assert_eq!(Ranges::Stride { first: 8, size: 4, count: 2 }.get(1)?, 12..16);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Ranges<'s> {
    /// Row `i` has `size` child rows, starting at `first + i * size`: structs (`size` 1), fixed-size lists.
    Stride {
        /// The child row of the first row.
        first: u64,
        /// Child rows per row.
        size: u64,
        /// Number of rows.
        count: usize,
    },
    /// Row `i` has the child rows from offset `i` to offset `i + 1`: lists.
    Off32(&'s [u32]),
    /// Like `Off32`, with 64-bit offsets.
    Off64(&'s [u64]),
    /// Each row has its own range, a [`Span`] stored as `[at, len]`: list views, gathered lists.
    Each(&'s [[u32; 2]]),
}

impl Ranges<'_> {
    /// Returns the child rows of row `i`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `i` is not below [`len`](Self::len), [`Kind::Invalid`] if the start is after the end.
    pub fn get(&self, i: usize) -> Result<core::ops::Range<u64>> {
        let range = self.bounds(i).ok_or_else(|| no_row(i, self.len()))?;
        if range.start > range.end {
            return Err(Error::needing(Kind::Invalid, What::CHILD, range.start, range.end));
        }
        Ok(range)
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Ranges::Stride { count, .. } => *count,
            Ranges::Off32(offsets) => offsets.len().saturating_sub(1),
            Ranges::Off64(offsets) => offsets.len().saturating_sub(1),
            Ranges::Each(spans) => spans.len(),
        }
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bounds(&self, i: usize) -> Option<core::ops::Range<u64>> {
        let next = i.checked_add(1)?;
        match *self {
            Ranges::Stride { first, size, count } if i < count => {
                let start = first.checked_add(checked_product(i as u64, size)?)?;
                Some(start..start.checked_add(size)?)
            }
            Ranges::Stride { .. } => None,
            Ranges::Off32(offsets) => Some((*offsets.get(i)?).into()..(*offsets.get(next)?).into()),
            Ranges::Off64(offsets) => Some(*offsets.get(i)?..*offsets.get(next)?),
            Ranges::Each(spans) => {
                let [at, len] = *spans.get(i)?;
                Some(at.into()..u64::from(at).checked_add(len.into())?)
            }
        }
    }
}

/// Returns whether the address of `bytes` is a multiple of `size`, which must be a power of two.
#[cfg(any(feature = "jay", feature = "bcolz", feature = "vortex"))]
pub(crate) fn aligned(bytes: &[u8], size: usize) -> bool {
    bytes.as_ptr() as usize & size.wrapping_sub(1) == 0
}

/// Returns an upper bound of the scratch bytes that a copy of `len` numbers of `size` bytes takes.
#[cfg(any(feature = "jay", feature = "bcolz"))]
pub(crate) const fn cost(size: usize, len: u64) -> u64 {
    if len == 0 { 0 } else { len.saturating_add(1).saturating_mul(size as u64).saturating_sub(1) }
}

#[cold]
fn no_row(i: usize, count: usize) -> Error {
    Error::needing(Kind::OutOfRange, What::ROW, i as u64, count as u64)
}

#[cold]
fn outside(start: u64, end: u64) -> Error {
    Error::needing(Kind::Truncated, What::TEXT, start, end.saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_by_every_kind_of_span() {
        let data = b"onetwothree";
        let words = |spans| VarBytes { data, spans };
        let spans = [[3, 3], [0, 3]];
        assert_eq!(words(Spans::Off32(&[0, 3, 6, 11])).text(2), Ok("three"));
        assert_eq!(words(Spans::Off64(&[0, 3])).get(0), Ok(&b"one"[..]));
        assert_eq!(words(Spans::Each(&spans)).text(0), Ok("two"));
        assert_eq!(words(Spans::Stride { count: 3, len: 3 }).text(1), Ok("two"));
        let slots = words(Spans::Slots { first: 1, size: 3, lens: &[2, 0, 4] });
        assert_eq!((slots.len(), slots.text(0), slots.text(1)), (3, Ok("ne"), Ok("")));
        assert_eq!((slots.text(2), slots.text(3).is_err()), (Ok("hree"), true));
        assert_eq!(words(Spans::Same { count: 2 }).text(1), Ok("onetwothree"));
    }

    #[test]
    fn bad_spans_are_errors() {
        let strings = VarBytes { data: b"abc", spans: Spans::Off32(&[2, 1, 9]) };
        assert_eq!(strings.get(0).unwrap_err().kind(), Kind::Truncated);
        assert_eq!(strings.get(1).unwrap_err().need(), 8);
        assert_eq!(strings.get(2).unwrap_err().kind(), Kind::OutOfRange);
        let text = VarBytes { data: b"a\xffc", spans: Spans::Same { count: 1 } };
        assert_eq!(text.text(0).unwrap_err().at(), 1);
    }

    #[test]
    fn ranges_are_checked() {
        assert_eq!(Ranges::Stride { first: 10, size: 2, count: 2 }.get(1), Ok(12..14));
        assert!(Ranges::Stride { first: 10, size: 2, count: 2 }.get(2).is_err());
        assert_eq!(Ranges::Off32(&[5, 3]).get(0).unwrap_err().kind(), Kind::Invalid);
        assert_eq!(Ranges::Each(&[[7, 1]]).get(0), Ok(7..8));
    }
}
