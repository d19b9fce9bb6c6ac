//! Hash chains: for each position, the previous ones with the same hash of four bytes.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::bytes::{len32, low16, low32};
use crate::codec::greedy::{common, word};
use crate::codec::lz::chunk;
use crate::codec::lz4::MIN;

/// Distances fit two bytes.
pub(super) const WINDOW: usize = 1 << 16;
const HASH_BITS: u32 = 16;
/// The head of position 0.
const FIRST: u32 = 1 << 16;

/// A match: the bytes from `start` to `end` equal those that are `distance` before them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Found {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) distance: u16,
}

impl Found {
    /// Creates a match from its start, length and distance. Distance 0 stands for no match.
    #[inline(always)]
    fn new((start, len, distance): (usize, usize, usize)) -> Option<Self> {
        let end = start.wrapping_add(len);
        (distance > 0).then_some(Found { start: len32(start), end: len32(end), distance: low16(distance) })
    }
}

/// Positions by hash.
pub(super) struct Chains {
    /// The last position of each hash + [`FIRST`], modulo 2^32, so that the zeros of an empty table are too far away. In the last
    /// 64 KiB of 4 GiB, such a zero is one more candidate.
    heads: Vec<u32>,
    /// The distance from each position of the window to the previous one of its chain, at most 65,535: such a link leads out of the
    /// window of any later position.
    links: Vec<u16>,
    /// Number of bits by which a product is shifted to get a hash.
    shift: u32,
}

impl Chains {
    /// Creates chains for `len` positions; short inputs get small tables.
    pub(super) fn new(len: usize) -> Self {
        let bits = len.max(1).next_power_of_two().ilog2().min(HASH_BITS);
        let links = WINDOW.min(len.next_power_of_two());
        Chains { heads: vec![0; 1 << bits], links: vec![0; links], shift: 32u32.wrapping_sub(bits) }
    }

    /// Inserts a position. Returns the distance to the previous one of its chain, or for the first one a distance past the
    /// beginning of the block.
    #[inline(always)]
    pub(super) fn insert(&mut self, src: &[u8], at: usize) -> Option<usize> {
        self.insert_four(half(src, at)?, at)
    }

    #[inline(always)]
    fn insert_four(&mut self, four: u32, at: usize) -> Option<usize> {
        let head = self.heads.get_mut((four.wrapping_mul(0x9e37_79b1) >> self.shift) as usize)?;
        let now = len32(at).wrapping_add(FIRST);
        let distance = now.wrapping_sub(core::mem::replace(head, now));
        let mask = self.links.len().wrapping_sub(1);
        *self.links.get_mut(at & mask)? = low16(distance.min(u16::MAX.into()) as usize);
        Some(distance as usize)
    }

    /// Inserts positions that are not searched for.
    #[inline(always)]
    pub(super) fn skip(&mut self, src: &[u8], positions: Range<usize>) -> Option<()> {
        let Some(bytes) = src.get(positions.start..positions.end.wrapping_add(3)) else { return Some(()) };
        for (at, four) in positions.zip(bytes.windows(4)) {
            self.insert_four(u32::from_le_bytes(*four.first_chunk()?), at)?;
        }
        Some(())
    }

    /// Returns the positions of the chain of `at`, the `nearest` first.
    #[inline(always)]
    fn candidates(&self, at: usize, nearest: usize, depth: u32) -> Candidates<'_> {
        let from = if nearest <= at { at.wrapping_sub(nearest) } else { END };
        Candidates { links: &self.links, from, first: at.saturating_sub(WINDOW - 1), tries: depth }
    }

    /// Returns the longest match at `at`, of at most `depth` candidates. No match extends past `ends`.
    #[inline(always)]
    pub(super) fn longest(&self, src: &[u8], at: usize, nearest: usize, depth: u32, ends: usize) -> Option<Found> {
        let (mut longest, mut distance) = (MIN - 1, 0);
        // A longer match agrees in the four bytes that end one byte further than the longest one so far.
        let mut offset = 0usize;
        let mut four = half(src, at)?;
        for from in self.candidates(at, nearest, depth) {
            if half(src, from.wrapping_add(offset)) != Some(four) {
                continue;
            }
            let len = length(src, at, from, ends);
            if len > longest {
                (longest, distance) = (len, at.wrapping_sub(from));
                if at.wrapping_add(len) >= ends {
                    break;
                }
                offset = len.wrapping_sub(MIN - 1);
                four = half(src, at.wrapping_add(offset))?;
            }
        }
        Found::new((at, longest, distance))
    }

    /// Returns the longest match that begins in `known`, covers the four bytes at `at`, and is longer than `known`, of at most `depth`
    /// candidates.
    #[inline(always)]
    pub(super) fn wider(
        &self,
        src: &[u8],
        at: usize,
        nearest: usize,
        depth: u32,
        ends: usize,
        known: Range<usize>,
    ) -> Option<Found> {
        let most = at.wrapping_sub(known.start);
        let mut best = (at, known.end.wrapping_sub(known.start), 0);
        // Most candidates agree in the four bytes at `at`, and in fewer than four before them.
        let new = word(src, at.wrapping_sub(4))?;
        for from in self.candidates(at, nearest, depth) {
            let Some(old) = word(src, from.wrapping_sub(4)) else { break };
            let differ = new ^ old;
            if differ >> 32 != 0 {
                continue;
            }
            let mut back = (low32(differ).leading_zeros() >> 3) as usize;
            if back == 4 {
                back = before(src, at, from, most);
            }
            back = back.min(most);
            // A longer match agrees in the four bytes that end one byte further, too.
            let offset = best.1.wrapping_sub(back).wrapping_sub(MIN - 1);
            if half(src, at.wrapping_add(offset)) == half(src, from.wrapping_add(offset)) {
                let len = back.wrapping_add(length(src, at, from, ends));
                if len > best.1 {
                    best = (at.wrapping_sub(back), len, at.wrapping_sub(from));
                }
            }
        }
        Found::new(best)
    }
}

/// No position. As a signed number, it is less than any.
const END: usize = usize::MAX;

/// Positions of a chain.
struct Candidates<'c> {
    links: &'c [u16],
    from: usize,
    /// The first position of the window.
    first: usize,
    tries: u32,
}

impl Iterator for Candidates<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let from = self.from;
        self.tries = self.tries.checked_sub(1)?;
        // A link may lead to before position 0. No position is as large as half the addresses.
        if from.cast_signed() < self.first.cast_signed() {
            return None;
        }
        let link = *self.links.get(from & self.links.len().wrapping_sub(1))?;
        self.from = from.wrapping_sub(link.into());
        Some(from)
    }
}

/// Returns how many bytes from both positions on are equal, like [`common`], which is for longer matches.
#[inline(always)]
fn length(src: &[u8], at: usize, from: usize, ends: usize) -> usize {
    let distance = at.wrapping_sub(from);
    let behind = at.wrapping_add(16);
    let sixteen = |at: usize| Some(u128::from_le_bytes(*chunk(src, at)?));
    if behind <= ends
        && let (Some(new), Some(old)) = (sixteen(at), sixteen(from))
    {
        return match new ^ old {
            0 => common(src, behind, distance, ends).wrapping_add(16),
            differ => differ.trailing_zeros() as usize >> 3,
        };
    }
    common(src, at, distance, ends)
}

/// Returns how many bytes before both positions are equal, or any number from `most` to `most + 7` if `most` or more are.
#[inline(always)]
fn before(src: &[u8], at: usize, from: usize, most: usize) -> usize {
    let mut len = 0usize;
    // A position before the first one is too large for a slice.
    let before = |at: usize, len: usize| word(src, at.wrapping_sub(len).wrapping_sub(8));
    while len < most {
        let (Some(new), Some(old)) = (before(at, len), before(from, len)) else {
            let bytes = |at: usize| src.get(..at.wrapping_sub(len)).unwrap_or_default().iter().rev();
            return len.wrapping_add(bytes(at).zip(bytes(from)).take_while(|(new, old)| new == old).count());
        };
        len = len.wrapping_add((new ^ old).leading_zeros() as usize >> 3);
        if new != old {
            break;
        }
    }
    len
}

/// Returns the four bytes at `at`.
#[inline(always)]
fn half(src: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*chunk(src, at)?))
}
