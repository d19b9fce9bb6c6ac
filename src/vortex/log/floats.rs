//! Floats as integers times a power of ten, if every float of a segment is one (ALP without exceptions).

use super::field::Schema;
use super::rows::Column;
use super::scalar::Short;
use crate::bytes::low32;
use crate::encoding::alp::{Float, Scale};

/// The integers that are packed: the numbers of a column, or the integers of its floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum View {
    Integers,
    /// The exponents, and their factors.
    Singles(u32, u32, Scale<f32>),
    Doubles(u32, u32, Scale<f64>),
}

impl View {
    /// Returns the exponents with the smallest integers that all floats of a column have; `None` if no exponents fit all.
    ///
    /// A pair of exponents is given up at the first float without an integer. The exponents of a few floats agree only if
    /// the floats have few digits, so most pairs cost one float.
    pub fn of<T: Schema>(column: &Column<'_>) -> Option<Self> {
        if T::USES.singles() && column.size == 4 {
            let (e, f) = exponents(f32::POWERS, &mut |e, f| {
                let scale = f32::scale(e, f);
                scale.is_some_and(|scale| all(column, |word| single(word, scale)))
            })?;
            return Some(View::Singles(e, f, f32::scale(e, f)?));
        }
        if T::USES.doubles() && column.size == 8 {
            let (e, f) = exponents(f64::POWERS, &mut |e, f| {
                let scale = f64::scale(e, f);
                scale.is_some_and(|scale| all(column, |word| double(word, scale)))
            })?;
            return Some(View::Doubles(e, f, f64::scale(e, f)?));
        }
        None
    }

    /// Returns the integer of a number of the column.
    pub fn integer<T: Schema>(&self, word: u64) -> u64 {
        let found = match self {
            View::Singles(_, _, scale) if T::USES.singles() => single(word, *scale),
            View::Doubles(_, _, scale) if T::USES.doubles() => double(word, *scale),
            _ => Some(word),
        };
        found.unwrap_or(0)
    }

    /// Returns the metadata of ALP: both exponents.
    pub fn exponents(&self) -> Option<Short> {
        match *self {
            View::Integers => None,
            View::Singles(e, f, _) | View::Doubles(e, f, _) => {
                Some(Short::default().uint(1, e.into()).uint(2, f.into()))
            }
        }
    }
}

fn single(word: u64, scale: Scale<f32>) -> Option<u64> {
    f32::from_bits(low32(word)).one(scale).map(|int| i64::from(int).cast_unsigned())
}

fn double(word: u64, scale: Scale<f64>) -> Option<u64> {
    f64::from_bits(word).one(scale).map(i64::cast_unsigned)
}

/// Returns whether all numbers that are not missing have an integer.
fn all(column: &Column<'_>, integer: impl Fn(u64) -> Option<u64>) -> bool {
    (0..column.len).all(|row| !column.is_valid(row) || integer(column.word(row)).is_some())
}

/// Returns the first pair of exponents that works: the fewest digits after the point, then the largest `e`, whose products
/// are exact most often.
fn exponents(powers: u32, works: &mut dyn FnMut(u32, u32) -> bool) -> Option<(u32, u32)> {
    let mut pairs = (0..powers).flat_map(|digits| (digits..powers).rev().map(move |e| (e, e.wrapping_sub(digits))));
    pairs.find(|(e, f)| works(*e, *f))
}
