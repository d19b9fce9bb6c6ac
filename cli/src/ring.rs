//! A copy of a ring in flash, as a log of `pilaster::dataseries::flash` leaves it, read as one DataSeries file.

use std::io;
use std::sync::Arc;

use pilaster::any::{self, Format};
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
/// Size of the smallest unit that a flash erases. Each segment begins at a multiple of it.
const PAGE: usize = 128;
/// Size of the longest word that a flash writes.
const WORD: usize = 512;
/// Number of bytes that are read at once in search of the header of a segment.
const READ: usize = 1 << 20;
/// How far the first header is searched: a flash has two segments or more, and few have more than twice this size.
const SEARCHED: u64 = 64 << 20;

/// A segment: its offset in the copy, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Offset in the segment of the end of the last extent, or of the types.
    end: usize,
    /// Number of bytes between the last intact extent and the erased rest.
    torn: usize,
}

/// Replaces the content of `input` by a file of the extents of all segments, if it is a copy of a ring.
pub fn joined(input: Input<'_>) -> Result<Input<'_>, Failure> {
    let source = input.source;
    let is_other = source.library_format().is_some_and(|format| format != Format::DataSeries);
    if is_other || source.element.is_some() || input.dataset().is_some() || !is_ring(&input)? {
        return Ok(input);
    }
    let bytes = input.bytes().map_err(|failure| input.failure(failure))?;
    let headers = headers(bytes);
    let segments = live(headers.clone());
    if segments.is_empty() {
        return Ok(input);
    }
    let (file, lost) = join(bytes, &headers, &segments)?;
    let warnings = lost.iter().map(|line| format!("{}: {line}", input.path)).collect();
    let (content, tolerant) = (Arc::new(file) as Held, input.tolerant);
    let mut joined = Input::of(source, content.into());
    (joined.tolerant, joined.warnings, joined.is_ring) = (tolerant, warnings, true);
    Ok(joined)
}

/// Returns whether the input may be a copy of a ring.
fn is_ring(input: &Input<'_>) -> Result<bool, Failure> {
    let end = |len: u64, at: u64| {
        let range = FileRange { at, len: len.min(input.len()) };
        input.input().get(range, What::MAGIC).map_err(|e| input.failure(e.into()))
    };
    let (first, last) = (end(SEGMENT_HEADER_LEN as u64, 0)?, end(4, input.len().saturating_sub(4))?);
    // A ring may begin with a segment that is not used yet.
    if number(first).is_some() || first == [0xff; SEGMENT_HEADER_LEN] {
        return Ok(true);
    }
    // Or with one that a power cut left half erased, or with a part of its header: what is left may be anything.
    let is_known = any::detect_ends(first, last, input.len(), Some(&input.name)).is_ok();
    if is_known || input.source.array_rows.is_some() {
        return Ok(false);
    }
    has_header(input.len(), input.reader()).map_err(|e| Failure::Input(e.to_string()))
}

/// Returns whether the header of a segment begins at a page of the file; not if the first is beyond a limit.
fn has_header(len: u64, read: impl Fn(u64, &mut [u8]) -> io::Result<()>) -> io::Result<bool> {
    let (mut at, mut block) = (0, vec![0; READ]);
    while at < len.min(SEARCHED) {
        let now = usize::try_from(len.saturating_sub(at)).unwrap_or(READ).min(READ);
        let block = block.get_mut(..now).unwrap_or_default();
        read(at, block)?;
        if block.chunks(PAGE).any(|page| number(page).is_some()) {
            return Ok(true);
        }
        at = at.saturating_add(now as u64);
    }
    Ok(false)
}

/// Returns the number in the header of a segment.
fn number(head: &[u8]) -> Option<u32> {
    segment_number(head.first_chunk()?)
}

/// Returns all segments whose header is intact, in the order of the flash.
fn headers(bytes: &[u8]) -> Vec<Segment> {
    let words = bytes.chunks(4).enumerate().filter(|(_, word)| *word == SEGMENT_MAGIC);
    let at = words.map(|(k, _)| k.saturating_mul(4));
    at.filter_map(|at| Some(Segment { at, number: number(bytes.get(at..)?)? })).collect()
}

/// Returns the segments of the log, the oldest first: those whose numbers are consecutive, back from the newest.
fn live(mut found: Vec<Segment>) -> Vec<Segment> {
    found.sort_by_key(|segment| segment.number);
    let is_gap = |two: &[Segment]| match two {
        [before, after] => before.number.checked_add(1) != Some(after.number),
        _ => false,
    };
    let first = found.windows(2).rposition(is_gap).map_or(0, |k| k.saturating_add(1));
    found.split_off(first)
}

/// Returns the size in bytes of all segments: the greatest common divisor of all distances. Segments that the log has dropped count, too.
fn size(bytes: &[u8], headers: &[Segment], live: &[Segment]) -> usize {
    fn common(a: usize, b: usize) -> usize {
        a.checked_rem(b).map_or(a, |rest| common(b, rest))
    }
    let first = headers.first().map_or(0, |segment| segment.at);
    let in_copy = headers.iter().map(|segment| segment.at).fold(bytes.len(), common);
    // A ring has two segments or more.
    let in_copy = in_copy.min(bytes.len().checked_div(2).unwrap_or(0));
    let among = headers.iter().map(|segment| segment.at.saturating_sub(first)).fold(0, common);
    // A copy may begin or end with something else than a segment, or be one segment. Then the first size may be a part of a segment, and
    // extents continue after its end.
    let fits =
        |size: &usize| *size > 0 && !live.iter().any(|segment| continues(rest(bytes, headers, segment.at), *size));
    [in_copy, among].into_iter().find(fits).unwrap_or(usize::MAX)
}

/// Returns the bytes from `at` to the next header, in which a segment ends: so no byte is read as a part of two segments.
fn rest<'b>(bytes: &'b [u8], headers: &[Segment], at: usize) -> &'b [u8] {
    let next = headers.get(headers.partition_point(|segment| segment.at <= at));
    bytes.get(at..next.map_or(bytes.len(), |next| next.at)).unwrap_or_default()
}

/// Returns whether an intact extent of a segment lies across its end, or begins there, if it has `size` bytes: the next segment
/// begins with a header.
fn continues(segment: &[u8], size: usize) -> bool {
    found(segment, size).is_some_and(|found| found.end > size)
}

/// Returns the bytes of a file of all intact extents whose types the newest segment has, too, and a line for what is not in it.
fn join(bytes: &[u8], headers: &[Segment], segments: &[Segment]) -> Result<(Vec<u8>, Vec<String>), Failure> {
    let size = size(bytes, headers, segments);
    let all = segments.iter().map(|segment| {
        let rest = rest(bytes, headers, segment.at);
        (segment, found(rest.get(..size).unwrap_or(rest), size))
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

/// Reads the file in a segment: the extents that begin in its first `size` bytes, or directly after them. Returns `None` without intact types.
fn found(segment: &[u8], size: usize) -> Option<Found<'_>> {
    let file = segment.get(SEGMENT_HEADER_LEN..).map(after_erased)?;
    let order = Order::of(file.get(..HEADER_LEN)?).ok()?;
    let (header, first) = extent(order, file.get(HEADER_LEN..)?)?;
    let types = file.get(..HEADER_LEN.saturating_add(first.len()))?;
    let at = |rest: &[u8]| segment.len().saturating_sub(rest.len());
    let mut rest = file.get(types.len()..).unwrap_or_default();
    let mut extents = Vec::new();
    // Extents begin at words of the flash, which may be longer than 4 bytes.
    while at(after_erased(rest)) <= size
        && let Some((_, bytes)) = extent(order, after_erased(rest))
    {
        extents.push(bytes);
        rest = after_erased(rest).get(bytes.len()..).unwrap_or_default();
    }
    let erased = rest.iter().rev().take_while(|byte| **byte == 0xff).count();
    Some(Found { types, hash: header.hash, extents, end: at(rest), torn: rest.len().saturating_sub(erased) })
}

/// Returns the bytes from the first word that is not erased, if it follows within one long word of the flash. What follows later is of
/// another segment, whose erase was cut.
fn after_erased(bytes: &[u8]) -> &[u8] {
    let words = bytes.chunks(4).take(WORD / 4).take_while(|word| **word == [0xff; 4]).count();
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

#[cfg(test)]
mod tests {
    use pilaster::bytes::{LittleEndian, Scratch};
    use pilaster::column::Part as _;
    use pilaster::dataseries::write::{Cell, Descriptions, ExtentBuffer, Memory, Record, Writer};
    use pilaster::dataseries::{File, ReadOptions, record};
    use pilaster::unstable::dataseries::raw::segment_header;

    use super::*;

    record! {
        struct Tick = "Tick" { n: int32 }
    }
    record! {
        struct Other = "Other" { n: int32 }
    }

    const TYPES: Descriptions<'static> = Descriptions::of::<Tick>();
    const SIZE: usize = 1024;
    const ERASED: [u8; SIZE] = [0xff; SIZE];
    /// What an erase leaves that is cut: neither the old bytes nor erased ones.
    const HALF: [u8; SIZE] = [0xa5; SIZE];

    /// A file of one extent per number, without an index.
    fn file<R: Record<Static = R>>(ticks: &[i32], types: Descriptions<'static>, row: impl Fn(i32) -> R) -> Vec<u8> {
        let (mut rows, mut index) = ([0; 16], []);
        let mut log = Writer::<LittleEndian, _>::new(Vec::new(), types, &mut index);
        let mut buffer = ExtentBuffer::of::<R>(Memory::rows(&mut rows)).unwrap();
        log.begin().unwrap();
        for n in ticks {
            buffer.push(&row(*n)).unwrap();
            log.flush(&mut buffer).unwrap();
        }
        std::mem::take(log.sink())
    }

    fn segment(number: u32, file: &[u8]) -> Vec<u8> {
        let mut bytes = [&segment_header(number)[..], file].concat();
        assert!(bytes.len() <= SIZE);
        bytes.resize(SIZE, 0xff);
        bytes
    }

    /// A segment with an extent for each of these numbers.
    fn ticks(number: u32, ticks: &[i32]) -> Vec<u8> {
        segment(number, &file(ticks, TYPES, |n| Tick { n }))
    }

    /// The numbers in the rows, and what is said about the rest.
    type Rows = (Vec<i32>, Vec<String>);

    /// Returns the numbers in what is put together of a copy, and what is said about the rest. `None`: the copy has no segments.
    fn read(bytes: &[u8]) -> Option<Result<Rows, String>> {
        let headers = headers(bytes);
        let live = live(headers.clone());
        if live.is_empty() {
            return None;
        }
        let (whole, lost) = match join(bytes, &headers, &live) {
            Ok(done) => done,
            Err(Failure::Input(why)) => return Some(Err(why)),
            Err(_) => panic!("another failure"),
        };
        let options = ReadOptions::DEFAULT;
        let mut numbers = Vec::new();
        for extent in File::<LittleEndian>::open_known(&whole, TYPES, &options).unwrap().extents() {
            let (mut memory, extent) = ([0; 64], extent.unwrap());
            if extent.type_name() != Tick::NAME.as_bytes() {
                continue;
            }
            let part = extent.unpack_as::<Tick>(&options, &mut Scratch::new(&mut memory));
            let Cell::Int32(n) = part.unwrap().column(0).unwrap().get(0).unwrap().unwrap() else { panic!("no int32") };
            numbers.push(n);
        }
        Some(Ok((numbers, lost)))
    }

    fn rows(parts: &[&[u8]]) -> Rows {
        read(&parts.concat()).unwrap().unwrap()
    }

    fn search(bytes: &[u8]) -> bool {
        let read = |at: u64, to: &mut [u8]| {
            to.copy_from_slice(&bytes[at as usize..][..to.len()]);
            Ok(())
        };
        has_header(bytes.len() as u64, read).unwrap()
    }

    #[test]
    fn a_first_segment_whose_erase_or_header_was_cut() {
        let torn = [&segment_header(6)[..8], &ERASED[8..]].concat();
        let old_half = [&HALF[..512], &ticks(3, &[90, 91])[512..]].concat();
        for first in [&ERASED[..], &HALF, &torn, &old_half] {
            let copy = [first, &ticks(4, &[1, 2]), &ticks(5, &[3])].concat();
            assert!(search(&copy));
            assert_eq!(rows(&[&copy]), (vec![1, 2, 3], vec![]));
        }
        assert!(!search(&HALF) && !search(&[&HALF[..100], &ticks(4, &[1])].concat()), "at pages only");
        assert!(read(&HALF).is_none());
    }

    #[test]
    fn the_search_for_a_segment_is_bounded() {
        let reads = std::cell::Cell::new(0);
        let read = |_: u64, _: &mut [u8]| {
            reads.set(reads.get() + 1);
            Ok(())
        };
        assert!(!has_header(u64::MAX, read).unwrap());
        assert_eq!(reads.get(), SEARCHED / READ as u64);
    }

    /// What a cut leaves of a segment of two erase units, if the second one has been erased, or the first one: an old extent may begin there.
    fn cut_between_units() -> Vec<u8> {
        let mut bytes = HALF.to_vec();
        bytes[..SIZE / 2].fill(0xff);
        let old = file(&[90], TYPES, |n| Tick { n });
        let types = found(&[&segment_header(0)[..], &old].concat(), SIZE).unwrap().types.len();
        bytes[SIZE / 2..][..old.len() - types].copy_from_slice(&old[types..]);
        bytes
    }

    #[test]
    fn one_live_segment_ends_where_the_next_begins() {
        let (one, cut) = (ticks(6, &[1, 2]), cut_between_units());
        assert_eq!(rows(&[&one, &cut]), (vec![1, 2], vec![]));
        assert_eq!(rows(&[&cut, &one, &cut]), (vec![1, 2], vec![]));
        assert_eq!(rows(&[&one, &ERASED]), (vec![1, 2], vec![]));
        assert_eq!(rows(&[&one]), (vec![1, 2], vec![]), "a copy of one segment alone");
        let many: Vec<i32> = (0..12).collect();
        assert_eq!(rows(&[&ticks(6, &many)]), (many.clone(), vec![]), "also where the second half is in use");
        assert_eq!(
            rows(&[&ticks(2, &[90]), &ticks(6, &[1]), &cut, &ticks(4, &[91])]),
            (vec![1], vec![]),
            "dropped ones tell the size"
        );
    }

    #[test]
    fn live_segments_that_are_not_neighbours() {
        let (newest, cut, before) = (ticks(6, &[3]), cut_between_units(), ticks(5, &[1, 2]));
        assert_eq!(rows(&[&newest, &cut, &before]), (vec![1, 2, 3], vec![]));
        assert_eq!(rows(&[&newest, &HALF, &before]), (vec![1, 2, 3], vec![]));
    }

    #[test]
    fn what_is_around_the_region_is_no_segment() {
        let (first, second) = (ticks(1, &(0..12).collect::<Vec<_>>()), ticks(2, &[12]));
        let all: Vec<i32> = (0..13).collect();
        assert_eq!(rows(&[&HALF[..384], &first, &second]), (all.clone(), vec![]));
        assert_eq!(rows(&[&first, &second, &ERASED[..384]]), (all.clone(), vec![]));
        assert_eq!(rows(&[&ERASED[..384], &first, &second, &ERASED[..7]]), (all, vec![]));
    }

    #[test]
    fn segments_of_other_types_are_left_out_and_named() {
        let other = segment(4, &file(&[90], Descriptions::of::<Other>(), |n| Other { n }));
        let (numbers, lost) = rows(&[&other, &ticks(5, &[1]), &ticks(6, &[2])]);
        assert_eq!(numbers, [1, 2]);
        assert!(matches!(&lost[..], [line] if line.starts_with("segment 4, at offset 0 of the flash, is left out: ")));
    }

    /// An extent whose stored fixed part is any bytes: its check value is right.
    fn around(stored: &[u8]) -> Vec<u8> {
        let file = file(&[1], TYPES, |n| Tick { n });
        let types = found(&[&segment_header(0)[..], &file].concat(), SIZE).unwrap().types.len();
        let mut extent = file[types..].to_vec();
        let len = u32::from_le_bytes(extent[..4].try_into().unwrap()) as usize;
        let at = extent.len() - len;
        extent.truncate(at);
        extent.extend(stored);
        extent[..4].copy_from_slice(&(stored.len() as u32).to_le_bytes());
        let mut sum = Adler32::new();
        sum.update(&extent[..ADLER_AT]);
        sum.update(&extent[ADLER_AT + 4..]);
        extent[ADLER_AT..ADLER_AT + 4].copy_from_slice(&sum.value().to_le_bytes());
        assert!(super::extent(Order::Little, &extent).is_some());
        extent
    }

    #[test]
    fn segments_within_segments_are_not_read_twice() {
        let types = file(&[], TYPES, |n| Tick { n });
        let mut copy = Vec::new();
        for number in (1..=50).rev() {
            let inner = around(&copy);
            copy = [&segment_header(number)[..], &types, &inner].concat();
        }
        let headers = headers(&copy);
        assert_eq!(headers.len(), 50);
        let (whole, _) = join(&copy, &headers, &live(headers.clone())).unwrap();
        assert!(whole.len() <= copy.len(), "{} of {} bytes", whole.len(), copy.len());
    }

    #[test]
    fn torn_extents_and_segments_without_types() {
        let mut torn = ticks(5, &[1, 2]);
        let end = found(&torn, SIZE).unwrap().end;
        torn[end - 4..end].fill(0xff);
        let begun = segment(6, b"DSv1");
        let (numbers, lost) = rows(&[&torn, &begun]);
        assert_eq!(numbers, [1]);
        assert!(matches!(&lost[..], [a, b] if a.contains("ends with ") && b.contains("has no rows")), "{lost:?}");
        let why = read(&[&begun[..], &segment(7, b"")].concat()).unwrap().unwrap_err();
        assert_eq!(why, "the types of no segment of this copy of a ring in flash are intact");
    }
}
