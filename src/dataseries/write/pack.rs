//! Packing of the records of an extent, in place (section 8).
//!
//! The format description packs record by record, and so do types known at compile time. Packing field by field
//! gives the same result if fields that are relative to another field are packed before all others, the last field
//! first, because their bases are then still unpacked.

// Without the inline attributes of this file the image `dataseries_write` takes 5,796 B instead of 4,064.

use zerocopy::byteorder::{F64, I32, I64};

use crate::bytes::{Endian, STRICT};
use crate::dataseries::layout::{Bit, FieldType, Layout};
use crate::dataseries::types::{FieldRecord, Relative};

/// A field of the records that are packed. All methods are inlined, so that for a field known at compile time
/// only the steps that it needs remain.
pub struct Cells<'f> {
    field: &'f FieldRecord,
    /// With null compaction, nulls are zeroed first and then take no part in packing.
    compact: bool,
    /// Whether doubles can be relative. Without, no addition of doubles is in the image.
    differences: bool,
}

impl<'f> Cells<'f> {
    /// The cells of `field`.
    #[inline(always)]
    #[must_use]
    pub const fn of(field: &'f FieldRecord, compact: bool) -> Self {
        Cells { field, compact, differences: true }
    }

    #[inline(always)]
    fn at(&self) -> usize {
        self.field.slot().at as usize
    }

    /// Returns whether the cell of this record takes part in packing.
    #[inline(always)]
    fn has(&self, record: &[u8]) -> bool {
        let skip = if self.compact { self.field.null() } else { None };
        !skip.is_some_and(|bit| is_set(record, bit))
    }

    /// Zeroes the cell of a null under null compaction (section 8.1). A bool keeps its bit.
    #[inline(always)]
    pub fn zero_null(&self, record: &mut [u8]) {
        let (true, Some(null)) = (self.compact, self.field.null()) else { return };
        let (at, size) = (self.at(), self.field.ty().size() as usize);
        if is_set(record, null)
            && let Some(cell) = record.get_mut(at..).and_then(|cells| cells.get_mut(..size))
        {
            cell.fill(0);
        }
    }

    /// Makes the cell relative to the cell of `base` (section 8.2).
    #[inline(always)]
    pub fn subtract<E: Endian>(&self, record: &mut [u8], base: &FieldRecord) {
        let base = base.slot().at as usize;
        match self.field.ty() {
            FieldType::Int32 => self.subtract_as::<i32, E>(record, base),
            FieldType::Int64 => self.subtract_as::<i64, E>(record, base),
            FieldType::Double if self.differences => self.subtract_as::<f64, E>(record, base),
            _ => {}
        }
    }

    #[inline(always)]
    fn subtract_as<N: Number, E: Endian>(&self, record: &mut [u8], base: usize) {
        let at = self.at();
        if self.has(record)
            && let (Some(value), Some(base)) = (N::load::<E>(record, at), N::load::<E>(record, base))
        {
            value.minus(base).store::<E>(record, at);
        }
    }

    /// Makes the cell relative to the previous record, whose value is in `before`, if `own`, and scales it (sections
    /// 8.3 and 8.4).
    #[inline(always)]
    pub fn pack<E: Endian>(&self, record: &mut [u8], own: bool, before: &mut Before) {
        let by = self.field.multiplier();
        let Before { int32, int64, double } = before;
        match (self.field.ty(), own, self.field.scale().is_some()) {
            (FieldType::Int32, true, _) => self.pack_as::<i32, E>(record, int32, |v, before| v.wrapping_sub(before)),
            (FieldType::Int64, true, _) => self.pack_as::<i64, E>(record, int64, |v, before| v.wrapping_sub(before)),
            (FieldType::Double, true, true) if self.differences => {
                self.pack_as::<f64, E>(record, double, |v, before| {
                    if SOFT && is_same(v, before, by) { 0.0 } else { round((v - before) * by) }
                })
            }
            (FieldType::Double, true, false) if self.differences => {
                self.pack_as::<f64, E>(record, double, |v, before| v - before);
            }
            (FieldType::Double, false, true) => self.pack_as::<f64, E>(record, double, |v, _| round(v * by)),
            _ => {}
        }
    }

    #[inline(always)]
    fn pack_as<N: Number, E: Endian>(&self, record: &mut [u8], before: &mut N, pack: impl Fn(N, N) -> N) {
        let at = self.at();
        if self.has(record)
            && let Some(value) = N::load::<E>(record, at)
        {
            pack(value, *before).store::<E>(record, at);
            *before = value;
        }
    }
}

/// The value of a field in the previous record. Only the member of the field's type is used.
#[derive(Default)]
pub struct Before {
    int32: i32,
    int64: i64,
    double: f64,
}

/// Whether a call of [`is_same`] pays. Sensor values recur, and without double arithmetic in hardware, as on most
/// targets of small code, the arithmetic takes a hundred instructions.
const SOFT: bool = cfg!(pilaster_small);

/// Returns true only if the difference of two values times `by` is 0; needs no floating-point arithmetic.
#[inline(always)]
fn is_same(value: f64, before: f64, by: f64) -> bool {
    by > 0.0 && by.is_finite() && value.to_bits() == before.to_bits() && value.is_finite()
}

/// The records, without the division in `chunks_exact_mut`.
#[inline(always)]
fn records(mut rest: &mut [u8], record_len: usize) -> impl Iterator<Item = &mut [u8]> {
    core::iter::from_fn(move || {
        let (record, more) = core::mem::take(&mut rest).split_at_mut_checked(record_len.max(1))?;
        rest = more;
        Some(record)
    })
}

/// Calls `pack` with each record of `N` bytes.
#[inline(always)]
pub fn each<const N: usize, const WORDS: usize>(rows: &mut [u8], mut pack: impl FnMut(&mut [u8; N])) {
    for record in records(rows, N).filter_map(|record| record.first_chunk_mut()) {
        if STRICT {
            in_words::<N, WORDS>(record, &mut pack);
        } else {
            pack(record);
        }
    }
}

/// Calls `pack` with a copy of the record in aligned words. An aligned record is copied in words, too.
#[inline(always)]
fn in_words<const N: usize, const WORDS: usize>(record: &mut [u8; N], pack: &mut impl FnMut(&mut [u8; N])) {
    let mut words = [0u32; WORDS];
    match bytemuck::try_cast_ref(record) {
        Ok(aligned) => words = *aligned,
        Err(_) => copy(record, bytemuck::bytes_of_mut(&mut words)),
    }
    if let Some(copy) = bytemuck::bytes_of_mut(&mut words).first_chunk_mut() {
        pack(copy);
    }
    match bytemuck::try_cast_mut(record) {
        Ok(aligned) => *aligned = words,
        Err(_) => copy(bytemuck::bytes_of(&words), record),
    }
}

/// Copies the bytes that both slices have.
#[inline(never)]
pub(super) fn copy(from: &[u8], to: &mut [u8]) {
    let len = from.len().min(to.len());
    if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
        to.copy_from_slice(from);
    }
}

/// A number in a cell.
trait Number: Copy {
    fn minus(self, base: Self) -> Self;
    fn load<E: Endian>(record: &[u8], at: usize) -> Option<Self>;
    fn store<E: Endian>(self, record: &mut [u8], at: usize);
}

macro_rules! numbers {
    ($($number:ty: $wrapper:ident, $minus:expr;)*) => {$(
        impl Number for $number {
            #[inline(always)]
            fn minus(self, base: Self) -> Self {
                let minus: fn($number, $number) -> $number = $minus;
                minus(self, base)
            }

            #[inline(always)]
            fn load<E: Endian>(record: &[u8], at: usize) -> Option<Self> {
                Some($wrapper::<E>::from_bytes(*record.get(at..)?.first_chunk()?).get())
            }

            #[inline(always)]
            fn store<E: Endian>(self, record: &mut [u8], at: usize) {
                if let Some(cell) = record.get_mut(at..).and_then(|cells| cells.first_chunk_mut()) {
                    *cell = $wrapper::<E>::new(self).to_bytes();
                }
            }
        }
    )*};
}

numbers! {
    i32: I32, i32::wrapping_sub;
    i64: I64, i64::wrapping_sub;
    f64: F64, |v, base| v - base;
}

/// The fields of a type known at run time, in the form in which they are stored.
pub(super) trait FieldSource {
    /// Whether doubles can be relative.
    const DIFFERENCES: bool = true;

    /// Returns the number of fields.
    fn count(&self) -> usize;
    /// Returns field `k`.
    fn field(&self, k: usize) -> Option<FieldRecord>;
}

impl FieldSource for [FieldRecord] {
    fn count(&self) -> usize {
        self.len()
    }

    fn field(&self, k: usize) -> Option<FieldRecord> {
        self.get(k).copied()
    }
}

/// Packs all records of a type known at run time, except for null compaction.
pub(super) fn pack<E: Endian, F: FieldSource + ?Sized>(fields: &F, record_len: u32, compact: bool, rows: &mut [u8]) {
    let len = record_len as usize;
    let numbered = || (0..fields.count()).filter_map(|k| Some((k, fields.field(k)?)));
    if compact {
        for (_, field) in numbered() {
            let cells = Cells::of(&field, compact);
            records(rows, len).for_each(|record| cells.zero_null(record));
        }
    }
    for (k, field) in numbered().rev() {
        if let Relative::To(base) = field.relative(k)
            && let Some(base) = fields.field(base as usize)
        {
            let cells = Cells { differences: F::DIFFERENCES, ..Cells::of(&field, compact) };
            records(rows, len).for_each(|record| cells.subtract::<E>(record, &base));
        }
    }
    for (k, field) in numbered() {
        let cells = Cells { differences: F::DIFFERENCES, ..Cells::of(&field, compact) };
        let (own, mut before) = (field.relative(k) == Relative::Own, Before::default());
        records(rows, len).for_each(|record| cells.pack::<E>(record, own, &mut before));
    }
}

/// Rounds to the nearest whole number, halves away from zero. `core` does not have this function on all targets.
#[inline]
fn round(value: f64) -> f64 {
    const FRACTION: u32 = f64::MANTISSA_DIGITS.saturating_sub(1);
    const BELOW_ONE: u32 = 1022;
    let bits = value.to_bits();
    let sign = bits & (1 << 63);
    #[allow(clippy::cast_possible_truncation, reason = "11 bits")]
    let exponent = (bits >> FRACTION) as u32 & 0x7ff;
    f64::from_bits(match exponent.wrapping_sub(BELOW_ONE) {
        0 => sign | 1.0f64.to_bits(),
        // A carry out of the fraction correctly increments the exponent.
        whole @ 1..=FRACTION => {
            let left = FRACTION.wrapping_add(1).wrapping_sub(whole);
            let up = 1u64.wrapping_shl(left) >> 1;
            bits.wrapping_add(up).wrapping_shr(left).wrapping_shl(left)
        }
        // Already a whole number, or infinite, or not a number.
        _ if exponent > BELOW_ONE => bits,
        _ => sign,
    })
}

/// The fields in the order of their cells in a compacted record: by group, and within a group as declared.
#[allow(clippy::indexing_slicing, reason = "runs in the compiler only")]
#[must_use]
pub const fn grouped<const N: usize>(fields: &[FieldRecord; N]) -> [FieldRecord; N] {
    let mut sorted = *fields;
    let (mut to, mut wanted) = (0usize, 0u8);
    while wanted <= 4 {
        let mut k = 0usize;
        while k < N {
            if fields[k].ty().group() == wanted {
                sorted[to] = fields[k];
                to = to.saturating_add(1);
            }
            k = k.saturating_add(1);
        }
        wanted = wanted.saturating_add(1);
    }
    sorted
}

/// Removes the null cells of a type known at run time (section 8.6), in place. Returns the remaining length in
/// bytes.
pub(super) fn compact(fields: &[FieldRecord], layout: Layout, rows: &mut [u8]) -> usize {
    let groups = 1..=4;
    let of = |wanted| fields.iter().filter(move |field| field.ty().group() == wanted);
    compact_grouped(groups.flat_map(of), layout, rows)
}

/// Like `compact`, with the fields in the order of their cells.
///
/// Bytes move only towards the start, because the output is never longer than the records so far, the offset of a
/// cell in the output is monotonic in the offset of its record, and both have the cells in the same order.
#[inline(always)]
pub fn compact_grouped<'f>(
    fields: impl Iterator<Item = &'f FieldRecord> + Clone,
    layout: Layout,
    rows: &mut [u8],
) -> usize {
    let (record_len, prefix) = (layout.record_len().max(1) as usize, layout.compact_prefix() as usize);
    let (mut from, mut to) = (0usize, 0usize);
    while from < rows.len() {
        let bits = to;
        shift(rows, from, to, prefix);
        to = to.wrapping_add(prefix);
        for field in fields.clone() {
            // Reads the copy of the bits, because the original may be overwritten by now.
            if field.null().is_some_and(|bit| rows.get(bits..).is_some_and(|record| is_set(record, bit))) {
                continue;
            }
            let cell = from.wrapping_add(field.slot().at as usize);
            to = match field.ty().group() {
                0 => to,
                1 => place::<1>(rows, cell, to),
                2 | 3 => place::<4>(rows, cell, to),
                _ => place::<8>(rows, cell, to),
            };
        }
        from = from.wrapping_add(record_len);
    }
    to
}

/// Moves a cell down to its aligned offset at or after `to`, and zeroes the padding before it. Returns the end of
/// the cell.
#[inline(always)]
fn place<const N: usize>(rows: &mut [u8], cell: usize, to: usize) -> usize {
    let below = N.wrapping_sub(1);
    let start = to.wrapping_add(below) & !below;
    let Some(value) = rows.get(cell..).and_then(|cells| cells.first_chunk::<N>()).copied() else { return to };
    let pad = start.wrapping_sub(to);
    // At most three stores, which are faster than `fill` for at most 7 bytes.
    let at = zero::<1>(rows, to, pad);
    let at = zero::<2>(rows, at, pad);
    zero::<4>(rows, at, pad);
    if let Some(to) = rows.get_mut(start..).and_then(|cells| cells.first_chunk_mut()) {
        *to = value;
    }
    start.wrapping_add(N)
}

/// Zeroes `N` bytes at `at` if `pad & N` is not 0. Returns the offset after them.
#[inline(always)]
fn zero<const N: usize>(rows: &mut [u8], at: usize, pad: usize) -> usize {
    if pad & N == 0 {
        return at;
    }
    if let Some(to) = rows.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>()) {
        *to = [0; N];
    }
    at.wrapping_add(N)
}

#[inline(always)]
fn shift(rows: &mut [u8], from: usize, to: usize, len: usize) {
    // Most types have only one byte of bits.
    if len == 1 {
        if let Some(byte) = rows.get(from).copied()
            && let Some(to) = rows.get_mut(to)
        {
            *to = byte;
        }
        return;
    }
    let end = from.saturating_add(len);
    if to <= from && end <= rows.len() {
        rows.copy_within(from..end, to);
    }
}

#[inline(always)]
fn is_set(record: &[u8], bit: Bit) -> bool {
    record.get(bit.at as usize).is_some_and(|byte| byte & bit.mask != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_differs_by_zero() {
        let edges = [0.0, -0.0, 1e-310, 0.1, -21.5, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let mut same = 0;
        for (value, before) in edges.into_iter().flat_map(|value| edges.map(|before| (value, before))) {
            for by in [10.0, 1e300, -10.0, 0.0, f64::INFINITY, f64::NAN] {
                if is_same(value, before, by) {
                    assert_eq!(round((value - before) * by).to_bits(), 0, "{value:?} {before:?} {by:?}");
                    same += 1;
                }
            }
        }
        assert_eq!(same, 7 * 2, "finite ones, by a finite number above 0");
    }

    #[test]
    fn records_are_packed_wherever_they_lie() {
        fn held<const N: usize, const WORDS: usize>() {
            let mut memory = [0u32; 8];
            for at in 0..4 {
                let bytes = bytemuck::bytes_of_mut(&mut memory);
                (0u8..).zip(&mut *bytes).for_each(|(n, byte)| *byte = n);
                let record = bytes[at..].first_chunk_mut::<N>().unwrap();
                in_words::<N, WORDS>(record, &mut |cells| cells.reverse());
                let (low, high) = (at as u8, (at + N) as u8);
                assert!(record.iter().copied().eq((low..high).rev()), "{N} bytes at {at}");
                assert!(bytes[..at].iter().copied().eq(0..low) && bytes[at + N..].iter().copied().eq(high..32));
            }
        }
        held::<3, 1>();
        held::<8, 2>();
        held::<13, 4>();
        held::<24, 6>();
    }

    #[test]
    fn halves_go_away_from_zero() {
        let edges = [
            0.0,
            0.25,
            0.5,
            0.75,
            1.0,
            1.5,
            2.5,
            2.4999999999999996,
            0.49999999999999994,
            4503599627370495.5,
            4503599627370496.5,
            9007199254740993.0,
            1e300,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
        ];
        for edge in edges {
            for value in [edge, -edge] {
                assert_eq!(round(value).to_bits(), value.round().to_bits(), "{value:?}");
            }
        }
        assert!(round(f64::NAN).is_nan());
        let mut bits = 1u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Exponents from 2^-3 to 2^60.
            let value = f64::from_bits(bits & !(0x7ff << 52) | (1020 + (bits >> 57) % 64) << 52);
            assert_eq!(round(value).to_bits(), value.round().to_bits(), "{value:?}");
        }
    }
}
