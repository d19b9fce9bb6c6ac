//! Tables of finite state entropy codes, for encoding (RFC 8878, section 4.1).

use super::costs::{FRACTION, log2};
use crate::bytes::{len32, low16};
use crate::codec::bit_writer::Bits;
use crate::codec::greedy::Put;
use crate::codec::zstd::fse::{Codes, SYMBOLS, spread};

/// Logarithm of the length of the longest table.
const LONGEST: u32 = 9;
/// A sufficient length of a description of frequencies: 4 bits, and at most 12 for each symbol.
pub(super) const DESCRIPTION_LEN: usize = 84;

/// Frequencies whose sum is a power of two.
#[derive(Clone, Copy)]
pub(super) struct Norm {
    pub log: u32,
    pub counts: [i16; SYMBOLS],
}

impl Norm {
    /// Returns the predefined frequencies.
    pub(super) fn predefined(codes: Codes) -> Self {
        let (log, from) = codes.predefined();
        let mut counts = [0; SYMBOLS];
        counts.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        Norm { log, counts }
    }

    /// Scales counts of at least two different symbols to a sum of at most 2^`most`.
    pub(super) fn of(counts: &[u32], most: u32) -> Self {
        let total = counts.iter().fold(0u32, |sum, count| sum.wrapping_add(*count));
        let different = counts.iter().filter(|count| **count > 0).count();
        // More states than a quarter of the symbols hardly pay for their description; each symbol needs one.
        let wanted = total.max(2).wrapping_sub(1).ilog2().saturating_sub(2);
        let least = len32(different).max(2).wrapping_sub(1).ilog2().wrapping_add(2).max(5);
        let log = wanted.max(least).min(most);
        let mut norm = Norm { log, counts: [0; SYMBOLS] };
        let size = 1u64 << (log & 31);
        let mut left = i64::try_from(size).unwrap_or(0);
        for (to, count) in norm.counts.iter_mut().zip(counts) {
            let scaled = (u64::from(*count) << (log & 31)).wrapping_add(u64::from(total) >> 1);
            let share = scaled.checked_div(total.into()).unwrap_or(0).max(u64::from(*count > 0));
            *to = i16::try_from(share).unwrap_or(i16::MAX);
            left = left.wrapping_sub((*to).into());
        }
        while left != 0 {
            left = left.wrapping_add(norm.adjust(counts, left > 0));
        }
        norm
    }

    /// Adds one to the count for which it gains most, or subtracts one where it costs least. Returns the
    /// change of what is left.
    fn adjust(&mut self, counts: &[u32], up: bool) -> i64 {
        // The derivative of the cost, between the count and its neighbour.
        let worth = |(n, count): (i16, u32)| {
            let double = u64::from(n.unsigned_abs()).wrapping_mul(2);
            let between = if up { double.wrapping_add(1) } else { double.wrapping_sub(1) };
            (u64::from(count) << 20).checked_div(between).unwrap_or(0)
        };
        let pairs = self.counts.iter_mut().zip(counts.iter().copied());
        if up {
            if let Some((n, _)) = pairs.max_by_key(|(n, count)| worth((**n, *count))) {
                *n = n.wrapping_add(1);
            }
            return -1;
        }
        if let Some((n, _)) = pairs.filter(|(n, _)| **n > 1).min_by_key(|(n, count)| worth((**n, *count))) {
            *n = n.wrapping_sub(1);
        }
        1
    }

    /// Returns the length in bits of symbols with these counts; `None` if one of them has no state.
    pub(super) fn cost(&self, counts: &[u32]) -> Option<u64> {
        let mut sum = 0u64;
        for (symbol, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let states = self.counts.get(symbol).filter(|n| **n != 0)?.unsigned_abs();
            let bits = (self.log << FRACTION).wrapping_sub(log2(states.into()));
            sum = sum.wrapping_add(u64::from(*count).wrapping_mul(bits.into()));
        }
        Some(sum >> FRACTION)
    }

    /// Writes the description of the frequencies.
    pub(super) fn describe(&self, out: &mut Put<'_>) -> Option<()> {
        let mut bits = Bits::new(out);
        bits.add(u64::from(self.log.wrapping_sub(5)), 4);
        let mut left = (1u32 << (self.log & 31)).wrapping_add(1);
        let mut counts = self.counts.iter().copied();
        while left > 1 {
            bits.flush()?;
            let count = counts.next()?;
            let value = u32::from(count.wrapping_add(1).unsigned_abs());
            // Values below `short` take one bit less.
            let width = left.ilog2().wrapping_add(1);
            let (half, short) = (1u32 << (width.wrapping_sub(1) & 31), (1u32 << (width & 31)).wrapping_sub(1));
            let short = short.wrapping_sub(left);
            match value {
                _ if value < short => bits.add(value.into(), width.wrapping_sub(1)),
                _ if value < half => bits.add(value.into(), width),
                _ => bits.add(value.wrapping_add(short).into(), width),
            }
            left = left.wrapping_sub(count.unsigned_abs().into());
            if count == 0 {
                let mut zeros = counts.clone().take_while(|count| *count == 0).count();
                counts.by_ref().take(zeros).for_each(drop);
                while zeros >= 3 {
                    bits.flush()?;
                    bits.add(3, 2);
                    zeros = zeros.wrapping_sub(3);
                }
                bits.add(zeros as u64, 2);
            }
        }
        bits.finish()
    }
}

/// How a state changes with a symbol.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Change {
    /// Added to a state, the upper half is the number of bits to write.
    width: u32,
    /// Added to the rest of the state, the place of the next one.
    place: u32,
}

/// A table in scratch memory. Its states are 2^log and above.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Table {
    changes: [Change; 64],
    states: [u16; 1 << LONGEST],
    log: u32,
}

impl Table {
    /// Builds the table.
    pub(super) fn build(&mut self, norm: &Norm) {
        self.log = norm.log;
        let size = 1usize << (norm.log & 31);
        let mut symbols = [0u8; 1 << LONGEST];
        spread(&norm.counts, symbols.get_mut(..size).unwrap_or_default());
        // Start of the states of each symbol, and then the next of them.
        let (mut starts, mut sum) = ([0u16; SYMBOLS], 0u16);
        for ((count, start), change) in norm.counts.iter().zip(&mut starts).zip(&mut self.changes) {
            let n = u32::from(count.unsigned_abs());
            *start = sum;
            *change = match n {
                0 => Change { width: 0, place: 0 },
                _ => {
                    // Between `n << bits` and twice that are the states from which `bits` bits are written.
                    let bits = norm.log.wrapping_sub(if n == 1 { 0 } else { n.wrapping_sub(1).ilog2() });
                    let least = n << (bits & 31);
                    let width = (bits << 16).wrapping_sub(least);
                    Change { width, place: u32::from(sum).wrapping_sub(n) }
                }
            };
            sum = sum.wrapping_add(low16(n as usize));
        }
        for (state, symbol) in (size..).zip(symbols.iter().take(size)) {
            if let Some(start) = starts.get_mut(usize::from(*symbol)) {
                if let Some(to) = self.states.get_mut(usize::from(*start)) {
                    *to = low16(state);
                }
                *start = start.wrapping_add(1);
            }
        }
    }

    /// Sets the table to a single symbol, which takes no bits.
    pub(super) fn single(&mut self) {
        self.log = 0;
        self.changes = bytemuck::Zeroable::zeroed();
        self.states = [0; 1 << LONGEST];
    }

    /// Returns the first state of the symbol, for the last symbol. A decoder that leaves it reads at least one bit, so that weights end
    /// where their stream does.
    #[inline]
    pub(super) fn begin(&self, symbol: u8) -> u32 {
        let change = self.change(symbol);
        let bits = change.width.wrapping_add(1 << 15) >> 16;
        let least = (bits << 16).wrapping_sub(change.width);
        self.state((least >> (bits & 31)).wrapping_add(change.place))
    }

    /// Writes the bits that lead from the state of `symbol`, which becomes the state, to the current one.
    #[inline(always)]
    pub(super) fn encode(&self, state: &mut u32, symbol: u8, bits: &mut Bits<'_>) {
        let change = self.change(symbol);
        let n = state.wrapping_add(change.width) >> 16;
        bits.add(u64::from(*state & !(u32::MAX << (n & 31))), n);
        *state = self.state((*state >> (n & 31)).wrapping_add(change.place));
    }

    /// Writes the initial state of the decoder.
    pub(super) fn end(&self, state: u32, bits: &mut Bits<'_>) {
        bits.add(u64::from(state & !(u32::MAX << (self.log & 31))), self.log);
    }

    #[inline(always)]
    fn change(&self, symbol: u8) -> Change {
        self.changes.get(usize::from(symbol & 63)).copied().unwrap_or(Change { width: 0, place: 0 })
    }

    #[inline(always)]
    fn state(&self, place: u32) -> u32 {
        self.states.get((place & ((1 << LONGEST) - 1)) as usize).copied().unwrap_or(0).into()
    }
}

/// Writes symbols with two states in turn, as the weights of a Huffman code are stored.
pub(super) fn pairs(table: &Table, symbols: &[u8], out: &mut Put<'_>) -> Option<()> {
    let [rest @ .., before, last] = symbols else { return None };
    let mut bits = Bits::new(out);
    let (mut state, mut other) = (table.begin(*last), table.begin(*before));
    for symbol in rest.iter().rev() {
        table.encode(&mut state, *symbol, &mut bits);
        bits.flush()?;
        core::mem::swap(&mut state, &mut other);
    }
    // The first symbol belongs to the state that the decoder reads first.
    table.end(state, &mut bits);
    table.end(other, &mut bits);
    bits.mark()
}
