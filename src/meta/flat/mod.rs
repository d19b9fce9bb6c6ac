//! FlatBuffers tables over borrowed bytes: no heap, no verifier pass, every access checked.
//!
//! A buffer starts with the offset of its root table. A table starts with the signed distance to its
//! vtable, which lies before or behind it, and the vtable says where in the table each field is.
//! Strings, vectors and other tables are reached by unsigned offsets, so always forward.
//!
//! ```text
//! [root offset] .. [vtable: its length, table length, field 0, field 1, ..] .. [table: distance, fields ..] .. [vector: count, elements ..]
//! ```
//!
//! Opening costs nothing that depends on the size of the buffer, and each access checks just what it
//! touches, so a damaged part of a buffer harms only who reads it. What is checked, and how an
//! [`Error`] reports it (`at` is the offset in the file of the wrong number):
//!
//! | rule | kind and field |
//! |---|---|
//! | an offset is inside the buffer, not zero, and leads inside the buffer | `Invalid`, `FlatRoot` or `FlatOffset` |
//! | the vtable begins inside the buffer | `Invalid`, `FlatVtable` at the table |
//! | the vtable's length is even and at least 4 | `Invalid`, `FlatVtable` |
//! | the vtable ends inside the buffer | `Truncated`, `FlatVtable` |
//! | the table's length is at least 4 | `Invalid`, `FlatTable` |
//! | the table ends inside the buffer | `Truncated`, `FlatTable` |
//! | a field lies inside its table, behind the distance | `Invalid`, `FlatField` at its vtable entry |
//! | a field that the schema requires is there | `Invalid`, `FlatField` at the table |
//! | a vector or string ends inside the buffer | `Truncated`, `FlatVector` or `FlatString` |
//! | a string is followed by a zero byte | `Invalid`, `FlatString` |
//! | tables nest no deeper than [`Limits::max_depth`] | `Limit`, `MaxDepth` |
//!
//! Three things are *not* demanded. Alignment: nothing here needs it, and Filo payloads lie at 4
//! modulo 8 of their chunks. UTF-8: [`Str`] hands out bytes and checks them when asked for text.
//! That a union with a tag has a value: early Jay files wrote the tag alone (Jay section 5), so that
//! counts as absent.
//!
//! Offsets lead forward only, hence there are no cycles, but tables may be shared: a small buffer can
//! describe a tree with exponentially many paths. Depth is bounded here; whoever walks a tree pays
//! for each table with a [`Fuel`](crate::limits::Fuel).
//!
//! ```
//! use pilaster::error::What;
//! use pilaster::meta::flat::{Flat, Inline, Table};
//!
//! let bytes = [
//!     12, 0, 0, 0, // root table at 12
//!     8, 0, 12, 0, 4, 0, 8, 0, // vtable: 8 bytes, table 12; field 0 at +4, field 1 at +8
//!     8, 0, 0, 0, // the table: its vtable is 8 bytes before it
//!     5, 0, 0, 0, // field 0: the number 5
//!     4, 0, 0, 0, // field 1: 4 bytes from here
//!     2, 0, 0, 0, 10, 20, // a vector of 2 bytes
//! ];
//! let table: Table = Flat::new_at(&bytes, 1000).root()?;
//! assert_eq!(table.scalar::<u32>(0, 0)?, 5);
//! let bytes: Inline<u8> = table.link(1)?.unwrap();
//! assert_eq!(bytes.bytes(), [10, 20]);
//! assert_eq!(table.scalar::<u16>(2, 99)?, 99, "the vtable is too short for field 2: default");
//!
//! let e = table.scalar::<u64>(1, 0).unwrap_err();
//! assert_eq!((e.what(), e.at()), (What::FlatField, 1010), "a u64 at +8 leaves the table");
//! # Ok::<(), pilaster::Error>(())
//! ```

mod fixed;
mod table;
mod vector;

pub use fixed::Fixed;
pub use table::{Table, Union};
pub use vector::{Inline, Linked, Str};

use crate::error::{Error, Kind, Result, What};
use crate::limits::{Depth, Limits};

/// A buffer: its bytes, where they lie in the file, and how deep its tables may nest.
#[derive(Clone, Copy, Debug)]
pub struct Flat<'a> {
    bytes: &'a [u8],
    // Two u32, as in `Error`: a u64 would pad every handle on 32-bit machines.
    at: [u32; 2],
    depth: Depth,
}

impl<'a> Flat<'a> {
    /// A buffer that is the whole file.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Flat::new_at(bytes, 0)
    }

    /// A buffer that lies at offset `at` of the file.
    #[must_use]
    pub const fn new_at(bytes: &'a [u8], at: u64) -> Self {
        Flat { bytes, at: halves(at), depth: Depth::new(&Limits::DEFAULT) }
    }

    /// The same buffer with another budget of nesting than that of [`Limits::DEFAULT`].
    #[must_use]
    pub const fn with_depth(self, depth: Depth) -> Self {
        Flat { depth, ..self }
    }

    /// The root: usually a table.
    ///
    /// # Errors
    /// See the [module page](self).
    #[inline]
    pub fn root<T: Target<'a>>(self) -> Result<T> {
        T::read(self.follow(0)?)
    }

    /// Where the offset that is stored at `pos` leads.
    #[inline(never)]
    fn follow(self, pos: u32) -> Result<Place<'a>> {
        // Every other offset lies behind the one of the root.
        let what = if pos == 0 { What::FlatRoot } else { What::FlatOffset };
        let Some(offset) = self.load::<u32>(pos) else {
            return Err(self.error(Kind::Truncated, what, pos, 4));
        };
        match pos.checked_add(offset) {
            Some(to) if offset != 0 && (to as usize) < self.bytes.len() => Ok(Place { flat: self, pos: to }),
            _ => Err(self.error(Kind::Invalid, what, pos, offset)),
        }
    }

    #[inline]
    fn load<T: Fixed>(&self, pos: u32) -> Option<T> {
        T::load(self.bytes.get(pos as usize..)?)
    }

    /// Whether `len` bytes from `pos` on are inside the buffer.
    #[inline]
    fn holds(&self, pos: u32, len: u32) -> bool {
        pos.checked_add(len).is_some_and(|end| end as usize <= self.bytes.len())
    }

    /// The offset in the file of position `pos`.
    #[inline]
    fn at(&self, pos: u32) -> u64 {
        whole(self.at).saturating_add(pos.into())
    }

    #[cold]
    #[inline(never)]
    fn error(&self, kind: Kind, what: What, pos: u32, need: u32) -> Error {
        Error::new(kind, what, self.at(pos)).with_need(need.into())
    }
}

/// Where an offset leads: the start of a table, vector, string or bare struct, not looked at yet.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    flat: Flat<'a>,
    pos: u32,
}

impl<'a> Place<'a> {
    /// Offset in the file.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.flat.at(self.pos)
    }

    /// The struct that lies here, as members of Jay's `Stats` union do.
    ///
    /// # Errors
    /// [`Kind::Truncated`] at the end of the buffer.
    #[inline]
    pub fn value<T: Fixed>(&self) -> Result<T> {
        match self.flat.load(self.pos) {
            Some(value) => Ok(value),
            None => Err(self.short(T::SIZE)),
        }
    }

    #[cold]
    #[inline(never)]
    fn short(&self, size: usize) -> Error {
        Error::new(Kind::Truncated, What::FlatUnion, self.at()).with_need(size as u64)
    }

    /// The vector that lies here, of elements of `stride` bytes: its count, and where they start.
    #[inline(never)]
    fn vector(&self, stride: u32, what: What) -> Result<(u32, u32)> {
        let Some(count) = self.flat.load::<u32>(self.pos) else {
            return Err(self.flat.error(Kind::Truncated, what, self.pos, 4));
        };
        // The count was read, so four bytes are there.
        let start = self.pos.saturating_add(4);
        match count.checked_mul(stride) {
            Some(len) if self.flat.holds(start, len) => Ok((count, start)),
            Some(len) => Err(self.flat.error(Kind::Truncated, what, self.pos, len.saturating_add(4))),
            None => Err(self.flat.error(Kind::Truncated, what, self.pos, u32::MAX)),
        }
    }
}

/// What an offset can lead to: a table, a string, a vector.
pub trait Target<'a>: Sized {
    /// What lies at `place`, with its frame checked.
    ///
    /// # Errors
    /// See the [module page](self).
    fn read(place: Place<'a>) -> Result<Self>;
}

#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the two halves are kept apart")]
const fn halves(at: u64) -> [u32; 2] {
    [at as u32, (at >> 32) as u32]
}

#[inline]
const fn whole(at: [u32; 2]) -> u64 {
    at[0] as u64 | (at[1] as u64) << 32
}

#[cfg(test)]
mod tests;
