//! Rows in memory of the caller, column by column, until they fill a row group.

use super::field::{Field, FieldType, Id, Schema};
use super::form::Form;
use super::record::Cell;
use crate::error::{Error, Kind, Result, What};

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
    /// Maximum number of rows, divided by 8.
    eights: usize,
    len: usize,
    /// Offset of the first text in the memory.
    texts: usize,
    /// Size in bytes of the texts.
    used: usize,
}

impl<'m> Rows<'m> {
    /// Creates an empty row group of at most `rows` rows.
    pub fn new(schema: &impl Schema, memory: &'m mut [u8], rows: usize) -> Result<Self> {
        let eights = rows.div_ceil(8);
        let (texts, len) = (bits_before(schema, schema.count()).saturating_mul(eights), memory.len());
        if rows == 0 || len < texts || u32::try_from(len).is_err() {
            return Err(Error::needing(Kind::NoRoom, What::VORTEX_ROW_MEMORY, 0, texts as u64));
        }
        Ok(Rows { memory, eights, len: 0, texts, used: 0 })
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

    /// Adds a row of cells of the types of the columns. It fits.
    #[inline(never)]
    pub fn push<T: Schema>(&mut self, schema: &T, cells: &[Cell<'_>]) {
        let (mut at, mut column) = (0usize, 0);
        for cell in cells {
            let Some(form) = schema.form(column) else { break };
            if T::USES.has(Id::Bool) && form.is_nullable() {
                self.put_bit(at, *cell != Cell::Null);
                at = at.wrapping_add(self.eights);
            }
            let word = match *cell {
                Cell::Word(word) => word,
                _ if T::USES.has(Id::VarBin) && form.is_text() => self.put_text(cell.text()),
                _ => 0,
            };
            if T::USES.has(Id::Bool) && form.is_bool() {
                self.put_bit(at, word != 0);
                at = at.wrapping_add(self.eights);
            } else {
                let place = at.wrapping_add(self.len.wrapping_mul(form.size()));
                let to = self.memory.get_mut(place..).unwrap_or_default().iter_mut().take(form.size());
                to.zip(word.to_le_bytes()).for_each(|(to, byte)| *to = byte);
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

    /// Returns the values of a column, and of the columns after it.
    fn cells(&self, schema: &impl Schema, column: usize) -> &[u8] {
        self.memory.get(bits_before(schema, column).wrapping_mul(self.eights)..).unwrap_or_default()
    }

    /// Returns the rows of a column.
    pub fn column<T: Schema>(&self, schema: &T, column: usize, form: Form) -> Column<'_> {
        let mut cells = self.cells(schema, column);
        let mut valid = &[][..];
        if T::USES.has(Id::Bool) && form.is_nullable() {
            (valid, cells) = cells.split_at_checked(self.eights).unwrap_or_default();
        }
        let (mut texts, mut starts, mut later) = (&[][..], &[][..], 0);
        if T::USES.has(Id::VarBin) && form.is_text() {
            texts = self.memory.get(self.texts..).unwrap_or_default().get(..self.used).unwrap_or_default();
            let mut next = column;
            starts = loop {
                next = next.wrapping_add(1);
                match schema.form(next) {
                    Some(form) if form.is_text() => {
                        let skipped = if form.is_nullable() { self.eights } else { 0 };
                        break self.cells(schema, next).get(skipped..).unwrap_or_default();
                    }
                    Some(_) => {}
                    // The search ends at this column at the latest.
                    None => (next, later) = (usize::MAX, 1),
                }
            };
        }
        Column { form, len: self.len, valid, cells, texts, starts, later }
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
    /// The validity bitmap of a nullable column.
    valid: &'r [u8],
    cells: &'r [u8],
    /// The texts of all columns.
    texts: &'r [u8],
    /// A text ends where the next one starts, in this row or in the row `later`: offsets of the next column with texts.
    starts: &'r [u8],
    later: usize,
}

impl<'r> Column<'r> {
    /// Returns whether a row has a value.
    pub fn is_valid(&self, row: usize) -> bool {
        !self.form.is_nullable() || bit(self.valid, row)
    }

    /// Returns the number of bytes of a bitmap.
    pub const fn bitmap_len(&self) -> usize {
        self.len.div_ceil(8)
    }

    /// Returns the validity bitmap, if the column is nullable.
    pub fn bitmap(&self) -> &'r [u8] {
        self.valid.get(..self.bitmap_len()).unwrap_or_default()
    }

    /// Returns the first `len` bytes of the values: little-endian numbers, or bits.
    pub fn bytes(&self, len: u32) -> &'r [u8] {
        self.cells.get(..len as usize).unwrap_or_default()
    }

    /// Returns a number, sign-extended if it is a signed integer; the bits of a float; a boolean as 0 or 1.
    pub fn word(&self, row: usize) -> u64 {
        if self.form.is_bool() {
            return bit(self.cells, row).into();
        }
        let bytes = self.cells.get(row.wrapping_mul(self.form.size())..).unwrap_or_default();
        let signed = match self.form.size() {
            1 => bytes.first().map_or(0, |byte| byte.cast_signed().into()),
            2 => bytes.first_chunk().map_or(0, |two| i16::from_le_bytes(*two).into()),
            4 => i64::from(word32(bytes).cast_signed()),
            _ => bytes.first_chunk().map_or(0, |eight| i64::from_le_bytes(*eight)),
        };
        signed.cast_unsigned() & self.form.mask()
    }

    /// Returns the text of a row; a missing one is empty.
    #[inline(never)]
    pub fn text(&self, row: usize) -> &'r [u8] {
        let start = |starts: &[u8], row: usize| starts.get(row.wrapping_mul(4)..).map_or(0, word32) as usize;
        let next = row.wrapping_add(self.later);
        let end = if next < self.len { start(self.starts, next) } else { self.texts.len() };
        self.texts.get(start(self.cells, row)..end).unwrap_or_default()
    }
}

fn bit(bits: &[u8], row: usize) -> bool {
    bits.get(row >> 3).is_some_and(|byte| byte >> (row & 7) & 1 != 0)
}

fn word32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |four| u32::from_le_bytes(*four))
}

/// Checks that the cells are of the types of the columns.
pub(super) fn check(fields: &[Field<'_>], cells: &[Cell<'_>]) -> Result<()> {
    let fits = |(field, cell): &(&Field<'_>, &Cell<'_>)| match (*cell, field.ty) {
        (Cell::Null, _) => field.nullable,
        (Cell::Text(_), FieldType::Utf8) | (Cell::Bytes(_), FieldType::Binary) => true,
        (Cell::Word(_), ty) => !matches!(ty, FieldType::Utf8 | FieldType::Binary),
        _ => false,
    };
    let good = fields.iter().zip(cells).take_while(fits).count();
    let is_row = fields.len() == cells.len() && good == cells.len();
    if is_row { Ok(()) } else { Err(Error::needing(Kind::Misuse, What::VORTEX_FIELD, good as u64, 0)) }
}
