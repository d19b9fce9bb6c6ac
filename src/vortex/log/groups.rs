//! Records of the row groups that were written: where each is, and how long its segments are.

use crate::bytes::{len32, low32};

/// Number of words of a record before the lengths: offset of the first segment, number of rows.
const HEAD: usize = 3;

/// Returns the number of words of the record of a row group with `columns` columns.
///
/// ```
/// use pilaster::vortex::log::group_words;
///
/// // 32 bytes per row group of five columns.
/// assert_eq!(4 * group_words(5), 12 + 4 * 5);
/// ```
#[must_use]
pub const fn group_words(columns: usize) -> usize {
    columns.saturating_add(HEAD)
}

/// Records in memory of the caller.
#[derive(Debug)]
pub(super) struct Groups<'m> {
    words: &'m mut [u32],
    /// Number of words of a record.
    each: usize,
    len: u32,
    rows: u64,
}

impl<'m> Groups<'m> {
    pub const fn new(words: &'m mut [u32], columns: usize) -> Self {
        Groups { words, each: group_words(columns), len: 0, rows: 0 }
    }

    /// Returns the number of row groups.
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Sets the number of row groups, which are recorded, and the number of their rows.
    pub const fn set_len(&mut self, len: u32, rows: u64) {
        (self.len, self.rows) = (len, rows);
    }

    /// Returns the number of row groups for which there is memory.
    pub fn capacity(&self) -> u32 {
        low32(self.words.len().checked_div(self.each).unwrap_or(0) as u64)
    }

    /// Returns whether there is no memory for another row group.
    pub fn is_full(&self) -> bool {
        self.len >= self.capacity()
    }

    /// Returns the records of all row groups.
    pub fn records(&self) -> &[u32] {
        self.words.get(..(self.len as usize).wrapping_mul(self.each)).unwrap_or_default()
    }

    /// Returns the lengths of the segments of the row group after the last one, to be set; `None` if there is no memory
    /// for it.
    #[inline(never)]
    pub fn next(&mut self) -> Option<&mut [u32]> {
        self.words.get_mut((self.len as usize).checked_mul(self.each)?..)?.get_mut(..self.each)?.get_mut(HEAD..)
    }

    /// Adds the row group whose lengths were set: the offset of its first segment, and its rows.
    pub fn add(&mut self, at: u64, rows: u32) {
        let start = (self.len as usize).wrapping_mul(self.each);
        if let Some([low, high, count, ..]) = self.words.get_mut(start..) {
            (*low, *high, *count) = (low32(at), low32(at >> 32), rows);
            self.len = self.len.wrapping_add(1);
            self.rows = self.rows.wrapping_add(rows.into());
        }
    }

    /// Returns the offset of the first segment of a row group, also of one after those that were added, whose record is
    /// still in memory.
    pub fn at(&self, group: u32) -> u64 {
        match self.words.get((group as usize).wrapping_mul(self.each)..) {
            Some([low, high, ..]) => u64::from(*low) | u64::from(*high) << 32,
            _ => 0,
        }
    }

    /// Returns the number of rows of all row groups.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of segments of all row groups.
    pub fn segments(&self) -> u32 {
        len32(self.each.wrapping_sub(HEAD)).wrapping_mul(self.len)
    }

    /// Calls `each` with the rows of every row group, the offset of its first segment, and the lengths of its segments.
    #[inline(never)]
    pub fn each(&self, each: &mut dyn FnMut(u32, u64, &[u32])) {
        let mut words = &*self.words;
        for _ in 0..self.len {
            let Some((record, rest)) = words.split_at_checked(self.each) else { return };
            if let [low, high, rows, lens @ ..] = record {
                each(*rows, u64::from(*low) | u64::from(*high) << 32, lens);
            }
            words = rest;
        }
    }
}
