//! Packing of the records of an extent, in place, field by field (section 8).
//!
//! The text packs record by record; field by field gives the same, as long as all that is relative to
//! another field is packed before anything else, the last field first: bases are then still plain.

use zerocopy::byteorder::{F64, I32, I64};

use super::Schema;
use crate::bytes::Endian;
use crate::dataseries::layout::{Bit, FieldType};
use crate::dataseries::types::{FieldRecord, Relative};

/// Where the cells of a field lie.
#[derive(Clone, Copy)]
struct Cells {
    record_len: usize,
    at: usize,
    /// The bit that says that a cell takes no part: with null compaction only.
    skip: Option<Bit>,
}

impl Cells {
    fn of<T: Schema>(schema: &T, field: &FieldRecord) -> Cells {
        let skip = if T::USES.compact && schema.options().compact { field.null() } else { None };
        Cells { record_len: schema.layout().record_len().max(1) as usize, at: field.slot().at as usize, skip }
    }

    /// The records that take part.
    #[inline(always)]
    fn records(self, rows: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
        rows.chunks_exact_mut(self.record_len).filter(move |record| !self.skip.is_some_and(|bit| is_set(record, bit)))
    }
}

/// A number in a cell.
trait Number: Copy {
    const ZERO: Self;
    fn minus(self, base: Self) -> Self;
    fn load<E: Endian>(record: &[u8], at: usize) -> Option<Self>;
    fn store<E: Endian>(self, record: &mut [u8], at: usize);
}

macro_rules! numbers {
    ($($number:ty: $wrapper:ident, $zero:expr, $minus:expr;)*) => {$(
        impl Number for $number {
            const ZERO: Self = $zero;

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
    i32: I32, 0, i32::wrapping_sub;
    i64: I64, 0, i64::wrapping_sub;
    f64: F64, 0.0, |v, base| v - base;
}

/// Packs all records, except for null compaction.
pub(super) fn pack<E: Endian, T: Schema>(schema: &T, rows: &mut [u8]) {
    let fields = schema.fields();
    if T::USES.compact && schema.options().compact {
        for field in fields {
            zero_nulls(rows, Cells::of(schema, field), field);
        }
    }
    if T::USES.other {
        for (k, field) in fields.iter().enumerate().rev() {
            if let Relative::To(base) = field.relative(k)
                && let Some(base) = fields.get(base as usize)
            {
                let (cells, base) = (Cells::of(schema, field), base.slot().at as usize);
                match field.ty() {
                    FieldType::Int32 if T::USES.relative32 => relative_to::<i32, E>(rows, cells, base),
                    FieldType::Int64 if T::USES.relative64 => relative_to::<i64, E>(rows, cells, base),
                    FieldType::Double if T::USES.relative_double => relative_to::<f64, E>(rows, cells, base),
                    _ => {}
                }
            }
        }
    }
    for (k, field) in fields.iter().enumerate() {
        let (cells, own) = (Cells::of(schema, field), field.relative(k) == Relative::Own);
        match field.ty() {
            FieldType::Int32 if T::USES.relative32 && own => relative::<i32, E>(rows, cells),
            FieldType::Int64 if T::USES.relative64 && own => relative::<i64, E>(rows, cells),
            FieldType::Double if T::USES.relative_double && own => relative::<f64, E>(rows, cells),
            _ => {}
        }
        if T::USES.scale && field.scale().is_some() {
            scale_by::<E>(rows, cells, field.multiplier());
        }
    }
}

/// Section 8.1. Bools keep their bit.
fn zero_nulls(rows: &mut [u8], cells: Cells, field: &FieldRecord) {
    let (Some(null), size) = (cells.skip, field.ty().size() as usize) else { return };
    for record in rows.chunks_exact_mut(cells.record_len) {
        if is_set(record, null)
            && let Some(cell) = record.get_mut(cells.at..).and_then(|cells| cells.get_mut(..size))
        {
            cell.fill(0);
        }
    }
}

/// Section 8.2.
fn relative_to<N: Number, E: Endian>(rows: &mut [u8], cells: Cells, base: usize) {
    for record in cells.records(rows) {
        if let (Some(value), Some(base)) = (N::load::<E>(record, cells.at), N::load::<E>(record, base)) {
            value.minus(base).store::<E>(record, cells.at);
        }
    }
}

/// Section 8.3.
fn relative<N: Number, E: Endian>(rows: &mut [u8], cells: Cells) {
    let mut before = N::ZERO;
    for record in cells.records(rows) {
        if let Some(value) = N::load::<E>(record, cells.at) {
            value.minus(before).store::<E>(record, cells.at);
            before = value;
        }
    }
}

/// Section 8.4.
fn scale_by<E: Endian>(rows: &mut [u8], cells: Cells, by: f64) {
    for record in cells.records(rows) {
        if let Some(value) = f64::load::<E>(record, cells.at) {
            round(value * by).store::<E>(record, cells.at);
        }
    }
}

/// To the nearest whole number, halves away from zero. `core` has no such function on all targets.
#[inline]
fn round(value: f64) -> f64 {
    const FRACTION: u32 = f64::MANTISSA_DIGITS.saturating_sub(1);
    const BIAS: u32 = 1023;
    let bits = value.to_bits();
    let sign = bits & (1 << 63);
    #[allow(clippy::cast_possible_truncation, reason = "11 bits")]
    let exponent = (bits >> FRACTION) as u32 & 0x7ff;
    match exponent.checked_sub(BIAS) {
        // Below one half; then below one.
        None if exponent < BIAS.saturating_sub(1) => f64::from_bits(sign),
        None => f64::from_bits(sign | 1.0f64.to_bits()),
        Some(whole) => match FRACTION.checked_sub(whole) {
            // Whole already, or infinite, or not a number.
            None | Some(0) => value,
            // The carry out of the fraction goes into the exponent, where it belongs.
            Some(left) => {
                let half = 1u64.wrapping_shl(left.wrapping_sub(1));
                let below = 1u64.wrapping_shl(left).wrapping_sub(1);
                f64::from_bits(bits.wrapping_add(half) & !below)
            }
        },
    }
}

/// Leaves out the null cells (section 8.6), in place; gives back the length of what is left.
///
/// No byte moves up: the stream never is longer than the records so far, each cell's place in it is
/// monotonic in where the record begins, and both have the cells in the same order.
pub(super) fn compact<T: Schema>(schema: &T, rows: &mut [u8]) -> usize {
    let (record_len, prefix) =
        (schema.layout().record_len().max(1) as usize, schema.layout().compact_prefix() as usize);
    type Group = fn(FieldType) -> bool;
    let groups: [(usize, Group); 4] = [
        (1, |ty| matches!(ty, FieldType::Byte | FieldType::FixedWidth(_))),
        (4, |ty| ty == FieldType::Int32),
        (4, |ty| ty == FieldType::Variable32),
        (8, |ty| matches!(ty, FieldType::Int64 | FieldType::Double)),
    ];
    let (mut from, mut to) = (0usize, 0usize);
    while from < rows.len() {
        let bits = to;
        shift(rows, from, to, prefix);
        to = to.saturating_add(prefix);
        for (size, group) in groups {
            for field in schema.fields().iter().filter(|field| group(field.ty())) {
                // The bits were copied; where they were may have been written over.
                let null = field.null();
                if null.is_some_and(|bit| rows.get(bits..).is_some_and(|record| is_set(record, bit))) {
                    continue;
                }
                let start = to.checked_next_multiple_of(size).unwrap_or(to);
                if let Some(padding) = rows.get_mut(to..start) {
                    padding.fill(0);
                }
                shift(rows, from.saturating_add(field.slot().at as usize), start, size);
                to = start.saturating_add(size);
            }
        }
        from = from.saturating_add(record_len);
    }
    to
}

fn shift(rows: &mut [u8], from: usize, to: usize, len: usize) {
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
