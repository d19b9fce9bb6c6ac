//! Tables: fields through the vtable.

use core::num::NonZero;

use super::{Fixed, Flat, Inline, Linked, Pos, Run, Str, Target, stride};
use crate::error::{Kind, Result, What};
#[cfg(feature = "vortex")]
use crate::limits::Depth;

/// A table. Every access checks its frame: the vtable and the two lengths.
///
/// Fields are addressed by their number in the schema. The generated views have a method for each field name.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    // `flat.depth` is the remaining depth for tables inside this one.
    flat: Flat<'a>,
    pos: u32,
}

impl<'a> Target<'a> for Table<'a> {
    #[inline]
    fn read(flat: &Flat<'a>, pos: Pos) -> Result<Self> {
        flat.table(pos)
    }
}

impl<'a> Table<'a> {
    #[inline]
    pub(super) const fn new(flat: Flat<'a>, Pos(pos): Pos) -> Self {
        Table { flat, pos }
    }

    /// A placeholder for a table, whose accesses fail.
    #[cfg(feature = "vortex")]
    pub(crate) const EMPTY: Table<'static> = Table::new(Flat::new(&[]), Pos(0));

    /// Returns the offset of the table in the file.
    #[must_use]
    #[inline]
    pub fn at(&self) -> u64 {
        self.flat.at(self.pos)
    }

    /// Returns the address of the buffer in memory, and the offset of the table in the file.
    #[cfg(all(feature = "vortex", feature = "std"))]
    pub(crate) fn identity(&self) -> (usize, u64) {
        (self.flat.bytes.as_ptr().addr(), self.at())
    }

    /// Returns the buffer, the position of the table in it, and the remaining depth.
    #[cfg(feature = "vortex")]
    pub(crate) const fn place(&self) -> (Flat<'a>, (u32, Depth)) {
        (self.flat, (self.pos, self.flat.depth))
    }

    /// Returns the remaining depth for tables inside this one.
    #[cfg(feature = "vortex")]
    pub(crate) const fn depth(&self) -> Depth {
        self.flat.depth
    }

    /// Returns the root table of the buffer, with the depth of this table.
    #[cfg(feature = "vortex")]
    pub(crate) fn root(&self) -> Result<Table<'a>> {
        Ok(Table::new(self.flat, self.flat.follow(0)?))
    }

    /// Returns this table with another remaining depth.
    #[cfg(feature = "vortex")]
    pub(crate) const fn with_depth(self, depth: Depth) -> Self {
        Table { flat: self.flat.with_depth(depth), ..self }
    }

    /// Checks only the frame, as every access does first.
    ///
    /// # Errors
    /// See the [module page](super).
    pub fn check(&self) -> Result<()> {
        // No vtable has such an entry.
        self.entry(u32::MAX, 0).map(drop)
    }

    /// Checks that the table, its vtable and the given fields are at multiples of their sizes, counted from the start of
    /// the buffer: `numbers` are fields with their sizes in bytes, `offsets` lead to tables, vectors or strings, which
    /// are at multiples of 4, too. No access depends on it.
    ///
    /// # Errors
    /// Errors of [`check`](Self::check); [`Kind::Invalid`] in `What::FLAT_ALIGNMENT`, with the position in the buffer.
    #[cfg(feature = "vortex")]
    pub(crate) fn check_aligned(&self, numbers: &[(u8, u32)], offsets: &[u8]) -> Result<()> {
        let check = |pos: u32, size: u32| match pos.checked_rem(size) {
            Some(0) | None => Ok(()),
            Some(_) => Err(self.flat.error(Kind::Invalid, What::FLAT_ALIGNMENT, pos, pos)),
        };
        self.check()?;
        check(self.pos, 4)?;
        let distance = self.flat.load::<i32>(self.pos).unwrap_or(0);
        check(self.pos.wrapping_sub(distance.cast_unsigned()), 2)?;
        for (field, size) in numbers.iter().copied().chain(offsets.iter().map(|field| (*field, 4))) {
            if let Some(pos) = self.slot(field, size)? {
                check(pos.get(), size)?;
            }
        }
        for field in offsets {
            if let Some(Pos(pos)) = self.reach(*field)? {
                check(pos, 4)?;
            }
        }
        Ok(())
    }

    /// Returns a scalar or enum; `default` if it is absent.
    ///
    /// # Errors
    /// Errors of [`check`](Self::check); [`Kind::Invalid`] if the field leaves the table.
    #[inline]
    pub fn scalar<T: Fixed>(&self, field: u8, default: T) -> Result<T> {
        Ok(self.inline(field)?.unwrap_or(default))
    }

    /// Returns a struct, or a scalar without default; `None` if it is absent.
    ///
    /// # Errors
    /// Errors of [`check`](Self::check); [`Kind::Invalid`] if the field leaves the table.
    #[inline]
    pub fn inline<T: Fixed>(&self, field: u8) -> Result<Option<T>> {
        Ok(T::load(self.stored(field, stride::<T>())?))
    }

    /// Returns the `size` bytes of a field; empty if it is absent.
    fn stored(&self, field: u8, size: u32) -> Result<&'a [u8]> {
        let pos = self.slot(field, size)?;
        // The bytes exist: the field is inside the table, and the table inside the buffer.
        Ok(pos.and_then(|pos| self.flat.from(pos.get()).get(..size as usize)).unwrap_or_default())
    }

    /// Returns a table, as a [`Table`] or as a generated view; `None` if it is absent.
    ///
    /// # Errors
    /// See the [module page](super).
    #[inline]
    pub fn table<T: From<Table<'a>>>(&self, field: u8) -> Result<Option<T>> {
        Ok(self.inner(field)?.map(T::from))
    }

    /// Returns a string; `None` if it is absent.
    ///
    /// # Errors
    /// See the [module page](super).
    #[inline]
    pub fn string(&self, field: u8) -> Result<Option<Str<'a>>> {
        Ok(self.run(field, 1, What::FLAT_STRING)?.map(Str::from))
    }

    /// Returns a vector of scalars or structs; `None` if it is absent.
    ///
    /// # Errors
    /// See the [module page](super).
    #[inline]
    pub fn vector<T: Fixed>(&self, field: u8) -> Result<Option<Inline<'a, T>>> {
        Ok(self.run(field, stride::<T>(), What::FLAT_VECTOR)?.map(Inline::from))
    }

    /// Returns a vector of tables or strings; `None` if it is absent.
    ///
    /// # Errors
    /// See the [module page](super).
    #[inline]
    pub fn linked<T: Target<'a>>(&self, field: u8) -> Result<Option<Linked<'a, T>>> {
        Ok(self.links(field)?.map(Linked::retyped))
    }

    /// Returns the member of a union whose tag is `field` and whose value is the field after it; `None` if
    /// the tag is 0 or absent, or the value is absent.
    ///
    /// # Errors
    /// See the [module page](super).
    #[inline]
    pub fn union<T: Union<'a>>(&self, field: u8) -> Result<Option<T>> {
        let tag = self.scalar::<u8>(field, 0)?;
        if tag == 0 {
            return Ok(None);
        }
        match self.reach(field.saturating_add(1))? {
            Some(pos) => T::member(tag, &self.flat, pos).map(Some),
            None => Ok(None),
        }
    }

    /// Returns `value`, the content of a field that the schema requires.
    ///
    /// # Errors
    /// [`Kind::Invalid`] at the table, with the number of the field, if it is `None`.
    #[inline]
    pub fn required<T>(&self, field: u8, value: Option<T>) -> Result<T> {
        match value {
            Some(value) => Ok(value),
            None => Err(self.flat.error(Kind::Invalid, What::FLAT_FIELD, self.pos, field.into())),
        }
    }

    /// Returns the number of elements of a vector of offsets; 0 if it is absent.
    #[cfg(feature = "vortex")]
    pub(crate) fn count(&self, field: u8) -> Result<usize> {
        Ok(self.links(field)?.map_or(0, |links| links.len()))
    }

    /// Returns table `k` of a vector; `None` if the vector is absent or shorter.
    #[cfg(feature = "vortex")]
    pub(crate) fn element(&self, field: u8, k: usize) -> Result<Option<Table<'a>>> {
        match self.links(field)? {
            Some(links) if k < links.len() => links.get(k).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns tag and member of a union of tables; `None` if [`union`](Self::union) returns `None`.
    #[cfg(feature = "vortex")]
    pub(crate) fn member(&self, field: u8) -> Result<Option<(u8, Table<'a>)>> {
        let tag = self.scalar::<u8>(field, 0)?;
        if tag == 0 {
            return Ok(None);
        }
        Ok(self.inner(field.saturating_add(1))?.map(|member| (tag, member)))
    }

    fn inner(&self, field: u8) -> Result<Option<Table<'a>>> {
        match self.reach(field)? {
            Some(pos) => self.flat.table(pos).map(Some),
            None => Ok(None),
        }
    }

    /// Returns a vector of tables; `None` if it is absent.
    pub(crate) fn links(&self, field: u8) -> Result<Option<Linked<'a, Table<'a>>>> {
        let Some(pos) = self.reach(field)? else { return Ok(None) };
        let run = self.flat.run(pos, 4, What::FLAT_VECTOR)?;
        Ok(Some(Linked::new(self.flat, pos, run)))
    }

    /// Returns a vector of scalars or structs; an empty one if it is absent.
    #[cfg(feature = "vortex")]
    #[inline]
    pub(crate) fn elements<T: Fixed>(&self, field: u8) -> Result<Inline<'a, T>> {
        Ok(Inline::from(self.run_or_none(field, stride::<T>())?))
    }

    #[cfg(feature = "vortex")]
    fn run_or_none(&self, field: u8, stride: u32) -> Result<Run<'a>> {
        match self.reach(field)? {
            Some(pos) => self.flat.run(pos, stride, What::FLAT_VECTOR),
            None => Ok(Run { bytes: &[], at: super::halves(self.at()) }),
        }
    }

    fn run(&self, field: u8, stride: u32, what: What) -> Result<Option<Run<'a>>> {
        match self.reach(field)? {
            Some(pos) => self.flat.run(pos, stride, what).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the position that the offset in `field` leads to; `None` if the field is absent.
    fn reach(&self, field: u8) -> Result<Option<Pos>> {
        match self.slot(field, 4)? {
            Some(pos) => self.flat.follow(pos.get()).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the position of a field of `size` bytes; `None` if it is absent. It is never 0, because tables lie after
    /// the root offset.
    #[inline]
    fn slot(&self, field: u8, size: u32) -> Result<Option<NonZero<u32>>> {
        self.entry(u32::from(field).saturating_mul(2).saturating_add(4), size)
    }

    /// Returns what tables with an equal vtable have in common; `None` if the field is absent, the table damaged, or the vtable
    /// longer than [`FRAME_MOST`].
    #[cfg(all(feature = "vortex", feature = "std"))]
    pub(super) fn frame<T: Fixed>(&self, field: u8) -> Option<Frame<'a>> {
        let field = self.slot(field, stride::<T>()).ok()??.get().checked_sub(self.pos)?;
        let vtable = self.pos.wrapping_sub(self.flat.load(self.pos)?);
        let lengths: [u16; 2] = self.flat.load(vtable)?;
        let slots = self.flat.from(vtable).get(..lengths[0].into())?;
        if slots.len() > FRAME_MOST {
            return None;
        }
        Some(Frame { vtable, slots, len: lengths[1].into(), field: field as usize })
    }

    /// Returns the position of the field whose offset is stored at byte `entry` of the vtable.
    fn entry(&self, entry: u32, size: u32) -> Result<Option<NonZero<u32>>> {
        let (flat, pos) = (&self.flat, self.pos);
        let table = flat.from(pos);
        let wrong = |kind, what, at, need| Err(flat.error(kind, what, at, need));
        let Some(distance) = i32::load(table) else {
            return wrong(Kind::Truncated, What::FLAT_TABLE, pos, 4);
        };
        // Positions are below 2^31, so a difference that wraps is 2^31 or more, which is outside the buffer.
        let vtable = pos.wrapping_sub(distance.cast_unsigned());
        let slots = flat.from(vtable);
        let Some([slots_len, len]) = <[u16; 2]>::load(slots) else {
            return wrong(Kind::Invalid, What::FLAT_VTABLE, pos, distance.unsigned_abs());
        };
        if slots_len < 4 || slots_len % 2 != 0 {
            return wrong(Kind::Invalid, What::FLAT_VTABLE, vtable, slots_len.into());
        }
        if usize::from(slots_len) > slots.len() {
            return wrong(Kind::Truncated, What::FLAT_VTABLE, vtable, slots_len.into());
        }
        if len < 4 {
            return wrong(Kind::Invalid, What::FLAT_TABLE, pos, len.into());
        }
        if usize::from(len) > table.len() {
            return wrong(Kind::Truncated, What::FLAT_TABLE, pos, len.into());
        }
        if entry >= slots_len.into() {
            return Ok(None);
        }
        let offset = slots.get(entry as usize..).and_then(u16::load).unwrap_or(0);
        if offset == 0 {
            return Ok(None);
        }
        let offset = u32::from(offset);
        if offset < 4 || offset.saturating_add(size) > len.into() {
            return wrong(Kind::Invalid, What::FLAT_FIELD, vtable.saturating_add(entry), offset);
        }
        Ok(NonZero::new(pos.saturating_add(offset)))
    }
}

/// A union: a tag, and an offset to a value whose type depends on the tag.
pub trait Union<'a>: Sized {
    /// Returns the member with `tag` (not 0) at `pos`. An unknown tag is valid: `Self` must have a variant for it.
    ///
    /// # Errors
    /// Errors of the member.
    fn member(tag: u8, flat: &Flat<'a>, pos: Pos) -> Result<Self>;
}

/// Size in bytes of the longest vtable that is compared with other vtables. A hostile file has one of 64 KiB, and
/// a copy, for thousands of tables.
#[cfg(all(feature = "vortex", feature = "std"))]
const FRAME_MOST: usize = 64;

/// A vtable that was checked, and the place of one of its fields.
#[cfg(all(feature = "vortex", feature = "std"))]
pub(super) struct Frame<'a> {
    vtable: u32,
    slots: &'a [u8],
    /// Size in bytes of a table.
    len: usize,
    /// Offset of the field in a table.
    field: usize,
}

#[cfg(all(feature = "vortex", feature = "std"))]
impl Frame<'_> {
    /// Returns the field of the table to which the offset at `slot` leads; `None` if the table has another vtable, or leaves the
    /// buffer. A copy of the vtable is the same vtable.
    #[inline]
    pub(super) fn field_of<T: Fixed>(&self, flat: &Flat<'_>, slot: u32) -> Option<T> {
        let offset: u32 = flat.load(slot)?;
        let pos = slot.checked_add(offset)?;
        let table = flat.from(pos).get(..self.len)?;
        let vtable = pos.wrapping_sub(u32::load(table)?);
        if offset == 0 || (vtable != self.vtable && !flat.from(vtable).starts_with(self.slots)) {
            return None;
        }
        T::load(table.get(self.field..)?)
    }
}
