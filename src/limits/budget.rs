//! The two budgets that count down: [`Depth`] with each level of nesting, [`Fuel`] with each node visited. [`Spent`]
//! counts up over a whole file.
//!
//! ```
//! use pilaster::limits::Limits;
//! use pilaster::unstable::limits::Fuel;
//!
//! let limits = Limits { max_nodes: 2, ..Limits::DEFAULT };
//! let mut fuel = Fuel::new(&limits);
//! fuel.spend(0)?;
//! fuel.spend(0)?;
//! assert_eq!(fuel.spend(0).unwrap_err().to_string(), "max_nodes at offset 0: limit of 2 reached");
//! # Ok::<(), pilaster::Error>(())
//! ```

use super::Limits;
use crate::error::{Error, Kind, Result, What};

/// The number of levels of nesting that are left. It is `Copy`: each child has one level less than its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Depth {
    left: u16,
    max: u16,
}

impl Depth {
    /// Creates the full budget of `limits`.
    #[must_use]
    pub const fn new(limits: &Limits) -> Self {
        Depth { left: limits.max_depth, max: limits.max_depth }
    }

    /// Returns the budget of a child at offset `at`.
    ///
    /// # Errors
    /// [`Kind::Limit`] if no level is left.
    pub fn child(mut self, at: u64) -> Result<Self> {
        self.enter(at)?;
        Ok(self)
    }

    /// Spends one level, for a child at offset `at`.
    ///
    /// # Errors
    /// [`Kind::Limit`] if no level is left.
    pub fn enter(&mut self, at: u64) -> Result<()> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::needing(Kind::Limit, What::MAX_DEPTH, at, self.max as u64)),
        }
    }
}

/// The number of nodes that one call may still visit.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fuel {
    left: u32,
    max: u32,
}

impl Fuel {
    /// Creates the full budget of `limits`.
    #[must_use]
    pub const fn new(limits: &Limits) -> Self {
        Fuel { left: limits.max_nodes, max: limits.max_nodes }
    }

    /// Returns the number of nodes that are left.
    #[must_use]
    #[allow(dead_code, reason = "some formats use it")]
    pub(crate) const fn left(&self) -> u32 {
        self.left
    }

    /// Returns a budget of as many nodes as are left, for a second walk of the same nodes.
    #[must_use]
    #[allow(dead_code, reason = "some formats use it")]
    pub(crate) const fn again(&self) -> Self {
        Fuel { left: self.left, max: self.max }
    }

    /// Spends nodes until at most `left` are left.
    #[allow(dead_code, reason = "some formats use it")]
    pub(crate) fn leave(&mut self, left: u32) {
        self.left = self.left.min(left);
    }

    /// Spends one node, which is at offset `at`.
    ///
    /// # Errors
    /// [`Kind::Limit`] if none is left.
    pub fn spend(&mut self, at: u64) -> Result<()> {
        self.spend_many(1, at)
    }

    /// Spends `nodes` nodes, for the work of one at offset `at` that costs as much.
    ///
    /// # Errors
    /// [`Kind::Limit`] if fewer are left.
    pub fn spend_many(&mut self, nodes: u32, at: u64) -> Result<()> {
        match self.left.checked_sub(nodes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::needing(Kind::Limit, What::MAX_NODES, at, self.max as u64)),
        }
    }
}

/// Rows and unpacked bytes of a whole file that one call has taken so far.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[allow(dead_code, reason = "some formats use it")]
pub struct Spent {
    rows: u64,
    decoded: u64,
}

#[allow(dead_code, reason = "some formats use it")]
impl Spent {
    /// Nothing.
    pub const NOTHING: Spent = Spent { rows: 0, decoded: 0 };

    /// Adds a part at offset `at` that unpacks to `rows` rows and `decoded` bytes. An error adds nothing.
    ///
    /// # Errors
    /// [`Kind::Limit`] if the sum exceeds `limits`.
    pub fn part(&mut self, rows: u64, decoded: u64, at: u64, limits: &Limits) -> Result<()> {
        let sum = Spent { rows: self.rows.saturating_add(rows), decoded: self.decoded.saturating_add(decoded) };
        let (what, max) = if sum.rows > limits.max_file_rows {
            (What::MAX_FILE_ROWS, limits.max_file_rows)
        } else if sum.decoded > limits.max_file_decoded {
            (What::MAX_FILE_DECODED, limits.max_file_decoded)
        } else {
            *self = sum;
            return Ok(());
        };
        Err(Error::needing(Kind::Limit, what, at, max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_down_per_branch() {
        let root = Depth::new(&Limits { max_depth: 2, ..Limits::DEFAULT });
        let child = root.child(0).unwrap();
        assert!(child.child(0).is_ok());
        assert!(child.child(0).is_ok(), "a sibling has the same budget");
        let e = child.child(0).unwrap().child(9).unwrap_err();
        assert_eq!((e.what(), e.at(), e.need()), (What::MAX_DEPTH, 9, 2));
    }

    #[test]
    fn a_file_may_take_exactly_what_the_limits_say() {
        let limits = Limits { max_file_rows: 10, max_file_decoded: 100, ..Limits::DEFAULT };
        let mut spent = Spent::NOTHING;
        assert_eq!(spent.part(4, 100, 0, &limits), Ok(()));
        let e = spent.part(6, 1, 7, &limits).unwrap_err();
        assert_eq!((e.what(), e.at(), e.need()), (What::MAX_FILE_DECODED, 7, 100));
        assert_eq!(spent.part(6, 0, 0, &limits), Ok(()), "an error adds nothing");
        let e = spent.part(1, 0, 8, &limits).unwrap_err();
        assert_eq!((e.what(), e.at(), e.need()), (What::MAX_FILE_ROWS, 8, 10));
        assert_eq!(spent.part(1, 0, 8, &Limits::DEFAULT), Ok(()), "a retry with more");
    }
}
