//! Rows from an interrupt: a lock-free ring in front of the writer. The interrupt never waits, and a row is never torn. Rows that
//! find the ring full are lost; they are counted, and their number is logged where they are missing.

use core::sync::atomic::{AtomicU32, Ordering};

use heapless::spsc::{Consumer, Producer, Queue};
use pilaster::bytes::{LittleEndian, Sink, WriteError};
use pilaster::dataseries::record;
use pilaster::dataseries::write::{Compress, Descriptions, ExtentBuffer, Memory, Of, Writer};

use crate::sensors::Motion;

record! {
    /// Rows that an interrupt could not pass on.
    pub struct Lost = "Lost" namespace "example.org" version 1.0 {
        /// The time of the row before the gap; 0 without one.
        time: int64 relative units "ms",
        rows: int32 comment "rows of Motion that are missing after this time",
    }
}

/// The types of a file with rows of [`Motion`].
pub const TYPES: Descriptions<'static> = Descriptions::of::<(Lost, Motion)>();

/// A row, and how many were lost before it since the start.
struct Sample<R> {
    row: R,
    lost: u32,
}

/// A ring of up to `N - 1` rows.
pub struct Samples<R, const N: usize> {
    queue: Queue<Sample<R>, N>,
    lost: AtomicU32,
}

impl<R, const N: usize> Default for Samples<R, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R, const N: usize> Samples<R, N> {
    /// The initial value for a `static`.
    #[must_use]
    pub const fn new() -> Self {
        Samples { queue: Queue::new(), lost: AtomicU32::new(0) }
    }

    /// Returns the two ends: one for the interrupt, one for the program.
    pub fn split(&mut self) -> (Sampler<'_, R>, Drain<'_, R>) {
        let (to, from) = self.queue.split();
        (Sampler { to, lost: &self.lost, count: 0 }, Drain { from, lost: &self.lost, told: 0, next: None })
    }
}

/// The end of the interrupt.
pub struct Sampler<'s, R> {
    to: Producer<'s, Sample<R>>,
    lost: &'s AtomicU32,
    count: u32,
}

impl<R> Sampler<'_, R> {
    /// Passes on a row, or counts it as lost if the ring is full.
    pub fn push(&mut self, row: R) {
        if self.to.enqueue(Sample { row, lost: self.count }).is_err() {
            self.count = self.count.wrapping_add(1);
            // Loads and stores only: a Cortex-M0 has no other atomics.
            self.lost.store(self.count, Ordering::Release);
        }
    }
}

/// What comes out of the ring, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<R> {
    /// Number of rows that were lost here.
    Lost(u32),
    Row(R),
}

/// The end of the program.
pub struct Drain<'s, R> {
    from: Consumer<'s, Sample<R>>,
    lost: &'s AtomicU32,
    /// How many rows it has told of as lost.
    told: u32,
    /// A row after a gap that was told of.
    next: Option<R>,
}

impl<R> Iterator for Drain<'_, R> {
    type Item = Event<R>;

    fn next(&mut self) -> Option<Event<R>> {
        if let Some(row) = self.next.take() {
            return Some(Event::Row(row));
        }
        // Before the ring is looked at: what was lost until then is missing before whatever comes into an empty ring.
        let until_now = self.lost.load(Ordering::Acquire);
        let sample = self.from.dequeue();
        let lost = sample.as_ref().map_or(until_now, |sample| sample.lost);
        let gap = lost.wrapping_sub(self.told);
        self.told = lost;
        match sample {
            Some(Sample { row, .. }) if gap == 0 => Some(Event::Row(row)),
            sample => {
                self.next = sample.map(|sample| sample.row);
                (gap > 0).then_some(Event::Lost(gap))
            }
        }
    }
}

/// The extents of a logger of rows from an interrupt.
pub struct Extents<'m> {
    motions: ExtentBuffer<'m, LittleEndian, Of<Motion>>,
    gaps: ExtentBuffer<'m, LittleEndian, Of<Lost>>,
    /// The time of the last row.
    time: i64,
}

impl<'m> Extents<'m> {
    /// # Errors
    /// Errors of [`ExtentBuffer::of`].
    pub fn new(motions: &'m mut [u8], gaps: &'m mut [u8]) -> pilaster::Result<Self> {
        let gaps = ExtentBuffer::of::<Lost>(Memory::rows(gaps))?;
        Ok(Extents { motions: ExtentBuffer::of::<Motion>(Memory::rows(motions))?, gaps, time: 0 })
    }

    /// Logs everything that waits in the ring. Returns the number of rows.
    ///
    /// # Errors
    /// Errors of [`Writer::push`].
    pub fn log<S: Sink, C: Compress>(
        &mut self,
        from: &mut Drain<'_, Motion>,
        to: &mut Writer<'_, LittleEndian, S, C>,
    ) -> Result<u32, WriteError<S::Error>> {
        let mut rows = 0u32;
        for event in from {
            match event {
                Event::Row(row) => {
                    self.time = row.time;
                    to.push(&mut self.motions, &row)?;
                    rows = rows.wrapping_add(1);
                }
                Event::Lost(lost) => {
                    to.push(&mut self.gaps, &Lost { time: self.time, rows: lost.cast_signed() })?;
                }
            }
        }
        Ok(rows)
    }

    /// Writes the rows in memory.
    ///
    /// # Errors
    /// Errors of [`Writer::flush`].
    pub fn flush<S: Sink, C: Compress>(
        &mut self,
        to: &mut Writer<'_, LittleEndian, S, C>,
    ) -> Result<(), WriteError<S::Error>> {
        to.flush(&mut self.gaps)?;
        to.flush(&mut self.motions)
    }
}
