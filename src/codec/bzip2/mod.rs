//! bzip2 streams: sorted blocks of up to 900,000 bytes, each with its CRC.
//!
//! Both directions are implemented here. The decoder inverts the sorting in a scratch buffer, with 4 bytes
//! per byte of the block ([`workspace_len`]). The encoder needs a heap.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::unstable::codec::bzip2;
//!
//! // A stream without blocks: level 9, the end, the checksum of no blocks.
//! let stream = b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0";
//! assert_eq!(bzip2::decode(stream, &mut [], &mut Scratch::new(&mut []))?, 0);
//! # Ok::<(), pilaster::Error>(())
//! ```

mod bits;
mod code;
#[cfg(feature = "alloc")]
mod encode;
#[cfg(feature = "alloc")]
mod sort;

#[cfg(feature = "alloc")]
pub use encode::encode;

use bits::Bits;
use code::Code;

use super::lz::{Output, no_room};
use crate::bytes::{FAST, Scratch};
use crate::error::{Error, Kind, Result, What};
use crate::hash::bzip_crc;

/// Maximum number of bytes of a block, per step of the level.
const STEP: usize = 100_000;
/// The start of a stream; the digit of its level is in the last byte.
const HEAD: u32 = u32::from_be_bytes(*b"BZh0");
/// The markers before a block and before the end: digits of pi, and of its square root.
const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;
/// Number of symbols that are encoded with one code before the next is chosen.
const GROUP: usize = 50;
/// Maximum number of codes of a block.
const CODES: usize = 6;
/// Number of symbols of a code: two for runs of zeros, 255 places, the end of the block.
const SYMBOLS: usize = 258;

/// Returns the scratch size in bytes that [`decode`] needs for a stream of this level and an output of up to
/// `decoded` bytes: 3.6 MB for level 9 and a long output.
///
/// A block is never longer than five quarters of its output, so a short output needs little memory.
#[must_use]
pub const fn workspace_len(level: u8, decoded: usize) -> usize {
    let block = block_len(most(level as usize), decoded);
    let words = block.saturating_mul(4).saturating_add(256 * 4).saturating_add(3);
    words.saturating_add(selectors(block)).saturating_add(CODES.wrapping_mul(code::memory_len(FAST)))
}

/// Returns the maximum length of a block of this level.
const fn most(level: usize) -> usize {
    level.wrapping_mul(STEP)
}

/// Returns the maximum length, up to `most`, of a block that represents `decoded` bytes: four equal bytes are
/// followed by a count of further ones.
const fn block_len(most: usize, decoded: usize) -> usize {
    let block = decoded.saturating_add(decoded / 4);
    if block < most { block } else { most }
}

/// Returns the maximum number of groups of a block, including its end symbol.
const fn selectors(block: usize) -> usize {
    (block / GROUP).saturating_add(1)
}

/// Returns the maximum encoded length of `n` bytes.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    n.saturating_add(n / 100).saturating_add(600)
}

/// Decodes a stream. Returns the number of bytes written.
///
/// `dst` may be longer than the output. `scratch` must have [`workspace_len`] free bytes for the level of the
/// stream (its fourth byte) and `dst.len()`, which are released at the end.
///
/// # Errors
/// [`Kind::Truncated`] if the stream ends early, [`Kind::Trailing`] if bytes follow its end,
/// [`Kind::Invalid`] for invalid fields, [`Kind::Unsupported`] for randomised blocks (of versions before
/// 0.9.5), [`Kind::Checksum`] if a CRC differs, [`Kind::NoRoom`] if the output is longer than `dst` (`need`:
/// a lower bound of its length) or the scratch buffer is too small.
pub fn decode(src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    decode_by::<FAST>(src, dst, scratch)
}

fn decode_by<const FAST: bool>(src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    let mut bits = Bits::new(src);
    let len = stream::<FAST>(&mut bits, dst, scratch);
    // If the stream ends early, other errors only follow from that.
    bits.check()?;
    len
}

fn stream<const FAST: bool>(bits: &mut Bits<'_>, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    let head = bits.take(32, What::BZIP2_HEADER);
    let level = head.wrapping_sub(HEAD);
    if !(1..=9).contains(&level) {
        return Err(Error::needing(Kind::Invalid, What::BZIP2_HEADER, 0, head.into()));
    }
    let most = most(level as usize);
    let mut out = Output::new(dst);
    let mut combined = 0u32;
    loop {
        let at = bits.at();
        let mark = u64::from(bits.take(24, What::BZIP2_BLOCK)) << 24 | u64::from(bits.take(24, What::BZIP2_BLOCK));
        let stored = bits.take(32, What::BZIP2_CHECKSUM);
        let differs = || Err(Error::needing(Kind::Checksum, What::BZIP2_CHECKSUM, at, stored.into()));
        match mark {
            BLOCK => {
                let first = out.at;
                let mut memory = Memory::take::<FAST>(most, out.bytes.len(), &mut scratch.scope())?;
                block(bits, &mut memory, &mut out, at)?;
                let crc = bzip_crc(out.bytes.get(first..out.at).unwrap_or_default());
                // A fuzzer would never get past the checksum.
                if crc != stored && !cfg!(fuzzing) {
                    return differs();
                }
                combined = combined.rotate_left(1) ^ stored;
            }
            END if combined != stored && !cfg!(fuzzing) => return differs(),
            END => break,
            _ => return Err(Error::needing(Kind::Invalid, What::BZIP2_BLOCK, at, mark >> 16)),
        }
    }
    let (rest, at) = bits.rest();
    if !rest.is_empty() {
        return Err(Error::needing(Kind::Trailing, What::BZIP2_BLOCK, at, rest.len() as u64));
    }
    Ok(out.at)
}

/// Memory to decode a block.
struct Memory<'w> {
    symbols: Symbols<'w>,
    /// The index of the code of each group.
    selectors: &'w mut [u8],
    codes: [Code<'w>; CODES],
}

/// The symbols of a block, as the bytes that they represent.
struct Symbols<'w> {
    /// Maximum length of the block, and the length of the output if that limits it.
    longest: usize,
    room: Option<usize>,
    len: usize,
    /// For each byte of the block: the byte, and above it the index of the next one.
    words: &'w mut [u32],
    /// Number of occurrences of each byte in the block; later, the index of its next one.
    counts: &'w mut [u32],
}

impl<'w> Memory<'w> {
    fn take<const FAST: bool>(most: usize, decoded: usize, scratch: &mut Scratch<'w>) -> Result<Self> {
        let longest = block_len(most, decoded);
        let room = (longest < most).then_some(decoded);
        // The widest first, so that alignment padding occurs once.
        let (words, counts) = (scratch.take(longest)?, scratch.take(256)?);
        counts.fill(0);
        let mut codes: [Code<'_>; CODES] = Default::default();
        for code in &mut codes {
            code.lend::<FAST>(scratch)?;
        }
        let symbols = Symbols { longest, room, len: 0, words, counts };
        Ok(Memory { symbols, selectors: scratch.take(selectors(longest))?, codes })
    }
}

impl Symbols<'_> {
    /// Appends a byte `n` times, and counts it. `at` is the offset of the block.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "a run within a block")]
    fn put(&mut self, byte: u8, n: usize, at: u64) -> Result<()> {
        let Some(to) = self.words.get_mut(self.len..).and_then(|words| words.get_mut(..n)) else {
            return Err(self.too_long(at));
        };
        to.fill(byte.into());
        self.len = self.len.wrapping_add(n);
        if let Some(count) = self.counts.get_mut(usize::from(byte)) {
            *count = count.wrapping_add(n as u32);
        }
        Ok(())
    }

    /// Creates the error of a block that is longer than possible.
    #[cold]
    fn too_long(&self, at: u64) -> Error {
        match self.room {
            Some(room) => no_room(room, 1),
            None => Error::needing(Kind::Invalid, What::BZIP2_BLOCK, at, self.longest as u64),
        }
    }
}

/// Decodes a block after its marker and checksum. `at` is the offset of the block.
fn block(bits: &mut Bits<'_>, memory: &mut Memory<'_>, out: &mut Output<'_>, at: u64) -> Result<()> {
    if bits.take(1, What::BZIP2_BLOCK) != 0 {
        return Err(Error::needing(Kind::Unsupported, What::BZIP2_BLOCK, at, 1));
    }
    let origin = bits.take(24, What::BZIP2_ORIGIN);
    let mut places = [0; 256];
    let used = used_bytes(bits, &mut places)?;
    let codes = codes(bits, memory, used.wrapping_add(2))?;
    unsorted(bits, memory, &mut places, used, codes, at)?;
    let Symbols { len, words, counts, .. } = &mut memory.symbols;
    let words = words.get_mut(..*len).unwrap_or_default();
    if origin as usize >= words.len() {
        return Err(Error::needing(Kind::Invalid, What::BZIP2_ORIGIN, at, origin.into()));
    }
    link(words, counts);
    undo_runs(words, origin as usize, out)
}

/// Reads which bytes are in the block, in two levels of 16 bits. Initially their places are in ascending
/// order. Returns their number.
fn used_bytes(bits: &mut Bits<'_>, places: &mut [u8; 256]) -> Result<usize> {
    let at = bits.at();
    let mut used = 0usize;
    let rows = bits.take(16, What::BZIP2_BLOCK);
    for row in 0..16u8 {
        if rows << row & 0x8000 == 0 {
            continue;
        }
        let columns = bits.take(16, What::BZIP2_BLOCK);
        for column in 0..16u8 {
            if columns << column & 0x8000 != 0 {
                if let Some(place) = places.get_mut(used) {
                    *place = row << 4 | column;
                }
                used = used.wrapping_add(1);
            }
        }
    }
    if used == 0 { Err(Error::new(Kind::Invalid, What::BZIP2_BLOCK, at)) } else { Ok(used) }
}

/// Reads the index of the code of each group, and the codes. Returns the number of codes.
fn codes(bits: &mut Bits<'_>, memory: &mut Memory<'_>, symbols: usize) -> Result<usize> {
    let at = bits.at();
    let codes = bits.take(3, What::BZIP2_SELECTOR) as usize;
    let groups = bits.take(15, What::BZIP2_SELECTOR) as usize;
    if !(2..=CODES).contains(&codes) || groups == 0 {
        let need = if groups == 0 { 0 } else { codes as u64 };
        return Err(Error::needing(Kind::Invalid, What::BZIP2_SELECTOR, at, need));
    }
    let mut recent = [0u8, 1, 2, 3, 4, 5];
    for group in 0..groups {
        let mut place = 0usize;
        while bits.take(1, What::BZIP2_SELECTOR) == 1 {
            place = place.wrapping_add(1);
            if place >= codes {
                return Err(Error::needing(Kind::Invalid, What::BZIP2_SELECTOR, bits.at(), place as u64));
            }
        }
        let code = to_front(&mut recent, place);
        // A stream may have more selectors than the block has groups.
        if let Some(to) = memory.selectors.get_mut(group) {
            *to = code;
        }
    }
    // Groups without a selector get an index that no code has.
    if let Some(rest) = memory.selectors.get_mut(groups..) {
        rest.fill(u8::MAX);
    }
    for code in memory.codes.iter_mut().take(codes) {
        code.read(bits, symbols)?;
    }
    Ok(codes)
}

/// Moves the value at a place to the front, and returns it.
#[inline]
fn to_front(values: &mut [u8], place: usize) -> u8 {
    let values = values.get_mut(..place.wrapping_add(1)).unwrap_or_default();
    let value = values.last().copied().unwrap_or_default();
    let mut carried = value;
    for value in values {
        carried = core::mem::replace(value, carried);
    }
    value
}

/// Reads the symbols of a block.
fn unsorted(
    bits: &mut Bits<'_>,
    memory: &mut Memory<'_>,
    places: &mut [u8; 256],
    used: usize,
    codes: usize,
    at: u64,
) -> Result<()> {
    let Memory { symbols, selectors, codes: all } = memory;
    let end = used.wrapping_add(1);
    let (mut run, mut weight) = (0usize, 1usize);
    for selector in selectors.iter() {
        let Some(code) = all.get(usize::from(*selector)).filter(|_| usize::from(*selector) < codes) else { break };
        for _ in 0..GROUP {
            let symbol = usize::from(code.symbol(bits)?);
            if symbol < 2 {
                // A run of the first place: its length in digits 1 and 2, the lowest first.
                run = run.wrapping_add(weight << symbol);
                weight <<= 1;
                if run > symbols.longest {
                    return Err(symbols.too_long(at));
                }
                continue;
            }
            if run > 0 {
                symbols.put(places[0], run, at)?;
                (run, weight) = (0, 1);
            }
            if symbol == end {
                return Ok(());
            }
            symbols.put(to_front(places, symbol.wrapping_sub(1)), 1, at)?;
        }
    }
    // More symbols than the groups hold.
    Err(Error::needing(Kind::Invalid, What::BZIP2_SELECTOR, bits.at(), selectors.len() as u64))
}

/// Inverts the sorting: stores above each byte the index of the one that follows it.
fn link(words: &mut [u32], counts: &mut [u32]) {
    let mut sum = 0u32;
    for count in counts.iter_mut() {
        sum = sum.wrapping_add(core::mem::replace(count, sum));
    }
    for (i, at) in (0u32..).zip(0..words.len()) {
        let byte = words.get(at).map_or(0, |word| word & 0xff);
        let Some(next) = counts.get_mut(byte as usize) else { return };
        if let Some(word) = words.get_mut(*next as usize) {
            *word |= i << 8;
        }
        *next = next.wrapping_add(1);
    }
}

/// Walks the block in its original order and undoes the runs: four equal bytes are followed by a count of
/// further ones.
fn undo_runs(words: &[u32], origin: usize, out: &mut Output<'_>) -> Result<()> {
    let mut place = words.get(origin).map_or(0, |word| word >> 8);
    let (mut same, mut before) = (0u32, 0u8);
    let mut at = out.at;
    for _ in 0..words.len() {
        let word = words.get(place as usize).copied().unwrap_or_default();
        place = word >> 8;
        let [byte, ..] = word.to_le_bytes();
        if same == 4 {
            let more = usize::from(byte);
            match out.bytes.get_mut(at..).and_then(|room| room.get_mut(..more)) {
                Some(to) => to.fill(before),
                None => return Err(no_room(at, more)),
            }
            at = at.wrapping_add(more);
            same = 0;
            continue;
        }
        same = if byte == before { same.wrapping_add(1) } else { 1 };
        before = byte;
        match out.bytes.get_mut(at) {
            Some(to) => *to = byte,
            None => return Err(no_room(at, 1)),
        }
        at = at.wrapping_add(1);
    }
    out.at = at;
    Ok(())
}

#[cfg(test)]
mod tests;
