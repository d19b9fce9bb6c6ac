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
#[derive(Clone, Copy, Pod, Zeroable)]
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
}

/// Memory for what is kept.
#[derive(Default)]
pub(super) struct Kept<'k> {
    /// Slots in use come first.
    slots: &'k mut [Slot],
    bytes: &'k mut [u8],
}

/// The size of memory for what is kept.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    slots: u64,
    bytes: u64,
}

/// Maximum number of bytes to keep.
const MOST: u64 = 1 << 26;

impl Size {
    /// Returns the size for the last frame or page of each array at and below `node`.
    pub(super) fn of(node: &Node<'_>, cx: &mut Context<'_, '_>) -> Result<Self> {
        let size = Size::below(node, cx)?;
        Ok(if size.bytes <= MOST { size } else { Size::default() })
    }

    fn below(node: &Node<'_>, cx: &mut Context<'_, '_>) -> Result<Self> {
        cx.spend(node.at())?;
        let own = encodings::room_to_keep(node, cx)?;
        let mut all = own.map_or(Size::default(), |bytes| Size { slots: 1, bytes: aligned(bytes) });
        let mut chunks = Size::default();
        for k in 0..node.children()? {
            // The type does not matter.
            let child = Size::below(&node.child(k, &Ty::prim(Prim::I64, true), node.rows)?, cx)?;
            // Rows of one chunk after another are read, and the offsets of the chunks.
            if node.encoding() == Some(Encoding::Chunked) && k > 0 {
                chunks = Size { slots: chunks.slots.max(child.slots), bytes: chunks.bytes.max(child.bytes) };
            } else {
                all = all.with(child);
            }
        }
        Ok(all.with(chunks))
    }

    const fn with(self, other: Self) -> Self {
        Size { slots: self.slots.saturating_add(other.slots), bytes: self.bytes.saturating_add(other.bytes) }
    }

    pub(super) const fn is_none(self) -> bool {
        self.slots == 0
    }

    /// Returns the scratch bytes that it takes.
    pub(super) const fn cost(self) -> u64 {
        Scratch::cost::<Slot>(self.slots).saturating_add(Scratch::cost::<u64>(self.bytes.div_ceil(8)))
    }

    pub(super) fn take<'k>(self, scratch: &mut Scratch<'k>) -> Result<Kept<'k>> {
        let slots = scratch.take::<Slot>(saturated(self.slots))?;
        slots.fill(Slot::zeroed());
        Ok(Kept { slots, bytes: bytemuck::cast_slice_mut(scratch.take::<u64>(saturated(self.bytes.div_ceil(8)))?) })
    }
}

/// Returns a size that numbers of any type can follow.
const fn aligned(bytes: u64) -> u64 {
    bytes.saturating_add(7) & !7
}

impl Kept<'_> {
    pub(super) fn again(&mut self) -> Kept<'_> {
        Kept { slots: self.slots, bytes: self.bytes }
    }

    pub(super) const fn is_none(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the slot and memory of an array of numbers of type `prim`, or of texts. Returns `None` if they exceed the memory.
    pub(super) fn slot(
        &mut self,
        (node, prim): (&Node<'_>, Option<Prim>),
        cx: &mut Context<'_, '_>,
    ) -> Result<Option<(&mut Slot, &mut [u8])>> {
        // Arrays of several types may be in the same table: its pages unpack to other numbers for each.
        let kind = prim.map_or(1, |prim| (prim as u64).wrapping_add(2));
        let key = node.at().wrapping_mul(64).wrapping_add(kind);
        let mut k = self.slots.iter().position(|slot| slot.key == key || slot.key == 0).unwrap_or(self.slots.len());
        if self.slots.get(k).is_none_or(|slot| slot.key == 0) {
            let room = aligned(encodings::room_to_keep(node, cx)?.unwrap_or(u64::MAX));
            let before = k.checked_sub(1).and_then(|before| self.slots.get(before));
            let mut place = before.map_or(0, |slot| slot.place.saturating_add(slot.room));
            // Other arrays are read again if they are read at all: rows of the next chunk follow.
            if k == self.slots.len() || place.saturating_add(room) > self.bytes.len() as u64 {
                self.slots.fill(Slot::zeroed());
                (k, place) = (0, 0);
            }
            if place.saturating_add(room) > self.bytes.len() as u64 {
                return Ok(None);
            }
            if let Some(slot) = self.slots.get_mut(k) {
                *slot = Slot { key, place, room, ..Slot::zeroed() };
            }
        }
        let Some(slot) = self.slots.get_mut(k) else { return Ok(None) };
        let (place, end) = (saturated(slot.place), saturated(slot.place.saturating_add(slot.room)));
        Ok(self.bytes.get_mut(place..end).map(|bytes| (slot, bytes)))
    }
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
