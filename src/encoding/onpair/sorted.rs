//! Finds the longest token at the start of a text, among tokens that no longer change.
//!
//! The tokens are sorted. The last one that is not after the text in this order has all tokens that are prefixes of the
//! text as prefixes, too. A binary search finds it; it knows its own prefixes by their lengths.

use alloc::vec;
use alloc::vec::Vec;
use core::hint::select_unpredictable as select;

use super::LONGEST;
use super::finder::Token;
use crate::encoding::lanes::{Found, LANES, Longest};

/// Number of pairs of two bytes.
const PAIRS: usize = 1 << 16;

/// A token that is a prefix: its number from bit 8, below it the length.
type Prefix = u32;

#[allow(clippy::cast_possible_truncation, reason = "16 bits")]
const fn number(prefix: Prefix) -> u16 {
    (prefix >> 8) as u16
}

/// Returns the first two bytes of a key.
#[allow(clippy::cast_possible_truncation, reason = "16 bits")]
const fn pair(key: u128) -> usize {
    (key >> 112) as usize
}

/// Sorted tokens; all single bytes are among them.
#[derive(Clone, Debug)]
pub(super) struct Sorted {
    /// The bytes of each token as a number, the first highest, padded with zeros.
    keys: Vec<u128>,
    /// For each token and each length from 1: the longest prefix of at most this length.
    prefixes: Vec<[Prefix; LONGEST as usize]>,
    /// For each pair of bytes, the last token that is not after this pair.
    starts: Vec<u16>,
    /// Number of bits of the greatest distance from there.
    levels: u32,
}

impl Sorted {
    /// Creates the search for tokens in the order of their bytes.
    pub(super) fn new(tokens: &[Token]) -> Self {
        let keys: Vec<u128> = tokens.iter().map(|token| token.bytes.swap_bytes()).collect();
        let starts = starts(&keys);
        let mut farthest = 1;
        for (at, key) in keys.iter().enumerate() {
            let start = starts.get(pair(*key)).copied().unwrap_or_default();
            farthest = farthest.max(at.saturating_add(1).saturating_sub(start.into()));
        }
        let levels = usize::BITS.wrapping_sub(farthest.saturating_sub(1).leading_zeros());
        let prefixes = prefixes(tokens);
        Sorted { keys, prefixes, starts, levels }
    }

    #[inline(always)]
    fn key(&self, at: usize) -> u128 {
        self.keys.get(at).copied().unwrap_or(u128::MAX)
    }

    /// Returns the longest token that is a prefix of the first `left` bytes of a window, for each window.
    ///
    /// The searches are interleaved, level by level: a search is a chain of dependent loads, and four chains take little
    /// longer than one. Four consecutive searches, of three keys for two levels, took 1.5 to 1.7 times as long.
    #[inline(always)]
    fn find<const N: usize>(&self, windows: [(u128, usize); N]) -> [Prefix; N] {
        let mut searches = windows.map(|(window, left)| {
            let start = self.starts.get(pair(window)).copied().unwrap_or_default();
            (usize::from(start), window, left)
        });
        let mut shift = self.levels;
        while shift > 0 {
            shift = shift.wrapping_sub(1);
            for (at, window, _) in &mut searches {
                let next = at.wrapping_add(1 << (shift & 31));
                // A sum has no branch, which would be mispredicted half the time.
                *at = at.wrapping_add(usize::from(self.key(next) <= *window) << (shift & 31));
            }
        }
        searches.map(|(at, window, left)| {
            // A text of the highest bytes is not after the padding.
            let at = at.min(self.prefixes.len().wrapping_sub(1));
            let equal = ((self.key(at) ^ window).leading_zeros() >> 3) as usize;
            let bound = select(equal < left, equal, left).wrapping_sub(1);
            self.prefixes.get(at).map_or(1, |prefixes| prefixes.get(bound).copied().unwrap_or(1))
        })
    }
}

/// Returns, for each pair of bytes, the number of the last key that is not after it.
fn starts(keys: &[u128]) -> Vec<u16> {
    let mut starts = vec![0u16; PAIRS];
    let (mut from, mut before) = (0, 0);
    for (number, key) in (0..=u16::MAX).zip(keys) {
        // The first pair that the key is not after: its own only if nothing follows in the key.
        let first = pair(*key).saturating_add(usize::from(key << 16 != 0));
        if let Some(pairs) = starts.get_mut(from..first) {
            pairs.fill(before);
        }
        (from, before) = (first, number);
    }
    if let Some(pairs) = starts.get_mut(from..) {
        pairs.fill(before);
    }
    starts
}

/// Returns the prefixes of each token. Those of a token are the same ones as those of the token before, up to the
/// bytes that both have in common.
fn prefixes(tokens: &[Token]) -> Vec<[Prefix; LONGEST as usize]> {
    let mut before = (Token::default(), [1; LONGEST as usize]);
    let row = |(token, number): (&Token, Prefix)| {
        let common = ((token.bytes ^ before.0.bytes).trailing_zeros() >> 3).min(before.0.len) as usize;
        let mut row = before.1;
        let longest = common.checked_sub(1).and_then(|at| row.get(at)).copied().unwrap_or_default();
        row.iter_mut().skip(common).for_each(|to| *to = longest);
        let own = token.len.saturating_sub(1) as usize;
        row.iter_mut().skip(own).for_each(|to| *to = number << 8 | token.len);
        before = (*token, row);
        row
    };
    tokens.iter().zip(0..).map(row).collect()
}

impl Longest for Sorted {
    type Unit = u16;
    const UNITS: usize = 1;

    #[inline(always)]
    fn longest(&self, window: u128, left: usize) -> Found<u16> {
        let [prefix] = self.find([(window.swap_bytes(), left)]);
        found(prefix)
    }

    #[inline(always)]
    fn longest_of_each(&self, windows: [(u128, usize); LANES]) -> [Found<u16>; LANES] {
        self.find(windows.map(|(window, left)| (window.swap_bytes(), left))).map(found)
    }
}

#[inline(always)]
const fn found(prefix: Prefix) -> Found<u16> {
    Found { units: [number(prefix); 2], count: 1, len: (prefix & 31) as usize }
}
