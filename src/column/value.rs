//! One value of one row.

use core::cmp::Ordering;
use core::ops::Range;

use super::{Batch, Values};
use crate::error::{Error, Kind, Result, What};
use crate::simd;

/// One value of one row. Decimals, dates, times and timestamps are the integers that they are stored as.
///
/// ```
/// # #[cfg(feature = "filo")] {
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column, Value};
/// use pilaster::filo::{Element, Vector};
///
/// // Three rows of the Int 7.
/// let column = Vector::open(&[6, 6, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0], Element::Int)?.column(0)?;
/// let mut memory = [0; 64];
/// let batch = column.read(0..3, &mut Scratch::new(&mut memory))?;
/// assert_eq!(batch.value(2)?, Value::Int(7));
///
/// // To read texts, or to search for a maximum, in columns of any type:
/// assert_eq!((Value::Text(b"seven").text()?, Value::Int(7).text()?), (Some("seven"), None));
/// assert!(batch.value(2)?.compare(&Value::Int(6)).is_some_and(|order| order.is_gt()));
/// assert_eq!(batch.value(2)?.compare(&Value::Null), None);
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'s> {
    /// The row has no value.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer of up to 128 bits, signed or not.
    Int(i128),
    /// A signed integer of 256 bits, least significant word first.
    Int256([u64; 4]),
    /// The bits of a half float.
    F16(u16),
    /// A single float.
    F32(f32),
    /// A double float.
    F64(f64),
    /// A byte string.
    Bytes(&'s [u8]),
    /// The bytes of a text; [`text`](Self::text) checks that they are UTF-8.
    Text(&'s [u8]),
    /// A list, struct or map that is present: the row range of every child of [`Batch::of`]. A missing one is
    /// [`Null`](Value::Null); a child does not know that it is missing.
    Nested(Range<u64>),
}

impl<'s> Value<'s> {
    /// Returns a text or byte string as `str`, or `None` if the value is neither.
    ///
    /// # Errors
    /// [`Kind::Utf8`] with the offset of the first invalid byte in the string.
    pub fn text(&self) -> Result<Option<&'s str>> {
        match *self {
            Value::Text(bytes) | Value::Bytes(bytes) => match simd::text(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(e) => Err(Error::new(Kind::Utf8, What::TEXT, e.valid_up_to() as u64)),
            },
            _ => Ok(None),
        }
    }

    /// Compares two values of one column. Returns `None` if one of them is missing, NaN, a half float or nested.
    /// Strings are compared by their bytes.
    #[must_use]
    pub fn compare(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Int256([a, b, c, d]), Value::Int256([e, f, g, h])) => {
                Some((d.cast_signed(), c, b, a).cmp(&(h.cast_signed(), g, f, e)))
            }
            (Value::F32(a), Value::F32(b)) => a.partial_cmp(b),
            (Value::F64(a), Value::F64(b)) => a.partial_cmp(b),
            (Value::Bytes(a) | Value::Text(a), Value::Bytes(b) | Value::Text(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

impl<'s> Values<'s> {
    /// Returns value `i`. The value of a missing row is unspecified; [`Batch::value`] checks the validity.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `i` is not below the number of values; errors of an invalid span of a string or list.
    pub fn get(&self, i: usize) -> Result<Value<'s>> {
        fn at<T: Copy>(values: &[T], i: usize) -> Result<T> {
            values.get(i).copied().ok_or_else(|| no_row(i, values.len()))
        }
        Ok(match self {
            Values::Null => Value::Null,
            Values::Bool(bits) => Value::Bool(bits.get(i).ok_or_else(|| no_row(i, bits.len()))?),
            Values::I8(values) => Value::Int(at(values, i)?.into()),
            Values::I16(values) => Value::Int(at(values, i)?.into()),
            Values::I32(values) => Value::Int(at(values, i)?.into()),
            Values::I64(values) => Value::Int(at(values, i)?.into()),
            Values::I128(values) => Value::Int(at(values, i)?),
            Values::I256(values) => Value::Int256(at(values, i)?),
            Values::U8(values) => Value::Int(at(values, i)?.into()),
            Values::U16(values) => Value::Int(at(values, i)?.into()),
            Values::U32(values) => Value::Int(at(values, i)?.into()),
            Values::U64(values) => Value::Int(at(values, i)?.into()),
            Values::F16(values) => Value::F16(at(values, i)?),
            Values::F32(values) => Value::F32(at(values, i)?),
            Values::F64(values) => Value::F64(at(values, i)?),
            Values::Bytes(strings) => Value::Bytes(strings.get(i)?),
            Values::Utf8(strings) => Value::Text(strings.get(i)?),
            Values::Nested(ranges) => Value::Nested(ranges.get(i)?),
        })
    }
}

impl<'s, C> Batch<'s, C> {
    /// Returns the batch with the column replaced by the result of `map`.
    #[must_use]
    #[allow(dead_code, reason = "formats use it")]
    pub(crate) fn map<D>(self, map: impl FnOnce(C) -> D) -> Batch<'s, D> {
        Batch { first: self.first, len: self.len, values: self.values, validity: self.validity, of: map(self.of) }
    }

    /// Returns the value of row `i` of the batch, [`Value::Null`] if it is missing.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `i` is not below [`len`](Self::len); errors of an invalid span of a string or list.
    pub fn value(&self, i: usize) -> Result<Value<'s>> {
        match self.validity.get(i) {
            _ if i >= self.len => Err(no_row(i, self.len)),
            true => self.values.get(i),
            false => Ok(Value::Null),
        }
    }
}

#[cold]
pub(super) fn no_row(i: usize, count: usize) -> Error {
    Error::needing(Kind::OutOfRange, What::ROW, i as u64, count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Bits;
    use crate::column::{Spans, Validity, VarBytes};

    #[test]
    fn a_value_of_each_row() {
        let validity = Validity::Bits(Bits::new(&[0b101], 0, 3).unwrap());
        let batch = Batch { first: 0, len: 3, values: Values::U64(&[u64::MAX, 1, 2]), validity, of: () };
        assert_eq!(batch.value(0), Ok(Value::Int(u64::MAX.into())));
        assert_eq!(batch.value(1), Ok(Value::Null));
        assert_eq!(batch.value(3).unwrap_err().kind(), Kind::OutOfRange);
        let text = VarBytes { data: b"a\xffb", spans: Spans::Off32(&[0, 1, 3]) };
        assert_eq!(Values::Utf8(text).get(0).unwrap().text(), Ok(Some("a")));
        assert_eq!(Values::Bytes(text).get(1).unwrap().text().unwrap_err().kind(), Kind::Utf8);
        assert_eq!(Value::Int(1).text(), Ok(None));
    }

    #[test]
    fn values_compare_within_their_type() {
        let order = |a: Value<'_>, b: Value<'_>| a.compare(&b);
        assert_eq!(order(Value::Int256([0, 0, 0, u64::MAX]), Value::Int256([1, 0, 0, 0])), Some(Ordering::Less));
        assert_eq!(order(Value::Text(b"b"), Value::Bytes(b"a")), Some(Ordering::Greater));
        assert_eq!(order(Value::F64(f64::NAN), Value::F64(0.0)), None);
        assert_eq!(order(Value::Null, Value::Int(0)), None);
    }
}
