//! Collects rows of columns in vectors.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::value::no_row;
use super::{Batch, Column, Memory, Part, Ranges, Table, Type, Validity, Values, VarBytes};
use crate::bytes::{Bits, half_to_f32};
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
/// Dates, times, timestamps and decimals are the integers that they are stored as. Half floats, lists, structs, maps and
/// decimals over 128 bits cannot be collected as such: read the fields of a struct one by one (`to_vec("st.x")`), and
/// lists batch by batch ([`Column::read`]).
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
#[diagnostic::on_unimplemented(
    message = "rows of a column cannot be collected as `{Self}`",
    label = "not a type that rows can be collected as",
    note = "supported: `bool`, integers up to `i128` and `u64`, `f32`, `f64`, `String`, `Vec<u8>`, and an `Option` of each"
)]
pub trait FromColumn: Rows {}

impl<T: Rows> FromColumn for T {}

/// Converts the rows of a batch.
// The compiler reports this trait, not `FromColumn`, for a type that has neither.
#[diagnostic::on_unimplemented(
    message = "rows of a column cannot be collected as `{Self}`",
    label = "not a type that rows can be collected as",
    note = "supported: `bool`, integers up to `i128` and `u64`, `f32`, `f64`, `String`, `Vec<u8>`, and an `Option` of each"
)]
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
    append_field(column, rows, &[], Validity::All, to)
}

/// Appends `rows` of the column at the end of `path` to `to`. Each step of the path is the number of a field in the
/// struct before it; the first one is a field of `column`. Rows that are missing in `present`, which has one bit per
/// row, or in a struct on the path are missing in the result.
fn append_field<T: FromColumn, C: Column>(
    column: &C,
    rows: Range<u64>,
    path: &[usize],
    present: Validity<'_>,
    to: &mut Vec<T>,
) -> Result<()> {
    let mut memory = Memory::default();
    let mut row = rows.start;
    loop {
        let fitting = memory.fit(column, row..rows.end)?;
        let mut scratch = memory.scratch();
        let batch = match column.read(fitting, &mut scratch) {
            Ok(batch) => batch,
            Err(e) => {
                memory.grow(e)?;
                continue;
            }
        };
        let mut bits = Vec::new();
        let validity = both(batch.validity, present, row.saturating_sub(rows.start), batch.len, &mut bits)?;
        match path.split_first() {
            None => append_batch(&Batch { validity, ..batch }, column.ty(), to)?,
            Some((k, path)) => {
                let Values::Nested(ranges) = batch.values else {
                    return Err(Error::new(Kind::WrongType, column.ty().what(), 0));
                };
                let field = batch.of.child(*k)?;
                if let Ranges::Stride { first, size: 1, .. } = ranges {
                    let rows = first..first.saturating_add(batch.len as u64);
                    append_field(&field, rows, path, validity, to)?;
                } else {
                    // A dictionary of structs, for instance. The rows of the field are in any order.
                    for i in 0..batch.len {
                        if validity.get(i) {
                            let row = ranges.get(i)?.start;
                            append_field(&field, row..row.saturating_add(1), path, Validity::All, to)?;
                        } else {
                            append_batch(&missing_row(), field.ty(), to)?;
                        }
                    }
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

/// Appends the rows of `batch`, which belongs to a column of type `ty`.
fn append_batch<T: FromColumn, C>(batch: &Batch<'_, C>, ty: Type, to: &mut Vec<T>) -> Result<()> {
    // A few bytes can claim more rows than memory holds.
    let bytes = (batch.len as u64).saturating_mul(size_of::<T>() as u64);
    to.try_reserve(batch.len).map_err(|_| Error::needing(Kind::NoRoom, What::DESTINATION, to.len() as u64, bytes))?;
    match T::slice(&batch.values) {
        Some(values) if batch.validity.nulls(batch.len) == 0 => {
            to.extend_from_slice(values.get(..batch.len).ok_or_else(|| no_row(batch.len, values.len()))?);
        }
        _ => {
            let fits = T::rows(batch, &mut |value| {
                let missing = || Error::new(Kind::Lossy, What::VALUE_OF_EVERY_ROW, to.len() as u64);
                let value = value.ok_or_else(missing)?;
                to.push(value);
                Ok(())
            })?;
            if !fits {
                return Err(Error::new(Kind::WrongType, ty.what(), 0));
            }
        }
    }
    Ok(())
}

/// A batch of one missing row.
const fn missing_row() -> Batch<'static, ()> {
    Batch { first: 0, len: 1, values: Values::Null, validity: Validity::None, of: () }
}

/// Returns which of the `len` rows of a batch are present in its validity `own` and in `present`, where the rows start
/// at row `at`. Uses `bits` if both are bitmaps.
fn both<'b>(
    own: Validity<'b>,
    present: Validity<'b>,
    at: u64,
    len: usize,
    bits: &'b mut Vec<u8>,
) -> Result<Validity<'b>> {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    Ok(match (own, present) {
        (own, Validity::All) => own,
        (Validity::None, _) | (_, Validity::None) => Validity::None,
        (Validity::All, Validity::Bits(present)) => Validity::Bits(present.slice(at, len)?),
        (Validity::Bits(own), Validity::Bits(present)) => {
            let words = own.words().zip(present.slice(at, len)?.words());
            bits.extend(words.flat_map(|(own, present)| (own & present).to_le_bytes()));
            Validity::Bits(Bits::new(bits, 0, len)?)
        }
    })
}

/// Returns the rows of column `name` in all parts of `table`, or of a field of a struct column.
pub(super) fn all<T: FromColumn, S: Table>(table: &mut S, name: &str) -> Result<Vec<T>> {
    let values = chosen(table, name);
    table.choose(None);
    values
}

fn chosen<T: FromColumn, S: Table>(table: &mut S, name: &str) -> Result<Vec<T>> {
    table.restart()?;
    // The first part is then read twice, and without its rows the first time.
    let mut located_only = table.choose(Some(&[]));
    let listed = table.lists(name)
        || name.match_indices('.').any(|(dot, _)| name.get(..dot).is_some_and(|column| table.lists(column)));
    let (mut memory, mut to, mut found) = (Memory::default(), Vec::new(), listed);
    loop {
        let mut outer = memory.scratch();
        match table.next_part(&mut outer) {
            Ok(None) if found => return Ok(to),
            Ok(None) => return Err(Error::unknown(What::COLUMN, name)),
            Ok(Some(part)) => {
                let (k, path) = located(&part, name)?;
                if located_only {
                    table.choose(Some(&[k]));
                    table.restart()?;
                    located_only = false;
                    continue;
                }
                append_field(&part.column(k)?, 0..part.rows(), &path, Validity::All, &mut to)?;
            }
            Err(e) => {
                memory.grow(e)?;
                continue;
            }
        }
        found = true;
    }
}

/// Returns the number of the column named `name`. If there is none, returns the column that `name` starts with, and the
/// numbers of the fields that the rest of it names: `st.x` is field `x` of the struct column `st`.
fn located<P: Part>(part: &P, name: &str) -> Result<(usize, Vec<usize>)> {
    let mut path = Vec::new();
    if let Some(k) = part.find(name)? {
        return Ok((k, path));
    }
    for k in 0..part.width() {
        if let Some(rest) = after(part.name(k), name)?.and_then(|rest| rest.strip_prefix('.'))
            && step(&part.column(k)?, rest, &mut path)?
        {
            return Ok((k, path));
        }
    }
    Err(Error::unknown(What::COLUMN, name))
}

/// Appends the numbers of the fields that `name` names below `column` to `path`. Returns whether they exist.
fn step<C: Column>(column: &C, name: &str, path: &mut Vec<usize>) -> Result<bool> {
    let Type::Struct(_) = column.ty() else { return Ok(false) };
    for k in 0..column.ty().children() {
        let Some(rest) = after(column.child_name(k), name)? else { continue };
        path.push(k);
        let below = rest.strip_prefix('.');
        if rest.is_empty() || below.map_or(Ok(false), |below| step(&column.child(k)?, below, path))? {
            return Ok(true);
        }
        path.pop();
    }
    Ok(false)
}

/// Returns the part of `name` after `prefix`, or `None` if it starts with something else. A prefix that is not valid
/// UTF-8 is no part of a name.
fn after<'n>(prefix: Result<&str>, name: &'n str) -> Result<Option<&'n str>> {
    match prefix {
        Ok(prefix) => Ok(name.strip_prefix(prefix)),
        Err(e) if e.kind() == Kind::Utf8 => Ok(None),
        Err(e) => Err(e),
    }
}
