//! Checkpoints that are read back: whether the bytes before an end marker are one of a log of these columns.

use core::ops::Range;

use super::end::{self, Shape, Sizes, TAIL, TAIL_LEN};
use super::field::Schema;
use super::frames::{CHECK, Frames, SEED, up8, word};
use super::groups::Groups;
use super::put::{Flat, Put};
use super::resume::no_room;
use super::source::Source;
use crate::bytes::{len32, low32};
use crate::error::{Result, What};
use crate::hash::Lookup2;
use crate::vortex::raw;

/// Size in bytes of the windows of the comparison.
const WINDOW: usize = 64;

/// Returns whether a checkpoint of this log ends at `end`. Reads its records into `groups`.
#[inline(never)]
pub(super) fn is_checkpoint<S: Source>(
    frames: &mut Frames<S>,
    end: u64,
    schema: &impl Schema,
    groups: &mut Groups<'_>,
) -> Result<bool> {
    let Some(place) = Place::of(&mut frames.source, end, schema)? else { return Ok(false) };
    frames.go_to(place.dtype);
    let after = place.list(&mut frames.source, schema, groups)?;
    if let Some(after) = after {
        frames.go_to(after);
        if frames.search(schema.count(), &mut [], place.dtype)?.is_none() {
            // An intact row group would be in the checkpoint, if it were none that is a value.
            return if place.count > groups.capacity() { Err(no_room(schema.count(), place.count)) } else { Ok(true) };
        }
    }
    let gap = after.map_or(0, |after| place.dtype.saturating_sub(after));
    frames.charge(gap.saturating_add(place.sizes.total().into()), What::VORTEX_CHECKPOINT)?;
    Ok(false)
}

/// Where the parts of a checkpoint are.
struct Place {
    dtype: u64,
    layout: u64,
    /// Offset of the first segment in the footer.
    segments: u64,
    sizes: Sizes,
    /// Number of row groups.
    count: u32,
}

impl Place {
    /// Reads the tail of the checkpoint that ends at `end`. `None` if its parts do not have the sizes of one of these columns:
    /// all offsets that are read are between the start of the checkpoint and its end.
    fn of(source: &mut impl Source, end: u64, schema: &impl Schema) -> Result<Option<Self>> {
        let Some(tail_at) = end.checked_sub(TAIL_LEN.into()) else { return Ok(None) };
        let mut tail = [0; TAIL_LEN as usize];
        source.read(tail_at, &mut tail)?;
        let number = |at: usize| {
            let eight = tail.get(at..).and_then(<[u8]>::first_chunk);
            eight.map_or(0, |eight| u64::from_le_bytes(*eight))
        };
        let [dtype, layout, _, footer, footer_len] = TAIL.map(number);
        let footer_len = low32(footer_len);
        let Some(count) = end::groups_in(schema, footer_len) else { return Ok(None) };
        let Some(sizes) = Sizes::of(schema, count) else { return Ok(None) };
        let found = (dtype.checked_add(sizes.dtype.into()), dtype.checked_add(sizes.total().into()));
        let fits = found == (Some(layout), Some(end)) && footer.checked_add(footer_len.into()) == Some(tail_at);
        let segments = footer.wrapping_add(end::segments_at(schema).wrapping_add(4).into());
        Ok(fits.then_some(Place { dtype, layout, segments, sizes, count }))
    }

    /// Reads the records into `groups`, as many as there is memory for. Returns the offset after the last row group; `None` if the
    /// row groups cannot be there, or the checkpoint is not the one that is written for them.
    fn list(&self, source: &mut impl Source, schema: &impl Schema, groups: &mut Groups<'_>) -> Result<Option<u64>> {
        let columns = len32(schema.count());
        let shape = Shape::of(columns, self.count);
        // The first checkpoint begins there.
        let (mut at, mut after) = (self.segments, 8);
        groups.set_len(0, 0);
        for j in 0..self.count {
            let rows = word(source, self.layout.wrapping_add(shape.flat(j).wrapping_add(4).into()))?;
            let (low, high) = (word(source, at)?, word(source, at.wrapping_add(4))?);
            let segments = u64::from(low) | u64::from(high) << 32;
            let listed = Listed { segments, rows, lens: at.wrapping_add(8) };
            // A checkpoint has no check, and the length of the last segment is nowhere else in it.
            match listed.end(source, columns, after..self.dtype)? {
                Some(end) => after = end,
                None => return Ok(None),
            }
            for (i, len) in (0..columns).zip(groups.next().unwrap_or_default()) {
                *len = listed.len(source, i)?;
            }
            if !groups.is_full() {
                groups.add(segments, rows);
            }
            at = at.wrapping_add(u64::from(columns).wrapping_mul(16));
        }
        // Without memory for its records, the checkpoint is not used.
        if self.count > groups.capacity() {
            return Ok(Some(after));
        }
        let mut compare = Compare { source, at: self.dtype, outcome: Ok(true) };
        end::checkpoint(&mut Flat::new(&mut compare), self.dtype, schema, groups, self.sizes);
        Ok(compare.outcome?.then_some(after))
    }
}

/// A row group in a checkpoint. Its words are read one by one.
#[derive(Clone, Copy, Debug)]
struct Listed {
    /// Offset of the first segment.
    segments: u64,
    rows: u32,
    /// Offset of the length of the first segment; the others follow in steps of 16 bytes.
    lens: u64,
}

impl Listed {
    /// Returns the length of the segment of a column.
    fn len(&self, source: &mut impl Source, column: u32) -> Result<u32> {
        word(source, self.lens.saturating_add(u64::from(column).saturating_mul(16)))
    }

    /// Returns the offset after the frame, which is in `range`. `None` if there cannot be such a row group: the head of the frame
    /// says other rows or lengths, or is damaged and has not even most of the words.
    fn end(&self, source: &mut impl Source, columns: u32, range: Range<u64>) -> Result<Option<u64>> {
        let head = raw::group_segments_at(columns as usize);
        let place = self.segments.checked_sub(head).filter(|at| *at >= range.start && at & 7 == 0);
        let Some(mut at) = place.filter(|_| self.segments <= range.end) else { return Ok(None) };
        let (mut found, mut listed) = (Lookup2::new(SEED), Lookup2::new(SEED));
        let (mut same, mut end) = (0u32, self.segments);
        for i in 0..columns.saturating_add(2) {
            let expected = match i {
                0 => SEED,
                1 => self.rows,
                _ => self.len(source, i.wrapping_sub(2))?,
            };
            if i > 1 {
                end = end.saturating_add(up8(expected.into()));
            }
            let have = word(source, at)?;
            found.update(&have.to_le_bytes());
            listed.update(&expected.to_le_bytes());
            same = same.wrapping_add((have == expected).into());
            at = at.saturating_add(4);
        }
        let check = word(source, at)?;
        same = same.wrapping_add((check == listed.value()).into());
        let all = columns.saturating_add(3);
        let agrees = same == all || check != found.value() && same > all / 2;
        let end = end.saturating_add(CHECK);
        Ok((agrees && end <= range.end).then_some(end))
    }
}

/// Compares what is put with a source.
struct Compare<'s, S> {
    source: &'s mut S,
    at: u64,
    outcome: Result<bool>,
}

impl<S: Source> Put for Compare<'_, S> {
    fn put(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(WINDOW) {
            let mut window = [0; WINDOW];
            let stored = window.get_mut(..part.len()).unwrap_or_default();
            if self.outcome == Ok(true) {
                self.outcome = self.source.read(self.at, stored).map(|()| stored == part);
            }
            self.at = self.at.wrapping_add(part.len() as u64);
        }
    }
}
