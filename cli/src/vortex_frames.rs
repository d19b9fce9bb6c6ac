//! The row groups of a Vortex log, found by their frames, compared with what the last checkpoint lists, and what is lost
//! between them (format description, section 17).

use std::collections::HashMap;
use std::ops::Range;

use pilaster::bytes::FileRange;
use pilaster::error::{Error, Kind, What};
use pilaster::unstable::vortex_raw::{GROUP_MAGIC, MAGIC, group_segments_at};
use pilaster::vortex::log::{Frame, Frames, Source};

use crate::failure::Failure;
use crate::lost::number;
use crate::open::{Input, ReadAt};

/// Row groups and checkpoints begin at multiples of this number of bytes.
const ALIGNED: u64 = 8;

/// One row group, and many.
pub const ROW_GROUPS: [&str; 2] = ["row group", "row groups"];

/// Number of bytes that are read at once.
const STEP: usize = 1 << 16;

/// The bytes of a file, read in large steps.
pub struct Steps {
    reader: Box<ReadAt>,
    len: u64,
    at: u64,
    held: Vec<u8>,
}

impl Steps {
    pub fn of(input: &Input<'_>) -> Self {
        Steps { reader: input.reader(), len: input.len(), at: 0, held: Vec::new() }
    }

    /// Returns the bytes of a range, as far as the file has them.
    pub fn get(&mut self, range: FileRange) -> Result<Vec<u8>, Error> {
        let len = range.len.min(self.len.saturating_sub(range.at));
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        self.read(range.at, &mut bytes)?;
        Ok(bytes)
    }
}

impl Source for Steps {
    fn size(&self) -> u64 {
        self.len
    }

    fn read(&mut self, at: u64, to: &mut [u8]) -> Result<(), Error> {
        let short = || Error::needing(Kind::Truncated, What::INPUT, at, to.len() as u64);
        let (end, held) = (at.saturating_add(to.len() as u64), self.at.saturating_add(self.held.len() as u64));
        if at < self.at || end > held {
            let len = self.len.saturating_sub(at).min(STEP.max(to.len()) as u64);
            self.held.resize(usize::try_from(len).unwrap_or(0), 0);
            self.at = at;
            (self.reader)(at, &mut self.held).map_err(|_| short())?;
        }
        let skipped = usize::try_from(at.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let bytes = self.held.get(skipped..).and_then(|held| held.get(..to.len())).ok_or_else(short)?;
        to.copy_from_slice(bytes);
        Ok(())
    }
}

/// A row group: its frame, and the segment of each column.
pub struct Group {
    pub at: u64,
    pub end: u64,
    pub rows: u64,
    pub segments: Vec<FileRange>,
}

impl Group {
    fn of(frame: &Frame, lens: &[u32]) -> Option<Self> {
        let segments = (0..lens.len()).map(|k| frame.segment(lens, k)).collect::<Option<Vec<_>>>()?;
        Some(Group { at: frame.at, end: frame.end, rows: frame.rows.into(), segments })
    }

    /// Returns the row group that a checkpoint lists by its segments.
    pub fn listed(segments: Vec<FileRange>, rows: u64) -> Option<Self> {
        let head = group_segments_at(segments.len());
        let (first, last) = (segments.first()?, segments.last()?);
        let end = last.at.checked_add(last.len)?.checked_next_multiple_of(ALIGNED)?.checked_add(4)?;
        Some(Group { at: first.at.checked_sub(head)?, end, rows, segments })
    }

    /// Returns whether the segments are consecutive, as in a frame. If the layout or the footer that lists them is damaged,
    /// most often they are not.
    fn is_framed(&self) -> bool {
        let mut at = self.segments.first().map_or(0, |first| first.at);
        at.is_multiple_of(ALIGNED)
            && self.segments.iter().all(|segment| {
                let is_next = segment.at == at;
                at = at.saturating_add(segment.len).checked_next_multiple_of(ALIGNED).unwrap_or(u64::MAX);
                is_next
            })
    }
}

/// The intact row groups of a log, and what the report says about the rest.
#[derive(Default)]
pub struct Groups {
    pub found: Vec<Group>,
    /// Number of those that the checkpoint lists.
    pub listed: usize,
    pub notes: Vec<String>,
    /// Number of row groups that are lost, or of ranges of bytes that may have had some.
    pub lost: u64,
}

/// Facts about a log: the end of the last checkpoint, 0 without one, the row groups that it lists, and how checkpoints begin.
pub struct Known<'k> {
    pub end: u64,
    /// `None` if a log has other layouts.
    pub listed: Option<&'k [Group]>,
    pub columns: usize,
    pub dtype: &'k [u8],
}

/// Returns whether one of the first row groups that a checkpoint lists is in its frame, so that the file is a log.
pub fn has_frames(input: &Input<'_>, listed: &[Group], columns: usize) -> Result<bool, Failure> {
    let (mut bytes, mut lens) = (Steps::of(input), vec![0; columns]);
    for group in listed.iter().take(2) {
        match Frames::new(&mut bytes, group.at).next(&mut lens) {
            Ok(Some(frame)) if frame.at == group.at => return Ok(true),
            Err(e) if e.what() != What::VORTEX_LOG => return Err(e.into()),
            _ => {}
        }
    }
    Ok(false)
}

impl Groups {
    /// Reads the whole file, and compares the checks of all row groups.
    pub fn search(input: &Input<'_>, known: &Known<'_>) -> Result<Self, Failure> {
        let mut bytes = Steps::of(input);
        let (mut groups, mut lens, mut strays) = (Groups::default(), vec![0; known.columns], 0);
        let mut list = List::of(known.listed.unwrap_or_default());
        let mut frames = Frames::new(&mut bytes, ALIGNED);
        while let Some(frame) = frames.find(&mut lens)? {
            let Some(group) = Group::of(&frame, &lens) else { continue };
            if let Some(listed) = list.find(&group) {
                if listed.rows != group.rows || listed.segments != group.segments {
                    groups.notes.push(format!("damaged: what the checkpoint says about the row group at {}", group.at));
                }
            } else if group.at < known.end && known.listed.is_some() {
                if list.hides(&group) {
                    continue;
                }
                strays = u64::saturating_add(strays, 1);
            }
            groups.listed = groups.listed.saturating_add(usize::from(group.at < known.end));
            groups.found.push(group);
        }
        match known.listed {
            Some(listed) => groups.unlisted(listed, &list.found, strays, known.end),
            None if known.end == 0 => {}
            None => groups.notes.push("damaged: the layouts of the last checkpoint, which are not used".to_owned()),
        }
        groups.gaps(&mut bytes, known)?;
        Ok(groups)
    }

    /// Reports row groups that the checkpoint lists, and that are not intact.
    fn unlisted(&mut self, listed: &[Group], is_found: &[bool], strays: u64, end: u64) {
        let missing = is_found.iter().filter(|is_found| !**is_found).count() as u64;
        if strays > 0 {
            self.notes.push(format!(
                "damaged: the checkpoint that ends at {end} lists {} elsewhere",
                number(strays, ROW_GROUPS)
            ));
        }
        if missing <= strays {
            return;
        }
        let mut row = 0u64;
        for (k, (group, is_found)) in listed.iter().zip(is_found).enumerate() {
            let after = row.saturating_add(group.rows);
            if !is_found {
                let len = group.end.saturating_sub(group.at);
                let at = group.at;
                self.notes.push(format!("lost: rows {row}..{after}: row group {k}, {len} bytes at {at}, is damaged"));
                self.lost = self.lost.saturating_add(1);
            }
            row = after;
        }
    }

    /// Reports what is between the row groups after the checkpoint, and between all of them if it lists none.
    fn gaps(&mut self, bytes: &mut Steps, known: &Known<'_>) -> Result<(), Failure> {
        let from = if known.listed.is_some() { known.end } else { ALIGNED };
        let mut at = from;
        let mut starts: Vec<(u64, u64)> = self.found.iter().map(|group| (group.at, group.end)).collect();
        starts.push((bytes.len, bytes.len));
        for (start, end) in starts.into_iter().filter(|(start, _)| *start >= from) {
            self.gap(bytes, at..start, known)?;
            at = end;
        }
        Ok(())
    }

    /// Reports what is in a range of bytes without an intact row group.
    fn gap(&mut self, bytes: &mut Steps, range: Range<u64>, known: &Known<'_>) -> Result<(), Failure> {
        let mut at = range.start.next_multiple_of(ALIGNED);
        while at < range.end {
            let left = range.end.saturating_sub(at);
            if let Some((len, is_whole)) = checkpoint(bytes, at, left, known.dtype)? {
                if !is_whole {
                    self.notes
                        .push(format!("left: {len} bytes at {at}: a checkpoint that is not complete; it has no rows"));
                }
                at = at.saturating_add(len).next_multiple_of(ALIGNED);
                continue;
            }
            if range.end == bytes.len && is_erased(bytes, at..range.end)? {
                self.notes.push(format!("left: {left} bytes at {at} that were never written"));
                break;
            }
            let (text, len) = damaged(bytes, at, left, known.columns)?;
            self.notes.push(text);
            self.lost = self.lost.saturating_add(1);
            at = at.saturating_add(len).next_multiple_of(ALIGNED);
        }
        Ok(())
    }

    pub fn rows(&self) -> u64 {
        self.found.iter().fold(0, |sum, group| sum.saturating_add(group.rows))
    }
}

/// The row groups that a checkpoint lists, in any order if it is damaged.
struct List<'l> {
    all: &'l [Group],
    /// Which of them are intact.
    found: Vec<bool>,
    places: HashMap<u64, usize>,
    /// The segments of those that are laid out as in a frame: where each begins and ends, in order.
    segments: Vec<(u64, u64)>,
}

impl<'l> List<'l> {
    fn of(all: &'l [Group]) -> Self {
        let framed = all.iter().filter(|group| group.is_framed()).flat_map(|group| &group.segments);
        let mut segments: Vec<(u64, u64)> =
            framed.map(|segment| (segment.at, segment.at.saturating_add(segment.len))).collect();
        segments.sort_unstable();
        let places = all.iter().enumerate().map(|(k, group)| (group.at, k)).collect();
        List { all, found: vec![false; all.len()], places, segments }
    }

    /// Returns the listed row group at the offset of an intact one.
    fn find(&mut self, group: &Group) -> Option<&'l Group> {
        let k = *self.places.get(&group.at)?;
        *self.found.get_mut(k)? = true;
        self.all.get(k)
    }

    /// Returns whether what looks like a row group lies inside a listed segment, so that it is one of its texts.
    fn hides(&self, group: &Group) -> bool {
        let after = self.segments.partition_point(|(at, _)| *at <= group.at);
        let before = after.checked_sub(1).and_then(|k| self.segments.get(k));
        before.is_some_and(|(_, end)| *end >= group.end)
    }
}

/// Returns the length of the checkpoint at offset `at`, which is cut off by the end of `left` bytes if it has no end marker,
/// and whether it has one; `None` if none begins there.
fn checkpoint(bytes: &mut Steps, at: u64, left: u64, dtype: &[u8]) -> Result<Option<(u64, bool)>, Failure> {
    let start = bytes.get(FileRange { at, len: left.min(dtype.len() as u64) })?;
    // Some of the bytes may be damaged.
    let same = start.iter().zip(dtype).filter(|(a, b)| a == b).count();
    // The first checkpoint of a log always begins there.
    let is_first = at == ALIGNED;
    if start.starts_with(&GROUP_MAGIC) || !is_first && same.saturating_mul(4) < start.len().saturating_mul(3) {
        return Ok(None);
    }
    let mut done = start.len() as u64 & !3;
    while done < left {
        let len = left.saturating_sub(done).min(STEP as u64);
        let part = bytes.get(FileRange { at: at.saturating_add(done), len })?;
        for four in part.chunks(4) {
            if *four == GROUP_MAGIC {
                return Ok(Some((done, false)));
            }
            done = done.saturating_add(four.len() as u64);
            if *four == MAGIC {
                return Ok(Some((done, true)));
            }
        }
    }
    Ok(Some((left, false)))
}

/// Returns whether all bytes are as in erased flash. Zeros may be rows that a file system lost.
fn is_erased(bytes: &mut Steps, range: Range<u64>) -> Result<bool, Failure> {
    let mut at = range.start;
    while at < range.end {
        let len = range.end.saturating_sub(at).min(STEP as u64);
        if bytes.get(FileRange { at, len })?.iter().any(|byte| *byte != 0xff) {
            return Ok(false);
        }
        at = at.saturating_add(len);
    }
    Ok(true)
}

/// Returns what is said about bytes that are no intact row group, and their number.
fn damaged(bytes: &mut Steps, at: u64, left: u64, columns: usize) -> Result<(String, u64), Failure> {
    let start = bytes.get(FileRange { at, len: left.min(8) })?;
    let (magic, rows) = start.split_at_checked(GROUP_MAGIC.len()).unwrap_or((&start, &[]));
    if !GROUP_MAGIC.starts_with(magic) {
        return Ok((format!("lost: {left} bytes at {at}, which are no row group and no checkpoint"), left));
    }
    let rows = rows.first_chunk().map_or(0, |rows| u32::from_le_bytes(*rows));
    let (mut lens, head) = (vec![0; columns], group_segments_at(columns));
    Ok(match Frames::new(&mut *bytes, at).next(&mut lens) {
        // The check of the head agrees, so that the number of rows is right.
        Err(e) if e.kind() == Kind::Truncated && u64::from(e.need()) > head => {
            let text =
                format!("{rows} rows: only {left} bytes of their row group at {at} were written, of {}", e.need());
            (format!("lost: {text}"), left)
        }
        Err(e) if e.kind() == Kind::Checksum && e.at() >= at.saturating_add(head) => {
            let len = e.at().saturating_add(4).saturating_sub(at).min(left);
            (format!("lost: {rows} rows: their row group, {len} bytes at {at}, is damaged"), len)
        }
        Err(e) if e.what() != What::VORTEX_LOG => return Err(e.into()),
        Err(e) if e.kind() == Kind::Truncated => {
            (format!("lost: a row group, of which only {left} bytes at {at} were written"), left)
        }
        _ => (format!("lost: {left} bytes at {at}, in which row groups are damaged or not complete"), left),
    })
}
