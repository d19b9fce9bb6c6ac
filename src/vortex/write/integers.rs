//! The choice of an encoding for integers.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

use super::array::Array;
use super::encode::constant;
use super::rows::{Bitmap, Numbers};
use super::word::{Narrow, Word, bits, signed};
use super::{Encodings, compact, scalar};
use crate::column::Prim;
use crate::encoding::cells::Cells;
use crate::encoding::fastlanes::{self, Width};
use crate::encoding::integers::{self, sign_extended};
use crate::vortex::encodings::patches::write::Patches;
use crate::vortex::encodings::{
    bit_packed, constant, frame_of_reference, plain, rle, run_end, sequence, sparse, zigzag,
};
use crate::vortex::raw::Encoding;

/// Encodes integers. `valid`: as in [`Rows`](super::rows::Rows), with at least one row that has a value.
pub(in crate::vortex) fn encode(numbers: &Numbers, valid: Option<&Bitmap>, allowed: Encodings) -> Array {
    let light = match numbers {
        Numbers::I8(v) => words::<u8>(bytemuck::must_cast_slice(v), Prim::I8, valid, allowed),
        Numbers::I16(v) => words::<u16>(bytemuck::must_cast_slice(v), Prim::I16, valid, allowed),
        Numbers::I32(v) => words::<u32>(bytemuck::must_cast_slice(v), Prim::I32, valid, allowed),
        Numbers::I64(v) => words::<u64>(bytemuck::must_cast_slice(v), Prim::I64, valid, allowed),
        Numbers::U8(v) => words(v, Prim::U8, valid, allowed),
        Numbers::U16(v) => words(v, Prim::U16, valid, allowed),
        Numbers::U32(v) => words(v, Prim::U32, valid, allowed),
        Numbers::U64(v) => words(v, Prim::U64, valid, allowed),
        _ => plain::write::primitive(numbers, plain::write::validity(valid)),
    };
    compact::or_numbers(light, numbers, valid, allowed)
}

/// Encodes unsigned numbers in the narrowest type.
pub(in crate::vortex) fn unsigned(values: &[u64], allowed: Encodings) -> (Array, Prim) {
    let (numbers, prim) = Narrow::unsigned(values);
    (encode(&numbers, None, allowed), prim)
}

/// A way to store integers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way<T> {
    Plain,
    /// Differences from a reference, in a number of bits.
    Packed(T, u32),
    /// Numbers with their sign in the lowest bit, in a number of bits.
    ZigZag(u32),
    Runs,
    BlockRuns,
    /// Rows that differ from a value.
    Sparse(T),
}

/// Bytes that an array of its own takes beside its buffers.
const NODE: u64 = 40;

fn words<T: Word>(values: &[T], prim: Prim, valid: Option<&Bitmap>, allowed: Encodings) -> Array {
    let values = &*without_gaps(values, valid);
    let plain = || plain::write::primitive(&Narrow::of_bits(prim, values), plain::write::validity(valid));
    let Some(facts) = Facts::of(values, signed(prim)) else { return plain() };
    let value = |bits: T| scalar::integer(prim, sign_extended(bits.wide(), T::BITS, signed(prim)));
    if facts.least == facts.most
        && let Some(constant) = constant(value(facts.least), valid, allowed)
    {
        return constant;
    }
    if valid.is_none()
        && allowed.has(Encoding::Sequence)
        && let Some(step) = integers::progression(values, signed(prim))
        // Old releases read the step as a number of the type of the rows.
        && (step >= 0 || signed(prim))
    {
        return sequence::write::sequence(&value(values.first().copied().unwrap_or_default()), step);
    }
    match smallest(values, (prim, &facts), valid, allowed) {
        Way::Plain => plain(),
        Way::Packed(reference, width) => pack(values, (prim, reference), width, valid),
        Way::ZigZag(width) => {
            zigzag::write::zigzag(pack(&folded(values), (unsigned_of(prim), T::default()), width, valid))
        }
        Way::Runs => runs(values, prim, valid, allowed.leaf()),
        Way::BlockRuns => block_runs(values, prim, valid, allowed.leaf()),
        Way::Sparse(fill) => {
            let (at, others): (Vec<u64>, Vec<T>) =
                values.iter().enumerate().filter(|(_, v)| **v != fill).map(|(i, v)| (i as u64, *v)).unzip();
            let others = encode(&Narrow::of_bits(prim, &others), None, allowed.leaf());
            match Patches::new(&at, others) {
                Some(patches) => sparse::write::sparse(value(fill), patches),
                None => constant::write::constant(value(fill)),
            }
        }
    }
}

/// Returns the allowed way that takes the fewest bytes, by estimates.
fn smallest<T: Word>(
    values: &[T],
    (prim, facts): (Prim, &Facts<T>),
    valid: Option<&Bitmap>,
    allowed: Encodings,
) -> Way<T> {
    let rows = values.len() as u64;
    let range = bits(facts.most.minus(facts.least).wide());
    let is_negative = signed(prim) && facts.least.wide() >> T::BITS.saturating_sub(1) == 1;
    let mut best = (Way::Plain, rows.saturating_mul(u64::from(T::BITS / 8)));
    let mut offer = |way, size: u64| {
        if size < best.1 {
            best = (way, size);
        }
    };
    if allowed.has(Encoding::BitPacked) && (allowed.has(Encoding::For) || !is_negative) {
        let reference = if allowed.has(Encoding::For) { facts.least } else { T::default() };
        let packed = width_of(values, reference);
        offer(Way::Packed(reference, packed.width), packed.bytes.saturating_add(NODE));
    }
    // For numbers around 0 with outliers on both sides.
    if is_negative && allowed.has(Encoding::BitPacked) && allowed.has(Encoding::ZigZag) {
        let packed = width_of(&folded(values), T::default());
        offer(Way::ZigZag(packed.width), packed.bytes.saturating_add(NODE));
    }
    // Rows, or places of rows, and values.
    let pairs = |count: u64| {
        let each = u64::from(bits(rows)).saturating_add(range.into());
        blocks(count).saturating_mul(each).saturating_mul(128).saturating_add(NODE.saturating_mul(3))
    };
    if allowed.has(Encoding::RunEnd) && facts.runs.saturating_mul(4) <= rows {
        let runs = run_count(values, facts, valid);
        if runs.saturating_mul(4) <= rows {
            offer(Way::Runs, pairs(runs));
        }
    }
    if allowed.has(Encoding::Rle) && facts.runs.saturating_mul(4) <= rows {
        // The number of a run in its block, and the values.
        let most = values.chunks(fastlanes::BLOCK).map(|block| changes(block)).max().unwrap_or(0);
        let numbers = blocks(rows).saturating_mul(u64::from(bits(most))).saturating_mul(128);
        let runs = facts.runs.saturating_add(blocks(rows));
        let stored = blocks(runs).saturating_mul(range.into()).saturating_mul(128);
        offer(Way::BlockRuns, numbers.saturating_add(stored).saturating_add(NODE.saturating_mul(4)));
    }
    if allowed.has(Encoding::Sparse)
        && valid.is_none()
        && let Some((fill, others)) = most_common(values)
    {
        offer(Way::Sparse(fill), pairs(others));
    }
    best.0
}

const fn blocks(rows: u64) -> u64 {
    rows.div_ceil(1024)
}

/// Returns values in which a missing row has the value before it, or the first one, so that it adds no run and no range.
fn without_gaps<'v, T: Word>(values: &'v [T], valid: Option<&Bitmap>) -> Cow<'v, [T]> {
    let Some(valid) = valid else { return Cow::Borrowed(values) };
    let mut last = values.iter().zip(valid.iter()).find(|(_, there)| *there).map_or(T::default(), |(value, _)| *value);
    let filled = values.iter().zip(valid.iter()).map(|(value, there)| {
        if there {
            last = *value;
        }
        last
    });
    Cow::Owned(filled.collect())
}

/// Facts that need one look at all values.
struct Facts<T> {
    least: T,
    most: T,
    /// Number of runs of equal values.
    runs: u64,
}

impl<T: Word> Facts<T> {
    fn of(values: &[T], signed: bool) -> Option<Self> {
        let first = *values.first()?;
        // With its sign bit inverted, a signed number has the order of an unsigned one.
        let flip = if signed { 1u64 << T::BITS.saturating_sub(1) } else { 0 };
        let key = |value: T| T::of(value.wide() ^ flip);
        let (mut least, mut most) = (key(first), key(first));
        for value in values {
            let key = key(*value);
            least = least.min(key);
            most = most.max(key);
        }
        Some(Facts { least: key(least), most: key(most), runs: changes(values).wrapping_add(1) })
    }
}

/// Returns how many values differ from the one before.
fn changes<T: Word>(values: &[T]) -> u64 {
    let pairs = values.iter().zip(values.get(1..).unwrap_or_default());
    pairs.fold(0, |count, (before, value)| count.wrapping_add(u64::from(before != value)))
}

/// Returns a value that at least nine of ten rows have, and the number of other rows.
fn most_common<T: Word>(values: &[T]) -> Option<(T, u64)> {
    // The majority, if there is one, is left after pairs of different values are removed.
    let (mut candidate, mut lead) = (*values.first()?, 0u64);
    for value in values {
        match (*value == candidate, lead) {
            (true, _) => lead = lead.wrapping_add(1),
            (false, 0) => (candidate, lead) = (*value, 1),
            (false, _) => lead = lead.wrapping_sub(1),
        }
    }
    let others = values.iter().filter(|value| **value != candidate).count() as u64;
    (others.saturating_mul(10) <= values.len() as u64).then_some((candidate, others))
}

/// Returns the number of runs of rows with equal values and equal validity.
fn run_count<T: Word>(values: &[T], facts: &Facts<T>, valid: Option<&Bitmap>) -> u64 {
    let Some(valid) = valid else { return facts.runs };
    let rows = || values.iter().zip(valid.iter());
    let ends = rows().zip(rows().skip(1)).filter(|(row, next)| row != next);
    (ends.count() as u64).wrapping_add(1)
}

/// Encodes the ends of runs and their values.
fn runs<T: Word>(values: &[T], prim: Prim, valid: Option<&Bitmap>, inner: Encodings) -> Array {
    let (mut ends, mut kept, mut there) = (Vec::new(), Vec::<T>::new(), Bitmap::default());
    let is_valid = |i: usize| valid.is_none_or(|valid| valid.get(i));
    integers::run_ends(values.iter().enumerate().map(|(i, value)| (value, is_valid(i))), |i| {
        ends.push((i as u64).saturating_add(1));
        kept.extend(values.get(i));
        there.push(is_valid(i));
    });
    let some = valid.is_some().then_some(&there);
    let values = encode(&Narrow::of_bits(prim, &kept), some, inner);
    run_end::write::runs(ends.len(), unsigned(&ends, inner), values)
}

/// Encodes the run of each row in its block of 1,024 rows, and the values of the runs.
fn block_runs<T: Word>(values: &[T], prim: Prim, valid: Option<&Bitmap>, inner: Encodings) -> Array {
    let mut numbers = vec![0; values.len().next_multiple_of(fastlanes::BLOCK)];
    let (mut kept, mut starts) = (Vec::<T>::new(), Vec::new());
    fastlanes::number_runs(values, &mut numbers, |i| {
        if i.is_multiple_of(fastlanes::BLOCK) {
            starts.push(kept.len() as u64);
        }
        kept.extend(values.get(i));
    });
    // The rows after the last one may have any validity.
    let valid = valid.map(|valid| {
        let mut padded = valid.clone();
        padded.append(&Bitmap::filled(numbers.len().saturating_sub(values.len()), true));
        padded
    });
    let wide: Vec<u64> = numbers.iter().map(|number| u64::from(*number)).collect();
    let (narrow, indices_prim) = Narrow::unsigned(&wide);
    let indices = (encode(&narrow, valid.as_ref(), inner), indices_prim);
    let values = encode(&Narrow::of_bits(prim, &kept), None, inner);
    rle::write::runs((values, kept.len()), (indices, numbers.len()), (unsigned(&starts, inner), starts.len()))
}

/// Returns signed numbers by zigzag.
fn folded<T: Word>(values: &[T]) -> Vec<T> {
    let mut folded = values.to_vec();
    if let Some(cells) = Cells::of(bytemuck::cast_slice_mut(&mut folded), size_of::<T>()) {
        integers::zigzag(cells);
    }
    folded
}

const fn unsigned_of(prim: Prim) -> Prim {
    match prim {
        Prim::I8 => Prim::U8,
        Prim::I16 => Prim::U16,
        Prim::I32 => Prim::U32,
        Prim::I64 => Prim::U64,
        other => other,
    }
}

/// Returns the best width of differences from `reference`.
fn width_of<T: Word>(values: &[T], reference: T) -> Width {
    let mut counts = [0; 65];
    fastlanes::count_widths(values, reference, &mut counts);
    let index: u64 = if values.len() > 1 << 16 { 4 } else { 2 };
    fastlanes::best_width(&counts, index.saturating_add(u64::from(T::BITS / 8)))
}

/// Packs differences from `least`.
fn pack<T: Word>(values: &[T], (prim, least): (Prim, T), width: u32, valid: Option<&Bitmap>) -> Array {
    let len = fastlanes::packed_len(blocks(values.len() as u64), width);
    let mut packed = vec![0; usize::try_from(len).unwrap_or(0)];
    // The buffer has the length that this width needs.
    let _ = fastlanes::pack(values, least, width, &mut packed);
    let (mut at, mut others) = (Vec::new(), Vec::new());
    fastlanes::wider(values, least, width, |i| {
        at.push(i as u64);
        others.extend(values.get(i).map(|value| value.minus(least)));
    });
    let others = plain::write::primitive(&Narrow::of_bits(prim, &others), None);
    let (patches, valid) = (Patches::new(&at, others), plain::write::validity(valid));
    let array = bit_packed::write::packed(packed, width, (T::BITS / 8) as usize, patches, valid);
    if least == T::default() {
        return array;
    }
    let least = sign_extended(least.wide(), T::BITS, signed(prim));
    frame_of_reference::write::differences(scalar::integer(prim, least), array)
}
