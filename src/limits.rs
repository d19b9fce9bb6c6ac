//! Budgets that bound the work on hostile input.
//!
//! Work and memory here never follow from a number in the file alone: they are bounded by the length
//! of the input, and where structures nest or repeat, by these limits. Two budgets do the counting:
//! [`Depth`] goes down with each level of nesting, [`Fuel`] with each node visited.
//!
//! ```
//! use pilaster::limits::{Fuel, Limits};
//!
//! let limits = Limits { max_nodes: 2, ..Limits::DEFAULT };
//! let mut fuel = Fuel::new(&limits);
//! fuel.spend(0)?;
//! fuel.spend(0)?;
//! assert_eq!(fuel.spend(0).unwrap_err().to_string(), "limit max_nodes of 2 reached at offset 0");
//! # Ok::<(), pilaster::Error>(())
//! ```

use crate::error::{Error, Kind, Result, What};

/// How much a file may ask for. The defaults hold on a server; firmware takes [`Limits::SMALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Limits {
    /// Levels of nesting: types, layouts, arrays, FlatBuffers tables.
    pub max_depth: u16,
    /// Nodes (tables, arrays, layouts) visited in one call.
    pub max_nodes: u32,
    /// Columns of a table.
    pub max_columns: u32,
    /// Rows of a table or vector.
    pub max_rows: u64,
    /// Bytes that one part may unpack to.
    pub max_decoded: u64,
}

impl Limits {
    /// For hosts: generous, and far below what exhausts a machine.
    pub const DEFAULT: Limits =
        Limits { max_depth: 64, max_nodes: 1_000_000, max_columns: 1_000_000, max_rows: 1 << 40, max_decoded: 1 << 31 };

    /// For microcontrollers: a nesting level costs 0.5 to 1 KB of stack there.
    pub const SMALL: Limits =
        Limits { max_depth: 6, max_nodes: 1_000, max_columns: 256, max_rows: 1 << 31, max_decoded: 1 << 16 };
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

/// Levels of nesting that are left. `Copy`: each child gets one less than its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Depth {
    left: u16,
    max: u16,
}

impl Depth {
    /// The whole budget of `limits`.
    #[must_use]
    pub const fn new(limits: &Limits) -> Self {
        Depth { left: limits.max_depth, max: limits.max_depth }
    }

    /// The budget of a child that lies at offset `at`.
    ///
    /// # Errors
    /// [`Kind::Limit`] when no level is left.
    pub fn child(mut self, at: u64) -> Result<Self> {
        self.enter(at)?;
        Ok(self)
    }

    /// Becomes the budget of a child that lies at offset `at`.
    ///
    /// # Errors
    /// [`Kind::Limit`] when no level is left.
    #[inline(never)]
    pub fn enter(&mut self, at: u64) -> Result<()> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::needing(Kind::Limit, What::MaxDepth, at, self.max as u64)),
        }
    }
}

/// Nodes that one call may still visit.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fuel {
    left: u32,
    max: u32,
}

impl Fuel {
    /// The whole budget of `limits`.
    #[must_use]
    pub const fn new(limits: &Limits) -> Self {
        Fuel { left: limits.max_nodes, max: limits.max_nodes }
    }

    /// Pays for one node at offset `at`.
    ///
    /// # Errors
    /// [`Kind::Limit`] when nothing is left.
    pub fn spend(&mut self, at: u64) -> Result<()> {
        self.spend_many(1, at)
    }

    /// Pays for as much work as `nodes` nodes take, done for one at offset `at`.
    ///
    /// # Errors
    /// [`Kind::Limit`] when less is left.
    pub fn spend_many(&mut self, nodes: u32, at: u64) -> Result<()> {
        match self.left.checked_sub(nodes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::needing(Kind::Limit, What::MaxNodes, at, self.max as u64)),
        }
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
        assert_eq!((e.what(), e.at(), e.need()), (What::MaxDepth, 9, 2));
    }
}
