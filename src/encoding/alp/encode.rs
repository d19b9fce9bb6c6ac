//! ALP, encoding: integers for as many floats as possible. The others are exceptions.
//!
//! ```
//! use pilaster::unstable::encoding::alp::{self, Exponents};
//!
//! let values = [f64::NAN, 1.25, 3.5, -0.0];
//! let exponents = alp::choose(&values);
//! let (mut out, mut exceptions) = ([0; 4], Vec::new());
//! let count = alp::encode(&values, exponents, &mut out, |i, value| exceptions.push((i, value.to_bits())))?;
//! // An exception has the integer of the first other value, so that the integers have a small range.
//! assert_eq!(out, [125, 125, 350, 125]);
//! assert_eq!((count, exceptions), (2, vec![(0, f64::NAN.to_bits()), (3, 1 << 63)]));
//! # Ok::<(), pilaster::Error>(())
//! ```

use bytemuck::Zeroable as _;

use super::float::{CHUNK, Float, Wrong, sample};
use crate::bytes::FAST;
use crate::error::{Error, Kind, Result, What};

/// A pair of exponents: integer = value * 10^`e` * 10^-`f`, rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exponents {
    /// The power of ten that makes the value whole.
    pub e: u32,
    /// The power of ten that then makes it small; at most `e`.
    pub f: u32,
}

/// Number of values in a sample, and in a run of neighbours.
const SAMPLE: usize = 256;
const RUN: usize = 8;

/// Bits of the index of an exception, as far as a sample is concerned: indices inside blocks fit 16 bits.
const INDEX: u64 = 16;

/// Returns the exponents with the smallest encoding of a sample: integers packed with the width of their range,
/// and the bits and index of each exception. All pairs are tried.
#[must_use]
pub fn choose<F: Float>(values: &[F]) -> Exponents {
    let mut memory = [F::zeroed(); SAMPLE];
    let mut len = 0usize;
    let sampled = sample(values.len(), SAMPLE, RUN).filter_map(|range| values.get(range)).flatten();
    for (to, value) in memory.iter_mut().zip(sampled) {
        *to = *value;
        len = len.saturating_add(1);
    }
    let values = memory.get(..len).unwrap_or_default();
    let mut best = Exponents { e: 0, f: 0 };
    let mut least = size(values, 0, 0, u64::MAX).unwrap_or(u64::MAX);
    for e in (0..F::POWERS).rev() {
        for f in 0..=e {
            let Some(size) = size(values, e, f, least) else { continue };
            // Among equal sizes, the least `e - f` wins, then (0, 0), then the largest `e`.
            if size < least || e.wrapping_sub(f) < best.e.wrapping_sub(best.f) {
                (best, least) = (Exponents { e, f }, size);
            }
        }
    }
    best
}

/// Returns the size of a sample in bits; `None` if it is above `least`.
fn size<F: Float>(values: &[F], e: u32, f: u32, least: u64) -> Option<u64> {
    let scale = F::scale(e, f)?;
    let mut trial = F::untried();
    let exception = INDEX.saturating_add(F::BITS.into());
    for part in values.chunks(CHUNK) {
        F::attempt(part, scale, &mut trial);
        if trial.exceptions.saturating_mul(exception) > least {
            return None;
        }
    }
    let count = values.len() as u64;
    let width = if trial.exceptions == count { F::BITS } else { F::width(trial) };
    let size = count.saturating_mul(width.into()).saturating_add(trial.exceptions.saturating_mul(exception));
    (size <= least).then_some(size)
}

/// Encodes values to the first integers of `out`, which [`decode`](super::decode) converts back to the same
/// bits. A value without such an integer is an exception: `exception` is called with its index and the value, in
/// ascending order, and the first integer of the others is stored, or 0 if all values are exceptions. Returns
/// the number of exceptions.
///
/// # Errors
/// [`Kind::Invalid`] if an exponent is above 23 (doubles) or 10 (singles); [`Kind::NoRoom`] if `out` is shorter
/// than `values` (`need`: the required size in bytes).
pub fn encode<F: Float>(
    values: &[F],
    exponents: Exponents,
    out: &mut [F::Int],
    mut exception: impl FnMut(usize, F),
) -> Result<usize> {
    let Exponents { e, f } = exponents;
    let scale = F::scale(e, f).ok_or(Error::needing(Kind::Invalid, What::ALP, 0, e.max(f).into()))?;
    let short = || Error::needing(Kind::NoRoom, What::ALP, 0, size_of_val(values) as u64);
    let out = out.get_mut(..values.len()).ok_or_else(short)?;
    let mut count = 0usize;
    // The first integer, and the number of exceptions before its chunk.
    let mut first = None;
    for (i, (values, out)) in values.chunks(CHUNK).zip(out.chunks_mut(CHUNK)).enumerate() {
        let at = i.wrapping_mul(CHUNK);
        let wrong = match (values.first_chunk(), out.first_chunk_mut()) {
            (Some(values), Some(out)) if FAST => F::chunk(values, scale, out),
            _ => {
                let all = u64::MAX >> (CHUNK.wrapping_sub(values.len()) & 63);
                Wrong { all, far: all }
            }
        };
        if wrong.all == 0 && first.is_some() {
            continue;
        }
        let mut without = wrong.all;
        for k in bits(wrong.far) {
            if let (Some(value), Some(int)) = (values.get(k), out.get_mut(k))
                && let Some(right) = value.one(scale)
            {
                *int = right;
                without &= !(1 << (k & 63));
            }
        }
        if first.is_none() {
            first = out.get(without.trailing_ones() as usize).map(|int| (at, *int));
        }
        let fill = first.map_or(F::Int::zeroed(), |(_, int)| int);
        for k in bits(without) {
            if let (Some(value), Some(int)) = (values.get(k), out.get_mut(k)) {
                *int = fill;
                exception(at.wrapping_add(k), *value);
            }
        }
        count = count.saturating_add(without.count_ones() as usize);
    }
    if let Some((before, int)) = first {
        out.get_mut(..before).unwrap_or_default().fill(int);
    }
    Ok(count)
}

/// Returns the positions of the ones.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let next = (mask != 0).then_some(mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        next
    })
}
