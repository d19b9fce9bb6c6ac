//! The logger: row groups in frames, and checkpoints.

use core::fmt;

use super::chunk::Chunk;
use super::end::{Sizes, checkpoint};
use super::field::{Of, Schema, Uses};
use super::frames::{SEED, frame_len, segments_at, up8};
use super::groups::Groups;
use super::put::{Out, Put};
use super::record::{Cell, Record};
use super::resume::Resume;
use super::rows::{Refused, Rows};
use super::{Policy, Rewind, WriteError};
use crate::bytes::{Sink, len32};
use crate::error::{Error, Kind, Result, What};
use crate::hash::Lookup2;
use crate::vortex::raw::{GROUP_MAGIC, MAGIC};

/// Removes the bytes of a sink from an offset to the end, if it can.
type Cut<S> = fn(&mut S, u64) -> core::result::Result<(), <S as Sink>::Error>;

/// A Vortex file that is written row by row without a heap.
///
/// Rows are collected in memory of the caller. When they fill it, they are written as a row group, each column with its
/// smallest encoding. A checkpoint makes all row groups before it a valid file for every reader of Vortex. Row groups after
/// the last checkpoint survive a power cut, too: [`Resume`] finds them, and so does `pilaster recover`.
///
/// [`record!`](crate::vortex::record) and [`Fields`](super::Fields) have examples.
pub struct Log<'m, S: Sink, T> {
    out: Out<S>,
    schema: T,
    rows: Rows<'m>,
    groups: Groups<'m>,
    policy: Policy,
    /// Removes the last checkpoint.
    cut: Option<Cut<S>>,
    /// Offset after the last row group, where the last checkpoint may be removed.
    data_end: u64,
    /// Number of row groups in the last checkpoint.
    covered: u32,
    /// Time of the last checkpoint.
    time: u64,
    /// Whether the sink has failed, or the log is finished.
    is_closed: bool,
}

impl<S: Sink, T> fmt::Debug for Log<'_, S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = self.groups.len();
        f.debug_struct("Log").field("at", &self.out.at).field("groups", &groups).finish_non_exhaustive()
    }
}

impl<'m, S: Sink, R: Record<Static = R>> Log<'m, S, Of<R>> {
    /// Starts a log of rows of `R`. Arguments and errors are as for [`new`](Log::new).
    pub fn of<Row: Record<Static = R>>(
        sink: S,
        memory: (&'m mut [u8], usize),
        groups: &'m mut [u32],
        policy: Policy,
    ) -> core::result::Result<Self, WriteError<S::Error>> {
        Log::new(sink, Of::new(), memory, groups, policy)
    }

    /// Adds a row. Writes the row group if it is full then, or if the texts of the row do not fit, and a checkpoint when the
    /// policy asks for one.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] in `What::VORTEX_TEXT_MEMORY` if the texts of the row do not fit the empty memory (`need`: their
    /// size in bytes): then the row is not added. Errors of [`flush`](Self::flush).
    pub fn push<Row: Record<Static = R>>(&mut self, row: &Row) -> core::result::Result<(), WriteError<S::Error>> {
        row.with_cells(|cells| self.push_cells(cells))
    }
}

impl<'m, S: Sink, T: Schema> Log<'m, S, T> {
    /// Starts a log: writes the magic and a checkpoint without rows.
    ///
    /// `memory` is the memory of the rows of one row group and their number, which becomes a multiple of 8;
    /// [`memory_len`](super::memory_len) is its size, and multiples of 1,024 rows are packed best. `groups` is the memory for
    /// the records of row groups, [`group_words`](super::group_words) for each.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if `memory` is too small (`need`: the required size in bytes), or the sink has no space for the
    /// checkpoint; errors of the sink.
    #[inline(never)]
    pub fn new(
        sink: S,
        schema: T,
        memory: (&'m mut [u8], usize),
        groups: &'m mut [u32],
        policy: Policy,
    ) -> core::result::Result<Self, WriteError<S::Error>> {
        let mut log = Log::started(sink, schema, memory, (groups, 0), policy)?;
        let first = Sizes::of(log.schema.fields(), 0).map_or(u64::MAX, |sizes| u64::from(sizes.total()));
        log.check_room(0, up8(MAGIC.len() as u64).saturating_add(first))?;
        log.out.put(&MAGIC);
        log.data_end = up8(log.out.at);
        log.put_checkpoint()?;
        // The first checkpoint is never removed: it has the types of the columns.
        log.data_end = log.out.at;
        Ok(log)
    }

    /// Creates a log that continues at offset `found.at()` of its medium, after [`Resume::find`] with the same columns and
    /// `groups`. The sink puts its first byte at that offset. The first checkpoint then covers the row groups that were
    /// found after the last one. It is written at once if `found` [skips](Resume::skipping) bytes.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] as for [`new`](Self::new); errors of the sink.
    pub fn resume(
        sink: S,
        schema: T,
        memory: (&'m mut [u8], usize),
        groups: &'m mut [u32],
        (found, policy): (&Resume, Policy),
    ) -> core::result::Result<Self, WriteError<S::Error>> {
        let mut log = Log::started(sink, schema, memory, (groups, found.groups()), policy)?;
        log.out.at = found.at();
        (log.data_end, log.covered) = (found.at(), found.covered());
        if found.is_skipping() {
            log.put_checkpoint()?;
            // It is never removed: the row groups after the skipped bytes are found from it.
            log.data_end = log.out.at;
        }
        Ok(log)
    }

    fn started(
        sink: S,
        schema: T,
        (memory, rows): (&'m mut [u8], usize),
        (words, len): (&'m mut [u32], u32),
        policy: Policy,
    ) -> Result<Self> {
        let rows = Rows::new(schema.fields(), memory, rows)?;
        let mut groups = Groups::new(words, schema.fields().len());
        groups.set_len(len);
        let out = Out::new(sink, 0);
        Ok(Log { out, schema, rows, groups, policy, cut: None, data_end: 0, covered: 0, time: 0, is_closed: false })
    }

    /// Replaces checkpoints: before a row group is written, the checkpoint after the previous one is cut off, except the
    /// first of the file. So the file has no dead bytes. If the power fails before the next checkpoint, row groups are
    /// still found.
    #[must_use]
    pub fn replacing(mut self) -> Self
    where
        S: Rewind,
    {
        self.cut = Some(S::rewind);
        self
    }

    /// Adds a row from its values, as [`push`](Log::push) does.
    ///
    /// # Errors
    /// [`Kind::Misuse`] in `What::VORTEX_FIELD` with the index of the first column whose value has another type, or is
    /// missing although the column is not nullable; errors of [`push`](Log::push).
    #[inline(never)]
    pub fn push_cells(&mut self, cells: &[Cell<'_>]) -> core::result::Result<(), WriteError<S::Error>> {
        loop {
            match self.rows.push(self.schema.fields(), cells) {
                Ok(()) => break,
                Err(Refused::Full) => self.flush()?,
                Err(Refused::Bad(e)) => return Err(e.into()),
            }
        }
        if self.rows.is_full() { self.flush() } else { Ok(()) }
    }

    /// Writes the rows as a row group, and a checkpoint when the policy asks for one. Without rows, writes nothing.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] in `What::VORTEX_GROUPS` if there is no memory for its record (`need`: bytes for one more), and in
    /// `What::DESTINATION` if the sink has no space for it or the checkpoint: then nothing was written of it, and the rows
    /// are kept. [`Kind::Misuse`] if the sink has failed before or the log is finished; errors of the sink.
    pub fn flush(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        self.check_open()?;
        if self.rows.len() > 0 {
            self.put_group()?;
        }
        let new = self.groups.len().wrapping_sub(self.covered);
        let due = match self.policy {
            Policy::ByHand => false,
            Policy::Every(count) => new >= count.max(1),
            // 1, 2, 4, 8 … row groups.
            Policy::Doubling => new >= self.covered.max(1),
        };
        if due && new > 0 { self.put_checkpoint() } else { Ok(()) }
    }

    /// Writes the rows as a row group, and a checkpoint: the file is then valid for every reader.
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush).
    pub fn checkpoint(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        self.check_open()?;
        if self.rows.len() > 0 {
            self.put_group()?;
        }
        // After row groups, nothing is new if they are all covered and a checkpoint is last.
        if self.covered == self.groups.len() && self.out.at != self.data_end && self.groups.len() > 0 {
            return Ok(());
        }
        self.put_checkpoint()
    }

    /// Writes a [checkpoint](Self::checkpoint) if `interval` has passed since the last call that wrote one, and there are
    /// rows that it would add. `now` is a time in any unit, which may wrap.
    ///
    /// ```
    /// use pilaster::bytes::SliceSink;
    /// use pilaster::vortex::log::{Log, Policy, Record};
    /// use pilaster::vortex::record;
    ///
    /// record! {
    ///     struct Tick { time: u32 }
    /// }
    ///
    /// let (mut file, mut memory, mut groups) = ([0; 4096], [0; Tick::memory_len(1024, 0)], [0; 80]);
    /// let mut log = Log::of::<Tick>(SliceSink::new(&mut file), (&mut memory, 1024), &mut groups, Policy::ByHand)?;
    /// for second in 0..130 {
    ///     log.push(&Tick { time: second })?;
    ///     log.tick(second.into(), 60)?;
    /// }
    /// assert_eq!(log.groups(), 2);
    /// # Ok::<(), pilaster::vortex::log::WriteError<pilaster::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush).
    pub fn tick(&mut self, now: u64, interval: u64) -> core::result::Result<(), WriteError<S::Error>> {
        if now.wrapping_sub(self.time) < interval {
            return Ok(());
        }
        let is_new = self.rows.len() > 0 || self.covered != self.groups.len();
        if is_new {
            self.checkpoint()?;
        }
        self.time = now;
        Ok(())
    }

    /// Writes the rows and a checkpoint, if the file does not end with one that has all of them. Returns the sink.
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush).
    pub fn finish(mut self) -> core::result::Result<S, WriteError<S::Error>> {
        self.end()?;
        Ok(self.out.sink)
    }

    /// Like [`finish`](Self::finish), for a borrowed sink. All further writes are refused.
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush).
    pub fn end(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        self.checkpoint()?;
        self.is_closed = true;
        Ok(())
    }

    /// The sink.
    pub const fn sink(&mut self) -> &mut S {
        &mut self.out.sink
    }

    /// Returns the number of bytes so far.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.out.at
    }

    /// Returns the number of row groups so far.
    #[must_use]
    pub const fn groups(&self) -> u32 {
        self.groups.len()
    }

    fn check_open(&self) -> Result<()> {
        if self.is_closed { Err(Error::new(Kind::Misuse, What::DESTINATION, self.out.at)) } else { Ok(()) }
    }

    /// Checks that the sink has space for `len` bytes at the next multiple of 8 after the offset `at`, at which it is or to
    /// which it is rewound.
    fn check_room(&self, at: u64, len: u64) -> Result<()> {
        let end = up8(at).saturating_add(len);
        if self.out.sink.room() < end.saturating_sub(self.out.at) {
            return Err(Error::needing(Kind::NoRoom, What::DESTINATION, self.out.at, end));
        }
        Ok(())
    }

    /// Returns an error of the sink, after which nothing more can be written.
    fn outcome(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        match self.out.error.take() {
            Some(e) => {
                self.is_closed = true;
                Err(WriteError::Sink(e))
            }
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn put_checkpoint(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        let fields = self.schema.fields();
        let Some(sizes) = Sizes::of(fields, self.groups.len()) else {
            return Err(Error::new(Kind::Overflow, What::VORTEX_CHECKPOINT, self.out.at).into());
        };
        self.check_room(self.out.at, u64::from(sizes.total()))?;
        self.out.align();
        let at = self.out.at;
        checkpoint(&mut self.out, at, self.schema.fields(), &self.groups);
        self.covered = self.groups.len();
        self.outcome()
    }

    #[inline(never)]
    fn put_group(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        let len = self.plan()?;
        let dead = if self.cut.is_some() { self.out.at.saturating_sub(self.data_end) } else { 0 };
        self.check_room(self.out.at.saturating_sub(dead), len)?;
        if let Some(cut) = self.cut
            && dead > 0
        {
            self.out.error = cut(&mut self.out.sink, self.data_end).err();
            self.out.at = self.data_end;
            self.outcome()?;
        }
        self.out.align();
        let at = self.out.at;
        self.put_frame();
        self.outcome()?;
        let columns = self.schema.fields().len();
        self.groups.add(at.wrapping_add(segments_at(columns)), len32(self.rows.len()));
        self.data_end = self.out.at;
        self.rows.clear();
        Ok(())
    }

    /// Sets the lengths of the segments of the next row group. Returns the size of its frame in bytes.
    #[inline(never)]
    fn plan(&mut self) -> Result<u64> {
        let (fields, rows, taken) = (self.schema.fields(), &self.rows, self.groups.len());
        let Some(lens) = self.groups.next() else {
            let each = super::group_words(fields.len()).saturating_mul(4) as u64;
            let need = each.saturating_mul(u64::from(taken).saturating_add(1));
            return Err(Error::needing(Kind::NoRoom, What::VORTEX_GROUPS, taken.into(), need));
        };
        for (i, (field, len)) in fields.iter().zip(lens.iter_mut()).enumerate() {
            *len = Chunk::of::<T>(rows.column(fields, i), field).len::<T>();
        }
        Ok(frame_len(lens))
    }

    /// Writes the frame of the row group whose lengths are set.
    fn put_frame(&mut self) {
        let (fields, rows, out) = (self.schema.fields(), &self.rows, &mut self.out);
        let Some(lens) = self.groups.next() else { return };
        out.check = Lookup2::new(SEED);
        out.put(&GROUP_MAGIC);
        (out as &mut dyn Put).word(len32(rows.len()));
        (out as &mut dyn Put).words(lens);
        let header = out.check.value();
        (out as &mut dyn Put).word(header);
        let listed = Uses::of(fields);
        for (i, field) in fields.iter().enumerate() {
            out.align();
            Chunk::of::<T>(rows.column(fields, i), field).put::<T>(listed, out);
        }
        out.align();
        let check = out.check.value();
        (out as &mut dyn Put).word(check);
    }
}
