//! Tables: fields through the vtable.

use core::num::NonZero;

use super::{Fixed, Flat, Place, Target};
use crate::error::{Kind, Result, What};

/// A table whose frame is checked: vtable and table lie in the buffer and have sane lengths.
///
/// Fields are named by their number in the schema. The generated views give them their names.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    // Its `depth` is what is left for tables inside this one.
    flat: Flat<'a>,
    pos: u32,
    vtable: u32,
    vtable_len: u16,
    len: u16,
}

impl<'a> Target<'a> for Table<'a> {
    #[inline(never)]
    fn read(place: Place<'a>) -> Result<Self> {
        let Place { flat, pos } = place;
        let flat = Flat { depth: flat.depth.child(place.at())?, ..flat };
        let Some(distance) = flat.load::<i32>(pos) else {
            return Err(flat.error(Kind::Truncated, What::FlatTable, pos, 4));
        };
        let back = distance.unsigned_abs();
        let vtable = if distance < 0 { pos.checked_add(back) } else { pos.checked_sub(back) };
        let frame = vtable.and_then(|vtable| Some((vtable, flat.load::<[u16; 2]>(vtable)?)));
        let Some((vtable, [vtable_len, len])) = frame else {
            return Err(flat.error(Kind::Invalid, What::FlatVtable, pos, back));
        };
        let (kind, what, pos, need) = if vtable_len < 4 || vtable_len % 2 != 0 {
            (Kind::Invalid, What::FlatVtable, vtable, vtable_len)
        } else if !flat.holds(vtable, vtable_len.into()) {
            (Kind::Truncated, What::FlatVtable, vtable, vtable_len)
        } else if len < 4 {
            (Kind::Invalid, What::FlatTable, pos, len)
        } else if !flat.holds(pos, len.into()) {
            (Kind::Truncated, What::FlatTable, pos, len)
        } else {
            return Ok(Table { flat, pos, vtable, vtable_len, len });
        };
        Err(flat.error(kind, what, pos, need.into()))
    }
}

/// The two lengths at the start of a vtable.
impl Fixed for [u16; 2] {
    const SIZE: usize = 4;

    #[inline]
    fn load(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(|[a, b, c, d]| [u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d])])
    }
}

impl<'a> Table<'a> {
    /// Offset in the file.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.flat.at(self.pos)
    }

    /// A scalar or enum; `default` if it is absent.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if the field leaves the table.
    #[inline]
    pub fn scalar<T: Fixed>(&self, field: u8, default: T) -> Result<T> {
        Ok(self.inline(field)?.unwrap_or(default))
    }

    /// A struct, or a scalar without default; `None` if it is absent.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if the field leaves the table.
    #[inline]
    pub fn inline<T: Fixed>(&self, field: u8) -> Result<Option<T>> {
        // The load cannot fail: the field is inside the table, and that inside the buffer.
        Ok(self.slot(field, T::SIZE)?.and_then(|pos| self.flat.load(pos.get())))
    }

    /// What an offset leads to: a table, string or vector; `None` if the field is absent.
    ///
    /// # Errors
    /// See the [module page](super).
    #[inline]
    pub fn link<T: Target<'a>>(&self, field: u8) -> Result<Option<T>> {
        match self.place(field)? {
            Some(place) => T::read(place).map(Some),
            None => Ok(None),
        }
    }

    /// The member of a union whose tag is `field` and whose value is the field after it; `None` if
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
        match self.place(field.saturating_add(1))? {
            Some(place) => T::member(tag, place).map(Some),
            None => Ok(None),
        }
    }

    /// `value`, the content of a field that the schema requires.
    ///
    /// # Errors
    /// [`Kind::Invalid`] at the table, with the number of the field, if it is `None`.
    #[inline]
    pub fn required<T>(&self, field: u8, value: Option<T>) -> Result<T> {
        match value {
            Some(value) => Ok(value),
            None => Err(self.flat.error(Kind::Invalid, What::FlatField, self.pos, field.into())),
        }
    }

    /// Position of a field of `size` bytes. It is never 0: a table lies behind the root offset.
    #[inline(never)]
    fn slot(&self, field: u8, size: usize) -> Result<Option<NonZero<u32>>> {
        let entry = u32::from(field).saturating_mul(2).saturating_add(4);
        if entry >= self.vtable_len.into() {
            return Ok(None);
        }
        // No sum here overflows: vtable and table lie in the buffer with their whole lengths.
        let entry = self.vtable.saturating_add(entry);
        let offset = self.flat.load::<u16>(entry).unwrap_or(0);
        if offset == 0 {
            return Ok(None);
        }
        if offset < 4 || usize::from(offset).saturating_add(size) > self.len.into() {
            return Err(self.flat.error(Kind::Invalid, What::FlatField, entry, offset.into()));
        }
        Ok(NonZero::new(self.pos.saturating_add(offset.into())))
    }

    #[inline(never)]
    fn place(&self, field: u8) -> Result<Option<Place<'a>>> {
        match self.slot(field, 4)? {
            Some(pos) => self.flat.follow(pos.get()).map(Some),
            None => Ok(None),
        }
    }
}

/// A union: a tag, and an offset to what the tag says.
pub trait Union<'a>: Sized {
    /// The member with `tag` (not 0) at `place`. An unknown tag is data and no error.
    ///
    /// # Errors
    /// Those of the member.
    fn member(tag: u8, place: Place<'a>) -> Result<Self>;
}
