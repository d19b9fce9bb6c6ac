//! An unpacked extent, and its columns.

use core::ops::Range;

use super::cells;
use super::pool::Pool;
use crate::bytes::{Scratch, low32};
use crate::column::{self, Batch, Fact, Prim, Span, Spans, Type, Validity, Values, VarBytes, Zone, no_column};
use crate::dataseries::layout::{Bit, FieldType, Slot};
use crate::dataseries::types::ExtentType;
use crate::dataseries::write::Cell;
use crate::error::{Error, Kind, Result, What};

/// The unpacked rows of one extent, in native byte order and with all differences undone.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::Table as _;
/// use pilaster::dataseries::{AnyFile, Part, ReadOptions};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
/// let (mut kept, mut memory) = ([0; 4096], [0; 4096]);
/// let file = AnyFile::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut kept))?;
/// let mut scratch = Scratch::new(&mut memory);
/// let mut table = file.table("Tiny")?;
/// let part: Part<'_> = table.next_part(&mut scratch)?.expect("an extent");
///
/// // Strings of the field `s`, without columns: its cells are offsets in the pool.
/// let ty = part.extent_type();
/// let at = ty.fields().find(|field| field.name == "s").expect("a field").slot.at as usize;
/// let cells = part.records().chunks(ty.record_len()).map(|record| *record[at..].first_chunk().unwrap());
/// let strings: Result<Vec<_>, _> = cells.map(|cell| part.string(u32::from_ne_bytes(cell))).collect();
/// assert_eq!(strings?, [&b"hello"[..], b""]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Part<'s> {
    ty: ExtentType<'s>,
    rows: u32,
    records: &'s [u8],
    pool: Pool<'s>,
}

impl<'s> Part<'s> {
    pub(super) const fn new(ty: ExtentType<'s>, rows: u32, records: &'s [u8], pool: Pool<'s>) -> Self {
        Part { ty, rows, records, pool }
    }

    /// Creates a part that is not unpacked: its columns have names and types, but no rows. A table of which no column was chosen
    /// returns such parts.
    #[must_use]
    pub const fn bare(ty: ExtentType<'s>, rows: u32) -> Self {
        Part::new(ty, rows, &[], Pool::new(&[], false))
    }

    /// Returns the type of the extent.
    #[must_use]
    pub const fn extent_type(&self) -> &ExtentType<'s> {
        &self.ty
    }

    /// Returns the records, contiguous, in native byte order, with the layout of section 6.
    #[must_use]
    pub const fn records(&self) -> &'s [u8] {
        self.records
    }

    /// Returns the span of the string that a variable32 cell refers to, in the bytes of the pool.
    pub(super) fn span(&self, cell: u32) -> Result<Span> {
        self.pool.span(cell)
    }

    pub(super) fn slice(&self, span: Span) -> Result<&'s [u8]> {
        let span = crate::bytes::FileRange { at: span.at.into(), len: span.len.into() };
        span.of(self.pool.bytes(), What::DATASERIES_CELL)
    }

    pub(super) const fn pool_bytes(&self) -> &'s [u8] {
        self.pool.bytes()
    }

    /// Returns the string that a variable32 cell refers to.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if `cell` is not the offset of a string in the pool.
    pub fn string(&self, cell: u32) -> Result<&'s [u8]> {
        self.slice(self.pool.span(cell)?)
    }
}

impl<'s> column::Part for Part<'s> {
    type Col = Column<'s>;

    fn rows(&self) -> u64 {
        self.rows.into()
    }

    fn width(&self) -> usize {
        self.ty.records().len()
    }

    fn name(&self, k: usize) -> Result<&str> {
        self.ty.field(k).map(|field| field.name).ok_or_else(|| no_column(k, self.width()))
    }

    fn column(&self, k: usize) -> Result<Column<'s>> {
        let field = self.ty.records().get(k).ok_or_else(|| no_column(k, self.width()))?;
        Ok(Column {
            records: self.records,
            size: self.ty.layout().record_len(),
            rows: if self.records.is_empty() { 0 } else { self.rows },
            pool: self.pool,
            ty: field.ty(),
            slot: field.slot(),
        })
    }
}

/// A field of an unpacked extent.
#[derive(Clone, Copy, Debug)]
pub struct Column<'s> {
    records: &'s [u8],
    /// Size of a record in bytes.
    size: u32,
    rows: u32,
    pool: Pool<'s>,
    ty: FieldType,
    slot: Slot,
}

impl<'c> Column<'c> {
    /// Returns the value of one row, or `None` if it is null. The bytes of a variable32 or fixedwidth value are
    /// borrowed.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such row; [`Kind::Invalid`] if its cell refers to no string of the pool, also
    /// if it is null.
    pub fn get(&self, row: u64) -> Result<Option<Cell<'c>>> {
        let none = || self.no_rows(&(row..row));
        let start = usize::try_from(row).ok().filter(|_| row < self.rows.into());
        let start = start.and_then(|row| row.checked_mul(self.size as usize)).ok_or_else(none)?;
        let record = self.records.get(start..).and_then(|rest| rest.get(..self.size as usize)).ok_or_else(none)?;
        let bit = |at: u32, mask: u8| record.get(at as usize).is_some_and(|byte| byte & mask != 0);
        let cell = record.get(self.slot.at as usize..).unwrap_or_default();
        let four = || cell.first_chunk().copied().unwrap_or_default();
        let eight = || cell.first_chunk().copied().unwrap_or_default();
        // A batch looks up the string of a null cell, too. Both give the same error.
        let span = match self.ty {
            FieldType::Variable32 => self.pool.span(u32::from_ne_bytes(four()))?,
            _ => Span::default(),
        };
        if self.slot.null.is_some_and(|null| bit(null.at, null.mask)) {
            return Ok(None);
        }
        Ok(Some(match self.ty {
            FieldType::Bool => Cell::Bool(bit(self.slot.at, self.slot.mask)),
            FieldType::Byte => Cell::Byte(cell.first().copied().unwrap_or_default()),
            FieldType::Int32 => Cell::Int32(i32::from_ne_bytes(four())),
            FieldType::Int64 => Cell::Int64(i64::from_ne_bytes(eight())),
            FieldType::Double => Cell::Double(f64::from_ne_bytes(eight())),
            FieldType::Variable32 => {
                let span = crate::bytes::FileRange { at: span.at.into(), len: span.len.into() };
                Cell::Bytes(span.of(self.pool.bytes(), What::DATASERIES_CELL)?)
            }
            FieldType::FixedWidth(width) => Cell::Bytes(cell.get(..width as usize).unwrap_or_default()),
        }))
    }

    /// Returns the records of `rows`.
    fn window(&self, rows: &Range<u64>) -> Result<&'c [u8]> {
        // Valid row numbers have 32 bits. `inside` excludes all others.
        let at = |row| (low32(row) as usize).saturating_mul(self.size as usize);
        let inside = rows.start <= rows.end && rows.end <= self.rows.into();
        match self.records.get(at(rows.start)..at(rows.end)) {
            Some(records) if inside => Ok(records),
            _ => Err(self.no_rows(rows)),
        }
    }

    #[cold]
    fn no_rows(&self, rows: &Range<u64>) -> Error {
        Error::needing(Kind::OutOfRange, What::ROW, rows.end, self.rows.into())
    }

    /// Returns the cells as a slice: the records themselves if they consist of this cell only and are aligned, else a
    /// copy in `scratch`.
    fn numbers<'s, T: bytemuck::Pod, const N: usize>(
        &self,
        records: &'c [u8],
        len: usize,
        scratch: &mut Scratch<'s>,
    ) -> Result<&'s [T]>
    where
        'c: 's,
    {
        if self.size as usize == N
            && let Ok(values) = bytemuck::try_cast_slice::<u8, T>(records)
        {
            return Ok(values);
        }
        let values = scratch.take::<T>(len)?;
        cells::gather::<N>(records, self.size as usize, self.slot.at as usize, bytemuck::cast_slice_mut(values));
        Ok(values)
    }

    fn strings<'s>(&self, records: &'c [u8], len: usize, scratch: &mut Scratch<'s>) -> Result<VarBytes<'s>>
    where
        'c: 's,
    {
        let spans = scratch.take::<[u32; 2]>(len)?;
        for (span, cell) in spans.iter_mut().zip(cells::cells::<4>(records, self.size as usize, self.slot.at as usize))
        {
            *span = self.pool.span(u32::from_ne_bytes(*cell))?.into();
        }
        Ok(VarBytes { data: self.pool.bytes(), spans: Spans::Each(spans) })
    }

    fn fixed<'s>(&self, records: &'c [u8], len: usize, width: u32, scratch: &mut Scratch<'s>) -> Result<VarBytes<'s>>
    where
        'c: 's,
    {
        let spans = Spans::Stride { count: len, len: width };
        if self.size == width {
            return Ok(VarBytes { data: records, spans });
        }
        let bytes = (width as usize).checked_mul(len);
        let bytes = bytes.ok_or_else(|| Error::needing(Kind::Overflow, What::SCRATCH, 0, width.into()))?;
        let data = scratch.take::<u8>(bytes)?;
        cells::gather_bytes(records, self.size as usize, self.slot.at as usize, width as usize, data);
        Ok(VarBytes { data, spans })
    }

    fn validity<'s>(&self, records: &[u8], len: usize, scratch: &mut Scratch<'s>) -> Result<Validity<'s>> {
        let Some(null) = self.slot.null else { return Ok(Validity::All) };
        let bytes = scratch.take::<u8>(len.div_ceil(8))?;
        let mut ones = 0;
        let valid = cells::gather_bits(records, self.size as usize, null, true, bytes, &mut ones)?;
        Ok(if ones == len { Validity::All } else { Validity::Bits(valid) })
    }
}

impl<'c> column::Column for Column<'c> {
    fn ty(&self) -> Type {
        match self.ty {
            FieldType::Bool => Type::Bool,
            FieldType::Byte => Type::Prim(Prim::U8),
            FieldType::Int32 => Type::Prim(Prim::I32),
            FieldType::Int64 => Type::Prim(Prim::I64),
            FieldType::Double => Type::Prim(Prim::F64),
            FieldType::Variable32 => Type::Bytes,
            FieldType::FixedWidth(width) => Type::FixedBytes(width),
        }
    }

    fn nullable(&self) -> bool {
        self.slot.null.is_some()
    }

    fn rows(&self) -> u64 {
        self.rows.into()
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        self.window(&rows)?;
        let len = rows.end.saturating_sub(rows.start);
        let values = match self.ty {
            FieldType::Bool => len.div_ceil(8),
            FieldType::Byte => len,
            FieldType::Int32 => Scratch::cost::<u32>(len),
            FieldType::Int64 | FieldType::Double => Scratch::cost::<u64>(len),
            FieldType::Variable32 => Scratch::cost::<[u32; 2]>(len),
            FieldType::FixedWidth(width) => len.saturating_mul(width.into()),
        };
        Ok(values.saturating_add(if self.slot.null.is_some() { len.div_ceil(8) } else { 0 }))
    }

    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        use bytemuck::must_cast_slice as cast;
        let records = self.window(&rows)?;
        let len = usize::try_from(rows.end.saturating_sub(rows.start)).map_err(|_| self.no_rows(&rows))?;
        let values = match self.ty {
            FieldType::Bool => {
                let bit = Bit { at: self.slot.at, mask: self.slot.mask };
                let bytes = scratch.take::<u8>(len.div_ceil(8))?;
                Values::Bool(cells::gather_bits(records, self.size as usize, bit, false, bytes, &mut 0)?)
            }
            FieldType::Byte => Values::U8(self.numbers::<u8, 1>(records, len, scratch)?),
            FieldType::Int32 => Values::I32(cast(self.numbers::<u32, 4>(records, len, scratch)?)),
            // Both are words of 64 bits.
            FieldType::Int64 | FieldType::Double => {
                let words = self.numbers::<u64, 8>(records, len, scratch)?;
                if self.ty == FieldType::Double { Values::F64(cast(words)) } else { Values::I64(cast(words)) }
            }
            FieldType::Variable32 => Values::Bytes(self.strings(records, len, scratch)?),
            FieldType::FixedWidth(width) => Values::Bytes(self.fixed(records, len, width, scratch)?),
        };
        let validity = self.validity(records, len, scratch)?;
        Ok(Batch { first: rows.start, len, values, validity, of: *self })
    }

    /// Returns a zone of all rows of the extent, without minimum and maximum.
    fn zone_around<'s>(&self, row: u64, _: &mut Scratch<'s>) -> Result<Option<Zone<'s>>>
    where
        Self: 's,
    {
        let rows = 0..self.rows.into();
        let nulls = if self.slot.null.is_none() { Fact::Exact(0) } else { Fact::Unknown };
        Ok(rows.contains(&row).then_some(Zone { rows, min: Fact::Unknown, max: Fact::Unknown, nulls }))
    }
}
