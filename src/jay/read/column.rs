//! A column as the common vocabulary sees it.

use core::fmt;
use core::ops::Range;

use super::field::Which;
use super::numbers::{Number, elements, need};
use super::{Field, Window};
use crate::bytes::{Bits, Scratch};
use crate::column::{self, Batch, Ranges, Spans, Type, Validity, Values, VarBytes};
use crate::encoding::flags;
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::{self, SType};

/// A batch that was looked at has no more rows, so that who reads on finds it in the cache.
const ROWS: u64 = 1 << 14;

/// A column: a small handle on the metadata and on the bytes of the file.
#[derive(Clone, Copy)]
pub struct Column<'a> {
    field: Field<'a>,
    window: Window<'a>,
}

impl fmt::Debug for Column<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Column").field(&self.field).finish()
    }
}

const _: () = assert!(size_of::<Column<'_>>() <= 192);

impl<'a> Column<'a> {
    /// The column that `field` describes, over bytes that hold its buffers: the file, or the range
    /// that [`Field::span`] tells.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the window lacks a buffer of it.
    pub fn new(field: Field<'a>, window: Window<'a>) -> Result<Self> {
        for span in field.buffers() {
            window.get(*span)?;
        }
        Ok(Column { field, window })
    }

    /// What the metadata says of the column.
    #[must_use]
    pub const fn field(&self) -> &Field<'a> {
        &self.field
    }

    fn buffer(&self, which: Which) -> &'a [u8] {
        // It was there when the column was made.
        self.window.get(self.field.buffer(which)).unwrap_or_default()
    }

    pub(super) fn data(&self) -> &'a [u8] {
        self.buffer(Which::Data)
    }

    pub(super) fn text(&self) -> &'a [u8] {
        self.buffer(Which::Text)
    }

    pub(super) fn bitmap(&self) -> &'a [u8] {
        self.buffer(Which::Validity)
    }

    /// Whether the file is believed that nothing is missing.
    pub(super) fn is_trusted(&self) -> bool {
        self.field.rules.trust && self.field.null_count() == 0
    }

    /// Whether a missing row is an error.
    pub(super) fn is_full(&self) -> bool {
        !self.field.rules.tolerant && self.field.null_count() == 0
    }

    #[cold]
    pub(super) fn unexpected_null(&self) -> Error {
        Error::new(Kind::Invalid, What::JayNulls, self.field.at())
    }

    /// Validity by the bitmap alone.
    pub(super) fn by_bitmap<'s>(&self, first: usize, len: usize) -> Result<Validity<'s>>
    where
        'a: 's,
    {
        if self.bitmap().is_empty() {
            return Ok(Validity::All);
        }
        let bits: Bits<'a> = Bits::new(self.bitmap(), first, len)?;
        match bits.count_ones() == len {
            true => Ok(Validity::All),
            false if self.is_full() => Err(self.unexpected_null()),
            false => Ok(Validity::Bits(bits)),
        }
    }

    /// Validity by the bitmap, and by values that stand for missing ones.
    pub(super) fn validity<'s, T: Copy>(
        &self,
        values: &[T],
        first: usize,
        scratch: &mut Scratch<'s>,
        is_na: impl Fn(T) -> bool,
    ) -> Result<Validity<'s>>
    where
        'a: 's,
    {
        let by_bitmap = self.by_bitmap(first, values.len())?;
        if !flags::any(values, &is_na) {
            return Ok(by_bitmap);
        }
        if self.is_full() {
            return Err(self.unexpected_null());
        }
        let valid = scratch.take::<u8>(values.len().div_ceil(8))?;
        flags::pack(values, valid, |value| !is_na(value));
        both(valid, &by_bitmap, values.len())
    }

    /// First row and row count of what `rows` gives at most.
    fn range(&self, rows: &Range<u64>) -> Result<(usize, usize)> {
        let all = self.field.rows();
        if rows.start > rows.end || rows.end > all {
            return Err(Error::new(Kind::OutOfRange, What::Row, rows.end).with_need(all));
        }
        let len = rows.end.saturating_sub(rows.start);
        let len = match self.field.stype() {
            SType::Void0 => len.min(1 << 31),
            _ if self.is_trusted() && !raw::is_text(self.field.stype()) => len,
            _ => len.min(ROWS),
        };
        match (usize::try_from(rows.start), usize::try_from(len)) {
            (Ok(first), Ok(len)) => Ok((first, len)),
            // Nothing but void columns have more rows than memory has bytes.
            (Err(_), Ok(len)) if self.field.stype() == SType::Void0 => Ok((0, len)),
            _ => Err(Error::new(Kind::OutOfRange, What::Row, rows.end).with_need(all)),
        }
    }

    fn numbers<'s, T: Number>(
        &self,
        first: usize,
        len: usize,
        scratch: &mut Scratch<'s>,
    ) -> Result<(&'s [T], Validity<'s>)>
    where
        'a: 's,
    {
        let values = elements::<T>(self.data(), first, len, scratch)?;
        if self.is_trusted() {
            return Ok((values, self.by_bitmap(first, len)?));
        }
        Ok((values, self.validity(values, first, scratch, T::is_na)?))
    }
}

/// Rows that have a value by these bits and by `other`.
#[inline(never)]
fn both<'s>(valid: &'s mut [u8], other: &Validity<'_>, len: usize) -> Result<Validity<'s>> {
    if let Validity::Bits(bits) = other {
        for (bytes, word) in valid.chunks_mut(8).zip(bits.words()) {
            bytes.iter_mut().zip(word.to_le_bytes()).for_each(|(byte, bits)| *byte &= bits);
        }
    }
    Ok(Validity::Bits(Bits::new(valid, 0, len)?))
}

impl column::Column for Column<'_> {
    fn ty(&self) -> Type {
        raw::ty(self.field.stype()).unwrap_or(Type::Opaque)
    }

    /// Whether the file says that a row is missing; with tolerance, whether one could be.
    fn nullable(&self) -> bool {
        match self.field.stype() {
            SType::Void0 => true,
            _ => !self.is_full(),
        }
    }

    fn rows(&self) -> u64 {
        self.field.rows()
    }

    fn child(&self, k: usize) -> Result<Self> {
        match self.field.child()? {
            Some(field) if k == 0 => Column::new(field, self.window),
            _ => Err(Error::new(Kind::OutOfRange, What::Child, k as u64).with_need(self.ty().children() as u64)),
        }
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        let (_, len) = self.range(&rows)?;
        let len = len as u64;
        let validity = if self.is_full() { 0 } else { len.div_ceil(8) };
        let data = self.data();
        let values = match self.field.stype() {
            SType::Void0 | SType::Unknown(_) => return Ok(0),
            SType::Bool8 if self.field.is_packed() => return Ok(0),
            SType::Bool8 => len.div_ceil(8),
            SType::Int8 => 0,
            SType::Int16 => need::<i16>(data, len),
            SType::Int32 | SType::Date32 | SType::Float32 => need::<i32>(data, len),
            SType::Int64 | SType::Time64 | SType::Float64 => need::<i64>(data, len),
            SType::Str32 | SType::Str64 | SType::Arr32 | SType::Arr64 => {
                let text = raw::is_text(self.field.stype());
                return Ok(match self.field.is_narrow() {
                    true => self.offsets_need::<u32>(len, text),
                    false => self.offsets_need::<u64>(len, text),
                });
            }
        };
        Ok(values.saturating_add(validity))
    }

    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let (first, len) = self.range(&rows)?;
        let (values, validity) = match self.field.stype() {
            SType::Void0 => (Values::Null, Validity::None),
            SType::Unknown(id) => {
                return Err(Error::new(Kind::Unsupported, What::JayType, self.field.at()).with_need(id.into()));
            }
            SType::Bool8 => {
                let (bits, validity) = self.bools(first, len, scratch)?;
                (Values::Bool(bits), validity)
            }
            SType::Int8 => {
                let (values, validity) = self.numbers(first, len, scratch)?;
                (Values::I8(values), validity)
            }
            SType::Int16 => {
                let (values, validity) = self.numbers(first, len, scratch)?;
                (Values::I16(values), validity)
            }
            SType::Int32 | SType::Date32 => {
                let (values, validity) = self.numbers(first, len, scratch)?;
                (Values::I32(values), validity)
            }
            SType::Int64 | SType::Time64 => {
                let (values, validity) = self.numbers(first, len, scratch)?;
                (Values::I64(values), validity)
            }
            SType::Float32 => {
                let (values, validity) = self.numbers(first, len, scratch)?;
                (Values::F32(values), validity)
            }
            SType::Float64 => {
                let (values, validity) = self.numbers(first, len, scratch)?;
                (Values::F64(values), validity)
            }
            SType::Str32 | SType::Str64 => {
                let data = self.text();
                let (most, text) = (data.len() as u64, Some(data));
                let (spans, validity) = if self.field.is_narrow() {
                    let (offsets, validity) = self.offsets::<u32>(first, len, most, text, scratch)?;
                    (Spans::Off32(offsets), validity)
                } else {
                    let (offsets, validity) = self.offsets::<u64>(first, len, most, text, scratch)?;
                    (Spans::Off64(offsets), validity)
                };
                (Values::Utf8(VarBytes { data, spans }), validity)
            }
            SType::Arr32 | SType::Arr64 => {
                let most = self.field.child()?.map_or(0, |child| child.rows());
                let (rows, validity) = if self.field.is_narrow() {
                    let (offsets, validity) = self.offsets::<u32>(first, len, most, None, scratch)?;
                    (Ranges::Off32(offsets), validity)
                } else {
                    let (offsets, validity) = self.offsets::<u64>(first, len, most, None, scratch)?;
                    (Ranges::Off64(offsets), validity)
                };
                (Values::Nested { rows, of: *self }, validity)
            }
        };
        Ok(Batch { first: rows.start, len, values, validity })
    }
}
