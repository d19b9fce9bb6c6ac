//! One row at a time, with the type chosen once per vector.

use super::mask::Mask;
use super::numbers::Form;
use super::{Data, Value, Vector};
use crate::bytes::low32;
use crate::encoding::bitpack::Width;
use crate::encoding::linear::Line;
use crate::error::Result;
use crate::filo::Element;
use crate::filo::raw::Packing;

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
    /// The rows, if the stored words are the values and none is missing; else empty.
    plain: &'a [T::Stored],
    /// The rows, if each is a byte on a line and none is missing; else empty.
    bytes: &'a [u8],
    line: Line,
    /// The words or slots of the strings, if their form has such a table.
    texts: &'a [[u8; 4]],
    /// Numbers of any width on the line, or codes.
    packed: &'a [u8],
    width: Width,
    /// Whether a number is converted to a double.
    whole: bool,
    /// One bit per row, 1 = missing; empty if no row is missing.
    missing: &'a [u8],
    way: Way,
    vector: Vector<'a>,
}

/// How a row is found that is not in one of the two slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Numbers of any width on a line.
    Numbers,
    /// One string per row.
    Strings,
    /// Codes of strings.
    Coded,
    /// All else: by [`Vector::get`].
    Any,
}

/// A type that the rows of a [`View`] may have.
pub trait Row<'a>: Sized + Copy + 'a {
    /// A stored word that is a value.
    type Stored: Copy + core::fmt::Debug;
    /// Whether vectors of this element type have such rows.
    fn is_of(element: Element) -> bool;
    /// Casts data whose words are values.
    fn stored(data: &'a [u8]) -> &'a [Self::Stored];
    /// Converts a stored word, if there is such a type.
    fn of_stored(stored: Self::Stored) -> Option<Self>;
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

            fn is_of(element: Element) -> bool {
                matches!(element, $(Element::$element)|+)
            }

            fn stored(data: &'a [u8]) -> &'a [Self::Stored] {
                data.as_chunks().0
            }

            #[inline]
            fn of_stored(stored: Self::Stored) -> Option<Self> {
                Some(<$ty>::from_le_bytes(stored))
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
    type Stored = [u8; 1];

    fn is_of(element: Element) -> bool {
        matches!(element, Element::String | Element::Utf8 | Element::Blob)
    }

    fn stored(_: &'a [u8]) -> &'a [Self::Stored] {
        &[]
    }

    #[inline]
    fn of_stored(_: Self::Stored) -> Option<Self> {
        None
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
        let way = match vector.data {
            _ if all => Way::Any,
            Data::Numbers if !numbers.constant => Way::Numbers,
            // A batch decodes the string of a missing row, too. Both give the same error.
            Data::Strings if missing.is_empty() => Way::Strings,
            Data::Coded if !numbers.constant => Way::Coded,
            _ => Way::Any,
        };
        let mut view = View {
            plain: &[],
            bytes: &[],
            line: numbers.line,
            texts: vector.strings.table().unwrap_or_default(),
            packed: numbers.packed.data,
            width: Width::of(packing),
            whole: numbers.form == Form::Double,
            missing,
            way,
            vector: *vector,
        };
        if way == Way::Numbers && missing.is_empty() {
            let rows = vector.rows as usize;
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
        if let Ok(i) = usize::try_from(row) {
            if let Some(stored) = self.plain.get(i) {
                return Ok(T::of_stored(*stored));
            }
            if let Some(byte) = self.bytes.get(i) {
                return Ok(T::of_word(self.line.at(i).wrapping_add((*byte).into()), self.whole));
            }
        }
        match self.found(row) {
            Some(found) => Ok(found),
            None => self.any(row),
        }
    }

    /// Returns the value of a row, or `None` if it takes [`any`](Self::any).
    #[inline]
    fn found(&self, row: u64) -> Option<Option<T>> {
        let i = u32::try_from(row).ok().filter(|i| *i < self.vector.rows)?;
        let word = match self.way {
            Way::Strings => return self.text(i as usize),
            Way::Any => return None,
            Way::Numbers | Way::Coded => self.width.get(self.packed, i as usize)?,
        };
        if let Some(byte) = self.missing.get(i as usize >> 3)
            && byte >> (i & 7) & 1 == 1
        {
            return Some(None);
        }
        if self.way == Way::Numbers {
            return Some(T::of_word(word.wrapping_add(self.line.at(i as usize)), self.whole));
        }
        match low32(word) {
            0 => Some(None),
            code if code < self.vector.entries => self.text(code as usize),
            _ => None,
        }
    }

    /// Returns string `i`, or `None` if it takes [`any`](Self::any).
    #[inline]
    fn text(&self, i: usize) -> Option<Option<T>> {
        self.vector.strings.quick(self.texts, i).map(|found| found.and_then(T::of_bytes))
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
