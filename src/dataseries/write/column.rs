//! Stores columns of any format into records: strided stores, without an intermediate buffer.

use super::extent::{no_field, order};
use super::{ExtentBuffer, Schema};
use crate::bytes::{Bits, Endian, saturated};
use crate::column::{Batch, Prim, Type, Unit, Validity, Values};
use crate::dataseries::layout::{Bit, FieldType, Slot};
use crate::error::{Error, Kind, Result, What};

impl FieldType {
    /// Returns the type that holds the values of a column, or `None` for nested types, decimals and half
    /// floats.
    ///
    /// Unsigned 32-bit and 64-bit integers become int64. A [`Builder`](super::Builder) fails with
    /// [`Kind::Lossy`] for a value above `i64::MAX`.
    ///
    /// ```
    /// use pilaster::column::{Prim, Type, Unit};
    /// use pilaster::dataseries::FieldType;
    ///
    /// assert_eq!(FieldType::of_column(Type::Prim(Prim::U32)), Some(FieldType::Int64));
    /// assert_eq!(FieldType::of_column(Type::Timestamp(Unit::Milli)), Some(FieldType::Int64));
    /// assert_eq!(FieldType::of_column(Type::FixedBytes(6)), Some(FieldType::FixedWidth(6)));
    /// assert_eq!(FieldType::of_column(Type::List), None);
    /// ```
    #[must_use]
    pub const fn of_column(ty: Type) -> Option<FieldType> {
        Some(match ty {
            Type::Bool => FieldType::Bool,
            Type::Prim(Prim::U8) => FieldType::Byte,
            Type::Prim(Prim::I8 | Prim::I16 | Prim::U16 | Prim::I32)
            | Type::Date(Unit::Day)
            | Type::Time(Unit::Second | Unit::Milli) => FieldType::Int32,
            Type::Prim(Prim::U32 | Prim::I64 | Prim::U64) | Type::Date(_) | Type::Time(_) | Type::Timestamp(_) => {
                FieldType::Int64
            }
            Type::Prim(Prim::F32 | Prim::F64) => FieldType::Double,
            Type::Bytes | Type::Utf8 | Type::Opaque | Type::FixedBytes(0) => FieldType::Variable32,
            Type::FixedBytes(size) => FieldType::FixedWidth(size),
            _ => return None,
        })
    }
}

impl<E: Endian, T: Schema> ExtentBuffer<'_, E, T> {
    /// Stores rows of column `k`; row 0 of the batch is row `at` of the open group.
    pub(super) fn put_column<C: Copy>(&mut self, k: usize, at: u64, batch: &Batch<'_, C>) -> Result<()> {
        let (schema, mut records, pool) = self.group();
        let fields = schema.fields();
        let Some(field) = fields.get(k) else { return Err(no_field(k, fields.len())) };
        let (slot, unique) = (field.slot(), field.unique());
        let compacted = schema.compacts();
        let record_len = schema.layout().record_len().max(1) as usize;
        let start = saturated(at).saturating_mul(record_len);
        let len = batch.len.saturating_mul(record_len);
        records = records
            .get_mut(start..)
            .and_then(|rest| rest.get_mut(..len))
            .ok_or_else(|| Error::needing(Kind::OutOfRange, What::ROW, at, batch.len as u64))?;
        let mut to = Cells { records, record_len, slot, validity: batch.validity };
        to.nulls(at)?;
        match (field.ty(), batch.values) {
            (FieldType::Bool, Values::Bool(bits)) => to.bools(bits),
            (FieldType::Byte, Values::U8(v)) => to.put(v.iter().map(|v| [*v])),
            (FieldType::Int32, Values::I8(v)) => to.ints::<E>(v),
            (FieldType::Int32, Values::I16(v)) => to.ints::<E>(v),
            (FieldType::Int32, Values::U16(v)) => to.ints::<E>(v),
            (FieldType::Int32, Values::I32(v)) => to.ints::<E>(v),
            (FieldType::Int64, Values::U32(v)) => to.longs::<E>(v),
            (FieldType::Int64, Values::I64(v)) => to.longs::<E>(v),
            (FieldType::Int64, Values::U64(v)) => {
                if let Some(row) = (0..v.len()).find(|i| to.validity.get(*i) && v.get(*i) > Some(&(i64::MAX as u64))) {
                    return Err(Error::new(Kind::Lossy, What::COLUMN, at.saturating_add(row as u64)));
                }
                to.put(v.iter().map(|v| order::<E, 8>(v.to_le_bytes())));
            }
            (FieldType::Double, Values::F32(v)) => to.doubles::<E>(v),
            (FieldType::Double, Values::F64(v)) => to.doubles::<E>(v),
            (FieldType::FixedWidth(size), Values::Bytes(v)) => {
                for (i, record) in to.records.chunks_exact_mut(record_len).enumerate() {
                    if to.validity.get(i) {
                        let cell = record.get_mut(slot.at as usize..).and_then(|rest| rest.get_mut(..size as usize));
                        match (cell, v.get(i)?) {
                            (Some(cell), bytes) if bytes.len() == cell.len() => cell.copy_from_slice(bytes),
                            _ => return Err(Error::new(Kind::WrongType, What::DATASERIES_FIELD, k as u64)),
                        }
                    }
                }
            }
            (FieldType::Variable32, Values::Bytes(v) | Values::Utf8(v)) => {
                for (i, record) in to.records.chunks_exact_mut(record_len).enumerate() {
                    if to.validity.get(i) || (!compacted && slot.null.is_none()) {
                        let cell = order::<E, 4>(pool.add::<E>(v.get(i)?, unique)?.to_le_bytes());
                        if let Some(to) = record.get_mut(slot.at as usize..).and_then(|rest| rest.first_chunk_mut()) {
                            *to = cell;
                        }
                    }
                }
            }
            _ => return Err(Error::new(Kind::WrongType, What::DATASERIES_FIELD, k as u64)),
        }
        Ok(())
    }
}

/// The cells of a field in records that are all zero. The cells of nulls stay zero.
struct Cells<'r, 'v> {
    records: &'r mut [u8],
    record_len: usize,
    slot: Slot,
    validity: Validity<'v>,
}

impl Cells<'_, '_> {
    fn nulls(&mut self, at: u64) -> Result<()> {
        if matches!(self.validity, Validity::All) {
            return Ok(());
        }
        for (i, record) in self.records.chunks_exact_mut(self.record_len).enumerate() {
            if !self.validity.get(i) {
                match self.slot.null {
                    Some(bit) => set(record, bit),
                    None => return Err(Error::new(Kind::Lossy, What::ROW, at.saturating_add(i as u64))),
                }
            }
        }
        Ok(())
    }

    fn put<const N: usize>(&mut self, values: impl Iterator<Item = [u8; N]>) {
        let (at, validity) = (self.slot.at as usize, self.validity);
        for (i, (record, value)) in self.records.chunks_exact_mut(self.record_len).zip(values).enumerate() {
            if let Some(to) = record.get_mut(at..).and_then(|rest| rest.first_chunk_mut())
                && validity.get(i)
            {
                *to = value;
            }
        }
    }

    fn ints<E: Endian>(&mut self, values: &[impl Copy + Into<i32>]) {
        self.put(values.iter().map(|v| order::<E, 4>((*v).into().to_le_bytes())));
    }

    fn longs<E: Endian>(&mut self, values: &[impl Copy + Into<i64>]) {
        self.put(values.iter().map(|v| order::<E, 8>((*v).into().to_le_bytes())));
    }

    fn doubles<E: Endian>(&mut self, values: &[impl Copy + Into<f64>]) {
        self.put(values.iter().map(|v| order::<E, 8>((*v).into().to_le_bytes())));
    }

    fn bools(&mut self, values: Bits<'_>) {
        let bit = Bit { at: self.slot.at, mask: self.slot.mask };
        for (i, record) in self.records.chunks_exact_mut(self.record_len).enumerate() {
            if self.validity.get(i) && values.get(i) == Some(true) {
                set(record, bit);
            }
        }
    }
}

fn set(record: &mut [u8], bit: Bit) {
    if let Some(byte) = record.get_mut(bit.at as usize) {
        *byte |= bit.mask;
    }
}
