//! The cells of one field in all records, at a distance of one record.

use crate::bytes::{Bits, FAST};
use crate::dataseries::layout::Bit;
use crate::error::Result;

/// Returns whether a bit of a record is 1.
fn is_set(bit: Bit, record: &[u8]) -> bool {
    record.get(bit.at as usize).is_some_and(|byte| byte & bit.mask != 0)
}

/// Iterates over records of `size` bytes.
#[cfg(not(pilaster_small))]
fn each_of(records: &[u8], size: usize) -> impl Iterator<Item = &[u8]> {
    records.chunks_exact(size.max(1))
}

/// Iterates over mutable records of `size` bytes.
#[cfg(not(pilaster_small))]
pub(super) fn each_mut(records: &mut [u8], size: usize) -> impl Iterator<Item = &mut [u8]> {
    records.chunks_exact_mut(size.max(1))
}

/// Iterates over records of `size` bytes, without the division at the start of `chunks_exact`.
#[cfg(pilaster_small)]
fn each_of(mut records: &[u8], size: usize) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || {
        let (record, rest) = records.split_at_checked(size.max(1))?;
        records = rest;
        Some(record)
    })
}

/// Iterates over mutable records of `size` bytes, without a division.
#[cfg(pilaster_small)]
pub(super) fn each_mut(mut records: &mut [u8], size: usize) -> impl Iterator<Item = &mut [u8]> {
    core::iter::from_fn(move || {
        let (record, rest) = core::mem::take(&mut records).split_at_mut_checked(size.max(1))?;
        records = rest;
        Some(record)
    })
}

/// Iterates over the cells of `N` bytes at offset `at` in records of `size` bytes.
pub(super) fn cells<const N: usize>(records: &[u8], size: usize, at: usize) -> impl Iterator<Item = &[u8; N]> {
    each_of(records, size).map_while(move |record| record.get(at..)?.first_chunk())
}

/// Reverses the bytes of each cell of `width` bytes.
pub(super) fn swap(records: &mut [u8], size: usize, at: usize, width: usize) {
    for record in each_mut(records, size) {
        if let Some(cell) = record.get_mut(at..).and_then(|cell| cell.get_mut(..width)) {
            cell.reverse();
        }
    }
}

/// Copies the cells of `N` bytes to `to`, contiguously.
pub(super) fn gather<const N: usize>(records: &[u8], size: usize, at: usize, to: &mut [u8]) {
    let (to, _) = to.as_chunks_mut::<N>();
    for (to, cell) in to.iter_mut().zip(cells::<N>(records, size, at)) {
        *to = *cell;
    }
}

/// Copies the cells of `width` bytes to `to`, contiguously.
pub(super) fn gather_bytes(records: &[u8], size: usize, at: usize, width: usize, to: &mut [u8]) {
    for (to, record) in each_mut(to, width).zip(each_of(records, size)) {
        if let Some(cell) = record.get(at..).and_then(|cell| cell.get(..width)) {
            for (to, byte) in to.iter_mut().zip(cell) {
                *to = *byte;
            }
        }
    }
}

/// Copies one bit of each record to a bitmap, inverted if `not`. Stores the number of 1 bits in `ones`.
pub(super) fn gather_bits<'s>(
    records: &[u8],
    size: usize,
    bit: Bit,
    not: bool,
    to: &'s mut [u8],
    ones: &mut usize,
) -> Result<Bits<'s>> {
    let turn = if not { 0xff } else { 0 };
    let (mut rows, mut count) = (0usize, 0u32);
    let mut records = each_of(records, size);
    for byte in to.iter_mut() {
        let mut bits = 0u8;
        for k in 0..8 {
            let Some(record) = records.next() else { break };
            let set = (record.get(bit.at as usize).copied().unwrap_or(0) ^ turn) & bit.mask != 0;
            bits |= u8::from(set) << k;
            rows = rows.wrapping_add(1);
        }
        *byte = bits;
        count = count.wrapping_add(bits.count_ones());
    }
    *ones = count as usize;
    Bits::new(to, 0, rows)
}

/// A type of numbers. Cells are handled as bits in a `u64`. Integer addition wraps (section 8).
#[derive(Clone, Copy)]
pub(super) enum Number {
    Int32,
    Int64,
    Double,
}

/// The scale of doubles that are relative to the record before (section 8.3). Each value is rounded to a multiple of
/// the unit, so that errors do not accumulate.
#[derive(Clone, Copy)]
pub(super) struct Rounded {
    pub unit: f64,
    /// 1 / `unit`.
    pub many: f64,
}

impl Number {
    fn load(self, bytes: &[u8]) -> Option<u64> {
        match self {
            Number::Int32 => bytes.first_chunk().map(|cell| u32::from_ne_bytes(*cell).into()),
            Number::Int64 | Number::Double => bytes.first_chunk().map(|cell| u64::from_ne_bytes(*cell)),
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "the cell has no more bits")]
    fn store(self, value: u64, bytes: &mut [u8]) {
        match self {
            Number::Int32 => {
                if let Some(cell) = bytes.first_chunk_mut() {
                    *cell = (value as u32).to_ne_bytes();
                }
            }
            Number::Int64 | Number::Double => {
                if let Some(cell) = bytes.first_chunk_mut() {
                    *cell = value.to_ne_bytes();
                }
            }
        }
    }

    fn plus(self, cell: u64, base: u64) -> u64 {
        match self {
            Number::Int32 | Number::Int64 => cell.wrapping_add(base),
            Number::Double => (f64::from_bits(cell) + f64::from_bits(base)).to_bits(),
        }
    }
}

/// Changes every number at offset `at`, except in records whose `skip` bit is 1.
fn each(
    records: &mut [u8],
    size: usize,
    at: usize,
    skip: Option<Bit>,
    number: Number,
    mut change: impl FnMut(&[u8], u64) -> u64,
) {
    let mut step = |record: &mut [u8]| {
        if let Some(value) = record.get(at..).and_then(|cell| number.load(cell)) {
            let value = change(record, value);
            number.store(value, record.get_mut(at..).unwrap_or_default());
        }
    };
    let records = each_mut(records, size);
    match skip {
        None if FAST => records.for_each(step),
        skip => {
            for record in records {
                if !skip.is_some_and(|skip| is_set(skip, record)) {
                    step(record);
                }
            }
        }
    }
}

/// Converts differences to values. The base is the cell at offset `base` of the same record (section 8.2), or, without
/// `base`, the same cell of the record before (section 8.3). On 64-bit targets each type of number has its own loop.
pub(super) fn undo(
    records: &mut [u8],
    size: usize,
    at: usize,
    base: Option<usize>,
    skip: Option<Bit>,
    number: Number,
    rounded: Option<Rounded>,
) {
    match (number, base, rounded) {
        (Number::Int32, None, _) if FAST => differences(records, size, at, None, skip, Number::Int32, |sum| sum),
        (Number::Int64, None, _) if FAST => differences(records, size, at, None, skip, Number::Int64, |sum| sum),
        (Number::Int32, base, _) if FAST => differences(records, size, at, base, skip, Number::Int32, |sum| sum),
        (Number::Int64, base, _) if FAST => differences(records, size, at, base, skip, Number::Int64, |sum| sum),
        (_, _, Some(Rounded { unit, many })) if FAST && skip.is_none() => {
            let mut before = 0.0;
            each(records, size, at, None, Number::Double, |_, cell| {
                before = round((f64::from_bits(cell) * unit + before) * many) * unit;
                before.to_bits()
            });
        }
        (number, base, rounded) => {
            // The scale is undone in null cells, too (section 8.4).
            if let Some(Rounded { unit, .. }) = rounded {
                undo_scale(records, size, at, unit);
            }
            differences(records, size, at, base, skip, number, |sum| match rounded {
                Some(Rounded { unit, many }) => (round(f64::from_bits(sum) * many) * unit).to_bits(),
                None => sum,
            });
        }
    }
}

fn differences(
    records: &mut [u8],
    size: usize,
    at: usize,
    base: Option<usize>,
    skip: Option<Bit>,
    number: Number,
    finish: impl Fn(u64) -> u64,
) {
    let mut before = 0;
    each(records, size, at, skip, number, |record, cell| {
        let base = match base {
            None => before,
            Some(base) => record.get(base..).and_then(|cell| number.load(cell)).unwrap_or(0),
        };
        before = finish(number.plus(cell, base));
        before
    });
}

/// Multiplies scaled doubles by their scale (section 8.4), null cells included.
pub(super) fn undo_scale(records: &mut [u8], size: usize, at: usize, scale: f64) {
    each(records, size, at, None, Number::Double, |_, cell| (f64::from_bits(cell) * scale).to_bits());
}

/// Rounds to the nearest integer, halves away from zero. NaN, infinities and the sign of zero are kept.
fn round(x: f64) -> f64 {
    /// 1.5 * 2^52. Adding it to a number below 2^51 rounds the fraction off, halves to even.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    const SIGN: u64 = 1 << 63;
    let near = (x + SHIFT) - SHIFT;
    // False for a half, whatever it was rounded to, for large numbers, and for NaN.
    if (x - near).abs() < 0.5 && x.abs() < 2_251_799_813_685_248.0 {
        f64::from_bits(near.to_bits() | (x.to_bits() & SIGN))
    } else {
        round_slowly(x)
    }
}

#[cold]
#[allow(clippy::cast_possible_truncation, reason = "below 2^52 nothing but the fraction is lost")]
fn round_slowly(x: f64) -> f64 {
    // All numbers of at least 2^52 are integers.
    if x.is_nan() || x.abs() >= 4_503_599_627_370_496.0 {
        return x;
    }
    let whole = x as i64 as f64;
    let away = if (x - whole).abs() >= 0.5 { 1f64.copysign(x) } else { 0.0 };
    (whole + away).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_as_the_standard_library_does() {
        let mut numbers = std::vec![
            0.0,
            0.3,
            0.5,
            0.499_999_999_999_999_94,
            1.5,
            2.5,
            1e15,
            4.5e15,
            1e300,
            f64::MIN_POSITIVE,
            f64::INFINITY
        ];
        for power in 0..64 {
            let two = (1u64 << power) as f64;
            numbers.extend([
                two,
                two - 0.5,
                two + 0.5,
                two - 0.25,
                two * 1.1,
                two / 3.0,
                two.next_down(),
                two.next_up(),
            ]);
        }
        for x in numbers.iter().flat_map(|x| [*x, -x]) {
            assert_eq!(round(x).to_bits(), x.round().to_bits(), "{x:e}");
        }
        assert!(round(f64::NAN).is_nan());
    }
}
