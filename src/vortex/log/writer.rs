//! The logger: row groups in frames, and checkpoints.

use core::fmt;

use super::chunk::Chunk;
use super::end::{Sizes, checkpoint};
use super::field::{Of, Schema};
use super::frames::{SEED, frame_len, up8};
use super::groups::Groups;
use super::put::{Flat, Out, Put};
use super::record::{Cell, Record};
use super::resume::Resume;
use super::rows::{Rows, check};
use super::{Policy, Rewind, WriteError};
use crate::bytes::{Sink, len32};
use crate::error::{Error, Kind, What};
use crate::hash::Lookup2;
use crate::vortex::raw::{GROUP_MAGIC, MAGIC, group_segments_at};

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
    /// Whether a checkpoint of all row groups is last.
    is_ended: bool,
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
    /// size in bytes): then the row is not added. Errors of [`flush`](Self::flush): the row that fills the row group was
    /// added before; as long as the row group cannot be written, further rows are not added. [`pending`](Self::pending)
    /// counts the rows that were.
    pub fn push<Row: Record<Static = R>>(&mut self, row: &Row) -> core::result::Result<(), WriteError<S::Error>> {
        row.with_cells(|cells| self.push_row(cells))
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
    #[inline]
    pub fn new(
        sink: S,
        schema: T,
        memory: (&'m mut [u8], usize),
        groups: &'m mut [u32],
        policy: Policy,
    ) -> core::result::Result<Self, WriteError<S::Error>> {
        let mut log = Log::prepare(sink, schema, memory, groups, policy);
        log.start()?;
        Ok(log)
    }

    /// Creates a log that must be [started](Self::start): [`new`](Self::new) in two steps. So the log is created where it stays
    /// and not copied, which saves half a kilobyte of flash if nothing else copies memory.
    ///
    /// ```
    /// use pilaster::bytes::SliceSink;
    /// use pilaster::vortex::log::{Log, Of, Policy, Record};
    /// use pilaster::vortex::record;
    ///
    /// record! {
    ///     struct Tick { time: u32 }
    /// }
    ///
    /// let (mut file, mut memory, mut groups) = ([0; 4096], [0; Tick::memory_len(8, 0)], [0; 8]);
    /// let columns = Of::<Tick>::new();
    /// let mut log = Log::prepare(SliceSink::new(&mut file), columns, (&mut memory, 8), &mut groups, Policy::ByHand);
    /// assert!(log.push(&Tick { time: 7 }).is_err());
    /// log.start()?;
    /// log.push(&Tick { time: 7 })?;
    /// # Ok::<(), pilaster::vortex::log::WriteError<pilaster::Error>>(())
    /// ```
    #[inline(always)]
    pub fn prepare(sink: S, schema: T, memory: (&'m mut [u8], usize), groups: &'m mut [u32], policy: Policy) -> Self {
        let groups = Groups::new(groups, schema.count());
        let out = Out { sink, at: 0, check: Lookup2::new(SEED), error: None };
        let rows = Rows::new(memory);
        Log {
            out,
            schema,
            rows,
            groups,
            policy,
            cut: None,
            data_end: 0,
            covered: 0,
            time: 0,
            is_closed: true,
            is_ended: false,
        }
    }

    /// Starts a log: checks the memory, and writes the magic and a checkpoint without rows.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new).
    #[inline(never)]
    pub fn start(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        self.rows.start(&self.schema)?;
        self.is_closed = false;
        self.put_checkpoint();
        // The first checkpoint is never removed: it has the types of the columns.
        self.data_end = self.out.at;
        self.outcome()
    }

    /// Creates a log that continues at offset `found.at()` of its medium, after [`Resume::find`] with the same columns and
    /// `groups`. The sink puts its first byte at that offset. The first checkpoint then covers the row groups that were
    /// found after the last one. It is written at once if `found` [skips](Resume::skipping) bytes.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] as for [`new`](Self::new); errors of the sink.
    #[inline]
    pub fn resume(
        sink: S,
        schema: T,
        memory: (&'m mut [u8], usize),
        groups: &'m mut [u32],
        (found, policy): (&Resume, Policy),
    ) -> core::result::Result<Self, WriteError<S::Error>> {
        let mut log = Log::prepare(sink, schema, memory, groups, policy);
        log.continue_at(found)?;
        Ok(log)
    }

    /// Continues a log of [`prepare`](Self::prepare), as [`resume`](Self::resume) does, which creates and moves it.
    ///
    /// ```
    /// use pilaster::vortex::log::{Log, Of, Policy, Record, Resume};
    /// use pilaster::vortex::record;
    ///
    /// record! {
    ///     struct Tick { time: u32 }
    /// }
    ///
    /// # #[cfg(feature = "alloc")] {
    /// let (mut memory, mut groups) = ([0; Tick::memory_len(8, 0)], [0; 8]);
    /// let bytes = Log::of::<Tick>(Vec::new(), (&mut memory, 8), &mut groups, Policy::ByHand)?.finish()?;
    /// let found = Resume::find(&bytes[..], &Of::<Tick>::new(), &mut groups)?;
    /// let mut log = Log::prepare(bytes, Of::<Tick>::new(), (&mut memory, 8), &mut groups, Policy::ByHand);
    /// log.continue_at(&found)?;
    /// log.push(&Tick { time: 7 })?;
    /// # }
    /// # Ok::<(), pilaster::vortex::log::WriteError<core::convert::Infallible>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`resume`](Self::resume).
    #[inline(never)]
    pub fn continue_at(&mut self, found: &Resume) -> core::result::Result<(), WriteError<S::Error>> {
        self.rows.start(&self.schema)?;
        self.groups.set_len(found.groups(), found.rows());
        self.out.at = found.at();
        (self.data_end, self.covered) = (found.at(), found.covered());
        (self.is_closed, self.is_ended) = (false, found.is_ended());
        if found.is_skipping() {
            self.put_checkpoint();
            // It is never removed: the row groups after the skipped bytes are found from it.
            self.data_end = self.out.at;
        }
        self.outcome()
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
    pub fn push_cells(&mut self, cells: &[Cell<'_>]) -> core::result::Result<(), WriteError<S::Error>> {
        check(self.schema.fields(), cells)?;
        self.push_row(cells)
    }

    /// Adds a row of cells of the types of the columns.
    #[inline(never)]
    fn push_row(&mut self, cells: &[Cell<'_>]) -> core::result::Result<(), WriteError<S::Error>> {
        let len = cells.iter().fold(0, |sum: usize, cell| sum.saturating_add(cell.text().len()));
        let (all, free) = self.rows.texts();
        if len > all {
            return Err(Error::needing(Kind::NoRoom, What::VORTEX_TEXT_MEMORY, 0, len as u64).into());
        }
        if len > free || self.rows.is_full() {
            self.flush()?;
        }
        self.rows.push(&self.schema, cells);
        if self.rows.is_full() { self.flush() } else { Ok(()) }
    }

    /// Writes the rows as a row group, and a checkpoint when the policy asks for one. Without rows, writes nothing.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] in `What::VORTEX_GROUPS` if there is no memory for its record (`need`: bytes for one more), and in
    /// `What::DESTINATION` if the sink has no space for it and the checkpoint after it: then nothing was written of it, and
    /// the rows are kept. If the row groups before them are not in a checkpoint yet, one is written if it fits, whatever the policy
    /// is, so that the file is valid without these rows. [`Kind::Misuse`] if the sink has failed before or the log is
    /// finished; errors of the sink.
    pub fn flush(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        self.write(match self.policy {
            Policy::ByHand => u32::MAX,
            Policy::Every(count) => count,
            // 1, 2, 4, 8 … row groups.
            Policy::Doubling => self.covered,
        })
    }

    /// Writes the rows as a row group, and a checkpoint: the file is then valid for every reader.
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush).
    pub fn checkpoint(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        self.write(0)
    }

    /// Writes the rows as a row group, and a checkpoint if `due` row groups are in none yet, but not if one of all row groups
    /// is last.
    #[inline(never)]
    fn write(&mut self, due: u32) -> core::result::Result<(), WriteError<S::Error>> {
        self.put_group();
        let new = self.groups.len().wrapping_sub(self.covered);
        // Rows that cannot be written are often the last: all before them must be in a valid file.
        if !self.is_ended && (new >= due || self.out.error.is_some()) {
            self.put_checkpoint();
        }
        self.outcome()
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

    /// Returns the number of rows in memory, which are in no row group yet.
    #[must_use]
    pub const fn pending(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of row groups so far.
    #[must_use]
    pub const fn groups(&self) -> u32 {
        self.groups.len()
    }

    /// Returns whether something may be written: the log is not closed, which would be an error, and the sink has not failed.
    fn is_open(&mut self) -> bool {
        if self.is_closed {
            self.refuse(Kind::Misuse, What::DESTINATION, 0);
        }
        !self.is_closed && !self.out.has_failed()
    }

    /// Sets the error of the call, unless it has one.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, kind: Kind, what: What, need: u64) {
        if self.out.error.is_none() {
            self.out.error = Some(WriteError::Format(Error::needing(kind, what, self.out.at, need)));
        }
    }

    /// Returns the error of the call. After an error of the sink, nothing more can be written.
    fn outcome(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        let Some(e) = self.out.error.take() else { return Ok(()) };
        self.is_closed |= matches!(e, WriteError::Sink(_));
        Err(e)
    }

    /// Returns whether the sink has space for `len` bytes at the next multiple of 8 after the offset `at`, at which it is or
    /// to which it is rewound. If not, that is the error of the call.
    fn has_room(&mut self, at: u64, len: u64) -> bool {
        let end = up8(at).saturating_add(len);
        let fits = self.out.sink.room() >= end.saturating_sub(self.out.at);
        if !fits {
            self.refuse(Kind::NoRoom, What::DESTINATION, end);
        }
        fits
    }

    /// Writes a checkpoint, at the start of the file after its magic.
    #[inline(never)]
    fn put_checkpoint(&mut self) {
        if !self.is_open() {
            return;
        }
        let Some(sizes) = Sizes::of(&self.schema, self.groups.len()) else {
            return self.refuse(Kind::Overflow, What::VORTEX_CHECKPOINT, 0);
        };
        if !self.has_room(self.out.at.max(1), sizes.total().into()) {
            return;
        }
        if self.out.at == 0 {
            self.out.put(&MAGIC);
        }
        self.out.align();
        let at = self.out.at;
        checkpoint(&mut Flat::new(&mut self.out), at, &self.schema, &self.groups, sizes);
        (self.covered, self.is_ended) = (self.groups.len(), true);
    }

    /// Writes the rows, if there are any, as a row group.
    #[inline(never)]
    fn put_group(&mut self) {
        if !self.is_open() || self.rows.len() == 0 {
            return;
        }
        let Some(len) = self.plan() else { return };
        // With space for the checkpoint after it: else the file would end without one. A frame ends 4 bytes before a multiple
        // of 8.
        let end = Sizes::of(&self.schema, self.groups.len().wrapping_add(1)).map_or(0, Sizes::total).wrapping_add(4);
        let at = if self.cut.is_some() { self.data_end } else { self.out.at };
        if !self.has_room(at, len.saturating_add(end.into())) {
            return;
        }
        if let Some(cut) = self.cut
            && self.out.at > at
        {
            self.out.error = cut(&mut self.out.sink, at).err().map(WriteError::Sink);
            self.out.at = at;
        }
        self.is_ended = false;
        self.out.align();
        let at = self.out.at;
        self.put_frame();
        if self.out.error.is_none() {
            self.groups.add(at.wrapping_add(group_segments_at(self.schema.count())), len32(self.rows.len()));
            self.data_end = self.out.at;
            self.rows.clear();
        }
    }

    /// Writes the segment of a column, or returns only its size in bytes if there is no output.
    #[inline(never)]
    fn segment(rows: &Rows<'_>, schema: &T, column: usize, to: Option<&mut dyn Put>) -> u32 {
        let Some(form) = schema.form(column) else { return 0 };
        let mut chunk = Chunk::new(rows.column(schema, column, form));
        chunk.choose::<T>();
        chunk.put::<T>(schema.listed(), to)
    }

    /// Sets the lengths of the segments of the next row group. Returns the size of its frame in bytes.
    fn plan(&mut self) -> Option<u64> {
        let taken = self.groups.len();
        let Some(lens) = self.groups.next() else {
            let each = u64::from(len32(super::group_words(self.schema.count()).wrapping_mul(4)));
            let need = each.wrapping_mul(taken.saturating_add(1).into());
            self.refuse(Kind::NoRoom, What::VORTEX_GROUPS, need);
            return None;
        };
        for (i, len) in lens.iter_mut().enumerate() {
            *len = Self::segment(&self.rows, &self.schema, i, None);
        }
        Some(frame_len(lens))
    }

    /// Writes the frame of the row group whose lengths are set.
    fn put_frame(&mut self) {
        let out = &mut self.out;
        let Some(lens) = self.groups.next() else { return };
        out.check = Lookup2::new(SEED);
        out.put(&GROUP_MAGIC);
        out.word(len32(self.rows.len()));
        lens.iter().for_each(|len| out.word(*len));
        out.put_check();
        for i in 0..lens.len() {
            out.align();
            Self::segment(&self.rows, &self.schema, i, Some(out));
        }
        out.align();
        out.put_check();
    }
}
