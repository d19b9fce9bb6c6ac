//! Huffman codes of literals (RFC 8878, section 4.2).

// See `sequences` for the effect of the inline attributes.

use super::bits::{Bits, Marked, READY, size};
use super::fse::{self, Codes, Table as Fse};
use crate::bytes::{FAST, LittleEndian, Reader, low8, saturated};
use crate::error::{Error, Kind, Result, What};

/// Maximum length of a code in bits.
pub(super) const LONGEST: u32 = 11;
/// Number of entries of a table: one for each value of the next bits.
pub(super) const ENTRIES: usize = 1 << LONGEST;
/// Maximum number of symbols of a code.
pub(super) const SYMBOLS: usize = 256;

/// A code in scratch memory.
pub(super) struct Code<'w> {
    /// For each value of the next bits: the length of the code, and its symbol in the upper byte.
    entries: &'w mut [u16],
    holds: bool,
}

impl<'w> Code<'w> {
    /// Creates an empty code. `entries` has [`ENTRIES`] items.
    pub(super) const fn new(entries: &'w mut [u16]) -> Self {
        Code { entries, holds: false }
    }

    /// Returns whether a code was read.
    pub(super) const fn holds(&self) -> bool {
        self.holds
    }

    /// Clears the code.
    pub(super) const fn clear(&mut self) {
        self.holds = false;
    }

    /// Reads the code from its description in `r`, a part of `src` (RFC 8878, section 4.2.1).
    pub(super) fn read(&mut self, src: &[u8], r: &mut Reader<'_, LittleEndian>) -> Result<()> {
        self.holds = false;
        let at = r.at();
        let mut weights = [0; SYMBOLS];
        let count = read_weights(src, r, &mut weights)?;
        let wrong = |need: u32| Error::needing(Kind::Invalid, What::ZSTD_HUFFMAN, at, need.into());
        // Number of symbols with each weight.
        let mut counts = [0u32; LONGEST as usize + 1];
        for weight in weights.iter().take(count) {
            let count = counts.get_mut(usize::from(*weight)).ok_or_else(|| wrong((*weight).into()))?;
            *count = count.wrapping_add(1);
        }
        let [_, weighty @ ..] = &counts;
        // Each weight has twice as many entries as the weight before it.
        let sum = weighty.iter().rev().fold(0u32, |sum, count| (sum << 1).wrapping_add(*count));
        if sum == 0 {
            return Err(wrong(0));
        }
        // The last weight completes the sum to a power of two.
        let log = sum.ilog2().wrapping_add(1);
        let left = (1u32 << (log & 31)).wrapping_sub(sum);
        if log > LONGEST || !left.is_power_of_two() {
            return Err(wrong(sum));
        }
        let last = left.ilog2().wrapping_add(1);
        if let (Some(weight), Some(count)) = (weights.get_mut(count), counts.get_mut(last as usize)) {
            *weight = low8(last as usize);
            *count = count.wrapping_add(1);
        }
        // Some codes must have the full length, as in the original decoder.
        if counts[1] < 2 {
            return Err(wrong(counts[1]));
        }
        self.fill(weights.get(..=count).unwrap_or(&weights), &counts, log);
        self.holds = true;
        Ok(())
    }

    /// Assigns the table to the symbols in the order of their weights, then of their values (RFC 8878,
    /// section 4.2.1.3).
    fn fill(&mut self, weights: &[u8], counts: &[u32; LONGEST as usize + 1], log: u32) {
        let width = |weight: u32| 1usize << (weight.wrapping_add(LONGEST).wrapping_sub(log).wrapping_sub(1) & 31);
        // Start of the next symbol of each weight.
        let (mut starts, mut at) = ([0usize; LONGEST as usize + 1], 0usize);
        for ((start, count), weight) in starts.iter_mut().zip(counts).zip(0..) {
            *start = at;
            if weight > 0 {
                at = at.wrapping_add((*count as usize).wrapping_mul(width(weight)));
            }
        }
        for (symbol, weight) in (0u16..).zip(weights) {
            let weight = u32::from(*weight);
            let Some(start) = starts.get_mut(weight as usize).filter(|_| weight > 0) else { continue };
            let end = start.wrapping_add(width(weight));
            if let Some(entries) = self.entries.get_mut(*start..end) {
                entries.fill(symbol << 8 | u16::from(low8(log.wrapping_add(1).wrapping_sub(weight) as usize)));
            }
            *start = end;
        }
    }

    fn table(&self) -> &[u16; ENTRIES] {
        // `new` never gets memory of another size.
        self.entries.first_chunk().unwrap_or(&[0; ENTRIES])
    }

    /// Decodes one stream, or four that follow their lengths (RFC 8878, section 3.1.1.3.1.6), to equal parts
    /// of `dst`. The streams are all of `start..end` of `src`.
    pub(super) fn decode(&self, src: &[u8], start: usize, end: usize, four: bool, dst: &mut [u8]) -> Result<()> {
        let mut r = Reader::<LittleEndian>::new_at(src.get(start..end).unwrap_or_default(), start as u64);
        let (lengths, count) = if four { (r.take(6, What::ZSTD_LITERALS)?, 4) } else { (&[][..], 1usize) };
        let behind = start.saturating_add(lengths.len());
        let (lengths, mut from) = (lengths.as_chunks::<2>().0, behind);
        let mut streams = [Bits::default(); 4];
        let streams = streams.get_mut(..count).unwrap_or_default();
        for (k, stream) in streams.iter_mut().enumerate() {
            let to = match lengths.get(k) {
                Some(len) => from.saturating_add(u16::from_le_bytes(*len).into()),
                None if from > end => {
                    return Err(Error::needing(Kind::Truncated, What::ZSTD_LITERALS, behind as u64, from as u64));
                }
                None => end,
            };
            stream.begin(src, from, to, What::ZSTD_LITERALS)?;
            from = to;
        }
        let part = dst.len().div_ceil(count).max(1);
        let done = if FAST { abreast(self.table(), streams, dst, part) } else { 0 };
        // With six bytes, the last part is empty.
        let mut parts = dst.chunks_mut(part);
        for bits in streams {
            let part = parts.next().unwrap_or_default();
            symbols(self.table(), bits, part.get_mut(done..).unwrap_or_default());
            bits.finish(What::ZSTD_LITERALS)?;
        }
        Ok(())
    }
}

/// Number of symbols that are always in one word.
const AT_ONCE: usize = (READY / LONGEST) as usize;

/// Decodes symbols until `dst` is full.
fn symbols(table: &[u16; ENTRIES], bits: &mut Bits<'_>, dst: &mut [u8]) {
    for piece in dst.chunks_mut(AT_ONCE) {
        bits.refill();
        for to in piece {
            let entry = look(table, bits.look(LONGEST));
            bits.skip(u32::from(entry & 0xff));
            *to = (entry >> 8) as u8;
        }
    }
}

/// Number of symbols of each stream between two words of [`abreast`]. The last of them is still taken from the word before, so
/// that the next word is loaded meanwhile: up to seven bits and a symbol of a word are read when it is new.
const ABREAST: usize = 4;
const _: () = assert!(7 + (LONGEST as usize) * (ABREAST + 1) <= 63);

/// Decodes symbols of four streams alternately, so that none waits for another, far from the ends of all.
/// Each stream has a part of `dst`. Returns the number of symbols decoded per stream. Never inlined, because
/// the streams need all registers.
#[inline(never)]
fn abreast(table: &[u16; ENTRIES], streams: &mut [Bits<'_>], dst: &mut [u8], part: usize) -> usize {
    let Some(streams) = streams.first_chunk_mut::<4>() else { return 0 };
    let mut parts = dst.chunks_mut(part);
    let [a, b, c, d] = [(); 4].map(|()| parts.next().unwrap_or_default().as_chunks_mut::<ABREAST>().0);
    let mut now = streams.each_ref().map(Bits::marked);
    let src = streams[0].src;
    let mut done = 0usize;
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        let ([a @ .., e], [b @ .., f], [c @ .., g], [d @ .., h]) = (a, b, c, d);
        let mut next = now;
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            for (to, bits) in [a, b, c, d].into_iter().zip(&mut next) {
                let entry = look(table, bits.word >> (64 - LONGEST));
                bits.word <<= entry & 63;
                *to = low8((entry >> 8).into());
            }
        }
        let Some(then) = refilled(src, &next) else { break };
        now = then;
        for ((to, old), bits) in [e, f, g, h].into_iter().zip(&next).zip(&mut now) {
            let entry = look(table, old.word >> (64 - LONGEST));
            bits.word <<= entry & 63;
            *to = low8((entry >> 8).into());
        }
        done = done.wrapping_add(ABREAST);
    }
    for (stream, bits) in streams.iter_mut().zip(now) {
        *stream = stream.behind(bits);
    }
    done
}

/// Refills all four with at least [`READY`]` - 1` bits; `None` near the start of the source.
#[inline(always)]
fn refilled(src: &[u8], now: &[Marked; 4]) -> Option<[Marked; 4]> {
    let [a, b, c, d] = now;
    Some([a.refilled(src)?, b.refilled(src)?, c.refilled(src)?, d.refilled(src)?])
}

#[inline(always)]
fn look(table: &[u16; ENTRIES], index: u64) -> u16 {
    table.get(size(index) & ENTRIES.wrapping_sub(1)).copied().unwrap_or(0)
}

/// Reads the weights of all symbols but the last (RFC 8878, section 4.2.1.1). Returns their number.
fn read_weights(src: &[u8], r: &mut Reader<'_, LittleEndian>, weights: &mut [u8; SYMBOLS]) -> Result<usize> {
    let head = usize::from(r.u8(What::ZSTD_HUFFMAN)?);
    if head >= 128 {
        let count = head.wrapping_sub(127);
        let bytes = r.take(count.div_ceil(2), What::ZSTD_HUFFMAN)?;
        for (k, weight) in weights.iter_mut().take(count).enumerate() {
            let pair = bytes.get(k / 2).copied().unwrap_or_default();
            *weight = if k % 2 == 0 { pair >> 4 } else { pair & 15 };
        }
        return Ok(count);
    }
    let mut r = r.split(head, What::ZSTD_HUFFMAN)?;
    let mut entries = [0; 1 << Codes::Weights.most_log()];
    let mut table = Fse::new(Codes::Weights);
    table.read(&mut entries, &mut r)?;
    let at = r.at();
    let start = saturated(at);
    let mut bits = Bits::default();
    bits.begin(src, start, start.saturating_add(r.rest().len()), What::ZSTD_HUFFMAN)?;
    // Two states alternate until one has not enough bits left.
    bits.refill();
    let (mut state, mut other) = (bits.take(table.log()), bits.take(table.log()));
    if bits.left() < 0 {
        return Err(Error::needing(Kind::Truncated, What::ZSTD_HUFFMAN, at, 2));
    }
    let mut last = false;
    for (k, weight) in weights.iter_mut().take(SYMBOLS.wrapping_sub(1)).enumerate() {
        let entry = fse::at(&entries, size(state));
        *weight = low8(entry.base() as usize);
        if last {
            return Ok(k.wrapping_add(1));
        }
        bits.refill();
        last = bits.left() < entry.bits().into();
        (state, other) = (other, entry.next().wrapping_add(bits.take(entry.bits())));
    }
    Err(Error::needing(Kind::Invalid, What::ZSTD_HUFFMAN, at, SYMBOLS as u64))
}
