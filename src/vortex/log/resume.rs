//! Resumes a log after a power cut: the last checkpoint, and the row groups after it.

use super::end::Sizes;
use super::field::Schema;
use super::fixed::Part;
use super::frames::{Frame, Frames, SEED, magic as group_magic, marker, up8};
use super::groups::{Groups, group_words};
use super::place::is_checkpoint;
use super::put::{Flat, Put};
use super::source::Source;
use crate::error::{Error, Kind, Result, What};
use crate::hash::Lookup2;
use crate::vortex::raw;

/// Size in bytes of the windows of the search for markers.
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
/// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
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
    /// Whether there is no memory for another row group.
    is_full: bool,
    /// Check of the columns and of the records.
    check: u32,
}

impl Resume {
    /// Finds the end of the last intact row group of a log of these columns, and fills `groups` with the records of all row
    /// groups. Reads windows of at most 64 bytes.
    ///
    /// The last checkpoint is compared with the one that a [`Log`](super::Log) writes, byte by byte, and with the heads of its
    /// row groups; no intact row group may be between the last of them and the checkpoint. The row groups after it are
    /// verified by their checks; the values of those before it are not read: [`drop_damaged`](Self::drop_damaged) verifies
    /// them.
    /// Damaged bytes after the checkpoint are skipped if an intact row group follows; [`damage`](Self::damage) then
    /// tells about them. The bytes after the last checkpoint are read twice if all of them are intact row groups. Bytes that
    /// only look like checkpoints or row groups are read several times, within a bound.
    ///
    /// # Errors
    /// [`Kind::Truncated`] in `What::VORTEX_CHECKPOINT` if the source ends in or directly after its first checkpoint, which is
    /// not complete, so that it has no rows: a new log may replace it. [`Kind::Invalid`] in `What::VORTEX_LOG` if it is no Vortex file.
    /// [`Kind::Misuse`] in `What::VORTEX_CHECKPOINT` if it has no intact checkpoint of these columns: it is a log of other
    /// columns, or its checkpoints are damaged. It may have rows. [`Kind::NoRoom`] in `What::VORTEX_GROUPS` if it has
    /// more row groups than `groups` has memory for (`need`: the required size in bytes). [`Kind::Limit`] in
    /// `What::VORTEX_LOG` or `What::VORTEX_CHECKPOINT` if what only looks like row groups and checkpoints has more than twice
    /// the bytes of the source and 64 KiB, counted each time they are read; only invented files have. Errors of the source.
    #[inline(never)]
    pub fn find<T: Schema>(mut source: impl Source, schema: &T, groups: &mut [u32]) -> Result<Self> {
        let size = source.size();
        verify_start(&mut source, size)?;
        // The first checkpoint follows the magic and 4 zeros.
        let first = Sizes::of(schema, 0).map_or(0, |sizes| u64::from(sizes.total()).saturating_add(8));
        if size <= 8 {
            return Err(Error::needing(Kind::Truncated, What::VORTEX_CHECKPOINT, size, first));
        }
        let (mut groups, mut frames, mut before) = (Groups::new(groups, schema.count()), Frames::new(source, 0), size);
        let checkpoint = loop {
            let Some(end) = marker::<WINDOW>(&mut frames.source, before)? else {
                // A source that ends before the first row group, and has no end of a checkpoint, is the start of one.
                let is_start = before == size && size <= up8(first);
                let is_torn = is_start && group_magic(&mut frames.source, 0, size)?.is_none();
                let kind = if is_torn { Kind::Truncated } else { Kind::Misuse };
                return Err(Error::needing(kind, What::VORTEX_CHECKPOINT, before, first));
            };
            if is_checkpoint(&mut frames, end, schema, &mut groups)? {
                break end;
            }
            before = end.saturating_sub(4);
        };
        let covered = groups.len();
        frames.go_to(checkpoint);
        let (mut damage, mut rest) = (None, None);
        while let Some((frame, before)) = next(&mut frames, schema.count(), &mut groups, &mut rest)? {
            damage = damage.or(before);
            groups.add(frame.segments, frame.rows);
        }
        let (at, rows) = (frames.at(), groups.rows());
        let (is_ended, is_skipping, is_full) = (at == checkpoint, damage.is_some(), groups.is_full());
        let check = fingerprint(schema, &groups);
        let groups = groups.len();
        Ok(Resume { at, groups, covered, rows, damage, rest, is_skipping, is_ended, is_full, check })
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
    /// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::NoRoom`] or [`Kind::Misuse`] in `What::VORTEX_GROUPS` if `schema` or `groups` is another one; [`Kind::Limit`]
    /// in `What::VORTEX_LOG` if the row groups overlap each other, as they do in invented files only; errors of the source.
    /// Then `groups` is not valid any more: call `find` again.
    pub fn drop_damaged<T: Schema>(&mut self, source: impl Source, schema: &T, groups: &mut [u32]) -> Result<u32> {
        let columns = schema.count();
        let mut kept = Groups::new(groups, columns);
        self.fill(schema, &mut kept)?;
        kept.set_len(0, 0);
        let mut frames = Frames::new(source, 0);
        for k in 0..self.groups {
            // The record of row group k, or one before it that was removed, takes what is read.
            let at = kept.at(k);
            let Some(lens) = kept.next() else { break };
            frames.go_to(at.saturating_sub(raw::group_segments_at(columns)));
            match frames.step(columns, lens) {
                Ok(Some(frame)) if frame.segments == at => kept.add(at, frame.rows),
                Ok(_) => {}
                Err(e) if e.what() == What::VORTEX_LOG => {}
                Err(e) => return Err(e),
            }
            frames.charge(0, What::VORTEX_LOG)?;
        }
        let removed = self.groups.wrapping_sub(kept.len());
        if removed > 0 {
            (self.groups, self.rows, self.covered, self.is_ended) = (kept.len(), kept.rows(), 0, false);
            (self.is_full, self.check) = (kept.is_full(), fingerprint(schema, &kept));
            // The next search must not begin at the checkpoint that lists them.
            self.is_skipping = true;
        }
        Ok(removed)
    }

    /// Sets the number of row groups of `groups`, whose memory has the records that were found.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if there is memory for fewer records, [`Kind::Misuse`] if the memory has others or the columns are
    /// others, both in `What::VORTEX_GROUPS`.
    #[inline(never)]
    pub(super) fn fill(&self, schema: &impl Schema, groups: &mut Groups<'_>) -> Result<()> {
        if self.groups > groups.capacity() {
            return Err(no_room(schema.count(), self.groups));
        }
        groups.set_len(self.groups, self.rows);
        if fingerprint(schema, groups) == self.check {
            Ok(())
        } else {
            Err(Error::new(Kind::Misuse, What::VORTEX_GROUPS, self.groups.into()))
        }
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
    /// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
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

    /// Returns whether the memory for records is full, so that no row group can be added. A device then starts another log, or
    /// provides more memory. It should not [resume](super::Log::resume) this log, which would take the rows of one more row
    /// group and then fail to write them.
    ///
    /// ```
    /// use pilaster::vortex::log::{Log, Of, Policy, Record, Resume, group_words};
    /// use pilaster::vortex::record;
    ///
    /// record! {
    ///     struct Tick { time: u32 }
    /// }
    ///
    /// # #[cfg(feature = "alloc")] {
    /// const ONE: usize = group_words(Tick::FIELDS.len());
    /// let (mut memory, mut groups) = ([0; Tick::memory_len(8, 0)], [0; 3 * ONE]);
    /// let mut log = Log::of::<Tick>(Vec::new(), (&mut memory, 8), &mut groups, Policy::ByHand)?;
    /// for time in 0..16 {
    ///     log.push(&Tick { time })?;
    /// }
    /// let bytes = log.finish()?;
    /// assert!(!Resume::find(&bytes[..], &Of::<Tick>::new(), &mut groups)?.is_full());
    /// assert!(Resume::find(&bytes[..], &Of::<Tick>::new(), &mut groups[..2 * ONE])?.is_full());
    /// # }
    /// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
    /// ```
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.is_full
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

/// Checks that a source begins as a Vortex file does, or as the start of one that was torn by a power cut: the rest of
/// it may be erased.
fn verify_start(source: &mut impl Source, size: u64) -> Result<()> {
    let mut start = [0xff; raw::MAGIC.len()];
    let len = usize::try_from(size).unwrap_or(usize::MAX).min(start.len());
    source.read(0, start.get_mut(..len).unwrap_or_default())?;
    // A power cut in the first word of flash may leave bits that were not cleared yet.
    let fits = |(have, want): (&u8, &u8)| have == want || size <= 8 && have & want == *want;
    if start.iter().zip(&raw::MAGIC).all(fits) {
        Ok(())
    } else {
        Err(Error::needing(Kind::Invalid, What::VORTEX_LOG, 0, u32::from_le_bytes(start).into()))
    }
}

/// Reads the next intact row group into `groups`. Returns it, and what is wrong with the bytes that were skipped before it;
/// `None` if there is no other one, and then what is wrong with the bytes that follow, in `rest`.
#[inline(never)]
fn next<S: Source>(
    frames: &mut Frames<S>,
    columns: usize,
    groups: &mut Groups<'_>,
    rest: &mut Option<Error>,
) -> Result<Option<(Frame, Option<Error>)>> {
    let at = frames.at();
    // Without memory for another record, there may be no other row group.
    let lens = groups.next().unwrap_or_default();
    let (found, damage) = match frames.walk(columns, lens) {
        Ok(found) => (found, None),
        // The row groups after an error of the medium are not lost.
        Err(e) if e.what() != What::VORTEX_LOG => return Err(e),
        Err(e) => {
            frames.go_to(up8(at).saturating_add(8));
            (frames.search(columns, lens, u64::MAX)?, Some(e))
        }
    };
    if let Some(frame) = found {
        return if groups.is_full() {
            Err(no_room(columns, groups.len().saturating_add(1)))
        } else {
            Ok(Some((frame, damage)))
        };
    }
    frames.go_to(at);
    *rest = damage;
    Ok(None)
}

#[cold]
pub(super) fn no_room(columns: usize, groups: u32) -> Error {
    let each = group_words(columns).saturating_mul(4) as u64;
    Error::needing(Kind::NoRoom, What::VORTEX_GROUPS, 0, each.saturating_mul(groups.into()))
}

/// Returns a check of the columns, with their names, and of the records of all row groups.
#[inline(never)]
fn fingerprint(schema: &impl Schema, groups: &Groups<'_>) -> u32 {
    let mut check = Lookup2::new(SEED);
    let mut flat = Flat::new(&mut check);
    schema.put_part(Part::Dtype, &mut flat);
    flat.words(groups.records());
    check.value()
}

impl Put for Lookup2 {
    fn put(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}
