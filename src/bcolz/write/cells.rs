//! Values of a batch as items, the way a chunk has them before it is compressed (section A.3).

use bytemuck::Pod;

use crate::bcolz::Dtype;
use crate::column::{Batch, Prim, Validity, Values, VarBytes};
use crate::error::{Error, Kind, Result, What};

/// What becomes of rows without a value, of which numpy knows no other than NaN and NaT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Missing {
    /// They are [`Kind::Lossy`], but for times, which become NaT.
    #[default]
    Refuse,
    /// They become NaT and NaN, zero, false, the empty text.
    Fill,
}

/// Puts the values of `batch` into `bytes` as items of `dtype`: item `i` at byte `i * stride + at`, where
/// `stride` is the size of the item, or of the record that it is a field of. Numbers have to be of the very
/// type, times of 64 bits or dates of 32. Texts may be shorter than the items.
///
/// # Errors
/// [`Kind::WrongType`] if the values are of another type, or nested. [`Kind::Lossy`] with the row of the column
/// for what items cannot hold: rows without a value, a text that is too long or ends in NUL, the least
/// 64-bit number as a time. [`Kind::Utf8`]. [`Kind::NoRoom`] if there are fewer items than rows.
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

/// Items among bytes.
struct To<'o, 'v, 's> {
    bytes: &'o mut [u8],
    stride: usize,
    at: usize,
    size: usize,
    first: u64,
    validity: &'v Validity<'s>,
}

impl To<'_, '_, '_> {
    /// The item of each row, rows without a value left out.
    fn each(&mut self, mut put: impl FnMut(usize, &mut [u8]) -> Result<()>) -> Result<()> {
        let validity = *self.validity;
        self.every(|row, item| if validity.get(row) { put(row, item) } else { Ok(()) })
    }

    /// The item of each row.
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
            // NUL at the end would not be read again.
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

    /// `with`, again and again, for rows without a value.
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

    /// NaN, quiet and positive, or zero.
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
