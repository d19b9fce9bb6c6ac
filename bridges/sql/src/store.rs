//! Ranges of a file in an object store, fetched by requests of a useful size.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, future, stream};
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore};
use pilaster::bytes::{Block, FileRange, Ranges};
use tokio::runtime::Handle;

use crate::counts::Counts;
use crate::error::{Failure, Reason};

/// A file of at most this many bytes is fetched at once.
const WHOLE: u64 = 256 << 10;

/// Number of bytes at the end of a larger file that are fetched first: the metadata of most files.
const TAIL: u64 = 64 << 10;

/// Bounds of the minimum number of bytes of a request, which is a thousandth of the file.
const LEAST: (u64, u64) = (16 << 10, 256 << 10);

/// Two ranges with a gap of at most this many bytes are fetched by one request.
const GAP: u64 = 64 << 10;

/// Number of fetched ranges that are kept for further reads nearby.
const RECENT: usize = 8;

/// Number of requests for small ranges at the same time.
const AT_ONCE: usize = 32;

/// Bytes from an offset of a file on.
type Piece = (u64, Bytes);

/// A file in an object store.
pub(crate) struct Remote {
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
    handle: Handle,
    counts: Counts,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The ranges that opening the file took.
    head: Vec<Piece>,
    recent: VecDeque<Piece>,
    /// Whether the file is being opened, so that ranges are kept in `head`.
    opening: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Remote {
    /// Creates the file described by `meta`. `handle`: the runtime that runs requests; reads must not block one of its workers.
    pub fn new(store: Arc<dyn ObjectStore>, meta: ObjectMeta, handle: Handle, counts: Counts) -> Arc<Self> {
        Arc::new(Remote { store, meta, handle, counts, state: Mutex::default() })
    }

    /// Returns the length of the file in bytes.
    pub const fn len(&self) -> u64 {
        self.meta.size
    }

    /// Returns the counters of the scan.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns the ranges of the file for a reader.
    pub fn ranges(self: &Arc<Self>) -> Ranges {
        let file = Arc::clone(self);
        Ranges::of_blocks(self.meta.size, move |range| file.read(range))
    }

    /// Takes over the metadata that another reader of the file fetched; without any, ranges are kept until
    /// [`opened`](Self::opened).
    pub fn open(&self, heads: &Heads) {
        let mut state = locked(&self.state);
        match heads.get(&self.key()) {
            Some(head) => state.head = head,
            None => state.opening = true,
        }
    }

    /// Keeps the metadata for other readers.
    pub fn opened(&self, heads: &Heads) {
        let mut state = locked(&self.state);
        if std::mem::take(&mut state.opening) {
            heads.put(self.key(), &state.head);
        }
    }

    fn key(&self) -> Key {
        let modified = self.meta.last_modified.timestamp_nanos_opt().unwrap_or(i64::MIN);
        let version = (self.meta.size, modified, self.meta.e_tag.clone());
        (self.store.to_string(), self.meta.location.clone(), version)
    }

    /// Returns the error of a reader, or the error of the request that was its reason.
    pub fn failure(&self, ranges: &Ranges, reason: impl Into<Reason>) -> Failure {
        let reason = ranges.failed().map_or_else(|| reason.into(), Reason::Fetch);
        Failure { path: shown(&self.store, &self.meta), reason }
    }

    /// Returns what was fetched around a range.
    fn read(&self, range: FileRange) -> io::Result<Block> {
        let block = |pieces: &[Piece]| pieces.iter().find(|piece| contains(piece, range)).cloned();
        if let Some((at, bytes)) = block(&self.kept()) {
            return Ok(Block::new(at, bytes));
        }
        let wanted = range.at..range.at.saturating_add(range.len);
        let pieces = self.handle.block_on(self.fetch(wanted.clone()))?;
        let found = block(&pieces);
        let mut state = locked(&self.state);
        for piece in pieces {
            if state.opening {
                state.head.push(piece);
            } else if piece.1.len() as u64 > range.len {
                state.recent.push_front(piece);
                state.recent.truncate(RECENT);
            }
        }
        let (at, bytes) = found.ok_or_else(|| self.error(&wanted, "the store returned another range"))?;
        Ok(Block::new(at, bytes))
    }

    /// Returns the bytes of small ranges far from each other, which are fetched at the same time.
    pub fn each(&self, ranges: impl Iterator<Item = Range<u64>>) -> io::Result<Vec<Bytes>> {
        let kept = self.kept();
        let one = |range: Range<u64>| {
            let mut bytes = vec![0; usize::try_from(range.end.saturating_sub(range.start)).unwrap_or_default()];
            let found = copy(range.start, &mut bytes, kept.iter());
            async move { if found { Ok(bytes.into()) } else { self.request(range).await.map(|(_, bytes)| bytes) } }
        };
        let requests = ranges.map(one).collect::<Vec<_>>();
        self.handle.block_on(stream::iter(requests).buffered(AT_ONCE).try_collect())
    }

    /// Returns what was fetched and may be read again.
    fn kept(&self) -> Vec<Piece> {
        let state = locked(&self.state);
        state.head.iter().chain(&state.recent).cloned().collect()
    }

    /// Fetches a range, and at first the end of the file, too.
    async fn fetch(&self, wanted: Range<u64>) -> io::Result<Vec<Piece>> {
        let (first, len) = (self.is_first(), self.meta.size);
        if first && len <= WHOLE {
            return Ok(vec![self.request(0..len).await?]);
        }
        // At first, the parts after the header are wanted, too.
        let least = if first { TAIL } else { (len >> 10).clamp(LEAST.0, LEAST.1) };
        let wanted = wanted.start..wanted.end.max(wanted.start.saturating_add(least)).min(len);
        let tail = len.saturating_sub(TAIL)..len;
        if !first || wanted.end >= len && wanted.start <= tail.start {
            return Ok(vec![self.request(wanted).await?]);
        }
        if wanted.end.saturating_add(GAP) >= tail.start {
            return Ok(vec![self.request(wanted.start.min(tail.start)..len).await?]);
        }
        let (wanted, tail) = future::try_join(self.request(wanted), self.request(tail)).await?;
        Ok(vec![wanted, tail])
    }

    fn is_first(&self) -> bool {
        locked(&self.state).head.is_empty()
    }

    async fn request(&self, range: Range<u64>) -> io::Result<Piece> {
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: self.meta.e_tag.clone(),
            ..GetOptions::default()
        };
        self.counts.requests.add(1);
        let found = self.store.get_opts(&self.meta.location, options).await.map_err(|e| self.error(&range, e))?;
        if found.meta.size != self.meta.size {
            let text = format!("the file has {} bytes now, and had {}", found.meta.size, self.meta.size);
            return Err(self.error(&range, text));
        }
        let bytes = found.bytes().await.map_err(|e| self.error(&range, e))?;
        if bytes.len() as u64 != range.end.saturating_sub(range.start) {
            return Err(self.error(&range, format!("the store returned {} bytes", bytes.len())));
        }
        self.counts.bytes_read.add(bytes.len());
        Ok((range.start, bytes))
    }

    fn error(&self, range: &Range<u64>, why: impl std::fmt::Display) -> io::Error {
        let len = range.end.saturating_sub(range.start);
        io::Error::other(format!("{len} bytes at offset {} cannot be fetched: {why}", range.start))
    }
}

/// Returns the path of a file for people. Paths in stores begin without a slash.
pub(crate) fn shown(store: &Arc<dyn ObjectStore>, meta: &ObjectMeta) -> String {
    let root = if store.to_string() == "LocalFileSystem(file:///)" { "/" } else { "" };
    format!("{root}{}", meta.location)
}

/// Returns whether a piece has all bytes of a range.
fn contains((start, bytes): &Piece, range: FileRange) -> bool {
    let from = range.at.checked_sub(*start).and_then(|from| from.checked_add(range.len));
    from.is_some_and(|end| end <= bytes.len() as u64)
}

/// Copies bytes from the piece that has all of them. Returns whether there is one.
fn copy<'p>(at: u64, to: &mut [u8], mut pieces: impl Iterator<Item = &'p Piece>) -> bool {
    let found = pieces.find_map(|(start, bytes)| {
        let from = usize::try_from(at.checked_sub(*start)?).ok()?;
        bytes.get(from..from.checked_add(to.len())?)
    });
    found.is_some_and(|bytes| {
        to.copy_from_slice(bytes);
        true
    })
}

/// The metadata of files that were opened, so that each reader of a split file does not fetch them again.
#[derive(Debug, Default)]
pub(crate) struct Heads(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    files: HashMap<Key, Vec<Piece>>,
    size: usize,
}

/// A version of a file of a store.
type Key = (String, object_store::path::Path, (u64, i64, Option<String>));

impl Heads {
    /// Maximum number of bytes. A full cache is emptied.
    const MOST: usize = 64 << 20;

    /// Maximum number of bytes of one file.
    const MOST_OF_FILE: usize = 4 << 20;

    fn get(&self, key: &Key) -> Option<Vec<Piece>> {
        locked(&self.0).files.get(key).cloned()
    }

    fn put(&self, key: Key, head: &[Piece]) {
        let size = head.iter().fold(0usize, |sum, (_, bytes)| sum.saturating_add(bytes.len()));
        if size > Heads::MOST_OF_FILE {
            return;
        }
        let mut kept = locked(&self.0);
        if kept.size.saturating_add(size) > Heads::MOST {
            *kept = Kept::default();
        }
        if kept.files.insert(key, head.to_vec()).is_none() {
            kept.size = kept.size.saturating_add(size);
        }
    }
}
