//! The choice of an encoding for floats.

use alloc::vec;
use alloc::vec::Vec;

use bytemuck::Zeroable as _;

use super::array::Array;
use super::integers::{self, Choice};
use super::rows::{Bitmap, Numbers};
use super::scalar;
use super::word::Word;
use crate::column::Prim;
use crate::encoding::alp::{self, Float};
use crate::vortex::encodings::patches::write::Patches;
use crate::vortex::encodings::{self, constant, dict, plain, wrapped};
use crate::vortex::write::distinct::{Codes, codes};
use crate::vortex::write::word::Narrow;

/// Encodes floats. At least one row has a value.
pub(in crate::vortex) fn encode(numbers: &Numbers, valid: Option<&Bitmap>) -> Array {
    match numbers {
        Numbers::F16(values) => bits(values, Prim::F16, valid, |bits| scalar::half(*bits), Vec::new),
        Numbers::F32(values) => {
            let words: &[u32] = bytemuck::must_cast_slice(values);
            let scalar = |bits: &u32| scalar::single(f32::from_bits(*bits));
            let decimal = || {
                let whole = as_integers(values, Prim::F32, valid, Numbers::I32);
                let cut = in_parts(values, valid, Numbers::U32);
                whole.into_iter().chain(cut).collect()
            };
            bits(words, Prim::F32, valid, scalar, decimal)
        }
        Numbers::F64(values) => {
            let words: &[u64] = bytemuck::must_cast_slice(values);
            let scalar = |bits: &u64| scalar::double(f64::from_bits(*bits));
            let decimal = || {
                let whole = as_integers(values, Prim::F64, valid, Numbers::I64);
                let cut = in_parts(values, valid, Numbers::U64);
                whole.into_iter().chain(cut).collect()
            };
            bits(words, Prim::F64, valid, scalar, decimal)
        }
        _ => plain::write::primitive(numbers, plain::write::validity(valid)),
    }
}

/// Encodes floats by their bits, so that every NaN and the sign of 0 stay; or in one of the `other` ways, which do so, too.
fn bits<T: Word>(
    values: &[T],
    prim: Prim,
    valid: Option<&Bitmap>,
    scalar: impl Fn(&T) -> Vec<u8>,
    other: impl Fn() -> Vec<Array>,
) -> Array {
    let present = plain::write::validity(valid);
    let is_valid = |i: usize| valid.is_none_or(|valid| valid.get(i));
    let mut all = values.iter().enumerate().filter(|(i, _)| is_valid(*i)).map(|(_, value)| value);
    if let Some(first) = all.next()
        && all.all(|value| value == first)
    {
        return wrapped::write::masked(constant::write::constant(scalar(first)), present);
    }
    let plain = plain::write::primitive(&Narrow::of_bits(prim, values), present);
    let ways = other().into_iter().chain(dictionary(values, prim, valid));
    ways.fold(plain, |best, way| if way.size() < best.size() { way } else { best })
}

/// Encodes floats as integers times a power of ten (ALP), if fewer than half of a sample are exceptions.
fn as_integers<F: Float>(
    values: &[F],
    prim: Prim,
    valid: Option<&Bitmap>,
    numbers: impl Fn(Vec<F::Int>) -> Numbers,
) -> Option<Array> {
    let exponents = alp::choose(values);
    let mut integers = vec![F::Int::zeroed(); values.len()];
    let (mut at, mut others) = (Vec::new(), Vec::new());
    let encoded = alp::encode(values, exponents, &mut integers, |i, value| {
        at.push(i as u64);
        others.push(value.wide());
    });
    if encoded.ok()?.saturating_mul(2) > values.len() {
        return None;
    }
    let others = plain::write::primitive(&Narrow::of_bits(prim, &others), None);
    let encoded = integers::encode(&numbers(integers), valid, Choice::ALL);
    Some(encodings::alp::write::integers(exponents, encoded, Patches::new(&at, others)))
}

/// Encodes floats as left parts, of which few are different, and right parts (ALP-RD).
fn in_parts<F: Float>(
    values: &[F],
    valid: Option<&Bitmap>,
    numbers: impl Fn(Vec<F::Word>) -> Numbers,
) -> Option<Array> {
    let cut = alp::choose_cut(values);
    let (mut codes, mut rights) = (vec![0; values.len()], vec![F::Word::zeroed(); values.len()]);
    let (mut at, mut lefts) = (Vec::new(), Vec::new());
    let done = alp::split(values, &cut, &mut codes, &mut rights, |i, left| {
        at.push(i as u64);
        lefts.push(left);
    });
    done.ok()?;
    let codes = integers::encode(&Numbers::U16(codes), valid, Choice::LEAF);
    let rights = integers::encode(&numbers(rights), None, Choice::LEAF);
    let patches = Patches::new(&at, plain::write::primitive(&Numbers::U16(lefts), None));
    Some(encodings::alp_rd::write::parts(&cut, codes, rights, patches))
}

/// Encodes distinct values and codes, if at most half of the values are distinct.
fn dictionary<T: Word>(values: &[T], prim: Prim, valid: Option<&Bitmap>) -> Option<Array> {
    let is_valid = |i: usize| valid.is_none_or(|valid| valid.get(i));
    let word = |i: usize| values.get(i).map_or(0, |value| value.wide());
    let hash = |i: usize| word(i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let Codes { codes, first, nulls } =
        codes(values.len(), values.len() / 2, is_valid, hash, |a, b| word(a) == word(b))?;
    let mut distinct: Vec<T> = first.iter().map(|row| T::of(word(*row))).collect();
    let present = nulls.then(|| {
        distinct.push(T::default());
        Bitmap::all_but_last(distinct.len())
    });
    let values = plain::write::primitive(&Narrow::of_bits(prim, &distinct), plain::write::validity(present.as_ref()));
    Some(dict::write::dictionary(integers::unsigned(&codes, Choice::LEAF), distinct.len(), values))
}
