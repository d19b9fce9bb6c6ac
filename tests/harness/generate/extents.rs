//! A DataSeries file as extents that are not compressed, and put together again (`docs/formats/dataseries.md`). This
//! shares no code with the reader, which must not be its own judge.

use pilaster::bytes::Scratch;
use pilaster::dataseries::Mode;
use pilaster::unstable::codec::Codec;
use pilaster::unstable::dataseries::raw::{ADLER_AT, EXTENT_HEADER_LEN, EXTENT_SEED, HASH_BATCH, HEADER_LEN};
use pilaster::unstable::dataseries::raw::{TRAILER_LEN, TRAILER_SEED};
use pilaster::unstable::hash::{adler32, lookup2};

/// What the names of the two built-in types start with. They do not leave out null cells.
const LISTS: &[u8] = b"DataSeries: ";

/// The most bytes that a part unpacks to when its hash is mended.
const UNPACKED: usize = 64 << 10;

/// A file of parts that can be changed.
#[derive(Clone, Debug)]
pub struct Pieces {
    big: bool,
    header: Vec<u8>,
    pub extents: Vec<Extent>,
    trailer: Vec<u8>,
}

/// An extent that is not compressed.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Where it was.
    at: usize,
    pub head: [u8; EXTENT_HEADER_LEN],
    /// The header before it was changed.
    before: [u8; EXTENT_HEADER_LEN],
    /// Size of a record in bytes, less where null cells are left out.
    pub row: usize,
    /// Size of all records before they were changed.
    len: usize,
    name: Vec<u8>,
    pub records: Vec<u8>,
    /// The pool without its first four bytes, which are not stored.
    pub pool: Vec<u8>,
}

/// Where the parts of a stored extent are.
struct Spans {
    at: usize,
    records: core::ops::Range<usize>,
    pool: core::ops::Range<usize>,
    end: usize,
}

fn word(bytes: &[u8], at: usize, big: bool) -> Option<u32> {
    let word = bytes.get(at..at + 4)?.try_into().expect("four bytes");
    Some(if big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
}

fn put(bytes: &mut [u8], at: usize, word: u32, big: bool) {
    bytes[at..at + 4].copy_from_slice(&if big { word.to_be_bytes() } else { word.to_le_bytes() });
}

/// The extents of `file`, until one does not fit or the trailer follows.
fn spans(file: &[u8], big: bool) -> Vec<Spans> {
    let (mut at, mut found) = (HEADER_LEN, Vec::new());
    while let (Some(fixed), Some(variable), Some(name)) =
        (word(file, at, big), word(file, at + 4, big), file.get(at + 26))
        && (fixed | variable) >> 29 == 0
    {
        let start = (at + EXTENT_HEADER_LEN + usize::from(*name)).next_multiple_of(4);
        let pool = start + (fixed as usize).next_multiple_of(4);
        let end = pool + (variable as usize).next_multiple_of(4);
        if end > file.len() {
            break;
        }
        found.push(Spans { at, records: start..start + fixed as usize, pool: pool..pool + variable as usize, end });
        at = end;
    }
    found
}

/// Where structures of a file start: extents, their parts, the trailer.
pub fn places(file: &[u8], big: bool) -> Vec<usize> {
    let parts = spans(file, big).into_iter();
    let starts = parts.flat_map(|spans| [spans.at, spans.records.start, spans.pool.start, spans.end]);
    starts.collect()
}

/// Where the entries of a pool start.
pub fn entries(pool: &[u8], big: bool) -> Vec<usize> {
    let (mut at, mut found) = (0, Vec::new());
    while let Some(len) = word(pool, at, big).filter(|len| *len < 1 << 20) {
        found.push(at);
        at += (4 + len as usize).next_multiple_of(8);
    }
    found
}

/// Makes the entries of a pool end where it ends: the last one, or the first that is longer than the pool, is cut.
pub fn mend_pool(pool: &mut Vec<u8>, big: bool) {
    pool.resize(pool.len().next_multiple_of(8), 0);
    let Some(last) = entries(pool, big).pop() else { return };
    let end = last + (4 + word(pool, last, big).expect("a length") as usize).next_multiple_of(8);
    let left = (pool.len() - last) as u32;
    if end > pool.len() {
        put(pool, last, left - 4, big);
    } else if end < pool.len() {
        // A length that is no length.
        let left = (pool.len() - end) as u32;
        put(pool, end, left - 4, big);
    }
}

/// The hash of an extent (section 3.4).
fn hash(records: &[u8], pool: &[u8], big: bool) -> u32 {
    let all = [&[0; 4], pool].concat();
    let hash = lookup2(lookup2(EXTENT_SEED, records), &all);
    let lengths: Vec<u8> = entries(pool, big).into_iter().flat_map(|at| pool[at..at + 4].to_vec()).collect();
    let batches = lengths.chunks_exact(4 * HASH_BATCH);
    let rest = batches.remainder();
    lookup2(batches.fold(hash, lookup2), rest)
}

/// The sum of a stored extent (section 3.3).
fn mend_sum(extent: &mut [u8], big: bool) {
    let sum = adler32(&[&extent[..ADLER_AT], &extent[ADLER_AT + 4..]].concat());
    put(extent, ADLER_AT, sum, big);
}

fn codec(mode: Mode) -> Option<Codec> {
    Some(match mode {
        Mode::Lzo => Codec::Lzo,
        Mode::Zlib => Codec::Zlib,
        Mode::Bz2 => Codec::Bzip2,
        Mode::Lzf => Codec::Lzf,
        Mode::Snappy => Codec::Snappy,
        Mode::Lz4 => Codec::Lz4,
        Mode::Lz4hc => Codec::Lz4Hc,
        Mode::None | Mode::Unknown(_) => return None,
    })
}

fn unpacked(stored: &[u8], mode: u8) -> Option<Vec<u8>> {
    if mode == 0 || stored.is_empty() {
        return Some(stored.to_vec());
    }
    let codec = codec(*Mode::ALL.get(usize::from(mode))?)?;
    let (mut out, mut memory) = (vec![0; UNPACKED], vec![0; codec.workspace_len(UNPACKED)]);
    let len = codec.decode(stored, &mut out, &mut Scratch::new(&mut memory)).ok()?;
    out.truncate(len);
    Some(out)
}

/// Makes the sums of the extents and of the trailer right, and the hashes of those that can be unpacked. `hashed`: whether
/// the hashes of all types are mended, and not only of the built-in types.
pub fn mend(file: &mut [u8], big: bool, hashed: bool) {
    let mut after = HEADER_LEN;
    for Spans { at, records, pool, end } in spans(file, big) {
        let modes = [file[at + 24], file[at + 25]];
        let list = file[at + EXTENT_HEADER_LEN..].starts_with(LISTS);
        if (hashed || list)
            && let Some(records) = unpacked(&file[records], modes[0])
            && let Some(pool) = unpacked(&file[pool], modes[1])
        {
            put(file, at + 20, hash(&records, &pool, big), big);
        }
        mend_sum(&mut file[at..end], big);
        after = end;
    }
    if let Some(trailer) = file.get_mut(after..after + TRAILER_LEN) {
        mend_trailer(trailer, big);
    }
}

fn mend_trailer(trailer: &mut [u8], big: bool) {
    put(trailer, TRAILER_LEN - 4, lookup2(TRAILER_SEED, &trailer[..TRAILER_LEN - 4]), big);
}

impl Pieces {
    /// The parts of a file whose extents are not compressed.
    pub fn of(file: &[u8], big: bool) -> Pieces {
        let spans = spans(file, big);
        let trailer = spans.last().expect("an index").end;
        let extents = spans.into_iter().map(|Spans { at, records, pool, .. }| {
            let head: [u8; EXTENT_HEADER_LEN] = file[at..at + EXTENT_HEADER_LEN].try_into().expect("a header");
            let name = file[at + EXTENT_HEADER_LEN..][..usize::from(head[26])].to_vec();
            let len = records.len();
            let row = len / (word(&head, 8, big).expect("a word") as usize).max(1);
            let (records, pool) = (file[records].to_vec(), file[pool].to_vec());
            Extent { at, head, before: head, row, len, name, records, pool }
        });
        let (header, extents) = (file[..HEADER_LEN].to_vec(), extents.collect());
        Pieces { big, header, extents, trailer: file[trailer..].to_vec() }
    }

    /// The file of these parts, its records and pools compressed, with all lengths, offsets, hashes and sums that do not
    /// depend on a header that was changed; `compact`: the type leaves out null cells, so that its hashes stay.
    pub fn assembled(mut self, modes: [Mode; 2], compact: bool) -> Vec<u8> {
        let (mut file, mut places) = (self.header.clone(), Vec::new());
        let last = self.extents.len() - 1;
        for (k, extent) in self.extents.iter_mut().enumerate() {
            places.push((extent.at as u64, file.len() as u64));
            if k == last {
                extent.moved(&places, self.big);
            }
            let keeps = compact && !extent.name.starts_with(LISTS);
            let stored = extent.stored(modes, self.big, keeps);
            if k == last {
                let (len, at) = (stored.len() as u32, file.len() as u64);
                put(&mut self.trailer, 4, len, self.big);
                put(&mut self.trailer, 8, !len, self.big);
                self.trailer[16..24].copy_from_slice(&if self.big { at.to_be_bytes() } else { at.to_le_bytes() });
                mend_trailer(&mut self.trailer, self.big);
            }
            file.extend_from_slice(&stored);
        }
        file.extend_from_slice(&self.trailer);
        file
    }
}

impl Extent {
    /// Changes offsets in the records of the index.
    fn moved(&mut self, places: &[(u64, u64)], big: bool) {
        for record in self.records.chunks_exact_mut(16) {
            let number: [u8; 8] = record[8..].try_into().expect("eight bytes");
            let before = if big { u64::from_be_bytes(number) } else { u64::from_le_bytes(number) };
            if let Some((_, now)) = places.iter().find(|(at, _)| *at == before) {
                record[8..].copy_from_slice(&if big { now.to_be_bytes() } else { now.to_le_bytes() });
            }
        }
    }

    /// The bytes of the extent.
    fn stored(&self, modes: [Mode; 2], big: bool, keeps_hash: bool) -> Vec<u8> {
        let mut head = self.head;
        let mut parts = [self.records.clone(), self.pool.clone()];
        for (k, part) in parts.iter_mut().enumerate() {
            let mut out = vec![0; part.len()];
            let at = 24 + k;
            if let Some(codec) = codec(modes[k])
                && head[at] == self.before[at]
                && let Ok(len) = codec.encode(part, &mut out, 9)
            {
                head[at] = Mode::ALL.iter().position(|mode| *mode == modes[k]).expect("a mode") as u8;
                out.truncate(len);
                *part = out;
            }
            put(&mut head, 4 * k, part.len() as u32, big);
        }
        // Changes of the header are kept.
        let rows = (self.records.len() / self.row.max(1)) as u32;
        let rows = if self.records.len() == self.len { word(&head, 8, big).expect("a word") } else { rows };
        for (at, number) in [(8, rows), (12, self.pool.len() as u32 + 4)] {
            if head[at..at + 4] == self.before[at..at + 4] {
                put(&mut head, at, number, big);
            }
        }
        if !keeps_hash {
            put(&mut head, 20, hash(&self.records, &self.pool, big), big);
        }
        head[26] = self.name.len() as u8;
        let mut stored = head.to_vec();
        for part in [&self.name, &parts[0], &parts[1]] {
            stored.extend_from_slice(part);
            stored.resize(stored.len().next_multiple_of(4), 0);
        }
        mend_sum(&mut stored, big);
        stored
    }
}
