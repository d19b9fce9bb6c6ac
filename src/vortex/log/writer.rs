//! The logger: row groups in frames, and checkpoints.

use core::fmt;

use super::field::{Of, Schema};
use super::frames::SEED;
use super::groups::Groups;
use super::put::Out;
use super::record::{Cell, Record};
use super::resume::Resume;
use super::rows::{Rows, check};
use super::{Policy, Rewind, WriteError};
use crate::bytes::Sink;
use crate::error::{Error, Kind, What};
use crate::hash::Lookup2;

/// Removes a number of bytes from the end of a sink.
pub(super) type Cut<S> = fn(&mut S, u64) -> core::result::Result<(), <S as Sink>::Error>;

/// A Vortex file that is written row by row without a heap.
///
/// Rows are collected in memory of the caller. When they fill it, they are written as a row group, each column with its
/// smallest encoding. A checkpoint makes all row groups before it a valid file for every reader of Vortex. Row groups after
/// the last checkpoint survive a power cut, too: [`Resume`] finds them, and so does `pilaster recover`.
///
/// [`record!`](crate::vortex::record) and [`Fields`](super::Fields) have examples.
pub struct Log<'m, S: Sink, T> {
    pub(super) out: Out<S>,
    pub(super) schema: T,
    pub(super) rows: Rows<'m>,
    pub(super) groups: Groups<'m>,
    pub(super) policy: Policy,
    /// Removes the last checkpoint.
    pub(super) cut: Option<Cut<S>>,
    /// Offset after the last row group, where the last checkpoint may be removed.
    pub(super) data_end: u64,
    /// Number of row groups in the last checkpoint.
    pub(super) covered: u32,
    /// Time of the last checkpoint.
    time: u64,
    /// Whether a checkpoint of all row groups is last.
    pub(super) is_ended: bool,
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
    /// added before and must not be pushed again; as long as the row group cannot be written, further rows are not added.
    /// [`pending`](Self::pending) counts the rows that were.
    pub fn push<Row: Record<Static = R>>(&mut self, row: &Row) -> core::result::Result<(), WriteError<S::Error>> {
        row.with_cells(|cells| self.push_row::<false>(cells))
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
    /// [`Kind::NoRoom`] if `memory` is too small (`need`: the required size in bytes) or the number of rows is 0 (`need`: 0),
    /// or the sink has no space for the checkpoint; errors of the sink.
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
    /// # Ok::<(), pilaster::bytes::WriteError<pilaster::Error>>(())
    /// ```
    #[inline(always)]
    pub fn prepare(sink: S, schema: T, memory: (&'m mut [u8], usize), groups: &'m mut [u32], policy: Policy) -> Self {
        let groups = Groups::new(groups, schema.count());
        let out = Out { sink, at: 0, check: Lookup2::new(SEED), error: None };
        let rows = Rows::new(memory);
        Log { out, schema, rows, groups, policy, cut: None, data_end: 0, covered: 0, time: 0, is_ended: false }
    }

    /// Starts a log: checks the memory, and writes the magic and a checkpoint without rows.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new).
    #[inline(never)]
    pub fn start(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        self.rows.start(&self.schema)?;
        self.put_checkpoint();
        // The first checkpoint is never removed: it has the types of the columns.
        self.data_end = self.out.at;
        self.out.flush();
        self.outcome()
    }

    /// Creates a log that continues at offset `found.at()` of its medium, after [`Resume::find`] with the same columns and
    /// `groups`. The sink puts its first byte at that offset. The first checkpoint then covers the row groups that were
    /// found after the last one. It is written at once if `found` [skips](Resume::skipping) bytes.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] as for [`new`](Self::new), and in `What::VORTEX_GROUPS` if `groups` has less memory than the row
    /// groups that were found need (`need`: the required size in bytes). [`Kind::Misuse`] in `What::VORTEX_GROUPS` if `groups`
    /// has other contents than `find` has left, or the columns are others. Errors of the sink.
    ///
    /// If `groups` has no memory for another row group, the log is resumed all the same: [`Resume::is_full`] tells.
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
    /// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`resume`](Self::resume).
    #[inline(never)]
    pub fn continue_at(&mut self, found: &Resume) -> core::result::Result<(), WriteError<S::Error>> {
        found.fill(&self.schema, &mut self.groups)?;
        self.rows.start(&self.schema)?;
        self.out.at = found.at();
        (self.data_end, self.covered) = (found.at(), found.covered());
        self.is_ended = found.is_ended();
        if found.is_skipping() {
            self.put_checkpoint();
            // It is never removed: the row groups after the skipped bytes are found from it.
            self.data_end = self.out.at;
            self.out.flush();
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
    /// [`Kind::Misuse`] in `What::VORTEX_FIELD` with the index (`at`) of the first column whose cell is missing, has another
    /// type, is out of the range of the type, or is null although the column is not nullable, or with the number of columns if there are
    /// more cells; errors of [`push`](Log::push). Integers of all widths fit a column that has their value; floats fit one
    /// of their width. The text of the error says what the column takes.
    pub fn push_cells(&mut self, cells: &[Cell<'_>]) -> core::result::Result<(), WriteError<S::Error>> {
        check(self.schema.fields(), cells)?;
        self.push_row::<true>(cells)
    }

    /// Adds a row of cells of the types of the columns. Unless they are `TYPED`, all numbers are words.
    #[inline(never)]
    fn push_row<const TYPED: bool>(&mut self, cells: &[Cell<'_>]) -> core::result::Result<(), WriteError<S::Error>> {
        let len = cells.iter().fold(0, |sum: usize, cell| sum.saturating_add(cell.text().len()));
        let (all, free) = self.rows.texts();
        if len > all {
            return Err(Error::needing(Kind::NoRoom, What::VORTEX_TEXT_MEMORY, 0, len as u64).into());
        }
        if len > free || self.rows.is_full() {
            self.flush()?;
        }
        self.rows.push::<T, TYPED>(&self.schema, cells);
        if self.rows.is_full() { self.flush() } else { Ok(()) }
    }

    /// Writes the rows as a row group, and a checkpoint when the policy asks for one, also if there are no rows.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] in `What::VORTEX_GROUPS` if there is no memory for its record (`need`: bytes for one more), and in
    /// `What::DESTINATION` if the sink has no space for it and the checkpoint after it: then nothing was written of it, and
    /// the rows are kept. If the row groups before them are not in a checkpoint yet, one is written if it fits, whatever the policy
    /// is, so that the file is valid without these rows. [`Kind::Misuse`] in `What::VORTEX_LOG` if the log is not
    /// [started](Self::start) or has [ended](Self::end), or the sink has failed before; errors of the sink.
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
        let before = (self.out.at, self.groups.len());
        self.put_group();
        let new = self.groups.len().wrapping_sub(self.covered);
        // Rows that cannot be written are often the last: all before them must be in a valid file.
        if !self.is_ended && (new >= due || self.out.error.is_some()) {
            self.put_checkpoint();
        }
        // A row group may be as long as the checkpoint that it replaces.
        if (self.out.at, self.groups.len()) != before {
            self.out.flush();
        }
        self.outcome()
    }

    /// Writes a [checkpoint](Self::checkpoint) if `interval` has passed since the last call that wrote one or found no new rows,
    /// and there are rows that it would add. `now` is a time in any unit, which may wrap. The interval of the first call began
    /// at the time 0.
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
    /// # Ok::<(), pilaster::bytes::WriteError<pilaster::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush).
    pub fn tick(&mut self, now: u64, interval: u64) -> core::result::Result<(), WriteError<S::Error>> {
        if now.wrapping_sub(self.time) < interval {
            return Ok(());
        }
        let is_new = self.rows.len() > 0 || !self.is_ended;
        if is_new {
            self.checkpoint()?;
        }
        self.time = now;
        Ok(())
    }

    /// Writes the rows and a checkpoint, if the file does not end with one that has all of them. Returns the sink.
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush). The sink and rows that could not be written are dropped then; [`end`](Self::end)
    /// keeps them.
    pub fn finish(mut self) -> core::result::Result<S, WriteError<S::Error>> {
        self.end()?;
        Ok(self.out.sink)
    }

    /// Like [`finish`](Self::finish), for a borrowed sink. All further rows are refused, with [`Kind::Misuse`].
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush).
    pub fn end(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        self.checkpoint()?;
        self.rows.close();
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
}
