//! The choice of an encoding for floats.

use alloc::vec;
use alloc::vec::Vec;

use bytemuck::Zeroable as _;

use super::array::Array;
use super::encode::constant;
use super::rows::{Bitmap, Numbers};
use super::word::Word;
use super::{Encodings, WriteOptions, compact, integers, sample, scalar};
use crate::column::Prim;
use crate::encoding::alp::{self, Float};
use crate::vortex::encodings::patches::write::Patches;
use crate::vortex::encodings::{self, dict, plain};
use crate::vortex::raw::Encoding;
use crate::vortex::write::distinct::{Codes, codes, number_hash};
use crate::vortex::write::word::Narrow;

/// Encodes floats. At least one row has a value.
pub(in crate::vortex) fn encode(numbers: &Numbers, valid: Option<&Bitmap>, how: &WriteOptions) -> Array {
    let allowed = how.allowed();
    let light = match numbers {
        Numbers::F16(values) => {
            let scalar = |bits: &u16| scalar::half(*bits, how.profile);
            bits(values, (Prim::F16, scalar), valid, allowed, &[])
        }
        Numbers::F32(values) => {
            let words: &[u32] = bytemuck::must_cast_slice(values);
            let scalar = |bits: &u32| scalar::single(f32::from_bits(*bits));
            let whole = |words: &[u32], valid: Option<&Bitmap>| {
                as_integers::<f32>(bytemuck::must_cast_slice(words), Prim::F32, valid, allowed, Numbers::I32)
            };
            let parts = |words: &[u32], valid: Option<&Bitmap>| {
                in_parts::<f32>(bytemuck::must_cast_slice(words), valid, allowed, Numbers::U32)
            };
            bits(words, (Prim::F32, scalar), valid, allowed, &[&whole, &parts])
        }
        Numbers::F64(values) => {
            let words: &[u64] = bytemuck::must_cast_slice(values);
            let scalar = |bits: &u64| scalar::double(f64::from_bits(*bits));
            let whole = |words: &[u64], valid: Option<&Bitmap>| {
                as_integers::<f64>(bytemuck::must_cast_slice(words), Prim::F64, valid, allowed, Numbers::I64)
            };
            let parts = |words: &[u64], valid: Option<&Bitmap>| {
                in_parts::<f64>(bytemuck::must_cast_slice(words), valid, allowed, Numbers::U64)
            };
            bits(words, (Prim::F64, scalar), valid, allowed, &[&whole, &parts])
        }
        _ => plain::write::primitive(numbers, plain::write::validity(valid)),
    };
    compact::or_numbers(light, numbers, valid, allowed)
}

/// A way to store floats that keeps every NaN and the sign of 0; `None` if it does not pay.
type Way<'w, T> = &'w dyn Fn(&[T], Option<&Bitmap>) -> Option<Array>;

/// Encodes floats by their bits, or in the one of the `other` ways in which a sample is smallest.
fn bits<T: Word>(
    values: &[T],
    (prim, scalar): (Prim, impl Fn(&T) -> Vec<u8>),
    valid: Option<&Bitmap>,
    allowed: Encodings,
    other: &[Way<'_, T>],
) -> Array {
    let is_valid = |i: usize| valid.is_none_or(|valid| valid.get(i));
    let mut all = values.iter().enumerate().filter(|(i, _)| is_valid(*i)).map(|(_, value)| value);
    if let Some(first) = all.next()
        && all.all(|value| value == first)
        && let Some(constant) = constant(scalar(first), valid, allowed)
    {
        return constant;
    }
    let plain = || plain::write::primitive(&Narrow::of_bits(prim, values), plain::write::validity(valid));
    let way = smallest(values, valid, other).and_then(|way| way(values, valid));
    Array::smallest(way.into_iter().chain(dictionary(values, prim, valid, allowed)), size_of_val(values), plain)
}

/// Returns the way in which a sample is smallest.
fn smallest<'w, T: Word>(values: &[T], valid: Option<&Bitmap>, ways: &[Way<'w, T>]) -> Option<Way<'w, T>> {
    let rows = sample::runs(values.len());
    let values: Vec<T> = rows.iter().filter_map(|rows| values.get(rows.clone())).flatten().copied().collect();
    let valid = valid.map(|valid| {
        let mut some = Bitmap::default();
        rows.iter().for_each(|rows| some.append(&valid.slice(rows.clone())));
        some
    });
    let size = |way: &&Way<'w, T>| way(&values, valid.as_ref()).map_or(u64::MAX, |array| array.size());
    ways.iter().min_by_key(size).copied()
}

/// Encodes floats as integers times a power of ten (ALP), if fewer than half of a sample are exceptions.
fn as_integers<F: Float>(
    values: &[F],
    prim: Prim,
    valid: Option<&Bitmap>,
    allowed: Encodings,
    numbers: impl Fn(Vec<F::Int>) -> Numbers,
) -> Option<Array> {
    if !allowed.has(Encoding::Alp) {
        return None;
    }
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
    let encoded = integers::encode(&numbers(integers), valid, allowed);
    Some(encodings::alp::write::integers(exponents, encoded, Patches::new(&at, others)))
}

/// Encodes floats as left parts, of which few are different, and right parts (ALP-RD).
fn in_parts<F: Float>(
    values: &[F],
    valid: Option<&Bitmap>,
    allowed: Encodings,
    numbers: impl Fn(Vec<F::Word>) -> Numbers,
) -> Option<Array> {
    if !allowed.has(Encoding::AlpRd) {
        return None;
    }
    let cut = alp::choose_cut(values);
    let (mut codes, mut rights) = (vec![0; values.len()], vec![F::Word::zeroed(); values.len()]);
    let (mut at, mut lefts) = (Vec::new(), Vec::new());
    let done = alp::split(values, &cut, &mut codes, &mut rights, |i, left| {
        at.push(i as u64);
        lefts.push(left);
    });
    done.ok()?;
    let codes = integers::encode(&Numbers::U16(codes), valid, allowed.leaf());
    let rights = integers::encode(&numbers(rights), None, allowed.leaf());
    let patches = Patches::new(&at, plain::write::primitive(&Numbers::U16(lefts), None));
    Some(encodings::alp_rd::write::parts(&cut, codes, rights, patches))
}

/// Encodes distinct values and codes, if at most half of the values are distinct.
fn dictionary<T: Word>(values: &[T], prim: Prim, valid: Option<&Bitmap>, allowed: Encodings) -> Option<Array> {
    if !allowed.has(Encoding::Dict) {
        return None;
    }
    let is_valid = |i: usize| valid.is_none_or(|valid| valid.get(i));
    let word = |i: usize| values.get(i).map_or(0, |value| value.wide());
    let hash = |i: usize| number_hash(word(i));
    let Codes { codes, first, nulls } =
        codes(values.len(), values.len() / 2, is_valid, hash, |a, b| word(a) == word(b))?;
    let mut distinct: Vec<T> = first.iter().map(|row| T::of(word(*row))).collect();
    let present = nulls.then(|| {
        distinct.push(T::default());
        Bitmap::all_but_last(distinct.len())
    });
    let values = plain::write::primitive(&Narrow::of_bits(prim, &distinct), plain::write::validity(present.as_ref()));
    Some(dict::write::dictionary(integers::unsigned(&codes, allowed.leaf()), distinct.len(), values))
}
