//! One row of a column.

use super::Column;
use super::bools::is_odd;
use super::field::Which;
use super::numbers::{Element, Number};
use crate::bytes::Scratch;
use crate::column::{Column as _, Validity, Value};
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::{NA_BOOL, SType};
use crate::simd;

impl<'a> Column<'a> {
    /// Returns the value of row `row`, as a batch does. Also checks that a string is valid UTF-8.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `row` is not below the number of rows; [`Kind::Utf8`] for an invalid string;
    /// [`Kind::Invalid`] for an invalid boolean or offset, and for a missing row in a column whose null count is 0. In
    /// tolerant mode such rows are missing.
    pub fn get(&self, row: u64) -> Result<Value<'a>> {
        let none = || Error::needing(Kind::OutOfRange, What::ROW, row, self.rows());
        if row >= self.rows() {
            return Err(none());
        }
        if self.field().stype() == SType::Void0 {
            return Ok(Value::Null);
        }
        let i = usize::try_from(row).map_err(|_| none())?;
        let missing = self.has_bitmap() && self.bits(Which::Validity, i, 1)?.get(0) != Some(true);
        if missing && self.is_full() {
            return Err(self.unexpected_null());
        }
        // A batch checks the other buffers of missing rows, too.
        match self.stored(i, missing)? {
            Value::Null if self.is_full() => Err(self.unexpected_null()),
            _ if missing => Ok(Value::Null),
            value => Ok(value),
        }
    }

    /// Returns the value of row `i`, whose bit in the bitmap tells whether it is `missing`.
    fn stored(&self, i: usize, missing: bool) -> Result<Value<'a>> {
        let none = || Error::needing(Kind::OutOfRange, What::ROW, i as u64, self.rows());
        let int = |number: Option<i64>| Ok(number.map_or(Value::Null, |number| Value::Int(number.into())));
        match self.field().stype() {
            SType::Void0 | SType::Unknown(_) => Ok(Value::Null),
            SType::Bool8 if self.field().is_packed() => {
                Ok(self.bits(Which::Data, i, 1)?.get(0).map_or(Value::Null, Value::Bool))
            }
            SType::Bool8 => match self.elements(i, 1, 1)?.first().copied().ok_or_else(none)? {
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
            SType::Str32 | SType::Str64 => self.string(i, missing),
            SType::Arr32 | SType::Arr64 => {
                let most = self.field().child()?.map_or(0, |child| child.rows());
                let (start, end) = (self.offset(i)?, self.offset(i.saturating_add(1))?);
                if self.field().rules.tolerant && !self.shared(i, most, false)?.take(start, end) {
                    return Ok(Value::Null);
                }
                if start > end || end > most {
                    return Err(self.wrong(What::JAY_OFFSETS, i, end));
                }
                Ok(Value::Nested(start..end))
            }
        }
    }

    /// Returns string `i`. The characters of a missing row are not checked.
    fn string(&self, i: usize, missing: bool) -> Result<Value<'a>> {
        let (start, end) = (self.offset(i)?, self.offset(i.saturating_add(1))?);
        let flag = self.flag();
        // In a column without missing rows, the row before may not be flagged, either.
        let flagged = if self.is_full() { start | end } else { end } & flag != 0;
        let (start, end) = (start & !flag, end & !flag);
        let text = self.field().buffer(Which::Text);
        let tolerant = self.field().rules.tolerant;
        if tolerant && !self.shared(i, text.len, true)?.take(start, end) {
            return Ok(Value::Null);
        }
        let Some(len) = end.checked_sub(start).filter(|_| end <= text.len) else {
            return Err(self.wrong(What::JAY_OFFSETS, i, end));
        };
        if flagged || missing {
            return Ok(Value::Null);
        }
        let bytes = self.bytes(Which::Text, start, len)?;
        match simd::text(bytes) {
            Ok(_) => Ok(Value::Text(bytes)),
            Err(_) if tolerant => Ok(Value::Null),
            Err(e) => {
                let at = text.at.saturating_add(start).saturating_add(e.valid_up_to() as u64);
                Err(Error::new(Kind::Utf8, What::JAY_TEXT, at))
            }
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
        Ok(Some(self.element::<T>(i)?).filter(|number| self.is_trusted() || !number.is_na()))
    }

    fn element<T: Element>(&self, i: usize) -> Result<T> {
        match bytemuck::try_pod_read_unaligned::<T>(self.elements(i, 1, size_of::<T>())?) {
            Ok(stored) => Ok(stored.native()),
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
