//! Writes FlatBuffers, from the end to the start: a table comes before everything that it refers to.
//!
//! ```
//! use pilaster::unstable::meta::flat::write::{Field, Writer};
//! use pilaster::unstable::meta::flat::{Flat, Table};
//!
//! let mut writer = Writer::default();
//! let name = writer.text("abc");
//! let root = writer.table(&[(0, Field::Place(name)), (2, Field::U64(7))]);
//! let bytes = writer.finish(root);
//!
//! let root: Table = Flat::new(&bytes).root()?;
//! assert_eq!(root.scalar::<u64>(2, 0)?, 7);
//! assert_eq!(root.string(0)?.unwrap().text()?, "abc");
//! # Ok::<(), pilaster::Error>(())
//! ```

use alloc::vec;
use alloc::vec::Vec;

use crate::bytes::len32;

/// Largest alignment of anything in a buffer, in bytes.
const ALIGN: usize = 8;

/// The position of a table, vector or string: the distance of its first byte from the end of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

/// The value of a field of a table.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Field {
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    /// An offset.
    Place(Place),
}

impl Field {
    const fn size(self) -> usize {
        match self {
            Field::U8(_) => 1,
            Field::U16(_) => 2,
            Field::U32(_) | Field::Place(_) => 4,
            Field::U64(_) => 8,
        }
    }
}

/// A buffer of up to 4 GiB that is being written.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// The bytes in reverse order.
    reversed: Vec<u8>,
    /// The vtables so far. Tables of equal shape share one.
    vtables: Vec<Place>,
}

impl Writer {
    /// Pads, so that the distance from the end is a multiple of `align` after `len` more bytes.
    fn pad(&mut self, len: usize, align: usize) {
        let end = self.reversed.len().saturating_add(len);
        let padded = self.reversed.len().saturating_add(end.next_multiple_of(align).saturating_sub(end));
        self.reversed.resize(padded, 0);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.reversed.extend(bytes.iter().rev());
    }

    fn place(&self) -> Place {
        Place(len32(self.reversed.len()))
    }

    /// Writes an offset to `to`.
    fn offset(&mut self, to: Place) {
        let here = self.place().0.wrapping_add(4);
        self.put(&here.wrapping_sub(to.0).to_le_bytes());
    }

    /// Writes a vector of `count` items, which are in `bytes` and are aligned to `align` bytes.
    pub fn vector(&mut self, bytes: &[u8], count: usize, align: usize) -> Place {
        self.pad(bytes.len(), align.max(4));
        self.put(bytes);
        self.put(&len32(count).to_le_bytes());
        self.place()
    }

    /// Writes a string.
    pub fn text(&mut self, text: &str) -> Place {
        // A zero, which the length does not count, follows.
        self.pad(text.len().saturating_add(1), 4);
        self.put(&[0]);
        self.put(text.as_bytes());
        self.put(&len32(text.len()).to_le_bytes());
        self.place()
    }

    /// Writes a vector of offsets.
    pub fn places(&mut self, all: &[Place]) -> Place {
        self.pad(0, 4);
        for place in all.iter().rev() {
            self.offset(*place);
        }
        self.put(&len32(all.len()).to_le_bytes());
        self.place()
    }

    /// Writes a table of the fields with these numbers.
    pub fn table(&mut self, fields: &[(u8, Field)]) -> Place {
        let end = self.reversed.len();
        let mut largest_last: Vec<(u8, Field)> = fields.to_vec();
        largest_last.sort_by_key(|(_, field)| core::cmp::Reverse(field.size()));
        let count = fields.iter().map(|(number, _)| usize::from(*number).saturating_add(1)).max().unwrap_or(0);
        // The place of each field, 0 if it is absent.
        let mut places = vec![0u32; count];
        for (number, field) in largest_last {
            self.pad(field.size(), field.size());
            match field {
                Field::U8(value) => self.put(&[value]),
                Field::U16(value) => self.put(&value.to_le_bytes()),
                Field::U32(value) => self.put(&value.to_le_bytes()),
                Field::U64(value) => self.put(&value.to_le_bytes()),
                Field::Place(to) => self.offset(to),
            }
            if let Some(place) = places.get_mut(usize::from(number)) {
                *place = self.place().0;
            }
        }
        self.pad(4, 4);
        let table = self.place().0.wrapping_add(4);
        let len = table.wrapping_sub(len32(end));
        let mut vtable = Vec::with_capacity(places.len().saturating_mul(2).saturating_add(4));
        let half = |n: u32| u16::try_from(n).unwrap_or(u16::MAX).to_le_bytes();
        vtable.extend_from_slice(&half(len32(places.len()).saturating_mul(2).saturating_add(4)));
        vtable.extend_from_slice(&half(len));
        for place in &places {
            vtable.extend_from_slice(&half(if *place == 0 { 0 } else { table.wrapping_sub(*place) }));
        }
        let known = self.vtables.iter().copied().find(|known| self.is_at(*known, &vtable));
        // The vtable of a new shape lies directly before its table, whose first word is not written yet.
        let before = len32(vtable.len().next_multiple_of(4));
        let at = known.unwrap_or(Place(table.wrapping_add(before)));
        self.put(&at.0.wrapping_sub(table).to_le_bytes());
        if known.is_none() {
            self.pad(vtable.len(), 4);
            self.put(&vtable);
            self.vtables.push(at);
        }
        Place(table)
    }

    /// Returns whether the bytes at `place` are `bytes`.
    fn is_at(&self, place: Place, bytes: &[u8]) -> bool {
        let end = place.0 as usize;
        let found = end.checked_sub(bytes.len()).and_then(|start| self.reversed.get(start..end));
        found.is_some_and(|found| found.iter().rev().eq(bytes))
    }

    /// Returns the buffer with this root table. Its length is a multiple of 8.
    #[must_use]
    pub fn finish(mut self, root: Place) -> Vec<u8> {
        self.pad(4, ALIGN);
        self.offset(root);
        self.reversed.reverse();
        self.reversed
    }
}

// Vectors of tables are read for Vortex only.
#[cfg(all(test, feature = "vortex"))]
mod tests {
    use super::*;
    use crate::meta::flat::{Flat, Table};

    #[test]
    fn wide_fields_are_aligned_whatever_lies_around_them() {
        for before in 0..9 {
            let mut writer = Writer::default();
            let text = writer.text(&"x".repeat(before));
            let inner = writer.table(&[(1, Field::U64(1 << 40)), (0, Field::U16(3)), (2, Field::Place(text))]);
            let twin = writer.table(&[(0, Field::U16(4)), (1, Field::U64(5)), (2, Field::Place(text))]);
            let all = writer.places(&[inner, twin]);
            let structs = writer.vector(&[1; 32], 2, 8);
            let root = writer.table(&[(0, Field::Place(all)), (1, Field::Place(structs)), (3, Field::U8(9))]);
            let bytes = writer.finish(root);
            assert_eq!(bytes.len() % 8, 0);
            assert_eq!(bytes.windows(8).position(|window| window == (1u64 << 40).to_le_bytes()).unwrap() % 8, 0);
            assert_eq!(bytes.windows(32).position(|window| window == [1; 32]).unwrap() % 8, 0);
            let root: Table<'_> = Flat::new(&bytes).root().unwrap();
            let inner: Table<'_> = root.element(0, 0).unwrap().unwrap();
            let twin: Table<'_> = root.element(0, 1).unwrap().unwrap();
            assert_eq!((inner.scalar::<u16>(0, 0), inner.scalar::<u64>(1, 0)), (Ok(3), Ok(1 << 40)));
            assert_eq!((twin.scalar::<u16>(0, 0), twin.scalar::<u64>(1, 0)), (Ok(4), Ok(5)));
            assert_eq!(twin.string(2).unwrap().unwrap().text(), Ok(&*"x".repeat(before)));
            assert_eq!((root.scalar::<u8>(3, 0), root.scalar::<u8>(2, 7)), (Ok(9), Ok(7)));
        }
    }
}
