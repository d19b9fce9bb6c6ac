//! Tables of finite state entropy codes (RFC 8878, section 4.1), and the meaning of their symbols.

// See `sequences` for the effect of the inline attributes.

use super::bits::size;
use crate::bytes::{BitReader, LittleEndian, Reader, low32};
use crate::error::{Error, Kind, Result, What};
use crate::simd::Lanes;

/// The meaning of the symbols of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Codes {
    /// Numbers of literals before a match.
    Literals,
    Offsets,
    Matches,
    /// Weights of a Huffman code.
    Weights,
}

/// Maximum number of symbols of a table.
pub(super) const SYMBOLS: usize = 53;
/// The frequency of each symbol; -1 means less than once.
type Counts = [i16; SYMBOLS];

/// Number of extra bits of each length code (RFC 8878, section 3.1.1.3.2.1.1). The values of a code begin
/// after the values of the previous code.
pub(super) const LITERALS: [u8; 36] =
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
pub(super) const MATCHES: [u8; 53] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2,
    3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
];

/// Predefined frequencies (RFC 8878, section 3.1.1.3.2.2).
const LITERAL_COUNTS: [i16; 36] =
    [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1];
const MATCH_COUNTS: [i16; 53] = [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];
const OFFSET_COUNTS: [i16; 29] =
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];

impl Codes {
    /// Returns the logarithm of the maximum length of a table.
    pub(super) const fn most_log(self) -> u32 {
        match self {
            Codes::Literals | Codes::Matches => 9,
            Codes::Offsets => 8,
            Codes::Weights => 6,
        }
    }

    /// Returns the number of symbols.
    const fn symbols(self) -> usize {
        match self {
            Codes::Literals => LITERALS.len(),
            Codes::Matches => MATCHES.len(),
            Codes::Offsets => 32,
            Codes::Weights => 12,
        }
    }

    pub(super) const fn predefined(self) -> (u32, &'static [i16]) {
        match self {
            Codes::Literals => (6, &LITERAL_COUNTS),
            Codes::Matches => (6, &MATCH_COUNTS),
            Codes::Offsets | Codes::Weights => (5, &OFFSET_COUNTS),
        }
    }

    /// Returns, for each symbol, the minimum of its values and its number of extra bits.
    fn values(self) -> [(u32, u8); SYMBOLS] {
        let mut values = [(0, 0); SYMBOLS];
        let (mut base, extras) = match self {
            Codes::Literals => (0u32, &LITERALS[..]),
            Codes::Matches => (3, &MATCHES[..]),
            Codes::Offsets | Codes::Weights => (0, &[][..]),
        };
        for (value, extra) in values.iter_mut().zip(extras) {
            *value = (base, *extra);
            base = base.wrapping_add(1 << (extra & 31));
        }
        if extras.is_empty() {
            for (value, symbol) in values.iter_mut().zip(0u8..) {
                *value = match self {
                    // A power of two; the values 1 to 3 are repeated offsets.
                    Codes::Offsets if symbol < 32 => (1u32 << (symbol & 31), symbol),
                    _ => (symbol.into(), 0),
                };
            }
        }
        values
    }
}

/// The meaning of a state. Starting at the lowest bit: the number of bits that it reads from the stream (8),
/// how many of these select the next state (8), how many are extra bits of the value (7), the minimum next
/// state (9) and the minimum value (32).
#[derive(Clone, Copy)]
pub(super) struct Entry(u64);

impl Entry {
    const fn new((base, extra): (u32, u8), next: u32, bits: u32) -> Self {
        let width = (extra as u64).wrapping_add(bits as u64);
        Entry(width | (bits as u64) << 8 | (extra as u64) << 16 | (next as u64) << 23 | (base as u64) << 32)
    }

    /// Returns the minimum value.
    #[inline(always)]
    pub(super) const fn base(self) -> u32 {
        low32(self.0 >> 32)
    }

    /// Returns the number of extra bits of the value.
    #[inline(always)]
    pub(super) const fn extra(self) -> u32 {
        low32(self.0 >> 16 & 31)
    }

    /// Returns the number of bits that select the next state.
    #[inline(always)]
    pub(super) const fn bits(self) -> u32 {
        low32(self.0 >> 8 & 15)
    }

    /// Returns whether at least one of the two entries has extra bits.
    #[inline(always)]
    pub(super) const fn more(self, other: Self) -> bool {
        (self.0 | other.0) >> 16 & 31 > 0
    }

    /// Returns the minimum next state.
    #[inline(always)]
    pub(super) const fn next(self) -> u64 {
        self.0 >> 23 & 0x1ff
    }

    /// Returns the value; its extra bits are the lowest bits of `word`.
    #[inline(always)]
    pub(super) fn value<L: Lanes>(self, word: u64) -> u32 {
        self.base().wrapping_add(low32(lowest::<L>(word, self.extra())))
    }

    /// Returns the next state, which the lowest bits of `word` select. The bits above the nine of the longest
    /// table are arbitrary; [`Table::at`] drops them.
    #[inline(always)]
    pub(super) fn state<L: Lanes>(self, word: u64) -> u64 {
        (self.0 >> 23).wrapping_add(lowest::<L>(word, self.bits()))
    }

    /// Returns the number of bits that the entries read, in the lowest byte, and the number of their state
    /// bits, in the next byte.
    #[inline(always)]
    pub(super) fn widths(entries: &[Self]) -> u32 {
        low32(entries.iter().fold(0, |sum: u64, e| sum.wrapping_add(e.0)))
    }
}

/// Returns the lowest `n` bits of a word, at most 31. A mask is loaded before the word is known, while a
/// shift by `n` would wait for it.
#[inline(always)]
fn lowest<L: Lanes>(word: u64, n: u32) -> u64 {
    if L::BMI {
        return word & !(u64::MAX << (n & 63));
    }
    word & MASKS.get((n & 31) as usize).copied().unwrap_or(0)
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "computed when compiled")]
const MASKS: [u64; 32] = {
    let mut masks = [0; 32];
    let mut n = 0;
    while n < masks.len() {
        masks[n] = (1 << n) - 1;
        n += 1;
    }
    masks
};

/// The contents of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    Predefined,
    Read,
}

/// A table in scratch memory.
pub(super) struct Table<'w> {
    codes: Codes,
    entries: &'w mut [u64],
    log: u32,
    holds: Holds,
}

impl<'w> Table<'w> {
    /// Creates an empty table. `entries` has the maximum length of a table.
    pub(super) const fn new(codes: Codes, entries: &'w mut [u64]) -> Self {
        Table { codes, entries, log: 0, holds: Holds::Nothing }
    }

    /// Returns the logarithm of its length, which is the number of bits of the initial state.
    pub(super) const fn log(&self) -> u32 {
        self.log
    }

    /// Returns its entries, with the maximum length of a table.
    #[inline(always)]
    pub(super) fn entries<const N: usize>(&self) -> &[u64; N] {
        // `new` never gets memory of another size.
        self.entries.first_chunk().unwrap_or(&[0; N])
    }

    /// Returns the entry of a state.
    #[inline(always)]
    pub(super) fn at<const N: usize>(entries: &[u64; N], state: u64) -> Entry {
        Entry(entries.get(size(state) & N.wrapping_sub(1)).copied().unwrap_or(0))
    }

    /// Clears the table.
    pub(super) const fn clear(&mut self) {
        self.holds = Holds::Nothing;
    }

    /// Sets the table according to its mode (RFC 8878, section 3.1.1.3.2.1), from the next bytes of the
    /// block.
    pub(super) fn set(&mut self, mode: u8, r: &mut Reader<'_, LittleEndian>) -> Result<()> {
        let at = r.at();
        let wrong = |need: u8| Error::needing(Kind::Invalid, What::ZSTD_TABLE, at, need.into());
        match mode {
            0 if self.holds == Holds::Predefined => {}
            0 => {
                let (log, counts) = self.codes.predefined();
                self.build(log, counts);
                self.holds = Holds::Predefined;
            }
            1 => {
                let symbol = r.u8(What::ZSTD_TABLE)?;
                let values = self.codes.values();
                let value = values.get(..self.codes.symbols()).and_then(|values| values.get(usize::from(symbol)));
                let value = value.ok_or_else(|| wrong(symbol))?;
                self.log = 0;
                if let Some(first) = self.entries.first_mut() {
                    *first = Entry::new(*value, 0, 0).0;
                }
                self.holds = Holds::Read;
            }
            2 => self.read(r)?,
            _ if self.holds == Holds::Nothing => return Err(wrong(mode)),
            _ => {}
        }
        Ok(())
    }

    /// Reads the table from its description.
    pub(super) fn read(&mut self, r: &mut Reader<'_, LittleEndian>) -> Result<()> {
        let mut counts = [0; SYMBOLS];
        self.holds = Holds::Nothing;
        let log = read_counts(self.codes, r, &mut counts)?;
        self.build(log, &counts);
        self.holds = Holds::Read;
        Ok(())
    }

    /// Builds the table of these frequencies.
    fn build(&mut self, log: u32, counts: &[i16]) {
        self.log = log;
        let states = 1usize << (log & 31);
        let Some(entries) = self.entries.get_mut(..states) else { return };
        spread(counts, entries);
        // Selects the next state of each symbol.
        let mut nexts = [0u16; SYMBOLS];
        nexts.iter_mut().zip(counts).for_each(|(next, count)| *next = count.unsigned_abs());
        let values = self.codes.values();
        for entry in entries {
            let symbol = size(*entry);
            let (Some(value), Some(next)) = (values.get(symbol), nexts.get_mut(symbol)) else { return };
            let number = u32::from(*next).max(1);
            *next = next.wrapping_add(1);
            let bits = log.wrapping_sub(number.ilog2());
            let first = (number << (bits & 31)).wrapping_sub(1 << (log & 31));
            *entry = Entry::new(*value, first, bits).0;
        }
    }
}

/// Spreads the symbols over all states (RFC 8878, section 4.1.1), whose number is a power of two.
pub(super) fn spread<T: From<u8>>(counts: &[i16], states: &mut [T]) {
    let (len, mask) = (states.len(), states.len().wrapping_sub(1));
    // Symbols that appear less than once are at the end.
    let mut end = len;
    for (symbol, _) in (0u8..).zip(counts).filter(|(_, count)| **count < 0) {
        end = end.wrapping_sub(1);
        if let Some(state) = states.get_mut(end) {
            *state = symbol.into();
        }
    }
    let step = (len >> 1).wrapping_add(len >> 3).wrapping_add(3);
    let mut at = 0usize;
    for (symbol, count) in (0u8..).zip(counts) {
        for _ in 0..*count {
            if let Some(state) = states.get_mut(at) {
                *state = symbol.into();
            }
            at = at.wrapping_add(step) & mask;
            while at >= end && end > 0 {
                at = at.wrapping_add(step) & mask;
            }
        }
    }
}

/// Reads the frequency of each symbol (RFC 8878, section 4.1.1). Returns the logarithm of their sum.
fn read_counts(codes: Codes, r: &mut Reader<'_, LittleEndian>, counts: &mut Counts) -> Result<u32> {
    let at = r.at();
    let wrong = |need: u64| Error::needing(Kind::Invalid, What::ZSTD_TABLE, at, need);
    let mut bits = BitReader::new(r.rest());
    let mut take = |n: u32| {
        let cut = |e: Error| e.turned(Kind::Truncated, What::ZSTD_TABLE, at);
        bits.take(n).map_err(cut)
    };
    let log = take(4)?.wrapping_add(5);
    if log > codes.most_log().into() {
        return Err(wrong(log));
    }
    // The rest of the sum, plus one.
    let mut left = 1u64.wrapping_shl(low32(log)).wrapping_add(1);
    let mut slots = counts.iter_mut().take(codes.symbols());
    while left > 1 {
        // Numbers up to `left`: the lowest of them take one bit less.
        let width = left.ilog2().wrapping_add(1);
        let short = 1u64.wrapping_shl(width).wrapping_sub(1).wrapping_sub(left);
        let low = take(width.wrapping_sub(1))?;
        let mut value = low;
        if low >= short && take(1)? == 1 {
            let half = 1u64.wrapping_shl(width.wrapping_sub(1));
            value = low.wrapping_add(half).wrapping_sub(short);
        }
        let slot = slots.next().ok_or_else(|| wrong(left))?;
        // 0 means less than once, and takes one state.
        *slot = i16::try_from(value).unwrap_or(0).wrapping_sub(1);
        left = left.checked_sub(u64::from(slot.unsigned_abs())).filter(|left| *left > 0).ok_or_else(|| wrong(value))?;
        // After a symbol that does not appear: the number of further symbols that do not.
        let mut more = if *slot == 0 { 3 } else { 0 };
        while more == 3 {
            more = take(2)?;
            for _ in 0..more {
                slots.next().ok_or_else(|| wrong(left))?;
            }
        }
    }
    let used = r.rest().len().wrapping_sub(bits.rest().len());
    r.take(used, What::ZSTD_TABLE)?;
    Ok(low32(log))
}
