//! Converts the values of a batch to the items of a chunk, before compression (section A.3).

use bytemuck::Pod;

use crate::bcolz::Dtype;
use crate::column::{Batch, Prim, Validity, Values, VarBytes};
use crate::error::{Error, Kind, Result, What};

/// How rows without a value are written. The only missing values of numpy are NaN and NaT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Missing {
    /// They are an error, [`Kind::Lossy`], except for times, which become NaT.
    #[default]
    Refuse,
    /// They become NaT, NaN, zero, false or the empty text.
    Fill,
}

/// Writes the values of `batch` to `bytes` as items of `dtype`. Item `i` is at byte `i * stride + at`, where `stride`
/// is the size of the item, or of the record that contains it as a field. Numbers must have exactly the type of the
/// items; times have 64 bits, or 32 bits for dates. Texts may be shorter than the items.
///
/// ```
/// use pilaster::bcolz::Dtype;
/// use pilaster::bcolz::write::{Missing, put_items};
/// use pilaster::bytes::Bits;
/// use pilaster::column::{Batch, Validity, Values};
/// use pilaster::error::Kind;
///
/// // Three numbers, the second of which is missing.
/// let validity = Validity::Bits(Bits::new(&[0b101], 0, 3)?);
/// let batch = Batch { first: 0, len: 3, values: Values::F32(&[1.5, 0.0, 2.5]), validity, of: () };
/// let dtype = Dtype::parse(">f4")?;
/// let mut items = [0; 12];
/// let e = put_items(&dtype, &batch, &mut items, 4, 0, Missing::Refuse).unwrap_err();
/// assert_eq!((e.kind(), e.at()), (Kind::Lossy, 1));
/// put_items(&dtype, &batch, &mut items, 4, 0, Missing::Fill)?;
/// assert_eq!(items.as_chunks().0, [1.5, f32::NAN, 2.5].map(f32::to_be_bytes));
///
/// // As the field at byte 2 of packed records of 6 bytes.
/// let mut records = [0; 18];
/// put_items(&dtype, &batch, &mut records, 6, 2, Missing::Fill)?;
/// assert_eq!(records[12..], [0, 0, 0x40, 0x20, 0, 0]);
/// # Ok::<(), pilaster::Error>(())
/// ```
///
/// # Errors
/// [`Kind::WrongType`] if the values have another type, or are nested. [`Kind::Lossy`], with the row of the column, if
/// an item cannot represent the value: a missing value, a text that is too long or ends in NUL, the minimum of 64 bits
/// as a time. [`Kind::Utf8`] for a text that is invalid UTF-8. [`Kind::NoRoom`] if `bytes` has fewer items than the
/// batch rows.
pub fn put_items<C>(
    dtype: &Dtype<'_>,
    batch: &Batch<'_, C>,
    bytes: &mut [u8],
    stride: usize,
    at: usize,
    missing: Missing,
) -> Result<()> {
    let size = dtype.size() as usize;
    let need = batch.len.saturating_mul(stride);
    if bytes.len() < need || at.saturating_add(size) > stride {
        return Err(Error::needing(Kind::NoRoom, What::DESTINATION, 0, need as u64));
    }
    let time = matches!(dtype, Dtype::Time { .. });
    if missing == Missing::Refuse && !time && batch.validity.nulls(batch.len) > 0 {
        let row = (0..batch.len).find(|row| !batch.validity.get(*row)).unwrap_or(0);
        return Err(absent(batch.first, row));
    }
    let bytes = bytes.get_mut(..need).unwrap_or_default();
    let mut to = To { bytes, stride, at, size, first: batch.first, validity: &batch.validity };
    match (*dtype, &batch.values) {
        (_, Values::Null) => to.each(|_, _| Ok(())),
        (Dtype::Bool, Values::Bool(bits)) => to.each(|row, item| {
            item.fill(u8::from(bits.get(row) == Some(true)));
            Ok(())
        }),
        (Dtype::Number { prim, big }, values) => match (prim, values) {
            (Prim::I8, Values::I8(v)) => to.numbers(v, big),
            (Prim::I16, Values::I16(v)) => to.numbers(v, big),
            (Prim::I32, Values::I32(v)) => to.numbers(v, big),
            (Prim::I64, Values::I64(v)) => to.numbers(v, big),
            (Prim::U8, Values::U8(v)) => to.numbers(v, big),
            (Prim::U16, Values::U16(v)) => to.numbers(v, big),
            (Prim::U32, Values::U32(v)) => to.numbers(v, big),
            (Prim::U64, Values::U64(v)) => to.numbers(v, big),
            (Prim::F16, Values::F16(v)) => to.numbers(v, big),
            (Prim::F32, Values::F32(v)) => to.numbers(v, big),
            (Prim::F64, Values::F64(v)) => to.numbers(v, big),
            _ => return Err(wrong_type()),
        },
        (Dtype::Time { big, .. }, Values::I64(v)) => to.times(v.iter().copied(), big),
        (Dtype::Time { big, .. }, Values::I32(v)) => to.times(v.iter().map(|v| i64::from(*v)), big),
        (Dtype::Bytes(_), Values::Bytes(v)) => to.bytes(v),
        (Dtype::Text { big, .. }, Values::Utf8(v)) => to.texts(v, big),
        (Dtype::Void(_), Values::Bytes(v)) => {
            let first = to.first;
            to.each(|row, item| match v.get(row)? {
                from if from.len() == item.len() => {
                    item.copy_from_slice(from);
                    Ok(())
                }
                _ => Err(lossy(first, row)),
            })
        }
        _ => return Err(wrong_type()),
    }?;
    match *dtype {
        Dtype::Number { prim, big } => to.fill_numbers(prim, big),
        Dtype::Time { .. } => Ok(()),
        _ => to.fill(&[0]),
    }
}

/// Destination of items: a run of bytes with one item per stride.
struct To<'o, 'v, 's> {
    bytes: &'o mut [u8],
    stride: usize,
    at: usize,
    size: usize,
    first: u64,
    validity: &'v Validity<'s>,
}

impl To<'_, '_, '_> {
    /// Calls `put` with the item of each row that has a value.
    fn each(&mut self, mut put: impl FnMut(usize, &mut [u8]) -> Result<()>) -> Result<()> {
        let validity = *self.validity;
        self.every(|row, item| if validity.get(row) { put(row, item) } else { Ok(()) })
    }

    /// Calls `put` with the item of each row.
    fn every(&mut self, mut put: impl FnMut(usize, &mut [u8]) -> Result<()>) -> Result<()> {
        for (row, item) in self.bytes.chunks_exact_mut(self.stride.max(1)).enumerate() {
            let item = item.get_mut(self.at..).and_then(|item| item.get_mut(..self.size)).unwrap_or_default();
            put(row, item)?;
        }
        Ok(())
    }

    fn numbers<T: Pod>(&mut self, values: &[T], big: bool) -> Result<()> {
        let native = self.size == 1 || big == cfg!(target_endian = "big");
        let from = bytemuck::cast_slice::<T, u8>(values);
        if native && self.stride == self.size && from.len() == self.bytes.len() {
            self.bytes.copy_from_slice(from);
            return Ok(());
        }
        let items = from.chunks_exact(self.size.max(1));
        for (to, from) in self.bytes.chunks_exact_mut(self.stride.max(1)).zip(items) {
            let Some(to) = to.get_mut(self.at..).and_then(|to| to.get_mut(..from.len())) else { break };
            to.copy_from_slice(from);
            if !native {
                to.reverse();
            }
        }
        Ok(())
    }

    fn times(&mut self, values: impl Iterator<Item = i64>, big: bool) -> Result<()> {
        let (first, validity, mut values) = (self.first, *self.validity, values);
        self.every(|row, item| {
            let value = match (validity.get(row), values.next()) {
                (true, Some(i64::MIN)) => return Err(lossy(first, row)),
                (true, Some(value)) => value,
                _ => i64::MIN,
            };
            item.copy_from_slice(&if big { value.to_be_bytes() } else { value.to_le_bytes() });
            Ok(())
        })
    }

    fn bytes(&mut self, values: &VarBytes<'_>) -> Result<()> {
        let first = self.first;
        self.each(|row, item| {
            let from = values.get(row)?;
            // Readers would drop a NUL at the end.
            if from.len() > item.len() || from.last() == Some(&0) {
                return Err(lossy(first, row));
            }
            let (to, rest) = item.split_at_mut(from.len());
            to.copy_from_slice(from);
            rest.fill(0);
            Ok(())
        })
    }

    fn texts(&mut self, values: &VarBytes<'_>, big: bool) -> Result<()> {
        let first = self.first;
        self.each(|row, item| {
            let text = values.text(row)?;
            let mut characters = text.chars();
            for unit in item.as_chunks_mut::<4>().0 {
                let code = characters.next().map_or(0, u32::from);
                *unit = if big { code.to_be_bytes() } else { code.to_le_bytes() };
            }
            if characters.next().is_some() || text.ends_with('\0') {
                return Err(lossy(first, row));
            }
            Ok(())
        })
    }

    /// Fills the items of rows without a value with repetitions of `with`.
    fn fill(&mut self, with: &[u8]) -> Result<()> {
        let validity = *self.validity;
        if matches!(validity, Validity::All) {
            return Ok(());
        }
        self.every(|row, item| {
            if !validity.get(row) {
                item.chunks_exact_mut(with.len()).for_each(|to| to.copy_from_slice(with));
            }
            Ok(())
        })
    }

    /// Fills the items of rows without a value with NaN (quiet, positive) for floats, or with zero.
    fn fill_numbers(&mut self, prim: Prim, big: bool) -> Result<()> {
        match (prim, big) {
            (Prim::F16, true) => self.fill(&0x7e00_u16.to_be_bytes()),
            (Prim::F16, false) => self.fill(&0x7e00_u16.to_le_bytes()),
            (Prim::F32, true) => self.fill(&0x7fc0_0000_u32.to_be_bytes()),
            (Prim::F32, false) => self.fill(&0x7fc0_0000_u32.to_le_bytes()),
            (Prim::F64, true) => self.fill(&(0x7ff8_u64 << 48).to_be_bytes()),
            (Prim::F64, false) => self.fill(&(0x7ff8_u64 << 48).to_le_bytes()),
            _ => self.fill(&[0]),
        }
    }
}

#[cold]
pub(super) fn lossy(first: u64, row: usize) -> Error {
    Error::new(Kind::Lossy, What::BCOLZ_DTYPE, first.saturating_add(row as u64))
}

#[cold]
pub(super) fn absent(first: u64, row: usize) -> Error {
    Error::new(Kind::Lossy, What::BCOLZ_MISSING, first.saturating_add(row as u64))
}

#[cold]
pub(super) fn wrong_type() -> Error {
    Error::new(Kind::WrongType, What::BCOLZ_DTYPE, 0)
}
