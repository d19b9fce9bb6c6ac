//! The rows of a dataset, part by part.

use core::ops::Range;
use std::vec::Vec;

use super::array::Array;
use super::dataset::Dataset;
use super::files::{Files, too_large};
use super::{Column, Dtype, salvage};
use crate::bytes::{Scratch, saturated};
use crate::column::{self, Bookmark, no_column};
use crate::error::{Cause, Error, Failure, Kind, Result, What};

/// The rows of a dataset, read part by part.
///
/// ```
/// use pilaster::bcolz::Dataset;
/// use pilaster::bcolz::write::{FileSystem, Spec, Writer};
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column as _, Part as _, Prim, Table as _, Type, Values};
///
/// # let dir = std::env::temp_dir().join(format!("pilaster-table-{}", std::process::id()));
/// let spec = Spec { chunklen: Some(2), ..Spec::new("uint8") };
/// let mut writer = Writer::create_array(FileSystem::default(), &dir, &spec)?;
/// writer.put(0, &[5, 6, 7])?;
/// writer.finish()?;
/// std::fs::remove_file(dir.join("data/__1.blp"))?;
///
/// let dataset = Dataset::open(&dir)?;
/// let mut memory = vec![0; dataset.need()? as usize];
/// let mut scratch = Scratch::new(&mut memory);
/// let mut table = dataset.table();
/// let part = table.next_part(&mut scratch.scope())?.unwrap();
/// assert!(matches!(part.column(0)?.read(0..2, &mut Scratch::new(&mut []))?.values, Values::U8([5, 6])));
///
/// // The second chunk is missing.
/// assert!(table.next_part(&mut scratch.scope()).is_err());
/// assert_eq!(table.failed().unwrap().path, dir.join("data/__1.blp"));
///
/// // The types are known without a chunk.
/// table.choose(Some(&[]));
/// let part = table.next_part(&mut scratch)?.unwrap();
/// assert_eq!((part.column(0)?.ty(), part.column(0)?.rows()), (Type::Prim(Prim::U8), 0));
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Table<'d> {
    dataset: &'d Dataset,
    /// The first row of the next part; `None` after the last part.
    next: Option<u64>,
    part_rows: u64,
    /// Whether the rows of each array are left out; empty if all arrays are read.
    left_out: Vec<bool>,
    files: Files,
    failed: Option<Failure>,
}

/// The location of the items of an array in the memory of a part: offset and length in bytes, the index of the first
/// span if they are objects, and the number of rows.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Slot {
    at: u64,
    len: u64,
    spans: u64,
    rows: u64,
}

impl<'d> Table<'d> {
    pub(super) fn new(dataset: &'d Dataset) -> Self {
        let (left_out, files) = (Vec::new(), Files::default());
        Table { dataset, next: Some(0), part_rows: dataset.part_rows(), left_out, files, failed: None }
    }

    /// Returns the file and the cause of the last error of [`next_part`](column::Table::next_part); `None` if there was
    /// no error, or if it concerns no file.
    #[must_use]
    pub const fn failed(&self) -> Option<&Failure> {
        self.failed.as_ref()
    }

    /// Like [`failed`](Self::failed), but moves the failure out.
    pub(super) const fn take_failure(&mut self) -> Option<Failure> {
        self.failed.take()
    }

    /// Continues at `row`; after the last part if there is no such row.
    pub(super) fn go_to(&mut self, row: u64) {
        self.next = Some(row).filter(|row| *row < self.dataset.rows());
    }

    fn part<'p>(&mut self, rows: Range<u64>, outer: &mut Scratch<'p>) -> Result<Part<'p>>
    where
        Self: 'p,
    {
        let arrays = self.dataset.arrays();
        let len = rows.end.saturating_sub(rows.start);
        let slots = outer.take::<Slot>(arrays.len())?;
        let (mut end, mut spans) = (0u64, 0u64);
        for (k, (slot, array)) in slots.iter_mut().zip(arrays).enumerate() {
            if self.left_out.get(k) == Some(&true) {
                *slot = Slot { at: end, len: 0, spans, rows: 0 };
                continue;
            }
            let bytes = if array.row > 0 {
                len.checked_mul(array.row).ok_or_else(|| too_large(len))?
            } else {
                self.objects(array, rows.clone())?
            };
            *slot = Slot { at: end, len: bytes, spans, rows: len };
            // The next array begins aligned.
            end =
                end.checked_add(bytes).and_then(|end| end.checked_next_multiple_of(8)).ok_or_else(|| too_large(end))?;
            spans = spans.saturating_add(if array.row > 0 { 0 } else { len });
        }
        let count = |n: u64| usize::try_from(n).map_err(|_| too_large(n));
        let spans = outer.take::<[u32; 2]>(count(spans)?)?;
        let data: &mut [u8] = bytemuck::cast_slice_mut(outer.take::<u64>(count(end / 8)?)?);
        let tolerant = self.dataset.is_tolerant();
        let bits = if tolerant { len.div_ceil(8) } else { 0 };
        let there = outer.take::<u8>(count(bits.saturating_mul(arrays.len() as u64))?)?;
        there.fill(0);
        for (k, (slot, array)) in slots.iter().zip(arrays).enumerate().filter(|(_, (slot, _))| slot.rows > 0) {
            let to = range(slot.at, slot.len).and_then(|range| data.get_mut(range)).unwrap_or_default();
            if tolerant {
                let at = bits.saturating_mul(k as u64);
                let there = range(at, bits).and_then(|range| there.get_mut(range)).unwrap_or_default();
                let spans = range(slot.spans, len).and_then(|range| spans.get_mut(range)).unwrap_or_default();
                match array.row {
                    0 => salvage::objects(&mut self.files, array, rows.start, spans, to, there),
                    _ => salvage::items(&mut self.files, array, rows.clone(), to, there),
                }
            } else if array.row > 0 {
                self.items(array, rows.clone(), to)?;
            } else {
                let spans = range(slot.spans, len).and_then(|range| spans.get_mut(range)).unwrap_or_default();
                self.pickles(array, rows.start, spans, to)?;
            }
        }
        Ok(Part { arrays, slots, spans, data, there, rows: len })
    }

    /// Stores a failure for [`failed`](Self::failed) and converts it to an [`Error`]. `number` is the number of the
    /// chunk.
    fn note<T>(&mut self, number: u64, done: Result<T, Failure>) -> Result<T> {
        done.map_err(|failure| {
            // An `Error` has no path and no I/O error.
            let e = match failure.cause {
                Cause::Format(e) => e,
                Cause::Io(_) => Error::new(Kind::Truncated, What::BCOLZ_FILE, number),
            };
            self.failed = Some(failure);
            e
        })
    }

    /// Decodes `rows` of an array into `to`, which has their exact size.
    fn items(&mut self, array: &Array, rows: Range<u64>, mut to: &mut [u8]) -> Result<()> {
        let mut row = rows.start;
        while row < rows.end {
            let number = row.checked_div(array.chunklen()).unwrap_or(0);
            let skip = row.saturating_sub(number.saturating_mul(array.chunklen()));
            let take = array.chunk_rows(number).saturating_sub(skip).min(rows.end.saturating_sub(row)).max(1);
            let bytes = saturated(take.saturating_mul(array.row));
            let Some((now, rest)) = core::mem::take(&mut to).split_at_mut_checked(bytes) else { break };
            let done = self.files.decode(array, number, skip.saturating_mul(array.row), now);
            self.note(number, done)?;
            (to, row) = (rest, row.saturating_add(take));
        }
        Ok(())
    }

    /// Returns the total size in bytes of the objects of `rows`.
    fn objects(&mut self, array: &Array, rows: Range<u64>) -> Result<u64> {
        if self.dataset.is_tolerant() {
            return Ok(salvage::objects_len(&mut self.files, array, rows));
        }
        let mut sum = 0u64;
        for row in rows {
            let nbytes = self.files.open(array, row).map(|chunk| chunk.nbytes() as u64);
            sum = sum.saturating_add(self.note(row, nbytes)?);
        }
        // Spans have 32 bits.
        if sum > u32::MAX.into() { Err(too_large(sum)) } else { Ok(sum) }
    }

    /// Decodes consecutive objects of an array, starting at row `first`, to `to` without gaps. Stores the span of each.
    fn pickles(&mut self, array: &Array, first: u64, spans: &mut [[u32; 2]], mut to: &mut [u8]) -> Result<()> {
        let mut at = 0u32;
        for (row, span) in (first..).zip(spans) {
            let done = self.files.decode_all(array, row, to);
            let nbytes = self.note(row, done)?;
            let len = u32::try_from(nbytes).map_err(|_| too_large(nbytes as u64))?;
            *span = [at, len];
            at = at.saturating_add(len);
            to = to.get_mut(nbytes..).unwrap_or_default();
        }
        Ok(())
    }
}

fn range(at: u64, len: u64) -> Option<Range<usize>> {
    Some(usize::try_from(at).ok()?..usize::try_from(at.checked_add(len)?).ok()?)
}

impl column::Table for Table<'_> {
    type Part<'p>
        = Part<'p>
    where
        Self: 'p;

    fn next_part<'p>(&mut self, outer: &mut Scratch<'p>) -> Result<Option<Part<'p>>>
    where
        Self: 'p,
    {
        self.failed = None;
        let Some(first) = self.next else { return Ok(None) };
        let end = first.saturating_add(self.part_rows).min(self.dataset.rows());
        let part = self.part(first..end, outer)?;
        self.go_to(end);
        Ok(Some(part))
    }

    fn skip(&mut self, rows: u64) -> Result<u64> {
        let Some(first) = self.next else { return Ok(0) };
        let left = self.dataset.rows().saturating_sub(first);
        let part = rows.checked_rem(self.part_rows).unwrap_or(0);
        let skipped = if rows >= left { left } else { rows.saturating_sub(part) };
        self.go_to(first.saturating_add(skipped));
        Ok(skipped)
    }

    fn bookmark(&self) -> Bookmark {
        match self.next {
            Some(0) => Bookmark::START,
            next => Bookmark::new(next.unwrap_or(u64::MAX), 1),
        }
    }

    fn seek(&mut self, to: Bookmark) -> Result<()> {
        self.next = Some(0);
        if to != Bookmark::START {
            self.go_to(to.numbers().0);
        }
        Ok(())
    }

    fn choose(&mut self, columns: Option<&[usize]>) -> bool {
        self.left_out.clear();
        let Some(columns) = columns else { return true };
        self.left_out.resize(self.dataset.arrays().len(), true);
        for k in columns {
            self.left_out.get_mut(*k).into_iter().for_each(|left_out| *left_out = false);
        }
        true
    }

    fn lists(&self, name: &str) -> bool {
        self.dataset.arrays().iter().any(|array| array.name() == name)
    }
}

/// Decoded rows of a dataset. A dataset without rows has one part without rows.
#[derive(Clone, Copy, Debug)]
pub struct Part<'p> {
    arrays: &'p [Array],
    slots: &'p [Slot],
    spans: &'p [[u32; 2]],
    data: &'p [u8],
    /// The presence bitmaps of all arrays (1 = the row could be read); empty if the dataset was opened strictly.
    there: &'p [u8],
    rows: u64,
}

impl<'p> Part<'p> {
    /// Returns the presence bitmap of column `k`; `None` if the dataset was opened strictly.
    pub(super) fn there(&self, k: usize) -> Option<&'p [u8]> {
        let bits = self.rows.div_ceil(8);
        let at = bits.saturating_mul(k as u64);
        range(at, bits).and_then(|range| self.there.get(range)).filter(|_| !self.there.is_empty())
    }

    /// Returns the bytes of all rows of column `k`, and the spans of its objects in them.
    pub(super) fn bytes(&self, k: usize) -> (&'p [u8], &'p [[u32; 2]]) {
        let Some(slot) = self.slots.get(k) else { return (&[], &[]) };
        let data = range(slot.at, slot.len).and_then(|range| self.data.get(range)).unwrap_or_default();
        (data, range(slot.spans, slot.rows).and_then(|range| self.spans.get(range)).unwrap_or_default())
    }
}

impl<'p> column::Part for Part<'p> {
    type Col = Column<'p>;

    fn rows(&self) -> u64 {
        self.rows
    }

    fn width(&self) -> usize {
        self.arrays.len()
    }

    fn name(&self, k: usize) -> Result<&str> {
        self.arrays.get(k).map(Array::name).ok_or_else(|| no_column(k, self.arrays.len()))
    }

    fn column(&self, k: usize) -> Result<Column<'p>> {
        let Some(array) = self.arrays.get(k) else { return Err(no_column(k, self.arrays.len())) };
        let (data, spans) = self.bytes(k);
        let column = match array.dtype() {
            Dtype::Object => Column::of_objects(spans, data),
            dtype => Column::new(dtype, array.shape().inner(), self.slots.get(k).map_or(0, |slot| slot.rows), data)?,
        };
        Ok(self.there(k).map_or(column, |bits| column.with_gaps(bits)))
    }
}
