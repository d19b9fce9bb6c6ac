//! The rows of a [`View`] in the one form in which a vector stores them, so that a loop over them is compiled for it.

use super::{Row, View};
use crate::bytes::little;
use crate::error::Result;

/// Rows of values of the type `T`, as [`View`] is. [`View::visit`] chooses the implementation.
pub trait Access<T>: Copy {
    /// Returns the number of rows.
    fn rows(self) -> u64;

    /// Returns the value of row `row`, or `None` if it is missing. Takes constant time.
    ///
    /// # Errors
    /// The errors of [`Vector::get`](crate::filo::Vector::get).
    fn get(self, row: u64) -> Result<Option<T>>;
}

/// A use of many rows, such as a loop, which [`View::visit`] calls.
pub trait Visitor<T> {
    /// What it returns.
    type Output;

    /// Uses the rows.
    fn visit<A: Access<T>>(self, rows: A) -> Self::Output;
}

impl<'a, T: Row<'a>> View<'a, T> {
    /// Calls the visitor with the rows in the form in which they are stored. Its code is compiled for each of 14 forms, and a row
    /// takes no decision about the form then: numbers of less than 32 bits, or with missing rows, are read in half the time
    /// of [`get`](Self::get).
    ///
    /// ```
    /// use pilaster::filo::{Access, Element, Vector, Visitor};
    ///
    /// /// Adds the ints of some rows.
    /// struct Sum<'r>(&'r [u64]);
    ///
    /// impl Visitor<i32> for Sum<'_> {
    ///     type Output = pilaster::Result<i64>;
    ///
    ///     fn visit<A: Access<i32>>(self, rows: A) -> Self::Output {
    ///         self.0.iter().try_fold(0, |sum, row| Ok(sum + i64::from(rows.get(*row)?.unwrap_or(0))))
    ///     }
    /// }
    ///
    /// let vector = Vector::open(&[6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101], Element::Int)?;
    /// assert_eq!(vector.view()?.visit(Sum(&[1, 2, 3]))?, 2 - 5 + 101);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    pub fn visit<V: Visitor<T>>(&self, visitor: V) -> V::Output {
        if !self.plain.is_empty() {
            return visitor.visit(Plain { stored: self.plain, view: self });
        }
        if self.numbers == 0 || T::TEXT {
            return visitor.visit(self);
        }
        let packing = self.vector.numbers.packed.packing;
        match (packing.bits(), self.missing) {
            (2, []) => visitor.visit(Bits::<T, 1, false> { view: self }),
            (4, []) => visitor.visit(Bits::<T, 2, false> { view: self }),
            (8, []) => visitor.visit(Bytes::<T, 1, false>::of(self)),
            (16, []) => visitor.visit(Bytes::<T, 2, false>::of(self)),
            (32, []) => visitor.visit(Bytes::<T, 4, false>::of(self)),
            (64, []) => visitor.visit(Bytes::<T, 8, false>::of(self)),
            (2, _) => visitor.visit(Bits::<T, 1, true> { view: self }),
            (4, _) => visitor.visit(Bits::<T, 2, true> { view: self }),
            (8, _) => visitor.visit(Bytes::<T, 1, true>::of(self)),
            (16, _) => visitor.visit(Bytes::<T, 2, true>::of(self)),
            (32, _) => visitor.visit(Bytes::<T, 4, true>::of(self)),
            (64, _) => visitor.visit(Bytes::<T, 8, true>::of(self)),
            _ => visitor.visit(self),
        }
    }

    /// Returns row `i` of numbers, whose packed one is `word`. `MASKED`: rows may be missing.
    #[inline(always)]
    fn number<const MASKED: bool>(&self, i: usize, word: u64) -> Option<T> {
        if MASKED
            && let Some(byte) = self.missing.get(i >> 3)
            && byte >> (i & 7) & 1 == 1
        {
            return None;
        }
        T::of_word(word.wrapping_add(self.line.at(i)), self.whole)
    }
}

impl<'a, T: Row<'a>> Access<T> for &View<'a, T> {
    #[inline]
    fn rows(self) -> u64 {
        View::rows(self)
    }

    #[inline]
    fn get(self, row: u64) -> Result<Option<T>> {
        View::get(self, row)
    }
}

/// Words that are the values, none of them missing, or the words of UTF8 strings.
#[derive(Clone, Copy)]
struct Plain<'v, 'a, T: Row<'a>> {
    stored: &'a [T::Stored],
    view: &'v View<'a, T>,
}

impl<'a, T: Row<'a>> Access<T> for Plain<'_, 'a, T> {
    #[inline]
    fn rows(self) -> u64 {
        self.stored.len() as u64
    }

    #[inline]
    fn get(self, row: u64) -> Result<Option<T>> {
        let i = usize::try_from(row).unwrap_or(usize::MAX);
        if let Some(stored) = self.stored.get(i)
            && let Some(found) = T::of_stored(*stored, self.view.text)
        {
            return Ok(found);
        }
        self.view.any(row)
    }
}

/// Numbers of 2 to the power of `LOG` bits, 2 or 4, on a line. `MASKED`: some may be missing.
#[derive(Clone, Copy)]
struct Bits<'v, 'a, T: Row<'a>, const LOG: u32, const MASKED: bool> {
    view: &'v View<'a, T>,
}

impl<'a, T: Row<'a>, const LOG: u32, const MASKED: bool> Access<T> for Bits<'_, 'a, T, LOG, MASKED> {
    #[inline]
    fn rows(self) -> u64 {
        self.view.rows()
    }

    #[inline]
    fn get(self, row: u64) -> Result<Option<T>> {
        let i = usize::try_from(row).unwrap_or(usize::MAX);
        let mask = (1u64 << (1u32 << LOG)).wrapping_sub(1);
        if i < self.view.numbers as usize
            && let Some(byte) = self.view.packed.get(i >> 3u32.wrapping_sub(LOG))
        {
            let word = u64::from(*byte) >> (i << LOG & 7) & mask;
            return Ok(self.view.number::<MASKED>(i, word));
        }
        self.view.any(row)
    }
}

/// Numbers of `N` bytes, on a line. `MASKED`: some may be missing.
#[derive(Clone, Copy)]
struct Bytes<'v, 'a, T: Row<'a>, const N: usize, const MASKED: bool> {
    view: &'v View<'a, T>,
    words: &'a [[u8; N]],
    /// The sign bit of signed numbers, else 0.
    sign: u64,
}

impl<'v, 'a, T: Row<'a>, const N: usize, const MASKED: bool> Bytes<'v, 'a, T, N, MASKED> {
    fn of(view: &'v View<'a, T>) -> Self {
        let (packing, words) = (view.vector.numbers.packed.packing, view.packed.as_chunks().0);
        let sign = if packing.signed() { 1 << (packing.bits().wrapping_sub(1) & 63) } else { 0 };
        Bytes { view, words: words.get(..view.numbers as usize).unwrap_or(words), sign }
    }
}

impl<'a, T: Row<'a>, const N: usize, const MASKED: bool> Access<T> for Bytes<'_, 'a, T, N, MASKED> {
    #[inline]
    fn rows(self) -> u64 {
        self.view.rows()
    }

    #[inline]
    fn get(self, row: u64) -> Result<Option<T>> {
        let i = usize::try_from(row).unwrap_or(usize::MAX);
        if let Some(word) = self.words.get(i) {
            let word = (little(word) ^ self.sign).wrapping_sub(self.sign);
            return Ok(self.view.number::<MASKED>(i, word));
        }
        self.view.any(row)
    }
}
