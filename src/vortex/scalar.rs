//! Scalar values (format description, section 6): constants, fill values, reference values, statistics.

use super::dtype::{Shape, signed};
use super::raw::field::scalar as field;
use crate::column::Prim;
use crate::encoding::cells;
use crate::error::{Error, Kind, Result, What};
use crate::meta::proto::{Fields, Message, Value, unzigzag};

/// A single value in the metadata, such as a bound of a column in [`Statistics`](super::Statistics). It does not contain
/// its type, which is the type of the column. Only texts and bytes are read from it directly:
/// [`Column::zone_around`](crate::column::Column::zone_around) returns the bounds of numbers, too, as
/// [`Value`](crate::column::Value)s.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<'a> {
    /// A protobuf message with one field, whose number is the kind of the value.
    message: Message<'a>,
}

impl<'a> Scalar<'a> {
    /// Creates the scalar in `message`.
    pub(super) const fn new(message: Message<'a>) -> Self {
        Scalar { message }
    }

    fn bad(&self) -> Error {
        Error::new(Kind::Invalid, What::VORTEX_SCALAR, self.message.at())
    }

    /// Returns the number and value of the only field.
    fn kind(&self) -> Result<(u32, Value<'a>)> {
        let mut fields = self.message.fields();
        let mut found = None;
        while let Some((number, value)) = fields.take()? {
            if (field::NULL..=12).contains(&number) {
                found = Some((number, value));
            }
        }
        found.ok_or_else(|| self.bad())
    }

    /// Returns the number of bytes that finding the value reads, without the bytes of a text or byte string.
    pub(super) fn steps(&self) -> usize {
        let len = self.message.bytes().len();
        match self.message.fields().take() {
            Ok(Some((field::STRING | field::BYTES, Value::Bytes(text)))) => len.saturating_sub(text.bytes().len()),
            _ => len,
        }
    }

    /// Returns whether the scalar is null.
    ///
    /// # Errors
    /// Errors of an invalid message.
    pub fn is_null(&self) -> Result<bool> {
        Ok(self.kind()?.0 == field::NULL)
    }

    /// Returns the value of integer type `prim`, zero- or sign-extended to 64 bits as the type requires. Old writers
    /// stored signed numbers as unsigned ones and vice versa.
    pub(super) fn integer(&self, prim: Prim) -> Result<u64> {
        let (value, negative) = match self.kind()? {
            (field::INT, Value::Varint(value)) => {
                let value = unzigzag(value);
                (value.cast_unsigned(), value < 0)
            }
            (field::UINT, Value::Varint(value)) => (value, false),
            _ => return Err(self.bad()),
        };
        let bits = 64usize.saturating_sub(prim.size().saturating_mul(8));
        let fits = if signed(prim) {
            // The number must equal the sign extension of its low bits.
            let low = value << bits;
            (low.cast_signed() >> bits).cast_unsigned() == value && (negative == (value >> 63 == 1))
        } else {
            !negative && value << bits >> bits == value
        };
        if fits { Ok(value) } else { Err(self.bad()) }
    }

    /// Returns the value as a little-endian cell, for a type that has cells.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if the value does not have the type.
    pub(super) fn cell(&self, shape: Shape) -> Result<cells::Value> {
        let mut cell = [0; 32];
        let mut put = |bits: u64| {
            if let Some(low) = cell.first_chunk_mut() {
                *low = bits.to_le_bytes();
            }
        };
        match (shape, self.kind()?) {
            (_, (field::NULL, _)) => {}
            (Shape::Bool, (field::BOOL, Value::Varint(bit))) => put(u64::from(bit != 0)),
            (Shape::Prim(Prim::F16), (field::F16 | field::UINT, Value::Varint(bits))) if bits >> 16 == 0 => put(bits),
            (Shape::Prim(Prim::F32), (field::F32, Value::Fixed32(bits))) => put(bits.into()),
            (Shape::Prim(Prim::F64), (field::F64, Value::Fixed64(bits))) => put(bits),
            (Shape::Prim(Prim::F16 | Prim::F32 | Prim::F64), _) => return Err(self.bad()),
            (Shape::Prim(prim), _) => put(self.integer(prim)?),
            (Shape::Decimal { .. }, (field::BYTES, Value::Bytes(bytes))) => {
                return wide(bytes.bytes()).ok_or_else(|| self.bad());
            }
            _ => return Err(self.bad()),
        }
        Ok(cell)
    }

    /// Returns the bytes of a text or binary value; they are empty for null.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for any other value.
    pub fn bytes(&self) -> Result<&'a [u8]> {
        Ok(self.located_bytes()?.bytes())
    }

    /// Like [`bytes`](Self::bytes), with the offset in the file.
    pub(super) fn located_bytes(&self) -> Result<Message<'a>> {
        self.held(field::STRING, field::BYTES)
    }

    /// Returns the bytes if the field number is in `first..=last`; they are empty for null.
    fn held(&self, first: u32, last: u32) -> Result<Message<'a>> {
        match self.kind()? {
            (number, Value::Bytes(bytes)) if first <= number && number <= last => Ok(bytes),
            (field::NULL, _) => Ok(Message::new_at(&[], self.message.at())),
            _ => Err(self.bad()),
        }
    }

    /// Returns the items of a list, or the fields of a struct.
    pub(super) fn items(&self) -> Result<Items<'a>> {
        Ok(Items { fields: self.held(field::LIST, field::LIST)?.fields() })
    }

    pub(super) const fn message(&self) -> Message<'a> {
        self.message
    }
}

/// The path from a scalar to rows inside it, in at most four steps: into the items of a list or a field of a struct. A
/// step takes one byte; the first step is in the lowest byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps(u32);

impl Steps {
    /// The step into the items of a list. Other steps are fields, counted from 1; 0 is the end of the path.
    const INTO: u32 = 0xff;

    /// The maximum number of steps.
    pub(super) const MOST: u64 = 4;

    /// The path to the items of the scalar itself.
    pub(super) const ITEMS: Steps = Steps(Steps::INTO);

    /// Appends a step: into the items if `field` is `None`, otherwise to that field. Returns `None` if there are four
    /// steps already, or if the field number exceeds 253.
    pub(super) fn then(self, field: Option<usize>) -> Option<Self> {
        let step = match field {
            None => Steps::INTO,
            Some(k) => u32::try_from(k).ok()?.checked_add(1).filter(|step| *step < Steps::INTO)?,
        };
        // The byte after the last step.
        let place = u32::BITS.saturating_sub(self.0.leading_zeros()).next_multiple_of(8);
        Some(Steps(self.0 | step.checked_shl(place)?))
    }
}

impl<'a> Scalar<'a> {
    /// Calls `show` with the scalars at the end of `steps`, in order, until it returns `false`. Returns the last result
    /// of `show`, or `true` if there was none.
    pub(super) fn each(&self, steps: Steps, show: &mut dyn FnMut(&Self) -> Result<bool>) -> Result<bool> {
        let rest = Steps(steps.0 >> 8);
        match steps.0 & 0xff {
            0 => show(self),
            Steps::INTO => {
                let mut items = self.items()?;
                while let Some(item) = items.take()? {
                    if !item.each(rest, show)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            k => self.field(k.saturating_sub(1).into())?.each(rest, show),
        }
    }

    /// Returns the number of scalars at the end of `steps`.
    pub(super) fn count(&self, steps: Steps) -> Result<u64> {
        let mut count = 0u64;
        self.each(steps, &mut |_| {
            count = count.saturating_add(1);
            Ok(true)
        })?;
        Ok(count)
    }

    /// Returns field `k` of a struct. All fields of a null struct are null.
    pub(super) fn field(&self, k: u64) -> Result<Self> {
        if self.is_null()? { Ok(*self) } else { self.items()?.get(k) }
    }
}

/// The values of a list, one after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Items<'a> {
    fields: Fields<'a>,
}

impl<'a> Items<'a> {
    /// Returns the next item.
    pub(super) fn take(&mut self) -> Result<Option<Scalar<'a>>> {
        while let Some((number, value)) = self.fields.take()? {
            if let (field::ITEM, Value::Bytes(message)) = (number, value) {
                return Ok(Some(Scalar { message }));
            }
        }
        Ok(None)
    }

    /// Returns the number of items.
    pub(super) fn len(mut self) -> Result<u64> {
        let mut len = 0u64;
        while self.take()?.is_some() {
            len = len.saturating_add(1);
        }
        Ok(len)
    }

    /// Returns item `i`.
    pub(super) fn get(mut self, i: u64) -> Result<Scalar<'a>> {
        let at = self.fields.at();
        for _ in 0..i {
            if self.take()?.is_none() {
                break;
            }
        }
        self.take()?.ok_or_else(|| Error::needing(Kind::Invalid, What::VORTEX_SCALAR, at, i))
    }
}

/// Sign-extends a two's complement number of 1 to 32 bytes to 32 bytes; returns `None` for any other length.
pub(super) fn wide(bytes: &[u8]) -> Option<cells::Value> {
    let negative = bytes.last()? >> 7 == 1;
    let mut cell = [if negative { 0xff } else { 0 }; 32];
    cell.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(cell)
}

/// Returns whether the lowest `size` bytes of a cell represent its number.
pub(super) fn fits(cell: &cells::Value, size: usize) -> bool {
    let Some((low, high)) = cell.split_at_checked(size) else { return false };
    let sign = if low.last().is_some_and(|byte| byte >> 7 == 1) { 0xff } else { 0 };
    high.iter().all(|byte| *byte == sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(bytes: &[u8]) -> Scalar<'_> {
        Scalar::new(Message::new(bytes))
    }

    #[test]
    fn examples_of_the_text() {
        let cell =
            |bytes, p| scalar(bytes).cell(Shape::Prim(p)).map(|cell| u64::from_le_bytes(*cell.first_chunk().unwrap()));
        assert_eq!(cell(&[0x18, 0x0d], Prim::I32), Ok(-7i64 as u64));
        assert_eq!(cell(&[0x20, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], Prim::U64), Ok(u64::MAX));
        assert_eq!(cell(&[0x2d, 0, 0, 0xc0, 0x3f], Prim::F32), Ok(1.5f32.to_bits().into()));
        assert_eq!(cell(&[0x20, 200, 1], Prim::U8), Ok(200), "unsigned");
        assert!(cell(&[0x20, 200, 1], Prim::I8).is_err(), "200 is no i8");
        assert_eq!(cell(&[0x18, 6], Prim::U8), Ok(3), "an old writer's sign");
        assert!(cell(&[0x18, 5], Prim::U8).is_err(), "-3 is no u8");
        assert!(cell(&[0x31, 0, 0, 0, 0, 0, 0, 0, 0], Prim::F32).is_err());
        assert_eq!(scalar(&[0x3a, 0]).bytes(), Ok(&b""[..]));
        assert_eq!(scalar(&[8, 0]).is_null(), Ok(true));
        assert!(scalar(&[]).is_null().is_err());
        let list = scalar(&[0x4a, 8, 0x0a, 2, 0x18, 2, 0x0a, 2, 0x18, 3]).items().unwrap();
        assert_eq!(list.len(), Ok(2));
        assert_eq!(list.get(1).unwrap().integer(Prim::I32), Ok(-2i64 as u64));
        assert!(list.get(2).is_err());
    }

    #[test]
    fn wide_numbers_keep_their_sign() {
        let cell = wide(&[0xfe]).unwrap();
        assert_eq!((cell[0], cell[31]), (0xfe, 0xff));
        assert!(fits(&cell, 1) && fits(&wide(&[0x7f, 0]).unwrap(), 1) && !fits(&wide(&[0x80, 0]).unwrap(), 1));
        assert!(wide(&[]).is_none() && wide(&[0; 33]).is_none());
    }
}
