//! The two lists that a file keeps of itself: its types and its extents (sections 5 and 10).
//!
//! Both are extents of strings, written piece by piece: nothing but what is listed takes memory.

use zerocopy::byteorder::{I32, I64};

use super::Description;
use crate::bytes::Endian;
use crate::dataseries::raw::{
    HEADER_LEN, INDEX_RECORD, INDEX_TYPE, POOL_START, XML_RECORD, XML_TYPE, entry_len, entry_pad,
};
use crate::error::{Error, Kind, Result, What};

/// An extent in the index: where it begins, and which type it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IndexSlot(u64);

impl IndexSlot {
    /// An empty slot.
    pub const EMPTY: IndexSlot = IndexSlot(0);

    /// Bits of the type's number.
    const TYPE_BITS: u32 = 16;

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

/// Strings in the order in which they are stored, each with a number or none.
pub(super) trait List {
    /// Calls `row` for each.
    fn each(&self, row: &mut dyn FnMut(&[u8], Option<u64>));

    /// How many there are, and the bytes of their entries.
    fn len(&self) -> (u64, u64) {
        let (mut count, mut entries) = (0u64, 0u64);
        self.each(&mut |text, _| {
            count = count.saturating_add(1);
            entries = entries.saturating_add(stored_len(text));
        });
        (count, entries)
    }

    /// Bytes of a record.
    fn record_len(&self) -> usize;
}

fn stored_len(text: &[u8]) -> u64 {
    if text.is_empty() { 0 } else { entry_len(text.len() as u64) }
}

/// The records of a list: the string's cell, padding, and the number where the type has one.
pub(super) fn records<E: Endian>(list: &dyn List, to: &mut dyn FnMut(&[u8])) {
    let mut offset = POOL_START as u64;
    list.each(&mut |text, number| {
        let cell = if text.is_empty() { 0 } else { offset };
        // Checked by whoever writes the list: a pool is smaller than 2^31.
        to(&I32::<E>::new(i32::try_from(cell).unwrap_or(0)).to_bytes());
        to(&[0; 4]);
        if let Some(number) = number {
            to(&I64::<E>::new(number.cast_signed()).to_bytes());
        }
        offset = offset.saturating_add(stored_len(text));
    });
}

/// The pool of a list.
pub(super) fn entries<E: Endian>(list: &dyn List, to: &mut dyn FnMut(&[u8])) {
    list.each(&mut |text, _| {
        if !text.is_empty() {
            to(&word::<E>(text));
            to(text);
            let padding = usize::try_from(entry_pad(text.len() as u64)).unwrap_or(0);
            to([0; 8].get(..padding).unwrap_or_default());
        }
    });
}

/// The length word of a string.
pub(super) fn word<E: Endian>(text: &[u8]) -> [u8; 4] {
    I32::<E>::new(i32::try_from(text.len()).unwrap_or(0)).to_bytes()
}

/// The type extent: descriptions, in the order of the type names.
pub(super) struct TypeList<'w>(pub(super) &'w [Description<'w>]);

impl List for TypeList<'_> {
    fn each(&self, row: &mut dyn FnMut(&[u8], Option<u64>)) {
        let mut before: Option<&str> = None;
        // The next name each time: there are few types, and no memory to sort them in.
        while let Some(next) =
            self.0.iter().filter(|ty| before.is_none_or(|before| ty.name > before)).min_by_key(|ty| ty.name)
        {
            row(next.xml, None);
            before = Some(next.name);
        }
    }

    fn record_len(&self) -> usize {
        XML_RECORD
    }
}

/// The index: the type extent, the data extents, and the index itself.
pub(super) struct IndexList<'i> {
    pub(super) slots: &'i [IndexSlot],
    pub(super) types: &'i [Description<'i>],
    pub(super) index_at: u64,
}

impl List for IndexList<'_> {
    fn each(&self, row: &mut dyn FnMut(&[u8], Option<u64>)) {
        row(XML_TYPE.as_bytes(), Some(HEADER_LEN as u64));
        for slot in self.slots {
            let name = self.types.get(slot.ty()).map_or("", |ty| ty.name);
            row(name.as_bytes(), Some(slot.at()));
        }
        row(INDEX_TYPE.as_bytes(), Some(self.index_at));
    }

    fn record_len(&self) -> usize {
        INDEX_RECORD
    }
}
