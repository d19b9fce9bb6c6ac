//! The encoder: runs, sorting, move to front, prefix codes.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::sort::rotations;
use super::{BLOCK, CODES, END, GROUP, STEP, SYMBOLS, max_len, to_front};
use crate::codec::greedy::Put;
use crate::codec::lz::no_room;
use crate::error::Result;
use crate::hash::bzip_crc;

/// Number of bytes that a block leaves unused, as in the original encoder.
const FREE: usize = 19;
/// Maximum run per count. Decoders accept 259; the original encoder writes no more than this.
const RUN: usize = 255;
/// Maximum length in bits of a code that is written; decoders accept 20.
const LONGEST: u8 = 17;
/// Number of rounds in which codes and groups are fitted to each other.
const ROUNDS: usize = 4;

/// Encodes a stream. Returns its length in bytes. `level` is 1 to 9: a block has at most `level` times
/// 100,000 bytes.
///
/// A `dst` of [`max_len`] bytes always suffices. A shorter `dst` works if the stream fits.
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the stream does not fit (`need`: a sufficient length).
///
/// ```
/// use pilaster::unstable::codec::bzip2;
///
/// let mut stream = [0; bzip2::max_len(5000)];
/// let len = bzip2::encode(&[7; 5000], &mut stream, 9)?;
/// assert!(stream.starts_with(b"BZh9") && len < 60);
/// # Ok::<(), pilaster::Error>(())
/// ```
pub fn encode(src: &[u8], dst: &mut [u8], level: u8) -> Result<usize> {
    let level = level.clamp(1, 9);
    let mut bits = Bits { put: Put::new(dst), buffer: 0, count: 0 };
    match stream(src, level, &mut bits) {
        Some(()) => Ok(bits.put.at),
        None => Err(no_room(max_len(src.len()), 0)),
    }
}

fn stream(mut src: &[u8], level: u8, bits: &mut Bits<'_>) -> Option<()> {
    bits.put(24, 0x42_5a68)?;
    bits.put(8, u32::from(level).wrapping_add(u32::from(b'0')))?;
    let room = usize::from(level).wrapping_mul(STEP).wrapping_sub(FREE);
    let mut combined = 0u32;
    while !src.is_empty() {
        let (block, taken) = with_runs(src, room);
        let (head, rest) = src.split_at_checked(taken)?;
        src = rest;
        let crc = bzip_crc(head);
        combined = combined.rotate_left(1) ^ crc;
        bits.mark(BLOCK, crc)?;
        write_block(&block, bits)?;
    }
    bits.mark(END, combined)?;
    bits.flush()
}

/// Adds to four equal bytes the count of further ones. Returns a block of limited length, and the number of
/// input bytes in it.
fn with_runs(src: &[u8], room: usize) -> (Vec<u8>, usize) {
    let mut block = Vec::new();
    let mut taken = 0usize;
    for run in src.chunk_by(|a, b| a == b) {
        for piece in run.chunks(RUN) {
            if block.len().saturating_add(5) > room {
                return (block, taken);
            }
            let plain = piece.get(..piece.len().min(4)).unwrap_or(piece);
            block.extend_from_slice(plain);
            if plain.len() == 4 {
                block.push(u8::try_from(piece.len().wrapping_sub(4)).unwrap_or_default());
            }
            taken = taken.wrapping_add(piece.len());
        }
    }
    (block, taken)
}

/// Writes a block after its marker and checksum.
fn write_block(block: &[u8], bits: &mut Bits<'_>) -> Option<()> {
    let order = rotations(block);
    let origin = order.iter().position(|at| *at == 0)?;
    bits.put(1, 0)?;
    bits.put(24, u32::try_from(origin).ok()?)?;
    let places = write_used(block, bits)?;
    // The column of last bytes: the rotation that begins at `at` ends with the byte before it.
    let column = order.iter().map(|at| {
        let before = (*at as usize).checked_sub(1).unwrap_or(block.len().wrapping_sub(1));
        block.get(before).copied().unwrap_or_default()
    });
    let (symbols, used) = symbols(column, places);
    let (codes, selectors) = fit(&symbols, used)?;
    write_codes(&codes, &selectors, used, bits)?;
    for (group, selector) in symbols.chunks(GROUP).zip(&selectors) {
        let lengths = codes.get(usize::from(*selector))?;
        let words = canonical(lengths);
        for symbol in group {
            let len = lengths.get(usize::from(*symbol))?;
            bits.put((*len).into(), *words.get(usize::from(*symbol))?)?;
        }
    }
    Some(())
}

/// Writes which bytes are in the block. Returns them in ascending order.
fn write_used(block: &[u8], bits: &mut Bits<'_>) -> Option<Vec<u8>> {
    let mut used = [false; 256];
    for byte in block {
        *used.get_mut(usize::from(*byte))? = true;
    }
    let word = |row: &[bool]| row.iter().fold(0, |n, used| n << 1 | u32::from(*used));
    let (rows, _) = used.as_chunks::<16>();
    bits.put(16, rows.iter().fold(0, |n, row| n << 1 | u32::from(word(row) != 0)))?;
    for row in rows.iter().filter(|row| word(*row) != 0) {
        bits.put(16, word(row))?;
    }
    Some((0..=255u8).zip(used).filter(|(_, used)| *used).map(|(byte, _)| byte).collect())
}

/// Returns the symbols of a column (runs of the first place in digits 1 and 2, other places, the end) and the
/// number of symbols that may occur.
fn symbols(column: impl Iterator<Item = u8>, used: Vec<u8>) -> (Vec<u16>, usize) {
    let mut places = [0; 256];
    for (place, byte) in places.iter_mut().zip(&used) {
        *place = *byte;
    }
    let mut symbols = Vec::new();
    let mut run = 0usize;
    let flush = |run: &mut usize, symbols: &mut Vec<u16>| {
        while *run > 0 {
            let two = *run & 1 == 0;
            symbols.push(two.into());
            *run = run.wrapping_sub(if two { 2 } else { 1 }) >> 1;
        }
    };
    for byte in column {
        if byte == places[0] {
            run = run.wrapping_add(1);
            continue;
        }
        flush(&mut run, &mut symbols);
        let place = places.iter().position(|place| *place == byte).unwrap_or_default();
        to_front(&mut places, place);
        symbols.push(u16::try_from(place).unwrap_or_default().wrapping_add(1));
    }
    flush(&mut run, &mut symbols);
    symbols.push(u16::try_from(used.len()).unwrap_or_default().wrapping_add(1));
    (symbols, used.len().wrapping_add(2))
}

/// The code length of each symbol, in bits.
type Lengths = [u8; SYMBOLS];

/// Returns codes, and the index of the code for each group of symbols. In each round, a group takes the code
/// that is shortest for it, then each code is rebuilt for its groups.
fn fit(symbols: &[u16], used: usize) -> Option<(Vec<Lengths>, Vec<u8>)> {
    let codes = match symbols.len() {
        0..200 => 2,
        200..600 => 3,
        600..1200 => 4,
        1200..2400 => 5,
        _ => CODES,
    };
    let mut counts = [0u32; SYMBOLS];
    for symbol in symbols {
        let count = counts.get_mut(usize::from(*symbol))?;
        *count = count.wrapping_add(1);
    }
    // Initially, each code is for a range of symbols with an equal share of the occurrences.
    let mut fitted: Vec<Lengths> = Vec::new();
    let share = symbols.len().div_ceil(codes).max(1);
    let mut before = 0usize;
    for _ in 0..codes {
        fitted.push([15; SYMBOLS]);
    }
    for (symbol, count) in counts.iter().take(used).enumerate() {
        let code = before.checked_div(share)?.min(codes.wrapping_sub(1));
        *fitted.get_mut(code)?.get_mut(symbol)? = 0;
        before = before.wrapping_add(*count as usize);
    }
    let mut selectors = Vec::new();
    for _ in 0..ROUNDS {
        selectors.clear();
        let mut counts = vec![[0u32; SYMBOLS]; codes];
        for group in symbols.chunks(GROUP) {
            let cost = |lengths: &Lengths| -> u32 {
                group
                    .iter()
                    .map(|symbol| u32::from(lengths.get(usize::from(*symbol)).copied().unwrap_or_default()))
                    .sum()
            };
            let (best, _) = (0u8..).zip(&fitted).min_by_key(|(_, lengths)| cost(lengths))?;
            selectors.push(best);
            let counts = counts.get_mut(usize::from(best))?;
            for symbol in group {
                let count = counts.get_mut(usize::from(*symbol))?;
                *count = count.wrapping_add(1);
            }
        }
        for (lengths, counts) in fitted.iter_mut().zip(&counts) {
            *lengths = lengths_of(counts.get(..used)?)?;
        }
    }
    Some((fitted, selectors))
}

/// Returns the lengths of the best code for symbols with these counts. Every symbol gets a code.
fn lengths_of(counts: &[u32]) -> Option<Lengths> {
    let mut weights: Vec<u32> = counts.iter().map(|count| (*count).max(1)).collect();
    loop {
        // Builds a tree: repeatedly joins the two lightest nodes under a new one.
        let mut parents = vec![0usize; weights.len().wrapping_mul(2)];
        let mut heap: BinaryHeap<Reverse<(u32, usize)>> =
            weights.iter().enumerate().map(|(node, weight)| Reverse((*weight, node))).collect();
        let mut next = weights.len();
        while let (Some(Reverse((a, one))), Some(Reverse((b, other)))) = (heap.pop(), heap.pop()) {
            *parents.get_mut(one)? = next;
            *parents.get_mut(other)? = next;
            heap.push(Reverse((a.saturating_add(b), next)));
            next = next.wrapping_add(1);
            if heap.len() == 1 {
                break;
            }
        }
        let root = next.wrapping_sub(1);
        let mut lengths = [0u8; SYMBOLS];
        let mut longest = 0;
        for (leaf, to) in lengths.iter_mut().enumerate().take(weights.len()) {
            let mut node = leaf;
            while node != root {
                node = *parents.get(node)?;
                *to = to.saturating_add(1);
            }
            longest = longest.max(*to);
        }
        if longest <= LONGEST {
            return Some(lengths);
        }
        for weight in &mut weights {
            *weight = (*weight >> 1).wrapping_add(1);
        }
    }
}

/// Returns the canonical codes for symbols with these lengths.
fn canonical(lengths: &Lengths) -> [u32; SYMBOLS] {
    let mut codes = [0; SYMBOLS];
    let mut code = 0u32;
    for len in 1..=LONGEST {
        for (to, _) in codes.iter_mut().zip(lengths).filter(|(_, l)| **l == len) {
            *to = code;
            code = code.wrapping_add(1);
        }
        code <<= 1;
    }
    codes
}

fn write_codes(codes: &[Lengths], selectors: &[u8], used: usize, bits: &mut Bits<'_>) -> Option<()> {
    bits.put(3, u32::try_from(codes.len()).ok()?)?;
    bits.put(15, u32::try_from(selectors.len()).ok()?)?;
    let mut recent = [0u8, 1, 2, 3, 4, 5];
    for selector in selectors {
        let place = recent.iter().position(|recent| recent == selector)?;
        to_front(&mut recent, place);
        // `place` ones and a zero.
        bits.put(u32::try_from(place).ok()?.wrapping_add(1), (1u32 << (place & 7)).wrapping_sub(1) << 1)?;
    }
    for lengths in codes {
        let mut now = lengths[0];
        bits.put(5, now.into())?;
        for len in lengths.iter().take(used) {
            while now != *len {
                let down = now > *len;
                bits.put(2, if down { 3 } else { 2 })?;
                now = if down { now.wrapping_sub(1) } else { now.wrapping_add(1) };
            }
            bits.put(1, 0)?;
        }
    }
    Some(())
}

/// Writes bits to the destination, highest first.
struct Bits<'o> {
    put: Put<'o>,
    buffer: u64,
    count: u32,
}

impl Bits<'_> {
    /// Writes the low `n` bits, at most 24.
    #[inline]
    fn put(&mut self, n: u32, bits: u32) -> Option<()> {
        self.buffer = self.buffer << (n & 31) | u64::from(bits);
        self.count = self.count.wrapping_add(n);
        while self.count >= 8 {
            self.count = self.count.wrapping_sub(8);
            let [.., byte] = (self.buffer >> (self.count & 63)).to_be_bytes();
            self.put.byte(byte)?;
        }
        Some(())
    }

    #[allow(clippy::cast_possible_truncation, reason = "cut into 24 and 16 bits")]
    fn mark(&mut self, mark: u64, crc: u32) -> Option<()> {
        self.put(24, (mark >> 24) as u32)?;
        self.put(24, mark as u32 & 0xff_ffff)?;
        self.put(16, crc >> 16)?;
        self.put(16, crc & 0xffff)
    }

    /// Pads the last byte with zeros.
    fn flush(&mut self) -> Option<()> {
        match self.count {
            0 => Some(()),
            count => self.put(8u32.wrapping_sub(count), 0),
        }
    }
}
