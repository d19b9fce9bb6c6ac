//! A log whose end is lost, such as after a power cut: the last checkpoint in it, which is a complete file, and the row
//! groups after it (format description, section 17).

use pilaster::bytes::{FileRange, Ranges};
use pilaster::column::Part as _;
use pilaster::error::{Error, Kind, What};
use pilaster::unstable::generated::vortex as flat;
use pilaster::unstable::meta::flat::{Flat, Table};
use pilaster::unstable::vortex_container::{Layout, end};
use pilaster::unstable::vortex_raw::{GROUP_MAGIC, LayoutId};
use pilaster::vortex::File;
use pilaster::vortex::log::{Frames, last_checkpoint};

use crate::failure::Failure;
use crate::open::Input;
use crate::vortex_end::opened;
use crate::vortex_rebuilt::{Rebuilt, ended};

/// Row groups begin at multiples of this number of bytes.
const ALIGNED: u64 = 8;

/// Maximum number of places without an intact row group after which others are searched.
const PLACES: usize = 64;

/// Number of bytes that are searched at once.
const STEP: u64 = 1 << 16;

/// A log has its first checkpoint within this number of bytes, as it begins with one. Of other files no more is searched.
const FIRST: u64 = 1 << 18;

/// Only the checks of row groups after the checkpoint are compared.
const BEFORE: &str =
    "the row groups before the checkpoint were not checked: damage there is noticed only if they cannot be read";

/// Returns the rows up to the last checkpoint, and the row groups behind it, as a file with an end. `None` if there
/// is no checkpoint at the start.
pub fn torn<'s>(input: &Input<'s>) -> Result<Option<Rebuilt<'s>>, Failure> {
    let start = ended(input, input.len().min(FIRST), Vec::new());
    if last_checkpoint(&start.input())?.is_none() {
        return Ok(None);
    }
    let window = input.window();
    let Some(at) = last_checkpoint(&window.as_ref().map_or(input.input(), Ranges::input))? else { return Ok(None) };
    let before = ended(input, at, Vec::new());
    let file = opened(&before)?;
    let rows = file.rows()?;
    let mut notes = vec![format!("found: {rows} rows up to the checkpoint that ends at {at}")];
    let columns = file.part()?.width();
    let groups = Groups::of(input, at, columns)?;
    let (count, more) = (groups.found.len(), groups.rows());
    if count > 0 {
        notes.push(format!("found: {more} rows in {count} row groups behind the checkpoint"));
    }
    for (range, why) in &groups.lost {
        notes.push(format!("lost: {} bytes at {}: {why}", range.len, range.at));
    }
    let chunks = chunks(&file, columns)?;
    let whole = match chunks {
        Some(chunks) if count > 0 => joined(input, (&before, &file), chunks, &groups)?,
        None if count > 0 => {
            notes.push(format!("lost: {more} rows: the checkpoint has other layouts than those of a log"));
            before
        }
        _ => before,
    };
    Ok(Some(Rebuilt { input: whole, notes, absent: Vec::new(), unverified: Some(BEFORE) }))
}

/// The segment of each column in a row group, and its rows.
type Group = (Vec<FileRange>, u64);

/// The row groups behind a checkpoint.
#[derive(Default)]
struct Groups {
    found: Vec<Group>,
    /// Bytes without an intact row group.
    lost: Vec<(FileRange, String)>,
    /// Offset after the last one.
    end: u64,
}

impl Groups {
    fn of(input: &Input<'_>, at: u64, columns: usize) -> Result<Self, Failure> {
        let (mut groups, mut lens) = (Groups { end: at, ..Groups::default() }, vec![0; columns]);
        let window = input.window();
        let bytes = window.as_ref().map_or(input.input(), Ranges::input);
        let mut frames = Frames::new(bytes, at);
        loop {
            let e = match frames.next(&mut lens) {
                Ok(None) => return Ok(groups),
                Ok(Some(frame)) => {
                    let segment = |k| frame.segment(&lens, k);
                    let segments = (0..columns).map(segment).collect::<Option<Vec<_>>>().unwrap_or_default();
                    groups.found.push((segments, frame.rows.into()));
                    groups.end = frame.end;
                    continue;
                }
                Err(e) if matches!(e.kind(), Kind::Missing) => return Err(e.into()),
                Err(e) => e,
            };
            let from = frames.at();
            let next = if groups.lost.len() < PLACES { next(input, from)? } else { None };
            let until = next.unwrap_or(input.len());
            groups.lost.push((FileRange { at: from, len: until.saturating_sub(from) }, e.to_string()));
            match next {
                Some(next) => frames = Frames::new(bytes, next),
                None => return Ok(groups),
            }
        }
    }

    fn rows(&self) -> u64 {
        self.found.iter().fold(0, |sum, (_, rows)| sum.saturating_add(*rows))
    }
}

/// Returns the offset after `from` at which a row group may begin.
fn next(input: &Input<'_>, from: u64) -> Result<Option<u64>, Failure> {
    let mut at = from.next_multiple_of(ALIGNED).saturating_add(ALIGNED);
    while at < input.len() {
        let window = input.window();
        let bytes = window.as_ref().map_or(input.input(), Ranges::input);
        let range = FileRange { at, len: STEP.min(input.len().saturating_sub(at)) };
        let mut eights = bytes.get(range, What::INPUT)?.chunks(8);
        if let Some(place) = eights.position(|eight| eight.starts_with(&GROUP_MAGIC)) {
            return Ok(Some(at.saturating_add((place as u64).saturating_mul(ALIGNED))));
        }
        at = at.saturating_add(STEP);
    }
    Ok(None)
}

/// Segment and number of rows of each chunk of a column.
type Chunks = Vec<(FileRange, u64)>;

/// Returns the chunks of each column, or `None` if a column has other layouts.
fn chunks(file: &File<'_>, columns: usize) -> Result<Option<Vec<Chunks>>, Failure> {
    let (mut all, mut is_plain) = (vec![Vec::new(); columns], true);
    file.visit(false, &mut |node| {
        if node.is_array {
            return Ok(());
        }
        let id = LayoutId::of(node.id);
        match (node.column.and_then(|column| all.get_mut(column)), node.segment, node.rows) {
            (Some(chunks), Some(segment), Some(rows)) => chunks.push((segment, rows)),
            (Some(_), ..) => is_plain &= id == LayoutId::Chunked,
            _ => is_plain &= id == LayoutId::Struct,
        }
        Ok::<_, Error>(())
    })?;
    Ok(is_plain.then_some(all))
}

/// Returns a file with the chunks up to the checkpoint and the row groups behind it.
fn joined<'s>(
    input: &Input<'s>,
    (before, file): (&Input<'s>, &File<'_>),
    mut chunks: Vec<Chunks>,
    groups: &Groups,
) -> Result<Input<'s>, Failure> {
    for (segments, rows) in &groups.found {
        for (chunks, segment) in chunks.iter_mut().zip(segments) {
            chunks.push((*segment, *rows));
        }
    }
    let mut segments: Vec<FileRange> = chunks.iter().flatten().map(|(segment, _)| *segment).collect();
    segments.sort_unstable_by_key(|segment| (segment.at, segment.len));
    let number = |segment: &FileRange| {
        let place = segments.partition_point(|other| (other.at, other.len) < (segment.at, segment.len));
        u32::try_from(place).unwrap_or(u32::MAX)
    };
    let rows = file.rows()?.saturating_add(groups.rows());
    let column = |chunks: &Vec<(FileRange, u64)>| {
        Layout::chunked(chunks.iter().map(|(segment, rows)| Layout::flat(number(segment), *rows)).collect())
    };
    let layout = Layout { children: chunks.iter().map(column).collect(), ..Layout::new(LayoutId::Struct, rows) };
    let placed = |segment: &FileRange| (segment.at, u32::try_from(segment.len).unwrap_or(u32::MAX));
    let specs: Vec<(u64, u32)> = segments.iter().map(placed).collect();
    let end = end(groups.end, &ids(file), &specs, &dtype(before)?, &layout)?;
    Ok(ended(input, groups.end, end))
}

/// Returns the ids of encodings in the order of their numbers.
fn ids<'f>(file: &File<'f>) -> Vec<&'f str> {
    let id = |number| file.unknown_id(&Error::needing(Kind::Unsupported, What::VORTEX_ENCODING, 0, number));
    (0..u64::from(u16::MAX)).map_while(id).collect()
}

/// Returns the FlatBuffer of the type of a file.
fn dtype(input: &Input<'_>) -> Result<Vec<u8>, Failure> {
    const MARKER: u64 = 8;
    let (bytes, lost) = (input.input(), || Error::new(Kind::Invalid, What::VORTEX_DTYPE, input.len()));
    let marker = FileRange { at: input.len().saturating_sub(MARKER), len: MARKER };
    let Some([_, _, low, high, ..]) = bytes.get(marker, What::VORTEX_END)?.first_chunk::<8>() else {
        return Err(lost().into());
    };
    let len = u64::from(u16::from_le_bytes([*low, *high]));
    let postscript = FileRange { at: marker.at.saturating_sub(len), len };
    let postscript: Table<'_> = Flat::new(bytes.get(postscript, What::VORTEX_POSTSCRIPT)?).root()?;
    let Some(part) = flat::Postscript::from(postscript).dtype()? else { return Err(lost().into()) };
    let range = FileRange { at: part.offset()?, len: part.length()?.into() };
    Ok(bytes.get(range, What::VORTEX_DTYPE)?.to_vec())
}
