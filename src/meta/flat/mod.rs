//! FlatBuffers tables over borrowed bytes: no heap, no verifier pass, every access checked.
//!
//! A buffer starts with the offset of its root table. A table starts with the signed distance to its
//! vtable, which lies before or after it. The vtable contains the offset of each field in the table.
//! Strings, vectors and other tables are reached by unsigned offsets, so always forward.
//!
//! ```text
//! [root offset] .. [vtable: its length, table length, field 0, field 1, ..] .. [table: distance, fields ..] .. [vector: count, elements ..]
//! ```
//!
//! The cost of opening does not depend on the size of the buffer. Each access checks the bytes that it reads, including
//! the frame of its table (distance, vtable and both lengths), and no others: damage is reported only by accesses to
//! the damaged part. These rules are checked (`at` of the [`Error`] is the offset in the file of the invalid number):
//!
//! | rule | kind and field |
//! |---|---|
//! | an offset is inside the buffer, not zero, and leads inside the buffer | `Invalid`, `FLAT_ROOT` or `FLAT_OFFSET` |
//! | the distance to the vtable is inside the buffer | `Truncated`, `FLAT_TABLE` |
//! | the vtable begins inside the buffer | `Invalid`, `FLAT_VTABLE` at the table |
//! | the vtable's length is even and at least 4 | `Invalid`, `FLAT_VTABLE` |
//! | the vtable ends inside the buffer | `Truncated`, `FLAT_VTABLE` |
//! | the table's length is at least 4 | `Invalid`, `FLAT_TABLE` |
//! | the table ends inside the buffer | `Truncated`, `FLAT_TABLE` |
//! | a field lies inside its table, after the distance | `Invalid`, `FLAT_FIELD` at its vtable entry |
//! | a field that the schema requires is present | `Invalid`, `FLAT_FIELD` at the table |
//! | a vector or string ends inside the buffer | `Truncated`, `FLAT_VECTOR` or `FLAT_STRING` |
//! | a string is followed by a zero byte | `Invalid`, `FLAT_STRING` |
//! | tables nest no deeper than [`Limits::max_depth`] | `Limit`, `MAX_DEPTH` |
//!
//! Three properties are *not* required:
//!
//! * Alignment. This reader does not need it, and Filo payloads lie at 4 modulo 8 of their chunks.
//! * UTF-8. [`Str::bytes`] returns any bytes; [`Str::text`] checks them.
//! * A value for every union with a tag. Early Jay files wrote the tag alone (Jay section 5); such a union counts as
//!   absent.
//!
//! Offsets lead forward only, so there are no cycles, but tables may be shared: a small buffer can
//! describe a tree with exponentially many paths. This module bounds the depth; callers that walk a tree must spend a
//! unit of [`Fuel`](crate::limits::Fuel) for each table.
//!
//! ```
//! use pilaster::error::What;
//! use pilaster::unstable::meta::flat::{Flat, Inline, Table};
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
//! let bytes: Inline<u8> = table.vector(1)?.unwrap();
//! assert_eq!(bytes.bytes(), [10, 20]);
//! assert_eq!(table.scalar::<u16>(2, 99)?, 99, "the vtable is too short for field 2: default");
//!
//! let e = table.scalar::<u64>(1, 0).unwrap_err();
//! assert_eq!((e.what(), e.at()), (What::FLAT_FIELD, 1010), "a u64 at +8 leaves the table");
//! # Ok::<(), pilaster::Error>(())
//! ```

mod fixed;
mod table;
mod vector;
#[cfg(feature = "alloc")]
pub mod write;

pub use fixed::Fixed;
pub use table::{Table, Union};
pub use vector::{Inline, Linked, Str};

use crate::error::{Error, Kind, Result, What};
use crate::limits::{Depth, Limits};

/// A buffer: its bytes, their offset in the file, and how deep its tables may nest.
#[derive(Clone, Copy, Debug)]
pub struct Flat<'a> {
    bytes: &'a [u8],
    // Two u32, as in `Error`: a u64 would add padding to every handle on 32-bit targets.
    at: [u32; 2],
    depth: Depth,
}

/// The position in a buffer that an offset leads to. The bytes at the position are not checked yet.
#[derive(Clone, Copy, Debug)]
pub struct Pos(u32);

// Accessors are thin and inlined. The functions that they share are not inlined, not generic, and return small results,
// which keeps the shared code of all views below 1.5 KB of flash on Cortex-M.
impl<'a> Flat<'a> {
    /// Opens a buffer that is the whole file.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Flat::new_at(bytes, 0)
    }

    /// Opens a buffer that lies at offset `at` of the file.
    #[must_use]
    pub const fn new_at(bytes: &'a [u8], at: u64) -> Self {
        // Bytes after 2 GiB are not used: the distance of a vtable has 31 bits and a sign.
        let bytes = match bytes.split_at_checked(i32::MAX as usize) {
            Some((bytes, _)) => bytes,
            None => bytes,
        };
        Flat { bytes, at: halves(at), depth: Depth::new(&Limits::DEFAULT) }
    }

    /// Returns this buffer with another budget of nesting instead of [`Limits::DEFAULT`].
    #[must_use]
    pub const fn with_depth(self, depth: Depth) -> Self {
        Flat { depth, ..self }
    }

    /// Returns the root table, as a [`Table`] or as a generated view.
    ///
    /// # Errors
    /// See the [module page](self).
    #[inline]
    pub fn root<T: From<Table<'a>>>(&self) -> Result<T> {
        Ok(T::from(self.root_table()?))
    }

    fn root_table(&self) -> Result<Table<'a>> {
        self.table(self.follow(0)?)
    }

    /// Returns the table at `pos`, one level deeper.
    fn table(&self, pos: Pos) -> Result<Table<'a>> {
        let mut flat = *self;
        flat.depth.enter(self.at(pos.0))?;
        Ok(Table::new(flat, pos))
    }

    /// Returns a table from the position and depth that [`Table::place`] returned.
    #[cfg(feature = "vortex")]
    pub(crate) const fn again(&self, (pos, depth): (u32, Depth)) -> Table<'a> {
        Table::new(Flat { depth, ..*self }, Pos(pos))
    }

    /// Returns the struct at `pos`. The members of Jay's `Stats` union are structs.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the buffer ends inside the struct.
    #[inline]
    pub fn value<T: Fixed>(&self, pos: Pos) -> Result<T> {
        match self.load(pos.0) {
            Some(value) => Ok(value),
            None => Err(self.error(Kind::Truncated, What::FLAT_UNION, pos.0, stride::<T>())),
        }
    }

    /// Returns the position that the offset stored at `pos` leads to.
    fn follow(&self, pos: u32) -> Result<Pos> {
        // Only the offset of the root is at position 0.
        let what = if pos == 0 { What::FLAT_ROOT } else { What::FLAT_OFFSET };
        let Some(offset) = self.load::<u32>(pos) else {
            return Err(self.error(Kind::Truncated, what, pos, 4));
        };
        match pos.checked_add(offset) {
            Some(to) if offset != 0 && (to as usize) < self.bytes.len() => Ok(Pos(to)),
            _ => Err(self.error(Kind::Invalid, what, pos, offset)),
        }
    }

    /// Returns the vector at `pos`, with elements of `stride` bytes. For `FLAT_STRING`, checks the zero byte after it.
    fn run(&self, Pos(pos): Pos, stride: u32, what: What) -> Result<Run<'a>> {
        let Some(count) = self.load::<u32>(pos) else {
            return Err(self.error(Kind::Truncated, what, pos, 4));
        };
        // The buffer has the four bytes of the count.
        let start = pos.saturating_add(4);
        let len = count.saturating_mul(stride);
        let Some((bytes, rest)) = self.from(start).split_at_checked(len as usize) else {
            return Err(self.error(Kind::Truncated, what, pos, len.saturating_add(4)));
        };
        // The zero after a string is not part of its length. Other verifiers require it, because C readers need it.
        if what == What::FLAT_STRING && rest.first() != Some(&0) {
            let (kind, need) = rest.first().map_or((Kind::Truncated, 1), |byte| (Kind::Invalid, u32::from(*byte)));
            return Err(self.error(kind, what, start.saturating_add(len), need));
        }
        Ok(Run { bytes, at: halves(self.at(start)) })
    }

    #[inline]
    fn load<T: Fixed>(&self, pos: u32) -> Option<T> {
        T::load(self.bytes.get(pos as usize..)?)
    }

    /// Returns the bytes from `pos` to the end; empty if `pos` is outside.
    #[inline]
    fn from(&self, pos: u32) -> &'a [u8] {
        self.bytes.get(pos as usize..).unwrap_or(&[])
    }

    /// Returns the offset of position `pos` in the file.
    fn at(&self, pos: u32) -> u64 {
        whole(self.at).wrapping_add(pos.into())
    }

    #[cold]
    fn error(&self, kind: Kind, what: What, pos: u32, need: u32) -> Error {
        Error::needing(kind, what, self.at(pos), need.into())
    }
}

/// The target of an offset in a vector: a table or a string.
pub trait Target<'a>: Copy {
    /// Returns the target at `pos`.
    ///
    /// # Errors
    /// See the [module page](self).
    fn read(flat: &Flat<'a>, pos: Pos) -> Result<Self>;
}

/// The bytes of a vector's elements, and their offset in the file.
#[derive(Clone, Copy, Debug)]
struct Run<'a> {
    bytes: &'a [u8],
    at: [u32; 2],
}

const fn stride<T: Fixed>() -> u32 {
    #[allow(clippy::cast_possible_truncation, reason = "structs are far smaller, and the assertion holds them to it")]
    const fn narrow(size: usize) -> u32 {
        assert!(size > 0 && size < 1 << 16);
        size as u32
    }
    const { narrow(T::SIZE) }
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
