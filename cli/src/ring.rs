//! A copy of a ring in flash, as a log of `pilaster::dataseries::flash` leaves it, read as one DataSeries file.

use std::sync::Arc;

use pilaster::any::Format;
use pilaster::bytes::FileRange;
use pilaster::dataseries::{HEADER_LEN, Header, Order};
use pilaster::error::What;
use pilaster::unstable::dataseries::raw::{SEGMENT_HEADER_LEN, SEGMENT_MAGIC, segment_number};
use pilaster::unstable::hash::Adler32;

use crate::content::Held;
use crate::failure::Failure;
use crate::open::Input;

/// The place of the check value in the header of an extent.
const ADLER_AT: usize = 16;

/// A segment: its offset in the copy, and its number.
#[derive(Clone, Copy)]
struct Segment {
    at: usize,
    number: u32,
}

/// The file in a segment, as far as it is intact.
struct Found<'b> {
    /// File header and type extent.
    types: &'b [u8],
    /// The check value of the types, unpacked.
    hash: u32,
    extents: Vec<&'b [u8]>,
    /// Number of bytes between the last intact extent and the erased rest.
    torn: usize,
}

/// Replaces the content of `input` by a file of the extents of all segments, if it is a copy of a ring.
pub fn joined(input: Input<'_>) -> Result<Input<'_>, Failure> {
    let source = input.source;
    let is_other = source.library_format().is_some_and(|format| format != Format::DataSeries);
    if is_other || source.element.is_some() || input.dataset().is_some() {
        return Ok(input);
    }
    let head = FileRange { at: 0, len: input.len().min(SEGMENT_HEADER_LEN as u64) };
    let head = input.input().get(head, What::MAGIC).map_err(|e| input.failure(e.into()))?;
    // A ring may begin with a segment that is not used yet.
    if number(head).is_none() && head != [0xff; SEGMENT_HEADER_LEN] {
        return Ok(input);
    }
    let bytes = input.bytes().map_err(|failure| input.failure(failure))?;
    let segments = live(bytes);
    if segments.is_empty() {
        return Ok(input);
    }
    let (file, lost) = join(bytes, &segments)?;
    let warnings = lost.iter().map(|line| format!("{}: {line}", input.path)).collect();
    let (content, tolerant) = (Arc::new(file) as Held, input.tolerant);
    let mut joined = Input::of(source, content.into());
    (joined.tolerant, joined.warnings, joined.is_ring) = (tolerant, warnings, true);
    Ok(joined)
}

/// Returns the number in the header of a segment.
fn number(head: &[u8]) -> Option<u32> {
    segment_number(head.first_chunk()?)
}

/// Returns the segments of the log, the oldest first: those whose numbers are consecutive, back from the newest.
fn live(bytes: &[u8]) -> Vec<Segment> {
    let words = bytes.chunks(4).enumerate().filter(|(_, word)| *word == SEGMENT_MAGIC);
    let at = words.map(|(k, _)| k.saturating_mul(4));
    let mut found: Vec<_> = at.filter_map(|at| Some(Segment { at, number: number(bytes.get(at..)?)? })).collect();
    found.sort_by_key(|segment| segment.number);
    let is_gap = |two: &[Segment]| match two {
        [before, after] => before.number.checked_add(1) != Some(after.number),
        _ => false,
    };
    let first = found.windows(2).rposition(is_gap).map_or(0, |k| k.saturating_add(1));
    found.split_off(first)
}

/// Returns the size in bytes of all segments: the largest number of which all distances are multiples.
fn size(segments: &[Segment]) -> usize {
    fn common(a: usize, b: usize) -> usize {
        a.checked_rem(b).map_or(a, |rest| common(b, rest))
    }
    let first = segments.iter().map(|segment| segment.at).min().unwrap_or(0);
    match segments.iter().map(|segment| segment.at.saturating_sub(first)).fold(0, common) {
        0 => usize::MAX,
        size => size,
    }
}

/// Returns the bytes of a file of all intact extents whose types the newest segment has, too, and a line for what is not in it.
fn join(bytes: &[u8], segments: &[Segment]) -> Result<(Vec<u8>, Vec<String>), Failure> {
    let size = size(segments);
    let all = segments.iter().map(|segment| {
        let rest = bytes.get(segment.at..).unwrap_or_default();
        (segment, found(rest.get(..size).unwrap_or(rest)))
    });
    let all: Vec<_> = all.collect();
    // A cut may have left the newest one without types.
    let Some(newest) = all.iter().rev().find_map(|(_, found)| found.as_ref()) else {
        return Err(Failure::Input("the types of no segment of this copy of a ring in flash are intact".to_owned()));
    };
    let (mut file, mut lost) = (newest.types.to_vec(), Vec::new());
    for (Segment { at, number }, found) in &all {
        let of = format!("segment {number}, at offset {at} of the flash");
        match found {
            None => lost.push(format!("{of}, has no rows: a power cut came before its types were written")),
            Some(found) if found.hash != newest.hash => lost.push(format!(
                "{of}, is left out: it has other types, of another firmware; a copy of such segments alone is read"
            )),
            Some(found) => {
                found.extents.iter().for_each(|extent| file.extend_from_slice(extent));
                if found.torn > 0 {
                    lost.push(format!("{of}, ends with {} bytes of an extent that a power cut ended", found.torn));
                }
            }
        }
    }
    Ok((file, lost))
}

/// Reads the file in a segment. Returns `None` without intact types.
fn found(segment: &[u8]) -> Option<Found<'_>> {
    let file = segment.get(SEGMENT_HEADER_LEN..).map(after_erased)?;
    let order = Order::of(file.get(..HEADER_LEN)?).ok()?;
    let (header, first) = extent(order, file.get(HEADER_LEN..)?)?;
    let types = file.get(..HEADER_LEN.saturating_add(first.len()))?;
    let mut rest = file.get(types.len()..).unwrap_or_default();
    let mut extents = Vec::new();
    // Extents begin at words of the flash, which may be longer than 4 bytes.
    while let Some((_, bytes)) = extent(order, after_erased(rest)) {
        extents.push(bytes);
        rest = after_erased(rest).get(bytes.len()..).unwrap_or_default();
    }
    let erased = rest.iter().rev().take_while(|byte| **byte == 0xff).count();
    Some(Found { types, hash: header.hash, extents, torn: rest.len().saturating_sub(erased) })
}

/// Returns the bytes from the first word that is not erased.
fn after_erased(bytes: &[u8]) -> &[u8] {
    let words = bytes.chunks(4).take_while(|word| **word == [0xff; 4]).count();
    bytes.get(words.saturating_mul(4)..).unwrap_or_default()
}

/// Returns the extent at the start of `bytes`, if it is intact.
fn extent(order: Order, bytes: &[u8]) -> Option<(Header, &[u8])> {
    let header = order.header(bytes, 0).ok()?;
    let extent = bytes.get(..usize::try_from(header.span().len).ok()?)?;
    let mut sum = Adler32::new();
    sum.update(extent.get(..ADLER_AT)?);
    sum.update(extent.get(ADLER_AT.saturating_add(4)..)?);
    (sum.value() == header.adler).then_some((header, extent))
}
