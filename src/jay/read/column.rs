//! Implements the [`column`](mod@crate::column) traits.

use core::fmt;
use core::ops::Range;

use super::field::Which;
use super::numbers::{Number, copied, is_native};
use super::offsets::Offsets;
use super::{Field, Stats};
use crate::bytes::{Bits, FileRange, Input, Scratch, product};
use crate::column::{self, Batch, Fact, Ranges, Spans, Type, Validity, Value, Values, VarBytes, Zone, cost};
use crate::encoding::bitmap;
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::SType;

/// Maximum number of rows of a batch that is checked while it is read, so that the caller finds it in the cache.
const ROWS: u64 = 1 << 14;

/// Evaluates `$same` for numbers of any type, `$other` for other values.
macro_rules! numbers {
    ($values:expr, $numbers:ident => $same:expr, $other:expr) => {
        match $values {
            Values::I8($numbers) => $same,
            Values::I16($numbers) => $same,
            Values::I32($numbers) => $same,
            Values::I64($numbers) => $same,
            Values::F32($numbers) => $same,
            Values::F64($numbers) => $same,
            _ => $other,
        }
    };
}

/// A column: a small handle that borrows the metadata and the bytes of the file.
#[derive(Clone, Copy)]
pub struct Column<'a> {
    field: Field<'a>,
    input: Input<'a>,
}

impl fmt::Debug for Column<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Column").field(&self.field).finish()
    }
}

const _: () = assert!(size_of::<Column<'_>>() <= 192);

impl<'a> Column<'a> {
    /// Creates the column that `field` describes, a column of the file `input`. No buffer need be present yet; the
    /// smallest range that contains all of them is [`Field::span`].
    ///
    /// # Errors
    /// [`Kind::Truncated`] if a buffer of the column ends after the file.
    pub(crate) fn new(field: Field<'a>, input: Input<'a>) -> Result<Self> {
        let column = Column { field, input };
        column.check()?;
        Ok(column)
    }

    /// Checks that all buffers are in the file.
    fn check(&self) -> Result<()> {
        self.field.buffers().iter().try_for_each(|span| self.input.check(*span, What::JAY_BUFFER))
    }

    /// Returns the bytes of the file.
    pub(super) const fn input(&self) -> &Input<'a> {
        &self.input
    }

    /// Returns the column with its rows read through another input of the same file.
    pub(super) fn with_input<'w>(&self, input: Input<'w>) -> Column<'w>
    where
        'a: 'w,
    {
        Column { field: self.field, input }
    }

    /// Returns the description of the column.
    #[must_use]
    pub const fn field(&self) -> &Field<'a> {
        &self.field
    }

    /// Returns `len` bytes of a buffer, starting at byte `from` of it.
    pub(super) fn bytes(&self, which: Which, from: u64, len: u64) -> Result<&'a [u8]> {
        let buffer = self.field.buffer(which);
        if from.checked_add(len).is_none_or(|end| end > buffer.len) {
            return Err(Error::needing(Kind::OutOfRange, What::ROW, from, buffer.len));
        }
        self.input.get(FileRange { at: buffer.at.saturating_add(from), len }, What::JAY_BUFFER)
    }

    /// Returns the bytes of the elements or offsets `first..first + len`, `size` bytes each.
    pub(super) fn elements(&self, first: usize, len: usize, size: usize) -> Result<&'a [u8]> {
        self.bytes(Which::Data, product(first as u64, size as u64), product(len as u64, size as u64))
    }

    /// Returns the bits `first..first + len` of a buffer.
    pub(super) fn bits(&self, which: Which, first: usize, len: usize) -> Result<Bits<'a>> {
        let (from, to) = (first as u64 >> 3, (first as u64).saturating_add(len as u64).div_ceil(8));
        Bits::new(self.bytes(which, from, to.saturating_sub(from))?, first & 7, len)
    }

    pub(super) const fn has_bitmap(&self) -> bool {
        self.field.buffer(Which::Validity).len > 0
    }

    /// Returns the whole buffer if the file is in memory as one slice.
    pub(super) fn whole(&self, which: Which) -> Option<&'a [u8]> {
        self.field.buffer(which).find(self.input.as_slice()?)
    }

    /// Returns whether elements of `size` bytes can be used in place. Of a file that is not in memory as one slice, this
    /// is not known before they are read.
    pub(super) fn is_native(&self, size: usize) -> bool {
        self.whole(Which::Data).is_some_and(|data| is_native(data, size))
    }

    /// Returns whether a null count of 0 is trusted.
    pub(super) fn is_trusted(&self) -> bool {
        self.field.rules.trust && self.field.null_count() == 0
    }

    /// Returns whether a missing row is an error.
    pub(super) fn is_full(&self) -> bool {
        !self.field.rules.tolerant && self.field.null_count() == 0
    }

    #[cold]
    pub(super) fn unexpected_null(&self) -> Error {
        Error::new(Kind::Invalid, What::JAY_NULLS, self.field.at())
    }

    /// Returns the validity according to the bitmap alone.
    fn by_bitmap<'s>(&self, first: usize, len: usize) -> Result<Validity<'s>>
    where
        'a: 's,
    {
        if !self.has_bitmap() {
            return Ok(Validity::All);
        }
        let bits: Bits<'a> = self.bits(Which::Validity, first, len)?;
        match bits.count_ones() == len {
            true => Ok(Validity::All),
            false if self.is_full() => Err(self.unexpected_null()),
            false => Ok(Validity::Bits(bits)),
        }
    }

    /// Clears the bit in `validity` of each row that `pack` marks as missing. There are `rows` rows.
    pub(super) fn mark<'s>(
        &self,
        rows: usize,
        pack: impl FnOnce(&mut [u8]) -> usize,
        validity: &mut Validity<'s>,
        scratch: &mut Scratch<'s>,
    ) -> Result<()> {
        let valid = self.room(rows, scratch)?;
        pack(valid);
        both(valid, validity, rows)
    }

    /// Allocates a validity bitmap of `rows` bits. Fails if the column may not have missing rows.
    fn room<'s>(&self, rows: usize, scratch: &mut Scratch<'s>) -> Result<&'s mut [u8]> {
        if self.is_full() {
            return Err(self.unexpected_null());
        }
        scratch.cut(rows.div_ceil(8), 1, 1)
    }

    /// Clears the bit in `validity` of each row whose number marks a missing value.
    fn mark_numbers<'s>(
        &self,
        values: &Values<'_>,
        rows: usize,
        validity: &mut Validity<'s>,
        scratch: &mut Scratch<'s>,
    ) -> Result<()> {
        if !numbers!(values, numbers => bitmap::any(numbers, Number::is_na), false) {
            return Ok(());
        }
        let pack = |bits: &mut [u8]| numbers!(values, numbers => bitmap::pack(numbers, bits, |n| !Number::is_na(n)), 0);
        self.mark(rows, pack, validity, scratch)
    }

    /// Returns the first row of `rows`, and the number of rows that one batch has at most.
    fn range(&self, rows: &Range<u64>) -> Result<(usize, usize)> {
        let all = self.field.rows();
        if rows.start > rows.end || rows.end > all {
            return Err(Error::needing(Kind::OutOfRange, What::ROW, rows.end, all));
        }
        let len = rows.end.saturating_sub(rows.start);
        let len = match self.field.stype() {
            SType::Void0 => len.min(1 << 31),
            _ if self.is_trusted() && !self.field.stype().is_text() => len,
            _ => len.min(ROWS),
        };
        match (usize::try_from(rows.start), usize::try_from(len)) {
            (Ok(first), Ok(len)) => Ok((first, len)),
            // Only void columns can have more rows than fit in `usize`.
            (Err(_), Ok(len)) if self.field.stype() == SType::Void0 => Ok((0, len)),
            _ => Err(Error::needing(Kind::OutOfRange, What::ROW, rows.end, all)),
        }
    }

    /// Returns elements of `size` bytes: the file's bytes if they are aligned and in native byte order, else a copy.
    fn numbers<'s>(&self, first: usize, len: usize, size: usize, scratch: &mut Scratch<'s>) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        let elements = self.elements(first, len, size)?;
        if is_native(elements, size) {
            return Ok(elements);
        }
        Ok(copied(elements, size, scratch)?)
    }
}

/// Combines two bitmaps: a row has a value if it has one in `valid` and in `validity`.
fn both<'s>(valid: &'s mut [u8], validity: &mut Validity<'s>, len: usize) -> Result<()> {
    if let Validity::Bits(bits) = validity {
        for (i, bytes) in valid.chunks_mut(8).enumerate() {
            let word = bits.word(i << 6);
            bytes.iter_mut().zip(word.to_le_bytes()).for_each(|(byte, bits)| *byte &= bits);
        }
    }
    *validity = Validity::Bits(Bits::new(valid, 0, len)?);
    Ok(())
}

impl column::Column for Column<'_> {
    fn ty(&self) -> Type {
        self.field.stype().ty().unwrap_or(Type::Opaque)
    }

    /// Returns whether the null count is not 0. Always true for void columns and in tolerant mode.
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
        let Some(field) = self.field.child()?.filter(|_| k == 0) else {
            return Err(Error::needing(Kind::OutOfRange, What::CHILD, k as u64, self.ty().children() as u64));
        };
        let child = Column { field, ..*self };
        child.check()?;
        Ok(child)
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        let (_, len) = self.range(&rows)?;
        let len = len as u64;
        let validity = if self.is_full() { 0 } else { len.div_ceil(8) };
        let size = usize::from(self.field.width());
        let values = match self.field.stype() {
            SType::Void0 | SType::Unknown(_) => return Ok(0),
            SType::Bool8 if self.field.is_packed() => return Ok(0),
            SType::Bool8 => len.div_ceil(8),
            SType::Str32 | SType::Str64 => return Ok(self.offsets_need(len, true)),
            SType::Arr32 | SType::Arr64 => return Ok(self.offsets_need(len, false)),
            _ if self.is_native(size) => 0,
            _ => cost(size, len),
        };
        Ok(values.saturating_add(validity))
    }

    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let (first, mut len) = self.range(&rows)?;
        let text = match self.field.stype().is_text() {
            true => Some(self.text(first, &mut len)?),
            false => None,
        };
        let mut validity = self.by_bitmap(first, len)?;
        let values = match self.field.stype() {
            SType::Void0 => {
                validity = Validity::None;
                Values::Null
            }
            SType::Bool8 => Values::Bool(self.bools(first, len, &mut validity, scratch)?),
            SType::Str32 | SType::Str64 => {
                let most = self.field.buffer(Which::Text).len;
                let spans = match self.offsets(first, len, most, text, &mut validity, scratch)? {
                    Offsets::Narrow(offsets) => Spans::Off32(offsets),
                    Offsets::Wide(offsets) => Spans::Off64(offsets),
                };
                Values::Utf8(VarBytes { data: text.map_or(&[], |text| text.bytes), spans })
            }
            SType::Arr32 | SType::Arr64 => {
                let most = self.field.child()?.map_or(0, |child| child.rows());
                let rows = match self.offsets(first, len, most, None, &mut validity, scratch)? {
                    Offsets::Narrow(offsets) => Ranges::Off32(offsets),
                    Offsets::Wide(offsets) => Ranges::Off64(offsets),
                };
                Values::Nested(rows)
            }
            stype => {
                let Some(prim) = stype.prim() else {
                    let id = u8::from(stype).into();
                    return Err(Error::needing(Kind::Unsupported, What::JAY_TYPE, self.field.at(), id));
                };
                let values = Values::numbers(prim, self.numbers(first, len, prim.size(), scratch)?);
                if !self.is_trusted() {
                    self.mark_numbers(&values, len, &mut validity, scratch)?;
                }
                values
            }
        };
        Ok(Batch { first: rows.start, len, values, validity, of: *self })
    }

    /// Returns one zone of all rows, with the statistics and the null count of the metadata.
    fn zone_around<'s>(&self, row: u64, _: &mut Scratch<'s>) -> Result<Option<Zone<'s>>>
    where
        Self: 's,
    {
        let rows = 0..self.field.rows();
        if !rows.contains(&row) {
            return Ok(None);
        }
        let (min, max) = match self.field.stats()? {
            Some(Stats::Int { min, max }) if self.field.stype() == SType::Bool8 => {
                (Some(Value::Bool(min != 0)), Some(Value::Bool(max != 0)))
            }
            Some(Stats::Int { min, max }) => (Some(Value::Int(min.into())), Some(Value::Int(max.into()))),
            Some(Stats::Float32 { min, max }) => (Some(Value::F32(min)), Some(Value::F32(max))),
            Some(Stats::Float64 { min, max }) => (Some(Value::F64(min)), Some(Value::F64(max))),
            Some(Stats::Empty) | None => (None, None),
        };
        Ok(Some(Zone { rows, min: min.into(), max: max.into(), nulls: Fact::Claimed(self.field.null_count()) }))
    }
}
