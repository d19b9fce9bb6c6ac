//! Columns over the memory of an application.

use core::ops::Range;

use super::{Batch, Column, Part, Ranges, Spans, Type, Validity, Values, VarBytes};
use crate::bytes::{Scratch, saturated};
use crate::error::{Error, Kind, Result, What};

/// A column of rows that the caller has in memory. It is read without a copy, and reading takes no scratch memory.
///
/// A slice of names and columns is a [`Part`]; [`Once`](super::Once) makes it a table for [`convert`](super::convert).
///
/// ```
/// use pilaster::bytes::{Bits, Scratch};
/// use pilaster::column::{Borrowed, Column, Part, Prim, Ranges, Spans, Type, Validity, Value, Values, VarBytes};
///
/// let names = VarBytes { data: b"RomeBern", spans: Spans::Off32(&[0, 4, 4, 8]) };
/// // Row 1 is missing.
/// let names = Borrowed::new(Type::Utf8, Values::Utf8(names)).with_validity(Validity::Bits(Bits::new(&[0b101], 0, 3)?));
/// let years = [("item", Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1870, 1848, 1999])))];
/// let lists = Values::Nested(Ranges::Off32(&[0, 1, 1, 3]));
/// let columns = [("city", names), ("years", Borrowed::new(Type::List, lists).with_children(&years))];
///
/// let part = &columns[..];
/// assert_eq!((part.rows(), part.width(), part.named("city")?.nullable()), (3, 2, true));
/// let batch = part.named("city")?.read(1..3, &mut Scratch::new(&mut []))?;
/// assert_eq!((batch.value(0)?, batch.value(1)?), (Value::Null, Value::Text(b"Bern")));
/// let batch = part.named("years")?.read(2..3, &mut Scratch::new(&mut []))?;
/// assert_eq!((batch.value(0)?, batch.of.child(0)?.rows()), (Value::Nested(1..3), 3));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Borrowed<'d> {
    ty: Type,
    nullable: bool,
    rows: usize,
    values: Values<'d>,
    validity: Validity<'d>,
    zone: Option<&'d str>,
    variant: bool,
    children: &'d [(&'d str, Borrowed<'d>)],
}

impl<'d> Borrowed<'d> {
    /// Creates a column in which no row is missing, without children. Reading is [`Kind::WrongType`] if `values` are not
    /// of `ty`.
    #[must_use]
    pub const fn new(ty: Type, values: Values<'d>) -> Self {
        let rows = values.len();
        let (nullable, validity) = (false, Validity::All);
        Borrowed { ty, nullable, rows, values, validity, zone: None, variant: false, children: &[] }
    }

    /// Creates a column of type [`Type::Null`].
    ///
    /// ```
    /// use pilaster::column::{Borrowed, Column, Type};
    ///
    /// assert_eq!((Borrowed::nulls(5).rows(), Borrowed::nulls(5).ty()), (5, Type::Null));
    /// ```
    #[must_use]
    pub const fn nulls(rows: usize) -> Self {
        let none = Borrowed::new(Type::Null, Values::Null);
        Borrowed { rows, nullable: true, validity: Validity::None, ..none }
    }

    /// Returns the column with rows that may be missing.
    #[must_use]
    pub const fn with_validity(self, validity: Validity<'d>) -> Self {
        Borrowed { nullable: true, validity, ..self }
    }

    /// Returns the column with a time zone, for timestamps.
    ///
    /// ```
    /// use pilaster::column::{Borrowed, Column, Type, Unit, Values};
    ///
    /// let column = Borrowed::new(Type::Timestamp(Unit::Second), Values::I64(&[0])).with_zone("Europe/Rome");
    /// assert_eq!(column.zone()?, Some("Europe/Rome"));
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    #[must_use]
    pub const fn with_zone(self, zone: &'d str) -> Self {
        Borrowed { zone: Some(zone), ..self }
    }

    /// Returns the column with the children of a nested type: the items of lists, the fields of structs, or the entries
    /// of maps, which are structs of key and value. The ranges of [`Values::Nested`] refer to their rows.
    #[must_use]
    pub const fn with_children(self, children: &'d [(&'d str, Borrowed<'d>)]) -> Self {
        Borrowed { children, ..self }
    }

    /// Returns the column of structs as variants: its children are `metadata` and `value`, both bytes, in the variant encoding
    /// of Apache Parquet.
    ///
    /// ```
    /// use pilaster::column::{Borrowed, Column, Ranges, Spans, Type, Values, VarBytes};
    ///
    /// // The values 7 and "x", without names of fields.
    /// let metadata = Values::Bytes(VarBytes { data: &[1, 0, 0, 1, 0, 0], spans: Spans::Off32(&[0, 3, 6]) });
    /// let value = Values::Bytes(VarBytes { data: &[0x0c, 7, 0x05, b'x'], spans: Spans::Off32(&[0, 2, 4]) });
    /// let children = [("metadata", Borrowed::new(Type::Bytes, metadata)), ("value", Borrowed::new(Type::Bytes, value))];
    /// let rows = Values::Nested(Ranges::Stride { first: 0, size: 1, count: 2 });
    /// let column = Borrowed::new(Type::Struct(2), rows).with_children(&children).as_variants();
    /// assert!(column.is_variant());
    /// ```
    #[must_use]
    pub const fn as_variants(self) -> Self {
        Borrowed { variant: true, ..self }
    }

    fn no_child(&self, k: usize) -> Error {
        Error::needing(Kind::OutOfRange, What::CHILD, k as u64, self.children.len() as u64)
    }
}

impl<'d> Column for Borrowed<'d> {
    fn ty(&self) -> Type {
        self.ty
    }

    fn nullable(&self) -> bool {
        self.nullable
    }

    fn rows(&self) -> u64 {
        self.rows as u64
    }

    fn zone(&self) -> Result<Option<&str>> {
        Ok(self.zone)
    }

    fn is_variant(&self) -> bool {
        self.variant
    }

    fn child(&self, k: usize) -> Result<Self> {
        self.children.get(k).map(|(_, child)| *child).ok_or_else(|| self.no_child(k))
    }

    fn child_name(&self, k: usize) -> Result<&str> {
        self.children.get(k).map(|(name, _)| *name).ok_or_else(|| self.no_child(k))
    }

    fn need(&self, _: Range<u64>) -> Result<u64> {
        Ok(0)
    }

    fn read<'s>(&self, rows: Range<u64>, _: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let Range { start, end } = rows;
        if start > end || end > self.rows as u64 {
            return Err(Error::needing(Kind::OutOfRange, What::ROW, end, self.rows as u64));
        }
        let (from, to) = (saturated(start), saturated(end));
        let len = to.saturating_sub(from);
        let column: Borrowed<'s> = *self;
        let values = column.values.part(from..to).ok_or_else(|| Error::new(Kind::WrongType, self.ty.what(), start))?;
        let validity = match column.validity {
            Validity::Bits(bits) => Validity::Bits(bits.slice(from, len)?),
            all => all,
        };
        Ok(Batch { first: start, len, values, validity, of: *self })
    }
}

impl<'d> Part for &'d [(&'d str, Borrowed<'d>)] {
    type Col = Borrowed<'d>;

    fn rows(&self) -> u64 {
        self.first().map_or(0, |(_, column)| column.rows())
    }

    fn width(&self) -> usize {
        self.len()
    }

    fn name(&self, k: usize) -> Result<&str> {
        self.get(k).map(|(name, _)| *name).ok_or_else(|| super::no_column(k, self.len()))
    }

    fn column(&self, k: usize) -> Result<Borrowed<'d>> {
        self.get(k).map(|(_, column)| *column).ok_or_else(|| super::no_column(k, self.len()))
    }
}

impl<'s> Values<'s> {
    /// Returns the number of rows, 0 for [`Values::Null`].
    const fn len(&self) -> usize {
        match self {
            Values::Null => 0,
            Values::Bool(bits) => bits.len(),
            Values::I8(values) => values.len(),
            Values::U8(values) => values.len(),
            Values::I16(values) => values.len(),
            Values::U16(values) | Values::F16(values) => values.len(),
            Values::I32(values) => values.len(),
            Values::U32(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::I64(values) => values.len(),
            Values::U64(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::I128(values) => values.len(),
            Values::I256(values) => values.len(),
            Values::Bytes(texts) | Values::Utf8(texts) => texts.len(),
            Values::Nested(ranges) => ranges.len(),
        }
    }

    /// Returns the values of some rows, or `None` if they do not exist.
    fn part(self, rows: Range<usize>) -> Option<Self> {
        Some(match self {
            Values::Null => Values::Null,
            Values::Bool(bits) => Values::Bool(bits.slice(rows.start, rows.len()).ok()?),
            Values::I8(values) => Values::I8(values.get(rows)?),
            Values::U8(values) => Values::U8(values.get(rows)?),
            Values::I16(values) => Values::I16(values.get(rows)?),
            Values::U16(values) => Values::U16(values.get(rows)?),
            Values::F16(values) => Values::F16(values.get(rows)?),
            Values::I32(values) => Values::I32(values.get(rows)?),
            Values::U32(values) => Values::U32(values.get(rows)?),
            Values::F32(values) => Values::F32(values.get(rows)?),
            Values::I64(values) => Values::I64(values.get(rows)?),
            Values::U64(values) => Values::U64(values.get(rows)?),
            Values::F64(values) => Values::F64(values.get(rows)?),
            Values::I128(values) => Values::I128(values.get(rows)?),
            Values::I256(values) => Values::I256(values.get(rows)?),
            Values::Bytes(texts) => Values::Bytes(texts.part(rows)?),
            Values::Utf8(texts) => Values::Utf8(texts.part(rows)?),
            Values::Nested(ranges) => Values::Nested(ranges.part(rows)?),
        })
    }
}

impl VarBytes<'_> {
    fn part(self, rows: Range<usize>) -> Option<Self> {
        let (mut data, count) = (self.data, rows.len());
        let spans = match self.spans {
            Spans::Off32(offsets) => Spans::Off32(offsets.get(rows.start..rows.end.checked_add(1)?)?),
            Spans::Off64(offsets) => Spans::Off64(offsets.get(rows.start..rows.end.checked_add(1)?)?),
            Spans::Each(spans) => Spans::Each(spans.get(rows)?),
            Spans::Stride { len, .. } => {
                data = data.get(rows.start.checked_mul(len as usize)?..)?;
                Spans::Stride { count, len }
            }
            Spans::Slots { first, size, lens } => {
                let before = size.checked_mul(u32::try_from(rows.start).ok()?)?;
                Spans::Slots { first: first.checked_add(before)?, size, lens: lens.get(rows)? }
            }
            Spans::Same { .. } => Spans::Same { count },
        };
        Some(VarBytes { data, spans })
    }
}

impl Ranges<'_> {
    fn part(self, rows: Range<usize>) -> Option<Self> {
        Some(match self {
            Ranges::Stride { first, size, .. } => {
                let before = size.checked_mul(rows.start as u64)?;
                Ranges::Stride { first: first.checked_add(before)?, size, count: rows.len() }
            }
            Ranges::Off32(offsets) => Ranges::Off32(offsets.get(rows.start..rows.end.checked_add(1)?)?),
            Ranges::Off64(offsets) => Ranges::Off64(offsets.get(rows.start..rows.end.checked_add(1)?)?),
            Ranges::Each(spans) => Ranges::Each(spans.get(rows)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Bits;
    use crate::column::{Prim, Value};
    use std::vec::Vec;

    /// The values of rows 1 and 2 of three.
    fn two(values: Values<'static>) -> Vec<Value<'static>> {
        let column = Borrowed::new(Type::Null, values);
        assert_eq!(column.rows(), 3);
        let batch = column.read(1..3, &mut Scratch::new(&mut [])).unwrap();
        assert_eq!((batch.first, batch.len), (1, 2));
        [0, 1].map(|i| batch.value(i).unwrap()).to_vec()
    }

    #[test]
    fn rows_are_read_from_every_kind_of_values() {
        let ints = || Vec::from([Value::Int(2), Value::Int(3)]);
        assert_eq!(two(Values::Bool(Bits::new(&[0b0100], 0, 3).unwrap())), [Value::Bool(false), Value::Bool(true)]);
        assert_eq!(two(Values::I8(&[1, 2, 3])), ints());
        assert_eq!(two(Values::U8(&[1, 2, 3])), ints());
        assert_eq!(two(Values::I16(&[1, 2, 3])), ints());
        assert_eq!(two(Values::U16(&[1, 2, 3])), ints());
        assert_eq!(two(Values::I32(&[1, 2, 3])), ints());
        assert_eq!(two(Values::U32(&[1, 2, 3])), ints());
        assert_eq!(two(Values::I64(&[1, 2, 3])), ints());
        assert_eq!(two(Values::U64(&[1, 2, 3])), ints());
        assert_eq!(two(Values::I128(&[1, 2, 3])), ints());
        assert_eq!(two(Values::I256(&[[1; 4], [2; 4], [3; 4]])), [Value::Int256([2; 4]), Value::Int256([3; 4])]);
        assert_eq!(two(Values::F16(&[1, 2, 3])), [Value::F16(2), Value::F16(3)]);
        assert_eq!(two(Values::F32(&[1.0, 2.0, 3.0])), [Value::F32(2.0), Value::F32(3.0)]);
        assert_eq!(two(Values::F64(&[1.0, 2.0, 3.0])), [Value::F64(2.0), Value::F64(3.0)]);
    }

    #[test]
    fn rows_are_read_from_every_kind_of_spans_and_ranges() {
        const SPANS: &[[u32; 2]] = &[[4, 1], [2, 2], [4, 2]];
        for spans in [
            Spans::Off32(&[0, 2, 4, 6]),
            Spans::Off64(&[0, 2, 4, 6]),
            Spans::Each(SPANS),
            Spans::Stride { count: 3, len: 2 },
            Spans::Slots { first: 0, size: 2, lens: &[1, 2, 2] },
        ] {
            let texts = VarBytes { data: b"aabbcc", spans };
            assert_eq!(two(Values::Utf8(texts)), [Value::Text(b"bb"), Value::Text(b"cc")]);
            assert_eq!(two(Values::Bytes(texts)), [Value::Bytes(b"bb"), Value::Bytes(b"cc")]);
        }
        let same = VarBytes { data: b"x", spans: Spans::Same { count: 3 } };
        assert_eq!(two(Values::Utf8(same)), [Value::Text(b"x"), Value::Text(b"x")]);
        for ranges in [
            Ranges::Off32(&[0, 2, 4, 6]),
            Ranges::Off64(&[0, 2, 4, 6]),
            Ranges::Each(SPANS),
            Ranges::Stride { first: 0, size: 2, count: 3 },
        ] {
            assert_eq!(two(Values::Nested(ranges)), [Value::Nested(2..4), Value::Nested(4..6)]);
        }
    }

    #[test]
    fn what_does_not_exist_is_an_error() {
        let column = Borrowed::new(Type::Prim(Prim::I8), Values::I8(&[1, 2]));
        let read = |rows| column.read(rows, &mut Scratch::new(&mut [])).unwrap_err();
        assert_eq!((read(1..3).kind(), read(1..3).at(), read(1..3).need()), (Kind::OutOfRange, 3, 2));
        #[allow(clippy::reversed_empty_ranges, reason = "that is the error")]
        let reversed = read(2..1);
        assert_eq!(reversed.kind(), Kind::OutOfRange);
        assert_eq!(column.child(0).unwrap_err().what(), What::CHILD);
        assert_eq!(column.child_name(0).unwrap_err().kind(), Kind::OutOfRange);
        let part = &[("a", column)][..];
        assert_eq!(part.name(1).unwrap_err().what(), What::COLUMN);
        assert_eq!(part.column(1).unwrap_err().need(), 1);
    }
}
