//! The two lists that a file keeps of itself: its types and its extents (sections 5 and 10).
//!
//! Both are extents of strings, written piece by piece: nothing but what is listed takes memory.

use zerocopy::byteorder::{I32, I64};

use super::Description;
use super::output::Put;
use crate::bytes::{Endian, Scratch};
use crate::dataseries::check::ExtentHash;
use crate::dataseries::raw::{
    HEADER_LEN, INDEX_RECORD, INDEX_TYPE, POOL_START, XML_RECORD, XML_TYPE, entry_len, entry_pad, small,
};
use crate::error::{Error, Kind, Result, What};

/// An extent in the index: where it begins, and which type it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct IndexSlot(u64);

impl IndexSlot {
    /// An empty slot.
    pub const EMPTY: IndexSlot = IndexSlot(0);

    /// Bits of the type's number.
    const TYPE_BITS: u32 = 16;

    /// So many empty slots in lent memory.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] with the bytes needed.
    pub fn take<'s>(scratch: &mut Scratch<'s>, count: usize) -> Result<&'s mut [IndexSlot]> {
        let slots = scratch.take(count)?;
        slots.fill(IndexSlot::EMPTY);
        Ok(slots)
    }

    pub(super) fn new(at: u64, ty: usize) -> Result<Self> {
        match (at < 1 << (64 - IndexSlot::TYPE_BITS), u16::try_from(ty)) {
            (true, Ok(ty)) => Ok(IndexSlot(at << IndexSlot::TYPE_BITS | u64::from(ty))),
            _ => Err(Error::new(Kind::Limit, What::DsIndex, at).with_need(ty as u64)),
        }
    }

    /// Offset in the file.
    #[must_use]
    pub const fn at(self) -> u64 {
        self.0 >> IndexSlot::TYPE_BITS
    }

    /// The number of the type among those of the writer.
    #[must_use]
    pub const fn ty(self) -> usize {
        (self.0 & ((1 << IndexSlot::TYPE_BITS) - 1)) as usize
    }
}

/// Strings, each with a number or none.
#[derive(Clone, Copy)]
pub(in crate::dataseries) enum List<'w> {
    /// The descriptions of the types.
    Types(&'w [Description<'w>]),
    /// The type extent, the data extents, and the index itself.
    Index { slots: &'w [IndexSlot], types: &'w [Description<'w>], index_at: u64 },
}

impl List<'_> {
    /// The type of the extent that the list is stored as.
    pub(super) const fn type_name(&self) -> &'static str {
        match self {
            List::Types(_) => XML_TYPE,
            List::Index { .. } => INDEX_TYPE,
        }
    }

    /// Bytes of a record.
    pub(super) const fn record_len(&self) -> usize {
        match self {
            List::Types(_) => XML_RECORD,
            List::Index { .. } => INDEX_RECORD,
        }
    }

    /// How many strings.
    pub(super) const fn count(&self) -> usize {
        match self {
            List::Types(types) => types.len(),
            List::Index { slots, .. } => slots.len().saturating_add(2),
        }
    }

    fn get(&self, k: usize) -> (&[u8], u64) {
        match *self {
            List::Types(types) => (types.get(k).map_or(&[], |ty| ty.xml), 0),
            List::Index { slots, types, index_at } => match k.checked_sub(1) {
                None => (XML_TYPE.as_bytes(), HEADER_LEN as u64),
                Some(k) => match slots.get(k) {
                    Some(slot) => (types.get(slot.ty()).map_or(&[], |ty| ty.name.as_bytes()), slot.at()),
                    None => (INDEX_TYPE.as_bytes(), index_at),
                },
            },
        }
    }

    fn each(&self) -> impl Iterator<Item = (&[u8], u64)> {
        (0..self.count()).map(|k| self.get(k))
    }

    /// Bytes of the pool behind its start; saturated.
    pub(super) fn pool_len(&self) -> u32 {
        self.each().fold(0, |sum, (text, _)| sum.saturating_add(stored_len(text)))
    }

    /// The records. In both types the string's cell comes first, then padding, then the number if there is one.
    pub(super) fn records<E: Endian>(&self, to: &mut dyn Put) {
        let mut offset = small(POOL_START);
        for (text, number) in self.each() {
            let cell = if text.is_empty() { 0 } else { offset };
            let mut record = [0; INDEX_RECORD];
            if let Some(to) = record.first_chunk_mut() {
                *to = I32::<E>::new(cell.cast_signed()).to_bytes();
            }
            if let Some(to) = record.last_chunk_mut() {
                *to = I64::<E>::new(number.cast_signed()).to_bytes();
            }
            to.put(record.get(..self.record_len()).unwrap_or_default());
            offset = offset.saturating_add(stored_len(text));
        }
    }

    /// The pool behind its start.
    pub(super) fn entries<E: Endian>(&self, to: &mut dyn Put) {
        for (text, _) in self.each() {
            if !text.is_empty() {
                to.put(&word::<E>(text));
                to.put(text);
                to.put([0; 8].get(..usize::try_from(entry_pad(text.len() as u64)).unwrap_or(0)).unwrap_or_default());
            }
        }
    }

    /// The hash of the extent.
    pub(in crate::dataseries) fn hash<E: Endian>(&self) -> u32 {
        let mut hash = ExtentHash::new();
        self.records::<E>(&mut hash);
        hash.end_part();
        hash.part(&[0; POOL_START]);
        self.entries::<E>(&mut hash);
        hash.end_part();
        for (text, _) in self.each() {
            if !text.is_empty() {
                hash.word(&word::<E>(text));
            }
        }
        hash.value()
    }
}

/// Bytes of an entry; saturated.
fn stored_len(text: &[u8]) -> u32 {
    if text.is_empty() { 0 } else { u32::try_from(entry_len(text.len() as u64)).unwrap_or(u32::MAX) }
}

/// The length word of a string.
fn word<E: Endian>(text: &[u8]) -> [u8; 4] {
    I32::<E>::new(i32::try_from(text.len()).unwrap_or(0)).to_bytes()
}
