//! One row at a time, with the type chosen once per vector.

mod access;

use super::mask::Mask;
use super::numbers::Form;
use super::strings::{Kinds, text_of_word};
use super::{Data, Value, Vector};
use crate::bytes::low32;
use crate::encoding::bitpack::Width;
use crate::encoding::linear::Line;
use crate::error::Result;
use crate::filo::Element;
use crate::filo::raw::Packing;

pub use access::{Access, Visitor};

/// The rows of a [`Vector`] as values of one type, which [`Vector::view`] returns. Reading a row makes fewer decisions
/// than [`Vector::get`], and its code is inlined.
///
/// ```
/// use pilaster::filo::{Element, Vector, View};
///
/// /// Returns the largest step between two rows.
/// fn largest_step(ints: &View<'_, i32>) -> pilaster::Result<i32> {
///     let mut largest = 0;
///     for row in 1..ints.rows() {
///         if let (Some(last), Some(next)) = (ints.get(row - 1)?, ints.get(row)?) {
///             largest = largest.max(next - last);
///         }
///     }
///     Ok(largest)
/// }
///
/// let vector = Vector::open(&[6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101], Element::Int)?;
/// assert_eq!(largest_step(&vector.view()?)?, 106);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T: Row<'a>> {
    /// The rows, if the stored words are the values, or the words of UTF8 strings, and none has a bit in a mask; else empty.
    plain: &'a [T::Stored],
    /// The strings of those words.
    text: &'a [u8],
    /// The rows, if each is a byte on a line and none is missing; else empty.
    bytes: &'a [u8],
    /// Number of rows that are numbers of any width on a line, or codes; else 0.
    numbers: u32,
    packed: &'a [u8],
    width: Width,
    line: Line,
    /// Whether a number is converted to a double.
    whole: bool,
    /// One bit per row, 1 = missing; empty if no row is missing.
    missing: &'a [u8],
    /// Number of strings: the rows, or the entries of a dictionary; else 0.
    strings: u32,
    /// Their words or offsets, if their form has such a table.
    table: &'a [[u8; 4]],
    vector: Vector<'a>,
}

/// A type that the rows of a [`View`] may have.
pub trait Row<'a>: Sized + Copy + 'a {
    /// A stored word that is a value, or the word of a UTF8 string.
    type Stored: Copy + core::fmt::Debug;
    /// Whether the rows are strings.
    const TEXT: bool;
    /// Whether vectors of this element type have such rows.
    fn is_of(element: Element) -> bool;
    /// Casts data to words.
    fn stored(data: &'a [u8]) -> &'a [Self::Stored];
    /// Converts a stored word, or finds its string in `text`. Returns `Some(None)` for a missing string, and `None` for a
    /// string that is found by [`Vector::get`].
    fn of_stored(stored: Self::Stored, text: &'a [u8]) -> Option<Option<Self>>;
    /// Converts a 64-bit word of a vector of numbers, which is an integer if `whole`, even if the values are doubles.
    fn of_word(word: u64, whole: bool) -> Option<Self>;
    /// Converts a string.
    fn of_bytes(bytes: &'a [u8]) -> Option<Self>;
    /// Converts a value of the element type.
    fn of_value(value: Value<'a>) -> Option<Self>;
}

/// Implements [`Row`] for a type of numbers.
macro_rules! number {
    ($ty:ty, $($element:ident)|+, $size:literal, |$word:ident, $whole:ident| $convert:expr) => {
        impl<'a> Row<'a> for $ty {
            type Stored = [u8; $size];
            const TEXT: bool = false;

            fn is_of(element: Element) -> bool {
                matches!(element, $(Element::$element)|+)
            }

            fn stored(data: &'a [u8]) -> &'a [Self::Stored] {
                data.as_chunks().0
            }

            #[inline]
            fn of_stored(stored: Self::Stored, _: &'a [u8]) -> Option<Option<Self>> {
                Some(Some(<$ty>::from_le_bytes(stored)))
            }

            #[inline]
            fn of_word($word: u64, $whole: bool) -> Option<Self> {
                Some($convert)
            }

            #[inline]
            fn of_bytes(_: &'a [u8]) -> Option<Self> {
                None
            }

            fn of_value(value: Value<'a>) -> Option<Self> {
                match value {
                    $(Value::$element(value))|+ => Some(value),
                    _ => None,
                }
            }
        }
    };
}

number!(i32, Int, 4, |word, _whole| low32(word).cast_signed());
number!(i64, Long | Timestamp, 8, |word, _whole| word.cast_signed());
number!(f32, Float, 4, |word, _whole| f32::from_bits(low32(word)));
number!(f64, Double, 8, |word, whole| match whole {
    true => f64::from(low32(word).cast_signed()),
    false => f64::from_bits(word),
});

impl<'a> Row<'a> for &'a [u8] {
    type Stored = [u8; 4];
    const TEXT: bool = true;

    fn is_of(element: Element) -> bool {
        matches!(element, Element::String | Element::Utf8 | Element::Blob)
    }

    fn stored(data: &'a [u8]) -> &'a [Self::Stored] {
        data.as_chunks().0
    }

    #[inline]
    fn of_stored(stored: Self::Stored, text: &'a [u8]) -> Option<Option<Self>> {
        text_of_word(text, 0, u32::from_le_bytes(stored))
    }

    #[inline]
    fn of_word(_: u64, _: bool) -> Option<Self> {
        None
    }

    #[inline]
    fn of_bytes(bytes: &'a [u8]) -> Option<Self> {
        Some(bytes)
    }

    fn of_value(value: Value<'a>) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl<'a, T: Row<'a>> View<'a, T> {
    pub(super) fn of(vector: &Vector<'a>) -> Result<Self> {
        if !T::is_of(vector.element) {
            return Err(vector.wrong_type());
        }
        let (numbers, packing) = (vector.numbers, vector.numbers.packed.packing);
        let (missing, all) = match vector.mask {
            Mask::None => (&[][..], false),
            Mask::Words(bytes) => (bytes, false),
            Mask::All => (&[][..], true),
        };
        let is_coded = vector.data == Data::Coded;
        let numbers_of = match vector.data {
            Data::Numbers | Data::Coded if !numbers.constant && !all => vector.rows,
            _ => 0,
        };
        let strings = match vector.data {
            Data::Coded => vector.entries,
            // A batch decodes the string of a missing row, too. Both give the same error.
            Data::Strings if missing.is_empty() && !all => vector.rows,
            _ => 0,
        };
        let mut view = View {
            plain: &[],
            text: &[],
            bytes: &[],
            numbers: numbers_of,
            packed: numbers.packed.data,
            width: Width::of(packing),
            line: numbers.line,
            whole: numbers.form == Form::Double,
            missing,
            strings,
            table: vector.strings.table().unwrap_or_default(),
            vector: *vector,
        };
        let rows = vector.rows as usize;
        if let Kinds::Words { base } = vector.strings.kind
            && strings > 0
            && !is_coded
        {
            view.plain = T::stored(view.table.as_flattened()).get(..rows).unwrap_or_default();
            view.text = vector.strings.chunk.get(base as usize..).unwrap_or_default();
        } else if numbers_of > 0 && !is_coded && missing.is_empty() {
            if numbers.line == Line::ZERO && numbers.form == Form::Word && packing.bytes(1) == size_of::<T>() {
                view.plain = T::stored(numbers.packed.data).get(..rows).unwrap_or_default();
            } else if packing == Packing::U8 {
                view.bytes = numbers.packed.data.get(..rows).unwrap_or_default();
            }
        }
        Ok(view)
    }

    /// Returns the number of rows.
    #[inline]
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.vector.rows()
    }

    /// Returns the value of row `row`, or `None` if it is missing. Takes constant time.
    ///
    /// # Errors
    /// The errors of [`Vector::get`].
    #[inline]
    pub fn get(&self, row: u64) -> Result<Option<T>> {
        match usize::try_from(row).ok().and_then(|i| self.found(i)) {
            Some(found) => Ok(found),
            None => self.any(row),
        }
    }

    /// Returns the value of row `i`, or `None` if it takes [`any`](Self::any).
    #[inline(always)]
    fn found(&self, i: usize) -> Option<Option<T>> {
        if let Some(stored) = self.plain.get(i) {
            return T::of_stored(*stored, self.text);
        }
        if T::TEXT {
            return self.string(i);
        }
        if let Some(byte) = self.bytes.get(i) {
            return Some(T::of_word(self.line.at(i).wrapping_add((*byte).into()), self.whole));
        }
        let word = self.word(i)?;
        if let Some(byte) = self.missing.get(i >> 3)
            && byte >> (i & 7) & 1 == 1
        {
            return Some(None);
        }
        Some(T::of_word(word.wrapping_add(self.line.at(i)), self.whole))
    }

    /// Returns the number or code of row `i`, or `None` if it takes [`any`](Self::any).
    #[inline(always)]
    fn word(&self, i: usize) -> Option<u64> {
        if i >= self.numbers as usize {
            return None;
        }
        self.width.get(self.packed, i)
    }

    /// Returns the string of row `i`, or `None` if it takes [`any`](Self::any).
    #[inline(always)]
    fn string(&self, i: usize) -> Option<Option<T>> {
        let mut i = i;
        if self.vector.data == Data::Coded {
            i = low32(self.word(i)?) as usize;
            if i == 0 {
                return Some(None);
            }
        }
        if i >= self.strings as usize {
            return None;
        }
        self.vector.strings.quick(self.table, i).map(|found| found.and_then(T::of_bytes))
    }

    /// Returns the value of row `row` as [`Vector::get`] does.
    #[cold]
    #[inline(never)]
    fn any(&self, row: u64) -> Result<Option<T>> {
        Ok(self.vector.get(row)?.and_then(T::of_value))
    }
}

#[cfg(test)]
mod tests;
