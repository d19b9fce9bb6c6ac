//! The two lists that a file keeps of itself: its types and its extents (sections 5 and 10).
//!
//! Both are extents of strings, written piece by piece: nothing but what is listed takes memory.

use zerocopy::byteorder::{U32, U64};

use super::Description;
use super::output::{Put, zeros};
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

/// The rows of a built-in type: a string each, and a number or none.
#[derive(Clone, Copy)]
pub(super) struct List<'w> {
    /// The type of the extent that the list is stored as.
    pub(super) type_name: &'static str,
    /// Bytes of a record.
    pub(super) record_len: usize,
    /// How many rows.
    pub(super) rows: usize,
    types: &'w [Description<'w>],
    slots: &'w [IndexSlot],
    index_at: u64,
}

/// What an extent has of each row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// The record: the string's cell, padding, then the number if there is one.
    Record,
    /// The entry in the pool.
    Entry,
    /// The entry's length word alone.
    Word,
}

impl<'w> List<'w> {
    /// The descriptions of the types.
    pub(super) const fn types(types: &'w [Description<'w>]) -> Self {
        List { type_name: XML_TYPE, record_len: XML_RECORD, rows: types.len(), types, slots: &[], index_at: 0 }
    }

    /// The type extent, the data extents, and the index itself.
    pub(super) const fn index(types: &'w [Description<'w>], slots: &'w [IndexSlot], index_at: u64) -> Self {
        let rows = slots.len().saturating_add(2);
        List { type_name: INDEX_TYPE, record_len: INDEX_RECORD, rows, types, slots, index_at }
    }

    fn get(&self, k: usize) -> (&'w [u8], u64) {
        if self.record_len == XML_RECORD {
            return (self.types.get(k).map_or(&[], |ty| ty.xml), 0);
        }
        let Some(k) = k.checked_sub(1) else { return (XML_TYPE.as_bytes(), HEADER_LEN as u64) };
        match self.slots.get(k) {
            Some(slot) => (self.types.get(slot.ty()).map_or(&[], |ty| ty.name.as_bytes()), slot.at()),
            None => (INDEX_TYPE.as_bytes(), self.index_at),
        }
    }

    /// Puts one piece of every row; gives back the bytes of the whole pool, saturated. No string is empty,
    /// that is seen to before.
    #[inline(never)]
    pub(super) fn put<E: Endian>(&self, piece: Piece, to: &mut dyn Put) -> u32 {
        let mut cell = small(POOL_START);
        for k in 0..self.rows {
            let (text, number) = self.get(k);
            if piece == Piece::Record {
                let mut record = [0; INDEX_RECORD];
                if let Some(to) = record.first_chunk_mut() {
                    *to = U32::<E>::new(cell).to_bytes();
                }
                if let Some(to) = record.last_chunk_mut() {
                    *to = U64::<E>::new(number).to_bytes();
                }
                to.put(record.get(..self.record_len).unwrap_or_default());
            } else {
                to.put(&U32::<E>::new(small(text.len())).to_bytes());
                if piece == Piece::Entry {
                    to.put(text);
                    to.put(zeros(entry_pad(text.len() as u64)));
                }
            }
            let entry = u32::try_from(entry_len(text.len() as u64)).unwrap_or(u32::MAX);
            cell = cell.saturating_add(entry);
        }
        cell
    }

    /// The hash of the extent, and the bytes of its pool.
    pub(super) fn hash<E: Endian>(&self) -> (u32, u32) {
        let mut hash = ExtentHash::new();
        let pool = self.put::<E>(Piece::Record, &mut hash);
        hash.end_fixed();
        self.put::<E>(Piece::Entry, &mut hash);
        hash.end_part();
        self.put::<E>(Piece::Word, &mut Words(&mut hash));
        (hash.value(), pool)
    }
}

/// Takes length words.
struct Words<'h>(&'h mut ExtentHash);

impl Put for Words<'_> {
    fn put(&mut self, bytes: &[u8]) {
        if let Some(word) = bytes.first_chunk() {
            self.0.word(word);
        }
    }
}
