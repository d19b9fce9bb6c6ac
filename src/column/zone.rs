//! What is known of rows without reading them.

use core::ops::Range;

use super::Value;

/// What is known of a run of rows of a column before they are read: for passing over rows that cannot match.
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
    /// The file says so, and reading the rows does not check it: a file that lies makes rows vanish for a caller who
    /// passes over them.
    Claimed(T),
    /// It follows from what was checked.
    Exact(T),
}

impl<T> Fact<T> {
    /// What is known or claimed.
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
