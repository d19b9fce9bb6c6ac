//! Writing Filo vectors.

use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{Spans, Validity, VarBytes};
use pilaster::error::{Error, Kind, Result, What};
use pilaster::filo::Packing;
use pilaster::filo::write::Line;
use pilaster::filo::write::append::{
    Append, Booleans, DateTimes, Doubles, FixedMax, Floats, Ints, Lines, Longs, SimpleStrings, Timestamps, Utf8s,
};
use pilaster::filo::write::{Plain, Rows, Strings, encode, encode_auto};
use pilaster::filo::{Element, Encoding};
use pilaster::unstable::filo::original::{Original, encode_like_original};

use crate::Call;
use crate::filo::element;

/// Returns plausible readings of a sensor, one per four bytes. Every eighth one is missing.
fn readings(bytes: &[u8]) -> impl Iterator<Item = Option<i32>> + Clone {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| Some(i32::from_le_bytes(*word) >> 18)).enumerate().map(|(i, v)| v.filter(|_| i & 7 != 7))
}

/// Writes ints row by row, like a logger.
#[inline(never)]
pub fn ints(call: Call<'_>) -> Result<u32> {
    let mut ints = Ints::masked(call.memory, Packing::I16)?;
    for reading in readings(call.bytes) {
        match reading {
            Some(value) => ints.push(value)?,
            None => ints.push_na()?,
        }
    }
    Ok(ints.finish()?.len() as u32)
}

/// Writes longs near a line row by row, like the times of a clock.
#[inline(never)]
pub fn lines(call: Call<'_>) -> Result<u32> {
    let line = Line { base: 0, slope: call.row.cast_signed() };
    let mut lines = Lines::new(call.memory, line, Packing::I16)?;
    for reading in readings(call.bytes) {
        lines.push(reading.unwrap_or(0).into())?;
    }
    Ok(lines.finish()?.len() as u32)
}

/// All other writers that append row by row.
#[inline(never)]
pub fn rows(call: Call<'_>) -> Result<u32> {
    let (memory, packing) = (call.memory, packing(call.row));
    macro_rules! append {
        ($writer:expr, $value:ident => $as:expr) => {{
            let mut writer = $writer;
            for reading in readings(call.bytes) {
                match reading {
                    Some($value) => writer.push($as)?,
                    None => writer.push_na()?,
                }
            }
            writer.finish()?.len()
        }};
    }
    let len = match element(call.kind) {
        Element::Boolean => append!(Booleans::new(memory)?, v => v & 1 == 1),
        Element::Int => append!(Ints::masked(memory, packing)?, v => v),
        Element::Long => append!(Longs::masked(memory, packing)?, v => v.into()),
        Element::Float => append!(Floats::new(memory)?, v => f32::from_bits(v.cast_unsigned())),
        Element::Double => append!(Doubles::masked(memory, packing)?, v => v.into()),
        Element::Timestamp => append!(Timestamps::new(memory, -10_000, packing)?, v => v.into()),
        Element::DateTime => append!(DateTimes::new(memory, -10_000, 900_000, packing)?, v => v.into()),
        Element::String => append!(SimpleStrings::new(memory, 64)?, v => if v & 1 == 1 { "odd" } else { "" }),
        Element::Utf8 => append!(Utf8s::new(memory, 64)?, v => &v.to_le_bytes()),
        Element::Blob => append!(FixedMax::new(memory, 4)?, v => &v.to_le_bytes()),
    };
    Ok(len as u32)
}

fn packing(row: u32) -> Packing {
    match row {
        0 => Packing::I16,
        1 => Packing::U4,
        2 => Packing::W64,
        _ => Packing::I32,
    }
}

fn encoding(row: u32) -> Encoding {
    let packing = packing(row & 3);
    match row >> 2 {
        0 => Encoding::Simple(packing),
        1 => Encoding::Const(packing),
        2 => Encoding::Diff(packing),
        3 => Encoding::DiffDateTime { millis: packing, zones: Some(packing) },
        4 => Encoding::SimpleString,
        5 => Encoding::ConstString,
        6 => Encoding::DictString(packing),
        7 => Encoding::Packed(packing),
        8 => Encoding::Masked(packing),
        9 => Encoding::Repeated,
        10 => Encoding::DeltaDelta(packing),
        11 => Encoding::Utf8,
        12 => Encoding::FixedMaxUtf8,
        13 => Encoding::DictUtf8(packing),
        _ => Encoding::Empty,
    }
}

/// Passes rows of any type to `write`, with memory for a chunk and scratch memory.
fn with_rows(
    call: Call<'_>,
    write: impl FnOnce(&Rows<'_>, &mut [u8], &mut Scratch<'_>) -> Result<usize>,
) -> Result<u32> {
    const ROWS: usize = 40;
    let mut scratch = Scratch::new(call.memory);
    let dst = scratch.take::<u8>(1000)?;
    let longs = scratch.take::<i64>(ROWS)?;
    let ints = scratch.take::<i32>(ROWS)?;
    for ((long, int), reading) in longs.iter_mut().zip(&mut *ints).zip(readings(call.bytes).cycle()) {
        *int = reading.unwrap_or(1 << 20);
        *long = i64::from(*int).wrapping_mul(900_000);
    }
    let offsets = scratch.take::<i32>(ROWS)?;
    offsets.fill(900_000);
    let data = call.bytes.get(..ROWS * 3).ok_or(Error::new(Kind::Truncated, What::INPUT, 0))?;
    let strings = Strings::Spans(VarBytes { data, spans: Spans::Stride { count: ROWS, len: 3 } });
    let bits = Bits::new(call.bytes, 0, ROWS)?;
    let values = match element(call.kind) {
        Element::Boolean => Plain::Boolean(bits),
        Element::Int => Plain::Int(ints),
        Element::Long => Plain::Long(longs),
        Element::Timestamp => Plain::Timestamp(longs),
        Element::Float => {
            let floats = scratch.take::<f32>(ROWS)?;
            floats.iter_mut().zip(ints).for_each(|(float, int)| *float = f32::from_bits(int.cast_unsigned()));
            Plain::Float(floats)
        }
        Element::Double => {
            let doubles = scratch.take::<f64>(ROWS)?;
            doubles.iter_mut().zip(ints).for_each(|(double, int)| *double = f64::from(*int));
            Plain::Double(doubles)
        }
        Element::DateTime => Plain::DateTime { millis: longs, offsets },
        Element::String => Plain::String(strings),
        Element::Utf8 => Plain::Utf8(strings),
        Element::Blob => Plain::Blob(strings),
    };
    let validity = if call.row & 64 == 0 { Validity::All } else { Validity::Bits(bits) };
    Ok(write(&Rows { values, validity }, dst, &mut scratch)? as u32)
}

/// Writes rows of any type in any encoding.
#[inline(never)]
pub fn any(call: Call<'_>) -> Result<u32> {
    let encoding = encoding(call.row & 63);
    with_rows(call, |rows, dst, scratch| encode(encoding, rows, dst, scratch))
}

/// Writes rows of any type in the smallest encoding.
#[inline(never)]
pub fn auto(call: Call<'_>) -> Result<u32> {
    with_rows(call, encode_auto)
}

/// Writes rows of any type in the encoding that the original chooses.
#[inline(never)]
pub fn like_original(call: Call<'_>) -> Result<u32> {
    with_rows(call, |rows, dst, scratch| encode_like_original(rows, Original::default(), dst, scratch))
}
