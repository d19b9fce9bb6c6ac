//! Copies rows of an unpacked extent to an extent that is written, across byte orders, packings and layouts.

use super::{Cell, ExtentBuffer, Schema};
use crate::bytes::Endian;
use crate::column::Part as _;
use crate::dataseries::Part;
use crate::dataseries::layout::{Bit, FieldType};
use crate::error::{Error, Kind, Result, What};

impl<E: Endian, T: Schema> ExtentBuffer<'_, E, T> {
    /// Adds record `row` of an unpacked extent. Its type must have the same fields in the same order; names
    /// and options may differ. The values under nulls are kept, unless nulls are compacted.
    ///
    /// ```
    /// use pilaster::bytes::{BigEndian, LittleEndian, Scratch};
    /// use pilaster::column::{Part as _, Table as _};
    /// use pilaster::dataseries::write::{ExtentBuffer, Memory};
    /// use pilaster::dataseries::{File, ReadOptions};
    /// use pilaster::error::Kind;
    ///
    /// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny_be.ds"));
    /// let (mut kept, mut unpacked, mut rows, mut pool) = ([0; 2048], [0; 512], [0; 512], [0; 512]);
    /// let file = File::<BigEndian>::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut kept))?;
    /// let memory = Memory { rows: &mut rows, pool: &mut pool, unique: &mut [] };
    /// let mut copy = ExtentBuffer::<LittleEndian, _>::new(file.types().get(0).unwrap(), memory)?;
    /// let mut table = file.table("Tiny")?;
    /// while let Some(part) = table.next_part(&mut Scratch::new(&mut unpacked))? {
    ///     for row in 0..part.rows() {
    ///         copy.push_record(&part, row)?;
    ///     }
    ///     assert_eq!(copy.push_record(&part, part.rows()).unwrap_err().kind(), Kind::OutOfRange);
    /// }
    /// assert_eq!(copy.len(), 2);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`row`](Self::row) and [`Row::set`](super::Row::set); [`Kind::OutOfRange`] if `part` has no
    /// such record; [`Kind::Misuse`] if the number of fields differs; [`Kind::Lossy`] for a null in a field
    /// that is not nullable here.
    pub fn push_record(&mut self, part: &Part<'_>, row: u64) -> Result<()> {
        let ty = *part.extent_type();
        let start = usize::try_from(row).ok().and_then(|row| row.checked_mul(ty.record_len()));
        let record = start.and_then(|start| part.records().get(start..)?.get(..ty.record_len()));
        let Some(record) = record.filter(|_| row < part.rows()) else {
            return Err(Error::needing(Kind::OutOfRange, What::ROW, row, part.rows()));
        };
        if ty.records().len() != self.schema().fields().len() {
            return Err(Error::new(Kind::Misuse, What::DATASERIES_TYPE, row));
        }
        let is_set = |bit: Bit| record.get(bit.at as usize).is_some_and(|byte| byte & bit.mask != 0);
        let mut to = self.row()?;
        for (k, field) in ty.records().iter().enumerate() {
            if field.null().is_some_and(is_set) {
                to.null(k).map_err(|e| if e.kind() == Kind::Misuse { lossy(row, k) } else { e })?;
            }
            let slot = field.slot();
            let cell = record.get(slot.at as usize..).unwrap_or_default();
            let (four, eight) = (cell.first_chunk().copied(), cell.first_chunk().copied());
            let value = match field.ty() {
                FieldType::Bool => Some(Cell::Bool(is_set(Bit { at: slot.at, mask: slot.mask }))),
                FieldType::Byte => cell.first().copied().map(Cell::Byte),
                FieldType::Int32 => four.map(|cell| Cell::Int32(i32::from_ne_bytes(cell))),
                FieldType::Int64 => eight.map(|cell| Cell::Int64(i64::from_ne_bytes(cell))),
                FieldType::Double => eight.map(|cell| Cell::Double(f64::from_ne_bytes(cell))),
                FieldType::Variable32 => match four {
                    Some(cell) => Some(Cell::Bytes(part.string(u32::from_ne_bytes(cell))?)),
                    None => None,
                },
                FieldType::FixedWidth(size) => cell.get(..size as usize).map(Cell::Bytes),
            };
            if let Some(value) = value {
                to.set(k, value)?;
            }
        }
        to.end()
    }
}

#[cold]
fn lossy(row: u64, k: usize) -> Error {
    Error::needing(Kind::Lossy, What::DATASERIES_FIELD, row, k as u64)
}
