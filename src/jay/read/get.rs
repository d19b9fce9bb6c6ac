//! One row of a column.

use super::Column;
use super::bools::is_odd;
use super::numbers::{Element, Number};
use crate::bytes::{Bits, Scratch};
use crate::column::{Column as _, Validity, Value};
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::{NA_BOOL, NA_OFFSET32, NA_OFFSET64, SType};

impl<'a> Column<'a> {
    /// Returns the value of row `row`. Checks that a string is valid UTF-8. Ignores the null count.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `row` is not below the number of rows; [`Kind::Utf8`] for an invalid string;
    /// [`Kind::Invalid`] for an invalid boolean or offset.
    pub fn get(&self, row: u64) -> Result<Value<'a>> {
        let none = || Error::needing(Kind::OutOfRange, What::ROW, row, self.rows());
        if row >= self.rows() {
            return Err(none());
        }
        if self.field().stype() == SType::Void0 {
            return Ok(Value::Null);
        }
        let i = usize::try_from(row).map_err(|_| none())?;
        let bitmap = self.bitmap();
        if !bitmap.is_empty() && Bits::new(bitmap, i, 1)?.get(0) != Some(true) {
            return Ok(Value::Null);
        }
        let int = |number: Option<i64>| Ok(number.map_or(Value::Null, |number| Value::Int(number.into())));
        match self.field().stype() {
            SType::Void0 | SType::Unknown(_) => Ok(Value::Null),
            SType::Bool8 if self.field().is_packed() => {
                Ok(Bits::new(self.data(), i, 1)?.get(0).map_or(Value::Null, Value::Bool))
            }
            SType::Bool8 => match self.data().get(i).copied().ok_or_else(none)? {
                NA_BOOL => Ok(Value::Null),
                // Creates the error with the offset of the byte.
                byte if is_odd(byte) && !self.field().rules.tolerant => {
                    self.bools(i, 1, &mut Validity::All, &mut Scratch::new(&mut [0; 2])).map(|_| Value::Null)
                }
                byte => Ok(Value::Bool(byte != 0)),
            },
            SType::Int8 => int(self.number::<i8>(i)?.map(i64::from)),
            SType::Int16 => int(self.number::<i16>(i)?.map(i64::from)),
            SType::Int32 | SType::Date32 => int(self.number::<i32>(i)?.map(i64::from)),
            SType::Int64 | SType::Time64 => int(self.number::<i64>(i)?),
            SType::Float32 => Ok(self.number(i)?.map_or(Value::Null, Value::F32)),
            SType::Float64 => Ok(self.number(i)?.map_or(Value::Null, Value::F64)),
            SType::Str32 | SType::Str64 => self.string(i),
            SType::Arr32 | SType::Arr64 => {
                let most = self.field().child()?.map_or(0, |child| child.rows());
                let (start, end) = (self.offset(i)?, self.offset(i.saturating_add(1))?);
                if start > end || end > most {
                    return Err(self.wrong(What::JAY_OFFSETS, i, end));
                }
                Ok(Value::Nested(start..end))
            }
        }
    }

    fn string(&self, i: usize) -> Result<Value<'a>> {
        let (start, end) = (self.offset(i)?, self.offset(i.saturating_add(1))?);
        let flag = match (self.bitmap().is_empty(), self.field().is_narrow()) {
            (false, _) => 0,
            (true, true) => u64::from(NA_OFFSET32),
            (true, false) => NA_OFFSET64,
        };
        if end & flag != 0 {
            return Ok(Value::Null);
        }
        let start = start & !flag;
        let bounds = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        match bounds.and_then(|(start, end)| self.text().get(start..end)) {
            Some(bytes) => match core::str::from_utf8(bytes) {
                Ok(_) => Ok(Value::Text(bytes)),
                Err(e) => {
                    let at = self.field().buffers().last().map_or(0, |text| text.at);
                    let at = at.saturating_add(start).saturating_add(e.valid_up_to() as u64);
                    Err(Error::new(Kind::Utf8, What::JAY_TEXT, at))
                }
            },
            None => Err(self.wrong(What::JAY_OFFSETS, i, end)),
        }
    }

    /// Returns offset `i` as it is stored, with its flag.
    fn offset(&self, i: usize) -> Result<u64> {
        if self.field().is_narrow() {
            return Ok(self.element::<u32>(i)?.into());
        }
        self.element::<u64>(i)
    }

    fn number<T: Number>(&self, i: usize) -> Result<Option<T>> {
        Ok(Some(self.element::<T>(i)?).filter(|number| !number.is_na()))
    }

    fn element<T: Element>(&self, i: usize) -> Result<T> {
        let from = i.saturating_mul(size_of::<T>());
        let bytes = self.data().get(from..).and_then(|rest| rest.get(..size_of::<T>()));
        match bytes.map(bytemuck::try_pod_read_unaligned::<T>) {
            Some(Ok(stored)) => Ok(stored.native()),
            _ => Err(Error::needing(Kind::OutOfRange, What::ROW, i as u64, self.rows())),
        }
    }

    #[cold]
    fn wrong(&self, what: What, i: usize, need: u64) -> Error {
        let size = if self.field().is_narrow() { 4 } else { 8 };
        let [_, data, _] = self.field().buffers();
        let at = data.at.saturating_add((i as u64).saturating_add(1).saturating_mul(size));
        Error::needing(Kind::Invalid, what, at, need)
    }
}
