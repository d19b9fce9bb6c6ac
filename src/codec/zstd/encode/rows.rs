//! The thorough match finder: rows of the last positions of each hash, with a tag of each; greedy or lazy.

use super::finder::{FACTOR, Finder, MIN, Match, again, common, distance, half, word};
use super::sequences::Store;
use crate::bytes::{len32, low8};
use crate::codec::zstd::bits::size;
use crate::simd::{self, Kernel, Lanes};

/// Without matches, the step grows by one byte after every 2^`PATIENCE` bytes.
const PATIENCE: u32 = 8;
/// From this step, positions that are skipped are not stored.
const HASTY: usize = 8;
/// Only the first and the last positions of longer matches are stored.
const LONG: usize = 384;
const FIRST: usize = 96;
const LAST: usize = 32;

/// Bits that a byte of a match is assumed to save. With 4 bits, frames of small numbers are 0.7 % larger at level 9, and of a sensor 1.4 %.
const EACH: i64 = 8;

/// Number of places of a row.
pub(super) const ROW: usize = 32;

/// Rows of places. The first byte of a row of tags is the index of its latest place; the first place is
/// unused. A tag is never 0, but the tag of an empty place is.
pub(super) struct Rows<'s> {
    tags: &'s mut [[u8; ROW]],
    places: &'s mut [[u32; ROW]],
    /// Factor whose product with a word is the hash of its first bytes.
    factor: u64,
    /// Shift that leaves the row and eight bits of tag of a hash.
    shift: u32,
    /// Maximum number of places that are tried.
    tries: u32,
    /// Number of positions after a match at which a better one is searched for.
    lazy: u32,
    /// Position up to which all are stored.
    next: usize,
}

impl<'s> Rows<'s> {
    /// The place that is overwritten after each place: the one before it, or the last.
    #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "computed when compiled")]
    const BEFORE: [u8; ROW] = {
        let mut before = [low8(ROW - 1); ROW];
        let mut place = 2;
        while place < ROW {
            before[place] = low8(place - 1);
            place += 1;
        }
        before
    };

    /// Creates empty rows, whose number is a power of two.
    pub(super) fn new(
        tags: &'s mut [[u8; ROW]],
        places: &'s mut [[u32; ROW]],
        hashed: u32,
        tries: u32,
        lazy: u32,
    ) -> Self {
        tags.fill([0; ROW]);
        let (bits, cut) = (tags.len().max(1).ilog2(), 64u32.wrapping_sub(hashed.wrapping_mul(8)));
        let factor = FACTOR << (cut & 63);
        Rows { tags, places, factor, shift: 56u32.saturating_sub(bits), tries, lazy, next: 0 }
    }

    /// Returns the row and the tag of a word.
    #[inline(always)]
    fn row(&self, word: u64) -> (usize, u8) {
        let hash = size(word.wrapping_mul(self.factor) >> (self.shift & 63));
        (hash >> 8, low8(hash).max(1))
    }

    /// Stores a position.
    #[inline(always)]
    fn insert(&mut self, row: usize, tag: u8, at: usize) -> Option<()> {
        let tags = self.tags.get_mut(row)?;
        let places = self.places.get_mut(row)?;
        let head = Self::BEFORE.get(usize::from(tags[0]) & ROW.wrapping_sub(1)).copied().unwrap_or(0);
        tags[0] = head;
        let head = usize::from(head) & ROW.wrapping_sub(1);
        *tags.get_mut(head)? = tag;
        *places.get_mut(head)? = len32(at);
        Some(())
    }

    /// Stores all positions before `at`.
    #[inline(always)]
    fn catch_up(&mut self, src: &[u8], at: usize) -> Option<()> {
        if at.saturating_sub(self.next) > LONG {
            let end = self.next.wrapping_add(FIRST);
            self.insert_all(src, end)?;
            self.next = at.wrapping_sub(LAST);
        }
        self.insert_all(src, at)
    }

    #[inline(always)]
    fn insert_all(&mut self, src: &[u8], end: usize) -> Option<()> {
        let Some(words) = src.get(self.next..end.wrapping_add(7)) else { return Some(()) };
        for (at, word) in (self.next..).zip(words.windows(8)) {
            let (row, tag) = self.row(u64::from_le_bytes(*word.first_chunk()?));
            self.insert(row, tag, at)?;
        }
        self.next = self.next.max(end);
        Some(())
    }

    /// Returns the longest match at `at` found, of length 0 if no match is found, and stores the position.
    #[inline(always)]
    fn find<L: Lanes>(&mut self, lanes: L, src: &[u8], at: usize, end: usize) -> Option<Match> {
        self.catch_up(src, at)?;
        let now = word(src, at)?;
        let (row, tag) = self.row(now);
        let tags = self.tags.get(row)?;
        let places = self.places.get(row)?;
        let head = u32::from(tags[0]);
        // The latest place becomes the lowest bit.
        let mut equal = (lanes.equal(tags, tag) & !1).rotate_right(head);
        let mut best = Match { at, len: MIN.wrapping_sub(1), distance: 0 };
        let mut last = half(src, at)?;
        let mut tries = self.tries;
        while equal != 0 && tries > 0 {
            let place = head.wrapping_add(equal.trailing_zeros()) as usize & ROW.wrapping_sub(1);
            equal &= equal.wrapping_sub(1);
            tries = tries.wrapping_sub(1);
            let Some(distance) = distance(at, *places.get(place)?) else { continue };
            let from = at.wrapping_sub(distance as usize);
            // A better match agrees at the end of the best one so far and one byte further.
            if half(src, from.wrapping_add(best.len).wrapping_sub(3)) != Some(last) {
                continue;
            }
            let len = common(src, at, distance as usize, end);
            if len > best.len {
                best = Match { at, len, distance };
                if at.wrapping_add(len) >= end {
                    break;
                }
                last = half(src, at.wrapping_add(len).wrapping_sub(3))?;
            }
        }
        self.insert(row, tag, at)?;
        self.next = at.wrapping_add(1);
        Some(if best.distance == 0 { Match::NONE } else { best })
    }

    /// Returns a match that saves more than `best`, among the matches at the next positions.
    #[inline(always)]
    fn better<L: Lanes>(
        &mut self,
        lanes: L,
        src: &[u8],
        mut best: Match,
        [from, last, end]: [usize; 3],
        repeat: u32,
    ) -> Option<Match> {
        let (mut at, mut tries) = (from, self.lazy);
        while tries > 0 {
            at = at.wrapping_add(1);
            if at >= last {
                break;
            }
            // The cost of a match that begins later: the literals before it.
            let later = if tries == self.lazy { 4 } else { 7 };
            tries = tries.wrapping_sub(1);
            let cost = |found: Match| if found.distance == repeat { 0 } else { found.distance.ilog2() };
            if let Some(found) = Match::try_at(src, at, repeat, end)
                && gain(found.len, 3) > gain(best.len, 3).wrapping_sub(cost(best).into()).wrapping_add(1)
            {
                best = found;
            }
            let found = self.find(lanes, src, at, end)?;
            if found.len >= MIN
                && gain(found.len, EACH).wrapping_sub(cost(found).into())
                    > gain(best.len, EACH).wrapping_sub(cost(best).into()).wrapping_add(later)
            {
                best = found;
                tries = self.lazy;
            }
        }
        Some(best)
    }
}

const fn gain(len: usize, each: i64) -> i64 {
    (len as u64).cast_signed().wrapping_mul(each)
}

impl Finder for Rows<'_> {
    fn block(&mut self, src: &[u8], start: usize, end: usize, store: &mut Store<'_>) -> Option<()> {
        simd::run(Split { rows: self, src, block: (start, end), store })
    }
}

/// Splits a block. With AVX2, the tags of a row are compared at once.
struct Split<'r, 's, 't> {
    rows: &'r mut Rows<'s>,
    src: &'r [u8],
    block: (usize, usize),
    store: &'r mut Store<'t>,
}

impl Kernel for Split<'_, '_, '_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Option<()> {
        let Split { rows, src, block: (start, end), store } = self;
        // Matches end at the end of the block, and words are inside.
        let last = end.saturating_sub(9);
        let (mut at, mut literals) = (start, start);
        while at < last {
            let repeat = store.repeats[0];
            let next = at.wrapping_add(1);
            let mut best = Match::try_at(src, next, repeat, end).unwrap_or(Match::NONE);
            if best.len == 0 || rows.lazy > 0 {
                let found = rows.find(lanes, src, at, end)?;
                if found.len > best.len {
                    best = found;
                }
                if best.len < MIN {
                    let step = (at.wrapping_sub(literals) >> PATIENCE).wrapping_add(1);
                    at = at.wrapping_add(step);
                    if step > HASTY {
                        rows.next = at;
                    }
                    continue;
                }
                best = rows.better(lanes, src, best, [at, last, end], repeat)?;
                if best.distance != repeat {
                    best = best.widen(src, literals);
                }
            }
            store.push(src, literals, best.at, best.distance, best.len)?;
            at = again(src, best.at.wrapping_add(best.len), last, end, store)?;
            literals = at;
        }
        store.finish(src, literals, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Both<'t>(&'t [u8; ROW], [u8; 2]);

    impl Kernel for Both<'_> {
        type Output = [u32; 2];

        fn run<L: Lanes>(self, lanes: L) -> [u32; 2] {
            self.1.map(|tag| lanes.equal(self.0, tag))
        }
    }

    #[test]
    fn tags_are_found_at_every_place() {
        for place in 0..ROW {
            // Neighbours differ in the lowest bit only.
            let mut tags = [0x9bu8; ROW];
            tags[place] = 0x9c;
            crate::simd::with_each_lanes(|| {
                assert_eq!(simd::run(Both(&tags, [0x9c, 0x9b])), [1 << place, !(1 << place)]);
            });
        }
    }
}
