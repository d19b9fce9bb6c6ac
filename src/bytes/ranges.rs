//! Ranges of a file that are read when they are needed and kept until the end.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::{Fetch, FileRange, Input};

/// Ranges start and end at multiples of this many bytes, so that a slice of a range is as aligned in memory as its
/// offset is in the file.
const GRAIN: u64 = 64;

/// Minimum number of bytes that are read at once: enough for most small structures and the names after them.
const LEAST: u64 = 128;

/// Bounds of the number of bytes that are read ahead if reads follow each other in the file.
const AHEAD: (u64, u64) = (1 << 12, 1 << 16);

/// Reads a range of a file.
type Read = dyn Fn(FileRange) -> io::Result<Block> + Send + Sync;

/// Consecutive bytes of a file, in memory that the place they come from has already.
pub struct Block {
    at: u64,
    bytes: Box<dyn AsRef<[u8]> + Send + Sync>,
}

impl Block {
    /// Creates a block of the bytes at offset `at` of the file.
    #[must_use]
    pub fn new(at: u64, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Block { at, bytes: Box::new(bytes) }
    }

    fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    /// Returns the offset of the end in the file.
    fn end(&self) -> Option<u64> {
        self.at.checked_add(self.bytes().len() as u64)
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("at", &self.at).field("len", &self.bytes().len()).finish()
    }
}

/// Ranges of a file, each read when it is first needed, and kept in memory until this is dropped. In memory are at most
/// three times as many bytes as the file has, however ranges overlap.
///
/// ```
/// use pilaster::bytes::{FileRange, Input, Ranges};
/// use pilaster::error::What;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ranges = Ranges::open("examples/data/keyed_1.jay")?;
/// let input: Input<'_> = ranges.input();
/// assert_eq!(input.get(FileRange { at: 0, len: 4 }, What::INPUT)?, b"JAY1");
/// assert_eq!((input.len(), ranges.bytes_read()), (1472, 128));
///
/// // Any other place where ranges can be read: here, a file of zeros that ends in an error.
/// let ranges = Ranges::new(1 << 40, |at, to: &mut [u8]| match at {
///     0..0x1000 => Ok(to.fill(0)),
///     _ => Err(std::io::Error::other("the server is down")),
/// });
/// assert_eq!(ranges.input().get(FileRange { at: 100, len: 2 }, What::INPUT)?, [0, 0]);
/// assert!(ranges.input().get(FileRange { at: 1 << 39, len: 2 }, What::INPUT).is_err());
/// assert_eq!(ranges.failed().unwrap().to_string(), "the server is down");
///
/// // A window reads the same file; its memory is released when it is dropped.
/// let window = ranges.window();
/// window.input().get(FileRange { at: 0, len: 1000 }, What::INPUT)?;
/// drop(window);
/// assert_eq!(ranges.bytes_read(), 128 + 1024);
/// # Ok(())
/// # }
/// ```
pub struct Ranges {
    file: Arc<Shared>,
    kept: Slots,
    state: Mutex<State>,
}

/// What windows of the same file have in common.
struct Shared {
    read: Box<Read>,
    len: u64,
    bytes_read: AtomicU64,
    failed: Mutex<Option<io::Error>>,
}

#[derive(Default)]
struct State {
    /// The ranges by their start. No range contains another one, so that both starts and ends ascend.
    places: BTreeMap<u64, Place>,
    /// Number of used slots.
    used: usize,
    /// Bytes in all slots.
    held: u64,
    /// Bytes in all slots at the end of the first step of a walk; 0 before it.
    first: u64,
}

#[derive(Clone, Copy)]
struct Place {
    end: u64,
    slot: usize,
    /// Number of bytes that were read together at least.
    ahead: u64,
}

/// Memory of words, for its alignment, and its length in bytes.
struct Words(Box<[u64]>, usize);

impl AsRef<[u8]> for Words {
    fn as_ref(&self) -> &[u8] {
        bytemuck::must_cast_slice(&self.0).get(..self.1).unwrap_or_default()
    }
}

/// A list that only grows and never moves: bucket `i` has `2^i` slots.
struct Slots([OnceLock<Box<[OnceLock<Block>]>>; 40]);

impl Slots {
    fn slot(&self, i: usize) -> Option<&OnceLock<Block>> {
        let n = i.checked_add(1)?;
        let bucket = n.ilog2();
        let len = 1usize.checked_shl(bucket)?;
        let slots = self.0.get(usize::try_from(bucket).ok()?)?;
        slots.get_or_init(|| (0..len).map(|_| OnceLock::new()).collect()).get(n.checked_sub(len)?)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ranges {
    /// Creates the ranges of a file of `len` bytes. `read` fills all of its memory with the bytes at an offset.
    #[must_use]
    pub fn new(len: u64, read: impl Fn(u64, &mut [u8]) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Ranges::of_blocks(len, move |range| {
            let len = usize::try_from(range.len).map_err(|_| io::ErrorKind::OutOfMemory)?;
            let count = len.div_ceil(8);
            // A range may be as long as the file.
            Vec::<u64>::new().try_reserve_exact(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
            let mut words = vec![0; count];
            let bytes = bytemuck::must_cast_slice_mut::<u64, u8>(&mut words);
            read(range.at, bytes.get_mut(..len).unwrap_or_default())?;
            Ok(Block::new(range.at, Words(words.into_boxed_slice(), len)))
        })
    }

    /// Creates the ranges of a file of `len` bytes from a place that returns memory of its own, which is not copied. `read`
    /// returns a block that contains the range. Values in it can be used in place only if their addresses are as aligned as their
    /// offsets; others are copied.
    ///
    /// ```
    /// use pilaster::bytes::{Block, FileRange, Ranges};
    /// use pilaster::error::What;
    ///
    /// let ranges = Ranges::of_blocks(1 << 20, |range: FileRange| Ok(Block::new(range.at, vec![7; range.len as usize])));
    /// assert_eq!(ranges.input().get(FileRange { at: 100, len: 2 }, What::INPUT)?, [7, 7]);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    #[must_use]
    pub fn of_blocks(len: u64, read: impl Fn(FileRange) -> io::Result<Block> + Send + Sync + 'static) -> Self {
        let (bytes_read, failed) = (AtomicU64::new(0), Mutex::new(None));
        Ranges::of(Arc::new(Shared { read: Box::new(read), len, bytes_read, failed }))
    }

    /// Creates the ranges of a file, which is read by positioned reads. A file that does not know its length, such as a
    /// pipe, counts as empty.
    ///
    /// # Errors
    /// Errors of opening the file.
    pub fn open(path: impl AsRef<std::path::Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        Ok(Ranges::new(file.metadata()?.len(), at_offset(file)))
    }

    fn of(file: Arc<Shared>) -> Self {
        Ranges { file, kept: Slots([const { OnceLock::new() }; 40]), state: Mutex::default() }
    }

    /// Returns the input of a reader.
    #[must_use]
    pub fn input(&self) -> Input<'_> {
        Input::fetched(self, self.file.len)
    }

    /// Returns other ranges of the same file, none of which has been read.
    #[must_use]
    pub fn window(&self) -> Ranges {
        Ranges::of(self.file.clone())
    }

    /// Returns the number of bytes that were read from the file, including its windows.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.file.bytes_read.load(Ordering::Relaxed)
    }

    /// Returns the first error of reading the file, including its windows, and forgets it. After it, a reader returned
    /// an error of [`Kind::Missing`](crate::error::Kind::Missing).
    #[must_use]
    pub fn failed(&self) -> Option<io::Error> {
        locked(&self.file.failed).take()
    }

    /// Returns the slot that contains `range`, and the start of the slot. Reads the range if no slot contains it.
    fn find(&self, range: FileRange) -> Option<(usize, u64)> {
        let end = range.end()?;
        let mut state = locked(&self.state);
        let before = state.places.range(..=range.at).next_back().map(|(at, place)| (*at, *place));
        if let Some((at, place)) = before
            && end <= place.end
        {
            return Some((place.slot, at));
        }
        let at = range.at & !GRAIN.wrapping_sub(1);
        let ahead = match before {
            Some((_, place)) if place.end >= at => place.ahead.saturating_mul(2).clamp(AHEAD.0, AHEAD.1),
            _ => LEAST,
        };
        let to = end.max(at.saturating_add(ahead)).checked_next_multiple_of(GRAIN)?.min(self.file.len);
        // Only ranges that overlap have twice as many bytes as the file. The whole file then contains all further ones.
        let much = state.held.saturating_add(to.saturating_sub(at)) > self.file.len.saturating_mul(2);
        let (at, to) = if much { (0, self.file.len) } else { (at, to) };
        let slot = state.used;
        let block = self.read(FileRange { at, len: to.checked_sub(at)? })?;
        let (at, to) = (block.at, block.end()?);
        self.kept.slot(slot)?.set(block).ok()?;
        state.used = slot.checked_add(1)?;
        state.held = state.held.saturating_add(to.saturating_sub(at));
        // Ranges inside the new one are not looked up any more.
        while let Some((start, place)) = state.places.range(at..).next().map(|(start, place)| (*start, *place))
            && place.end <= to
        {
            state.places.remove(&start);
        }
        state.places.insert(at, Place { end: to, slot, ahead });
        Some((slot, at))
    }

    fn read(&self, range: FileRange) -> Option<Block> {
        let end = range.end()?;
        let read = (self.file.read)(range).and_then(|block| match block.end() {
            Some(last) if block.at <= range.at && last >= end && last <= self.file.len => Ok(block),
            _ => Err(io::Error::other("bytes of another range were returned")),
        });
        match read {
            Ok(block) => {
                self.file.bytes_read.fetch_add(block.bytes().len() as u64, Ordering::Relaxed);
                Some(block)
            }
            Err(e) => {
                locked(&self.file.failed).get_or_insert(e);
                None
            }
        }
    }
}

impl Fetch for Ranges {
    fn fetch(&self, range: FileRange) -> Option<&[u8]> {
        let (slot, start) = self.find(range)?;
        let block = self.kept.slot(slot)?.get()?;
        let at = range.at.checked_sub(start)?;
        FileRange { at, ..range }.find(block.bytes())
    }

    fn fresh(&self) -> Option<Box<dyn Fetch + '_>> {
        Some(Box::new(self.window()))
    }

    /// Returns 0 until as many bytes were read after the first call as before it. The next step of a walk often takes
    /// the same ranges again, and these may be long: with a fresh fetcher after each step, each would read them again.
    fn held(&self) -> u64 {
        let mut state = locked(&self.state);
        if state.first == 0 {
            state.first = state.held;
        }
        if state.held >= state.first.saturating_mul(2) { state.held } else { 0 }
    }
}

impl fmt::Debug for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = &mut f.debug_struct("Ranges");
        show.field("len", &self.file.len).field("bytes_read", &self.bytes_read()).finish_non_exhaustive()
    }
}

/// Returns a function that reads `file` at an offset.
#[cfg(unix)]
fn at_offset(file: File) -> impl Fn(u64, &mut [u8]) -> io::Result<()> + Send + Sync + 'static {
    use std::os::unix::fs::FileExt;
    move |at, to| file.read_exact_at(to, at)
}

/// Returns a function that reads `file` at an offset.
#[cfg(not(unix))]
fn at_offset(file: File) -> impl Fn(u64, &mut [u8]) -> io::Result<()> + Send + Sync + 'static {
    use std::io::{Read as _, Seek, SeekFrom};
    let file = Mutex::new(file);
    move |at, to| {
        let mut file = locked(&file);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(to)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;
    use crate::error::{Kind, What};

    fn counting(len: u64) -> Ranges {
        Ranges::new(len, |at, to| {
            to.iter_mut().zip(at..).for_each(|(byte, at)| *byte = at as u8);
            Ok(())
        })
    }

    fn get(ranges: &Ranges, at: u64, len: u64) -> &[u8] {
        let bytes = ranges.input().get(FileRange { at, len }, What::INPUT).unwrap();
        assert!(bytes.iter().zip(at..).all(|(byte, at)| *byte == at as u8), "{at} {len}");
        assert_eq!(bytes.len() as u64, len);
        bytes
    }

    #[test]
    fn a_range_inside_another_one_is_not_read_again() {
        let ranges = counting(1 << 20);
        let first = get(&ranges, 1000, 5000);
        assert_eq!(ranges.bytes_read(), 5056, "960..6016");
        assert_eq!(get(&ranges, 2000, 10).as_ptr(), first[1000..].as_ptr());
        assert_eq!(ranges.bytes_read(), 5056);
        // A range that contains earlier ones replaces them.
        get(&ranges, 0, 10_000);
        get(&ranges, 3000, 6000);
        assert_eq!(ranges.bytes_read(), 5056 + 10_048);
        // Earlier slices stay valid.
        assert_eq!(first[0], 1000u16 as u8);
        assert_eq!(first.as_ptr() as usize % 8, 0);
    }

    #[test]
    fn blocks_are_not_copied_and_have_the_range() {
        // Blocks of 1,000 bytes, whatever is wanted of them.
        let ranges = Ranges::of_blocks(10_000, |range| {
            let at = range.at / 1000 * 1000;
            let bytes: Vec<u8> = (at..at + 1000).map(|at| at as u8).collect();
            Ok(Block::new(if range.at < 5000 { at } else { at + 1 }, bytes))
        });
        let first = get(&ranges, 1100, 100);
        assert_eq!(get(&ranges, 1900, 50).as_ptr().addr(), first.as_ptr().addr() + 800);
        assert_eq!(ranges.bytes_read(), 1000);
        // Blocks without all bytes of the range.
        let of = |at, len| ranges.input().get(FileRange { at, len }, What::INPUT).unwrap_err().kind();
        for (at, len) in [(2900, 200), (6000, 10)] {
            assert_eq!(of(at, len), Kind::Missing);
            assert_eq!(ranges.failed().unwrap().to_string(), "bytes of another range were returned");
        }
    }

    #[test]
    fn many_ranges_in_any_order() {
        let ranges = counting(1 << 30);
        let mut seed = 1u64;
        let mut slices = Vec::new();
        for _ in 0..2000 {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let (at, len) = (seed >> 34, seed & 0x3ff);
            let len = len.min((1 << 30) - at);
            slices.push((at, get(&ranges, at, len)));
        }
        for (at, bytes) in slices {
            assert!(bytes.iter().zip(at..).all(|(byte, at)| *byte == at as u8));
        }
    }

    #[test]
    fn reads_that_follow_each_other_are_read_ahead() {
        let calls = Arc::new(AtomicU64::new(0));
        let count = calls.clone();
        let ranges = Ranges::new(1 << 20, move |_, to| {
            to.fill(0);
            count.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        for at in (0..1 << 20).step_by(100) {
            let len = 100.min((1 << 20) - at);
            ranges.input().get(FileRange { at, len }, What::INPUT).unwrap();
        }
        assert!(calls.load(Ordering::Relaxed) < 30, "{calls:?}");
        assert!(ranges.bytes_read() < (1 << 20) + 30 * 128, "{}", ranges.bytes_read());
    }

    #[test]
    fn the_end_of_the_file_and_errors_of_reading() {
        let ranges = counting(100);
        get(&ranges, 90, 10);
        assert_eq!(ranges.bytes_read(), 36, "64..100");
        let beyond = ranges.input().get(FileRange { at: 90, len: 11 }, What::INPUT).unwrap_err();
        assert_eq!(beyond.kind(), Kind::Truncated);
        assert!(ranges.failed().is_none());

        let broken = Ranges::new(100, |_, _| Err(io::ErrorKind::TimedOut.into()));
        let e = broken.input().get(FileRange { at: 64, len: 7 }, What::INPUT).unwrap_err();
        assert_eq!((e.kind(), e.at(), e.need()), (Kind::Missing, 64, 7));
        assert_eq!(broken.window().failed().unwrap().kind(), io::ErrorKind::TimedOut);
        assert_eq!(broken.bytes_read(), 0);
    }

    #[test]
    fn threads_share_ranges() {
        let ranges = counting(1 << 20);
        std::thread::scope(|scope| {
            for k in 0..4 {
                let ranges = &ranges;
                scope.spawn(move || (0..1000).for_each(|i| assert_eq!(get(ranges, (i * 37 + k) * 20, 50).len(), 50)));
            }
        });
    }
}
