//! The two lists that a file contains: its types and its extents (sections 5 and 10).
//!
//! Both are extents of strings. They are written piece by piece, so that only the listed items take memory.

use zerocopy::IntoBytes;
use zerocopy::byteorder::{U32, U64};

use super::Description;
use super::output::{Put, zeros};
use crate::bytes::{Endian, len32, low32};
use crate::dataseries::check::ExtentHash;
use crate::dataseries::raw::{
    HEADER_LEN, INDEX_RECORD, INDEX_TYPE, ListRecord, POOL_START, XML_RECORD, XML_TYPE, entry_len, entry_pad,
};

/// An extent in the index: its offset and its type. A slot has alignment 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::TransparentWrapper)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct IndexSlot([u8; 8]);

impl IndexSlot {
    /// An empty slot.
    pub const EMPTY: IndexSlot = IndexSlot([0; 8]);

    /// Width of the type's number in bits.
    const TYPE_BITS: u32 = 16;

    /// Divides `memory` into slots of 8 bytes; a remainder stays unused. The initial contents do not matter.
    ///
    /// ```
    /// use pilaster::dataseries::write::IndexSlot;
    ///
    /// assert_eq!(IndexSlot::over(&mut [0; 100]).len(), 12);
    /// ```
    #[must_use]
    pub fn over(memory: &mut [u8]) -> &mut [IndexSlot] {
        bytemuck::TransparentWrapper::wrap_slice_mut(memory.as_chunks_mut().0)
    }

    /// Creates the slot of an extent at offset `at` with type number `ty`; `None` if `at` is 2^48 or more. A
    /// [`Descriptions`](super::Descriptions) has at most 2^16 types, so `ty` fits.
    pub(super) const fn new(at: u64, ty: usize) -> Option<Self> {
        if at < 1 << (64 - IndexSlot::TYPE_BITS) {
            Some(IndexSlot((at << IndexSlot::TYPE_BITS | ty as u64).to_ne_bytes()))
        } else {
            None
        }
    }

    /// The offset of the extent in the file.
    #[must_use]
    pub(crate) const fn at(self) -> u64 {
        u64::from_ne_bytes(self.0) >> IndexSlot::TYPE_BITS
    }

    /// The number of the type in the writer's list.
    #[must_use]
    pub(crate) const fn ty(self) -> usize {
        (u64::from_ne_bytes(self.0) & ((1 << IndexSlot::TYPE_BITS) - 1)) as usize
    }
}

/// The rows of a built-in type: each has a string, and in the index also a number.
#[derive(Clone, Copy)]
pub(in crate::dataseries) struct List<'w> {
    types: &'w [Description<'w>],
    /// The extents of the index; `None` for the list of types.
    slots: Option<&'w [IndexSlot]>,
    index_at: u64,
}

/// The piece of each row in a section of the extent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// The record: the string's cell, and in the index padding and the number.
    Record,
    /// The string's entry in the pool.
    Entry,
    /// Only the length word of the entry.
    Word,
}

/// The name of the list's extent type, the size of a record in bytes, and the number of records.
type Shape = (&'static str, usize, usize);

impl<'w> List<'w> {
    /// The descriptions of the types.
    pub(in crate::dataseries) const fn types(types: &'w [Description<'w>]) -> Self {
        List { types, slots: None, index_at: 0 }
    }

    /// The descriptions of the types. With `slots`, the index: the type extent, the data extents, and the index
    /// itself at offset `at`.
    pub(super) const fn new(types: &'w [Description<'w>], slots: Option<&'w [IndexSlot]>, at: u64) -> Self {
        List { types, slots, index_at: at }
    }

    pub(super) const fn shape(&self) -> Shape {
        match self.slots {
            None => (XML_TYPE, XML_RECORD, self.types.len()),
            Some(slots) => (INDEX_TYPE, INDEX_RECORD, slots.len().wrapping_add(2)),
        }
    }

    /// Puts one piece of every row. Returns the size of the whole pool in bytes, saturated. No string is
    /// empty, because [`Descriptions`](super::Descriptions) allows neither an empty name nor an empty text.
    pub(super) fn put<E: Endian>(&self, piece: Section, to: &mut dyn Put) -> u32 {
        let (_, record_len, rows) = self.shape();
        let mut cell = len32(POOL_START);
        for (text, number) in (0..rows).filter_map(|k| self.row(k)) {
            let len = len32(text.len());
            if piece == Section::Record {
                let record = ListRecord::<E> { cell: U32::new(cell), padding: [0; 4], number: U64::new(number) };
                to.put(record.as_bytes().get(..record_len).unwrap_or_default());
            } else {
                to.put(&U32::<E>::new(len).to_bytes());
                if piece == Section::Entry {
                    to.put(text);
                    to.put(zeros(entry_pad(len.into())));
                }
            }
            // Descriptions and names are shorter than 2^32 bytes.
            cell = cell.saturating_add(low32(entry_len(len.into())));
        }
        cell
    }

    /// The string and the number of row `k`.
    fn row(&self, k: usize) -> Option<(&'w [u8], u64)> {
        let Some(slots) = self.slots else { return Some((self.types.get(k)?.xml, 0)) };
        let Some(before) = k.checked_sub(1) else { return Some((XML_TYPE.as_bytes(), HEADER_LEN as u64)) };
        match slots.get(before) {
            Some(slot) => Some((self.types.get(slot.ty())?.name.as_bytes(), slot.at())),
            None => Some((INDEX_TYPE.as_bytes(), self.index_at)),
        }
    }

    /// The hash of the extent, and the size of its pool in bytes.
    pub(in crate::dataseries) fn hash<E: Endian>(&self) -> (u32, u32) {
        let mut hash = ExtentHash::of_pieces();
        let pool = self.put::<E>(Section::Record, &mut hash);
        hash.end_fixed();
        self.put::<E>(Section::Entry, &mut hash);
        hash.end_part();
        hash.begin_words();
        self.put::<E>(Section::Word, &mut hash);
        (hash.value(), pool)
    }
}
