//! Lists, structs and maps.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
    StructArray, UInt64Array, cast::AsArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef, Fields};
use pilaster::column::{Column, Ranges};
use pilaster::error::{Error as FileError, Kind, What};

use crate::Error;
use crate::array::{all, ascending, too_long, wrong_type};
use crate::held::{HeldRanges, Home, too_large};
use crate::join;

/// Rows of a nested column.
pub(crate) struct Nested<C> {
    pub ranges: HeldRanges,
    pub len: usize,
    pub nulls: Option<NullBuffer>,
    pub of: C,
}

/// The child rows of a batch.
struct ChildRows {
    /// Where each row starts, and the end, counted from the first child row.
    offsets: Vec<u64>,
    /// The rows to read.
    rows: Range<u64>,
    /// Which of them, if not all in order.
    order: Option<UInt64Array>,
}

impl<C: Column> Nested<C> {
    pub(crate) fn array(self, ty: &DataType, home: &mut Home) -> Result<ArrayRef, Error> {
        if self.ranges.ranges().len() < self.len {
            return Err(FileError::new(Kind::Truncated, What::ROW, self.len as u64).into());
        }
        match ty {
            DataType::Struct(fields) => self.fields(fields, home),
            DataType::FixedSizeList(field, size) => self.fixed(field, *size, home),
            DataType::List(field) => self.list::<i32>(field, home),
            DataType::LargeList(field) => self.list::<i64>(field, home),
            DataType::ListView(field) => self.views(field, home),
            DataType::Map(entries, _) => self.map(entries, home),
            _ => Err(wrong_type()),
        }
    }

    fn present(&self, i: usize) -> bool {
        self.nulls.as_ref().is_none_or(|nulls| i < nulls.len() && nulls.is_valid(i))
    }

    /// Finds the child rows of every row; a missing one has `none` of them, at the place where it stands.
    fn children(&self, none: u64, limit: u64) -> Result<ChildRows, Error> {
        let ranges = self.ranges.ranges();
        if let (Ranges::Each(spans), None, true) = (ranges, &self.nulls, none == 0)
            && let Some(found) = consecutive(spans.get(..self.len).unwrap_or_default())
        {
            return Ok(found);
        }
        let (mut offsets, mut end, mut rows) =
            (Vec::with_capacity(self.len.saturating_add(1)), 0u64, None::<Range<u64>>);
        offsets.push(0);
        let mut ordered = true;
        for i in 0..self.len {
            let mut count = none;
            if self.present(i) || none > 0 && matches!(self.ranges, HeldRanges::Stride { .. }) {
                let range = ranges.get(i)?;
                count = range.end.saturating_sub(range.start);
                if count > 0 {
                    let all = rows.get_or_insert(range.clone());
                    ordered &= all.start.checked_add(end) == Some(range.start);
                    *all = all.start.min(range.start)..all.end.max(range.end);
                }
            } else {
                ordered &= none == 0;
            }
            end = end.saturating_add(count);
            offsets.push(end);
        }
        let rows = rows.unwrap_or(0..0);
        let order = if ordered { None } else { Some(self.order(&rows, none, end, limit)?) };
        Ok(ChildRows { offsets, rows, order })
    }

    /// Returns the child rows one by one, counted from the start of `rows`.
    fn order(&self, rows: &Range<u64>, none: u64, total: u64, limit: u64) -> Result<UInt64Array, Error> {
        let bytes = total.saturating_mul(8);
        if bytes > limit {
            return Err(too_large(0, bytes));
        }
        let ranges = self.ranges.ranges();
        let mut order = Vec::new();
        for i in 0..self.len {
            if self.present(i) {
                let range = ranges.get(i)?;
                order.extend(range.map(|row| Some(row.saturating_sub(rows.start))));
            } else {
                order.extend((0..none).map(|_| None));
            }
        }
        Ok(order.into())
    }

    fn child(&self, k: usize, which: &ChildRows, ty: &DataType, home: &mut Home) -> Result<ArrayRef, Error> {
        let array = all(&self.of.child(k)?, which.rows.clone(), ty, home)?;
        match &which.order {
            None => Ok(array),
            Some(order) => {
                let taken = join::take(&array, order, home.room)?;
                home.copy(taken.get_buffer_memory_size() as u64);
                Ok(taken)
            }
        }
    }

    fn fields(self, fields: &Fields, home: &mut Home) -> Result<ArrayRef, Error> {
        let which = match self.ranges {
            HeldRanges::Stride { first, size: 1, .. } => {
                let end = first.checked_add(self.len as u64).ok_or_else(wrong_type)?;
                ChildRows { offsets: Vec::new(), rows: first..end, order: None }
            }
            _ => self.children(1, home.room)?,
        };
        let arrays = fields.iter().enumerate().map(|(k, field)| self.child(k, &which, field.data_type(), home));
        let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), arrays, self.nulls, self.len)?))
    }

    fn fixed(self, field: &FieldRef, size: i32, home: &mut Home) -> Result<ArrayRef, Error> {
        let each = u64::from(size.unsigned_abs());
        let which = match self.ranges {
            HeldRanges::Stride { first, size, .. } if size == each => {
                let end = each.checked_mul(self.len as u64).and_then(|rows| first.checked_add(rows));
                ChildRows { offsets: Vec::new(), rows: first..end.ok_or_else(wrong_type)?, order: None }
            }
            _ => self.children(each, home.room)?,
        };
        let values = self.child(0, &which, field.data_type(), home)?;
        let array = FixedSizeListArray::try_new_with_length(Arc::clone(field), size, values, self.nulls, self.len)?;
        Ok(Arc::new(array))
    }

    /// Returns the offsets of lists and their child rows.
    fn offsets<O: OffsetSizeTrait>(&self, home: &mut Home) -> Result<(OffsetBuffer<O>, ChildRows), Error> {
        let stored = match (&self.ranges, O::IS_LARGE) {
            (HeldRanges::Off32(offsets), false) | (HeldRanges::Off64(offsets), true) => Some(offsets.clone()),
            _ => None,
        };
        if let Some(stored) = stored.filter(|stored| stored.as_ptr().align_offset(size_of::<O>()) == 0) {
            let stored: ScalarBuffer<O> = stored.into();
            let ends = (stored.first().map(|first| first.as_usize()), stored.last().and_then(|last| last.to_usize()));
            if let (Some(0), Some(end)) = ends
                && ascending(&stored)
            {
                let which = ChildRows { offsets: Vec::new(), rows: 0..end as u64, order: None };
                return Ok((OffsetBuffer::new(stored), which));
            }
        }
        let which = self.children(0, home.room)?;
        let narrow = |at: &u64| usize::try_from(*at).ok().and_then(O::from_usize).ok_or_else(|| too_long(usize::MAX));
        let offsets = which.offsets.iter().map(narrow).collect::<Result<Vec<O>, _>>()?;
        if !ascending(&offsets) {
            return Err(wrong_type());
        }
        home.copy(size_of_val(offsets.as_slice()) as u64);
        Ok((OffsetBuffer::new(offsets.into()), which))
    }

    fn list<O: OffsetSizeTrait>(self, field: &FieldRef, home: &mut Home) -> Result<ArrayRef, Error> {
        let (offsets, which) = self.offsets::<O>(home)?;
        let values = self.child(0, &which, field.data_type(), home)?;
        Ok(Arc::new(GenericListArray::<O>::try_new(Arc::clone(field), offsets, values, self.nulls)?))
    }

    fn map(self, entries: &FieldRef, home: &mut Home) -> Result<ArrayRef, Error> {
        let (offsets, which) = self.offsets::<i32>(home)?;
        let values = self.child(0, &which, entries.data_type(), home)?;
        let values = values.as_struct_opt().ok_or_else(wrong_type)?.clone();
        Ok(Arc::new(MapArray::try_new(Arc::clone(entries), offsets, values, self.nulls, false)?))
    }

    fn views(self, field: &FieldRef, home: &mut Home) -> Result<ArrayRef, Error> {
        let ranges = self.ranges.ranges();
        // Loops of their own, which do not ask in each row how the lists are stored.
        let placed = match (ranges, &self.nulls) {
            (Ranges::Each(spans), None) => Placed::new(spans.iter().take(self.len).map(place), home)?,
            (Ranges::Each(spans), Some(nulls)) if nulls.len() == self.len => {
                let rows = spans.iter().zip(nulls.iter());
                Placed::new(rows.map(|(span, present)| if present { place(span) } else { 0..0 }), home)?
            }
            _ => {
                let range = |i: usize| if self.present(i) { Ok(ranges.get(i)?) } else { Ok(0..0) };
                let all = (0..self.len).map(range).collect::<Result<Vec<_>, Error>>()?;
                Placed::new(all.iter().cloned(), home)?
            }
        };
        let values = all(&self.of.child(0)?, placed.rows, field.data_type(), home)?;
        let (offsets, sizes) = (home.pool.buffer(placed.offsets).into(), home.pool.buffer(placed.sizes).into());
        let array = GenericListViewArray::<i32>::try_new(Arc::clone(field), offsets, sizes, values, self.nulls)?;
        Ok(Arc::new(array))
    }
}

/// Returns the child rows of lists each of which starts at the end of the one before; `None` for other lists.
fn consecutive(spans: &[[u32; 2]]) -> Option<ChildRows> {
    let start = spans.iter().find(|[_, len]| *len > 0).map_or(0, |[at, _]| u64::from(*at));
    let mut offsets = Vec::with_capacity(spans.len().saturating_add(1));
    let (mut end, mut ordered) = (0u64, true);
    offsets.push(0);
    for [at, len] in spans {
        ordered &= *len == 0 || u64::from(*at) == start.saturating_add(end);
        end = end.saturating_add((*len).into());
        offsets.push(end);
    }
    ordered.then(|| ChildRows { offsets, rows: start..start.saturating_add(end), order: None })
}

fn place([at, len]: &[u32; 2]) -> Range<u64> {
    u64::from(*at)..u64::from(*at).saturating_add((*len).into())
}

/// Where each list starts in the child rows, and how many items it has.
struct Placed {
    offsets: Vec<i32>,
    sizes: Vec<i32>,
    rows: Range<u64>,
}

impl Placed {
    fn new(ranges: impl ExactSizeIterator<Item = Range<u64>> + Clone, home: &mut Home) -> Result<Self, Error> {
        let (mut start, mut end) = (u64::MAX, 0);
        for range in ranges.clone() {
            if range.start < range.end {
                (start, end) = (start.min(range.start), end.max(range.end));
            }
        }
        start = start.min(end);
        // No offset and no size is larger than this.
        i32::try_from(end.saturating_sub(start)).map_err(|_| too_long(usize::MAX))?;
        let narrow = |at: u64| i32::try_from(at).unwrap_or(i32::MAX);
        let (mut offsets, mut sizes): (Vec<i32>, Vec<i32>) =
            (home.pool.take(ranges.len()), home.pool.take(ranges.len()));
        offsets.clear();
        sizes.clear();
        for Range { start: at, end } in ranges {
            let size = end.saturating_sub(at);
            offsets.push(if size > 0 { narrow(at.saturating_sub(start)) } else { 0 });
            sizes.push(narrow(size));
        }
        Ok(Placed { offsets, sizes, rows: start..end })
    }
}
