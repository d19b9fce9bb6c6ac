//! Facts about rows that are known before they are read.

use core::ops::Range;

use super::Value;

/// Facts about a row range of a column that are known before the rows are read. They allow rows to be skipped.
///
/// ```
/// # #[cfg(feature = "vortex")] {
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column, Fact, Part, Value, Zone};
/// use pilaster::vortex::File;
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/lay_chunked_zones_a.vortex"));
/// let file = File::open(bytes)?;
/// let column = file.part()?.named("a")?;
/// let mut memory = [0; 1024];
/// // The zones that may contain values above 2000.
/// let (mut row, mut zones) = (0, vec![]);
/// while let Some(zone) = column.zone_around(row, &mut Scratch::new(&mut memory))? {
///     let Zone { rows, max, nulls, .. } = zone;
///     assert_eq!(nulls, Fact::Claimed(0));
///     row = rows.end;
///     // Without a bound, the rows must be read.
///     let below = max.get().and_then(|max| max.compare(&Value::Int(2000)));
///     if below.is_none_or(|order| order.is_gt()) {
///         zones.push(rows);
///     }
/// }
/// assert_eq!(zones, [192..250]);
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Zone<'s> {
    /// The row range.
    pub rows: Range<u64>,
    /// A lower bound of the values. NaN is ignored; a string may be a prefix.
    pub min: Fact<Value<'s>>,
    /// An upper bound of the values.
    pub max: Fact<Value<'s>>,
    /// Number of missing rows.
    pub nulls: Fact<u64>,
}

/// A fact about rows, and whether it can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact<T> {
    /// Nothing is known.
    Unknown,
    /// Stored in the file, but not checked when rows are read. If the claim is wrong, a caller that skips rows misses
    /// some that match.
    Claimed(T),
    /// Derived from checked data.
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
    /// Converts `Some` to a claim.
    fn from(claim: Option<T>) -> Self {
        claim.map_or(Fact::Unknown, Fact::Claimed)
    }
}

impl<'s> From<Value<'s>> for Fact<Value<'s>> {
    /// Converts a value to a claim, a missing one to [`Unknown`](Fact::Unknown).
    fn from(value: Value<'s>) -> Self {
        Some(value).filter(|value| *value != Value::Null).into()
    }
}
