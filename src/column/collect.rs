//! Collects rows of columns in vectors.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::value::no_row;
use super::{Batch, Column, Memory, Part, Table, Values, VarBytes, fit};
use crate::bytes::half_to_f32;
use crate::error::{Error, Kind, Result, What};

/// The types that rows of a column can be collected as: `bool`, integers, floats, `String`, `Vec<u8>`, and an `Option`
/// of each for columns with missing rows.
///
/// A number can be collected as its own type, or as any wider type that represents all of its values:
///
/// | type | from columns of |
/// |---|---|
/// | `i8`, `i16`, `i32`, `i64`, `i128` | signed integers that are not wider, unsigned integers that are narrower |
/// | `u8`, `u16`, `u32`, `u64` | unsigned integers that are not wider |
/// | `f32` | `float16`, `float32`, integers of up to 16 bits |
/// | `f64` | `float16`, `float32`, `float64`, integers of up to 32 bits |
/// | `bool` | booleans |
/// | `String` | texts, and byte strings that are UTF-8 |
/// | `Vec<u8>` | texts and byte strings |
///
/// Dates, times, timestamps and decimals are the integers that they are stored as.
///
/// The memory grows with the number of rows, and a few bytes of a file can claim many rows: check [`Column::rows`]
/// before collecting a column of an untrusted file. The error is [`Kind::NoRoom`] if the allocator fails.
///
/// ```
/// # #[cfg(feature = "filo")] {
/// use pilaster::column::{Column, FromColumn};
/// use pilaster::error::Kind;
/// use pilaster::filo::{Element, Vector};
///
/// /// The last row of a column, in any type that can hold it.
/// fn last<T: FromColumn>(column: &impl Column) -> pilaster::Result<Option<T>> {
///     let rows = column.rows();
///     Ok(column.to_vec(rows.saturating_sub(1)..rows)?.pop())
/// }
///
/// // The Ints 5 and -1, followed by a missing row.
/// let chunk = [6, 7, 0, 0, 12, 0, 0, 0, 0b100, 0, 0, 0, 0, 0, 0, 0, 8, 0, 1, 0, 5, 0xff, 0];
/// let column = Vector::open(&chunk, Element::Int)?.column(0)?;
/// assert_eq!(column.to_vec::<i64>(0..2)?, [5, -1]);
/// assert_eq!(last::<Option<i32>>(&column)?, Some(None));
/// assert_eq!(last::<i32>(&column).unwrap_err().kind(), Kind::Lossy);
/// assert_eq!(last::<String>(&column).unwrap_err().kind(), Kind::WrongType);
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
pub trait FromColumn: Rows {}

impl<T: Rows> FromColumn for T {}

/// Converts the rows of a batch.
pub trait Rows: Clone {
    /// Passes each row of `batch` to `take`, a missing one as `None`. Returns `false` if the column has another type.
    ///
    /// # Errors
    /// Errors of `take`, and of an invalid span of a string.
    fn rows<C>(batch: &Batch<'_, C>, take: &mut impl FnMut(Option<Self>) -> Result<()>) -> Result<bool>;

    /// Returns the values of a batch, or `None` if they have another type.
    #[must_use]
    fn slice<'s>(values: &Values<'s>) -> Option<&'s [Self]> {
        let _ = values;
        None
    }
}

macro_rules! from_numbers {
    ($($ty:ident = $own:ident $(, $wider:ident)* $( + half $half:ident)?;)*) => {$(
        impl Rows for $ty {
            fn rows<C>(batch: &Batch<'_, C>, take: &mut impl FnMut(Option<Self>) -> Result<()>) -> Result<bool> {
                match batch.values {
                    Values::Null => each(batch, take, |_| Err(Error::new(Kind::OutOfRange, What::ROW, 0))),
                    Values::$own(values) => each(batch, take, |i| number(values, i)),
                    $(Values::$wider(values) => each(batch, take, |i| number(values, i)),)*
                    $(Values::$half(values) => each(batch, take, |i| number(values, i).map(|n| half_to_f32(n).into())),)?
                    _ => Ok(false),
                }
            }

            fn slice<'s>(values: &Values<'s>) -> Option<&'s [Self]> {
                match values {
                    Values::$own(values) => Some(values),
                    _ => None,
                }
            }
        }
    )*};
}

from_numbers! {
    i8 = I8;
    i16 = I16, I8, U8;
    i32 = I32, I8, I16, U8, U16;
    i64 = I64, I8, I16, I32, U8, U16, U32;
    i128 = I128, I8, I16, I32, I64, U8, U16, U32, U64;
    u8 = U8;
    u16 = U16, U8;
    u32 = U32, U8, U16;
    u64 = U64, U8, U16, U32;
    f32 = F32, I8, I16, U8, U16 + half F16;
    f64 = F64, F32, I8, I16, I32, U8, U16, U32 + half F16;
}

impl Rows for bool {
    fn rows<C>(batch: &Batch<'_, C>, take: &mut impl FnMut(Option<Self>) -> Result<()>) -> Result<bool> {
        match batch.values {
            Values::Null => each(batch, take, |_| Ok(false)),
            Values::Bool(bits) => each(batch, take, |i| bits.get(i).ok_or_else(|| no_row(i, bits.len()))),
            _ => Ok(false),
        }
    }
}

impl Rows for String {
    fn rows<C>(batch: &Batch<'_, C>, take: &mut impl FnMut(Option<Self>) -> Result<()>) -> Result<bool> {
        strings(batch, take, |strings, i| strings.text(i).map(ToOwned::to_owned))
    }
}

impl Rows for Vec<u8> {
    fn rows<C>(batch: &Batch<'_, C>, take: &mut impl FnMut(Option<Self>) -> Result<()>) -> Result<bool> {
        strings(batch, take, |strings, i| strings.get(i).map(<[u8]>::to_vec))
    }
}

impl<T: Rows> Rows for Option<T> {
    fn rows<C>(batch: &Batch<'_, C>, take: &mut impl FnMut(Option<Self>) -> Result<()>) -> Result<bool> {
        T::rows(batch, &mut |value| take(Some(value)))
    }
}

/// Calls `take` for each row of `batch`: with the result of `get`, or with `None` if the row is missing.
fn each<C, T>(
    batch: &Batch<'_, C>,
    take: &mut impl FnMut(Option<T>) -> Result<()>,
    get: impl Fn(usize) -> Result<T>,
) -> Result<bool> {
    for i in 0..batch.len {
        take(if batch.validity.get(i) { Some(get(i)?) } else { None })?;
    }
    Ok(true)
}

fn strings<'s, C, T>(
    batch: &Batch<'s, C>,
    take: &mut impl FnMut(Option<T>) -> Result<()>,
    get: impl Fn(&VarBytes<'s>, usize) -> Result<T>,
) -> Result<bool> {
    match &batch.values {
        Values::Null => each(batch, take, |i| get(&VarBytes { data: &[], spans: super::Spans::Each(&[]) }, i)),
        Values::Utf8(strings) | Values::Bytes(strings) => each(batch, take, |i| get(strings, i)),
        _ => Ok(false),
    }
}

fn number<S: Copy, T: From<S>>(values: &[S], i: usize) -> Result<T> {
    values.get(i).map(|value| T::from(*value)).ok_or_else(|| no_row(i, values.len()))
}

/// Appends `rows` of `column` to `to`.
pub(super) fn append<T: FromColumn, C: Column>(column: &C, rows: Range<u64>, to: &mut Vec<T>) -> Result<()> {
    let mut memory = Memory::default();
    let mut row = rows.start;
    loop {
        let mut scratch = memory.scratch();
        let batch = fit(column, row..rows.end, scratch.room()).and_then(|rows| column.read(rows, &mut scratch));
        let batch = match batch {
            Ok(batch) => batch,
            Err(e) => {
                memory.grow(e)?;
                continue;
            }
        };
        // A few bytes can claim more rows than memory holds.
        let bytes = (batch.len as u64).saturating_mul(size_of::<T>() as u64);
        to.try_reserve(batch.len).map_err(|_| Error::needing(Kind::NoRoom, What::DESTINATION, row, bytes))?;
        match T::slice(&batch.values) {
            Some(values) if batch.validity.nulls(batch.len) == 0 => {
                to.extend_from_slice(values.get(..batch.len).ok_or_else(|| no_row(batch.len, values.len()))?);
            }
            _ => {
                let fits = T::rows(&batch, &mut |value| {
                    let missing = || Error::new(Kind::Lossy, What::VALUE_OF_EVERY_ROW, to.len() as u64);
                    let value = value.ok_or_else(missing)?;
                    to.push(value);
                    Ok(())
                })?;
                if !fits {
                    return Err(Error::new(Kind::WrongType, column.ty().what(), 0));
                }
            }
        }
        row = row.saturating_add(batch.len as u64);
        if row >= rows.end {
            return Ok(());
        }
        if batch.len == 0 {
            return Err(Error::new(Kind::Truncated, What::ROW, row));
        }
    }
}

/// Returns the rows of column `name` in all parts of `table`.
pub(super) fn all<T: FromColumn, S: Table>(table: &mut S, name: &str) -> Result<Vec<T>> {
    table.restart()?;
    let (mut memory, mut to, mut found) = (Memory::default(), Vec::new(), table.lists(name));
    loop {
        let mut outer = memory.scratch();
        match table.next_part(&mut outer) {
            Ok(None) if found => return Ok(to),
            Ok(None) => return Err(Error::unknown(What::COLUMN, name)),
            Ok(Some(part)) => append(&part.named(name)?, 0..part.rows(), &mut to)?,
            Err(e) => {
                memory.grow(e)?;
                continue;
            }
        }
        found = true;
    }
}
