//! Rows for the page: the addresses of the values of a batch, as words that JavaScript reads.
//!
//! A node is eight words: form of the values, rows, validity (0: all rows have a value, 1: no row has one, else the
//! address of a bitmap), three words about the values, rows of the children, and number of children. The form is 0 for
//! nulls, the size of one number in bytes, or one of the constants below; JavaScript knows the type of the column. The
//! nodes of each child follow until its rows are complete. All addresses are valid until the next call.

use alloc::vec::Vec;
use core::ops::Range;

use pilaster::Result;
use pilaster::any::Column;
use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{Batch, Column as _, Ranges, Validity, Values, VarBytes};
use pilaster::error::{Error, Kind, What};

use crate::describe::NESTED;
use crate::heap::reserve;

/// Maximum number of rows of children per call.
const CHILD_ROWS: u64 = 1 << 22;

/// Form: one bit per row.
const BOOL: u32 = 64;
/// Form: strings.
const STRINGS: u32 = 65;
/// Form: rows of children.
const CHILDREN: u32 = 66;

/// The words of one call.
pub struct Tape {
    pub words: Vec<u32>,
    children: u64,
}

/// The words of a node that locate its values.
#[derive(Clone, Copy, Default)]
struct Place {
    form: u32,
    /// Address and length in bytes of the values, or of the bytes that strings point into.
    values: [u32; 2],
    /// Address of the starts, which are followed by the lengths.
    spans: u32,
}

impl Place {
    fn of(form: u32, values: &[u8]) -> Self {
        Place { form, values: [address(values), values.len() as u32], spans: 0 }
    }
}

fn address<T>(values: &[T]) -> u32 {
    values.as_ptr() as usize as u32
}

impl Tape {
    pub const fn new() -> Self {
        Tape { words: Vec::new(), children: 0 }
    }

    pub fn clear(&mut self) {
        self.words.clear();
        self.children = 0;
    }

    /// Adds `rows` of `column` to the tape. The values stay in `scratch`.
    pub fn column<'s>(&mut self, column: &Column<'s>, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<()> {
        let mut row = rows.start;
        loop {
            let batch = column.read(row..rows.end, scratch)?;
            self.batch(&batch, scratch)?;
            row = row.saturating_add(batch.len as u64);
            if row >= rows.end {
                return Ok(());
            }
            if batch.len == 0 {
                return Err(Error::new(Kind::Truncated, What::ROW, row));
            }
        }
    }

    /// Adds a batch, followed by the rows of its children that belong to it.
    fn batch<'s>(&mut self, batch: &Batch<'s, Column<'s>>, scratch: &mut Scratch<'s>) -> Result<()> {
        let validity = &batch.validity;
        let place = match &batch.values {
            Values::Null => Place::default(),
            Values::Bool(bits) => Place::of(BOOL, bitmap(*bits, scratch)?),
            Values::Bytes(v) => strings(v, validity, false, scratch)?,
            Values::Utf8(v) => strings(v, validity, true, scratch)?,
            Values::Nested(rows) if NESTED => return self.nested(batch, rows, scratch),
            Values::Nested(_) => Place::default(),
            numbers => {
                let (bytes, size) = numbers.number_bytes().unwrap_or_default();
                Place::of(size as u32, bytes)
            }
        };
        self.node(place, batch.len, validity, 0, 0, scratch)
    }

    fn nested<'s>(
        &mut self,
        batch: &Batch<'s, Column<'s>>,
        rows: &Ranges<'_>,
        scratch: &mut Scratch<'s>,
    ) -> Result<()> {
        let Batch { first, len, validity, of, .. } = batch;
        let (first, len) = (*first, *len);
        let mut all = Range { start: u64::MAX, end: 0 };
        for i in (0..len).filter(|i| validity.get(*i)) {
            let range = rows.get(i)?;
            if !range.is_empty() {
                (all.start, all.end) = (all.start.min(range.start), all.end.max(range.end));
            }
        }
        if all.start > all.end {
            all = 0..0;
        }
        let count = all.end.saturating_sub(all.start);
        self.children = self.children.saturating_add(count);
        if self.children > CHILD_ROWS {
            return Err(Error::needing(Kind::Limit, What::MAX_ROWS, first, CHILD_ROWS));
        }
        let spans = scratch.take::<u32>(len.saturating_mul(2))?;
        let (starts, lens) = spans.split_at_mut_checked(len).unwrap_or_default();
        for (i, (start, len)) in starts.iter_mut().zip(lens).enumerate() {
            let range = if validity.get(i) { rows.get(i)? } else { 0..0 };
            let range = if range.is_empty() { all.start..all.start } else { range };
            // Both are below CHILD_ROWS.
            *start = range.start.saturating_sub(all.start) as u32;
            *len = range.end.saturating_sub(range.start) as u32;
        }
        let children = of.ty().children();
        let place = Place { form: CHILDREN, values: [0; 2], spans: address(spans) };
        self.node(place, len, validity, count as u32, children as u32, scratch)?;
        for k in 0..children {
            let child = of.child(k)?;
            // A child may have fewer rows than its parent claims.
            if all.end > child.rows() {
                return Err(Error::needing(Kind::OutOfRange, What::CHILD, all.end, child.rows()));
            }
            self.column(&child, all.clone(), scratch)?;
        }
        Ok(())
    }

    fn node(
        &mut self,
        place: Place,
        rows: usize,
        validity: &Validity<'_>,
        child_rows: u32,
        children: u32,
        scratch: &mut Scratch<'_>,
    ) -> Result<()> {
        let validity = match validity {
            Validity::All => 0,
            Validity::None => 1,
            Validity::Bits(bits) => address(bitmap(*bits, scratch)?),
        };
        let [at, len] = place.values;
        reserve(&mut self.words, 8)?;
        self.words.extend([place.form, rows as u32, validity, at, len, place.spans, child_rows, children]);
        Ok(())
    }

    /// Adds strings that are not rows of a column.
    pub fn strings(&mut self, strings: &VarBytes<'_>, scratch: &mut Scratch<'_>) -> Result<()> {
        let place = self::strings(strings, &Validity::All, false, scratch)?;
        self.node(place, strings.len(), &Validity::All, 0, 0, scratch)
    }
}

/// Copies `bits` so that the first one is bit 0 of a byte; bits after the last are padding.
fn bitmap<'s>(bits: Bits<'_>, scratch: &mut Scratch<'s>) -> Result<&'s [u8]> {
    let (from, first) = bits.as_bytes();
    let mut from = from.get(first >> 3..).unwrap_or_default().iter();
    let mut next = || from.next().copied().unwrap_or_default();
    let to = scratch.take::<u8>(bits.len().div_ceil(8))?;
    let mut low = next();
    for byte in to.iter_mut() {
        let high = next();
        *byte = (u16::from_le_bytes([low, high]) >> (first & 7)) as u8;
        low = high;
    }
    Ok(to)
}

/// Writes starts and lengths of the strings; the values are the bytes from the first string to the last.
fn strings(strings: &VarBytes<'_>, validity: &Validity<'_>, text: bool, scratch: &mut Scratch<'_>) -> Result<Place> {
    let rows = strings.len();
    let spans = scratch.take::<u32>(rows.saturating_mul(2))?;
    let (starts, lens) = spans.split_at_mut_checked(rows).unwrap_or_default();
    let base = strings.data.as_ptr() as usize;
    let (mut from, mut to) = (usize::MAX, 0);
    for (i, (start, len)) in starts.iter_mut().zip(lens).enumerate() {
        let bytes = match validity.get(i) {
            false => &[][..],
            true if text => strings.text(i)?.as_bytes(),
            true => strings.get(i)?,
        };
        let at = if bytes.is_empty() { 0 } else { (bytes.as_ptr() as usize).wrapping_sub(base) };
        if !bytes.is_empty() {
            (from, to) = (from.min(at), to.max(at.saturating_add(bytes.len())));
        }
        (*start, *len) = (at as u32, bytes.len() as u32);
    }
    let data = strings.data.get(from..to).unwrap_or_default();
    let from = if data.is_empty() { 0 } else { from as u32 };
    starts_from(spans, rows, from);
    Ok(Place { form: STRINGS, values: [address(data), data.len() as u32], spans: address(spans) })
}

fn starts_from(spans: &mut [u32], rows: usize, from: u32) {
    for start in spans.iter_mut().take(rows) {
        *start = start.saturating_sub(from);
    }
}
