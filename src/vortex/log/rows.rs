//! Rows in memory of the caller, column by column, until they fill a row group.

use super::field::{Field, FieldType};
use super::record::Cell;
use crate::bytes::len32;
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

/// Why a row is not added.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refused {
    /// It fits after the rows were written.
    Full,
    Bad(Error),
}

impl<'m> Rows<'m> {
    /// Creates an empty row group of at most `rows` rows.
    pub fn new(fields: &[Field<'_>], memory: &'m mut [u8], rows: usize) -> Result<Self> {
        let (texts, len) = (memory_len(fields, rows, 0), memory.len());
        if rows == 0 || len < texts || u32::try_from(len).is_err() {
            return Err(Error::needing(Kind::NoRoom, What::VORTEX_ROW_MEMORY, 0, texts as u64));
        }
        Ok(Rows { memory, eights: rows.div_ceil(8), len: 0, texts, used: 0 })
    }

    /// Returns the number of rows.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no further row fits.
    pub const fn is_full(&self) -> bool {
        self.len >= self.eights.saturating_mul(8)
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        (self.len, self.used) = (0, 0);
    }

    /// Adds a row. On an error, the rows are unchanged.
    pub fn push(&mut self, fields: &[Field<'_>], cells: &[Cell<'_>]) -> core::result::Result<(), Refused> {
        let texts = check(fields, cells).map_err(Refused::Bad)?;
        let free = self.memory.len().saturating_sub(self.texts);
        if texts > free {
            return Err(Refused::Bad(too_long(texts)));
        }
        if self.is_full() || texts > free.saturating_sub(self.used) {
            return Err(Refused::Full);
        }
        let (mut at, row) = (0usize, self.len);
        for (field, cell) in fields.iter().zip(cells) {
            if field.nullable {
                self.put_bit(at, row, *cell != Cell::Null);
                at = at.wrapping_add(self.eights);
            }
            self.put(at, field, cell);
            at = at.wrapping_add(self.eights.wrapping_mul(field.bits().wrapping_sub(field.nullable.into())));
        }
        self.len = row.wrapping_add(1);
        Ok(())
    }

    /// Stores a value in the region of values at `at`.
    fn put(&mut self, at: usize, field: &Field<'_>, cell: &Cell<'_>) {
        let (row, width) = (self.len, field.prim().map_or(4, crate::column::Prim::size));
        let word = match *cell {
            Cell::Null if field.prim().is_some() => 0,
            Cell::Word(word) => word,
            Cell::Text(text) => self.put_text(text.as_bytes()),
            Cell::Bytes(bytes) => self.put_text(bytes),
            Cell::Null => self.used as u64,
        };
        if field.ty == FieldType::Bool {
            return self.put_bit(at, row, word != 0);
        }
        let at = at.wrapping_add(row.wrapping_mul(width));
        let to = self.memory.get_mut(at..).unwrap_or_default().iter_mut().take(width);
        for (to, byte) in to.zip(word.to_le_bytes()) {
            *to = byte;
        }
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

    /// Stores a bit of a bitmap at `at`. The bits after it become zeros.
    fn put_bit(&mut self, at: usize, row: usize, bit: bool) {
        if let Some(byte) = self.memory.get_mut(at.wrapping_add(row >> 3)) {
            let mask = 1u8 << (row & 7);
            *byte = *byte & mask.wrapping_sub(1) | if bit { mask } else { 0 };
        }
    }

    /// Returns the rows of a column.
    pub fn column(&self, fields: &[Field<'_>], column: usize) -> Column<'_> {
        let before = fields.get(..column).unwrap_or_default();
        let field = fields.get(column);
        let mut at = bits(before).wrapping_mul(self.eights);
        let mut valid = None;
        if field.is_some_and(|field| field.nullable) {
            valid = self.memory.get(at..);
            at = at.wrapping_add(self.eights);
        }
        let cells = self.memory.get(at..).unwrap_or_default();
        let size = field.and_then(Field::prim).map_or(4, crate::column::Prim::size);
        let texts = self.memory.get(self.texts..).unwrap_or_default().get(..self.used).unwrap_or_default();
        Column { valid, cells, len: self.len, size, texts, end: End::of(fields, column, self) }
    }
}

/// Where the text of a row ends: where the next one begins, in this row or in the next one.
#[derive(Clone, Copy, Debug)]
struct End<'r> {
    /// Offsets of the next column with texts; if it is not after this one, its rows are one later.
    starts: &'r [u8],
    later: usize,
}

impl<'r> End<'r> {
    fn of(fields: &[Field<'_>], column: usize, rows: &'r Rows<'_>) -> Self {
        let texts = || fields.iter().enumerate().filter(|(_, field)| is_text(field)).map(|(i, _)| i);
        let next = texts().find(|i| *i > column);
        let (next, later) = match next {
            Some(next) => (next, 0),
            None => (texts().next().unwrap_or(column), 1),
        };
        let nullable = fields.get(next).is_some_and(|field| field.nullable);
        let at = bits(fields.get(..next).unwrap_or_default()).wrapping_add(nullable.into()).wrapping_mul(rows.eights);
        End { starts: rows.memory.get(at..).unwrap_or_default(), later }
    }
}

/// The rows of one column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<'r> {
    valid: Option<&'r [u8]>,
    cells: &'r [u8],
    pub len: usize,
    /// Size in bytes of a number.
    pub size: usize,
    texts: &'r [u8],
    end: End<'r>,
}

impl<'r> Column<'r> {
    /// Returns whether a row has a value.
    pub fn is_valid(&self, row: usize) -> bool {
        self.valid.is_none_or(|bits| bit(bits, row))
    }

    /// Returns the number of rows with a value.
    pub fn valid(&self) -> usize {
        (0..self.len).filter(|row| self.is_valid(*row)).count()
    }

    /// Returns the validity bitmap, if the column is nullable.
    pub fn bitmap(&self) -> &'r [u8] {
        self.valid.unwrap_or_default().get(..self.len.div_ceil(8)).unwrap_or_default()
    }

    /// Returns the booleans as a bitmap.
    pub fn bits(&self) -> &'r [u8] {
        self.cells.get(..self.len.div_ceil(8)).unwrap_or_default()
    }

    /// Returns the boolean of a row.
    pub fn bit(&self, row: usize) -> bool {
        bit(self.cells, row)
    }

    /// Returns all numbers, little-endian.
    pub fn numbers(&self) -> &'r [u8] {
        self.cells.get(..self.len.wrapping_mul(self.size)).unwrap_or_default()
    }

    /// Returns the bits of a number, extended by zeros.
    pub fn word(&self, row: usize) -> u64 {
        let bytes = self.cells.get(row.wrapping_mul(self.size)..).unwrap_or_default();
        match self.size {
            1 => bytes.first().copied().unwrap_or(0).into(),
            2 => bytes.first_chunk().map_or(0, |two| u16::from_le_bytes(*two)).into(),
            4 => word32(bytes).into(),
            _ => bytes.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight)),
        }
    }

    /// Returns the text of a row; a missing one is empty.
    pub fn text(&self, row: usize) -> &'r [u8] {
        let start = word32(self.cells.get(row.wrapping_mul(4)..).unwrap_or_default()) as usize;
        let next = row.wrapping_add(self.end.later);
        let end = match self.end.starts.get(next.wrapping_mul(4)..) {
            Some(bytes) if next < self.len => word32(bytes) as usize,
            _ => self.texts.len(),
        };
        self.texts.get(start..end).unwrap_or_default()
    }

    /// Returns the number of bytes of all texts.
    pub fn texts_len(&self) -> u32 {
        (0..self.len).fold(0, |sum: u32, row| sum.wrapping_add(len32(self.text(row).len())))
    }
}

fn bit(bits: &[u8], row: usize) -> bool {
    bits.get(row >> 3).is_some_and(|byte| byte >> (row & 7) & 1 != 0)
}

fn word32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |four| u32::from_le_bytes(*four))
}

const fn is_text(field: &Field<'_>) -> bool {
    matches!(field.ty, FieldType::Utf8 | FieldType::Binary)
}

#[cold]
const fn too_long(len: usize) -> Error {
    Error::needing(Kind::NoRoom, What::VORTEX_TEXT_MEMORY, 0, len as u64)
}

/// Checks that the cells are of the types of the columns. Returns the number of bytes of their texts.
fn check(fields: &[Field<'_>], cells: &[Cell<'_>]) -> Result<usize> {
    let (mut sum, mut good) = (0usize, 0u64);
    for (field, cell) in fields.iter().zip(cells) {
        let len = match (*cell, field.ty) {
            (Cell::Null, _) if field.nullable => 0,
            (Cell::Text(text), FieldType::Utf8) => text.len(),
            (Cell::Bytes(bytes), FieldType::Binary) => bytes.len(),
            (Cell::Word(_), _) if !is_text(field) => 0,
            _ => break,
        };
        (sum, good) = (sum.saturating_add(len), good.saturating_add(1));
    }
    let is_row = fields.len() == cells.len() && good == cells.len() as u64;
    if is_row { Ok(sum) } else { Err(Error::needing(Kind::Misuse, What::VORTEX_FIELD, good, 0)) }
}
