//! The hash of an extent, from pieces (section 3.4).

use zerocopy::byteorder::I32;

use super::raw::{EXTENT_SEED, HASH_BATCH, POOL_START, entry_len};
use crate::bytes::Endian;
use crate::hash::Lookup2;

/// So far from a batch that pieces of parts never make one.
const NO_WORDS: usize = usize::MAX / 2;

/// The four steps: the fixed part, the pool with its four zero bytes, and the length words of all
/// entries in batches, each step chained behind the one before.
pub(super) struct ExtentHash {
    state: Lookup2,
    words: usize,
}

impl ExtentHash {
    pub(super) const fn new() -> Self {
        ExtentHash { state: Lookup2::new(EXTENT_SEED), words: 0 }
    }

    /// A piece of the fixed part, or of the pool.
    pub(super) fn part(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    /// Ends the fixed part, and begins the pool with its four zero bytes.
    pub(super) fn end_fixed(&mut self) {
        self.end_part();
        self.part(&[0; POOL_START]);
    }

    /// The same for two extents at once.
    pub(super) fn parts([a, b]: [&mut Self; 2], bytes: [&[u8]; 2]) {
        Lookup2::update_pair([&mut a.state, &mut b.state], bytes);
    }

    /// Ends the fixed part, and then the pool.
    pub(super) fn end_part(&mut self) {
        self.state.chain();
    }

    /// The length word of the next entry, as it is stored.
    #[inline]
    pub(super) fn word(&mut self, word: &[u8; 4]) {
        self.state.word(word);
        self.words = self.words.wrapping_add(1);
        if self.words == HASH_BATCH {
            self.end_part();
            self.words = 0;
        }
    }

    /// For pieces of parts, as [`part`](Self::part), and then for length words: see
    /// [`begin_words`](Self::begin_words).
    pub(super) const fn of_pieces() -> Self {
        ExtentHash { words: NO_WORDS, ..ExtentHash::new() }
    }

    /// The pieces to come are length words.
    pub(super) const fn begin_words(&mut self) {
        self.words = 0;
    }

    /// The next piece.
    pub(super) fn piece(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
        self.words = self.words.wrapping_add(1);
        if self.words == HASH_BATCH {
            self.end_part();
            self.words = 0;
        }
    }

    /// The length words of `entries`, which were written here.
    pub(super) fn entries<E: Endian>(&mut self, mut entries: &[u8]) {
        while let Some(word) = entries.first_chunk::<4>() {
            self.word(word);
            let len = I32::<E>::from_bytes(*word).get().cast_unsigned();
            entries =
                usize::try_from(entry_len(len.into())).ok().and_then(|len| entries.get(len..)).unwrap_or_default();
        }
    }

    /// The hash, at the end. The last batch counts, also if it is empty.
    pub(super) fn value(&mut self) -> u32 {
        self.state.chain()
    }
}
