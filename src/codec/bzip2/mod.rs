//! bzip2 streams: sorted blocks of up to 900,000 bytes, each with its CRC.
//!
//! Both directions are ours. The decoder inverts the sorting in memory that the caller lends, 4 bytes
//! for each of the block; [`workspace_len`] says how much. The encoder needs a heap.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::unstable::codec::bzip2;
//!
//! // A stream of no block: level 9, the end, the checksum of nothing.
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

/// A block holds so many bytes for each step of the level.
const STEP: usize = 100_000;
/// In front of a stream, with the digit of its level in the last place.
const HEAD: u32 = u32::from_be_bytes(*b"BZh0");
/// The marks before a block and before the end: digits of pi, and of its root.
const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;
/// One code after another serves so many symbols.
const GROUP: usize = 50;
/// Codes of a block.
const CODES: usize = 6;
/// Symbols of a code: two for runs of zeros, 255 places, the end of the block.
const SYMBOLS: usize = 258;

/// Bytes of scratch that [`decode`] takes for a stream of this level and an output of up to `decoded`
/// bytes: with level 9 and a long output 3.6 MB.
///
/// A block is never longer than five quarters of its output, so a short output needs little.
#[must_use]
pub const fn workspace_len(level: u8, decoded: usize) -> usize {
    let block = block_len(most(level as usize), decoded);
    let words = block.saturating_mul(4).saturating_add(256 * 4).saturating_add(3);
    words.saturating_add(selectors(block)).saturating_add(CODES.wrapping_mul(code::memory_len(FAST)))
}

/// The longest block of this level.
const fn most(level: usize) -> usize {
    level.wrapping_mul(STEP)
}

/// The longest block, of up to `most`, that can stand for so many bytes: four bytes that are equal are
/// followed by a count of more of them.
const fn block_len(most: usize, decoded: usize) -> usize {
    let block = decoded.saturating_add(decoded / 4);
    if block < most { block } else { most }
}

/// How many groups a block has at most, with its end.
const fn selectors(block: usize) -> usize {
    (block / GROUP).saturating_add(1)
}

/// The most that `n` bytes take as a stream.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    n.saturating_add(n / 100).saturating_add(600)
}

/// Decodes a stream; gives back how many bytes it has.
///
/// `dst` may be longer than the output. `scratch` lends [`workspace_len`] bytes for the level of the
/// stream (its fourth byte) and `dst.len()`, and gets them back.
///
/// # Errors
/// [`Kind::Truncated`] if the stream ends early, [`Kind::Trailing`] if bytes are left over behind it,
/// [`Kind::Invalid`] for what cannot be, [`Kind::Unsupported`] for randomised blocks (of versions
/// before 0.9.5), [`Kind::Checksum`] for another CRC, [`Kind::NoRoom`] for an output longer than
/// `dst` (`need`: at least how long) or too little scratch.
pub fn decode(src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    decode_by::<FAST>(src, dst, scratch)
}

fn decode_by<const FAST: bool>(src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    let mut bits = Bits::new(src);
    let len = stream::<FAST>(&mut bits, dst, scratch);
    // If the stream ends early, nothing else is wrong with it.
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
                // A fuzzer would never get past it.
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

/// What a block is decoded in.
struct Memory<'w> {
    symbols: Symbols<'w>,
    /// Which code serves which group.
    selectors: &'w mut [u8],
    codes: [Code<'w>; CODES],
}

/// The symbols of a block, as the bytes that they stand for.
struct Symbols<'w> {
    /// The longest block; and the output's room, if that is what makes it so.
    longest: usize,
    room: Option<usize>,
    len: usize,
    /// For each byte of the block: the byte, and above it where the next one is.
    words: &'w mut [u32],
    /// How often a byte is in the block; then where the next one goes.
    counts: &'w mut [u32],
}

impl<'w> Memory<'w> {
    fn take<const FAST: bool>(most: usize, decoded: usize, scratch: &mut Scratch<'w>) -> Result<Self> {
        let longest = block_len(most, decoded);
        let room = (longest < most).then_some(decoded);
        // The widest first, so that alignment is paid once.
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
    /// Puts a byte behind the others, `n` times, and counts it. The block is at `at`.
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

    /// The block is longer than it can be.
    #[cold]
    fn too_long(&self, at: u64) -> Error {
        match self.room {
            Some(room) => no_room(room, 1),
            None => Error::needing(Kind::Invalid, What::BZIP2_BLOCK, at, self.longest as u64),
        }
    }
}

/// A block behind its mark and checksum, which is at `at`.
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

/// Which bytes are in the block, in two levels of 16 bits; they begin in their order. Gives back how many.
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

/// Which code serves which group, and the codes; gives back how many there are.
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
        // A stream may say more than the block has groups.
        if let Some(to) = memory.selectors.get_mut(group) {
            *to = code;
        }
    }
    // Those that are not said are not there.
    if let Some(rest) = memory.selectors.get_mut(groups..) {
        rest.fill(u8::MAX);
    }
    for code in memory.codes.iter_mut().take(codes) {
        code.read(bits, symbols)?;
    }
    Ok(codes)
}

/// Takes the value at a place, and puts it to the front.
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

/// Reads the symbols.
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
    // More symbols than groups.
    Err(Error::needing(Kind::Invalid, What::BZIP2_SELECTOR, bits.at(), selectors.len() as u64))
}

/// Inverts the sorting: above each byte the place of the one that follows it.
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

/// Walks the block in its order, and undoes the runs: behind four equal bytes comes a count of more.
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
