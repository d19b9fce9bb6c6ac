//! What a [`Log`] writes, if it fits: row groups in frames, and checkpoints.

use super::WriteError;
use super::chunk::Chunk;
use super::end::{Sizes, checkpoint};
use super::field::Schema;
use super::frames::{SEED, frame_len, up8};
use super::put::{Flat, Put};
use super::rows::Rows;
use super::writer::Log;
use crate::bytes::{Sink, len32};
use crate::error::{Error, Kind, What};
use crate::hash::Lookup2;
use crate::vortex::raw::{GROUP_MAGIC, MAGIC, group_segments_at};

impl<S: Sink, T: Schema> Log<'_, S, T> {
    /// Returns whether something may be written: the log is started and not ended. If not, that is the error of the call.
    #[inline(never)]
    fn is_open(&mut self) -> bool {
        let is_open = self.rows.is_open();
        if !is_open {
            self.refuse(Kind::Misuse, What::VORTEX_LOG, 0);
        }
        is_open
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
    pub(super) fn outcome(&mut self) -> core::result::Result<(), WriteError<S::Error>> {
        let Some(e) = self.out.error.take() else { return Ok(()) };
        if matches!(e, WriteError::Sink(_)) {
            self.rows.close();
        }
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
    pub(super) fn put_checkpoint(&mut self) {
        if !self.is_open() || self.out.has_failed() {
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
        if !self.out.has_failed() {
            (self.covered, self.is_ended) = (self.groups.len(), true);
        }
    }

    /// Writes the rows, if there are any, as a row group.
    #[inline(never)]
    pub(super) fn put_group(&mut self) {
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
            // The sink counts from where it began, which is the start of the file only if the log was not resumed.
            self.out.error = cut(&mut self.out.sink, self.out.at.wrapping_sub(at)).err().map(WriteError::Sink);
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
