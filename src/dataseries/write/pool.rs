//! The strings of the open extent (section 7).

use zerocopy::byteorder::I32;

use super::room::Room;
use crate::bytes::Endian;
use crate::dataseries::raw::{MAX_STORED, POOL_START, entry_len};
use crate::error::{Error, Kind, Result, What};
use crate::hash::lookup2;

/// Maximum number of slots probed per string in the table of unique strings. A string without a free slot
/// among them is stored again, which is valid and only costs space.
const PROBES: usize = 64;

/// The pool of an extent, without the four zero bytes before its first entry, and the hash table of its unique
/// strings.
#[derive(Debug)]
pub struct Pool<'m> {
    bytes: Room<'m, u8>,
    len: usize,
    /// Offsets in the pool, placed by the hash of the string; 0 is an empty slot.
    unique: Room<'m, u32>,
    /// Number of used slots of `unique`, which determines when a table on the heap grows.
    #[cfg(feature = "alloc")]
    known: usize,
}

impl<'m> Pool<'m> {
    pub(super) fn new(bytes: &'m mut [u8], unique: &'m mut [u32]) -> Self {
        unique.fill(0);
        Pool {
            bytes: Room::Lent(bytes),
            len: 0,
            unique: Room::Lent(unique),
            #[cfg(feature = "alloc")]
            known: 0,
        }
    }

    /// Creates a pool that grows on the heap.
    #[cfg(feature = "alloc")]
    pub(super) const fn growing() -> Self {
        use alloc::vec::Vec;
        Pool { bytes: Room::Owned(Vec::new()), len: 0, unique: Room::Owned(Vec::new()), known: 0 }
    }

    /// The bytes of the entries.
    #[must_use]
    pub fn entries(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// The size of the entries in bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the pool has no entry.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes the entries from `len` to the end, also from the table, where a stale offset could match a string by
    /// chance.
    pub(super) fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.len = len;
        // The removed entries were the last to get a slot, so no probe sequence is cut.
        for slot in self.unique.iter_mut().filter(|slot| **slot as usize >= len.saturating_add(POOL_START)) {
            *slot = 0;
            #[cfg(feature = "alloc")]
            {
                self.known = self.known.saturating_sub(1);
            }
        }
    }

    /// Stores a string and returns its cell. An empty string is the shared entry at offset 0. If `unique`, an
    /// equal string that was stored as unique is used again (section 7.2).
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the string does not fit; `need` is the required size of the pool in bytes.
    pub fn add<E: Endian>(&mut self, text: &[u8], unique: bool) -> Result<u32> {
        if text.is_empty() {
            return Ok(0);
        }
        if !unique {
            return self.append::<E>(text);
        }
        #[cfg(feature = "alloc")]
        self.make_slots::<E>();
        match self.look_up::<E>(text) {
            Place::Known(cell) => Ok(cell),
            Place::Full => self.append::<E>(text),
            Place::Free(at) => {
                let cell = self.append::<E>(text)?;
                #[cfg(feature = "alloc")]
                {
                    self.known = self.known.saturating_add(1);
                }
                if let Some(slot) = self.unique.get_mut(at) {
                    *slot = cell;
                }
                Ok(cell)
            }
        }
    }

    fn look_up<E: Endian>(&self, text: &[u8]) -> Place {
        let slots = self.unique.len();
        // The high half of hash times slots maps the hash to a slot without a division.
        let hashed = u64::from(lookup2(0, text)).saturating_mul(slots as u64) >> 32;
        let mut at = usize::try_from(hashed).unwrap_or(0);
        for _ in 0..PROBES.min(slots) {
            match self.unique.get(at).copied() {
                Some(0) => return Place::Free(at),
                Some(cell) if self.text_at::<E>(cell) == Some(text) => return Place::Known(cell),
                _ => at = at.saturating_add(1),
            }
            if at >= slots {
                at = 0;
            }
        }
        Place::Full
    }

    /// Grows a table on the heap, so that half of its slots stay empty.
    #[cfg(feature = "alloc")]
    fn make_slots<E: Endian>(&mut self) {
        let Room::Owned(slots) = &mut self.unique else { return };
        if self.known.saturating_mul(2) < slots.len() {
            return;
        }
        let larger = slots.len().saturating_mul(4).max(64);
        let before = core::mem::replace(slots, alloc::vec![0; larger]);
        for cell in before.into_iter().filter(|cell| *cell != 0) {
            let place = self.text_at::<E>(cell).map_or(Place::Full, |text| self.look_up::<E>(text));
            if let Place::Free(at) = place
                && let Some(slot) = self.unique.get_mut(at)
            {
                *slot = cell;
            }
        }
    }

    /// The string of the entry at offset `cell`.
    fn text_at<E: Endian>(&self, cell: u32) -> Option<&[u8]> {
        let entry = self.bytes.get((cell as usize).checked_sub(POOL_START)?..)?;
        let (word, rest) = entry.split_first_chunk()?;
        rest.get(..usize::try_from(I32::<E>::from_bytes(*word).get()).ok()?)
    }

    fn append<E: Endian>(&mut self, text: &[u8]) -> Result<u32> {
        let no_room = |end: u64| Err(Error::needing(Kind::NoRoom, What::DATASERIES_POOL, self.len as u64, end));
        let end = entry_len(text.len() as u64).saturating_add(self.len as u64);
        let cell = u32::try_from(self.len.saturating_add(POOL_START));
        let (true, Ok(to), Ok(cell), Ok(len)) =
            (end < MAX_STORED, usize::try_from(end), cell, i32::try_from(text.len()))
        else {
            return no_room(end);
        };
        self.bytes.reach(to);
        let entry = self.bytes.get_mut(self.len..to).and_then(|entry| entry.split_first_chunk_mut());
        let Some((word, (room, padding))) =
            entry.and_then(|(word, rest)| Some((word, rest.split_at_mut_checked(text.len())?)))
        else {
            return no_room(end);
        };
        *word = I32::<E>::new(len).to_bytes();
        room.copy_from_slice(text);
        padding.fill(0);
        self.len = to;
        Ok(cell)
    }
}

/// The result of a table lookup: the cell of an equal string, the number of a free slot, or neither.
enum Place {
    Known(u32),
    Free(usize),
    Full,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{BigEndian, LittleEndian};

    #[test]
    fn entries_are_laid_out_as_section_7_says() {
        let (mut bytes, mut none) = ([0xff; 40], []);
        let mut pool = Pool::new(&mut bytes, &mut none);
        assert_eq!(pool.add::<LittleEndian>(b"", false), Ok(0));
        assert_eq!(pool.add::<LittleEndian>(b"hello", false), Ok(4));
        assert_eq!(pool.add::<BigEndian>(b"four", true), Ok(20));
        assert_eq!(pool.entries(), b"\x05\0\0\0hello\0\0\0\0\0\0\0\0\0\0\x04four");
        let e = pool.add::<LittleEndian>(b"thirteen byte", false).unwrap_err();
        assert_eq!((e.kind(), e.need(), pool.len()), (Kind::NoRoom, 48, 24));
        assert_eq!(pool.add::<LittleEndian>(b"eightbyt", false), Ok(28));
    }

    #[test]
    fn unique_strings_share_their_entry_and_others_do_not() {
        let (mut bytes, mut slots) = ([0; 200], [7; 8]);
        let mut pool = Pool::new(&mut bytes, &mut slots);
        let mut add = |text: &[u8], unique| pool.add::<LittleEndian>(text, unique).unwrap();
        assert_eq!((add(b"a", false), add(b"a", true), add(b"b", true)), (4, 12, 20));
        assert_eq!((add(b"a", true), add(b"b", true), add(b"a", false)), (12, 20, 28));
        pool.truncate(16);
        assert_eq!(pool.add::<LittleEndian>(b"b", true), Ok(20), "forgotten, and stored again");
        assert_eq!(pool.add::<LittleEndian>(b"a", true), Ok(12), "still known");
    }

    #[test]
    fn a_full_table_only_costs_room() {
        let (mut bytes, mut slots) = ([0; 800], [0; 2]);
        let mut pool = Pool::new(&mut bytes, &mut slots);
        for text in [b"a", b"b", b"c", b"d"] {
            pool.add::<LittleEndian>(text, true).unwrap();
        }
        assert_eq!(pool.add::<LittleEndian>(b"a", true), Ok(4));
        assert_eq!(pool.add::<LittleEndian>(b"d", true), Ok(36));
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn a_growing_pool_knows_all_its_strings() {
        let mut pool = Pool::growing();
        let text = |n: u32| std::format!("string {n}");
        let cells: std::vec::Vec<u32> =
            (0..5000).map(|n| pool.add::<BigEndian>(text(n).as_bytes(), true).unwrap()).collect();
        let len = pool.len();
        for (n, cell) in (0..).zip(&cells) {
            assert_eq!(pool.add::<BigEndian>(text(n).as_bytes(), true), Ok(*cell));
        }
        assert_eq!(pool.len(), len);
    }
}
