//! The encoder of Zstandard frames.
//!
//! A match finder splits a block into literals and sequences, which are kept in scratch memory. Then the literals are
//! written by a Huffman code, and the sequences by three finite state entropy codes, each in the form that is estimated
//! to be the shortest. A block that gains nothing is stored.

mod costs;
mod fast;
mod finder;
mod fse;
mod huffman;
mod literals;
mod rows;
mod sequences;
mod split;
#[cfg(test)]
mod tests;

use self::fast::Fast;
use self::finder::{Finder, WINDOW};
use self::huffman::Code;
use self::literals::Literals;
use self::rows::{ROW, Rows};
use self::sequences::{Sequences, Store};
use self::split::Bytes;
use crate::bytes::{Scratch, len32, low32};
use crate::codec::greedy::Put;
use crate::codec::lz::no_room;
use crate::codec::zstd::frame::MAGIC;
use crate::error::{Error, Kind, Result, What};
use crate::hash::xxh64;

/// How matches are found.
#[derive(Clone, Copy)]
enum Search {
    /// One position per hash.
    Fast,
    /// One position per hash of a few bytes, and one per hash of eight.
    Double,
    /// Rows of positions; the number of tries, and of later positions that are searched.
    Rows(u32, u32),
}

/// What a level means.
#[derive(Clone, Copy)]
struct Plan {
    search: Search,
    /// Logarithm of the number of positions of a table.
    log: u32,
    /// Number of bytes that are hashed.
    hashed: u32,
}

/// Maximum level.
pub const MAX_LEVEL: u8 = 10;

const fn plan(level: u8, n: usize) -> Plan {
    let (search, log, hashed) = match level {
        0 | 1 => (Search::Fast, 14, 6),
        2 => (Search::Fast, 16, 5),
        3 => (Search::Double, 16, 5),
        4 => (Search::Double, 17, 5),
        5 => (Search::Rows(20, 0), 18, 5),
        6 => (Search::Rows(20, 1), 18, 5),
        7 => (Search::Rows(32, 1), 19, 5),
        8 => (Search::Rows(24, 2), 19, 5),
        9 => (Search::Rows(32, 2), 19, 5),
        _ => (Search::Rows(32, 2), 20, 5),
    };
    // More positions than bytes are never used. Rows for half of the bytes find nearly as much, as many bytes are inside of
    // matches or look like others, and take less of a cache: frames of 256 KiB take 0.87 to 0.96 of the time at level 5, and
    // are at most 0.6 % larger.
    let half = matches!(search, Search::Rows(..));
    let most = match n {
        // Not less for 256 bytes than for fewer.
        0..=256 => 8,
        _ => n.wrapping_sub(1).ilog2().wrapping_add(if half { 0 } else { 1 }),
    };
    Plan { search, log: if log < most { log } else { most }, hashed }
}

/// The tables of a frame, in scratch memory.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Tables {
    sequences: [fse::Table; 3],
    weights: fse::Table,
    code: Code,
}

/// Number of free bytes after the literals of a block, for copies of fixed size.
const SLACK: usize = 16;

/// Returns the number of places for literals, and the number of places for sequences.
const fn store_len(n: usize) -> (usize, usize) {
    let block = if n < split::LONGEST { n } else { split::LONGEST };
    (block.wrapping_add(SLACK), (block >> 2).wrapping_add(1))
}

/// Returns the scratch size in bytes that [`encode`](super::encode) needs for `n` bytes: for a KiB it is 15 to 20 KB,
/// for a MiB 0.5 to 5.6 MB, depending on the level.
#[must_use]
pub const fn encode_scratch_len(level: u8, n: usize) -> usize {
    let Plan { search, log, .. } = plan(level, n);
    let places = 1u64 << (log & 63);
    let (literals, sequences) = store_len(n);
    let finder = match search {
        Search::Fast => Scratch::cost::<u32>(places),
        Search::Double => Scratch::cost::<u32>(places.wrapping_mul(2)),
        Search::Rows(..) => places.saturating_add(Scratch::cost::<u32>(places)),
    };
    let store = Scratch::cost::<u64>(sequences as u64).saturating_add(literals as u64);
    let len = Scratch::cost::<Tables>(1).saturating_add(store).saturating_add(finder);
    crate::codec::zstd::bits::size(len)
}

/// Encodes one frame.
pub(super) fn encode(src: &[u8], dst: &mut [u8], level: u8, scratch: &mut Scratch<'_>) -> Result<usize> {
    let mut scratch = scratch.scope();
    let tables = scratch.take::<Tables>(1)?.first_mut();
    let tables = tables.ok_or_else(|| Error::new(Kind::NoRoom, What::SCRATCH, 0))?;
    let (literals, sequences) = store_len(src.len());
    let items = scratch.take(sequences)?;
    let mut encoder = Encoder {
        store: Store::new(scratch.take(literals)?, items),
        literals: Literals::new(&mut tables.code, &mut tables.weights),
        sequences: Sequences::new(&mut tables.sequences),
    };
    let Plan { search, log, hashed } = plan(level, src.len());
    let places = 1usize << (log & 31);
    let mut out = Put::new(dst);
    let done = match search {
        Search::Fast => {
            let finder = Fast::<false>::new(scratch.take(places)?, &mut [], hashed);
            encoder.frame(src, finder, &mut out)
        }
        Search::Double => {
            let finder = Fast::<true>::new(scratch.take(places)?, scratch.take(places)?, hashed);
            encoder.frame(src, finder, &mut out)
        }
        Search::Rows(tries, lazy) => {
            let rows = places / ROW;
            let (rows, tags) = (scratch.take(rows)?, scratch.take(rows)?);
            encoder.frame(src, Rows::new(tags, rows, hashed, tries, lazy), &mut out)
        }
    };
    match done {
        Some(()) => Ok(out.at),
        None => Err(no_room(super::max_len(src.len()), 0)),
    }
}

/// The kinds of blocks.
const RAW: u32 = 0;
const REPEATED: u32 = 1;
const COMPRESSED: u32 = 2;

struct Encoder<'s> {
    store: Store<'s>,
    literals: Literals<'s>,
    sequences: Sequences<'s>,
}

impl Encoder<'_> {
    fn frame(&mut self, src: &[u8], mut finder: impl Finder, out: &mut Put<'_>) -> Option<()> {
        header(src.len(), out)?;
        let mut start = 0usize;
        loop {
            let rest = src.get(start..)?;
            let (len, bytes) = split::next(rest);
            let end = start.wrapping_add(len);
            self.block(src, (start, end, bytes), &mut finder, out)?;
            if end >= src.len() {
                break;
            }
            start = end;
        }
        out.array(low32(xxh64(0, src)).to_le_bytes())
    }

    /// Writes bytes `start..end` as a block in its shortest form.
    fn block(
        &mut self,
        src: &[u8],
        (start, end, bytes): (usize, usize, Bytes),
        finder: &mut impl Finder,
        out: &mut Put<'_>,
    ) -> Option<()> {
        let block = src.get(start..end)?;
        let is_last = u32::from(end == src.len());
        let head = |kind: u32, len: usize| {
            let [a, b, c, _] = (is_last | kind << 1 | len32(len) << 3).to_le_bytes();
            [a, b, c]
        };
        let head_at = out.at;
        out.array([0; 3])?;
        let body = out.at;
        if let Bytes::Run(byte) = bytes {
            out.byte(byte)?;
            return out.set_all(head_at, &head(REPEATED, block.len()));
        }
        let repeats = self.store.repeats;
        self.store.clear();
        finder.block(src, start, end, &mut self.store)?;
        let limit = block.len();
        let literals = self.store.literals(block);
        // The literals are counted only if matches cover a part of the noise.
        let noise = bytes == Bytes::Noise && literals.len() > limit.wrapping_sub(limit >> 4);
        let written = Some(()).filter(|()| !noise || literals.len() < limit);
        let written = written.and_then(|()| self.literals.write(literals, noise, out));
        let written = written.and_then(|()| self.sequences.write(&self.store, out));
        let len = out.at.wrapping_sub(body);
        if written.is_some() && len < limit {
            return out.set_all(head_at, &head(COMPRESSED, len));
        }
        // The decoder sees nothing of what was tried.
        self.store.repeats = repeats;
        self.literals.clear();
        self.sequences.clear();
        out.at = body;
        out.exactly(block)?;
        out.set_all(head_at, &head(RAW, block.len()))
    }
}

/// Writes the header of a frame: the length of its content, and that a checksum follows.
fn header(n: usize, out: &mut Put<'_>) -> Option<()> {
    const CHECKSUM: u8 = 1 << 2;
    const SINGLE: u8 = 1 << 5;
    out.array(MAGIC.to_le_bytes())?;
    let n64 = n as u64;
    // The window of a short frame is its content.
    let single = if n <= WINDOW { SINGLE } else { 0 };
    let (flag, len, value) = match n64 {
        0..256 => (0, 1, n64),
        256..0x1_0100 => (1, 2, n64.wrapping_sub(256)),
        0x1_0100..0x1_0000_0000 => (2, 4, n64),
        _ => (3, 8, n64),
    };
    out.byte(flag << 6 | single | CHECKSUM)?;
    if single == 0 {
        // 2^10 times 2 to the upper five bits.
        const { assert!(WINDOW == 1 << 10 << 17) }
        out.byte(17 << 3)?;
    }
    out.exactly(value.to_le_bytes().get(..len)?)
}
