//! The choice of an encoding for the rows of any type.

use alloc::vec::Vec;

use super::array::Array;
use super::dtype::{Logical, Shape};
use super::packing::Learned;
use super::rows::{Bitmap, Data, Numbers, Rows, Texts};
use super::word::Narrow;
use super::{Encodings, WriteOptions, floats, integers, scalar, texts};
use crate::column::{Prim, Unit};
#[cfg(feature = "vortex-variant")]
use crate::vortex::encodings::variant;
use crate::vortex::encodings::{
    constant, date_time_parts, decimal, decimal_byte_parts, list, plain, structure, var_bin, var_bin_view, wrapped,
};
use crate::vortex::raw::{Calendar, Encoding};

/// Encodes rows of type `ty`. `learned`: what chunks before have taught, and now this one.
pub(super) fn encode(rows: &Rows, ty: &Logical, how: &WriteOptions, learned: &mut Learned) -> Array {
    let Some(extension) = &ty.extension else { return stored(rows, ty, how, learned) };
    let can_be_cut = extension.id == Calendar::Timestamp && how.allowed().has(Encoding::DateTimeParts);
    if !can_be_cut || rows.nulls() == rows.len {
        return wrapped::write::extension(stored(rows, ty, how, learned));
    }
    let is_new = learned.is_new_chunk();
    match parts(rows, extension.unit, how) {
        Some(parts) if learned.in_parts && !is_new => parts,
        parts => {
            let array = wrapped::write::extension(stored(rows, ty, how, learned)).or_smaller(parts);
            learned.in_parts = array.encoding == Encoding::DateTimeParts;
            array
        }
    }
}

/// Returns an array of the same scalar in every row that has a value; `None` if only some have one, and a constant with
/// missing rows is not allowed.
pub(super) fn constant(scalar: Vec<u8>, valid: Option<&Bitmap>, allowed: Encodings) -> Option<Array> {
    let array = constant::write::constant(scalar);
    match plain::write::validity(valid) {
        None => Some(array),
        Some(valid) => allowed.has(Encoding::Masked).then(|| wrapped::write::masked(array, valid)),
    }
}

/// Encodes rows of a storage type.
fn stored(rows: &Rows, ty: &Logical, how: &WriteOptions, learned: &mut Learned) -> Array {
    let (valid, allowed) = (rows.valid.as_ref(), how.allowed());
    let present = || plain::write::validity(valid);
    if matches!(rows.data, Data::Null) {
        return plain::write::null();
    }
    if rows.len > 0 && rows.nulls() == rows.len {
        return constant::write::constant(scalar::null());
    }
    match &rows.data {
        Data::Null => plain::write::null(),
        Data::Bool(values) => booleans(values, valid, allowed),
        Data::Numbers(numbers) => match ty.shape {
            Shape::Decimal { .. } => decimals(numbers, valid, how),
            _ if matches!(numbers, Numbers::F16(_) | Numbers::F32(_) | Numbers::F64(_)) => {
                floats::encode(numbers, valid, how)
            }
            _ => integers::encode(numbers, valid, allowed),
        },
        Data::Texts(all) => texts::encode(all, valid, ty.shape == Shape::Utf8, how, learned),
        Data::List(ends, items) => match (&ty.shape, ty.entry()) {
            (_, Some(entry)) => {
                let view = list_view((encode(items, &entry, how, learned), items.len), ends, present(), allowed);
                wrapped::write::map(view)
            }
            (Shape::List(item), _) => {
                let offsets = offsets(ends, allowed);
                list::write::list(encode(items, item, how, learned), items.len, offsets, present())
            }
            _ => plain::write::null(),
        },
        Data::Fixed(_, items) => match &ty.shape {
            Shape::FixedList(_, item) => list::write::fixed(encode(items, item, how, learned), present()),
            _ => plain::write::null(),
        },
        Data::Struct(fields) => match &ty.shape {
            Shape::Struct(types) => {
                let learned = learned.fields(fields.len());
                let fields = fields.iter().zip(types).zip(learned);
                let fields = fields.map(|((field, (_, ty)), learned)| encode(field, ty, how, learned));
                structure::write::structure(fields.collect(), present())
            }
            #[cfg(feature = "vortex-variant")]
            Shape::Variant(types) => {
                let learned = learned.fields(fields.len());
                let parts = fields.iter().zip(&**types).zip(learned);
                let parts = parts.map(|((part, ty), learned)| encode(part, ty, how, learned));
                variant::write::variant(parts.collect(), present())
            }
            _ => plain::write::null(),
        },
    }
}

fn booleans(values: &Bitmap, valid: Option<&Bitmap>, allowed: Encodings) -> Array {
    let is = |bit: bool| values.iter().enumerate().all(|(i, value)| value == bit || valid.is_some_and(|v| !v.get(i)));
    for bit in [false, true] {
        if values.len > 0
            && is(bit)
            && let Some(constant) = constant(scalar::boolean(bit), valid, allowed)
        {
            return constant;
        }
    }
    plain::write::bits(values, plain::write::validity(valid))
}

/// Encodes offsets: 0, and the end of each item.
pub(super) fn offsets(ends: &[u64], allowed: Encodings) -> (Array, Prim) {
    let all: Vec<u64> = core::iter::once(0).chain(ends.iter().copied()).collect();
    integers::unsigned(&all, allowed.without(Encoding::Sparse))
}

fn list_view((items, len): (Array, usize), ends: &[u64], valid: Option<Array>, allowed: Encodings) -> Array {
    let starts: Vec<u64> = core::iter::once(0).chain(ends.iter().copied()).take(ends.len()).collect();
    let sizes: Vec<u64> = starts.iter().zip(ends).map(|(start, end)| end.saturating_sub(*start)).collect();
    let starts = integers::unsigned(&starts, allowed.without(Encoding::Sparse));
    list::write::list_view(items, len, starts, integers::unsigned(&sizes, allowed), valid)
}

/// Encodes decimals as integers if all have at most 64 bits.
fn decimals(numbers: &Numbers, valid: Option<&Bitmap>, how: &WriteOptions) -> Array {
    let allowed = how.allowed();
    let parts = match allowed.has(Encoding::DecimalByteParts) {
        true if how.profile.edition().narrow_decimals => integers_of(numbers).map(|values| Narrow::signed(&values)),
        true => stored_integers(numbers),
        false => None,
    };
    match parts {
        Some((parts, prim)) => decimal_byte_parts::write::parts((integers::encode(&parts, valid, allowed), prim)),
        None => decimal::write::decimal(numbers, plain::write::validity(valid)),
    }
}

/// Returns the integers of decimals if all have at most 64 bits.
fn integers_of(numbers: &Numbers) -> Option<Vec<i64>> {
    match numbers {
        Numbers::I8(values) => Some(values.iter().map(|value| i64::from(*value)).collect()),
        Numbers::I16(values) => Some(values.iter().map(|value| i64::from(*value)).collect()),
        Numbers::I32(values) => Some(values.iter().map(|value| i64::from(*value)).collect()),
        Numbers::I64(values) => Some(values.clone()),
        Numbers::I128(values) => values.iter().map(|value| i64::try_from(*value).ok()).collect(),
        Numbers::I256(values) => values.iter().map(low).collect(),
        _ => None,
    }
}

/// Returns decimals whose digits need at most 64 bits, in the width that the digits need.
fn stored_integers(numbers: &Numbers) -> Option<(Numbers, Prim)> {
    let prim = match numbers {
        Numbers::I8(_) => Prim::I8,
        Numbers::I16(_) => Prim::I16,
        Numbers::I32(_) => Prim::I32,
        Numbers::I64(_) => Prim::I64,
        _ => return None,
    };
    Some((numbers.clone(), prim))
}

/// Returns a number of 256 bits if it has at most 64.
fn low(words: &[u64; 4]) -> Option<i64> {
    let [low, high @ ..] = *words;
    let low = low.cast_signed();
    let sign = (low >> 63).cast_unsigned();
    (high == [sign; 3]).then_some(low)
}

/// Encodes timestamps as days, seconds and fractions.
fn parts(rows: &Rows, unit: Unit, how: &WriteOptions) -> Option<Array> {
    let Data::Numbers(Numbers::I64(values)) = &rows.data else { return None };
    let second: i64 = match unit {
        Unit::Second => 1,
        Unit::Milli => 1_000,
        Unit::Micro => 1_000_000,
        Unit::Nano => 1_000_000_000,
        _ => return None,
    };
    let day = second.checked_mul(86_400)?;
    // Missing rows are on the day of the row before them, so that they end no run.
    let mut last = values.iter().enumerate().find(|(i, _)| rows.has(*i)).map_or(0, |(_, value)| *value);
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for (i, value) in values.iter().enumerate() {
        if rows.has(i) {
            last = *value;
        }
        if last < 0 && !how.profile.edition().negative_parts {
            return None;
        }
        let (days, rest) = (last.checked_div(day)?, last.checked_rem(day)?);
        let parts = [days, rest.checked_div(second)?, rest.checked_rem(second)?];
        all.iter_mut().zip(parts).for_each(|(to, part)| to.push(part));
    }
    let [days, seconds, fractions] = all;
    let encoded = |values: &[i64], valid| {
        let (numbers, prim) = Narrow::signed(values);
        (integers::encode(&numbers, valid, how.allowed()), prim)
    };
    let days = encoded(&days, rows.valid.as_ref());
    Some(date_time_parts::write::parts([days, encoded(&seconds, None), encoded(&fractions, None)]))
}

/// Encodes texts in one buffer with their offsets, or a few short ones as views.
pub(super) fn plain_texts(all: &Texts, valid: Option<&Bitmap>, allowed: Encodings) -> Array {
    let validity = || plain::write::validity(valid);
    let joined = var_bin::write::texts(all.bytes.clone(), offsets(&all.ends, allowed), validity());
    if !allowed.has(Encoding::VarBinView) || all.ends.len() > FEW {
        return joined;
    }
    match var_bin_view::write::views(all.iter(), validity()) {
        Some(views) if views.size() < joined.size().saturating_add(OFFSETS) => views,
        _ => joined,
    }
}

/// Encodes the distinct texts of a chunk. From texts in one buffer the original selects rows slowly: its scan of a list column
/// took 3.5 times as long.
pub(super) fn distinct_texts(all: &Texts, valid: Option<&Bitmap>, allowed: Encodings) -> Array {
    let views = || var_bin_view::write::views(all.iter(), plain::write::validity(valid));
    if allowed.has(Encoding::VarBinView)
        && all.ends.len() <= SOME
        && let Some(views) = views()
    {
        return views;
    }
    plain_texts(all, valid, allowed)
}

/// Number of distinct texts of a chunk that are views, of 16 bytes each: a kilobyte in a chunk of a megabyte.
const SOME: usize = 64;
/// Number of other texts that may be views.
const FEW: usize = 16;
/// Size in bytes of the node of the offsets, which views do not have.
const OFFSETS: u64 = 60;
