//! The hash table of a dictionary, which finds the entry that equals a string.

use super::rows::Strings;
use crate::bytes::short_strings::{SHORT, ends, same};
use crate::bytes::{FAST, low32};
use crate::error::Result;

/// All bytes of a string of up to [`SHORT`] bytes. Two strings of one length are equal if their keys are.
pub(super) type Key = [u64; 2];

/// What finds a string in a table.
#[derive(Clone, Copy)]
pub(super) struct Text {
    /// The upper five bits are the length, or [`LONG`] for a longer string.
    pub hash: u32,
    /// Zeros for a longer string.
    key: Key,
}

/// The key of an entry that is longer than [`SHORT`] bytes: no string with its hash has this key.
const NO_KEY: Key = [u64::MAX; 2];

/// The length of all strings that are longer than their keys.
const LONG: u32 = low32(SHORT as u64 + 1);

/// Number of bits of a hash that depend on all bytes.
const HASH_BITS: u32 = 27;

impl Text {
    /// Any text.
    pub const EMPTY: Self = Text { hash: 0, key: [0; 2] };

    /// Hashes a string. The hash has no key, because the number of probes bounds the cost of collisions.
    #[cfg_attr(not(pilaster_small), inline(always))]
    pub fn of(bytes: &[u8]) -> Self {
        let (len, key, hash) = if bytes.len() <= SHORT {
            let (low, high) = ends(bytes);
            (low32(bytes.len() as u64), [low, high], step(bytes.len() as u64, (low, high)))
        } else {
            (LONG, [0; 2], long_hash(bytes))
        };
        Text { hash: low32(hash ^ hash >> 32) & (u32::MAX >> (32 - HASH_BITS)) | len << HASH_BITS, key }
    }

    /// Returns whether the key has all bytes of the string.
    #[cfg_attr(not(pilaster_small), inline(always))]
    const fn is_short(&self) -> bool {
        self.hash < LONG << HASH_BITS
    }
}

/// Hashes 16 bytes per step. The last 16 bytes are a step of their own, which may hash some a second time.
#[inline(never)]
fn long_hash(text: &[u8]) -> u64 {
    let (heads, _) = text.as_chunks::<SHORT>();
    let hash = heads.iter().fold(text.len() as u64, |hash, head| step(hash, ends(head)));
    step(hash, text.last_chunk::<SHORT>().map_or((0, 0), |last| ends(last)))
}

/// Adds 16 bytes to a hash, by multiplying and folding.
#[inline]
const fn step(hash: u64, (low, high): (u64, u64)) -> u64 {
    // Digits of pi, so that zeros in a string do not make a product of zero.
    fold(low ^ 0x243f_6a88_85a3_08d3, high ^ 0x1319_8a2e_0370_7344 ^ hash)
}

/// Returns the two halves of a product, combined by XOR. Each bit of a half depends on all lower or on all higher bits
/// of the factors.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the two halves")]
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    product as u64 ^ (product >> 64) as u64
}

/// The entries of a dictionary.
pub(super) struct Entries<'a, 't> {
    pub strings: Strings<'a>,
    /// The first row of each entry.
    pub first: &'t mut [u32],
    /// The keys of short entries, so that a comparison does not fetch them. Small builds have none.
    pub keys: &'t mut [Key],
    pub len: u32,
}

/// Size in bytes of what is stored for an entry.
pub(super) const ENTRY_COST: usize = size_of::<u32>() + if FAST { size_of::<Key>() } else { 0 };

impl Entries<'_, '_> {
    /// Returns whether the entry of a slot with the hash of `text` has its key: then it has its length, too, and is equal.
    /// False for longer strings, see [`NO_KEY`].
    #[cfg_attr(not(pilaster_small), inline(always))]
    pub fn has_key(&self, [_, code]: Slot, text: &Text) -> bool {
        let ([a, b], key) = (text.key, self.keys.get(code.wrapping_sub(1) as usize));
        // Two words, not a vector of 16 bytes, which would wait for the stores of both.
        key.is_some_and(|[low, high]| (low ^ a) | (high ^ b) == 0)
    }

    /// Returns whether the entry of a slot with the hash of `text` is equal to the string of `row`.
    pub fn is_equal(&self, slot: Slot, text: &Text, row: u32) -> Result<bool> {
        if FAST && text.is_short() {
            return Ok(self.has_key(slot, text));
        }
        let [_, code] = slot;
        let entry = self.first.get(code.wrapping_sub(1) as usize).map_or(0, |row| *row as usize);
        Ok(same(self.strings.get(entry)?, self.strings.get(row as usize)?))
    }

    /// Adds an entry. Returns its slot, or `None` if there is no memory.
    pub fn push(&mut self, row: u32, text: &Text) -> Option<Slot> {
        *self.first.get_mut(self.len as usize)? = row;
        if FAST {
            *self.keys.get_mut(self.len as usize)? = if text.is_short() { text.key } else { NO_KEY };
        }
        self.len = self.len.wrapping_add(1);
        Some([text.hash, self.len])
    }

    /// Returns memory for the hashes of all entries, which are at most half of those that there is memory for.
    pub fn spare(&mut self) -> &mut [u32] {
        let (_, spare) = self.first.split_at_mut_checked(self.len as usize).unwrap_or_default();
        spare.get_mut(..self.len as usize).unwrap_or_default()
    }
}

/// A slot of the hash table: the hash and the code of a string. Code 0 marks a free slot.
///
/// An array, as memory is cast to arrays of numbers without code from a derive macro.
pub(super) type Slot = [u32; 2];

/// A hash table that grows within its memory, so that few distinct strings take few cache lines.
pub(super) struct Table<'t> {
    pub slots: &'t mut [Slot],
    /// Number of slots in use minus 1; the mask for a slot index.
    places: usize,
}

impl<'t> Table<'t> {
    /// Creates a table in `slots`, whose number is a power of two. Returns `None` if it is empty.
    pub fn new(slots: &'t mut [Slot]) -> Option<Self> {
        let places = slots.len().min(SMALL).checked_sub(1)?;
        let mut table = Table { slots, places };
        table.clear();
        Some(table)
    }

    fn clear(&mut self) {
        self.slots.get_mut(..=self.places).unwrap_or_default().fill([0, 0]);
    }

    /// Returns the slot at which the search for a hash begins.
    #[inline]
    pub const fn home(&self, hash: u32) -> usize {
        // The odd factor spreads strings of one length over more slots than a hash has values without its length.
        hash.wrapping_mul(0x9e37_79b9) as usize & self.places
    }

    /// Returns the slot after `place`.
    #[inline]
    pub const fn after(&self, place: usize) -> usize {
        place.wrapping_add(1) & self.places
    }

    /// Returns whether more slots should be used for `entries` entries.
    pub const fn is_full(&self, entries: u32) -> bool {
        self.places >> 3 < entries as usize && self.places.saturating_add(1) < self.slots.len()
    }

    /// Uses more slots. `hashes` temporarily holds the hashes of all entries.
    pub fn grow(&mut self, hashes: &mut [u32]) {
        for [hash, code] in self.slots.iter().take(self.places.saturating_add(1)) {
            if let Some(entry) = hashes.get_mut(code.wrapping_sub(1) as usize) {
                *entry = *hash;
            }
        }
        let more = self.places.saturating_add(1).saturating_mul(GROWTH);
        self.places = more.min(self.slots.len()).saturating_sub(1);
        self.clear();
        for (code, hash) in (1u32..).zip(hashes) {
            let mut place = self.home(*hash);
            // Few slots are occupied, so the loop is short.
            while let Some(slot) = self.slots.get_mut(place) {
                let [_, used] = *slot;
                if used == 0 {
                    *slot = [*hash, code];
                    break;
                }
                place = self.after(place);
            }
        }
    }
}

/// Initial number of slots of a table: as many as fit the first-level cache.
const SMALL: usize = 1 << 12;

/// Factor by which the number of slots grows.
const GROWTH: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::vec;
    use std::vec::Vec;

    fn hash(text: &[u8]) -> u32 {
        Text::of(text).hash
    }

    #[test]
    fn every_byte_changes_the_hash() {
        let text: Vec<u8> = (0..70).collect();
        for len in 0..70 {
            assert_ne!(hash(&text[..len]), hash(&text[..len + 1]), "{len}");
            for i in 0..len {
                let mut other = text[..len].to_vec();
                other[i] ^= 0x80;
                assert_ne!(hash(&text[..len]), hash(&other), "{len} {i}");
            }
        }
    }

    #[test]
    fn hashes_spread() {
        for head in ["", "x", "a prefix of more than 16 bytes"] {
            let mut table = vec![[0; 2]; 4096];
            let table = Table::new(&mut table).unwrap();
            let mut homes: Vec<usize> = (0..4096).map(|i| table.home(hash(format!("{head}{i}").as_bytes()))).collect();
            homes.sort_unstable();
            homes.dedup();
            // A random function hits 63 % of the values.
            assert!((2400..2800).contains(&homes.len()), "{head}: {}", homes.len());
        }
        assert_ne!(hash(b""), hash(b"\0"));
        assert_ne!(hash(b"abcdefgh"), hash(b"abcdefghabcdefgh"));
    }

    #[test]
    fn entries_are_equal_by_all_their_bytes() {
        let text: Vec<u8> = (0..40).collect();
        for len in 0..40 {
            let others = (0..len).map(|i| {
                text.iter().take(len).zip(0..).map(|(byte, at)| byte ^ if at == i { 0x80 } else { 0 }).collect()
            });
            let rows: Vec<Vec<u8>> = vec![text[..len].to_vec(); 2].into_iter().chain(others).collect();
            let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
            let (mut first, mut keys) = ([0; 2], [[0; 2]; 2]);
            let mut entries = Entries { strings: Strings::Slices(&rows), first: &mut first, keys: &mut keys, len: 0 };
            let slot = entries.push(0, &Text::of(rows[0])).unwrap();
            for (row, text) in (0..).zip(&rows) {
                let text = &Text::of(text);
                assert_eq!(entries.is_equal(slot, text, row).unwrap(), row < 2, "{len} {row}");
                // Small builds keep no keys.
                assert!(!FAST || entries.has_key(slot, text) == (row < 2 && len <= SHORT), "{len} {row}");
            }
        }
    }

    #[test]
    fn short_texts_of_two_lengths_have_two_hashes() {
        // Their keys are equal.
        for (a, b) in
            [(&b""[..], &b"\0"[..]), (b"\0", b"\0\0"), (b"aaaaa", b"aaaaaa"), (b"", &[0; 16]), (b"aaaa", &[97; 16])]
        {
            assert_eq!(Text::of(a).key, Text::of(b).key);
            assert_ne!(hash(a), hash(b));
        }
    }
}
