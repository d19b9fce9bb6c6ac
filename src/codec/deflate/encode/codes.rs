//! The codes of a block, and their description (RFC 1951, sections 3.2.5 to 3.2.7).

use super::block::Item;
use crate::bytes::{len32, low8};
use crate::codec::bit_writer::Bits;
use crate::codec::deflate::code::{LONGEST, distance, length};
use crate::codec::deflate::{DISTANCES, END, LENGTHS, LITERALS, ORDER, fixed};
use crate::codec::prefix;

/// The symbol of the first length.
const FIRST: usize = END as usize + 1;
/// Maximum number of bits of the code of lengths of codes.
const LONGEST_OF_LENGTHS: u32 = 7;
/// Number of all symbols.
const BOTH: usize = LITERALS + DISTANCES;

/// Codewords: the first bit lowest, the number of bits from bit 24.
type Words<const N: usize> = [u32; N];

/// Appends a codeword.
#[inline(always)]
pub(super) const fn add(bits: &mut Bits<'_>, word: u32) {
    bits.add((word & 0xff_ffff) as u64, word >> 24);
}

/// Returns the symbol, less [`FIRST`], of a length less 3.
#[inline(always)]
const fn length_symbol(length: usize) -> usize {
    match length {
        0..8 => length,
        255 => 28,
        _ => {
            let log = length.ilog2().wrapping_sub(1) as usize;
            (log << 2).wrapping_add(length >> (log.wrapping_sub(1) & 7) & 3)
        }
    }
}

/// Returns the symbol of a distance less 1.
#[inline(always)]
pub(super) const fn distance_symbol(distance: u32) -> usize {
    if distance < 4 {
        return distance as usize;
    }
    let log = distance.ilog2();
    (log << 1 | distance >> (log.wrapping_sub(1) & 31) & 1) as usize
}

/// The number of occurrences of each symbol.
pub(super) struct Counts {
    literals: [u32; LITERALS],
    distances: [u32; DISTANCES],
}

impl Counts {
    /// Counts items and the end of the block.
    pub(super) fn of(items: &[Item]) -> Option<Self> {
        let mut counts = Counts { literals: [0; LITERALS], distances: [0; DISTANCES] };
        let one = |count: &mut u32| *count = count.wrapping_add(1);
        one(counts.literals.get_mut(usize::from(END))?);
        for item in items {
            if let Some(literal) = item.literal() {
                one(counts.literals.get_mut(literal)?);
            } else {
                one(counts.literals.get_mut(FIRST.wrapping_add(length_symbol(item.length())))?);
                one(counts.distances.get_mut(distance_symbol(item.distance()))?);
            }
        }
        Some(counts)
    }

    /// Returns the number of bits of all symbols by codes of these lengths.
    fn bits(&self, literals: &[u8], distances: &[u8]) -> u64 {
        let first = bits(&self.literals, literals, |symbol| length(symbol).map_or(0, |(_, extra)| extra));
        first.wrapping_add(bits(&self.distances, distances, |symbol| distance(symbol).map_or(0, |(_, extra)| extra)))
    }
}

/// Returns the number of bits of symbols with these counts, lengths of codes, and extra bits.
fn bits(counts: &[u32], lengths: &[u8], extra: fn(u16) -> u32) -> u64 {
    let each = (0u16..).zip(counts).zip(lengths).map(|((symbol, count), len)| {
        u64::from(*count).wrapping_mul(u64::from(*len).wrapping_add(extra(symbol).into()))
    });
    each.sum()
}

/// The codes of literals and lengths, and of distances.
pub(super) struct Codes {
    pub literals: Words<LITERALS>,
    pub distances: Words<DISTANCES>,
    /// Number of bits of the block.
    pub cost: u64,
    /// `None` for the fixed codes.
    description: Option<Description>,
}

impl Codes {
    /// Returns the codes that write symbols with these counts in the fewest bits.
    pub(super) fn best(counts: &Counts) -> Option<Self> {
        let (mut literals, mut distances) = ([0u8; LITERALS], [0u8; DISTANCES]);
        prefix::lengths(&counts.literals, len32(LONGEST), &mut literals);
        prefix::lengths(&counts.distances, len32(LONGEST), &mut distances);
        // Some decoders require a code of distances.
        if distances.iter().all(|len| *len == 0) {
            *distances.first_mut()? = 1;
        }
        let description = Description::of(&literals, &distances)?;
        let cost = description.cost().wrapping_add(counts.bits(&literals, &distances));
        let mut both = [0u8; BOTH];
        fixed(&mut both);
        let (first, second) = (both.first_chunk()?, both.last_chunk()?);
        let fixed_cost = counts.bits(first, second).wrapping_add(3);
        if fixed_cost <= cost {
            let (literals, distances) = (words(first), words(second));
            return Some(Codes { literals, distances, cost: fixed_cost, description: None });
        }
        let (literals, distances) = (words(&literals), words(&distances));
        Some(Codes { literals, distances, cost, description: Some(description) })
    }

    /// Returns the codeword of the end of a block.
    pub(super) fn end(&self) -> u32 {
        self.literals.get(usize::from(END)).copied().unwrap_or(0)
    }

    /// Returns the codewords of lengths less 3, with their extra bits.
    pub(super) fn lengths(&self) -> Words<256> {
        let mut all = [0; 256];
        for (i, to) in all.iter_mut().enumerate() {
            let symbol = FIRST.wrapping_add(length_symbol(i));
            let word = self.literals.get(symbol).copied().unwrap_or(0);
            let (base, extra) = u16::try_from(symbol).ok().and_then(length).unwrap_or((0, 0));
            let value = len32(i).wrapping_add(3).wrapping_sub(base.into());
            *to = word.wrapping_add(extra << 24) | value << (word >> 24 & 31);
        }
        all
    }

    /// Writes the kind of the block, and the description of its codes.
    pub(super) fn describe(&self, bits: &mut Bits<'_>) -> Option<()> {
        match &self.description {
            Some(description) => description.write(bits),
            None => {
                bits.add(1, 2);
                bits.flush()
            }
        }
    }
}

/// The lengths of both codes, written by a third code.
struct Description {
    /// Number of literals, and of distances.
    used: [usize; 2],
    /// Symbols of the third code, with their extra bits from bit 8.
    runs: [u16; BOTH],
    count: usize,
    code: Words<LENGTHS>,
    /// Number of lengths of this code.
    given: usize,
}

/// Returns the number of extra bits of a symbol of the third code.
const fn extra_bits(symbol: u16) -> u32 {
    match symbol & 0xff {
        16 => 2,
        17 => 3,
        18 => 7,
        _ => 0,
    }
}

impl Description {
    fn of(literals: &[u8; LITERALS], distances: &[u8; DISTANCES]) -> Option<Self> {
        let used = [used(literals.iter(), FIRST), used(distances.iter(), 1)];
        let (first, second) = (literals.get(..used[0])?, distances.get(..used[1])?);
        let mut all = [0u8; BOTH];
        all.get_mut(..used[0])?.copy_from_slice(first);
        all.get_mut(used[0]..)?.get_mut(..used[1])?.copy_from_slice(second);
        let mut description = Description { used, runs: [0; BOTH], count: 0, code: [0; LENGTHS], given: 0 };
        let mut counts = [0u32; LENGTHS];
        for run in all.get(..used[0].wrapping_add(used[1]))?.chunk_by(|a, b| a == b) {
            description.run(*run.first()?, run.len(), &mut counts)?;
        }
        // Only a code of two symbols or more is complete.
        if counts.iter().filter(|count| **count > 0).count() == 1 {
            let other = counts.iter_mut().find(|count| **count == 0)?;
            *other = 1;
        }
        let mut lengths = [0; LENGTHS];
        prefix::lengths(&counts, LONGEST_OF_LENGTHS, &mut lengths);
        description.code = words(&lengths);
        description.given = used_in_order(&lengths);
        Some(description)
    }

    /// Adds `times` equal lengths.
    fn run(&mut self, len: u8, mut times: usize, counts: &mut [u32; LENGTHS]) -> Option<()> {
        let mut is_first = true;
        while times > 0 {
            let (symbol, least, most) = match (len, times) {
                (0, 11..) => (18, 11, 138),
                (0, 3..) => (17, 3, 10),
                (_, 3..) if !is_first => (16, 3, 6),
                _ => (len, 1, 1),
            };
            let n = times.min(most);
            let run = self.runs.get_mut(self.count)?;
            *run = u16::from(symbol) | u16::from(low8(n.wrapping_sub(least))) << 8;
            self.count = self.count.wrapping_add(1);
            let count = counts.get_mut(usize::from(symbol))?;
            *count = count.wrapping_add(1);
            times = times.wrapping_sub(n);
            is_first = false;
        }
        Some(())
    }

    fn word(&self, symbol: u16) -> u32 {
        self.code.get(usize::from(symbol & 0xff)).copied().unwrap_or(0)
    }

    /// Returns the number of bits, including the kind of the block.
    fn cost(&self) -> u64 {
        let runs = self.runs.iter().take(self.count);
        let bits = runs.map(|run| u64::from((self.word(*run) >> 24).wrapping_add(extra_bits(*run)))).sum::<u64>();
        bits.wrapping_add((self.given as u64).wrapping_mul(3)).wrapping_add(17)
    }

    fn write(&self, bits: &mut Bits<'_>) -> Option<()> {
        bits.add(2, 2);
        bits.add(self.used[0].wrapping_sub(FIRST) as u64, 5);
        bits.add(self.used[1].wrapping_sub(1) as u64, 5);
        bits.add(self.given.wrapping_sub(4) as u64, 4);
        for symbol in ORDER.iter().take(self.given) {
            bits.flush()?;
            bits.add(u64::from(self.word((*symbol).into()) >> 24), 3);
        }
        for run in self.runs.iter().take(self.count) {
            bits.flush()?;
            add(bits, self.word(*run));
            bits.add(u64::from(run >> 8), extra_bits(*run));
        }
        bits.flush()
    }
}

/// Returns the number of lengths up to the last that is not 0, at least `least`.
fn used<'l>(lengths: impl DoubleEndedIterator<Item = &'l u8> + ExactSizeIterator, least: usize) -> usize {
    let all = lengths.len();
    all.wrapping_sub(lengths.rev().take_while(|len| **len == 0).count()).max(least)
}

/// Returns the number of lengths in the order in which they are stored.
fn used_in_order(lengths: &[u8; LENGTHS]) -> usize {
    const NONE: &u8 = &0;
    used(ORDER.iter().map(|symbol| lengths.get(usize::from(*symbol)).unwrap_or(NONE)), 4)
}

/// Returns canonical codewords of these lengths.
fn words<const N: usize>(lengths: &[u8; N]) -> Words<N> {
    let mut next = [0u32; LONGEST + 2];
    for len in lengths.iter().filter(|len| **len > 0) {
        if let Some(after) = next.get_mut(usize::from(*len).wrapping_add(1)) {
            *after = after.wrapping_add(1);
        }
    }
    let mut code = 0u32;
    for next in &mut next {
        code = code.wrapping_add(*next) << 1;
        *next = code;
    }
    let mut words = [0; N];
    for (to, len) in words.iter_mut().zip(lengths).filter(|(_, len)| **len > 0) {
        let Some(next) = next.get_mut(usize::from(*len)) else { continue };
        let len = u32::from(*len);
        *to = next.reverse_bits() >> (32u32.wrapping_sub(len) & 31) | len << 24;
        *next = next.wrapping_add(1);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_those_of_the_decoder() {
        for i in 0..256 {
            let symbol = FIRST + length_symbol(i);
            let (base, extra) = length(symbol as u16).unwrap();
            let value = i + 3 - usize::from(base);
            assert!(value < 1 << extra, "length {}", i + 3);
        }
        for i in 0..1 << 15 {
            let (base, extra) = distance(distance_symbol(i) as u16).unwrap();
            assert!(i + 1 - u32::from(base) < 1 << extra, "distance {}", i + 1);
        }
    }

    #[test]
    fn codewords_of_the_rfc() {
        // Its example: symbols A to H.
        let words = words(&[3, 3, 3, 3, 3, 2, 4, 4]);
        let expected = ["010", "011", "100", "101", "110", "00", "1110", "1111"];
        for (word, bits) in words.iter().zip(expected) {
            let value = bits.bytes().rev().fold(0, |value, bit| value << 1 | u32::from(bit - b'0'));
            assert_eq!(*word, value | (bits.len() as u32) << 24, "{bits}");
        }
    }

    #[test]
    fn runs_of_lengths() {
        let mut literals = [0; LITERALS];
        literals[150..200].fill(8);
        literals[256] = 5;
        let description = Description::of(&literals, &[1; DISTANCES]).unwrap();
        let runs: std::vec::Vec<_> =
            description.runs[..description.count].iter().map(|run| (run & 0xff, run >> 8)).collect();
        let expected =
            [(18, 127), (18, 1), (8, 0), (16, 3), (16, 3), (16, 3), (16, 3), (16, 3), (16, 3), (16, 3), (16, 3)];
        assert_eq!(runs[..11], expected);
        assert_eq!(description.used, [257, 32]);
    }
}
