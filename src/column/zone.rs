//! Facts about rows that are known without reading them.

use core::ops::Range;

use super::Value;

/// Facts about a run of rows of a column that are known before the rows are read: allows rows to be skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone<'s> {
    /// The rows.
    pub rows: Range<u64>,
    /// No value is less. NaN is left out; a string may be cut.
    pub min: Fact<Value<'s>>,
    /// No value is greater.
    pub max: Fact<Value<'s>>,
    /// How many rows have no value.
    pub nulls: Fact<u64>,
}

/// Something about rows, and how far it can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact<T> {
    /// Nothing is known.
    Unknown,
    /// Stored in the file and not checked when rows are read. In a file with wrong claims, a caller that skips rows
    /// misses some that match.
    Claimed(T),
    /// It follows from what was checked.
    Exact(T),
}

impl<T> Fact<T> {
    /// Returns the fact, whether exact or claimed.
    #[must_use]
    pub const fn get(&self) -> Option<&T> {
        match self {
            Fact::Unknown => None,
            Fact::Claimed(fact) | Fact::Exact(fact) => Some(fact),
        }
    }
}

impl<T> From<Option<T>> for Fact<T> {
    /// A claim, if there is one.
    fn from(claim: Option<T>) -> Self {
        claim.map_or(Fact::Unknown, Fact::Claimed)
    }
}

impl<'s> From<Value<'s>> for Fact<Value<'s>> {
    /// A claim, unless the value is missing.
    fn from(value: Value<'s>) -> Self {
        Some(value).filter(|value| *value != Value::Null).into()
    }
}
