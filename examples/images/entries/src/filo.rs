//! Reading Filo vectors.

use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{Batch, Column as _, Values, fit};
use pilaster::error::Result;
use pilaster::filo::{Element, Vector};

use crate::{Call, failed};

pub(crate) fn element(kind: u32) -> Element {
    Element::ALL.get(kind as usize).copied().unwrap_or(Element::Int)
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, byte| sum.rotate_left(3) ^ u32::from(*byte))
}

/// Counts as a use of the value, whatever it is, so that reading it is not optimised away.
fn used<T>(value: T) -> u32 {
    core::hint::black_box(&value);
    1
}

fn bits(bits: Bits<'_>) -> u32 {
    bits.words().fold(0, |sum, word| sum.rotate_left(3) ^ word as u32)
}

fn batch<C>(batch: &Batch<'_, C>) -> u32 {
    match &batch.values {
        Values::I32(v) => v.iter().fold(0, |sum: u32, v| sum.wrapping_add(v.cast_unsigned())),
        Values::U32(v) => v.iter().fold(0, |sum: u32, v| sum.wrapping_add(*v)),
        Values::I64(v) => v.iter().fold(0, |sum: u32, v| sum.wrapping_add(*v as u32)),
        Values::F32(v) => v.iter().fold(0, |sum: u32, v| sum.wrapping_add(v.to_bits())),
        Values::F64(v) => v.iter().fold(0, |sum: u32, v| sum.wrapping_add(v.to_bits() as u32)),
        Values::Bool(v) => bits(*v),
        Values::Bytes(v) | Values::Utf8(v) => v.iter().fold(0, |n, v| n ^ v.map_or_else(failed, sum)),
        _ => 0,
    }
    .wrapping_add(batch.validity.nulls(batch.len) as u32)
}

/// Reads a row of any vector of any element type.
#[inline(never)]
pub fn get(call: Call<'_>) -> Result<u32> {
    Ok(used(Vector::open(call.bytes, element(call.kind))?.get(call.row.into())?))
}

/// Reads a row of an int vector; no other types are linked.
#[inline(never)]
pub fn get_int(call: Call<'_>) -> Result<u32> {
    Ok(used(Vector::open(call.bytes, Element::Int)?.get(call.row.into())?))
}

/// Reads any vector batch by batch.
#[inline(never)]
pub fn batches(call: Call<'_>) -> Result<u32> {
    let column = Vector::open(call.bytes, element(call.kind))?.column(0)?;
    let mut scratch = Scratch::new(call.memory);
    let (mut row, mut sum) = (0, 0u32);
    while row < column.rows() {
        let mut inner = scratch.scope();
        let rows = fit(&column, row..column.rows(), inner.room())?;
        let read = column.read(rows, &mut inner)?;
        sum = sum.wrapping_add(used(&read));
        row = row.saturating_add(read.len as u64);
    }
    Ok(sum)
}

/// Reads codes and values of a dictionary.
#[inline(never)]
pub fn dictionary(call: Call<'_>) -> Result<u32> {
    let column = Vector::open(call.bytes, element(call.kind))?.column(0)?;
    let Some(dictionary) = column.dictionary(call.row.into())? else { return Ok(0) };
    let mut scratch = Scratch::new(call.memory);
    let values = fit(&dictionary.values, 0..dictionary.values.rows(), scratch.room())?;
    let values = batch(&dictionary.values.read(values, &mut scratch)?);
    let codes = fit(&dictionary.codes, 0..dictionary.len, scratch.room())?;
    Ok(values ^ batch(&dictionary.codes.read(codes, &mut scratch)?))
}

/// Verifies a vector.
#[inline(never)]
pub fn verify(call: Call<'_>) -> Result<u32> {
    let vector = Vector::open(call.bytes, element(call.kind))?;
    vector.verify()?;
    Ok(vector.rows() as u32 ^ u32::from(vector.nullable()))
}

/// All functions that read: rows, batches, dictionaries, verification.
#[inline(never)]
pub fn read_all(call: Call<'_>) -> Result<u32> {
    let Call { bytes, memory, kind, row } = call;
    let mut sum = 0;
    for entry in [get, batches, dictionary, verify] {
        sum ^= entry(Call { bytes, memory, kind, row })?;
    }
    Ok(sum)
}
