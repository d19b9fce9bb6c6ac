//! The log: mounting, appending, giving up the oldest segment.

use embedded_storage_03::nor_flash::NorFlash;

use super::ring::{Ring, front, number};
use super::scan::{self, Found, Front};
use crate::bytes::{Endian, FlashSink, Sink as _, WriteError};
use crate::dataseries::raw::segment_header;
use crate::dataseries::write::{Compress, Descriptions, ExtentBuffer, Foreign, Of, Record, Schema, Writer};
use crate::error::{Error, Kind, What};

/// A log in a ring of segments. The [module page](super) lists its guarantees.
#[derive(Debug)]
pub struct Log<'w, E, F: NorFlash, C> {
    pub(super) ring: Ring,
    pub(super) types: Descriptions<'w>,
    /// The file of the newest segment.
    pub(super) file: Writer<'w, E, FlashSink<'w, F>, C>,
    /// Index of the newest segment in the ring.
    pub(super) newest: u32,
    /// Number of the newest segment, as in its header.
    pub(super) number: u32,
    /// Number of segments that hold the log.
    pub(super) live: u32,
    state: State,
}

/// The state of the newest segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It accepts extents.
    Open,
    /// It was begun, but has no intact extent: it is erased and begun again.
    Again,
    /// It accepts no more extents.
    Closed,
    /// The flash has failed; the log must be mounted again.
    Failed,
}

impl<'w, E: Endian, F: NorFlash, C: Compress> Log<'w, E, F, C> {
    /// Finds the log in `ring` and the position where writing resumes. A region without a log is an empty
    /// log. Writes nothing. `page` gathers the bytes of each write to the flash, see [`FlashSink`].
    ///
    /// # Errors
    /// [`Kind::Misuse`] if `ring` has fewer than two segments or does not consist of whole erase units of the
    /// flash; [`Kind::NoRoom`] if `page` is shorter than a word. Errors of the flash.
    pub fn mount(
        mut flash: F,
        ring: Ring,
        types: Descriptions<'w>,
        compress: C,
        page: &'w mut [u8],
    ) -> Result<Self, WriteError<F::Error>> {
        ring.check(&flash)?;
        let (mut newest, mut live) = (None, 0);
        for k in 0..ring.segments {
            if let Some(number) = number(&mut flash, ring.at(k))?
                && newest.is_none_or(|(_, newest)| number > newest)
            {
                newest = Some((k, number));
            }
        }
        if let Some((k, last)) = newest {
            // Counts backwards from the newest segment while the numbers are consecutive.
            while live < ring.segments
                && last.checked_sub(live).is_some()
                && number(&mut flash, ring.at(ring.before(k, live)))? == last.checked_sub(live)
            {
                live = live.saturating_add(1);
            }
        }
        let (newest, number) = newest.unwrap_or((ring.segments.wrapping_sub(1), 0));
        let sink = FlashSink::new(flash, ring.at(newest)..ring.end(newest), page)?;
        let file = Writer::with(sink, types, &mut [], compress);
        let mut log = Log { ring, types, file, newest, number, live, state: State::Closed };
        if live > 0 {
            log.state = log.look()?;
        }
        Ok(log)
    }

    /// Finds the end of the newest segment's extents and sets the write position there.
    fn look(&mut self) -> Result<State, WriteError<F::Error>> {
        let (file, end) = (self.ring.at(self.newest).wrapping_add(front::<F>()), self.ring.end(self.newest));
        let flash = self.file.sink().flash();
        let mut at = match scan::front::<E, F>(flash, file, end, self.types)? {
            Front::Whole(at) => at,
            Front::Erased => {
                self.go_to(file, file, 0);
                return Ok(State::Open);
            }
            Front::Others => return Ok(State::Closed),
            Front::Torn => return Ok(State::Again),
        };
        let mut extents = 0usize;
        loop {
            match scan::extent::<E, F>(self.file.sink().flash(), at, end)? {
                Found::Extent(header) => (at, extents) = (scan::after::<F>(&header), extents.saturating_add(1)),
                Found::Torn if extents == 0 => return Ok(State::Again),
                Found::Torn => return Ok(State::Closed),
                Found::Erased => break,
            }
        }
        self.go_to(file, at, extents);
        Ok(State::Open)
    }

    /// Sets the write position to offset `at` of the flash, in the file that begins at offset `file`.
    fn go_to(&mut self, file: u32, at: u32, extents: usize) {
        self.file.restart(at.saturating_sub(file).into(), extents);
        self.file.sink().go_to(at..self.ring.end(self.newest));
    }

    /// The number of segments that hold the log.
    #[must_use]
    pub const fn segments(&self) -> u32 {
        self.live
    }

    /// The number of segments begun in the lifetime of the log. Divided by [`Ring::segments`], it is the
    /// number of times each erase unit was erased.
    #[must_use]
    pub const fn begun(&self) -> u32 {
        self.number
    }

    /// The flash.
    pub const fn flash(&mut self) -> &mut F {
        self.file.sink().flash()
    }

    /// Adds a row to `extent`. If the row does not fit, `extent` is flushed first.
    ///
    /// # Errors
    /// Errors of [`ExtentBuffer::push`] if the row does not fit into an empty extent either. Errors of
    /// [`flush`](Self::flush), after which the row is not in the extent.
    pub fn push<R: Record>(
        &mut self,
        extent: &mut ExtentBuffer<'_, E, Of<R::Static>>,
        row: &R,
    ) -> Result<(), WriteError<F::Error>>
    where
        R::Static: Record<Static = R::Static>,
    {
        if extent.is_packed() {
            self.flush(extent)?;
        }
        loop {
            match extent.push(row) {
                Err(e) if e.kind() == Kind::NoRoom && !extent.is_empty() => self.flush(extent)?,
                done => return Ok(done?),
            }
        }
    }

    /// Adds a row to `extent`, as [`ExtentBuffer::push_foreign`] takes it. If the row does not fit, `extent` is flushed first.
    ///
    /// # Errors
    /// Errors of [`ExtentBuffer::push_foreign`] if the row does not fit into an empty extent either. Errors of
    /// [`flush`](Self::flush), after which the row is not in the extent.
    pub fn push_foreign<'s, const TEXTS: bool, const DIFFERENCES: bool>(
        &mut self,
        extent: &mut ExtentBuffer<'_, E, Foreign<'_, TEXTS, DIFFERENCES>>,
        record: &[u8],
        strings: impl Iterator<Item = &'s [u8]> + Clone,
    ) -> Result<(), WriteError<F::Error>> {
        if extent.is_packed() {
            self.flush(extent)?;
        }
        loop {
            match extent.push_foreign(record, strings.clone()) {
                Err(e) if e.kind() == Kind::NoRoom && !extent.is_empty() => self.flush(extent)?,
                done => return Ok(done?),
            }
        }
    }

    /// Writes the rows of `extent` as one extent, and empties it. On return, the rows are in the flash.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the log is full: the rows stay in `extent`, and another flush writes them after
    /// [`give_up`](Self::give_up). [`Kind::Limit`] if the extent is larger than a segment;
    /// [`Kind::Misuse`] for a type that was not passed to [`mount`](Self::mount). Errors of the flash, after
    /// which the log must be mounted again. The rows stay in `extent`, and a flush to the mounted log writes them; they are in the log
    /// twice if the flash had stored them and failed nevertheless.
    pub fn flush<T: Schema>(&mut self, extent: &mut ExtentBuffer<'_, E, T>) -> Result<(), WriteError<F::Error>> {
        if extent.is_empty() {
            return Ok(());
        }
        if self.state != State::Open {
            self.next()?;
        }
        loop {
            match self.put(extent) {
                Err(WriteError::Format(e)) if e.kind() == Kind::NoRoom => {
                    if self.file.extents() == 0 {
                        return Err(e.turned(Kind::Limit, What::FLASH_SEGMENT, 0).into());
                    }
                    self.state = State::Closed;
                    self.next()?;
                }
                done => return done,
            }
        }
    }

    fn put<T: Schema>(&mut self, extent: &mut ExtentBuffer<'_, E, T>) -> Result<(), WriteError<F::Error>> {
        let done = self.file.begin();
        self.synced(done)?;
        let done = self.file.put_any(extent);
        self.synced(done)?;
        // Not before the last page is in the flash.
        extent.clear();
        Ok(())
    }

    /// Syncs the bytes of a successful write, and records a failure of the flash.
    fn synced(&mut self, done: Result<(), WriteError<WriteError<F::Error>>>) -> Result<(), WriteError<F::Error>> {
        let done = match done {
            Ok(()) => self.file.sink().sync(),
            Err(WriteError::Format(e)) => Err(WriteError::Format(e)),
            Err(WriteError::Sink(e)) => Err(e),
        };
        if let Err(WriteError::Sink(_)) = done {
            self.state = State::Failed;
        }
        done
    }

    /// Begins the next segment, or the newest again.
    fn next(&mut self) -> Result<(), WriteError<F::Error>> {
        let (next, number, live) = match self.state {
            State::Failed => return Err(Error::new(Kind::Misuse, What::FLASH_REGION, 0).into()),
            State::Again => (self.newest, self.number, self.live),
            State::Open | State::Closed => {
                if self.live == self.ring.segments {
                    let need = self.ring.segments.saturating_add(1);
                    return Err(Error::needing(Kind::NoRoom, What::FLASH_REGION, 0, need.into()).into());
                }
                (self.ring.after(self.newest), self.number.saturating_add(1), self.live.saturating_add(1))
            }
        };
        let (at, end) = (self.ring.at(next), self.ring.end(next));
        self.state = State::Failed;
        self.flash().erase(at, end).map_err(WriteError::Sink)?;
        (self.newest, self.number, self.live) = (next, number, live);
        self.go_to(at, at, 0);
        let sink = self.file.sink();
        sink.put(&segment_header(number))?;
        sink.sync()?;
        let file = at.wrapping_add(front::<F>());
        self.go_to(file, file, 0);
        self.state = State::Open;
        Ok(())
    }

    /// Gives up the oldest segment: its rows are no longer part of the log, and it is erased when the log
    /// needs its space. After a reset before that, it is part of the log again. The newest segment is never
    /// given up.
    pub const fn give_up(&mut self) {
        if self.live > 1 {
            self.live = self.live.saturating_sub(1);
        }
    }
}
