//! Ranges of a file in an object store, fetched by requests of a useful size.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::iter;
use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use datafusion_execution::object_store::ObjectStoreUrl;
use futures::{StreamExt as _, TryStreamExt as _, future, stream};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, GetResultPayload, ObjectMeta, ObjectStore};
use pilaster::bytes::{Block, FileRange, Ranges};
use tokio::runtime::Handle;

use crate::ahead::Ahead;
use crate::buffers::Buffers;
use crate::counts::Counts;
use crate::error::{Failure, Reason};
use crate::heads::{Head, Heads, Key};

/// A file of at most this many bytes is fetched at once.
pub(crate) const WHOLE: u64 = 256 << 10;

/// Bounds of the number of bytes at the end of a larger file that are fetched first: a 4096th of the file, as the metadata of most
/// files are. The least one is also fetched of the start.
const TAIL: (u64, u64) = (64 << 10, 1 << 20);

/// Maximum number of bytes between metadata at the end of a file that are fetched with them.
const SPAN: u64 = 2 << 20;

/// Bounds of the number of bytes that are fetched next if the metadata take more than the end: as many as those beside them that are known
/// to be metadata.
const NEAR: (u64, u64) = (768 << 10, 4 << 20);

/// Bounds of the minimum number of bytes of a request, which is a thousandth of the file.
const LEAST: (u64, u64) = (16 << 10, 256 << 10);

/// Two ranges with a gap of at most this many bytes are fetched by one request.
const GAP: u64 = 64 << 10;

/// Number of requests for small ranges at the same time.
const AT_ONCE: usize = 32;

/// Bytes from an offset of a file on.
pub(crate) type Piece = (u64, Bytes);

/// A file in an object store.
pub(crate) struct Remote {
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
    /// The path of the file for people.
    path: String,
    handle: Handle,
    counts: Counts,
    state: Mutex<State>,
    /// Memory for ranges of local files.
    buffers: Buffers,
}

#[derive(Default)]
struct State {
    /// The ranges that opening the file took.
    head: Vec<Piece>,
    /// The ranges of `head` that were read.
    used: Vec<Range<u64>>,
    /// Fetched ranges that are kept for further reads nearby.
    recent: VecDeque<Piece>,
    ahead: Ahead,
    /// Whether the file is being opened, so that ranges are kept in `head`.
    opening: bool,
    /// Minimum number of bytes at the end that are fetched first.
    tail: u64,
    /// A local file, once a request has opened it, and its time of change.
    file: Option<(Arc<File>, SystemTime)>,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Remote {
    /// Creates the file described by `meta`, which errors call `path`. Reads block, and must not block one of the threads of the
    /// current runtime, which runs requests.
    pub fn new(store: Arc<dyn ObjectStore>, meta: ObjectMeta, path: String, counts: Counts) -> Arc<Self> {
        Arc::new(Remote {
            store,
            meta,
            path,
            handle: Handle::current(),
            counts,
            state: Mutex::default(),
            buffers: Buffers::default(),
        })
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

    /// Starts read-ahead for a scan of `columns` columns.
    pub fn read_columns(&self, file: &pilaster::any::File<'_>, columns: usize) {
        let ahead = Ahead::new(file, columns);
        locked(&self.state).ahead = ahead;
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

    /// Sets how many bytes at the end of a file are fetched first, if that is more than usual. Metadata that are larger take another
    /// request.
    pub fn expect_tail(&self, len: u64) {
        locked(&self.state).tail = len;
    }

    /// Keeps the metadata for other readers.
    pub fn opened(&self, heads: &Heads) {
        let mut state = locked(&self.state);
        if mem::take(&mut state.opening) {
            let used = mem::take(&mut state.used);
            heads.put(self.key(), Head::new(cut(&state.head, used), &self.store));
        }
    }

    fn key(&self) -> Key {
        let modified = self.meta.last_modified.timestamp_nanos_opt().unwrap_or(i64::MIN);
        let version = (self.meta.size, modified, self.meta.e_tag.clone());
        // Sessions have local file systems of their own, which have the same files.
        let store = if is_local(&self.store) { 0 } else { Arc::as_ptr(&self.store).addr() };
        (store, self.meta.location.clone(), version)
    }

    /// Returns the error of a reader, or the error of the request that was its reason.
    pub fn failure(&self, ranges: &Ranges, reason: impl Into<Reason>) -> Failure {
        let reason = ranges.failed().map_or_else(|| reason.into(), Reason::Fetch);
        Failure::new(self.path.clone(), reason)
    }

    /// Returns the bytes of a range, which are part of what was fetched.
    fn read(&self, range: FileRange) -> io::Result<Block> {
        let wanted = range.at..range.at.saturating_add(range.len);
        let kept = {
            let mut state = locked(&self.state);
            if state.opening {
                state.used.push(wanted.clone());
            }
            state.head.iter().chain(&state.recent).cloned().collect::<Vec<_>>()
        };
        let block = |pieces: &[Piece]| pieces.iter().find_map(|piece| cut_block(piece, range));
        if let Some(block) = block(&kept) {
            return Ok(block);
        }
        let opening = locked(&self.state).opening;
        // The range may begin in what was fetched, which ends anywhere: only the rest is fetched.
        let before = kept.iter().find(|piece| !opening && piece.0 <= wanted.start && wanted.start < end(piece));
        let rest = before.map_or(wanted.start, end)..wanted.end;
        let pieces = self.handle.block_on(self.fetch(rest))?;
        let pieces = match before.and_then(|piece| after(piece, wanted.start)) {
            Some(before) => joined(iter::once(before).chain(pieces)),
            None => pieces,
        };
        let mut state = locked(&self.state);
        if opening {
            let head = mem::take(&mut state.head);
            state.head = joined(head.into_iter().chain(pieces));
            return block(&state.head).ok_or_else(|| self.error(&wanted, "the store returned another range"));
        }
        let found = block(&pieces);
        for piece in pieces {
            if piece.1.len() as u64 > range.len {
                state.recent.push_front(piece);
                let turns = state.ahead.turns();
                state.recent.truncate(turns);
            }
        }
        found.ok_or_else(|| self.error(&wanted, "the store returned another range"))
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
    async fn fetch(&self, mut wanted: Range<u64>) -> io::Result<Vec<Piece>> {
        let len = self.meta.size;
        if len <= WHOLE {
            return Ok(vec![self.request(0..len).await?]);
        }
        let tail = (len >> 12).clamp(TAIL.0, TAIL.1).max(locked(&self.state).tail);
        let tail = len.saturating_sub(tail)..len;
        let (first, next) = self.next_head(&mut wanted);
        // At first, the parts after the header are wanted, too.
        let least = if first { TAIL.0 } else { (len >> 10).clamp(LEAST.0, LEAST.1) };
        let mut wanted = wanted.start..wanted.end.max(wanted.start.saturating_add(least)).min(len);
        if !first && next.is_none() {
            wanted = locked(&self.state).ahead.of(&wanted, len);
        }
        if let Some(next) = next
            && next.start.saturating_sub(wanted.start) <= SPAN
        {
            // Metadata before others that are known, and all between them. What is before these is likely metadata, too.
            wanted.end = wanted.end.max(next.start);
            let near = next.end.saturating_sub(wanted.start).clamp(NEAR.0, NEAR.1);
            wanted.start = wanted.start.min(next.start.saturating_sub(near));
        }
        if !first || wanted.end >= len && wanted.start <= tail.start {
            return Ok(vec![self.request(wanted).await?]);
        }
        if wanted.end.saturating_add(GAP) >= tail.start {
            return Ok(vec![self.request(wanted.start.min(tail.start)..len).await?]);
        }
        let (wanted, tail) = future::try_join(self.request(wanted), self.request(tail)).await?;
        Ok(vec![wanted, tail])
    }

    /// Returns whether nothing was fetched yet. While the file is opened, also returns the next range that was fetched, and takes from
    /// `wanted` what was.
    fn next_head(&self, wanted: &mut Range<u64>) -> (bool, Option<Range<u64>>) {
        let state = locked(&self.state);
        if !state.opening {
            return (state.head.is_empty(), None);
        }
        for piece in &state.head {
            let (start, end) = (piece.0, end(piece));
            if start <= wanted.start && wanted.start < end {
                wanted.start = end.min(wanted.end);
            }
            if start < wanted.end && wanted.end <= end {
                wanted.end = start.max(wanted.start);
            }
        }
        let after = state.head.iter().filter(|(start, _)| *start >= wanted.end);
        let next = after.min_by_key(|(start, _)| *start).map(|piece| piece.0..end(piece));
        (state.head.is_empty(), next)
    }

    async fn request(&self, range: Range<u64>) -> io::Result<Piece> {
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: self.meta.e_tag.clone().filter(|tag| !is_weak(tag)),
            ..GetOptions::default()
        };
        self.counts.requests.add(1);
        let known = locked(&self.state).file.clone();
        if let Some((file, modified)) = known {
            return self.local(&file, modified, range);
        }
        let found = self.store.get_opts(&self.meta.location, options).await.map_err(|e| self.error(&range, e))?;
        if found.meta.size != self.meta.size {
            let text = format!("the file has {} bytes now, and had {}", found.meta.size, self.meta.size);
            return Err(self.error(&range, text));
        }
        if self.meta.e_tag.as_deref().is_some_and(is_weak) && found.meta.e_tag != self.meta.e_tag {
            return Err(self.error(&range, "the file was changed after it was opened"));
        }
        if self.meta.e_tag.is_none() && !same_time(&self.meta, &found.meta) {
            let text = format!("the file was changed at {}, after it was opened", found.meta.last_modified);
            return Err(self.error(&range, text));
        }
        let found = match found.payload {
            // The thread that needs the bytes reads them: it uses the memory again, and other threads would not.
            GetResultPayload::File(file, _) if is_local(&self.store) => {
                let (file, modified) = (Arc::new(file), found.meta.last_modified.into());
                locked(&self.state).file = Some((Arc::clone(&file), modified));
                return self.local(&file, modified, range);
            }
            payload => GetResult { payload, ..found },
        };
        let bytes = found.bytes().await.map_err(|e| self.error(&range, e))?;
        if bytes.len() as u64 != range.end.saturating_sub(range.start) {
            return Err(self.error(&range, format!("the store returned {} bytes", bytes.len())));
        }
        self.counts.bytes_read.add(bytes.len());
        Ok((range.start, bytes))
    }

    /// Reads a range of a local file, which was changed at `known`.
    fn local(&self, mut file: &File, known: SystemTime, range: Range<u64>) -> io::Result<Piece> {
        let len = range.end.saturating_sub(range.start);
        let mut read = || {
            let meta = file.metadata()?;
            let mut bytes = self.buffers.take(usize::try_from(len).unwrap_or_default());
            file.seek(SeekFrom::Start(range.start))?;
            file.take(len).read_to_end(&mut bytes)?;
            Ok((meta.len(), meta.modified()?, bytes))
        };
        let (size, modified, bytes) = read().map_err(|e: io::Error| self.error(&range, e))?;
        if size != self.meta.size || bytes.len() as u64 != len {
            let text = format!("the file has {size} bytes now, and had {}", self.meta.size);
            return Err(self.error(&range, text));
        }
        if modified != known {
            return Err(self.error(&range, "the file was changed after it was opened"));
        }
        self.counts.bytes_read.add(bytes.len());
        Ok((range.start, self.buffers.lend(bytes)))
    }

    fn error(&self, range: &Range<u64>, why: impl std::fmt::Display) -> io::Error {
        let len = range.end.saturating_sub(range.start);
        io::Error::other(format!("{len} bytes at offset {} cannot be fetched: {why}", range.start))
    }
}

/// Whether a file has the time of change that was known, as far as both are known: some stores tell seconds only.
fn same_time(known: &ObjectMeta, found: &ObjectMeta) -> bool {
    let (known, found) = (known.last_modified, found.last_modified);
    let whole = known.timestamp_subsec_nanos() == 0 || found.timestamp_subsec_nanos() == 0;
    known == found || known.timestamp() == 0 || whole && known.timestamp() == found.timestamp()
}

/// Whether a store is the local file system.
fn is_local(store: &Arc<dyn ObjectStore>) -> bool {
    store.to_string() == "LocalFileSystem(file:///)"
}

/// Returns the path of a file for people. Paths in stores begin without a slash.
pub(crate) fn shown(store: &Arc<dyn ObjectStore>, path: &Path) -> String {
    if is_local(store) { format!("/{path}") } else { format!("{store}/{path}") }
}

/// Returns the path of a file for people, in the store of a URL. Paths in stores begin without a slash.
///
/// ```
/// use datafusion_execution::object_store::ObjectStoreUrl;
/// use object_store::path::Path;
/// use pilaster_datafusion::shown;
///
/// let path = Path::from("logs/a.ds");
/// assert_eq!(shown(&ObjectStoreUrl::local_filesystem(), &path), "/logs/a.ds");
/// assert_eq!(shown(&ObjectStoreUrl::parse("s3://bucket")?, &path), "s3://bucket/logs/a.ds");
/// # Ok::<(), datafusion_common::DataFusionError>(())
/// ```
pub fn shown_at(store: &ObjectStoreUrl, path: &Path) -> String {
    match store.as_str() {
        "file:///" => format!("/{path}"),
        store => format!("{}/{path}", store.trim_end_matches('/')),
    }
}

/// Returns the offset at which a piece ends.
fn end((start, bytes): &Piece) -> u64 {
    start.saturating_add(bytes.len() as u64)
}

/// Returns the part of a piece from an offset on.
fn after((start, bytes): &Piece, at: u64) -> Option<Piece> {
    let from = usize::try_from(at.checked_sub(*start)?).ok()?;
    (from <= bytes.len()).then(|| (at, bytes.slice(from..)))
}

/// Joins each piece with those that begin within it or at its end, so that a range can be in several.
fn joined(pieces: impl Iterator<Item = Piece>) -> Vec<Piece> {
    let mut pieces: Vec<_> = pieces.collect();
    pieces.sort_by_key(|(start, _)| *start);
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        let shared = all.last().and_then(|last| end(last).checked_sub(piece.0));
        match (all.last_mut(), shared.map(usize::try_from)) {
            (Some(last), Some(Ok(shared))) => {
                last.1 = [&last.1[..], piece.1.get(shared..).unwrap_or_default()].concat().into();
            }
            _ => all.push(piece),
        }
    }
    all
}

/// Returns copies of the bytes of ranges that were read.
fn cut(pieces: &[Piece], mut used: Vec<Range<u64>>) -> Vec<Piece> {
    used.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in used {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    let found = joined.into_iter().flat_map(|range| {
        // The bytes of a range may be in several pieces.
        pieces.iter().filter_map(move |(start, bytes)| {
            let at = range.start.max(*start);
            let from = usize::try_from(at.saturating_sub(*start)).ok()?;
            let to = usize::try_from(range.end.checked_sub(*start)?).ok()?.min(bytes.len());
            let bytes = bytes.get(from..to).filter(|bytes| !bytes.is_empty())?;
            Some((at, Bytes::copy_from_slice(bytes)))
        })
    });
    found.collect()
}

/// Whether a tag is weak: servers never match it, as it does not tell that all bytes are the same.
fn is_weak(tag: &str) -> bool {
    tag.starts_with("W/")
}

/// Returns the bytes of a range, if a piece has all of them.
fn cut_block((start, bytes): &Piece, range: FileRange) -> Option<Block> {
    let from = usize::try_from(range.at.checked_sub(*start)?).ok()?;
    let to = from.checked_add(usize::try_from(range.len).ok()?)?;
    (to <= bytes.len()).then(|| Block::new(range.at, bytes.slice(from..to)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_change() {
        let meta = |nanoseconds: i64| {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(nanoseconds.unsigned_abs());
            ObjectMeta { location: Path::from("a"), last_modified: time.into(), size: 1, e_tag: None, version: None }
        };
        let second = 1_000_000_000;
        for (known, found, same) in [
            (5 * second + 1, 5 * second + 1, true),
            (5 * second + 1, 5 * second + 2, false),
            // Unknown, and known by the second.
            (0, 5 * second + 2, true),
            (5 * second, 5 * second + 2, true),
            (5 * second + 2, 5 * second, true),
            (5 * second, 6 * second, false),
        ] {
            assert_eq!(same_time(&meta(known), &meta(found)), same, "{known} {found}");
        }
    }

    #[test]
    fn pieces_that_touch_are_one() {
        let file = Bytes::from_static(b"0123456789abcdefghijklmnopqrstuvwxyz");
        let piece = |(start, end): &(usize, usize)| (*start as u64, file.slice(*start..*end));
        for (pieces, wanted) in [
            (&[(10, 20), (0, 10)][..], &[(0, 20)][..]),
            (&[(0, 10), (11, 20)], &[(0, 10), (11, 20)]),
            (&[(5, 20), (0, 10), (30, 36), (20, 25)], &[(0, 25), (30, 36)]),
            // One within another, and twice the same.
            (&[(0, 30), (5, 10), (0, 30)], &[(0, 30)]),
        ] {
            let found = joined(pieces.iter().map(piece));
            assert_eq!(found, wanted.iter().map(piece).collect::<Vec<_>>(), "{pieces:?}");
        }
    }

    #[test]
    fn ranges_that_were_read_stay() {
        let pieces = [(0, Bytes::from_static(b"0123456789")), (20, Bytes::from_static(b"abcdefghij"))];
        let used = vec![22..24, 0..2, 1..4, 24..25, 40..50, 8..12];
        let found = cut(&pieces, used);
        let found: Vec<_> = found.iter().map(|(at, bytes)| (*at, &bytes[..])).collect();
        assert_eq!(found, [(0, &b"0123"[..]), (8, b"89"), (22, b"cde")]);
    }
}
