//! One value of one row, in a form that two ways of reading can be compared in.

use pilaster::Result;
use pilaster::column::{Batch, Values};

/// A value. Floats are their bits, so that NaN equals NaN and 0.0 differs from -0.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    Missing,
    Bool(bool),
    Int(i128),
    Wide([u64; 4]),
    F16(u16),
    F32(u32),
    F64(u64),
    Bytes(&'a [u8]),
    Nested,
}

impl<'a> Cell<'a> {
    /// Row `i` of a batch; an error if it is a string whose span is bad.
    ///
    /// # Panics
    /// If the batch has fewer values than it says.
    pub fn of_batch<C>(batch: &Batch<'a, C>, i: usize) -> Result<Cell<'a>> {
        if batch.validity.get(i) { Cell::of_values(&batch.values, i) } else { Ok(Cell::Missing) }
    }

    /// The value of row `i`, also where the row is missing.
    pub fn of_values(values: &Values<'a>, i: usize) -> Result<Cell<'a>> {
        Ok(match *values {
            Values::Null => Cell::Missing,
            Values::Bool(bits) => Cell::Bool(bits.get(i).expect("a bit per row")),
            Values::I8(v) => Cell::Int(v[i].into()),
            Values::I16(v) => Cell::Int(v[i].into()),
            Values::I32(v) => Cell::Int(v[i].into()),
            Values::I64(v) => Cell::Int(v[i].into()),
            Values::I128(v) => Cell::Int(v[i]),
            Values::I256(v) => Cell::Wide(v[i]),
            Values::U8(v) => Cell::Int(v[i].into()),
            Values::U16(v) => Cell::Int(v[i].into()),
            Values::U32(v) => Cell::Int(v[i].into()),
            Values::U64(v) => Cell::Int(v[i].into()),
            Values::F16(v) => Cell::F16(v[i]),
            Values::F32(v) => Cell::F32(v[i].to_bits()),
            Values::F64(v) => Cell::F64(v[i].to_bits()),
            Values::Bytes(v) | Values::Utf8(v) => Cell::Bytes(v.get(i)?),
            Values::Nested(_) => Cell::Nested,
        })
    }
}
