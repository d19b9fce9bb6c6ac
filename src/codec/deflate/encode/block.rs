//! A block: its literals and matches, and the form in which they are written.

use alloc::vec::Vec;
use core::mem::take;

use super::chains::Match;
use super::codes::{Codes, Counts, add, distance_symbol};
use crate::bytes::{len32, low32};
use crate::codec::bit_writer::Bits;

/// Maximum number of literals and matches of a block.
const MOST: usize = 1 << 15;
/// Minimum length in bytes of a block before another one.
const SHORT: usize = 5000;
/// Number of items after which the frequencies are compared.
const ROUND: u32 = 512;
/// A block ends if the counts of the kinds in a round differ by this sum from what the earlier items of the block predict.
const CHANGED: u64 = 200;
/// For each of this number of bytes of the block, the sum may be one less, as the description of new codes costs less in comparison.
const LONG: usize = 4096;

/// A literal, or a match: [`MATCH`], its length less 3 from bit 16, its distance less 1.
#[derive(Clone, Copy)]
pub(super) struct Item(u32);

const MATCH: u32 = 1 << 31;

impl Item {
    /// Returns the literal.
    #[inline(always)]
    pub(super) fn literal(self) -> Option<usize> {
        (self.0 & MATCH == 0).then_some(self.0 as usize)
    }

    /// Returns the length less 3.
    #[inline(always)]
    pub(super) const fn length(self) -> usize {
        (self.0 >> 16 & 0xff) as usize
    }

    /// Returns the distance less 1.
    #[inline(always)]
    pub(super) const fn distance(self) -> u32 {
        self.0 & 0x7fff
    }
}

/// Number of kinds of items: literals by three of their bits, matches by their length.
const KINDS: usize = 10;

pub(super) struct Block<'v> {
    src: &'v [u8],
    /// The bytes of the block.
    start: usize,
    end: usize,
    items: Vec<Item>,
    /// Number of items of each kind before the last round, and in it.
    before: [u32; KINDS],
    now: [u32; KINDS],
    /// Number of items until the end of the round.
    left: u32,
}

impl<'v> Block<'v> {
    pub(super) fn new(src: &'v [u8]) -> Self {
        let items = Vec::with_capacity(src.len().min(MOST));
        Block { src, start: 0, end: 0, items, before: [0; KINDS], now: [0; KINDS], left: ROUND }
    }

    /// Appends a literal.
    #[inline(always)]
    pub(super) fn literal(&mut self, byte: u8, bits: &mut Bits<'_>) -> Option<()> {
        self.push(Item(byte.into()), usize::from(byte >> 5 & 6 | byte & 1), 1, bits)
    }

    /// Appends a match.
    #[inline(always)]
    pub(super) fn repeat(&mut self, found: Match, bits: &mut Bits<'_>) -> Option<()> {
        let item = MATCH | len32(found.len).wrapping_sub(3) << 16 | len32(found.distance).wrapping_sub(1);
        self.push(Item(item), 8 | usize::from(found.len > 8), found.len, bits)
    }

    #[inline(always)]
    fn push(&mut self, item: Item, kind: usize, len: usize, bits: &mut Bits<'_>) -> Option<()> {
        let count = self.now.get_mut(kind)?;
        *count = count.wrapping_add(1);
        self.end = self.end.wrapping_add(len);
        self.items.push(item);
        self.left = self.left.wrapping_sub(1);
        if self.left == 0 { self.round(bits) } else { Some(()) }
    }

    /// Ends a round, and the block if it is complete.
    #[inline(never)]
    fn round(&mut self, bits: &mut Bits<'_>) -> Option<()> {
        self.left = ROUND;
        if self.differs() || self.items.len().wrapping_add(ROUND as usize) > MOST {
            return self.end(false, bits);
        }
        Some(())
    }

    /// Returns whether the items of the last round are of other kinds than those before them, and counts them.
    fn differs(&mut self) -> bool {
        let old: u64 = self.before.iter().map(|count| u64::from(*count)).sum();
        let mut changed = 0u64;
        for (before, now) in self.before.iter_mut().zip(&mut self.now) {
            let expected = u64::from(*before).wrapping_mul(ROUND.into());
            changed = changed.wrapping_add(u64::from(*now).wrapping_mul(old).abs_diff(expected));
            *before = before.wrapping_add(take(now));
        }
        let len = self.end.wrapping_sub(self.start);
        let enough = CHANGED.saturating_sub((len / LONG) as u64).wrapping_mul(old);
        // The first round has none to differ from.
        old > 0 && len >= SHORT && self.src.len().wrapping_sub(self.end) >= SHORT && changed >= enough
    }

    /// Writes the block in its shortest form.
    pub(super) fn end(&mut self, is_last: bool, bits: &mut Bits<'_>) -> Option<()> {
        let codes = Codes::best(&Counts::of(&self.items)?)?;
        let bytes = self.src.get(self.start..self.end)?;
        if stored_bits(bytes.len()) < codes.cost {
            stored(bytes, is_last, bits)?;
        } else {
            bits.add(is_last.into(), 1);
            codes.describe(bits)?;
            self.write(&codes, bits)?;
        }
        self.start = self.end;
        self.items.clear();
        (self.before, self.now, self.left) = ([0; KINDS], [0; KINDS], ROUND);
        Some(())
    }

    fn write(&self, codes: &Codes, bits: &mut Bits<'_>) -> Option<()> {
        let lengths = codes.lengths();
        for item in &self.items {
            if let Some(literal) = item.literal() {
                add(bits, *codes.literals.get(literal)?);
            } else {
                add(bits, *lengths.get(item.length())?);
                let symbol = distance_symbol(item.distance());
                add(bits, *codes.distances.get(symbol)?);
                let extra = len32(symbol >> 1).saturating_sub(1);
                bits.add(u64::from(item.distance() & (1u32 << (extra & 15)).wrapping_sub(1)), extra);
            }
            // A match has at most 15 + 5 + 15 + 13 bits.
            bits.flush()?;
        }
        add(bits, codes.end());
        bits.flush()
    }
}

/// Maximum length of a stored block.
const STORED: usize = 0xffff;

/// Returns the number of bits of stored blocks that begin with a byte; those that begin inside of one take up to five fewer or two more.
const fn stored_bits(n: usize) -> u64 {
    let heads = (n / STORED).wrapping_add(1).wrapping_mul(5);
    (n.wrapping_add(heads) as u64).wrapping_mul(8)
}

/// Writes stored blocks (RFC 1951, section 3.2.4).
pub(super) fn stored(mut src: &[u8], is_last: bool, bits: &mut Bits<'_>) -> Option<()> {
    loop {
        let (now, rest) = src.split_at_checked(src.len().min(STORED))?;
        src = rest;
        bits.add((is_last && src.is_empty()).into(), 3);
        bits.align()?;
        let len = len32(now.len());
        bits.add(u64::from(len | !len << 16), 32);
        bits.flush()?;
        for part in now.chunks(4) {
            let word = part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            bits.add(word, low32(part.len() as u64).wrapping_mul(8));
            bits.flush()?;
        }
        if src.is_empty() {
            return Some(());
        }
    }
}
