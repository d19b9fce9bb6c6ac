//! Checks that rows ascend by the columns of a key, while the columns are written.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::column::{Batch, Value, Values};
use crate::error::{Error, Kind, Result, What};

/// Compares the keys of two rows. A missing value comes first, and NaN counts as missing.
fn order(before: &Value<'_>, next: &Value<'_>) -> Ordering {
    let present = |value: &Value<'_>| value.compare(value).is_some();
    before.compare(next).unwrap_or_else(|| present(before).cmp(&present(next)))
}

/// Tracks which rows have the same key as the row before, in the key columns written so far.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    /// Number of key columns, and how many of them are complete.
    count: usize,
    seen: usize,
    /// One flag per row after the first.
    tied: Vec<bool>,
    /// The value of the previous row. The bytes of a string are in `text`.
    before: Option<Value<'static>>,
    text: Vec<u8>,
    row: usize,
}

impl Keys {
    pub(super) const fn new(count: usize) -> Self {
        Keys { count, seen: 0, tied: Vec::new(), before: None, text: Vec::new(), row: 0 }
    }

    /// Compares the next rows of column `k`. The columns of the key must arrive in their order.
    pub(super) fn add<C>(&mut self, k: usize, batch: &Batch<'_, C>) -> Result<()> {
        if k >= self.count {
            return Ok(());
        }
        if k != self.seen {
            return Err(Error::new(Kind::Misuse, What::JAY_KEY, k as u64));
        }
        // Nulls may repeat; the other types cannot be in a key.
        if let Values::Null | Values::I128(_) | Values::I256(_) | Values::F16(_) | Values::Nested(_) = batch.values {
            return Err(Error::new(Kind::WrongType, What::JAY_KEY, k as u64));
        }
        for i in 0..batch.len {
            let value = batch.value(i)?;
            if let Some(before) = &self.before {
                let before = if let Value::Text(_) = before { &Value::Text(&self.text) } else { before };
                let order = order(before, &value);
                let row = self.row;
                self.row = row.saturating_add(1);
                if row == self.tied.len() && k == 0 {
                    self.tied.push(true);
                }
                match self.tied.get_mut(row) {
                    Some(true) if order == Ordering::Greater => return Err(unsorted(row)),
                    Some(tied) => *tied &= order == Ordering::Equal,
                    None => return Err(unsorted(row)),
                }
            }
            self.before = Some(match value {
                Value::Text(text) | Value::Bytes(text) => {
                    self.text.clear();
                    self.text.extend_from_slice(text);
                    Value::Text(&[])
                }
                Value::Bool(value) => Value::Bool(value),
                Value::Int(value) => Value::Int(value),
                Value::F32(value) => Value::F32(value),
                Value::F64(value) => Value::F64(value),
                _ => Value::Null,
            });
        }
        Ok(())
    }

    /// Ends column `k`. After the last column of the key, two rows with equal keys are an error.
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

    /// Returns the number of key columns. Fails if not all of them are complete.
    pub(super) fn finish(self) -> Result<i32> {
        match i32::try_from(self.count) {
            Ok(count) if self.seen == self.count => Ok(count),
            _ => Err(Error::needing(Kind::Misuse, What::JAY_KEY, self.seen as u64, self.count as u64)),
        }
    }
}

/// Creates the error for the row after `row`, which does not ascend.
#[cold]
fn unsorted(row: usize) -> Error {
    Error::new(Kind::Invalid, What::JAY_KEY, (row as u64).saturating_add(1))
}
