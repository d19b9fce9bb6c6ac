//! Whether rows ascend by the columns of a key, found out while these go by.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::column::{Batch, Values};
use crate::error::{Error, Kind, Result, What};

/// What two rows are compared by.
#[derive(Clone, Debug)]
enum Value {
    Missing,
    Int(i128),
    Float(f64),
    Text(Vec<u8>),
}

impl Value {
    fn of<C>(batch: &Batch<'_, C>, i: usize) -> Result<Value> {
        if !batch.validity.get(i) {
            return Ok(Value::Missing);
        }
        let int = |value: Option<i128>| value.map_or(Value::Missing, Value::Int);
        let float = |value: Option<f64>| value.filter(|v| !v.is_nan()).map_or(Value::Missing, Value::Float);
        Ok(match batch.values {
            Values::Bool(bits) => int(bits.get(i).map(i128::from)),
            Values::I8(v) => int(v.get(i).map(|v| (*v).into())),
            Values::I16(v) => int(v.get(i).map(|v| (*v).into())),
            Values::I32(v) => int(v.get(i).map(|v| (*v).into())),
            Values::I64(v) => int(v.get(i).map(|v| (*v).into())),
            Values::U8(v) => int(v.get(i).map(|v| (*v).into())),
            Values::U16(v) => int(v.get(i).map(|v| (*v).into())),
            Values::U32(v) => int(v.get(i).map(|v| (*v).into())),
            Values::U64(v) => int(v.get(i).map(|v| (*v).into())),
            Values::F32(v) => float(v.get(i).map(|v| (*v).into())),
            Values::F64(v) => float(v.get(i).copied()),
            Values::Utf8(v) | Values::Bytes(v) => Value::Text(v.get(i)?.to_vec()),
            _ => return Err(Error::new(Kind::WrongType, What::JayKey, 0)),
        })
    }

    /// Missing ones come first; strings go by their bytes.
    fn order(&self, next: &Value) -> Ordering {
        match (self, next) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Missing, Value::Missing) => Ordering::Equal,
            (Value::Missing, _) => Ordering::Less,
            _ => Ordering::Greater,
        }
    }
}

/// The rows that have the same key as the one before, as far as columns went by.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    /// How many columns are the key, and how many of them were seen.
    count: usize,
    seen: usize,
    /// One per row behind the first.
    tied: Vec<bool>,
    before: Option<Value>,
    row: usize,
}

impl Keys {
    pub(super) const fn new(count: usize) -> Self {
        Keys { count, seen: 0, tied: Vec::new(), before: None, row: 0 }
    }

    /// Rows of column `k`, which must come in the order of the key.
    pub(super) fn add<C>(&mut self, k: usize, batch: &Batch<'_, C>) -> Result<()> {
        if k >= self.count {
            return Ok(());
        }
        if k != self.seen {
            return Err(Error::new(Kind::Misuse, What::JayKey, k as u64));
        }
        // Of nothing there can be any number.
        if let Values::Null = batch.values {
            return Err(Error::new(Kind::WrongType, What::JayKey, k as u64));
        }
        for i in 0..batch.len {
            let value = Value::of(batch, i)?;
            if let Some(before) = &self.before {
                let row = self.row;
                self.row = row.saturating_add(1);
                if row == self.tied.len() && k == 0 {
                    self.tied.push(true);
                }
                let order = before.order(&value);
                match self.tied.get_mut(row) {
                    Some(true) if order == Ordering::Greater => return Err(unsorted(row)),
                    Some(tied) => *tied &= order == Ordering::Equal,
                    None => return Err(unsorted(row)),
                }
            }
            self.before = Some(value);
        }
        Ok(())
    }

    /// Column `k` is over. Behind the last of the key no two rows may be the same.
    pub(super) fn end(&mut self, k: usize) -> Result<()> {
        if k >= self.count {
            return Ok(());
        }
        self.seen = k.saturating_add(1);
        (self.before, self.row) = (None, 0);
        match self.tied.iter().position(|tied| *tied) {
            Some(row) if self.seen == self.count => Err(unsorted(row)),
            _ => Ok(()),
        }
    }

    /// How many, once all of them were seen.
    pub(super) fn finish(self) -> Result<i32> {
        match i32::try_from(self.count) {
            Ok(count) if self.seen == self.count => Ok(count),
            _ => Err(Error::needing(Kind::Misuse, What::JayKey, self.seen as u64, self.count as u64)),
        }
    }
}

/// The row behind `row` does not come behind it.
#[cold]
fn unsorted(row: usize) -> Error {
    Error::new(Kind::Invalid, What::JayKey, (row as u64).saturating_add(1))
}
