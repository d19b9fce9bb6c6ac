//! Texts of views, dictionaries and runs: spans of one slice, without a copy if all of them lie in one buffer.

use std::ops::Range;

use pilaster::bytes::Scratch;
use pilaster::column::{Spans, Validity, VarBytes};
use pilaster::error::{Error, Kind, Result};

use super::node::{Node, Stored};
use super::pick::{Picks, Walk};

/// Maximum number of rows whose texts are added up to know what gathering them takes.
const COUNTED: usize = 1 << 22;

/// Maximum length of a text that a view contains.
const INLINE: u32 = 12;

/// Where a text lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The number of the buffer; `None`: the views.
    buffer: Option<usize>,
    start: usize,
    len: u32,
}

impl Node {
    fn place(&self, row: usize) -> Option<Place> {
        match &self.values {
            Stored::Off32(ends, _) => {
                let (start, end) = (*ends.get(row)?, *ends.get(row.checked_add(1)?)?);
                let len = end.checked_sub(start)?.try_into().ok()?;
                Some(Place { buffer: Some(0), start: start.try_into().ok()?, len })
            }
            Stored::Off64(ends, _) => {
                let (start, end) = (*ends.get(row)?, *ends.get(row.checked_add(1)?)?);
                let len = end.checked_sub(start)?.try_into().ok()?;
                Some(Place { buffer: Some(0), start: start.try_into().ok()?, len })
            }
            Stored::Fixed(_, size) => {
                Some(Place { buffer: Some(0), start: row.checked_mul(*size as usize)?, len: *size })
            }
            Stored::Views(views, _) => {
                let [len, _, buffer, at]: [u32; 4] = bytemuck::must_cast(*views.get(row)?);
                let inline = row.checked_mul(16)?.checked_add(4)?;
                Some(match len <= INLINE {
                    true => Place { buffer: None, start: inline, len },
                    false => Place { buffer: Some(buffer as usize), start: at as usize, len },
                })
            }
            _ => None,
        }
    }

    fn buffer(&self, number: Option<usize>) -> &[u8] {
        match (&self.values, number) {
            (Stored::Off32(_, data), _) => data,
            (Stored::Off64(_, data), _) => data,
            (Stored::Fixed(data, _), _) => data,
            (Stored::Views(views, _), None) => bytemuck::must_cast_slice(views),
            (Stored::Views(_, buffers), Some(k)) => buffers.get(k).map_or(&[], |buffer| buffer),
            _ => &[],
        }
    }
}

/// Where all texts lie, and their bytes in all.
#[derive(Debug, Default)]
struct Extent {
    /// The only buffer, unless there are several.
    only: Option<Option<usize>>,
    several: bool,
    start: usize,
    end: usize,
    total: u64,
}

impl Extent {
    fn add(&mut self, place: Place) {
        if place.len == 0 {
            return;
        }
        let end = place.start.saturating_add(place.len as usize);
        match self.only {
            None => (self.only, self.start, self.end) = (Some(place.buffer), place.start, end),
            Some(only) => {
                self.several |= only != place.buffer;
                (self.start, self.end) = (self.start.min(place.start), self.end.max(end));
            }
        }
        self.total = self.total.saturating_add(place.len.into());
    }

    /// Whether spans of 32 bits can refer to the texts where they are.
    fn is_direct(&self) -> bool {
        !self.several && u32::try_from(self.end.saturating_sub(self.start)).is_ok()
    }
}

/// Returns an upper bound of the scratch bytes for the texts of rows of `node`, which are texts of `leaf`.
pub(super) fn cost(node: &Node, leaf: &Node, rows: Range<usize>) -> Result<u64> {
    let spans = Scratch::cost::<[u32; 2]>(rows.len() as u64);
    let is_small = |bytes: usize| u32::try_from(bytes).is_ok();
    let direct = match &leaf.values {
        Stored::Views(views, buffers) => buffers.is_empty() && is_small(views.len().saturating_mul(16)),
        _ => is_small(leaf.buffer(Some(0)).len()),
    };
    if direct {
        return Ok(spans);
    }
    if rows.len() > COUNTED {
        return Ok(u64::MAX);
    }
    let (mut extent, mut walk) = (Extent::default(), Walk::default());
    for row in rows {
        if let Some(row) = walk.place(node, row)? {
            extent.add(leaf.place(row).ok_or_else(|| leaf.too_long(row))?);
        }
    }
    Ok(if extent.is_direct() { spans } else { spans.saturating_add(extent.total) })
}

/// Returns the texts of rows.
pub(super) fn gathered<'s>(
    node: &'s Node,
    picks: Picks<'_>,
    valid: &Validity<'_>,
    scratch: &mut Scratch<'s>,
) -> Result<VarBytes<'s>> {
    let mut extent = Extent::default();
    let place = |i: usize| match picks.get(i) {
        Some(row) if valid.get(i) => node.place(row).map(Some).ok_or_else(|| node.too_long(row)),
        _ => Ok(None),
    };
    let spans = scratch.take::<[u32; 2]>(picks.len())?;
    for i in 0..picks.len() {
        if let Some(place) = place(i)? {
            extent.add(place);
        }
    }
    let too_long = || node.too_long(0);
    if extent.is_direct() {
        let data = node.buffer(extent.only.flatten()).get(extent.start..extent.end).ok_or_else(too_long)?;
        for (i, span) in spans.iter_mut().enumerate() {
            let place = place(i)?.filter(|place| place.len > 0);
            let at = place.map_or(0, |place| place.start.saturating_sub(extent.start));
            *span = [at.try_into().map_err(|_| too_long())?, place.map_or(0, |place| place.len)];
        }
        return Ok(VarBytes { data, spans: Spans::Each(spans) });
    }
    let data = scratch.take::<u8>(usize::try_from(extent.total).map_err(|_| too_long())?)?;
    let mut at = 0usize;
    for (i, span) in spans.iter_mut().enumerate() {
        let Some(Place { buffer, start, len }) = place(i)?.filter(|place| place.len > 0) else {
            *span = [0, 0];
            continue;
        };
        let from = node.buffer(buffer).get(start..start.saturating_add(len as usize)).ok_or_else(too_long)?;
        let end = at.saturating_add(from.len());
        data.get_mut(at..end).ok_or_else(too_long)?.copy_from_slice(from);
        *span = [at.try_into().map_err(|_| too_long())?, len];
        at = end;
    }
    Ok(VarBytes { data, spans: Spans::Each(spans) })
}

impl Node {
    #[cold]
    fn too_long(&self, row: usize) -> Error {
        Error::new(Kind::Overflow, self.ty.what(), row as u64)
    }
}
