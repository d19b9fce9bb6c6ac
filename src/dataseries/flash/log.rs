//! The log: mounted, appended to, full.

use embedded_storage_03::nor_flash::NorFlash;

use super::ring::{Ring, front, header, number};
use super::scan::{self, Found, Front};
use crate::bytes::{Endian, FlashSink, Sink as _, WriteError};
use crate::dataseries::write::{Compress, Descriptions, ExtentBuffer, Of, Record, Schema, Writer};
use crate::error::{Error, Kind, What};

/// A log in a ring of segments; the [page](super) says what it holds to.
#[derive(Debug)]
pub struct Log<'w, E, F: NorFlash, C> {
    pub(super) ring: Ring,
    pub(super) types: Descriptions<'w>,
    /// The file of the newest segment.
    pub(super) file: Writer<'w, E, FlashSink<'w, F>, C>,
    /// The newest segment, its number, and how many there are with it.
    pub(super) newest: u32,
    number: u32,
    pub(super) live: u32,
    state: State,
}

/// What can be done with the newest segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Extents go into it.
    Open,
    /// It has been begun, but has no extent: it is erased and begun once more.
    Again,
    /// Nothing more goes into it.
    Closed,
    /// The flash has failed.
    Failed,
}

impl<'w, E: Endian, F: NorFlash, C: Compress> Log<'w, E, F, C> {
    /// Finds the log in `ring`, and where it goes on; a region without one is an empty log. Nothing is
    /// written. `page` gathers what goes into the flash, see [`FlashSink`].
    ///
    /// # Errors
    /// [`Kind::Misuse`] for a ring that is not one of whole erase units, [`Kind::NoRoom`] for a page that is
    /// shorter than a word; those of the flash.
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
            // Those in front of it, as long as they are numbered so.
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

    /// Sees how far the newest segment is written.
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

    /// Writes at `at` from now on, in the file that begins at `file`.
    fn go_to(&mut self, file: u32, at: u32, extents: usize) {
        self.file.restart(at.saturating_sub(file).into(), extents);
        self.file.sink().go_to(at..self.ring.end(self.newest));
    }

    /// Segments that hold the log.
    #[must_use]
    pub const fn segments(&self) -> u32 {
        self.live
    }

    /// How many segments have been begun in the life of the log: each erase unit was erased that many times
    /// by the number of segments.
    #[must_use]
    pub const fn begun(&self) -> u32 {
        self.number
    }

    /// The flash.
    pub const fn flash(&mut self) -> &mut F {
        self.file.sink().flash()
    }

    /// Adds a row to `extent`, which is flushed first if the row does not fit.
    ///
    /// # Errors
    /// Those of [`ExtentBuffer::push`], for a row that does not fit into an empty extent either; those of
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

    /// Writes the rows of `extent` as one extent, and empties it. When this returns, they are in the flash.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the log is full: the rows stay in `extent`, and go into the log when some of it
    /// was [given up](Self::give_up). [`Kind::Limit`] for an extent that no segment has room for;
    /// [`Kind::Misuse`] for a type that was not named when the log was mounted. Those of the flash; then the
    /// log must be mounted anew.
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
        let done = self.file.flush(extent);
        self.synced(done)
    }

    /// Syncs what was put.
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

    /// Begins the next segment, or the newest once more.
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
        sink.put(&header(number))?;
        sink.sync()?;
        let file = at.wrapping_add(front::<F>());
        self.go_to(file, file, 0);
        self.state = State::Open;
        Ok(())
    }

    /// Gives up the oldest segment: its rows are no longer part of the log, and when there is no other room
    /// it is erased. After a reset before that it is there again. The newest segment is not given up.
    pub const fn give_up(&mut self) {
        if self.live > 1 {
            self.live = self.live.saturating_sub(1);
        }
    }
}
