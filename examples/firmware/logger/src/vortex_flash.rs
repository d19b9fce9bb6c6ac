//! A Vortex log in NOR flash, which is continued after a power cut.
//!
//! The log begins at the start of a region and grows until the region is full. A power cut leaves an incomplete row group or
//! checkpoint, whose words cannot be written again: the log continues after it, with a checkpoint. A full log is finished, so
//! that it can be sent; then it is given up, and the region is erased for the next one.
//!
//! The last 8 bytes of the region stay erased until a log is given up. They are erased last, so that a power cut while
//! the region is erased never leaves a part of a log that seems to be one.

use core::ops::Range;

use embedded_storage::nor_flash::NorFlash;
use pilaster::bytes::{FlashSink, Sink, WriteError};
use pilaster::error::{Error, Kind, What};
use pilaster::vortex::log::{Log, Of, Policy, Record, Resume, Source, group_words};

use crate::sensors::PRESSURE_EVERY;
use crate::vortex::{Pressure, pressure};

/// Maximum number of rows of a row group, and of row groups.
const ROWS: usize = 16;
const GROUPS: usize = 32;
/// Number of row groups between two checkpoints.
const POLICY: Policy = Policy::Every(2);
/// With fewer free bytes, the log is finished: a row group and a checkpoint may not fit.
const MARGIN: u64 = 1600;
/// Size in bytes of the mark at the end of the region.
const MARK: u32 = 8;

type Row = Pressure;
const COLUMNS: Of<Row> = Of::new();

/// The part of the flash with the log: whole erase units, at offsets in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Region {
    const fn mark(self) -> u32 {
        self.end.saturating_sub(MARK)
    }
}

/// All memory of the logger.
#[derive(Debug)]
pub struct Buffers {
    page: [u8; 64],
    rows: [u8; Row::memory_len(ROWS, 0)],
    groups: [u32; GROUPS * group_words(Row::FIELDS.len())],
}

impl Buffers {
    /// The initial value for a `static`.
    pub const NEW: Buffers = Buffers {
        page: [0; 64],
        rows: [0; Row::memory_len(ROWS, 0)],
        groups: [0; GROUPS * group_words(Row::FIELDS.len())],
    };
}

/// What the log must have, for the checks. A real device does not keep it: its readings have their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Promise {
    /// Number of the first reading of the log.
    pub first: i64,
    /// Number of the reading after the last flushed one.
    pub next: i64,
    /// Number of logs that were given up.
    pub given_up: u32,
    /// Number of incomplete row groups and checkpoints that were skipped.
    pub torn: u32,
}

type Outcome<T, F> = Result<T, WriteError<<F as embedded_storage::nor_flash::ErrorType>::Error>>;

/// Logs readings until number `until` in `region`, and continues an existing log. Returns the size in bytes of the
/// file, which begins at the start of the region.
///
/// # Errors
/// Errors of the flash; [`Kind::Invalid`] with the number of a reading that was flushed, and is lost.
pub fn log<F: NorFlash>(
    mut flash: F,
    region: Region,
    buffers: &mut Buffers,
    promise: &mut Promise,
    until: i64,
) -> Outcome<u64, F> {
    loop {
        if let Some(len) = fill(&mut flash, region, buffers, promise, until)? {
            return Ok(len);
        }
        // A device sends the finished log here, before it is given up.
        let word = F::WRITE_SIZE.max(1);
        let zeros = [0; MARK as usize];
        for at in (0..MARK as usize).step_by(word) {
            let bytes = zeros.get(..word).unwrap_or_default();
            flash.write(region.mark() + at as u32, bytes).map_err(WriteError::Sink)?;
        }
    }
}

/// Continues the log in `region`, or begins a new one. Returns the size of the file, or `None` if the region is full.
fn fill<F: NorFlash>(
    flash: &mut F,
    region: Region,
    buffers: &mut Buffers,
    promise: &mut Promise,
    until: i64,
) -> Outcome<Option<u64>, F> {
    // Words of more than 8 bytes would have the end of a row group and the start of the next one.
    const { assert!(F::WRITE_SIZE <= 8 && F::READ_SIZE <= 8) };
    let Buffers { page, rows, groups } = buffers;
    let memory = (&mut rows[..], ROWS);
    let found = find(flash, region, groups, promise)?;
    let outcome = match found {
        Some(found) => {
            let sink = Eights::new(flash, region, found.at(), page)?;
            Log::resume(sink, COLUMNS, memory, groups, (&found, POLICY)).and_then(|log| put(log, promise, until))
        }
        None => {
            erase(flash, region)?;
            let sink = Eights::new(flash, region, 0, page)?;
            // A region that is too small for a log would be erased again and again.
            let log = Log::new(sink, COLUMNS, memory, groups, POLICY).map_err(flat)?;
            put(log, promise, until)
        }
    };
    match outcome.map_err(flat) {
        Err(WriteError::Format(e)) if e.kind() == Kind::NoRoom => Ok(None),
        outcome => outcome,
    }
}

/// Returns an error of the log or of its sink as one.
fn flat<E>(e: WriteError<WriteError<E>>) -> WriteError<E> {
    match e {
        WriteError::Format(e) | WriteError::Sink(WriteError::Format(e)) => e.into(),
        WriteError::Sink(e) => e,
    }
}

/// Pushes readings until number `until`. Returns the size of the file, or `None` if the region is full; then the file
/// is finished.
fn put<F: NorFlash>(
    mut log: Log<'_, Eights<'_, &mut F>, Of<Row>>,
    promise: &mut Promise,
    until: i64,
) -> Result<Option<u64>, WriteError<WriteError<F::Error>>> {
    let mut is_full = false;
    while promise.next < until && !is_full {
        // Flushes 9 to 15 readings, less than fit: only flushed readings survive a power cut.
        let next = promise.next + 9 + promise.next % 7;
        for n in promise.next..next {
            log.push(&pressure(n * PRESSURE_EVERY))?;
        }
        log.flush()?;
        promise.next = next;
        is_full = log.sink().room() < MARGIN;
    }
    log.checkpoint()?;
    Ok(if is_full { None } else { Some(log.at()) })
}

/// Finds the log, and compares it with the promise. Returns where it continues; `None` without a log.
fn find<F: NorFlash>(
    flash: &mut F,
    region: Region,
    groups: &mut [u32],
    promise: &mut Promise,
) -> Outcome<Option<Resume>, F> {
    let mut bytes = Bytes { flash, at: region.start, size: region.end - region.start, failed: None };
    let is_given_up = bytes.used()? > region.mark() - region.start;
    if is_given_up {
        *promise = Promise { first: promise.next, given_up: promise.given_up + 1, ..*promise };
        return Ok(None);
    }
    bytes.size = region.mark() - region.start;
    let used = bytes.used()?;
    // The last byte of a row group may be 0xff, and the zeros after it missing.
    bytes.size = used.next_multiple_of(8);
    let found = Resume::find(&mut bytes, &COLUMNS, groups);
    if let Some(e) = bytes.failed {
        return Err(WriteError::Sink(e));
    }
    match found {
        Ok(found) => {
            let next = promise.first + found.rows() as i64;
            if next < promise.next {
                return Err(Error::new(Kind::Invalid, What::ROW, next.unsigned_abs()).into());
            }
            promise.next = next;
            // The sink knows about the zeros after the last row group or checkpoint.
            let is_torn = u64::from(used) > found.at().next_multiple_of(8);
            promise.torn += u32::from(is_torn);
            Ok(Some(if is_torn { found.skipping(used.into()) } else { found }))
        }
        // Not even its first checkpoint is complete: it has no rows. Others may have rows: a log of other columns, a damaged one,
        // and one with more row groups than there is memory for. They are never erased.
        Err(e) if (e.kind(), e.what()) == (Kind::Truncated, What::VORTEX_CHECKPOINT) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Erases the region, the unit with the mark last.
fn erase<F: NorFlash>(flash: &mut F, region: Region) -> Outcome<(), F> {
    for unit in (region.start..region.end).step_by(F::ERASE_SIZE) {
        flash.erase(unit, unit + F::ERASE_SIZE as u32).map_err(WriteError::Sink)?;
    }
    Ok(())
}

/// A sink that can write everything to the flash after a row group or checkpoint: these are followed by zeros to a
/// multiple of 8, and the zeros are written before the log puts them.
struct Eights<'p, F> {
    sink: FlashSink<'p, F>,
    /// Number of zeros in the flash that the log will put.
    ahead: usize,
}

impl<'p, F: NorFlash> Eights<'p, F> {
    /// Creates a sink for a log of which `at` bytes are in the flash.
    fn new(flash: F, region: Region, at: u64, page: &'p mut [u8]) -> Result<Self, Error> {
        let next = at.next_multiple_of(8);
        let range: Range<u32> = region.start + next as u32..region.mark();
        Ok(Eights { sink: FlashSink::new(flash, range, page)?, ahead: (next - at) as usize })
    }

    fn sync(&mut self) -> Result<(), WriteError<F::Error>> {
        let zeros = self.sink.at().next_multiple_of(8) - self.sink.at();
        self.sink.put([0; 8].get(..zeros as usize).unwrap_or_default())?;
        self.ahead += zeros as usize;
        self.sink.sync()
    }
}

impl<F: NorFlash> Sink for Eights<'_, F> {
    type Error = WriteError<F::Error>;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        let (zeros, rest) = bytes.split_at_checked(self.ahead).unwrap_or((bytes, &[]));
        self.ahead -= zeros.len();
        self.sink.put(rest)
    }

    fn room(&self) -> u64 {
        self.sink.room() + self.ahead as u64
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.sync()
    }
}

/// Size in bytes of the windows through which the flash is read.
const WINDOW: usize = 64;

/// The bytes of the log that are in the flash.
struct Bytes<'f, F: NorFlash> {
    flash: &'f mut F,
    at: u32,
    size: u32,
    /// The error of the flash, for which [`Source`] has no type.
    failed: Option<F::Error>,
}

impl<F: NorFlash> Bytes<'_, F> {
    /// Returns the offset after the last byte that is not erased.
    fn used(&mut self) -> Outcome<u32, F> {
        let (mut end, mut window) = (self.size, [0; WINDOW]);
        while end > 0 {
            let len = end.min(WINDOW as u32);
            let part = window.get_mut(..len as usize).unwrap_or_default();
            self.flash.read(self.at + end - len, part).map_err(WriteError::Sink)?;
            if let Some(last) = part.iter().rposition(|byte| *byte != 0xff) {
                return Ok(end - len + last as u32 + 1);
            }
            end -= len;
        }
        Ok(0)
    }
}

impl<F: NorFlash> Source for Bytes<'_, F> {
    fn size(&self) -> u64 {
        self.size.into()
    }

    fn read(&mut self, at: u64, to: &mut [u8]) -> Result<(), Error> {
        let short = Error::needing(Kind::Truncated, What::INPUT, at, to.len() as u64);
        if at.saturating_add(to.len() as u64) > self.size.into() {
            return Err(short);
        }
        let mut at = self.at + at as u32;
        for part in to.chunks_mut(WINDOW) {
            // Flash is read in whole words.
            let (mut window, before) = ([0; WINDOW + 16], at as usize % 8);
            let words = window.get_mut(..(before + part.len()).next_multiple_of(8)).unwrap_or_default();
            if let Err(e) = self.flash.read(at - before as u32, words) {
                self.failed = Some(e);
                return Err(short);
            }
            for (to, byte) in part.iter_mut().zip(words.iter().skip(before)) {
                *to = *byte;
            }
            at += part.len() as u32;
        }
        Ok(())
    }
}
