//! Jay: opens a file, reads a column, a row, or everything.

use pilaster::bytes::Scratch;
use pilaster::column::{Column, Part, Validity, Value, Values, fit};
use pilaster::error::Result;
use pilaster::jay::{File, ReadOptions};
use pilaster::limits::Limits;

use crate::Call;

const OPTIONS: ReadOptions = ReadOptions { limits: Limits::SMALL, ..ReadOptions::DEFAULT };

/// Checks the metadata.
#[inline(never)]
pub fn open(call: Call<'_>) -> Result<u32> {
    let file = File::open(call.bytes, &OPTIONS, &mut Scratch::new(call.memory))?;
    Ok(file.rows() as u32 ^ file.width() as u32)
}

/// Reads column `kind` batch by batch in the memory of the call.
#[inline(never)]
pub fn read(call: Call<'_>) -> Result<u32> {
    let file = File::open(call.bytes, &OPTIONS, &mut Scratch::new(call.memory))?;
    let column = file.column(call.kind as usize)?;
    let mut scratch = Scratch::new(call.memory);
    let (mut row, mut sum) = (0, 0u32);
    while row < column.rows() {
        let mut inner = scratch.scope();
        let rows = fit(&column, row..column.rows(), inner.room())?;
        let batch = column.read(rows, &mut inner)?;
        sum = sum.rotate_left(1) ^ digest(&batch.values) ^ batch.validity.nulls(batch.len) as u32;
        if let Validity::None = batch.validity {
            sum ^= 1;
        }
        row = row.saturating_add((batch.len as u64).max(1));
    }
    Ok(sum)
}

/// Reads row `row` of column `kind`.
#[inline(never)]
pub fn get(call: Call<'_>) -> Result<u32> {
    let file = File::open(call.bytes, &OPTIONS, &mut Scratch::new(call.memory))?;
    Ok(match file.column(call.kind as usize)?.get(call.row.into())? {
        Value::Null | Value::Int256(_) | Value::F16(_) => 0,
        Value::Bool(v) => v.into(),
        Value::Int(v) => v as u32,
        Value::F32(v) => v.to_bits(),
        Value::F64(v) => v.to_bits() as u32,
        Value::Text(v) | Value::Bytes(v) => v.len() as u32,
        Value::Nested(v) => v.end as u32,
    })
}

/// Verifies everything.
#[inline(never)]
pub fn verify(call: Call<'_>) -> Result<u32> {
    let file = File::open(call.bytes, &OPTIONS, &mut Scratch::new(call.memory))?;
    file.verify(&mut Scratch::new(call.memory)).map(|()| 1)
}

fn digest(values: &Values<'_>) -> u32 {
    match values {
        Values::Bool(bits) => bits.count_ones() as u32,
        Values::I8(v) => v.iter().fold(0, |sum, v| sum ^ *v as u32),
        Values::I16(v) => v.iter().fold(0, |sum, v| sum ^ *v as u32),
        Values::I32(v) => v.iter().fold(0, |sum, v| sum ^ *v as u32),
        Values::I64(v) => v.iter().fold(0, |sum, v| sum ^ *v as u32),
        Values::F32(v) => v.iter().fold(0, |sum, v| sum ^ v.to_bits()),
        Values::F64(v) => v.iter().fold(0, |sum, v| sum ^ v.to_bits() as u32),
        Values::Utf8(v) => v.iter().fold(0, |sum, v| sum ^ v.map_or(0, |v| v.len() as u32)),
        Values::Nested(rows) => rows.len() as u32,
        _ => 0,
    }
}
