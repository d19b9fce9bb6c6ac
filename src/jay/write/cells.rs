//! Encodes elements of fixed width: little-endian, missing rows as the missing-value marker of the type.

use bytemuck::Pod;

use crate::bytes::{Bits, half_to_f32};
use crate::column::{Batch, Column, Type, Validity, Values};
use crate::encoding::bitmap;
use crate::encoding::linear::Line;
use crate::encoding::min_max::MinMax;
use crate::error::{Error, Kind, Result, What};
use crate::jay::Stats;
use crate::jay::raw::{NA_BOOL, NA_F32, NA_F64, SType};

/// Number of elements that are examined before they are written. They are still in the cache then.
const BLOCK: usize = 1024;

/// Row count, null count and statistics of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub(super) rows: u64,
    pub(super) nulls: u64,
    pub(super) stats: Stats,
}

impl Tally {
    pub(super) const EMPTY: Tally = Tally { rows: 0, nulls: 0, stats: Stats::Empty };
}

/// A stored number type.
trait Cell: Pod {
    /// Marks a missing value.
    const NA: Self;
    /// Whether a valid value may be stored as `NA`. True for floats, because the format defines NaN as missing.
    const ANY_NA: bool;
    fn is_na(self) -> bool;
    fn little(self) -> Self;
    /// Returns the number of missing values, and minimum and maximum of the others.
    fn look(values: &[Self]) -> (usize, Option<(Self, Self)>);
    /// Returns `stats` extended by a minimum and a maximum.
    fn stats(ends: (Self, Self), stats: Stats) -> Stats;
}

macro_rules! integers {
    ($($int:ident by $ends:path;)*) => {$(
        impl Cell for $int {
            const NA: Self = $int::MIN;
            const ANY_NA: bool = false;

            fn is_na(self) -> bool {
                self == $int::MIN
            }

            fn little(self) -> Self {
                self.to_le()
            }

            #[inline]
            fn look(values: &[Self]) -> (usize, Option<(Self, Self)>) {
                let Some((least, most)) = $ends(values) else { return (0, None) };
                // `NA` is the minimum of the type, so more work is needed only if the minimum is `NA`.
                if !least.is_na() {
                    return (0, Some((least, most)));
                }
                let least = values.iter().fold($int::MAX, |least, v| least.min(if v.is_na() { $int::MAX } else { *v }));
                (bitmap::count(values, Self::is_na), Some((least, most)).filter(|_| !most.is_na()))
            }

            fn stats((min, max): (Self, Self), stats: Stats) -> Stats {
                stats.and_int(min.into(), max.into())
            }
        }
    )*};
}

macro_rules! floats {
    ($($float:ident $na:ident $stats:ident;)*) => {$(
        impl Cell for $float {
            const NA: Self = $float::from_bits($na);
            const ANY_NA: bool = true;

            fn is_na(self) -> bool {
                self.is_nan()
            }

            fn little(self) -> Self {
                $float::from_bits(self.to_bits().to_le())
            }

            #[inline]
            fn look(values: &[Self]) -> (usize, Option<(Self, Self)>) {
                // Eight at a time. A comparison with NaN is false, so NaN is never selected.
                let (mut min, mut max) = ([$float::INFINITY; 8], [$float::NEG_INFINITY; 8]);
                let mut take = |eight: &[$float]| {
                    for ((min, max), v) in min.iter_mut().zip(&mut max).zip(eight) {
                        *min = if *v < *min { *v } else { *min };
                        *max = if *v > *max { *v } else { *max };
                    }
                };
                let (eights, rest) = values.as_chunks::<8>();
                eights.iter().for_each(|eight| take(eight));
                take(rest);
                let min = min.iter().fold($float::INFINITY, |least, v| if *v < least { *v } else { least });
                let max = max.iter().fold($float::NEG_INFINITY, |most, v| if *v > most { *v } else { most });
                let missing = if bitmap::any(values, Self::is_na) { bitmap::count(values, Self::is_na) } else { 0 };
                (missing, Some((min, max)).filter(|_| missing < values.len()))
            }

            fn stats((min, max): (Self, Self), stats: Stats) -> Stats {
                match stats {
                    Stats::$stats { min: low, max: high } => {
                        Stats::$stats { min: if min < low { min } else { low }, max: if max > high { max } else { high } }
                    }
                    _ => Stats::$stats { min, max },
                }
            }
        }
    )*};
}

integers! { i8 by ends; i16 by ends; i32 by ends; i64 by long_ends; }
floats! { f32 NA_F32 Float32; f64 NA_F64 Float64; }

/// Returns minimum and maximum.
#[inline]
fn ends<T: Copy + Ord>(values: &[T]) -> Option<(T, T)> {
    let first = *values.first()?;
    Some(values.iter().fold((first, first), |(least, most), v| (least.min(*v), most.max(*v))))
}

/// Returns minimum and maximum of 64-bit integers. Values close to each other are compared in vectors.
#[inline]
fn long_ends(values: &[i64]) -> Option<(i64, i64)> {
    let base = *values.first()?;
    let near = Line { base, slope: 0 }.spread(values);
    near.and_then(|MinMax { min, max }| base.checked_add(min).zip(base.checked_add(max))).or_else(|| ends(values))
}

/// Passes the bytes of the elements of `batch`, stored as `stype`, to `put` in several slices.
pub(super) fn put<C: Column, E: From<Error>>(
    stype: SType,
    col: &C,
    batch: &Batch<'_, C>,
    tally: &mut Tally,
    put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut to = To { validity: &batch.validity, tally, put };
    match (stype, batch.values) {
        (SType::Bool8, Values::Bool(bits)) => to.bools(bits, batch.len),
        (SType::Int8, Values::I8(v)) => to.plain(v),
        (SType::Int16, Values::I16(v)) => to.plain(v),
        (SType::Int16, Values::U8(v)) => to.staged(v, |v| Some(i16::from(v))),
        (SType::Int32 | SType::Date32, Values::I32(v)) => to.plain(v),
        (SType::Int32, Values::U16(v)) => to.staged(v, |v| Some(i32::from(v))),
        (SType::Int64, Values::I64(v)) => to.plain(v),
        (SType::Int64, Values::U32(v)) => to.staged(v, |v| Some(i64::from(v))),
        (SType::Int64, Values::U64(v)) => to.staged(v, |v| i64::try_from(v).ok()),
        (SType::Time64, Values::I64(v)) => match super::nanos(col.ty()) {
            1 => to.plain(v),
            unit => to.staged(v, |v| v.checked_mul(unit)),
        },
        (SType::Float32, Values::F32(v)) => to.plain(v),
        (SType::Float32, Values::F16(v)) => to.staged(v, |v| Some(half_to_f32(v))),
        (SType::Float64, Values::F64(v)) => to.plain(v),
        _ => Err(wrong_type(col.ty()).into()),
    }
}

#[cold]
pub(super) fn wrong_type(_ty: Type) -> Error {
    Error::new(Kind::WrongType, What::JAY_TYPE, 0)
}

struct To<'p, 'v, E> {
    validity: &'p Validity<'v>,
    tally: &'p mut Tally,
    put: &'p mut dyn FnMut(&[u8]) -> Result<(), E>,
}

impl<E: From<Error>> To<'_, '_, E> {
    /// Writes elements that need no conversion.
    fn plain<T: Cell>(&mut self, values: &[T]) -> Result<(), E> {
        for (k, block) in values.chunks(BLOCK).enumerate() {
            let first = k.saturating_mul(BLOCK);
            if cfg!(target_endian = "little") && self.is_full(first, block.len()) {
                self.block(block, first, 0)?;
                continue;
            }
            self.stage(block, first, |v| Some(v))?;
        }
        Ok(())
    }

    /// Writes elements converted by `to`, which returns `None` for a value that cannot be stored.
    fn staged<A: Copy, T: Cell>(&mut self, values: &[A], to: impl Fn(A) -> Option<T> + Copy) -> Result<(), E> {
        for (k, block) in values.chunks(BLOCK).enumerate() {
            self.stage(block, k.saturating_mul(BLOCK), to)?;
        }
        Ok(())
    }

    #[inline]
    fn stage<A: Copy, T: Cell>(&mut self, block: &[A], first: usize, to: impl Fn(A) -> Option<T>) -> Result<(), E> {
        let mut stage = [T::NA; BLOCK];
        let mut missing = 0u64;
        for (i, (cell, value)) in stage.iter_mut().zip(block).enumerate() {
            let row = first.saturating_add(i);
            match self.validity.get(row) {
                true => *cell = to(*value).ok_or_else(|| self.lossy(row))?,
                false => missing = missing.saturating_add(1),
            }
        }
        self.block(stage.get(..block.len()).unwrap_or_default(), first, missing)
    }

    /// Returns whether no row of a block is missing.
    fn is_full(&self, first: usize, len: usize) -> bool {
        match self.validity {
            Validity::All => true,
            Validity::None => false,
            Validity::Bits(bits) => bits.slice(first, len).is_ok_and(|bits| bits.count_ones() == len),
        }
    }

    /// Counts and writes elements, `missing` of which have no value.
    fn block<T: Cell>(&mut self, block: &[T], first: usize, missing: u64) -> Result<(), E> {
        let (nulls, ends) = T::look(block);
        let nulls = nulls as u64;
        if nulls != missing && !T::ANY_NA {
            // A valid value that equals `NA` would be read as missing.
            let is_lost = |(i, v): (usize, &T)| v.is_na() && self.validity.get(first.saturating_add(i));
            let i = block.iter().enumerate().position(is_lost).unwrap_or(0);
            return Err(self.lossy(first.saturating_add(i)).into());
        }
        if let Some(ends) = ends {
            self.tally.stats = T::stats(ends, self.tally.stats);
        }
        self.tally.nulls = self.tally.nulls.saturating_add(nulls);
        self.tally.rows = self.tally.rows.saturating_add(block.len() as u64);
        if cfg!(target_endian = "little") {
            return (self.put)(bytemuck::cast_slice(block));
        }
        let mut swapped = [T::NA; BLOCK];
        for (to, from) in swapped.iter_mut().zip(block) {
            *to = from.little();
        }
        (self.put)(bytemuck::cast_slice(swapped.get(..block.len()).unwrap_or_default()))
    }

    fn bools(&mut self, bits: Bits<'_>, len: usize) -> Result<(), E> {
        let mut stage = [0u8; BLOCK];
        let (mut first, mut nulls) = (0usize, 0u64);
        while first < len {
            let count = len.saturating_sub(first).min(BLOCK);
            let block = stage.get_mut(..count).unwrap_or_default();
            for (i, byte) in block.iter_mut().enumerate() {
                let row = first.saturating_add(i);
                let there = self.validity.get(row);
                *byte = if there { u8::from(bits.get(row) == Some(true)) } else { NA_BOOL };
                nulls = nulls.saturating_add(u64::from(!there));
                if there {
                    self.tally.stats = self.tally.stats.and_int((*byte).into(), (*byte).into());
                }
            }
            (self.put)(block)?;
            first = first.saturating_add(count);
        }
        self.tally.nulls = self.tally.nulls.saturating_add(nulls);
        self.tally.rows = self.tally.rows.saturating_add(len as u64);
        Ok(())
    }

    /// Creates the error for a value of row `i` of the batch that cannot be stored.
    #[cold]
    fn lossy(&self, i: usize) -> Error {
        let row = self.tally.rows.saturating_add((i % BLOCK) as u64);
        Error::new(Kind::Lossy, What::JAY_TYPE, row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_long_integers_agree_with_the_iterators() {
        let near = [7, i64::MAX, i64::MAX - 3, i64::MIN, i64::MIN + 1, -1, 0, 1 << 51, -(1 << 51), 1 << 50];
        for a in near {
            for b in near {
                for c in near {
                    let values = [a, b, c, a, b.wrapping_add(1), c, a, b, c, a];
                    let expected = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
                    assert_eq!(long_ends(&values), Some(expected), "{values:?}");
                    let there: std::vec::Vec<i64> = values.into_iter().filter(|v| !v.is_na()).collect();
                    let ends = there.iter().min().copied().zip(there.iter().max().copied());
                    assert_eq!(i64::look(&values), (values.len() - there.len(), ends), "{values:?}");
                }
            }
        }
        assert_eq!(long_ends(&[]), None);
    }
}
