//! One value of one row, in a form that two ways of reading can be compared in.

use pilaster::Result;
use pilaster::column::{Batch, Value, Values};

/// A value. Floats are their bits, so that NaN equals NaN and 0.0 differs from -0.0; text is its bytes, and lists
/// are not looked into.
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

impl<'a> From<Value<'a>> for Cell<'a> {
    fn from(value: Value<'a>) -> Self {
        match value {
            Value::Null => Cell::Missing,
            Value::Bool(v) => Cell::Bool(v),
            Value::Int(v) => Cell::Int(v),
            Value::Int256(v) => Cell::Wide(v),
            Value::F16(v) => Cell::F16(v),
            Value::F32(v) => Cell::F32(v.to_bits()),
            Value::F64(v) => Cell::F64(v.to_bits()),
            Value::Bytes(v) | Value::Text(v) => Cell::Bytes(v),
            Value::Nested(_) => Cell::Nested,
        }
    }
}

impl<'a> Cell<'a> {
    /// Row `i` of a batch; an error if it is a string whose span is bad.
    pub fn of_batch<C>(batch: &Batch<'a, C>, i: usize) -> Result<Cell<'a>> {
        batch.value(i).map(Cell::from)
    }

    /// The value of row `i`, also where the row is missing.
    pub fn of_values(values: &Values<'a>, i: usize) -> Result<Cell<'a>> {
        values.get(i).map(Cell::from)
    }
}
