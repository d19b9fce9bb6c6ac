//! Rows in memory, before they are encoded: values of missing rows are 0 or empty.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::dtype::{Logical, Shape};
use crate::bytes::{Bits, low8, saturated};
use crate::column::Prim;

/// Rows of a column.
#[derive(Clone, Debug)]
pub(in crate::vortex) struct Rows {
    pub len: usize,
    /// One bit per row, 1 = has a value. `None`: all have one.
    pub valid: Option<Bitmap>,
    pub data: Data,
}

/// Values of rows.
#[derive(Clone, Debug)]
pub(in crate::vortex) enum Data {
    Null,
    Bool(Bitmap),
    Numbers(Numbers),
    Texts(Texts),
    /// The end of each list in the items.
    List(Vec<u64>, Box<Rows>),
    /// Lists of this length; those of missing rows have items, too.
    Fixed(usize, Box<Rows>),
    Struct(Vec<Rows>),
}

/// Numbers, and the storage of decimals.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::vortex) enum Numbers {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    /// Bits of half floats.
    F16(Vec<u16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    I128(Vec<i128>),
    I256(Vec<[u64; 4]>),
}

/// Calls `$body` with the vector of any numbers as `$values`.
macro_rules! each_number {
    ($numbers:expr, $values:ident => $body:expr) => {
        match $numbers {
            Numbers::I8($values) => $body,
            Numbers::I16($values) => $body,
            Numbers::I32($values) => $body,
            Numbers::I64($values) => $body,
            Numbers::U8($values) => $body,
            Numbers::U16($values) => $body,
            Numbers::U32($values) => $body,
            Numbers::U64($values) => $body,
            Numbers::F16($values) => $body,
            Numbers::F32($values) => $body,
            Numbers::F64($values) => $body,
            Numbers::I128($values) => $body,
            Numbers::I256($values) => $body,
        }
    };
}

impl Numbers {
    pub fn new(prim: Prim) -> Self {
        match prim {
            Prim::I8 => Numbers::I8(Vec::new()),
            Prim::I16 => Numbers::I16(Vec::new()),
            Prim::I32 => Numbers::I32(Vec::new()),
            Prim::I64 => Numbers::I64(Vec::new()),
            Prim::U8 => Numbers::U8(Vec::new()),
            Prim::U16 => Numbers::U16(Vec::new()),
            Prim::U32 => Numbers::U32(Vec::new()),
            Prim::U64 => Numbers::U64(Vec::new()),
            Prim::F16 => Numbers::F16(Vec::new()),
            Prim::F32 => Numbers::F32(Vec::new()),
            Prim::F64 => Numbers::F64(Vec::new()),
        }
    }

    pub fn len(&self) -> usize {
        each_number!(self, values => values.len())
    }

    /// Returns the storage of decimals: the narrowest integers that hold `precision` digits.
    pub fn of_decimals(precision: u8) -> Self {
        match precision {
            0..=2 => Numbers::I8(Vec::new()),
            3..=4 => Numbers::I16(Vec::new()),
            5..=9 => Numbers::I32(Vec::new()),
            10..=18 => Numbers::I64(Vec::new()),
            19..=38 => Numbers::I128(Vec::new()),
            _ => Numbers::I256(Vec::new()),
        }
    }

    /// Returns the bits of some numbers of at most 64 bits.
    pub fn bits(&self, rows: Range<usize>) -> Vec<u64> {
        macro_rules! bits {
            ($values:expr, $of:expr) => {
                $values.get(rows).unwrap_or_default().iter().map($of).collect()
            };
        }
        match self {
            Numbers::I8(values) => bits!(values, |v| i64::from(*v).cast_unsigned()),
            Numbers::I16(values) => bits!(values, |v| i64::from(*v).cast_unsigned()),
            Numbers::I32(values) => bits!(values, |v| i64::from(*v).cast_unsigned()),
            Numbers::I64(values) => bits!(values, |v| v.cast_unsigned()),
            Numbers::U8(values) => bits!(values, |v| u64::from(*v)),
            Numbers::U16(values) | Numbers::F16(values) => bits!(values, |v| u64::from(*v)),
            Numbers::U32(values) => bits!(values, |v| u64::from(*v)),
            Numbers::U64(values) => bits!(values, |v| *v),
            Numbers::F32(values) => bits!(values, |v| v.to_bits().into()),
            Numbers::F64(values) => bits!(values, |v| v.to_bits()),
            Numbers::I128(_) | Numbers::I256(_) => Vec::new(),
        }
    }

    fn slice(&self, rows: Range<usize>) -> Self {
        macro_rules! part {
            ($($name:ident)*) => {
                match self {
                    $(Numbers::$name(values) => Numbers::$name(values.get(rows).unwrap_or_default().to_vec()),)*
                }
            };
        }
        part!(I8 I16 I32 I64 U8 U16 U32 U64 F16 F32 F64 I128 I256)
    }

    fn append(&mut self, other: Self) {
        macro_rules! join {
            ($($name:ident)*) => {
                match (self, other) {
                    $((Numbers::$name(values), Numbers::$name(mut other)) => values.append(&mut other),)*
                    _ => {}
                }
            };
        }
        join!(I8 I16 I32 I64 U8 U16 U32 U64 F16 F32 F64 I128 I256);
    }

    /// Returns the bytes of the numbers as the format stores them, and the size of one.
    pub fn stored(&self) -> (Vec<u8>, usize) {
        macro_rules! bytes {
            ($($name:ident)*) => {
                match self {
                    $(Numbers::$name(values) => {
                        let size = size_of_item(values);
                        let mut bytes = vec![0; values.len().saturating_mul(size)];
                        for (to, value) in bytes.chunks_exact_mut(size).zip(values) {
                            to.copy_from_slice(&value.to_le_bytes());
                        }
                        (bytes, size)
                    })*
                    Numbers::I256(values) => {
                        (values.iter().flatten().flat_map(|word| word.to_le_bytes()).collect(), 32)
                    }
                }
            };
        }
        bytes!(I8 I16 I32 I64 U8 U16 U32 U64 F16 F32 F64 I128)
    }
}

const fn size_of_item<T>(_: &[T]) -> usize {
    size_of::<T>()
}

/// Byte strings.
#[derive(Clone, Debug, Default)]
pub(in crate::vortex) struct Texts {
    pub bytes: Vec<u8>,
    /// The end of each one.
    pub ends: Vec<u64>,
}

impl Texts {
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u64);
    }

    /// Appends texts: all of their bytes, and the end of each in these.
    pub fn append(&mut self, bytes: &[u8], ends: impl Iterator<Item = u64>) {
        let start = self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        self.ends.extend(ends.map(|end| end.saturating_add(start)));
    }

    pub fn get(&self, i: usize) -> &[u8] {
        let start = i.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| saturated(*end));
        let end = self.ends.get(i).map_or(start, |end| saturated(*end));
        self.bytes.get(start..end).unwrap_or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|i| self.get(i))
    }

    /// Returns each text, and all bytes from its start on.
    pub fn iter_from(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let from = self.bytes.get(start..).unwrap_or_default();
            let len = saturated(*end).saturating_sub(start);
            start = saturated(*end);
            (from.get(..len).unwrap_or_default(), from)
        })
    }
}

/// Bits in bytes, the lowest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::vortex) struct Bitmap {
    pub bytes: Vec<u8>,
    pub len: usize,
}

impl Bitmap {
    pub fn filled(len: usize, bit: bool) -> Self {
        let mut all = Bitmap { bytes: vec![if bit { 0xff } else { 0 }; len.div_ceil(8)], len };
        if let (Some(last), 1..) = (all.bytes.last_mut(), len % 8) {
            *last &= low8((1usize << (len % 8)).wrapping_sub(1));
        }
        all
    }

    /// Copies bits.
    pub fn of(bits: &Bits<'_>) -> Self {
        let mut bytes: Vec<u8> = bits.words().flat_map(u64::to_le_bytes).collect();
        bytes.truncate(bits.len().div_ceil(8));
        Bitmap { bytes, len: bits.len() }
    }

    /// Returns the bits that are 1 in both bitmaps, which have the same length.
    pub fn and(&self, other: &Self) -> Self {
        let bytes = self.bytes.iter().zip(&other.bytes).map(|(a, b)| a & b).collect();
        Bitmap { bytes, len: self.len }
    }

    /// Returns the bits that are 1 here or 0 in `other`, which has the same length.
    pub fn or_not(&self, other: &Self) -> Self {
        let all = Bitmap::filled(self.len, true);
        let bytes = self.bytes.iter().zip(&other.bytes).zip(&all.bytes).map(|((a, b), all)| (a | !b) & all).collect();
        Bitmap { bytes, len: self.len }
    }

    /// Ones, and a zero at the end.
    pub fn all_but_last(len: usize) -> Self {
        let mut bits = Bitmap::filled(len.saturating_sub(1), true);
        bits.push(false);
        bits
    }

    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let (true, Some(last)) = (bit, self.bytes.last_mut()) {
            *last |= 1 << (self.len % 8);
        }
        self.len = self.len.wrapping_add(1);
    }

    pub fn get(&self, i: usize) -> bool {
        self.bytes.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1)
    }

    pub fn iter(&self) -> impl Iterator<Item = bool> {
        (0..self.len).map(|i| self.get(i))
    }

    pub fn ones(&self) -> usize {
        self.bytes.iter().map(|byte| byte.count_ones() as usize).fold(0, usize::saturating_add)
    }

    pub fn slice(&self, rows: Range<usize>) -> Self {
        if rows.start.is_multiple_of(8) {
            let mut part = Bitmap { bytes: Vec::new(), len: rows.len() };
            let bytes = self.bytes.get(rows.start / 8..).unwrap_or_default();
            part.bytes.extend(bytes.iter().take(rows.len().div_ceil(8)));
            if let (Some(last), 1..) = (part.bytes.last_mut(), rows.len() % 8) {
                *last &= low8((1usize << (rows.len() % 8)).wrapping_sub(1));
            }
            return part;
        }
        let mut part = Bitmap::default();
        rows.for_each(|i| part.push(self.get(i)));
        part
    }

    pub fn append(&mut self, other: &Self) {
        if self.len.is_multiple_of(8) {
            self.bytes.extend_from_slice(&other.bytes);
            self.len = self.len.saturating_add(other.len);
        } else {
            other.iter().for_each(|bit| self.push(bit));
        }
    }
}

impl FromIterator<bool> for Bitmap {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut all = Bitmap::default();
        bits.into_iter().for_each(|bit| all.push(bit));
        all
    }
}

impl Rows {
    /// Returns no rows of type `ty`.
    pub fn new(ty: &Logical) -> Self {
        let data = match &ty.shape {
            Shape::Null => Data::Null,
            Shape::Bool => Data::Bool(Bitmap::default()),
            Shape::Prim(prim) => Data::Numbers(Numbers::new(*prim)),
            Shape::Decimal { precision, .. } => Data::Numbers(Numbers::of_decimals(*precision)),
            Shape::Utf8 | Shape::Binary => Data::Texts(Texts::default()),
            Shape::List(item) => Data::List(Vec::new(), Box::new(Rows::new(item))),
            Shape::FixedList(size, item) => Data::Fixed(*size as usize, Box::new(Rows::new(item))),
            Shape::Struct(fields) => Data::Struct(fields.iter().map(|(_, ty)| Rows::new(ty)).collect()),
            #[cfg(feature = "vortex-variant")]
            Shape::Variant(pair) => Data::Struct(pair.iter().map(Rows::new).collect()),
            Shape::Map(pair) => {
                let entry = Data::Struct(pair.iter().map(Rows::new).collect());
                Data::List(Vec::new(), Box::new(Rows { len: 0, valid: None, data: entry }))
            }
        };
        Rows { len: 0, valid: None, data }
    }

    /// Returns the number of rows without a value.
    pub fn nulls(&self) -> usize {
        match (&self.data, &self.valid) {
            (Data::Null, _) => self.len,
            (_, None) => 0,
            (_, Some(valid)) => self.len.saturating_sub(valid.ones()),
        }
    }

    /// Returns whether row `i` has a value.
    pub fn has(&self, i: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid.get(i))
    }

    /// Returns the number of bytes that the rows take in memory.
    pub fn size(&self) -> u64 {
        let rest = match &self.data {
            Data::Texts(texts) => texts.bytes.len() as u64,
            Data::List(_, items) | Data::Fixed(_, items) => items.size(),
            Data::Struct(fields) => fields.iter().map(Rows::size).fold(0, u64::saturating_add),
            Data::Null | Data::Bool(_) | Data::Numbers(_) => 0,
        };
        let valid = self.valid.as_ref().map_or(0, |valid| valid.len.div_ceil(8) as u64);
        self.own_size(self.len).saturating_add(rest).saturating_add(valid)
    }

    /// Returns the number of bytes that `len` more rows take in memory, without validity, the bytes of texts, and
    /// children.
    pub fn own_size(&self, len: usize) -> u64 {
        match &self.data {
            Data::Null | Data::Fixed(..) | Data::Struct(_) => 0,
            Data::Bool(_) => len.div_ceil(8) as u64,
            Data::Numbers(numbers) => {
                (len as u64).saturating_mul(each_number!(numbers, values => size_of_item(values) as u64))
            }
            Data::Texts(_) | Data::List(..) => (len as u64).saturating_mul(8),
        }
    }

    /// Returns the number of bytes that `len` more blank rows take in memory.
    pub fn blank_size(&self, len: usize) -> u64 {
        let below = match &self.data {
            Data::Fixed(size, items) => items.blank_size(len.saturating_mul(*size)),
            Data::Struct(fields) => fields.iter().map(|field| field.blank_size(len)).fold(0, u64::saturating_add),
            _ => 0,
        };
        self.own_size(len).saturating_add(below)
    }

    /// Appends rows whose values nothing reads, because a row above is missing: 0, or empty.
    pub fn blank(&mut self, len: usize) {
        self.blank_values(len);
        self.append_validity(len, None);
    }

    /// Appends the values of blank rows.
    pub fn blank_values(&mut self, len: usize) {
        match &mut self.data {
            Data::Null => {}
            Data::Bool(to) => to.append(&Bitmap::filled(len, false)),
            Data::Numbers(to) => each_number!(to, values => {
                values.resize(values.len().saturating_add(len), Default::default());
            }),
            Data::Texts(to) => to.ends.resize(to.ends.len().saturating_add(len), to.bytes.len() as u64),
            Data::List(ends, items) => ends.resize(ends.len().saturating_add(len), items.len as u64),
            Data::Fixed(size, items) => items.blank(size.saturating_mul(len)),
            Data::Struct(fields) => fields.iter_mut().for_each(|field| field.blank(len)),
        }
    }

    /// Returns copies of some rows.
    pub fn slice(&self, rows: Range<usize>) -> Self {
        let data = match &self.data {
            Data::Null => Data::Null,
            Data::Bool(values) => Data::Bool(values.slice(rows.clone())),
            Data::Numbers(numbers) => Data::Numbers(numbers.slice(rows.clone())),
            Data::Texts(texts) => {
                let (start, ends) = part_of(&texts.ends, &rows);
                let last = ends.last().map_or(start, |end| end.saturating_add(start));
                let bytes = texts.bytes.get(saturated(start)..saturated(last)).unwrap_or_default().to_vec();
                Data::Texts(Texts { bytes, ends })
            }
            Data::List(all, items) => {
                let (start, ends) = part_of(all, &rows);
                let last = ends.last().map_or(start, |end| end.saturating_add(start));
                Data::List(ends, Box::new(items.slice(saturated(start)..saturated(last))))
            }
            Data::Fixed(size, items) => {
                let items = items.slice(rows.start.saturating_mul(*size)..rows.end.saturating_mul(*size));
                Data::Fixed(*size, Box::new(items))
            }
            Data::Struct(fields) => Data::Struct(fields.iter().map(|field| field.slice(rows.clone())).collect()),
        };
        let valid = self.valid.as_ref().map(|valid| valid.slice(rows.clone()));
        Rows { len: rows.len(), valid, data }
    }

    /// Removes all rows of type `ty`. The memory of numbers is kept: with new memory for each chunk, a table of floats
    /// (sensors) took 1.12 times as long to write. Kept memory of texts gained nothing.
    pub fn clear(&mut self, ty: &Logical) {
        match &mut self.data {
            Data::Numbers(numbers) => {
                (self.len, self.valid) = (0, None);
                each_number!(numbers, values => values.clear());
            }
            _ => *self = Rows::new(ty),
        }
    }

    /// Appends rows of the same type.
    pub fn append(&mut self, other: Rows) {
        if self.len == 0 && !matches!(self.data, Data::Numbers(_)) {
            *self = other;
            return;
        }
        let Rows { len, valid, data } = other;
        self.append_validity(len, valid);
        match (&mut self.data, data) {
            (Data::Bool(values), Data::Bool(other)) => values.append(&other),
            (Data::Numbers(values), Data::Numbers(other)) => values.append(other),
            (Data::Texts(texts), Data::Texts(other)) => {
                texts.append(&other.bytes, other.ends.iter().copied());
            }
            (Data::List(ends, items), Data::List(other, more)) => {
                let start = items.len as u64;
                ends.extend(other.iter().map(|end| end.saturating_add(start)));
                items.append(*more);
            }
            (Data::Fixed(_, items), Data::Fixed(_, more)) => items.append(*more),
            (Data::Struct(fields), Data::Struct(other)) => {
                fields.iter_mut().zip(other).for_each(|(field, other)| field.append(other));
            }
            _ => {}
        }
    }

    /// Counts `len` more rows, which have a value as `valid` says.
    pub fn append_validity(&mut self, len: usize, valid: Option<Bitmap>) {
        match (&mut self.valid, valid) {
            (None, None) => {}
            (Some(all), None) => all.append(&Bitmap::filled(len, true)),
            (all, Some(valid)) => all.get_or_insert_with(|| Bitmap::filled(self.len, true)).append(&valid),
        }
        self.len = self.len.saturating_add(len);
    }
}

/// Returns the offset before `rows`, and their ends counted from it.
fn part_of(ends: &[u64], rows: &Range<usize>) -> (u64, Vec<u64>) {
    let start = rows.start.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let ends = ends.get(rows.clone()).unwrap_or_default();
    (start, ends.iter().map(|end| end.saturating_sub(start)).collect())
}
