//! Finds the longest token at the start of a text: a binary search over the lengths, in a table of tokens and of
//! prefixes that lead to longer tokens ("markers"; Waldvogel and others, "Scalable High Speed IP Routing Lookups").

use alloc::vec;
use alloc::vec::Vec;
use core::hint::select_unpredictable as select;

/// A token: its bytes as one number, the first lowest, padded with zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Token {
    pub bytes: u128,
    pub len: u32,
}

impl Token {
    /// Returns the token of at most 16 bytes.
    #[cfg(test)]
    pub(super) fn of(bytes: &[u8]) -> Self {
        Token { bytes: window(bytes), len: bytes.len() as u32 }
    }

    /// Returns a key that orders tokens by their bytes.
    pub(super) const fn order(&self) -> (u128, u32) {
        (self.bytes.swap_bytes(), self.len)
    }
}

/// The number of a token, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub number: u16,
    pub len: u32,
}

/// Returns a mask of the first `len` bytes; for 0, which is no length, all of them.
#[inline(always)]
const fn mask(len: u32) -> u128 {
    u128::MAX.wrapping_shr(128u32.wrapping_sub(len.wrapping_mul(8)))
}

/// Returns the first `len` bytes of half a token, with a trace of the length. `len` is 1 to 8.
#[inline(always)]
const fn first(half: u64, len: u32) -> u64 {
    let mask = u64::MAX.wrapping_shr(64u32.wrapping_sub(len.wrapping_mul(8)));
    half & mask ^ ((len & 7) as u64) << 56
}

/// Returns both halves of a token.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "halves")]
const fn halves(bytes: u128) -> (u64, u64) {
    (bytes as u64, (bytes >> 64) as u64)
}

/// An entry: from bit 0 the length of the longest token that is a prefix, then its number, then a tag. 0 if empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry(u32);

impl Entry {
    const EMPTY: Entry = Entry(0);
    /// The bits of the tag, the lowest of which is set.
    const TAG: u32 = 0xffe0_0000;
    const USED: u32 = 0x0020_0000;

    const fn new(hash: u64, of: Match) -> Self {
        Entry(Self::tag(hash) | (of.number as u32) << 5 | of.len)
    }

    /// Returns the tag of a hash: bits that do not tell the place.
    #[allow(clippy::cast_possible_truncation, reason = "32 bits of it")]
    const fn tag(hash: u64) -> u32 {
        (hash >> 16) as u32 & Self::TAG | Self::USED
    }

    #[inline(always)]
    const fn is(self, tag: u32) -> bool {
        self.0 & Self::TAG == tag
    }

    #[inline(always)]
    const fn of(self) -> Match {
        Match { number: (self.0 >> 5 & 0xffff) as u16, len: self.0 & 31 }
    }
}

/// Tokens, and markers for their prefixes.
#[derive(Clone, Debug)]
pub(super) struct Finder {
    /// Two entries per place; if both are in use, the next place may have more. A power of two.
    entries: Vec<[Entry; 2]>,
    shift: u32,
    used: usize,
    /// The bytes of the tokens by their numbers, to compare them with the text: two prefixes may have equal tags.
    tokens: Vec<u128>,
    lengths: Vec<u8>,
    /// The numbers of the tokens of one byte.
    singles: [u16; 256],
}

/// Mixes the bits of half a token.
#[inline(always)]
const fn hashed(half: u64, seed: u64) -> u64 {
    let product = ((half ^ seed) as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (low, high) = halves(product);
    low ^ high
}

impl Finder {
    /// Creates a finder with space for about `count` tokens.
    pub(super) fn new(count: usize) -> Self {
        let size = count.saturating_mul(4).next_power_of_two().clamp(1 << 11, 1 << 20);
        Finder {
            entries: vec![[Entry::EMPTY; 2]; size],
            shift: 64u32.wrapping_sub(size.trailing_zeros()),
            used: 0,
            tokens: Vec::with_capacity(count),
            lengths: Vec::with_capacity(count),
            singles: [0; 256],
        }
    }

    /// Returns the number of tokens.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the token of a number.
    pub(super) fn token(&self, number: u16) -> Token {
        let bytes = self.tokens.get(usize::from(number)).copied().unwrap_or_default();
        let len = self.lengths.get(usize::from(number)).copied().unwrap_or_default();
        Token { bytes, len: len.into() }
    }

    /// Appends a token. If tokens are appended in the order of their lengths, the search finds the longest one (except
    /// for one text in many, if two prefixes have the same place and tag); else it may find a shorter one.
    pub(super) fn push(&mut self, token: Token) {
        let Ok(number) = u16::try_from(self.tokens.len()) else { return };
        self.tokens.push(token.bytes);
        self.lengths.push(token.len.to_le_bytes()[0]);
        if let Some(single) = self.singles.get_mut(usize::from(token.bytes.to_le_bytes()[0]))
            && token.len == 1
        {
            *single = number;
        }
        let mut at = 0u32;
        for step in [8, 4, 2, 1, 1] {
            let len = at.wrapping_add(step);
            if len < token.len {
                let prefix = token.bytes & mask(len);
                let best = self.find(prefix, len as usize);
                self.put(prefix, len, best, false);
                at = len;
            } else if len == token.len {
                self.put(token.bytes, len, Match { number, len }, true);
                return;
            }
        }
    }

    /// Adds an entry; if there is one for the prefix, it is replaced or kept.
    fn put(&mut self, prefix: u128, len: u32, of: Match, replace: bool) {
        if self.used >= self.entries.len() {
            self.grow();
        }
        let (low, high) = halves(prefix);
        let hash = if len > 8 {
            hashed(first(high, len.wrapping_sub(8)), hashed(low, 0) | 1)
        } else {
            hashed(first(low, len), 0)
        };
        let (tag, last) = (Entry::tag(hash), self.entries.len().wrapping_sub(1));
        let mut at = self.place(hash);
        while let Some(place) = self.entries.get_mut(at) {
            for entry in place {
                if *entry == Entry::EMPTY {
                    self.used = self.used.wrapping_add(1);
                    *entry = Entry::new(hash, of);
                    return;
                }
                if entry.is(tag) {
                    if replace {
                        *entry = Entry::new(hash, of);
                    }
                    return;
                }
            }
            at = at.wrapping_add(1) & last;
        }
    }

    /// Doubles the table.
    fn grow(&mut self) {
        let size = self.entries.len().saturating_mul(2);
        self.entries = vec![[Entry::EMPTY; 2]; size];
        self.shift = self.shift.wrapping_sub(1);
        self.used = 0;
        let (tokens, lengths) = (core::mem::take(&mut self.tokens), core::mem::take(&mut self.lengths));
        for (bytes, len) in tokens.into_iter().zip(lengths) {
            self.push(Token { bytes, len: len.into() });
        }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "20 bits at most")]
    const fn place(&self, hash: u64) -> usize {
        hash.wrapping_shr(self.shift) as usize
    }

    /// Returns the entry for a hash, or one with another tag.
    #[inline(always)]
    fn entry(&self, hash: u64, tag: u32) -> Entry {
        let at = self.place(hash);
        let Some([a, b]) = self.entries.get(at) else { return Entry::EMPTY };
        let entry = select(a.is(tag), *a, *b);
        if !entry.is(tag) & (*b != Entry::EMPTY) { self.later(at, tag) } else { entry }
    }

    /// The same, from the next place on.
    #[cold]
    #[inline(never)]
    fn later(&self, at: usize, tag: u32) -> Entry {
        let (before, from) = self.entries.split_at(at.saturating_add(1).min(self.entries.len()));
        for place in from.iter().chain(before) {
            for entry in place {
                if entry.is(tag) | (*entry == Entry::EMPTY) {
                    return *entry;
                }
            }
        }
        Entry::EMPTY
    }

    /// Returns the longest token that is a prefix of the first `left` bytes of `window`. There is one for each byte.
    #[inline(always)]
    pub(super) fn find(&self, window: u128, left: usize) -> Match {
        let (low, high) = halves(window);
        let single = self.singles.get(usize::from(low.to_le_bytes()[0])).copied().unwrap_or_default();
        let single = Match { number: single, len: 1 };
        let whole = hashed(low, 0);
        let tag = Entry::tag(whole);
        let entry = self.entry(whole, tag);
        let long = entry.is(tag) & (left >= 8);
        let half = select(long, high, low);
        let seed = select(long, whole | 1, 0);
        let left = select(long, left.wrapping_sub(8), left);
        let mut best = select(long, entry.0, Entry::new(0, single).0);
        let mut at = 0u32;
        for step in [4, 2, 1] {
            (at, best) = self.longer((half, seed, left), (at, step), best);
        }
        if at == 7 {
            (_, best) = self.longer((half, seed, left), (at, 1), best);
        }
        let best = Entry(best).of();
        let bytes = self.tokens.get(usize::from(best.number)).copied().unwrap_or_default();
        if (bytes ^ window) & mask(best.len) == 0 { best } else { single }
    }

    /// One step of the search: whether there is an entry for `step` more bytes than `at`.
    #[inline(always)]
    fn longer(&self, (half, seed, left): (u64, u64, usize), (at, step): (u32, u32), best: u32) -> (u32, u32) {
        let len = at.wrapping_add(step);
        let hash = hashed(first(half, len), seed);
        let tag = Entry::tag(hash);
        let entry = self.entry(hash, tag);
        let is = entry.is(tag) & (len as usize <= left);
        (select(is, len, at), select(is, entry.0, best))
    }
}

/// Returns the first bytes of a text as a number, the first lowest, padded with zeros.
pub(super) fn window(text: &[u8]) -> u128 {
    match text.first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        None => text.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte)),
    }
}
