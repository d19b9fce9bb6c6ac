//! Decoded rows as a column.

use core::ops::Range;

use super::dtype::Dtype;
use super::fields::Field;
use crate::bytes::{Bits, Scratch, checked_product, len32, product, saturated};
use crate::column::{self, Batch, Prim, Ranges, Spans, Type, Validity, Values, VarBytes, aligned, cost};
use crate::encoding::bitmap;
use crate::error::{Error, Kind, Result, What};

/// Decoded rows of an array: contiguous items in the byte order of the file.
///
/// Rows of more than one dimension are nested [`Type::FixedList`]s, records are [`Type::Struct`]s.
///
/// ```
/// use pilaster::bcolz::{Column, Dtype};
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column as _, Type, Values};
///
/// // Two rows of three big-endian numbers each.
/// let data = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 0];
/// let column = Column::new(Dtype::parse(">i2")?, &[3], 2, &data)?;
/// assert_eq!((column.rows(), column.ty(), column.dtype().size()), (2, Type::FixedList(3), 2));
///
/// let numbers = column.child(0)?;
/// let mut memory = [0; 64];
/// let batch = numbers.read(3..6, &mut Scratch::new(&mut memory))?;
/// assert!(matches!(batch.values, Values::I16([4, 5, 256])));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Column<'p> {
    data: &'p [u8],
    /// Distance in bytes between two items; for a field of a record, the size of the record.
    stride: u32,
    /// Offset in bytes of the item in its stride.
    at: u32,
    rows: u64,
    inner: &'p [u64],
    dtype: Dtype<'p>,
    /// The span of each object in `data`.
    objects: &'p [[u32; 2]],
    /// The presence bitmap (1 = the row could be read), and the number of consecutive rows of this column that share a
    /// bit.
    there: Option<(&'p [u8], u64)>,
}

impl<'p> Column<'p> {
    /// Creates a column of `rows` rows over `data`: items of `dtype` in the byte order of the file. `inner` is the
    /// shape of a row, without the number of rows; it is empty for one item per row.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if `data` has another length, [`Kind::Misuse`] for objects, which have no fixed size.
    pub fn new(dtype: Dtype<'p>, inner: &'p [u64], rows: u64, data: &'p [u8]) -> Result<Self> {
        if dtype == Dtype::Object {
            return Err(Error::new(Kind::Misuse, What::BCOLZ_DTYPE, 0));
        }
        let items = inner.iter().try_fold(rows, |items, length| checked_product(items, *length));
        let bytes = items.and_then(|items| checked_product(items, dtype.size().into()));
        if bytes != Some(data.len() as u64) {
            return Err(Error::needing(Kind::Invalid, What::BCOLZ_ROWS, rows, data.len() as u64));
        }
        Ok(Column { data, stride: dtype.size(), at: 0, rows, inner, dtype, objects: &[], there: None })
    }

    /// Creates a column with a row for each object. `objects` are spans in `data`.
    #[cfg(feature = "std")]
    pub(super) const fn of_objects(objects: &'p [[u32; 2]], data: &'p [u8]) -> Self {
        let rows = objects.len() as u64;
        Column { data, stride: 1, at: 0, rows, inner: &[], dtype: Dtype::Object, objects, there: None }
    }

    /// Returns this column with a presence bitmap: rows whose bit is 0 are missing.
    #[cfg(feature = "std")]
    pub(super) const fn with_gaps(self, bits: &'p [u8]) -> Self {
        Column { there: Some((bits, 1)), ..self }
    }

    /// Checks that every row can be read: that all texts are valid, also inside of records.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a number that is not a character; `at` is the row.
    pub(super) fn check(&self) -> Result<()> {
        match self.dtype {
            Dtype::Struct(_) | Dtype::Text { .. } if !self.inner.is_empty() => column::Column::child(self, 0)?.check(),
            Dtype::Struct(fields) => fields.iter().try_for_each(|field| {
                let at = self.at.saturating_add(field.at);
                Column { dtype: field.dtype, at, ..*self }.check()
            }),
            Dtype::Text { big, .. } => (0..self.rows).try_for_each(|row| {
                let item = self.item(self.data, saturated(row));
                characters(item, big).try_for_each(|c| c.map(|_| ()).map_err(|code| no_character(row, code)))
            }),
            _ => Ok(()),
        }
    }

    /// Returns the number of scratch bytes that the presence bitmap may take in a batch.
    fn gaps_cost(&self, len: u64) -> u64 {
        if self.there.is_some() { len.div_ceil(8) } else { 0 }
    }

    /// Returns the validity of `len` rows starting at `first`: present rows, except for times that are not a time.
    fn validity<'s>(
        &self,
        first: u64,
        len: usize,
        times: Option<&[i64]>,
        scratch: &mut Scratch<'s>,
    ) -> Result<Validity<'s>> {
        let no_time = times.is_some_and(|values| bitmap::any(values, |time| time == i64::MIN));
        if self.there.is_none() && !no_time {
            return Ok(Validity::All);
        }
        let bits = scratch.take::<u8>(len.div_ceil(8))?;
        bits.fill(0);
        for (i, row) in (first..).take(len).enumerate() {
            let there = self.there.is_none_or(|(bits, each)| {
                let row = saturated(row.checked_div(each).unwrap_or(0));
                bits.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1)
            });
            let time = times.is_none_or(|values| values.get(i) != Some(&i64::MIN));
            if let (true, Some(bit)) = (there && time, bits.get_mut(i / 8)) {
                *bit |= 1 << (i % 8);
            }
        }
        Bits::new(bits, 0, len).map(Validity::Bits)
    }

    /// Returns the type of the items.
    #[must_use]
    pub const fn dtype(&self) -> Dtype<'p> {
        self.dtype
    }

    /// Returns how many of `rows` fit into a batch, and their bytes. The bytes of a batch are limited to `u32::MAX`,
    /// because the spans of strings have 32 bits.
    fn window(&self, rows: &Range<u64>) -> Result<(usize, &'p [u8])> {
        let missing = || Error::needing(Kind::OutOfRange, What::ROW, rows.end, self.rows);
        if rows.start > rows.end || rows.end > self.rows {
            return Err(missing());
        }
        let stride = u64::from(self.stride.max(1));
        let len = rows.end.saturating_sub(rows.start).min(u64::from(u32::MAX).checked_div(stride).unwrap_or(0));
        if !self.inner.is_empty() || self.dtype == Dtype::Object {
            return Ok((usize::try_from(len).map_err(|_| missing())?, &[]));
        }
        let (from, to) = (product(rows.start, stride), product(rows.start.saturating_add(len), stride));
        let (Ok(from), Ok(to)) = (usize::try_from(from), usize::try_from(to)) else { return Err(missing()) };
        let bytes = self.data.get(from..to).ok_or_else(missing)?;
        Ok((usize::try_from(len).map_err(|_| missing())?, bytes))
    }

    /// Returns items of `size` bytes as native numbers: the data in place if possible, otherwise copied.
    fn numbers<'s>(
        &self,
        bytes: &'p [u8],
        size: usize,
        big: bool,
        len: usize,
        scratch: &mut Scratch<'s>,
    ) -> Result<&'s [u8]>
    where
        'p: 's,
    {
        let native = size == 1 || big == cfg!(target_endian = "big");
        if native && self.stride as usize == size && aligned(bytes, size) {
            return Ok(bytes);
        }
        let values = scratch.cut(len, size, size)?;
        match size {
            1 => self.gather::<1>(bytes, native, values),
            2 => self.gather::<2>(bytes, native, values),
            4 => self.gather::<4>(bytes, native, values),
            _ => self.gather::<8>(bytes, native, values),
        }
        Ok(values)
    }

    fn gather<const N: usize>(&self, bytes: &[u8], native: bool, values: &mut [u8]) {
        let items = bytes.chunks_exact(self.stride.max(1) as usize);
        for (to, item) in values.as_chunks_mut::<N>().0.iter_mut().zip(items) {
            let Some(from) = item.get(self.at as usize..).and_then(|item| item.first_chunk()) else { break };
            *to = *from;
            if !native {
                to.reverse();
            }
        }
    }

    /// Returns the bytes of item `i`; empty after the last item.
    fn item(&self, bytes: &'p [u8], i: usize) -> &'p [u8] {
        let at = i.saturating_mul(self.stride as usize).saturating_add(self.at as usize);
        bytes.get(at..).and_then(|item| item.get(..self.dtype.size() as usize)).unwrap_or_default()
    }

    /// Returns field `k` of items that are records.
    fn field(&self, k: usize) -> Result<Field<'p>> {
        let field = match self.dtype {
            Dtype::Struct(fields) if self.inner.is_empty() => fields.iter().nth(k),
            _ => None,
        };
        let children = column::Column::ty(self).children();
        field.ok_or_else(|| Error::needing(Kind::OutOfRange, What::CHILD, k as u64, children as u64))
    }

    fn bits<'s>(&self, bytes: &'p [u8], len: usize, scratch: &mut Scratch<'s>) -> Result<Bits<'s>> {
        let bits = scratch.take::<u8>(len.div_ceil(8))?;
        bits.fill(0);
        for i in 0..len {
            if let (Some(bit), true) = (bits.get_mut(i / 8), self.item(bytes, i) != [0]) {
                *bit |= 1 << (i % 8);
            }
        }
        Bits::new(bits, 0, len)
    }

    /// Returns items as byte strings, without trailing NULs.
    fn bytes<'s>(&self, bytes: &'p [u8], len: usize, scratch: &mut Scratch<'s>) -> Result<VarBytes<'s>>
    where
        'p: 's,
    {
        let spans = scratch.take::<[u32; 2]>(len)?;
        let mut at = self.at;
        for (i, span) in spans.iter_mut().enumerate() {
            let item = self.item(bytes, i);
            let used = item.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
            *span = [at, len32(used)];
            at = at.saturating_add(self.stride);
        }
        Ok(VarBytes { data: bytes, spans: Spans::Each(spans) })
    }

    /// Converts UTF-32 items to UTF-8, without trailing NULs. `first` is the row of the first item, for errors.
    fn texts<'s>(
        &self,
        first: u64,
        bytes: &'p [u8],
        big: bool,
        len: usize,
        scratch: &mut Scratch<'s>,
    ) -> Result<VarBytes<'s>> {
        let spans = scratch.take::<[u32; 2]>(len)?;
        let data = scratch.take::<u8>(len.saturating_mul(self.dtype.size() as usize))?;
        let mut used = 0usize;
        for (i, span) in spans.iter_mut().enumerate() {
            let (start, item) = (used, self.item(bytes, i));
            let last = item.iter().rposition(|byte| *byte != 0).map_or(0, |last| (last / 4).saturating_add(1));
            for c in characters(item, big).take(last) {
                let c = match c {
                    Ok(c) => c,
                    // The row is missing, see `salvage::items`.
                    Err(_) if self.there.is_some() => break,
                    Err(code) => return Err(no_character(first.saturating_add(i as u64), code)),
                };
                // A character takes at most 4 bytes in UTF-8, and exactly 4 in UTF-32.
                let len = c.len_utf8();
                let Some(to) = data.get_mut(used..).and_then(|to| to.get_mut(..len)) else { break };
                c.encode_utf8(to);
                used = used.saturating_add(len);
            }
            *span = [len32(start), len32(used.saturating_sub(start))];
        }
        Ok(VarBytes { data, spans: Spans::Each(spans) })
    }

    fn fixed<'s>(&self, bytes: &'p [u8], len: usize, scratch: &mut Scratch<'s>) -> Result<VarBytes<'s>>
    where
        'p: 's,
    {
        let size = self.dtype.size();
        let spans = Spans::Stride { count: len, len: size };
        if self.stride == size {
            return Ok(VarBytes { data: bytes, spans });
        }
        let data = scratch.take::<u8>(len.saturating_mul(size as usize))?;
        for (i, to) in data.chunks_exact_mut(size.max(1) as usize).enumerate() {
            for (to, from) in to.iter_mut().zip(self.item(bytes, i)) {
                *to = *from;
            }
        }
        Ok(VarBytes { data, spans })
    }
}

/// Iterates over the characters of an item in UTF-32. A number that is not a character is an error.
fn characters(item: &[u8], big: bool) -> impl Iterator<Item = Result<char, u32>> + '_ {
    item.as_chunks::<4>().0.iter().map(move |unit| {
        let code = if big { u32::from_be_bytes(*unit) } else { u32::from_le_bytes(*unit) };
        char::from_u32(code).ok_or(code)
    })
}

#[cold]
fn no_character(row: u64, code: u32) -> Error {
    Error::needing(Kind::Invalid, What::TEXT, row, code.into())
}

impl<'p> column::Column for Column<'p> {
    fn ty(&self) -> Type {
        match self.inner.first() {
            // A longer list has more bytes than a part can contain.
            Some(length) => Type::FixedList(u32::try_from(*length).unwrap_or(u32::MAX)),
            None => self.dtype.ty(),
        }
    }

    fn nullable(&self) -> bool {
        self.there.is_some() || (self.inner.is_empty() && matches!(self.dtype, Dtype::Time { .. }))
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn child(&self, k: usize) -> Result<Self> {
        let mut child = *self;
        if let (Some((length, inner)), 0) = (self.inner.split_first(), k) {
            (child.inner, child.rows) = (inner, product(self.rows, *length));
            child.there = self.there.map(|(bits, each)| (bits, product(each, *length)));
        } else {
            let field = self.field(k)?;
            (child.dtype, child.at) = (field.dtype, self.at.saturating_add(field.at));
        }
        Ok(child)
    }

    fn child_name(&self, k: usize) -> Result<&str> {
        self.field(k).map(|field| field.name)
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        self.window(&rows)?;
        let len = rows.end.saturating_sub(rows.start);
        let gaps = self.gaps_cost(len);
        if !self.inner.is_empty() {
            return Ok(gaps);
        }
        Ok(gaps.saturating_add(match self.dtype {
            Dtype::Bool => len.div_ceil(8),
            Dtype::Number { prim, .. } => cost(prim.size(), len),
            Dtype::Time { .. } => cost(8, len).saturating_add(len.div_ceil(8)),
            Dtype::Bytes(_) => Scratch::cost::<[u32; 2]>(len),
            Dtype::Text { .. } => {
                Scratch::cost::<[u32; 2]>(len).saturating_add(len.saturating_mul(self.dtype.size().into()))
            }
            Dtype::Void(size) if self.stride != size => len.saturating_mul(size.into()),
            Dtype::Void(_) | Dtype::Struct(_) | Dtype::Object => 0,
        }))
    }

    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let first = rows.start;
        let (len, bytes) = self.window(&rows)?;
        let values = match (self.inner.first(), self.dtype) {
            (Some(size), _) => {
                let ranges = Ranges::Stride { first: product(first, *size), size: *size, count: len };
                Values::Nested(ranges)
            }
            (None, Dtype::Bool) => Values::Bool(self.bits(bytes, len, scratch)?),
            (None, Dtype::Number { prim, big }) => {
                Values::numbers(prim, self.numbers(bytes, prim.size(), big, len, scratch)?)
            }
            (None, Dtype::Time { big, .. }) => Values::numbers(Prim::I64, self.numbers(bytes, 8, big, len, scratch)?),
            (None, Dtype::Bytes(_)) => Values::Bytes(self.bytes(bytes, len, scratch)?),
            (None, Dtype::Text { big, .. }) => Values::Utf8(self.texts(first, bytes, big, len, scratch)?),
            (None, Dtype::Void(_)) => Values::Bytes(self.fixed(bytes, len, scratch)?),
            (None, Dtype::Struct(_)) => Values::Nested(Ranges::Stride { first, size: 1, count: len }),
            (None, Dtype::Object) => {
                let from = saturated(first);
                let spans = self.objects.get(from..).and_then(|spans| spans.get(..len)).unwrap_or_default();
                Values::Bytes(VarBytes { data: self.data, spans: Spans::Each(spans) })
            }
        };
        let times = match (&values, self.dtype) {
            (Values::I64(values), Dtype::Time { .. }) => Some(*values),
            _ => None,
        };
        Ok(Batch { first, len, values, validity: self.validity(first, len, times, scratch)?, of: *self })
    }
}
