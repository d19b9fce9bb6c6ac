//! Records of the row groups that were written: where each is, and how long its segments are.

use super::frames::up8;
use crate::bytes::low32;

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
    columns: usize,
    len: u32,
}

impl<'m> Groups<'m> {
    pub const fn new(words: &'m mut [u32], columns: usize) -> Self {
        Groups { words, columns, len: 0 }
    }

    /// Returns the number of row groups.
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Sets the number of row groups, which are recorded.
    pub const fn set_len(&mut self, len: u32) {
        self.len = len;
    }

    /// Returns the number of row groups for which there is memory.
    pub fn capacity(&self) -> u32 {
        low32(self.words.len().checked_div(group_words(self.columns)).unwrap_or(0) as u64)
    }

    fn record(&self, group: u32) -> &[u32] {
        let each = group_words(self.columns);
        self.words.get((group as usize).wrapping_mul(each)..).unwrap_or_default().get(..each).unwrap_or_default()
    }

    /// Returns the lengths of the segments of the row group after the last one, to be set; `None` if there is no memory
    /// for it.
    pub fn next(&mut self) -> Option<&mut [u32]> {
        let each = group_words(self.columns);
        self.words.get_mut((self.len as usize).checked_mul(each)?..)?.get_mut(..each)?.get_mut(HEAD..)
    }

    /// Adds the row group whose lengths were set: the offset of its first segment, and its rows.
    pub fn add(&mut self, at: u64, rows: u32) {
        let start = (self.len as usize).wrapping_mul(group_words(self.columns));
        if let Some([low, high, count, ..]) = self.words.get_mut(start..) {
            (*low, *high, *count) = (low32(at), low32(at >> 32), rows);
            self.len = self.len.wrapping_add(1);
        }
    }

    /// Returns the offset of the first segment of a row group.
    pub fn at(&self, group: u32) -> u64 {
        let word = |k: usize| u64::from(self.record(group).get(k).copied().unwrap_or(0));
        word(0) | word(1) << 32
    }

    /// Returns the number of rows of a row group.
    pub fn rows_of(&self, group: u32) -> u32 {
        self.record(group).get(2).copied().unwrap_or(0)
    }

    /// Returns the number of rows of all row groups.
    pub fn rows(&self) -> u64 {
        (0..self.len).fold(0, |sum, group| sum.wrapping_add(self.rows_of(group).into()))
    }

    /// Calls `each` with the offset and length of every segment, in order.
    pub fn each_segment(&self, each: &mut dyn FnMut(u64, u32)) {
        for group in 0..self.len {
            let [low, high, _, lens @ ..] = self.record(group) else { return };
            let mut at = u64::from(*low) | u64::from(*high) << 32;
            for len in lens {
                each(at, *len);
                at = at.wrapping_add(up8(u64::from(*len)));
            }
        }
    }
}
