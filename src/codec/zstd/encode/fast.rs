//! The fast match finders: the last position of each hash, of one or two lengths.

use super::finder::{Finder, Match, again, distance, hash, word};
use super::sequences::Store;
use crate::bytes::len32;

/// Without matches, the step grows by one byte after every 2^`PATIENCE` bytes.
const PATIENCE: u32 = 7;

/// The positions by the hash of a few bytes, and, if `LONG`, by the hash of eight.
pub(super) struct Fast<'s, const LONG: bool> {
    short: &'s mut [u32],
    long: &'s mut [u32],
    /// Shift that leaves the hashed bytes of a word.
    cut: u32,
    /// Shift that leaves the bits of a hash.
    shift: u32,
}

impl<'s, const LONG: bool> Fast<'s, LONG> {
    /// Creates empty tables. `short` has a power of two of places, and `long` as many, or none.
    pub(super) fn new(short: &'s mut [u32], long: &'s mut [u32], hashed: u32) -> Self {
        short.fill(0);
        long.fill(0);
        let (bits, cut) = (short.len().max(2).ilog2(), 64u32.wrapping_sub(hashed.wrapping_mul(8)));
        Fast { short, long, cut, shift: 32u32.wrapping_sub(bits) }
    }

    /// Stores a position. Returns the previous one of its hash; of the hash of eight bytes, too.
    #[inline(always)]
    fn note(&mut self, word: u64, at: usize) -> [u32; 2] {
        let replace = |table: &mut [u32], cut| {
            let place = table.get_mut((hash(word, cut) >> (self.shift & 31)) as usize);
            place.map_or(0, |place| core::mem::replace(place, len32(at)))
        };
        let before = if LONG { replace(self.long, 0) } else { 0 };
        [replace(self.short, self.cut), before]
    }

    /// Returns the match at `at`, whose word is given.
    #[inline(always)]
    fn find(&mut self, src: &[u8], at: usize, now: u64, end: usize) -> Option<Match> {
        let [short, long] = self.note(now, at);
        if LONG
            && let Some(distance) = distance(at, long)
            && word(src, at.wrapping_sub(distance as usize)) == Some(now)
        {
            return Match::try_at(src, at, distance, end);
        }
        let found = Match::try_at(src, at, distance(at, short)?, end)?;
        if LONG {
            // A longer match may begin at the next byte.
            let next = at.wrapping_add(1);
            let now = word(src, next)?;
            let place = self.long.get_mut((hash(now, 0) >> (self.shift & 31)) as usize)?;
            let place = core::mem::replace(place, len32(next));
            if let Some(distance) = distance(next, place)
                && word(src, next.wrapping_sub(distance as usize)) == Some(now)
                && let Some(longer) = Match::try_at(src, next, distance, end)
                && longer.len > found.len
            {
                return Some(longer);
            }
        }
        Some(found)
    }
}

impl<const LONG: bool> Finder for Fast<'_, LONG> {
    fn block(&mut self, src: &[u8], start: usize, end: usize, store: &mut Store<'_>) -> Option<()> {
        // Matches end at the end of the block, and words are inside.
        let last = end.saturating_sub(9);
        // Position 0 is in the tables already: an empty place is 0.
        let (mut at, mut literals) = (start.max(1), start);
        while at < last {
            let now = word(src, at)?;
            let next = at.wrapping_add(1);
            let repeated = Match::try_at(src, next, store.repeats[0], end);
            let found = match repeated {
                Some(found) => {
                    self.note(now, at);
                    found
                }
                None => match self.find(src, at, now, end) {
                    Some(found) => found.widen(src, literals),
                    None => {
                        at = next.wrapping_add(at.wrapping_sub(literals) >> PATIENCE);
                        continue;
                    }
                },
            };
            store.push(src, literals, found.at, found.distance, found.len)?;
            // Positions inside the match, from which the next match can be found.
            let behind = found.at.wrapping_add(found.len);
            for inside in [at.wrapping_add(2), behind.wrapping_sub(2)] {
                if inside < last && inside > at {
                    self.note(word(src, inside)?, inside);
                }
            }
            at = again(src, behind, last, end, store)?;
            literals = at;
        }
        store.finish(src, literals, end)
    }
}
