//! Rows in memory of the caller, column by column, until they fill a row group.

use super::end::number;
use super::field::{Field, FieldType, Id, Schema};
use super::form::{Form, is_float};
use super::record::Cell;
use crate::bytes::{len32, low8};
use crate::column::Prim;
use crate::error::{Error, Kind, Result, What};
use crate::vortex::dtype::signed;

/// Returns the size in bytes of the memory for `rows` rows of columns, rounded up to a multiple of 8 rows, and for
/// `texts` bytes of texts of all columns.
///
/// ```
/// use pilaster::column::Prim;
/// use pilaster::vortex::log::{Field, FieldType, memory_len};
///
/// const FIELDS: &[Field<'static>] = &[
///     Field::new("x", FieldType::Prim(Prim::I32)).nullable(), // 4 bytes and a bit
///     Field::new("name", FieldType::Utf8),                    // 4 bytes, and the text
///     Field::new("on", FieldType::Bool),                      // a bit
/// ];
/// assert_eq!(memory_len(FIELDS, 8, 100), 4 * 8 + 1 + 4 * 8 + 1 + 100);
/// ```
#[must_use]
pub const fn memory_len(fields: &[Field<'_>], rows: usize, texts: usize) -> usize {
    bits(fields).saturating_mul(rows.div_ceil(8)).saturating_add(texts)
}

/// Returns the number of bits that a row takes.
const fn bits(fields: &[Field<'_>]) -> usize {
    let (mut sum, mut rest) = (0usize, fields);
    while let [field, others @ ..] = rest {
        sum = sum.saturating_add(field.bits());
        rest = others;
    }
    sum
}

/// Rows of a row group that is not yet written.
///
/// The memory has a region for each column: the validity bitmap of a nullable column, then its values: bits of booleans,
/// little-endian numbers, or the offset of each text. The texts of all columns follow, row by row.
#[derive(Debug)]
pub(super) struct Rows<'m> {
    memory: &'m mut [u8],
    /// Maximum number of rows as the caller gave it, and divided by 8; 0 while no row may be added.
    most: usize,
    eights: usize,
    len: usize,
    /// Offset of the first text in the memory.
    texts: usize,
    /// Size in bytes of the texts.
    used: usize,
}

impl<'m> Rows<'m> {
    /// Creates an empty row group of at most a number of rows. It must be [started](Self::start).
    pub const fn new((memory, rows): (&'m mut [u8], usize)) -> Self {
        Rows { memory, eights: 0, most: rows, len: 0, texts: 0, used: 0 }
    }

    /// Checks the size of the memory.
    pub fn start(&mut self, schema: &impl Schema) -> Result<()> {
        let eights = self.most.div_ceil(8);
        self.texts = bits_before(schema, schema.count()).saturating_mul(eights);
        let len = self.memory.len();
        if eights == 0 || len < self.texts || u32::try_from(len).is_err() {
            return Err(Error::needing(Kind::NoRoom, What::VORTEX_ROW_MEMORY, 0, self.texts as u64));
        }
        self.eights = eights;
        Ok(())
    }

    /// Takes no further rows.
    pub const fn close(&mut self) {
        self.eights = 0;
    }

    /// Returns whether rows may be added, after others were written if it [is full](Self::is_full).
    pub const fn is_open(&self) -> bool {
        self.eights > 0
    }

    /// Returns the number of rows.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no further row fits.
    pub const fn is_full(&self) -> bool {
        self.len >= self.eights.wrapping_mul(8)
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        (self.len, self.used) = (0, 0);
    }

    /// Returns the number of bytes for texts in all, and how many of them are free.
    pub const fn texts(&self) -> (usize, usize) {
        let all = self.memory.len().wrapping_sub(self.texts);
        (all, all.wrapping_sub(self.used))
    }

    /// Adds a row of cells of the types of the columns. It fits. Unless they are `TYPED`, all numbers are words.
    #[inline(never)]
    pub fn push<T: Schema, const TYPED: bool>(&mut self, schema: &T, cells: &[Cell<'_>]) {
        let (mut at, mut column) = (0usize, 0);
        for cell in cells {
            let Some(form) = schema.form(column) else { break };
            if T::USES.has(Id::Bool) && form.is_nullable() {
                self.put_bit(at, !matches!(cell, Cell::Null));
                at = at.wrapping_add(self.eights);
            }
            let mut word = match *cell {
                Cell::Word(word) => word,
                _ if T::USES.has(Id::VarBin) && form.is_text() => self.put_text(cell.text()),
                _ if TYPED => cell.word(),
                _ => 0,
            };
            if T::USES.has(Id::Bool) && form.is_bool() {
                self.put_bit(at, word != 0);
                at = at.wrapping_add(self.eights);
            } else {
                let place = at.wrapping_add(self.len.wrapping_mul(form.size()));
                let to = self.memory.get_mut(place..).unwrap_or_default().iter_mut().take(form.size());
                for to in to {
                    *to = low8(crate::bytes::saturated(word & 0xff));
                    word >>= 8;
                }
                at = at.wrapping_add(self.eights.wrapping_mul(8).wrapping_mul(form.size()));
            }
            column = column.wrapping_add(1);
        }
        self.len = self.len.wrapping_add(1);
    }

    /// Stores a text, which fits. Returns its offset after the first text.
    fn put_text(&mut self, text: &[u8]) -> u64 {
        let (start, at) = (self.used, self.texts.wrapping_add(self.used));
        for (to, byte) in self.memory.get_mut(at..).unwrap_or_default().iter_mut().zip(text) {
            *to = *byte;
        }
        self.used = start.wrapping_add(text.len());
        start as u64
    }

    /// Stores a bit of the new row in a bitmap at `at`. The bits after it become zeros.
    #[inline(never)]
    fn put_bit(&mut self, at: usize, bit: bool) {
        if let Some(byte) = self.memory.get_mut(at.wrapping_add(self.len >> 3)) {
            let mask = 1u8 << (self.len & 7);
            *byte = *byte & mask.wrapping_sub(1) | if bit { mask } else { 0 };
        }
    }

    /// Returns the offset of the values of a column.
    fn cells(&self, schema: &impl Schema, column: usize, form: Form) -> usize {
        let at = bits_before(schema, column).wrapping_mul(self.eights);
        at.wrapping_add(if form.is_nullable() { self.eights } else { 0 })
    }

    /// Returns the rows of a column.
    pub fn column<T: Schema>(&self, schema: &T, column: usize, form: Form) -> Column<'_> {
        let cells = self.cells(schema, column, form);
        let valid = cells.wrapping_sub(self.eights);
        let (mut starts, mut later, mut next) = (0, 0, column);
        // The search for the next column with texts ends at this one at the latest.
        while T::USES.has(Id::VarBin) && form.is_text() {
            next = next.wrapping_add(1);
            match schema.form(next) {
                Some(form) if form.is_text() => {
                    starts = self.cells(schema, next, form);
                    break;
                }
                Some(_) => {}
                None => (next, later) = (usize::MAX, 1),
            }
        }
        let texts = self.texts;
        let memory = self.memory.get(..texts.wrapping_add(self.used)).unwrap_or_default();
        Column { form, len: self.len, memory, valid, cells, texts, starts, later }
    }
}

/// Returns the number of bits of a row in the columns before one.
#[inline(never)]
fn bits_before(schema: &impl Schema, column: usize) -> usize {
    (0..column).fold(0, |sum: usize, i| sum.saturating_add(schema.form(i).map_or(0, Form::bits)))
}

/// The rows of one column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<'r> {
    pub form: Form,
    pub len: usize,
    /// The memory of all columns, to the end of their texts.
    memory: &'r [u8],
    /// Offsets of the validity bitmap of a nullable column, of the values, and of the texts of all columns.
    valid: usize,
    cells: usize,
    texts: usize,
    /// A text ends where the next one starts, in this row or in the row `later`: offset of the next column with texts.
    starts: usize,
    later: usize,
}

impl<'r> Column<'r> {
    /// Returns whether a row has a value.
    #[inline(never)]
    pub fn is_valid(&self, row: usize) -> bool {
        !self.form.is_nullable() || self.bit(self.valid, row)
    }

    /// Returns the number of rows with a value.
    pub fn valid(&self) -> usize {
        (0..self.len).filter(|row| self.is_valid(*row)).count()
    }

    /// Returns the number of bytes of a bitmap.
    pub const fn bitmap_len(&self) -> usize {
        self.len.wrapping_add(7) >> 3
    }

    /// Returns the validity bitmap, if the column is nullable.
    pub fn bitmap(&self) -> &'r [u8] {
        self.slice(self.valid, self.bitmap_len())
    }

    /// Returns the first `len` bytes of the values: little-endian numbers, or bits.
    pub fn bytes(&self, len: u32) -> &'r [u8] {
        self.slice(self.cells, len as usize)
    }

    /// Returns a number, sign-extended if it is a signed integer; the bits of a float; a boolean as 0 or 1.
    pub fn word(&self, row: usize) -> u64 {
        if self.form.is_bool() {
            return self.bit(self.cells, row).into();
        }
        let bytes = self.after(self.cells.wrapping_add(row.wrapping_mul(self.form.size())));
        let word = match self.form.size() {
            1 => bytes.first().map_or(0, |byte| (*byte).into()),
            2 => bytes.first_chunk().map_or(0, |two| u16::from_le_bytes(*two).into()),
            4 => word32(bytes),
            _ => return bytes.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight)),
        };
        if self.form.is_signed() {
            // The sign bit becomes the highest of the word, and then all bits above.
            let up = 32u32.wrapping_sub(len32(self.form.size()).wrapping_mul(8));
            i64::from((word << up).cast_signed() >> up).cast_unsigned()
        } else {
            word.into()
        }
    }

    /// Returns the text of a row; a missing one is empty.
    #[inline(never)]
    pub fn text(&self, row: usize) -> &'r [u8] {
        let start = |starts: usize, row: usize| {
            self.texts.wrapping_add(word32(self.after(starts.wrapping_add(row.wrapping_mul(4)))) as usize)
        };
        let (at, next) = (start(self.cells, row), row.wrapping_add(self.later));
        let end = if next < self.len { start(self.starts, next) } else { self.memory.len() };
        self.slice(at, end.wrapping_sub(at))
    }

    /// Returns a part of the memory.
    #[inline(never)]
    fn slice(&self, at: usize, len: usize) -> &'r [u8] {
        self.after(at).get(..len).unwrap_or_default()
    }

    /// Returns the memory from an offset on.
    fn after(&self, at: usize) -> &'r [u8] {
        self.memory.get(at..).unwrap_or_default()
    }

    /// Returns a bit of a bitmap at an offset.
    fn bit(&self, at: usize, row: usize) -> bool {
        self.memory.get(at.wrapping_add(row >> 3)).is_some_and(|byte| byte >> (row & 7) & 1 != 0)
    }
}

fn word32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |four| u32::from_le_bytes(*four))
}

/// Checks that the cells are of the types of the columns, and in their ranges.
pub(super) fn check(fields: &[Field<'_>], cells: &[Cell<'_>]) -> Result<()> {
    let good = fields.iter().zip(cells).take_while(|(field, cell)| takes(field, **cell)).count();
    if fields.len() == cells.len() && good == cells.len() {
        return Ok(());
    }
    let expected = fields.get(good).map_or(0, expected);
    Err(Error::needing(Kind::Misuse, What::VORTEX_FIELD, good as u64, expected.into()))
}

/// Returns whether a column takes a cell.
fn takes(field: &Field<'_>, cell: Cell<'_>) -> bool {
    let prim = field.prim();
    match cell {
        Cell::Null => field.nullable,
        Cell::Text(_) => field.ty == FieldType::Utf8,
        Cell::Bytes(_) => field.ty == FieldType::Binary,
        Cell::Bool(_) => field.ty == FieldType::Bool,
        Cell::F32(_) => prim == Some(Prim::F32),
        Cell::F64(_) => prim == Some(Prim::F64),
        Cell::Int(number) => prim.is_some_and(|prim| !is_float(prim) && fits(prim, number.into())),
        Cell::Uint(number) => prim.is_some_and(|prim| !is_float(prim) && fits(prim, number.into())),
        Cell::Word(word) if field.ty == FieldType::Bool => word < 2,
        Cell::Word(word) => prim.is_some_and(|prim| {
            let is_extended = signed(prim) && fits(prim, word.cast_signed().into());
            is_extended || word.checked_shr(len32(prim.size()).wrapping_mul(8)).unwrap_or(0) == 0
        }),
    }
}

/// Returns whether an integer is in the range of a type.
fn fits(prim: Prim, number: i128) -> bool {
    let bits = len32(prim.size()).wrapping_mul(8);
    if signed(prim) {
        -1 <= number >> bits.wrapping_sub(1) && number >> bits.wrapping_sub(1) <= 0
    } else {
        number >> bits == 0
    }
}

/// What columns take, in the order of the numbers in errors.
const TAKEN: [&str; 14] =
    ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "f32", "f64", "bool", "utf8", "binary"];

/// Set in the number in an error if the column takes nulls.
const OR_NULL: u8 = 1 << 7;

/// Returns the number of what a column takes, at least 1.
fn expected(field: &Field<'_>) -> u8 {
    let kind = match (field.prim(), field.ty) {
        (Some(prim), _) => number(prim),
        (None, FieldType::Bool) => 11,
        (None, FieldType::Utf8) => 12,
        (None, _) => 13,
    };
    kind.wrapping_add(1) | if field.nullable { OR_NULL } else { 0 }
}

/// Returns what the column takes that an error is about, and whether that may be null. `None` if there is no such column.
pub(crate) fn taken(need: u32) -> Option<(&'static str, bool)> {
    let kind = need & !u32::from(OR_NULL);
    Some((TAKEN.get((kind as usize).checked_sub(1)?)?, need != kind))
}
