//! The match finder: the positions of each hash as a chain.

use core::mem::replace;
use core::ops::Range;

use crate::bytes::low16;
use crate::codec::greedy::common;
use crate::codec::lz::chunk;

/// Maximum distance.
const WINDOW: usize = 1 << 15;
/// Maximum length of a match.
const LONGEST: usize = 258;
/// Number of bytes that are hashed for a chain. Shorter matches have no chain, only the latest position.
pub(super) const HASHED: usize = 4;
const SHORTEST: usize = 3;
/// Maximum distance of the shortest matches: from farther away they cost more than their bytes.
const NEAR: usize = 1 << 12;

const HASH_BITS: u32 = 15;
const SHORT_BITS: u32 = 13;
/// Number of words of memory.
pub(super) const MEMORY: usize = WINDOW + (1 << HASH_BITS) + (1 << SHORT_BITS);

/// A match, or none of length 0.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub len: usize,
    pub distance: usize,
}

impl Match {
    const NONE: Match = Match { len: 0, distance: 1 };

    /// Returns what a match saves, for comparisons: four times the number of bytes, less the number of bits of the distance, plus a constant.
    pub(super) const fn gain(self) -> usize {
        self.len.wrapping_mul(4).wrapping_add(self.distance.leading_zeros() as usize)
    }
}

/// Positions modulo 2^16 by hash, and the distance from each position to the previous one of its chain. An outdated position is
/// only a candidate that fails.
pub(super) struct Chains<'s> {
    heads: &'s mut [u16; 1 << HASH_BITS],
    short: &'s mut [u16; 1 << SHORT_BITS],
    back: &'s mut [u16; WINDOW],
}

impl<'s> Chains<'s> {
    /// Creates chains in memory of [`MEMORY`] zeros.
    pub(super) fn new(memory: &'s mut [u16]) -> Option<Self> {
        let (heads, rest) = memory.split_first_chunk_mut()?;
        let (short, rest) = rest.split_first_chunk_mut()?;
        Some(Chains { heads, short, back: rest.first_chunk_mut()? })
    }

    /// Stores a position with these bytes. Returns the distances, modulo 2^16, to the previous ones with the hash of all four, and
    /// of three.
    #[inline(always)]
    fn insert(&mut self, now: u32, at: usize) -> Option<(usize, usize)> {
        let at = low16(at);
        let head = self.heads.get_mut(hash(now, HASH_BITS))?;
        let distance = at.wrapping_sub(replace(head, at));
        let short = self.short.get_mut(hash(now << 8, SHORT_BITS))?;
        let near = at.wrapping_sub(replace(short, at));
        *self.back.get_mut(usize::from(at) % WINDOW)? = distance;
        Some((distance.into(), near.into()))
    }

    /// Stores positions that are not searched for.
    #[inline(always)]
    pub(super) fn skip(&mut self, src: &[u8], positions: Range<usize>) -> Option<()> {
        for at in positions {
            self.insert(word(src, at)?, at)?;
        }
        Some(())
    }

    /// Returns the longest match found at `at`, if it is longer than `least`, and stores the position.
    #[inline(always)]
    pub(super) fn longest(&mut self, src: &[u8], at: usize, depth: u32, nice: usize, least: usize) -> Option<Match> {
        let now = word(src, at)?;
        let end = src.len().min(at.wrapping_add(LONGEST));
        let (mut distance, near) = self.insert(now, at)?;
        let (mut best, mut longest) = (Match::NONE, least);
        if least < SHORTEST && is_short(src, at, near, now) {
            (best, longest) = (Match { len: SHORTEST, distance: near }, SHORTEST);
        }
        // A better match agrees at the end of the best one so far and one byte further.
        let mut tail = longest.saturating_sub(HASHED - 1);
        let Some(mut last) = word(src, at.wrapping_add(tail)) else { return Some(best) };
        let (mut total, mut tries) = (distance, depth);
        while tries > 0 && distance > 0 && total <= WINDOW.min(at) && at.wrapping_add(longest) < end {
            tries = tries.wrapping_sub(1);
            let from = at.wrapping_sub(total);
            distance = (*self.back.get(from % WINDOW)?).into();
            if word(src, from.wrapping_add(tail)) == Some(last) && word(src, from) == Some(now) {
                let len = common(src, at.wrapping_add(HASHED), total, end).wrapping_add(HASHED);
                if len > longest {
                    (best, longest) = (Match { len, distance: total }, len);
                    if len >= nice {
                        break;
                    }
                    tail = len.wrapping_sub(HASHED - 1);
                    let Some(next) = word(src, at.wrapping_add(tail)) else { break };
                    last = next;
                }
            }
            total = total.wrapping_add(distance);
        }
        Some(best)
    }
}

/// Returns whether the first three bytes at `at`, the lowest of `now`, equal those at a distance that is not too far.
#[inline(always)]
fn is_short(src: &[u8], at: usize, distance: usize, now: u32) -> bool {
    (1..=NEAR.min(at)).contains(&distance)
        && word(src, at.wrapping_sub(distance)).is_some_and(|before| (before ^ now) << 8 == 0)
}

#[inline(always)]
const fn hash(word: u32, bits: u32) -> usize {
    (word.wrapping_mul(0x9e37_79b1) >> (32u32.wrapping_sub(bits) & 31)) as usize
}

/// Returns the four bytes at `at`.
#[inline(always)]
fn word(src: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*chunk(src, at)?))
}
