//! Resumes a log after a power cut: the last checkpoint, and the row groups after it.

use super::end::{self, Shape, Sizes, TAIL, TAIL_LEN};
use super::field::{Field, Schema};
use super::frames::{Frame, Frames, differs, magic as group_magic, marker, up8};
use super::groups::Groups;
use super::put::{Flat, Put};
use super::source::Source;
use crate::bytes::{len32, low32};
use crate::error::{Error, Kind, Result, What};
use crate::vortex::raw;

/// Size in bytes of the windows of the search and of the comparison.
const WINDOW: usize = 64;

/// The position where a log can be resumed, and the number of row groups before it.
///
/// ```
/// use pilaster::bytes::SliceSink;
/// use pilaster::vortex::File;
/// use pilaster::vortex::log::{Log, Of, Policy, Record, Resume};
/// use pilaster::vortex::record;
///
/// record! {
///     struct Tick { time: u32 }
/// }
///
/// # #[cfg(feature = "alloc")] {
/// let (mut memory, mut groups) = ([0; Tick::memory_len(8, 0)], [0; 80]);
/// let mut log = Log::of::<Tick>(Vec::new(), (&mut memory, 8), &mut groups, Policy::ByHand)?;
/// for time in 0..20 {
///     log.push(&Tick { time })?; // Writes a row group after every eighth row.
/// }
/// let mut bytes = log.sink().clone();
/// bytes.truncate(bytes.len() - 1); // A crash: the last byte of the second row group was not written.
///
/// let columns = Of::<Tick>::new();
/// let found = Resume::find(&bytes[..], &columns, &mut groups)?;
/// assert_eq!((found.groups(), found.rows()), (1, 8));
/// bytes.truncate(found.at() as usize);
/// let mut log = Log::resume(bytes, columns, (&mut memory, 8), &mut groups, (&found, Policy::ByHand))?;
/// log.push(&Tick { time: 20 })?;
/// let file = log.finish()?;
/// assert_eq!(File::open(&file)?.rows()?, 9);
/// # }
/// # Ok::<(), pilaster::vortex::log::WriteError<core::convert::Infallible>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Resume {
    at: u64,
    groups: u32,
    covered: u32,
    rows: u64,
    damage: Option<Error>,
    rest: Option<Error>,
    is_skipping: bool,
    /// Whether the log ends with a checkpoint of all its row groups.
    is_ended: bool,
}

impl Resume {
    /// Finds the end of the last intact row group of a log of these columns, and fills `groups` with the records of all row
    /// groups. Reads windows of at most 64 bytes.
    ///
    /// The last checkpoint is compared with the one that a [`Log`](super::Log) writes, byte by byte, and with the heads of its
    /// row groups. The row groups after it are verified by their checks; the values of those before it are not read:
    /// [`drop_damaged`](Self::drop_damaged) verifies them.
    /// Damaged bytes after the checkpoint are skipped if an intact row group follows; [`damage`](Self::damage) then
    /// tells about them. All bytes after the last checkpoint are read twice, and damaged row groups three times.
    ///
    /// # Errors
    /// [`Kind::Truncated`] in `What::VORTEX_CHECKPOINT` if the source ends in or directly after its first checkpoint, which is
    /// not complete, so that it has no rows: a new log may replace it. [`Kind::Invalid`] in `What::VORTEX_LOG` if it is no Vortex file.
    /// [`Kind::Misuse`] in `What::VORTEX_CHECKPOINT` if it has no intact checkpoint of these columns: it is a log of other
    /// columns, or its checkpoints are damaged. It may have rows. [`Kind::NoRoom`] in `What::VORTEX_GROUPS` if it has
    /// more row groups than `groups` has memory for (`need`: the required size in bytes). [`Kind::Limit`] in
    /// `What::VORTEX_LOG` if damaged bytes have very many starts of row groups; only invented files have. Errors of the
    /// source.
    #[inline(never)]
    pub fn find<T: Schema>(mut source: impl Source, schema: &T, groups: &mut [u32]) -> Result<Self> {
        let fields = schema.fields();
        let mut magic = raw::MAGIC;
        let size = source.size();
        if size >= magic.len() as u64 {
            source.read(0, &mut magic)?;
        }
        // The first checkpoint follows the magic and 4 zeros.
        let first = Sizes::of(schema, 0).map_or(0, |sizes| u64::from(sizes.total()).saturating_add(8));
        if size <= 8 {
            return Err(Error::needing(Kind::Truncated, What::VORTEX_CHECKPOINT, size, first));
        }
        if magic != raw::MAGIC {
            return Err(Error::needing(Kind::Invalid, What::VORTEX_LOG, 0, u32::from_le_bytes(magic).into()));
        }
        let mut groups = Groups::new(groups, fields.len());
        let mut before = size;
        let checkpoint = loop {
            let Some(end) = marker::<WINDOW>(&mut source, before)? else {
                // A source that ends before the first row group, and has no end of a checkpoint, is the start of one.
                let is_torn = before == size && size <= up8(first) && group_magic(&mut source, 0)?.is_none();
                let kind = if is_torn { Kind::Truncated } else { Kind::Misuse };
                return Err(Error::needing(kind, What::VORTEX_CHECKPOINT, before, first));
            };
            if compared(&mut source, end, schema, &mut groups)? {
                break end;
            }
            before = end.saturating_sub(4);
        };
        let covered = groups.len();
        let mut frames = Frames::new(&mut source, checkpoint);
        let (mut damage, mut rest) = (None, None);
        while let Some((frame, before)) = next(&mut frames, fields, &mut groups, &mut rest)? {
            damage = damage.or(before);
            groups.add(frame.segments, frame.rows);
        }
        let (at, rows) = (frames.at(), groups.rows());
        let is_ended = at == checkpoint;
        let is_skipping = damage.is_some();
        Ok(Resume { at, groups: groups.len(), covered, rows, damage, rest, is_skipping, is_ended })
    }

    /// Verifies the checks of all row groups, also of those that the last checkpoint covers, and removes the records of
    /// those that are damaged from `groups`, so that the checkpoints that follow do not list their rows. Returns the number
    /// of removed row groups.
    ///
    /// `schema` and `groups` are as for [`find`](Self::find). Reads all bytes of the row groups once, in windows of 64
    /// bytes, and hashes them; `find` reads only a checkpoint. The last checkpoint of the source still lists the removed row
    /// groups: the resumed log begins with one that does not.
    ///
    /// ```
    /// use pilaster::vortex::File;
    /// use pilaster::vortex::log::{Log, Of, Policy, Record, Resume};
    /// use pilaster::vortex::record;
    ///
    /// record! {
    ///     struct Tick { time: u32 }
    /// }
    ///
    /// # #[cfg(feature = "alloc")] {
    /// let (mut memory, mut groups) = ([0; Tick::memory_len(8, 0)], [0; 80]);
    /// let mut log = Log::of::<Tick>(Vec::new(), (&mut memory, 8), &mut groups, Policy::ByHand)?;
    /// for time in 0..24 {
    ///     log.push(&Tick { time })?;
    /// }
    /// let mut bytes = log.finish()?;
    /// let at = bytes.windows(4).position(|four| four == b"PLRG").expect("a row group");
    /// bytes[at + 40] ^= 1; // A bit of the first row group has changed.
    ///
    /// let columns = Of::<Tick>::new();
    /// let mut found = Resume::find(&bytes[..], &columns, &mut groups)?;
    /// assert_eq!(found.rows(), 24);
    /// assert_eq!(found.drop_damaged(&bytes[..], &columns, &mut groups)?, 1);
    /// assert_eq!(found.rows(), 16);
    /// let log = Log::resume(bytes, columns, (&mut memory, 8), &mut groups, (&found, Policy::ByHand))?;
    /// assert_eq!(File::open(&log.finish()?)?.rows()?, 16);
    /// # }
    /// # Ok::<(), pilaster::vortex::log::WriteError<core::convert::Infallible>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of the source. Then `groups` is not valid any more: call `find` again.
    pub fn drop_damaged<T: Schema>(&mut self, mut source: impl Source, schema: &T, groups: &mut [u32]) -> Result<u32> {
        let columns = schema.fields().len();
        let mut kept = Groups::new(groups, columns);
        for k in 0..self.groups {
            // The record of row group k, or one before it that was removed, takes what is read.
            let at = kept.at(k);
            let Some(lens) = kept.next() else { break };
            match Frames::new(&mut source, at.wrapping_sub(raw::group_segments_at(columns))).next(lens) {
                Ok(Some(frame)) if frame.segments == at => kept.add(at, frame.rows),
                Ok(_) => {}
                Err(e) if e.what() == What::VORTEX_LOG => {}
                Err(e) => return Err(e),
            }
        }
        let removed = self.groups.wrapping_sub(kept.len());
        if removed > 0 {
            (self.groups, self.rows, self.covered, self.is_ended) = (kept.len(), kept.rows(), 0, false);
            // The next search must not begin at the checkpoint that lists them.
            self.is_skipping = true;
        }
        Ok(removed)
    }

    /// Continues the log at the first multiple of 8 that is at least `end`, if `end` is after [`at`](Self::at). For media
    /// whose bytes can be neither cut off nor overwritten, such as flash: `end` is the offset after the last byte that is
    /// not erased. Do not round it up: a log that ends with a checkpoint would get another one.
    ///
    /// The bytes before the new offset stay and have no meaning. If they are more than the padding of the last row group or
    /// checkpoint, the resumed log begins with a checkpoint, after which its row groups are found without a search.
    ///
    /// ```
    /// use pilaster::vortex::File;
    /// use pilaster::vortex::log::{Log, Of, Policy, Resume};
    /// use pilaster::vortex::record;
    ///
    /// record! {
    ///     struct Tick { time: u32 }
    /// }
    ///
    /// # #[cfg(feature = "alloc")] {
    /// let (columns, mut memory, mut groups) = (Of::<Tick>::new(), [0; Tick::memory_len(8, 0)], [0; 80]);
    /// let mut log = Log::of::<Tick>(Vec::new(), (&mut memory, 8), &mut groups, Policy::ByHand)?;
    /// for time in 0..16 {
    ///     log.push(&Tick { time })?;
    /// }
    /// // A power cut in the second row group; its bytes cannot be overwritten.
    /// let mut bytes = log.sink().clone();
    /// bytes.truncate(bytes.len() - 9);
    ///
    /// let found = Resume::find(&bytes[..], &columns, &mut groups)?.skipping(bytes.len() as u64);
    /// assert_eq!((found.rows(), found.at()), (8, bytes.len().next_multiple_of(8) as u64));
    /// bytes.resize(found.at() as usize, 0xff);
    /// let log = Log::resume(bytes, columns, (&mut memory, 8), &mut groups, (&found, Policy::ByHand))?;
    /// assert_eq!(File::open(&log.finish()?)?.rows()?, 8);
    /// # }
    /// # Ok::<(), pilaster::vortex::log::WriteError<core::convert::Infallible>>(())
    /// ```
    #[must_use]
    pub const fn skipping(self, end: u64) -> Self {
        if end <= self.at {
            return self;
        }
        // Also a part of the padding makes the checkpoint before it no end of a file.
        let is_skipping = self.is_skipping || up8(end) > up8(self.at);
        Resume { at: up8(end), is_skipping, is_ended: false, ..self }
    }

    /// Returns whether the log begins with a checkpoint.
    pub(super) const fn is_skipping(&self) -> bool {
        self.is_skipping
    }

    /// Returns whether the log ends with a checkpoint of all its row groups.
    pub(super) const fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Returns the offset where the log continues. Bytes after it have no intact row group, and must be cut off, erased or
    /// [skipped](Self::skipping) before.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Returns the number of intact row groups.
    #[must_use]
    pub const fn groups(&self) -> u32 {
        self.groups
    }

    /// Returns the number of row groups in the last checkpoint.
    pub(super) const fn covered(&self) -> u32 {
        self.covered
    }

    /// Returns the number of rows of the intact row groups.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns what was wrong first with the bytes between the last checkpoint and the last intact row group, which have lost
    /// row groups or checkpoints; `None` if row groups follow each other.
    #[must_use]
    pub const fn damage(&self) -> Option<Error> {
        self.damage
    }

    /// Returns what is wrong with the bytes after the last intact row group; `None` if no bytes follow.
    #[must_use]
    pub const fn rest(&self) -> Option<Error> {
        self.rest
    }
}

/// Reads the next intact row group into `groups`. Returns it, and what is wrong with the bytes that were skipped before it;
/// `None` if there is no other one, and then what is wrong with the bytes that follow, in `rest`.
#[inline(never)]
fn next<S: Source>(
    frames: &mut Frames<S>,
    fields: &[Field<'_>],
    groups: &mut Groups<'_>,
    rest: &mut Option<Error>,
) -> Result<Option<(Frame, Option<Error>)>> {
    // Without memory for another record, there may be no other row group.
    let taken = groups.len();
    let Some(lens) = groups.next() else {
        return match frames.next(&mut []) {
            Ok(None) => Ok(None),
            Err(e) if e.what() != What::VORTEX_LOG => Err(e),
            Err(e) if !frames.begins()? => {
                *rest = Some(e);
                Ok(None)
            }
            _ => Err(no_room(fields, taken.saturating_add(1))),
        };
    };
    match frames.next(lens) {
        Ok(frame) => Ok(frame.map(|frame| (frame, None))),
        // The row groups after an error of the medium are not lost.
        Err(e) if e.what() != What::VORTEX_LOG => Err(e),
        Err(e) => {
            let found = frames.find_after(lens)?.map(|frame| (frame, Some(e)));
            *rest = if found.is_none() { Some(e) } else { None };
            Ok(found)
        }
    }
}

fn no_room(fields: &[Field<'_>], groups: u32) -> Error {
    let each = super::group_words(fields.len()).saturating_mul(4) as u64;
    Error::needing(Kind::NoRoom, What::VORTEX_GROUPS, 0, each.saturating_mul(groups.into()))
}

/// Reads the records of the checkpoint that ends at `end`, and compares it with the one that is written for them. Returns
/// whether they are equal.
#[inline(never)]
fn compared<S: Source>(source: &mut S, end: u64, schema: &impl Schema, groups: &mut Groups<'_>) -> Result<bool> {
    let fields = schema.fields();
    let Some(tail_at) = end.checked_sub(TAIL_LEN.into()) else { return Ok(false) };
    let mut tail = [0; TAIL_LEN as usize];
    source.read(tail_at, &mut tail)?;
    let number = |at: usize| {
        let eight = tail.get(at..).and_then(<[u8]>::first_chunk);
        eight.map_or(0, |eight| u64::from_le_bytes(*eight))
    };
    let [dtype, layout, _, footer, footer_len] = TAIL.map(number);
    let footer_len = low32(footer_len);
    if footer.checked_add(footer_len.into()) != Some(tail_at) {
        return Ok(false);
    }
    let Some(count) = end::groups_in(schema, footer_len) else { return Ok(false) };
    let Some(sizes) = Sizes::of(schema, count) else { return Ok(false) };
    // All offsets that are read are then between the start of the checkpoint and its end.
    let starts = (dtype.checked_add(sizes.dtype.into()), dtype.checked_add(sizes.total().into()));
    if starts != (Some(layout), Some(end)) {
        return Ok(false);
    }
    if count > groups.capacity() {
        return Err(no_room(fields, count));
    }
    groups.set_len(0, 0);
    let shape = Shape::of(len32(fields.len()), count);
    let mut at = footer.wrapping_add(end::segments_at(schema).wrapping_add(4).into());
    let word = |source: &mut S, at: u64| -> Result<u32> {
        let mut four = [0; 4];
        source.read(at, &mut four)?;
        Ok(u32::from_le_bytes(four))
    };
    for j in 0..count {
        let rows = word(source, layout.wrapping_add(shape.flat(j).wrapping_add(4).into()))?;
        let (low, high) = (word(source, at)?, word(source, at.wrapping_add(4))?);
        let Some(lens) = groups.next() else { return Ok(false) };
        for len in lens.iter_mut() {
            *len = word(source, at.wrapping_add(8))?;
            at = at.wrapping_add(16);
        }
        // A checkpoint has no check, and the length of the last segment is nowhere else in it.
        let segments = u64::from(low) | u64::from(high) << 32;
        if segments >= dtype || differs(source, segments, rows, lens)? {
            return Ok(false);
        }
        groups.add(segments, rows);
    }
    let mut compare = Compare { source, at: dtype, outcome: Ok(true) };
    end::checkpoint(&mut Flat::new(&mut compare), dtype, schema, groups, sizes);
    compare.outcome
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
