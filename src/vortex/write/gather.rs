//! Copies batches to rows in memory, within a budget of bytes.

use alloc::vec::Vec;
use core::ops::Range;

use super::digits;
use super::dtype::{Logical, Shape};
use super::rows::{Bitmap, Data, Numbers, Rows, Texts};
use crate::bytes::saturated;
use crate::column::{Batch, Column, Memory, Ranges, Spans, Type, Validity, Values, VarBytes};
#[cfg(feature = "vortex-variant")]
use crate::encoding::variant;
use crate::error::{Error, Kind, Result, What};
use crate::simd::are_texts;

/// Scratch size in bytes for batches, unless one row takes more: enough for 8,192 rows of most types.
const ROOM: u64 = 1 << 18;

/// Copies rows: the budget, and memory for batches of children, one for each level of nesting.
#[derive(Debug, Default)]
pub(super) struct Gather {
    /// Number of bytes that may still be copied.
    left: u64,
    most: u64,
    /// Whether the budget was too small.
    over: bool,
    memories: Vec<Memory>,
}

/// The type of rows that are copied. The entries of a map have no [`Logical`] of their own.
#[derive(Clone, Copy, Debug)]
enum Of<'t> {
    Type(&'t Logical),
    Entry(&'t [Logical; 2]),
    /// The values of variants. A missing value is written as null.
    #[cfg(feature = "vortex-variant")]
    Value(&'t Logical),
}

impl<'t> Of<'t> {
    const fn nullable(self) -> bool {
        match self {
            Of::Type(ty) => ty.nullable,
            #[cfg(feature = "vortex-variant")]
            Of::Value(ty) => ty.nullable,
            Of::Entry(_) => false,
        }
    }

    /// Returns the bytes of missing texts.
    const fn filler(self) -> &'static [u8] {
        #[cfg(feature = "vortex-variant")]
        if let Of::Value(_) = self {
            return &[variant::NULL];
        }
        &[]
    }

    /// Checks that decimals, the new ones from place `start` on, have no more digits than their type; `row` is the row of
    /// the first new one.
    fn check_digits(self, numbers: &Numbers, start: usize, row: u64) -> Result<()> {
        match self {
            Of::Type(Logical { shape: Shape::Decimal { precision, .. }, .. }) => {
                let excess = digits::excess(numbers, start, *precision);
                let lossy = |i| Err(Error::new(Kind::Lossy, What::VORTEX_DIGITS, row.saturating_add(i as u64)));
                excess.map_or(Ok(()), lossy)
            }
            _ => Ok(()),
        }
    }

    fn child(self, k: usize) -> Option<Of<'t>> {
        match self {
            Of::Entry(pair) => pair.get(k).map(Of::Type),
            Of::Type(ty) => match &ty.shape {
                Shape::List(item) | Shape::FixedList(_, item) => Some(Of::Type(item)),
                Shape::Map(pair) => Some(Of::Entry(pair)),
                Shape::Struct(fields) => fields.get(k).map(|(_, ty)| Of::Type(ty)),
                #[cfg(feature = "vortex-variant")]
                Shape::Variant(pair) => pair.get(k).map(if k == 0 { Of::Type } else { Of::Value }),
                _ => None,
            },
            #[cfg(feature = "vortex-variant")]
            Of::Value(_) => None,
        }
    }
}

/// Which child rows belong to a row that has a value: the others are blank.
#[derive(Clone, Copy, Debug)]
struct Above<'r> {
    /// One bit per row above; `None`: all have a value.
    rows: Option<&'r Bitmap>,
    /// Number of child rows per row.
    size: usize,
    /// Number of child rows that were copied before.
    done: usize,
}

impl Above<'_> {
    const ALL: Above<'static> = Above { rows: None, size: 1, done: 0 };

    fn after(self, rows: usize) -> Self {
        Above { done: self.done.saturating_add(rows), ..self }
    }

    /// Returns which of the next `len` child rows have a row above, or `None` if all have one.
    fn next(&self, len: usize) -> Option<Bitmap> {
        let rows = self.rows?;
        if self.size == 1 {
            return Some(rows.slice(self.done..self.done.saturating_add(len)));
        }
        let of = |i: usize| self.done.saturating_add(i).checked_div(self.size).is_some_and(|row| rows.get(row));
        Some((0..len).map(of).collect())
    }
}

impl Gather {
    /// Appends the rows `rows` of a batch of `column`, children included, to rows of type `ty`. They take at most `most`
    /// bytes in memory. After an error, `to` is of no use.
    ///
    /// # Errors
    /// [`Kind::Limit`] if they take more; [`Kind::Lossy`] with the row if one is missing where the type does not allow
    /// it, or is a decimal of more digits than the type has; [`Kind::Invalid`] if a row of a struct or fixed-size list has another number of child rows; errors of the
    /// column, among them of a text that is not valid UTF-8.
    pub fn rows<C: Column>(
        &mut self,
        (to, ty): (&mut Rows, &Logical),
        column: &C,
        batch: &Batch<'_, C>,
        rows: Range<usize>,
        most: u64,
    ) -> Result<()> {
        (self.left, self.most, self.over) = (most, most, false);
        self.batch((to, Of::Type(ty)), column, batch, rows, Above::ALL)
    }

    /// Returns whether the last error was a budget that was too small.
    pub const fn is_over(&self) -> bool {
        self.over
    }

    fn spend(&mut self, bytes: u64) -> Result<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => {
                self.over = true;
                return Err(Error::needing(Kind::Limit, What::MAX_DECODED, 0, self.most));
            }
        }
        Ok(())
    }

    fn batch<C: Column>(
        &mut self,
        (to, of): (&mut Rows, Of<'_>),
        column: &C,
        batch: &Batch<'_, C>,
        rows: Range<usize>,
        above: Above<'_>,
    ) -> Result<()> {
        let len = rows.len();
        self.spend(to.own_size(len))?;
        let own = if matches!(to.data, Data::Null) { None } else { validity(&batch.validity, &rows)? };
        let above = above.next(len);
        let bits = usize::from(own.is_some()).saturating_add(above.is_some().into()).saturating_mul(len.div_ceil(8));
        self.spend(bits as u64)?;
        let (stored, there) = match (own, above) {
            (own, None) => (own.clone(), own),
            (None, above) => (None, above),
            (Some(own), Some(above)) => (Some(own.or_not(&above)), Some(own.and(&above))),
        };
        // A byte replaces the missing bytes of a variant.
        let stored = stored.filter(|stored| of.filler().is_empty() && stored.ones() < len);
        let there = there.filter(|there| there.ones() < len);
        if let (Some(stored), false) = (&stored, of.nullable()) {
            let missing = stored.iter().position(|there| !there).unwrap_or(0).saturating_add(rows.start);
            return Err(Error::new(Kind::Lossy, column.ty().what(), batch.first.saturating_add(missing as u64)));
        }
        self.values((to, of), column, batch, rows, there.as_ref())?;
        to.append_validity(len, stored);
        Ok(())
    }

    /// Appends the values of rows; the bits of `there` say which have one.
    fn values<C: Column>(
        &mut self,
        (to, of): (&mut Rows, Of<'_>),
        column: &C,
        batch: &Batch<'_, C>,
        rows: Range<usize>,
        there: Option<&Bitmap>,
    ) -> Result<()> {
        let wrong = || Error::new(Kind::WrongType, column.ty().what(), 0);
        let has = |i: usize| there.is_none_or(|there| there.get(i));
        match (&mut to.data, batch.values) {
            (Data::Null, _) => {}
            (_, Values::Null) if rows.is_empty() || there.is_some_and(|there| there.ones() == 0) => {
                to.blank_values(rows.len());
            }
            (Data::Bool(to), Values::Bool(bits)) => {
                let values = Bitmap::of(&bits.slice(rows.start, rows.len())?);
                to.append(&there.map_or_else(|| values.clone(), |there| values.and(there)));
            }
            (Data::Numbers(to), values) => {
                let (start, row) = (to.len(), batch.first.saturating_add(rows.start as u64));
                numbers(to, &values, rows, there).ok_or_else(wrong)?;
                of.check_digits(to, start, row)?;
            }
            (Data::Texts(to), Values::Utf8(texts) | Values::Bytes(texts)) => {
                let before = (to.bytes.len(), to.ends.len());
                self.texts((to, of.filler()), &texts, rows.clone(), there)?;
                if column.ty() == Type::Utf8 && !is_utf8(to, before) {
                    rows.enumerate().filter(|(i, _)| has(*i)).try_for_each(|(_, row)| texts.text(row).map(|_| ()))?;
                }
            }
            (Data::List(ends, items), Values::Nested(ranges)) => {
                let (child, item) = (batch.of.child(0)?, of.child(0).ok_or_else(wrong)?);
                let mut runs = Runs::new(self, (items, item), &child);
                for (i, row) in rows.enumerate() {
                    if has(i) {
                        runs.take(ranges.get(row)?)?;
                    }
                    ends.push(runs.rows());
                }
                runs.flush()?;
            }
            (Data::Fixed(size, items), Values::Nested(ranges)) => {
                let (child, item) = (batch.of.child(0)?, of.child(0).ok_or_else(wrong)?);
                self.strides((items, item), &child, (&ranges, *size), rows, there)?;
            }
            (Data::Struct(fields), Values::Nested(ranges)) => {
                for (k, field) in fields.iter_mut().enumerate() {
                    let (child, item) = (batch.of.child(k)?, of.child(k).ok_or_else(wrong)?);
                    self.strides((field, item), &child, (&ranges, 1), rows.clone(), there)?;
                }
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// Appends texts; `filler` in place of a missing one.
    fn texts(
        &mut self,
        (to, filler): (&mut Texts, &[u8]),
        texts: &VarBytes<'_>,
        rows: Range<usize>,
        there: Option<&Bitmap>,
    ) -> Result<()> {
        if let Some((bytes, ends)) = adjacent(texts, &rows, there).filter(|_| there.is_none() || filler.is_empty()) {
            self.spend(bytes.len() as u64)?;
            to.append(bytes, ends);
            return Ok(());
        }
        for (i, row) in rows.enumerate() {
            let text = if there.is_none_or(|there| there.get(i)) { texts.get(row)? } else { filler };
            self.spend(text.len() as u64)?;
            to.push(text);
        }
        Ok(())
    }

    /// Appends `size` rows of a child for each row, a field or the items of fixed-size lists. Those of a missing row are
    /// blank.
    fn strides<C: Column>(
        &mut self,
        (to, of): (&mut Rows, Of<'_>),
        child: &C,
        (ranges, size): (&Ranges<'_>, usize),
        rows: Range<usize>,
        there: Option<&Bitmap>,
    ) -> Result<()> {
        let (first, last) = (rows.start, rows.end.saturating_sub(1));
        if rows.is_empty() || there.is_some_and(|there| there.ones() == 0) {
            return self.blank(to, rows.len().saturating_mul(size));
        }
        if let Ranges::Stride { size: step, .. } = ranges
            && *step == size as u64
        {
            let all = ranges.get(first)?.start..ranges.get(last)?.end;
            return self.range((to, of), child, all, Above { rows: there, size, done: 0 });
        }
        let mut runs = Runs::new(self, (to, of), child);
        for (i, row) in rows.enumerate() {
            if there.is_some_and(|there| !there.get(i)) {
                runs.gap(size)?;
                continue;
            }
            let Range { start, end } = ranges.get(row)?;
            if end.saturating_sub(start) != size as u64 {
                return Err(Error::needing(Kind::Invalid, What::CHILD, start, end));
            }
            runs.take(start..end)?;
        }
        runs.flush()
    }

    /// Appends rows of a child.
    fn range<C: Column>(
        &mut self,
        to: (&mut Rows, Of<'_>),
        child: &C,
        rows: Range<u64>,
        above: Above<'_>,
    ) -> Result<()> {
        let mut memory = self.memory()?;
        let (to, of) = to;
        let mut above = above;
        let done = each_batch(child, rows, &mut memory, &mut |batch| {
            self.batch((&mut *to, of), child, batch, 0..batch.len, above)?;
            above = above.after(batch.len);
            Ok(())
        });
        self.release(memory);
        done
    }

    /// Returns memory for batches. [`release`](Self::release) keeps it for the next ones.
    pub fn memory(&mut self) -> Result<Memory> {
        self.memories.pop().map_or_else(|| Memory::with_len(ROOM), Ok)
    }

    pub fn release(&mut self, memory: Memory) {
        self.memories.push(memory);
    }

    /// Appends rows below a missing row.
    fn blank(&mut self, to: &mut Rows, len: usize) -> Result<()> {
        self.spend(to.blank_size(len))?;
        to.blank(len);
        Ok(())
    }
}

/// Child rows that are read in runs as long as possible.
struct Runs<'r, 't, C> {
    gather: &'r mut Gather,
    items: (&'r mut Rows, Of<'t>),
    child: &'r C,
    run: Range<u64>,
    /// Number of blank rows, if there is no run.
    blank: usize,
}

impl<'r, 't, C: Column> Runs<'r, 't, C> {
    const fn new(gather: &'r mut Gather, items: (&'r mut Rows, Of<'t>), child: &'r C) -> Self {
        Runs { gather, items, child, run: 0..0, blank: 0 }
    }

    /// Returns the number of child rows, those that wait included.
    fn rows(&self) -> u64 {
        let waiting = self.run.end.saturating_sub(self.run.start).saturating_add(self.blank as u64);
        (self.items.0.len as u64).saturating_add(waiting)
    }

    fn take(&mut self, rows: Range<u64>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        if self.run.is_empty() || self.run.end != rows.start {
            self.flush()?;
            self.run = rows;
        } else {
            self.run.end = rows.end;
        }
        Ok(())
    }

    fn gap(&mut self, rows: usize) -> Result<()> {
        if !self.run.is_empty() {
            self.flush()?;
        }
        self.blank = self.blank.saturating_add(rows);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let (to, of) = (&mut *self.items.0, self.items.1);
        self.gather.blank(to, core::mem::take(&mut self.blank))?;
        let rows = core::mem::replace(&mut self.run, 0..0);
        if rows.is_empty() {
            return Ok(());
        }
        self.gather.range((to, of), self.child, rows, Above::ALL)
    }
}

/// Reads rows in batches that fit into `memory`, which grows if one row does not fit.
pub(super) fn each_batch<C: Column, E: From<Error>>(
    column: &C,
    rows: Range<u64>,
    memory: &mut Memory,
    with: &mut impl FnMut(&Batch<'_, C>) -> Result<(), E>,
) -> Result<(), E> {
    let mut row = rows.start;
    while row < rows.end {
        let fitting = memory.fit(column, row..rows.end)?;
        let most = fitting.end.saturating_sub(row);
        let batch = column.read(fitting, &mut memory.scratch())?;
        if batch.len == 0 || batch.len as u64 > most {
            return Err(Error::needing(Kind::Invalid, What::ROW, row, batch.len as u64).into());
        }
        with(&batch)?;
        row = row.saturating_add(batch.len as u64);
    }
    Ok(())
}

/// Returns which of the rows have a value, or `None` if all have one.
fn validity(validity: &Validity<'_>, rows: &Range<usize>) -> Result<Option<Bitmap>> {
    Ok(match validity {
        Validity::All => None,
        Validity::None => Some(Bitmap::filled(rows.len(), false)),
        Validity::Bits(bits) => Some(Bitmap::of(&bits.slice(rows.start, rows.len())?)),
    })
}

/// Returns the bytes of rows whose texts follow each other, and the end of each in these bytes; `None` if they may not, if
/// a missing one has bytes, or if an offset is wrong.
fn adjacent<'b>(
    texts: &VarBytes<'b>,
    rows: &Range<usize>,
    there: Option<&Bitmap>,
) -> Option<(&'b [u8], impl Iterator<Item = u64> + use<'b>)> {
    let Spans::Off32(offsets) = texts.spans else { return None };
    let (first, ends) = offsets.get(rows.start..=rows.end)?.split_first()?;
    let bytes = texts.data.get(*first as usize..*ends.last()? as usize)?;
    let mut before = first;
    let mut fits = true;
    for (i, end) in ends.iter().enumerate() {
        fits &= before <= end;
        if let Some(there) = there {
            fits &= before == end || there.get(i);
        }
        before = end;
    }
    fits.then(|| (bytes, ends.iter().map(|end| end.wrapping_sub(*first).into())))
}

/// Returns whether the texts after the first ones are UTF-8. `before`: the bytes of those and their number.
fn is_utf8(texts: &Texts, (bytes, count): (usize, usize)) -> bool {
    let ends = texts.ends.get(count..).unwrap_or_default();
    let bounds = ends.iter().map(|end| saturated(*end).saturating_sub(bytes));
    are_texts(texts.bytes.get(bytes..).unwrap_or_default(), bounds)
}

/// Appends the numbers of a batch. Returns `None` if they have another type.
fn numbers(to: &mut Numbers, values: &Values<'_>, rows: Range<usize>, there: Option<&Bitmap>) -> Option<()> {
    macro_rules! push {
        ($($name:ident)*) => {
            match (to, values) {
                $((Numbers::$name(to), Values::$name(values)) => push(to, values.get(rows)?, there),)*
                _ => return None,
            }
        };
    }
    push!(I8 I16 I32 I64 U8 U16 U32 U64 F16 F32 F64 I128 I256);
    Some(())
}

fn push<T: Copy + Default>(to: &mut Vec<T>, values: &[T], there: Option<&Bitmap>) {
    match there {
        None => to.extend_from_slice(values),
        Some(there) => {
            to.extend(values.iter().zip(there.iter()).map(|(v, there)| if there { *v } else { T::default() }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_without_gaps_are_copied_at_once() {
        fn copied<'b>(offsets: &'b [u32], rows: Range<usize>, there: Option<&[bool]>) -> Option<(&'b [u8], Vec<u64>)> {
            let texts = VarBytes { data: b"abcdef", spans: Spans::Off32(offsets) };
            let there = there.map(|there| there.iter().copied().collect::<Bitmap>());
            adjacent(&texts, &rows, there.as_ref()).map(|(bytes, ends)| (bytes, ends.collect()))
        }
        assert_eq!(copied(&[1, 3, 3, 6], 0..3, None), Some((&b"bcdef"[..], Vec::from([2, 2, 5]))));
        assert_eq!(copied(&[1, 3, 3, 6], 1..3, Some(&[false, true])), Some((&b"def"[..], Vec::from([0, 3]))));
        // A missing text with bytes, and offsets that descend, exceed the bytes, or are too few.
        assert_eq!(copied(&[1, 3, 3, 6], 1..3, Some(&[true, false])), None);
        assert_eq!(copied(&[1, 5, 3, 6], 0..3, None), None);
        assert_eq!(copied(&[1, 3, 7], 0..2, None), None);
        assert_eq!(copied(&[1, 3, 6], 0..3, None), None);
    }
}
