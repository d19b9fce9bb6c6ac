//! The last frame or page of each array that was unpacked, kept for rows that are read one by one.

use bytemuck::{Pod, Zeroable};

use super::context::Context;
use super::dtype::Ty;
use super::encodings;
use super::node::Node;
use super::raw::Encoding;
use crate::bytes::{Scratch, saturated};
use crate::column::Prim;
use crate::error::Result;

/// A frame or page of one array, and its place in the memory.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Slot {
    /// The array; 0 if the slot is free.
    key: u64,
    /// Its part of the memory.
    place: u64,
    room: u64,
    /// The numbers of the values that are kept.
    pub start: u64,
    pub end: u64,
    /// Size of all of them in bytes.
    pub len: u64,
    /// The number of a text, and the offset of its length. The next text is often searched from here.
    pub value: u64,
    pub at: u64,
    /// The number of the last search for the array.
    search: u64,
}

/// The state of the searches for slots.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Searches {
    /// Number of searches so far.
    count: u64,
    /// Number of bytes in use.
    used: u64,
    /// Number of searches after which an array is no longer read if none of them was for it.
    all: u64,
    /// The search from which it is tested again whether arrays are still read.
    again: u64,
}

/// Memory for what is kept.
#[derive(Default)]
pub(super) struct Kept<'k> {
    searches: Option<&'k mut Searches>,
    /// A hash table.
    slots: &'k mut [Slot],
    bytes: &'k mut [u8],
}

/// The size of memory for what is kept.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    /// Number of arrays; 0 if there is memory for all of them.
    arrays: u64,
    slots: u64,
    bytes: u64,
    /// Whether an array has lists, so that one row may read many values.
    has_lists: bool,
}

/// Whether anything is kept. A page in a browser shows few rows at a time, and its module has a limit of bytes.
pub(super) const KEEPS: bool = cfg!(not(target_arch = "wasm32"));

/// Maximum number of bytes to keep.
const MOST: u64 = 1 << 26;

/// Maximum number of arrays of which something is kept.
const MOST_SLOTS: u64 = 1 << 12;

/// Number of slots that are released in the time that a node takes.
const SLOTS_PER_NODE: u64 = 64;

/// Maximum number of slots that are compared to find an array.
const PROBES: u64 = 64;

impl Size {
    /// Returns the size for the last frame or page of each array at and below `node`.
    pub(super) fn of(node: &Node<'_>, cx: &mut Context<'_, '_>) -> Result<Self> {
        if !KEEPS {
            return Ok(Size::default());
        }
        let Size { arrays, slots, bytes, has_lists } = Size::below(node, cx)?;
        let has_all = slots <= MOST_SLOTS && bytes <= MOST;
        let arrays = if has_all { 0 } else { arrays };
        Ok(Size { arrays, slots: slots.min(MOST_SLOTS), bytes: bytes.min(MOST), has_lists })
    }

    fn below(node: &Node<'_>, cx: &mut Context<'_, '_>) -> Result<Self> {
        cx.spend(node.at())?;
        let own = encodings::room_to_keep(node, cx)?;
        let mut all = match own {
            Some(bytes) if bytes <= MOST => Size { arrays: 1, slots: 1, bytes: aligned(bytes), ..Size::default() },
            own => Size { arrays: own.is_some().into(), ..Size::default() },
        };
        all.has_lists = matches!(node.encoding(), Some(Encoding::List | Encoding::ListView | Encoding::FixedSizeList));
        let mut chunks = Size::default();
        for k in 0..node.children()? {
            // The type does not matter.
            let child = Size::below(&node.child(k, &Ty::prim(Prim::I64, true), node.rows)?, cx)?;
            // Rows of one chunk after another are read, and the offsets of the chunks.
            if node.encoding() == Some(Encoding::Chunked) && k > 0 {
                chunks = Size {
                    arrays: chunks.arrays.max(child.arrays),
                    slots: chunks.slots.max(child.slots),
                    bytes: chunks.bytes.max(child.bytes),
                    has_lists: chunks.has_lists || child.has_lists,
                };
            } else {
                all = all.with(child);
            }
        }
        Ok(all.with(chunks))
    }

    const fn with(self, other: Self) -> Self {
        Size {
            arrays: self.arrays.saturating_add(other.arrays),
            slots: self.slots.saturating_add(other.slots),
            bytes: self.bytes.saturating_add(other.bytes),
            has_lists: self.has_lists || other.has_lists,
        }
    }

    pub(super) const fn is_none(self) -> bool {
        self.slots == 0
    }

    /// Returns the size for one row. It reads each frame once, so that nothing is kept, unless it has lists.
    pub(super) fn of_one_row(self) -> Self {
        if self.has_lists { self } else { Size::default() }
    }

    /// Returns the scratch bytes that it takes.
    pub(super) const fn cost(self) -> u64 {
        let slots = Scratch::cost::<Searches>(1).saturating_add(Scratch::cost::<Slot>(self.slots.saturating_mul(2)));
        slots.saturating_add(Scratch::cost::<u64>(self.bytes.div_ceil(8)))
    }

    pub(super) fn take<'k>(self, scratch: &mut Scratch<'k>) -> Result<Kept<'k>> {
        // At most half of the table is in use.
        let slots = scratch.take::<Slot>(saturated(self.slots.saturating_mul(2)))?;
        slots.fill(Slot::zeroed());
        let searches = scratch.take::<Searches>(1)?.first_mut();
        let searches = searches.map(|searches| {
            // A row may search for an array more than once. If there is memory for all arrays, the arrays of the next
            // chunk take the place of others at once.
            *searches = Searches { all: self.arrays.saturating_mul(3), ..Searches::zeroed() };
            searches
        });
        let bytes = scratch.take::<u64>(saturated(self.bytes.div_ceil(8)))?;
        Ok(Kept { searches, slots, bytes: bytemuck::cast_slice_mut(bytes) })
    }
}

/// Returns a size that numbers of any type can follow.
const fn aligned(bytes: u64) -> u64 {
    bytes.saturating_add(7) & !7
}

impl Kept<'_> {
    pub(super) fn again(&mut self) -> Kept<'_> {
        Kept { searches: self.searches.as_deref_mut(), slots: self.slots, bytes: self.bytes }
    }

    /// Returns whether something may be kept.
    pub(super) const fn is_none(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns whether rows are put together, so that their texts are read one by one, if frames may be kept.
    pub(super) const fn has_rows(&self) -> bool {
        KEEPS && self.searches.is_some()
    }

    /// Returns the slot and memory of an array of numbers of type `prim`, or of texts. Returns `None` if nothing is kept of it.
    pub(super) fn slot(
        &mut self,
        (node, prim): (&Node<'_>, Option<Prim>),
        cx: &mut Context<'_, '_>,
    ) -> Result<Option<(&mut Slot, &mut [u8])>> {
        // Arrays of several types may be in the same table: its pages unpack to other numbers for each.
        let kind = prim.map_or(1, |prim| (prim as u64).wrapping_add(2));
        let key = node.at().wrapping_mul(64).wrapping_add(kind);
        let Some(searches) = self.searches.as_deref_mut() else { return Ok(None) };
        searches.count = searches.count.saturating_add(1);
        let k = match places(key, self.slots.len() as u64)
            .find(|k| self.slots.get(*k).is_some_and(|slot| slot.key == key))
        {
            Some(k) => k,
            None => {
                let room = aligned(encodings::room_to_keep(node, cx)?.unwrap_or(u64::MAX));
                let Some(k) = self.insert(key, room, (node, cx))? else { return Ok(None) };
                k
            }
        };
        let (Some(searches), Some(slot)) = (self.searches.as_deref_mut(), self.slots.get_mut(k)) else {
            return Ok(None);
        };
        slot.search = searches.count;
        let (place, end) = (saturated(slot.place), saturated(slot.place.saturating_add(slot.room)));
        Ok(self.bytes.get_mut(place..end).map(|bytes| (slot, bytes)))
    }

    /// Adds a slot with `room` bytes, and returns its number. It takes the place of another only if that one is no longer
    /// read: the rows are in another chunk. If there is no memory, all others are released.
    fn insert(&mut self, key: u64, room: u64, (node, cx): (&Node<'_>, &mut Context<'_, '_>)) -> Result<Option<usize>> {
        let Some(searches) = self.searches.as_deref_mut() else { return Ok(None) };
        let oldest = searches.count.saturating_sub(searches.all);
        if searches.used.saturating_add(room) > self.bytes.len() as u64 {
            if room > self.bytes.len() as u64 || searches.count < searches.again {
                return Ok(None);
            }
            cx.spend_many(self.slots.len() as u64 / SLOTS_PER_NODE, node.at())?;
            if self.slots.iter().all(|slot| slot.key == 0 || slot.search >= oldest) {
                searches.again = searches.count.saturating_add(searches.all);
                return Ok(None);
            }
            searches.used = 0;
            self.slots.fill(Slot::zeroed());
        }
        // Free slots were never searched for, so that the first of them is taken.
        let search = |k: &usize| self.slots.get(*k).map_or(u64::MAX, |slot| slot.search);
        let k = places(key, self.slots.len() as u64).min_by_key(search);
        let Some(slot) = k.and_then(|k| self.slots.get_mut(k)) else { return Ok(None) };
        if slot.key > 0 && slot.search >= oldest {
            return Ok(None);
        }
        // The memory of an array that leaves is used again if it is large enough.
        if room > slot.room {
            (slot.place, slot.room) = (searches.used, room);
            searches.used = searches.used.saturating_add(room);
        }
        *slot = Slot { key, place: slot.place, room: slot.room, ..Slot::zeroed() };
        Ok(k)
    }
}

/// Returns the numbers of the slots that an array may have in a table of `len` slots.
fn places(key: u64, len: u64) -> impl Iterator<Item = usize> {
    // Arrays of one size follow each other at equal distances, whatever they are: all bits of the key must change the
    // last bits of the hash.
    let hash = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    let hash = hash ^ hash >> 31;
    (0..PROBES.min(len)).map(move |i| saturated(hash.wrapping_add(i).checked_rem(len).unwrap_or(0)))
}

impl Slot {
    pub(super) const fn has(&self, value: u64) -> bool {
        self.start <= value && value < self.end
    }

    /// Sets the numbers of the values that are kept, and their size in bytes.
    pub(super) const fn set(&mut self, (start, end): (u64, u64), len: u64) {
        *self = Slot { start, end, len, value: start, at: 0, ..*self };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_at_equal_distances_find_a_slot() {
        const LEN: u64 = 2 * MOST_SLOTS;
        for distance in [1, 24, 60, 64, 1000, 1024, 1097, 4096, 5155, 6186, 7139] {
            let mut is_taken = [false; LEN as usize];
            for i in 0..MOST_SLOTS {
                let free = places((4760 + i * distance) * 64 + 6, LEN).find(|k| !is_taken[*k]);
                is_taken[free.unwrap_or_else(|| panic!("array {i} at distance {distance}"))] = true;
            }
        }
    }
}
