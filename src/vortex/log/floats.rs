//! Floats as integers times a power of ten, if every float of a segment is one (ALP without exceptions).

use super::field::Schema;
use super::form::Form;
use super::rows::Column;
use crate::bytes::{low8, low32};
use crate::encoding::alp::{Float, Scale};

/// The exponents of ALP: integer = float * 10^`e` * 10^-`f`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exponents {
    e: u32,
    f: u32,
}

impl Exponents {
    /// Returns the metadata of ALP: both exponents, as fields 1 and 2 of a message.
    pub const fn metadata(self) -> [u8; 4] {
        [8, low8(self.e as usize), 16, low8(self.f as usize)]
    }

    /// Returns the first pair with which `range` looks at all rows, and what it returns: the fewest digits after the point, then
    /// the largest `e`, whose products are exact most often.
    ///
    /// `range` begins at a row, and its error is the row whose float is no integer. The next pair begins there: NaN, for one, is no
    /// integer with any of them.
    pub fn find<T: Schema, F>(form: Form, range: impl Fn(View, usize) -> Result<F, usize>) -> Option<(Self, F)> {
        let powers = if is_single::<T>(form) { f32::POWERS } else { f64::POWERS };
        let mut row = 0;
        for digits in 0..powers {
            for e in (digits..powers).rev() {
                let exponents = Exponents { e, f: e.wrapping_sub(digits) };
                match range(View::of::<T>(form, Some(exponents)), row) {
                    Ok(found) => return Some((exponents, found)),
                    Err(failed) => row = failed,
                }
            }
        }
        None
    }
}

/// The integers that are packed: the numbers of a column, or the integers of its floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum View {
    Integers,
    Singles(Scale<f32>),
    Doubles(Scale<f64>),
}

/// Returns whether floats of a column have 32 bits, in a log whose columns may have both widths or one.
const fn is_single<T: Schema>(form: Form) -> bool {
    T::USES.singles() && (!T::USES.doubles() || form.size() == 4)
}

impl View {
    /// Returns the integers of a column, of its floats by their exponents.
    #[inline(never)]
    pub fn of<T: Schema>(form: Form, exponents: Option<Exponents>) -> Self {
        let Some(Exponents { e, f }) = exponents else { return View::Integers };
        if is_single::<T>(form) {
            f32::scale(e, f).map_or(View::Integers, View::Singles)
        } else if T::USES.doubles() {
            f64::scale(e, f).map_or(View::Integers, View::Doubles)
        } else {
            View::Integers
        }
    }

    /// Returns the integer of a number of the column, sign-extended; `None` if a float has no integer that decodes to it.
    pub fn integer<T: Schema>(&self, column: &Column<'_>, row: usize) -> Option<u64> {
        let word = column.word(row);
        match self {
            View::Singles(scale) if T::USES.singles() => {
                f32::from_bits(low32(word)).one(*scale).map(|int| i64::from(int).cast_unsigned())
            }
            View::Doubles(scale) if T::USES.doubles() => f64::from_bits(word).one(*scale).map(i64::cast_unsigned),
            _ => Some(word),
        }
    }
}
