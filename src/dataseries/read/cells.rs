//! Cells of one field in all records: a column whose cells lie one record apart.

use crate::bytes::{Bits, FAST};
use crate::dataseries::layout::Bit;
use crate::error::Result;

/// Whether a bit of a record is set.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn is_set(bit: Bit, record: &[u8]) -> bool {
    record.get(bit.at as usize).is_some_and(|byte| byte & bit.mask != 0)
}

/// The next of `records` of `size` bytes: without the division that `chunks_exact` has.
#[inline(always)]
fn next<'r>(records: &mut &'r [u8], size: usize) -> Option<&'r [u8]> {
    let (record, rest) = records.split_at_checked(size.max(1))?;
    *records = rest;
    Some(record)
}

/// The same of records that change.
#[inline(always)]
pub(super) fn next_mut<'r>(records: &mut &'r mut [u8], size: usize) -> Option<&'r mut [u8]> {
    let (record, rest) = core::mem::take(records).split_at_mut_checked(size.max(1))?;
    *records = rest;
    Some(record)
}

/// Cells of `N` bytes at `at` in records of `size` bytes.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn cells<const N: usize>(mut records: &[u8], size: usize, at: usize) -> impl Iterator<Item = &[u8; N]> {
    core::iter::from_fn(move || next(&mut records, size)?.get(at..)?.first_chunk())
}

/// Turns the bytes of each cell of `width` bytes around.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn swap(mut records: &mut [u8], size: usize, at: usize, width: usize) {
    while let Some(record) = next_mut(&mut records, size) {
        if let Some(cell) = record.get_mut(at..).and_then(|cell| cell.get_mut(..width)) {
            cell.reverse();
        }
    }
}

/// Puts the cells of `N` bytes side by side.
#[inline(never)]
pub(super) fn gather<const N: usize>(records: &[u8], size: usize, at: usize, to: &mut [u8]) {
    let (to, _) = to.as_chunks_mut::<N>();
    for (to, cell) in to.iter_mut().zip(cells::<N>(records, size, at)) {
        *to = *cell;
    }
}

/// Puts cells of any number of bytes side by side.
pub(super) fn gather_bytes(mut records: &[u8], size: usize, at: usize, width: usize, mut to: &mut [u8]) {
    while let (Some(to), Some(record)) = (next_mut(&mut to, width), next(&mut records, size)) {
        if let Some(cell) = record.get(at..).and_then(|cell| cell.get(..width)) {
            for (to, byte) in to.iter_mut().zip(cell) {
                *to = *byte;
            }
        }
    }
}

/// Puts one bit of each record into a bitmap, turned over if `not`; `ones` becomes how many of them are 1.
#[inline(never)]
pub(super) fn gather_bits<'s>(
    mut records: &[u8],
    size: usize,
    bit: Bit,
    not: bool,
    to: &'s mut [u8],
    ones: &mut usize,
) -> Result<Bits<'s>> {
    let turn = if not { 0xff } else { 0 };
    let (mut rows, mut count) = (0usize, 0u32);
    for byte in to.iter_mut() {
        let mut bits = 0u8;
        for k in 0..8 {
            let Some(record) = next(&mut records, size) else { break };
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

/// A kind of numbers, whose cells are words here; sums of integers wrap (section 8).
#[derive(Clone, Copy)]
pub(super) enum Number {
    Int32,
    Int64,
    Double,
    /// A double of which every sum is rounded to a multiple of the scale, so that errors do not add up; `many` is
    /// 1 / `scale`.
    Scaled {
        scale: f64,
        many: f64,
    },
}

impl Number {
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn load(self, bytes: &[u8]) -> Option<u64> {
        match self {
            Number::Int32 => bytes.first_chunk().map(|cell| u32::from_ne_bytes(*cell).into()),
            _ => bytes.first_chunk().map(|cell| u64::from_ne_bytes(*cell)),
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "the cell has no more bits")]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn store(self, value: u64, bytes: &mut [u8]) {
        match self {
            Number::Int32 => {
                if let Some(cell) = bytes.first_chunk_mut() {
                    *cell = (value as u32).to_ne_bytes();
                }
            }
            _ => {
                if let Some(cell) = bytes.first_chunk_mut() {
                    *cell = value.to_ne_bytes();
                }
            }
        }
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn plus(self, cell: u64, base: u64) -> u64 {
        match self {
            Number::Int32 | Number::Int64 => cell.wrapping_add(base),
            Number::Double => (f64::from_bits(cell) + f64::from_bits(base)).to_bits(),
            Number::Scaled { scale, many } => {
                (round((f64::from_bits(cell) + f64::from_bits(base)) * many) * scale).to_bits()
            }
        }
    }
}

/// Changes every number at `at`, except in records whose `skip` bit is set.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn each(
    mut records: &mut [u8],
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
    while let Some(record) = next_mut(&mut records, size) {
        if !skip.is_some_and(|skip| is_set(skip, record)) {
            step(record);
        }
    }
}

/// Differences become values: to the cell at `base` of the same record (section 8.2), or to the record before
/// (section 8.3). Where speed counts, each kind of number is a loop of its own.
pub(super) fn undo(records: &mut [u8], size: usize, at: usize, base: Option<usize>, skip: Option<Bit>, number: Number) {
    match (number, base) {
        (Number::Int32, None) if FAST => differences(records, size, at, None, skip, Number::Int32),
        (Number::Int64, None) if FAST => differences(records, size, at, None, skip, Number::Int64),
        (Number::Int32, base) if FAST => differences(records, size, at, base, skip, Number::Int32),
        (Number::Int64, base) if FAST => differences(records, size, at, base, skip, Number::Int64),
        (Number::Scaled { scale, many }, _) if FAST => {
            differences(records, size, at, None, skip, Number::Scaled { scale, many });
        }
        (number, base) => differences(records, size, at, base, skip, number),
    }
}

#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn differences(records: &mut [u8], size: usize, at: usize, base: Option<usize>, skip: Option<Bit>, number: Number) {
    let mut before = 0;
    each(records, size, at, skip, number, |record, cell| {
        let base = match base {
            None => before,
            Some(base) => record.get(base..).and_then(|cell| number.load(cell)).unwrap_or(0),
        };
        before = number.plus(cell, base);
        before
    });
}

/// Scaled doubles become values (section 8.4). Every cell, also that of a missing value.
#[inline(never)]
pub(super) fn undo_scale(records: &mut [u8], size: usize, at: usize, scale: f64) {
    each(records, size, at, None, Number::Double, |_, cell| (f64::from_bits(cell) * scale).to_bits());
}

/// The nearest integer, halves away from zero; NaN, infinities and signs of zero stay.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn round(x: f64) -> f64 {
    /// To which a number of up to 51 bits is added with its fraction rounded away, halves to even.
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
#[inline(never)]
#[allow(clippy::cast_possible_truncation, reason = "below 2^52 nothing but the fraction is lost")]
fn round_slowly(x: f64) -> f64 {
    // From 2^52 on every number is an integer.
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
