//! Implements the [`column`](mod@crate::column) traits: a vector is a part with one or two columns.

use core::ops::Range;

use super::numbers::{NO_ZONE, Numbers};
use super::{Data, Vector};
use crate::bytes::{Bits, Scratch};
use crate::column::{self, Batch, Dictionary, Prim, Spans, Type, Validity, Values, VarBytes, no_column};
use crate::encoding::bitmap;
use crate::error::{Error, Kind, Result, What};
use crate::filo::Element;
use crate::filo::raw::Packing;

impl<'a> column::Part for Vector<'a> {
    type Col = Column<'a>;

    fn rows(&self) -> u64 {
        Vector::rows(self)
    }

    fn width(&self) -> usize {
        if self.element == Element::DateTime { 2 } else { 1 }
    }

    /// Returns `v` for the values, because the format stores no name, or `v.utc_offset_ms`.
    fn name(&self, k: usize) -> Result<&str> {
        match k {
            0 => Ok("v"),
            1 if self.element == Element::DateTime => Ok("v.utc_offset_ms"),
            _ => Err(no_column(k, self.width())),
        }
    }

    fn column(&self, k: usize) -> Result<Column<'a>> {
        Vector::column(self, k)
    }
}

/// A column of a vector: a small handle.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    vector: Vector<'a>,
    role: Role,
}

/// The data of a vector that a column returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Values,
    /// UTC offsets of date-times.
    Offsets,
    /// Codes of a dictionary.
    Codes,
    /// Entries of a dictionary. Entry 0 is the one of missing rows.
    Entries,
}

impl<'a> Column<'a> {
    pub(super) fn of(vector: Vector<'a>, k: usize) -> Result<Self> {
        let role = match (k, vector.element) {
            (0, _) => Role::Values,
            (1, Element::DateTime) => Role::Offsets,
            (_, element) => return Err(no_column(k, if element == Element::DateTime { 2 } else { 1 })),
        };
        Ok(Column { vector, role })
    }

    /// Returns first row and row count as `usize`.
    fn range(&self, rows: Range<u64>) -> Result<(usize, usize)> {
        let count = column::Column::rows(self);
        let inside = rows.start <= rows.end && rows.end <= count;
        match (usize::try_from(rows.start), usize::try_from(rows.end.saturating_sub(rows.start))) {
            (Ok(first), Ok(len)) if inside => Ok((first, len)),
            _ => Err(Error::needing(Kind::OutOfRange, What::ROW, rows.end, count)),
        }
    }

    fn is_text(&self) -> bool {
        matches!(self.vector.element, Element::String | Element::Utf8 | Element::Blob)
    }

    fn strings<'s>(&self, strings: VarBytes<'s>) -> Values<'s> {
        match self.vector.element {
            Element::Blob => Values::Bytes(strings),
            _ => Values::Utf8(strings),
        }
    }
}

impl column::Column for Column<'_> {
    fn ty(&self) -> Type {
        match self.role {
            Role::Values | Role::Entries => self.vector.element.ty(),
            Role::Offsets => Type::Prim(Prim::I32),
            Role::Codes => Type::Prim(Prim::U32),
        }
    }

    fn nullable(&self) -> bool {
        self.vector.nullable()
    }

    fn rows(&self) -> u64 {
        if self.role == Role::Entries { self.vector.entries.into() } else { self.vector.rows() }
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        let (_, len) = self.range(rows)?;
        let len = len as u64;
        let bitmap = super::mask::validity_need(len);
        let vector = &self.vector;
        let values = match (self.role, vector.data) {
            (Role::Codes, _) => Scratch::cost::<u32>(len),
            (_, Data::Strings | Data::Coded) => vector.strings.need(len),
            (_, Data::Bits) if !vector.numbers.constant => 0,
            (_, Data::Bits) => bitmap,
            (_, Data::Nothing) if self.is_text() => 0,
            (_, Data::Nothing) if vector.element == Element::Boolean => bitmap,
            _ => match self.ty() {
                Type::Prim(Prim::I32 | Prim::F32) => Scratch::cost::<u32>(len),
                _ => Scratch::cost::<u64>(len),
            },
        };
        let codes = if self.role == Role::Codes { bitmap } else { 0 };
        Ok(values.saturating_add(self.vector.mask.need(len)).saturating_add(codes))
    }

    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let start = rows.start;
        let (first, len) = self.range(rows)?;
        let vector = &self.vector;
        let mut validity = Validity::All;
        let values = match (self.role, vector.data) {
            (Role::Codes, Data::Coded) => {
                let words = scratch.take::<u32>(len)?;
                vector.numbers.packed.read(first, words)?;
                validity = nonzero(words, scratch)?;
                Values::U32(words)
            }
            (Role::Entries, _) | (_, Data::Strings) => {
                self.strings(vector.strings.read(first, len, &mut validity, scratch)?)
            }
            (_, Data::Coded) => {
                let codes = &vector.numbers.packed;
                self.strings(vector.strings.gather(vector.entries, codes, first, len, &mut validity, scratch)?)
            }
            (_, Data::Bits) => {
                let bits = vector.numbers.packed.data;
                Values::Bool(match vector.numbers.constant {
                    true => all_bits(bits.first().is_some_and(|byte| byte & 1 == 1), len, scratch)?,
                    false => Bits::new(bits, first, len)?,
                })
            }
            (Role::Offsets, Data::DateTime) => self.numbers(&vector.zones.offsets(), first, len, scratch)?,
            (_, Data::DateTime | Data::Numbers) => self.numbers(&vector.numbers, first, len, scratch)?,
            (_, Data::Nothing) if self.is_text() => {
                self.strings(VarBytes { data: &[], spans: Spans::Same { count: len } })
            }
            (_, Data::Nothing) if vector.element == Element::Boolean => Values::Bool(all_bits(false, len, scratch)?),
            (_, Data::Nothing) => self.numbers(&Numbers::ZERO, first, len, scratch)?,
        };
        if let Validity::All = validity {
            validity = vector.mask.validity(first, len, scratch)?;
        }
        if let (Role::Offsets, Values::I32(offsets)) = (self.role, &values) {
            for ((i, row), offset) in (first..).enumerate().zip(*offsets) {
                if *offset == NO_ZONE && validity.get(i) {
                    // Returns the error of the invalid offset.
                    vector.zones.offsets().get(row)?;
                }
            }
        }
        Ok(Batch { first: start, len, values, validity, of: *self })
    }

    fn dictionary(&self, _row: u64) -> Result<Option<Dictionary<Self>>> {
        if self.role != Role::Values || self.vector.data != Data::Coded {
            return Ok(None);
        }
        let of = |role| Column { role, ..*self };
        Ok(Some(Dictionary { first: 0, len: self.vector.rows(), codes: of(Role::Codes), values: of(Role::Entries) }))
    }
}

impl<'a> Column<'a> {
    /// Returns numbers as words of the column's type: borrowed if the chunk stores them in this form, else decoded into
    /// `scratch`.
    fn numbers<'s>(
        &self,
        numbers: &Numbers<'a>,
        first: usize,
        len: usize,
        scratch: &mut Scratch<'s>,
    ) -> Result<Values<'s>>
    where
        'a: 's,
    {
        use bytemuck::must_cast_slice as cast;
        Ok(match column::Column::ty(self) {
            Type::Prim(Prim::I32 | Prim::F32) => {
                let words: &'s [u32] = match borrowed(numbers, Packing::U32, first, len) {
                    Some(words) => words,
                    None => {
                        let words = scratch.take::<u32>(len)?;
                        numbers.read(first, words)?;
                        words
                    }
                };
                if self.vector.element == Element::Float { Values::F32(cast(words)) } else { Values::I32(cast(words)) }
            }
            _ => {
                let words: &'s [u64] = match borrowed(numbers, Packing::W64, first, len) {
                    Some(words) => words,
                    None => {
                        let words = scratch.take::<u64>(len)?;
                        numbers.read(first, words)?;
                        words
                    }
                };
                if self.vector.element == Element::Double { Values::F64(cast(words)) } else { Values::I64(cast(words)) }
            }
        })
    }
}

/// Returns the stored words if they have the width `word` and are aligned.
fn borrowed<'a, W: bytemuck::AnyBitPattern>(
    numbers: &Numbers<'a>,
    word: Packing,
    first: usize,
    len: usize,
) -> Option<&'a [W]> {
    if !numbers.is_wide(word) {
        return None;
    }
    bytemuck::try_cast_slice(numbers.stored(first, len)?).ok()
}

/// Returns `len` equal bits.
fn all_bits<'s>(bit: bool, len: usize, scratch: &mut Scratch<'s>) -> Result<Bits<'s>> {
    let bytes = scratch.take::<u8>(len.div_ceil(8))?;
    bytes.fill(if bit { 0xff } else { 0 });
    Bits::new(bytes, 0, len)
}

/// Returns the validity of codes. Code 0 marks a missing row.
fn nonzero<'s>(codes: &[u32], scratch: &mut Scratch<'s>) -> Result<Validity<'s>> {
    let valid = scratch.take::<u8>(codes.len().div_ceil(8))?;
    bitmap::pack(codes, valid, |code| code != 0);
    Ok(Validity::Bits(Bits::new(valid, 0, codes.len())?))
}
