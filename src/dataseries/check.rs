//! The hash of an extent, from pieces (section 3.4).

use zerocopy::byteorder::I32;

use super::raw::{EXTENT_SEED, HASH_BATCH, POOL_START, entry_len};
use crate::bytes::Endian;
use crate::hash::Lookup2;

/// Initial value of `words` that counting the pieces of parts never raises to [`HASH_BATCH`].
const NO_WORDS: usize = usize::MAX / 2;

/// The four steps: the fixed part, the pool with its four zero bytes, the length words of all entries in batches of
/// [`HASH_BATCH`], and the remaining length words. Each step continues with the result of the step before.
pub(super) struct ExtentHash {
    state: Lookup2,
    words: usize,
}

impl ExtentHash {
    pub(super) const fn new() -> Self {
        ExtentHash { state: Lookup2::new(EXTENT_SEED), words: 0 }
    }

    /// Hashes a piece of the fixed part or of the pool.
    pub(super) fn part(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    /// Ends the fixed part and begins the pool with its four zero bytes.
    pub(super) fn end_fixed(&mut self) {
        self.end_part();
        self.part(&[0; POOL_START]);
    }

    /// Like [`part`](Self::part) for two extents, with the computations interleaved.
    pub(super) fn parts([a, b]: [&mut Self; 2], bytes: [&[u8]; 2]) {
        Lookup2::update_pair([&mut a.state, &mut b.state], bytes);
    }

    /// Ends the fixed part, the pool, or a batch of length words.
    pub(super) fn end_part(&mut self) {
        self.state.chain();
    }

    /// Hashes the length word of the next entry, in stored byte order.
    #[inline]
    pub(super) fn word(&mut self, word: &[u8; 4]) {
        self.state.word(word);
        self.words = self.words.wrapping_add(1);
        if self.words == HASH_BATCH {
            self.end_part();
            self.words = 0;
        }
    }

    /// Creates a hash to be fed with [`piece`](Self::piece): first with pieces of parts, as in [`part`](Self::part),
    /// and after [`begin_words`](Self::begin_words) with length words.
    pub(super) const fn of_pieces() -> Self {
        ExtentHash { words: NO_WORDS, ..ExtentHash::new() }
    }

    /// Begins the length words: each further piece is one word.
    pub(super) const fn begin_words(&mut self) {
        self.words = 0;
    }

    /// Hashes the next piece.
    pub(super) fn piece(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
        self.words = self.words.wrapping_add(1);
        if self.words == HASH_BATCH {
            self.end_part();
            self.words = 0;
        }
    }

    /// Hashes the length words of `entries`, which must be valid: the walk ends silently at the first invalid one.
    pub(super) fn entries<E: Endian>(&mut self, mut entries: &[u8]) {
        while let Some(word) = entries.first_chunk::<4>() {
            self.word(word);
            let len = I32::<E>::from_bytes(*word).get().cast_unsigned();
            entries =
                usize::try_from(entry_len(len.into())).ok().and_then(|len| entries.get(len..)).unwrap_or_default();
        }
    }

    /// Returns the hash. Ends the last batch of length words, which counts even if it is empty.
    pub(super) fn value(&mut self) -> u32 {
        self.state.chain()
    }
}
