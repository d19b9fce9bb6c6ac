//! Common parts of the match finders.

use super::sequences::Store;
use crate::bytes::{FAST, len32, low32};
use crate::codec::greedy;
use crate::codec::lz::chunk;

/// Minimum length of a match that is searched for.
pub(super) const MIN: usize = 4;
/// Maximum distance, which is the window of long frames, too.
pub(super) const WINDOW: usize = 1 << 27;

/// Splits blocks of a source, in their order, into sequences.
pub(super) trait Finder {
    /// Appends the sequences of bytes `start..end`, and then the literals after them. `None` only if the store
    /// is full, which its size prevents.
    fn block(&mut self, src: &[u8], start: usize, end: usize, store: &mut Store<'_>) -> Option<()>;
}

/// Returns eight bytes at `at`.
#[inline(always)]
pub(super) fn word(src: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*chunk(src, at)?))
}

/// Returns four bytes at `at`.
#[inline(always)]
pub(super) fn half(src: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*chunk(src, at)?))
}

/// Returns how many bytes starting at `at`, and before `end`, equal the bytes `distance` back. Most matches end in the first
/// word, which is compared without a call.
#[inline(always)]
pub(super) fn common(src: &[u8], at: usize, distance: usize, end: usize) -> usize {
    let behind = at.wrapping_add(8);
    if FAST
        && behind <= end
        && let (Some(new), Some(old)) = (word(src, at), word(src, at.wrapping_sub(distance)))
    {
        return match new ^ old {
            0 => greedy::common(src, behind, distance, end).wrapping_add(8),
            differ => differ.trailing_zeros() as usize >> 3,
        };
    }
    greedy::common(src, at, distance, end)
}

/// The factor of hashes.
pub(super) const FACTOR: u64 = 0x9e37_79b1_85eb_ca87;

/// Returns the highest bits of the hash of the first bytes of a word, which `cut` shifts to its end: 24 for
/// five bytes.
#[inline(always)]
pub(super) const fn hash(word: u64, cut: u32) -> u32 {
    low32((word << (cut & 63)).wrapping_mul(FACTOR) >> 32)
}

/// A match.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub at: usize,
    pub len: usize,
    pub distance: u32,
}

impl Match {
    pub(super) const NONE: Self = Match { at: 0, len: 0, distance: 0 };

    /// Returns the match at `at`, if it has the minimum length.
    #[inline(always)]
    pub(super) fn try_at(src: &[u8], at: usize, distance: u32, end: usize) -> Option<Self> {
        let from = at.checked_sub(distance as usize)?;
        if half(src, from)? != half(src, at)? {
            return None;
        }
        let len = common(src, at.wrapping_add(MIN), distance as usize, end).wrapping_add(MIN);
        Some(Match { at, len, distance })
    }

    /// Lets the match begin earlier, but not before `first`.
    #[inline(always)]
    pub(super) fn widen(mut self, src: &[u8], first: usize) -> Self {
        while self.at > first {
            let before = self.at.wrapping_sub(1);
            match (src.get(before), src.get(before.wrapping_sub(self.distance as usize))) {
                (Some(new), Some(old)) if new == old => (self.at, self.len) = (before, self.len.wrapping_add(1)),
                _ => break,
            }
        }
        self
    }
}

/// Returns the distance to an earlier position, which is modulo 2^32, if it can be one.
#[inline(always)]
pub(super) const fn distance(at: usize, place: u32) -> Option<u32> {
    let distance = len32(at).wrapping_sub(place);
    match distance as usize {
        1..=WINDOW if distance as usize <= at => Some(distance),
        _ => None,
    }
}

/// Appends matches at `at` with the second distance, and no literals before them. Returns their end.
#[inline(always)]
pub(super) fn again(src: &[u8], mut at: usize, last: usize, end: usize, store: &mut Store<'_>) -> Option<usize> {
    while at < last
        && let Some(found) = Match::try_at(src, at, store.repeats[1], end)
    {
        store.push(src, at, at, found.distance, found.len)?;
        at = at.wrapping_add(found.len);
    }
    Some(at)
}
