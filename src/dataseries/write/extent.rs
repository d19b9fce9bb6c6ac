//! The open extent: rows and strings in caller-provided or heap memory.

use core::marker::PhantomData;

use super::pool::Pool;
use super::room::Room;
use super::{Of, Record, Schema};
use crate::bytes::{Endian, saturated};
use crate::dataseries::check::ExtentHash;
use crate::dataseries::layout::{Bit, FieldType};
use crate::dataseries::raw::MAX_STORED;
use crate::error::{Error, Kind, Result, What};

/// The memory of an extent, provided by the caller. An extent holds the rows that fit. A type without strings
/// needs no pool.
#[derive(Debug, Default)]
pub struct Memory<'m> {
    /// Memory for the records. On a Cortex-M0, which has no unaligned loads, packing is much faster if it begins
    /// at a multiple of 4: put `#[repr(align(4))]` on the type that contains it.
    pub rows: &'m mut [u8],
    /// Memory for the strings: each takes its length plus 4 bytes, rounded up to a multiple of 8.
    pub pool: &'m mut [u8],
    /// Slots of the hash table of unique strings, ideally twice the number of such strings. With too few
    /// slots, or none, equal strings are stored again.
    pub unique: &'m mut [u32],
}

impl<'m> Memory<'m> {
    /// Creates the memory for a type without strings.
    #[must_use]
    pub fn rows(rows: &'m mut [u8]) -> Self {
        Memory { rows, ..Memory::default() }
    }
}

/// Maximum size of the records of an extent, in bytes.
#[allow(clippy::cast_possible_truncation, reason = "far below 2^32")]
const MOST_ROWS: usize = MAX_STORED as usize - 1;

/// The value of a cell, for rows whose type is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[allow(missing_docs, reason = "the names say it")]
pub enum Cell<'a> {
    Bool(bool),
    Byte(u8),
    Int32(i32),
    Int64(i64),
    Double(f64),
    /// A value of a variable32, or of a fixedwidth of the same length.
    Bytes(&'a [u8]),
}

/// An extent that is being filled, in byte order `E` and of the type that `T` describes.
///
/// Rows are kept unpacked; flushing the extent packs them. A row counts when it is complete, and a row that
/// fails leaves the extent unchanged.
///
/// ```
/// use pilaster::bytes::LittleEndian;
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::{ExtentBuffer, Memory};
///
/// record! {
///     /// A reading of the sensor.
///     struct Reading = "Sensor" namespace "example.org" version 1.0 {
///         time: int64 relative,
///         temp: double scaled 0.01,
///     }
/// }
///
/// let mut memory = [0; 40];
/// let mut extent = ExtentBuffer::<LittleEndian, _>::of::<Reading>(Memory::rows(&mut memory))?;
/// assert_eq!((extent.record_len(), extent.room()), (16, 2));
/// extent.push(&Reading { time: 1000, temp: 21.5 })?;
/// extent.push(&Reading { time: 1010, temp: 21.75 })?;
/// assert_eq!(extent.room(), 0, "known before the store");
/// assert_eq!(extent.push(&Reading { time: 1020, temp: 22.0 }).unwrap_err().need(), 48);
/// assert_eq!(extent.len(), 2);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct ExtentBuffer<'m, E, T> {
    schema: T,
    rows: Room<'m, u8>,
    /// Size in bytes and number of the complete rows.
    len: usize,
    count: u32,
    pool: Pool<'m>,
    packed: Option<Packed>,
    order: PhantomData<E>,
}

/// The results of packing an extent.
#[derive(Clone, Copy, Debug)]
struct Packed {
    fixed_len: usize,
    hash: u32,
}

/// A packed extent, before compression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'p> {
    /// The name of the type.
    pub(super) name: &'p str,
    pub(super) rows: u32,
    pub(super) hash: u32,
    pub(super) fixed: &'p [u8],
    /// The pool without the four zero bytes at its start, as it is stored.
    pub(super) variable: &'p [u8],
}

impl<'m, E: Endian, R: Record> ExtentBuffer<'m, E, Of<R>> {
    /// Creates an empty extent for rows of type `S`.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new).
    pub fn of<S: Record<Static = R>>(memory: Memory<'m>) -> Result<Self> {
        ExtentBuffer::new(Of::new(), memory)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if rows or pool are full; the extent is unchanged, and after a flush the row may fit.
    /// [`Kind::Misuse`] if the extent is already packed by a flush that failed.
    pub fn push<S: Record<Static = R>>(&mut self, row: &S) -> Result<()> {
        let (record, strings) = (self.open_row()?, self.pool.len());
        // `open_row` has checked that the record is in the memory.
        let done = row.store::<E>(self.rows.get_mut(record).unwrap_or_default(), &mut self.pool);
        match done {
            Ok(()) => self.close_row(),
            Err(_) => self.pool.truncate(strings),
        }
        done
    }
}

impl<'m, E: Endian, T: Schema> ExtentBuffer<'m, E, T> {
    /// Creates an empty extent.
    ///
    /// # Errors
    /// [`Kind::Misuse`] for a type without fields, or with null compaction but no bool, and for memory that holds no
    /// record (`need`: its size in bytes). [`Kind::Unsupported`] for the two kinds of null compaction that the original writes but cannot read
    /// back (section 8.6): with bools at the end of the record, and with fixedwidth cells of more than one
    /// byte.
    pub fn new(schema: T, memory: Memory<'m>) -> Result<Self> {
        schema.check()?;
        let Memory { rows, pool, unique } = memory;
        // Stored parts must be smaller than `MAX_STORED`. With this limit, no flush can fail because of it.
        let (most, record_len) = (rows.len().min(MOST_ROWS), schema.layout().record_len());
        if most < record_len as usize {
            return Err(Error::needing(Kind::Misuse, What::DATASERIES_FIXED, 0, record_len.into()));
        }
        let rows = rows.get_mut(..most).unwrap_or_default();
        Ok(ExtentBuffer::over(schema, Room::Lent(rows), Pool::new(pool, unique)))
    }

    /// Creates an empty extent that grows on the heap, up to the limit of 512 MiB per part. The caller limits
    /// the size of extents by flushing in time: see [`used`](Self::used).
    ///
    /// # Errors
    /// Errors of [`new`](Self::new).
    #[cfg(feature = "alloc")]
    pub fn growing(schema: T) -> Result<Self> {
        schema.check()?;
        Ok(ExtentBuffer::over(schema, Room::Owned(alloc::vec::Vec::new()), Pool::growing()))
    }

    fn over(schema: T, rows: Room<'m, u8>, pool: Pool<'m>) -> Self {
        ExtentBuffer { schema, rows, len: 0, count: 0, pool, packed: None, order: PhantomData }
    }

    /// The type of the rows.
    #[must_use]
    pub(crate) const fn schema(&self) -> &T {
        &self.schema
    }

    /// The number of complete rows.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Returns whether the extent has no complete row.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns whether a failed flush has packed the rows: they wait for another flush, and no row can be added.
    #[cfg(feature = "embedded-storage-03")]
    pub(crate) const fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// The size of a record in bytes.
    #[must_use]
    pub fn record_len(&self) -> usize {
        self.schema.layout().record_len() as usize
    }

    /// The size of the complete rows and their strings in bytes, before packing.
    #[must_use]
    pub fn used(&self) -> usize {
        self.len.saturating_add(self.pool.len())
    }

    /// The number of further records that fit.
    #[must_use]
    pub fn room(&self) -> usize {
        let most = match &self.rows {
            Room::Lent(rows) => rows.len(),
            #[cfg(feature = "alloc")]
            Room::Owned(_) => MOST_ROWS,
        };
        most.saturating_sub(self.len).checked_div(self.record_len()).unwrap_or(0)
    }

    /// Begins a row whose cells are all zero, false or empty.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if no further record fits; [`Kind::Misuse`] if the extent is already packed by a
    /// flush that failed.
    pub fn row(&mut self) -> Result<Row<'_, 'm, E, T>> {
        let at = self.open_row()?;
        let Some(record) = self.rows.get_mut(at.clone()) else { return Err(self.full()) };
        record.fill(0);
        Ok(Row { at: at.start, strings: self.pool.len(), extent: self, failed: None, ended: false })
    }

    /// Reserves memory for `rows` rows with all cells zero. They count after [`close_group`](Self::close_group).
    pub(super) fn open_group(&mut self, rows: u64) -> Result<()> {
        let at = self.open_row()?;
        let count = saturated(rows);
        let end = at.start.saturating_add(count.saturating_mul(self.record_len()));
        if !self.reaches(end) {
            return Err(self.full());
        }
        self.rows.get_mut(at.start..end).unwrap_or_default().fill(0);
        Ok(())
    }

    /// The schema, the memory after the complete rows, which begins with the open group, and the pool.
    pub(super) fn group(&mut self) -> (&T, &mut [u8], &mut Pool<'m>) {
        (&self.schema, self.rows.get_mut(self.len..).unwrap_or_default(), &mut self.pool)
    }

    /// Counts the rows of the open group.
    pub(super) fn close_group(&mut self, rows: u64) {
        // `open_group` has checked that the group is smaller than `MAX_STORED`.
        let rows = u32::try_from(rows).unwrap_or(0);
        self.len = self.len.saturating_add((rows as usize).saturating_mul(self.record_len()));
        self.count = self.count.saturating_add(rows);
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.len = 0;
        self.count = 0;
        if T::USES.strings {
            self.pool.truncate(0);
        }
        self.packed = None;
    }

    /// Returns the bytes of the next record, as a range in the memory for rows.
    fn open_row(&mut self) -> Result<core::ops::Range<usize>> {
        if self.packed.is_some() {
            return Err(Error::new(Kind::Misuse, What::ROW, self.count.into()));
        }
        let start = self.len;
        // Both are less than 2^31.
        let end = start.wrapping_add(self.record_len());
        if !self.reaches(end) {
            return Err(self.full());
        }
        Ok(start..end)
    }

    /// Returns whether the records can have `end` bytes; memory on the heap grows to that size.
    #[inline]
    fn reaches(&mut self, end: usize) -> bool {
        match &mut self.rows {
            Room::Lent(rows) => end <= rows.len(),
            #[cfg(feature = "alloc")]
            owned @ Room::Owned(_) => end <= MOST_ROWS && owned.reach(end),
        }
    }

    fn close_row(&mut self) {
        // Both stay below `MAX_STORED`.
        self.len = self.len.wrapping_add(self.record_len());
        self.count = self.count.wrapping_add(1);
    }

    #[cold]
    fn full(&self) -> Error {
        let need = self.len.saturating_add(self.record_len());
        Error::needing(Kind::NoRoom, What::DATASERIES_FIXED, self.count.into(), need as u64)
    }

    /// Packs the rows, unless they are packed, and returns both parts.
    pub(super) fn parts(&mut self) -> Parts<'_> {
        let rows_len = self.len;
        let Packed { fixed_len, hash } = match self.packed {
            Some(packed) => packed,
            None => {
                let rows = self.rows.get_mut(..rows_len).unwrap_or_default();
                self.schema.pack::<E>(rows);
                let mut hash = ExtentHash::new();
                hash.part(rows);
                hash.end_fixed();
                if T::USES.strings {
                    hash.part(self.pool.entries());
                }
                hash.end_part();
                if T::USES.strings {
                    hash.entries::<E>(self.pool.entries());
                }
                let compacted = self.schema.compacts();
                let fixed_len = if compacted { self.schema.compact(rows) } else { rows_len };
                *self.packed.insert(Packed { fixed_len, hash: hash.value() })
            }
        };
        Parts {
            name: self.schema.name(),
            rows: self.count,
            hash,
            fixed: self.rows.get(..fixed_len).unwrap_or_default(),
            variable: if T::USES.strings { self.pool.entries() } else { &[] },
        }
    }
}

/// A row that is being filled. It counts after [`end`](Self::end). If it is dropped before, the extent is
/// unchanged.
///
/// To get the same bytes as the original writes, set strings in the order of their fields.
///
/// ```
/// use pilaster::bytes::{LittleEndian, Scratch};
/// use pilaster::dataseries::ExtentType;
/// use pilaster::dataseries::write::{Cell, ExtentBuffer, Memory, Row, Schema};
/// use pilaster::error::Kind;
///
/// fn fill<T: Schema>(mut row: Row<'_, '_, LittleEndian, T>, time: i64, note: Option<&str>) -> pilaster::Result<()> {
///     row.set(0, Cell::Int64(time))?;
///     match note {
///         Some(note) => row.set(1, Cell::Bytes(note.as_bytes()))?,
///         None => row.null(1)?,
///     };
///     row.end()
/// }
///
/// let xml = br#"<ExtentType name="Event" namespace="example.org" version="1.0">
///     <field type="int64" name="time" /><field type="variable32" name="note" opt_nullable="yes" />
/// </ExtentType>"#;
/// let (mut fields, mut rows, mut pool) = ([0; 256], [0; 256], [0; 64]);
/// let ty = ExtentType::parse(xml, &Default::default(), &mut Scratch::new(&mut fields))?;
/// let mut extent = ExtentBuffer::new(ty, Memory { rows: &mut rows, pool: &mut pool, unique: &mut [] })?;
/// fill(extent.row()?, 1000, Some("door"))?;
/// fill(extent.row()?, 1010, None)?;
/// assert_eq!(fill(extent.row()?, 1020, Some(&"x".repeat(64))).unwrap_err().kind(), Kind::NoRoom);
/// assert_eq!((extent.len(), extent.used()), (2, 2 * extent.record_len() + 8), "the failed row does not count");
/// extent.clear();
/// assert!(extent.is_empty());
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a row that is not ended does not count"]
pub struct Row<'x, 'm, E, T> {
    extent: &'x mut ExtentBuffer<'m, E, T>,
    at: usize,
    /// Size of the pool in bytes before the row.
    strings: usize,
    failed: Option<Error>,
    ended: bool,
}

impl<E, T> Drop for Row<'_, '_, E, T> {
    fn drop(&mut self) {
        if !self.ended {
            self.extent.pool.truncate(self.strings);
        }
    }
}

impl<E: Endian, T: Schema> Row<'_, '_, E, T> {
    /// Sets field `k`. The value under a null is stored, too; with null compaction only if it is a bool.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if the type has no such field, [`Kind::WrongType`] for a value of another type
    /// or length, [`Kind::NoRoom`] if the pool is full. After an error, the row cannot be ended.
    pub fn set(&mut self, k: usize, value: Cell<'_>) -> Result<&mut Self> {
        let done = self.try_set(k, value);
        self.keep(done)
    }

    /// Makes field `k` null.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if the type has no such field, [`Kind::Misuse`] if the field is not nullable.
    /// After an error, the row cannot be ended.
    pub fn null(&mut self, k: usize) -> Result<&mut Self> {
        let done = match self.extent.schema.fields().get(k).map(|field| field.null()) {
            None => Err(no_field(k, self.extent.schema.fields().len())),
            Some(None) => Err(Error::new(Kind::Misuse, What::DATASERIES_FIELD, k as u64)),
            Some(Some(bit)) => {
                self.set_bit(bit, true);
                Ok(())
            }
        };
        self.keep(done)
    }

    /// Ends the row, so that it counts.
    ///
    /// # Errors
    /// The first error of the row.
    pub fn end(mut self) -> Result<()> {
        match self.failed {
            Some(e) => Err(e),
            None => {
                self.extent.close_row();
                self.ended = true;
                Ok(())
            }
        }
    }

    fn keep(&mut self, done: Result<()>) -> Result<&mut Self> {
        match done {
            Ok(()) => Ok(self),
            Err(e) => {
                self.failed.get_or_insert(e);
                Err(e)
            }
        }
    }

    fn try_set(&mut self, k: usize, value: Cell<'_>) -> Result<()> {
        let ExtentBuffer { schema, rows, pool, .. } = &mut *self.extent;
        let fields = schema.fields();
        let Some(field) = fields.get(k) else { return Err(no_field(k, fields.len())) };
        let record = self.at..self.at.saturating_add(schema.layout().record_len() as usize);
        let record = rows.get_mut(record).unwrap_or_default();
        let slot = field.slot();
        // Null compaction zeroes the cells under nulls, except the bits of bools (section 8.1).
        if schema.compacts()
            && field.ty() != FieldType::Bool
            && slot.null.is_some_and(|bit| record.get(bit.at as usize).is_some_and(|byte| byte & bit.mask != 0))
        {
            return Ok(());
        }
        let mut cell = |bytes: &[u8]| {
            if let Some(to) = record.get_mut(slot.at as usize..).and_then(|cells| cells.get_mut(..bytes.len())) {
                to.copy_from_slice(bytes);
            }
            Ok(())
        };
        match (field.ty(), value) {
            (FieldType::Bool, Cell::Bool(value)) => {
                self.set_bit(Bit { at: slot.at, mask: slot.mask }, value);
                Ok(())
            }
            (FieldType::Byte, Cell::Byte(value)) => cell(&[value]),
            (FieldType::Int32, Cell::Int32(value)) => cell(&order::<E, 4>(value.to_le_bytes())),
            (FieldType::Int64, Cell::Int64(value)) => cell(&order::<E, 8>(value.to_le_bytes())),
            (FieldType::Double, Cell::Double(value)) => cell(&order::<E, 8>(value.to_le_bytes())),
            (FieldType::FixedWidth(size), Cell::Bytes(bytes)) if size as usize == bytes.len() => cell(bytes),
            (FieldType::Variable32, Cell::Bytes(bytes)) => {
                let offset = pool.add::<E>(bytes, field.unique())?;
                cell(&order::<E, 4>(offset.to_le_bytes()))
            }
            _ => Err(Error::new(Kind::WrongType, What::DATASERIES_FIELD, k as u64)),
        }
    }

    fn set_bit(&mut self, bit: Bit, value: bool) {
        let at = self.at.saturating_add(bit.at as usize);
        if let Some(byte) = self.extent.rows.get_mut(at) {
            *byte = if value { *byte | bit.mask } else { *byte & !bit.mask };
        }
    }
}

/// Converts the little-endian bytes of a number to byte order `E`.
pub(super) fn order<E: Endian, const N: usize>(mut little: [u8; N]) -> [u8; N] {
    if E::IS_NATIVE != cfg!(target_endian = "little") {
        little.reverse();
    }
    little
}

#[cold]
pub(super) fn no_field(k: usize, count: usize) -> Error {
    Error::needing(Kind::OutOfRange, What::DATASERIES_FIELD, k as u64, count as u64)
}
