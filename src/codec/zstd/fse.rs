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

    /// Returns, for each symbol, an entry that reads its values, and no state.
    fn values(self) -> [Entry; SYMBOLS] {
        let mut values = [Entry::value_of(0, 0); SYMBOLS];
        let (mut base, extras) = match self {
            Codes::Literals => (0u32, &LITERALS[..]),
            Codes::Matches => (3, &MATCHES[..]),
            Codes::Offsets | Codes::Weights => (0, &[][..]),
        };
        for (value, extra) in values.iter_mut().zip(extras) {
            *value = Entry::value_of(base, *extra);
            base = base.wrapping_add(1 << (extra & 31));
        }
        if extras.is_empty() {
            for (value, symbol) in values.iter_mut().zip(0u8..) {
                *value = match self {
                    // A power of two; the values 1 to 3 are repeated offsets.
                    Codes::Offsets if symbol < 32 => Entry::value_of(1u32 << (symbol & 31), symbol),
                    _ => Entry::value_of(symbol.into(), 0),
                };
            }
        }
        values
    }
}

/// The meaning of a state. Starting at the lowest bit: how many bits of the stream select the next state (8), how many bits it
/// reads from the stream in all (8), the minimum next state (10), how many of the bits are extra bits of the value (6), and the
/// minimum value (32). Shifts and masks take a number of bits from the end of a word as it is, and no field of the sum of the entries
/// of both lengths overflows.
#[derive(Clone, Copy)]
pub(super) struct Entry(u64);

impl Entry {
    /// Creates an entry that reads a value, and no state.
    const fn value_of(base: u32, extra: u8) -> Self {
        let extra = extra as u64;
        Entry(extra << 8 | extra << 26 | (base as u64) << 32)
    }

    /// Adds the state that follows.
    const fn then(self, next: u32, bits: u32) -> Self {
        let bits = bits as u64;
        Entry(self.0.wrapping_add(bits | bits << 8 | (next as u64) << 16))
    }

    /// Returns the minimum value.
    #[inline(always)]
    pub(super) const fn base(self) -> u32 {
        low32(self.0 >> 32)
    }

    /// Returns the number of extra bits of the value.
    #[inline(always)]
    pub(super) const fn extra(self) -> u32 {
        low32(self.0) >> 26
    }

    /// Returns the number of bits that select the next state.
    #[inline(always)]
    pub(super) const fn bits(self) -> u32 {
        low32(self.0 & 15)
    }

    /// Returns the minimum next state.
    #[inline(always)]
    pub(super) const fn next(self) -> u64 {
        self.0 >> 16 & 0x3ff
    }

    /// Returns the value; its extra bits are the lowest bits of `word`.
    #[inline(always)]
    pub(super) fn value<L: Lanes>(self, lanes: L, word: u64) -> u32 {
        self.base().wrapping_add(lanes.lowest(low32(word), self.extra()))
    }

    /// Returns the next state, which the lowest bits of `word` select. The bits above the nine of the longest
    /// table are arbitrary; [`at`] drops them.
    #[inline(always)]
    pub(super) fn state<L: Lanes>(self, lanes: L, word: u64) -> usize {
        (low32(self.0) >> 16).wrapping_add(lanes.lowest(low32(word), low32(self.0))) as usize
    }

    /// Returns the numbers of bits of the entry.
    #[inline(always)]
    pub(super) const fn widths(self) -> Widths {
        Widths(low32(self.0))
    }
}

/// The sum of numbers of bits of entries.
#[derive(Clone, Copy)]
pub(super) struct Widths(u32);

impl Widths {
    /// Returns the sum.
    #[inline(always)]
    pub(super) const fn and(self, other: Self) -> Self {
        Widths(self.0.wrapping_add(other.0))
    }

    /// Returns a number whose lowest byte is the number of bits that select states.
    #[inline(always)]
    pub(super) const fn states(self) -> u32 {
        self.0
    }

    /// Returns the number of all bits.
    #[inline(always)]
    pub(super) const fn all(self) -> u32 {
        self.0 >> 8 & 0xff
    }

    /// Returns whether at least one of two entries has extra bits; the sum of three may have a carry there.
    #[inline(always)]
    pub(super) const fn more(self) -> bool {
        self.0 >> 26 > 0
    }
}

/// Returns the entry of a state.
#[inline(always)]
pub(super) fn at<const N: usize>(entries: &[u64; N], state: usize) -> Entry {
    Entry(entries.get(state & N.wrapping_sub(1)).copied().unwrap_or(0))
}

/// The contents of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    Predefined,
    Read,
}

/// The state of a table. Its entries are in scratch memory, as many as the longest table has.
pub(super) struct Table {
    codes: Codes,
    log: u32,
    holds: Holds,
}

impl Table {
    /// Creates an empty table.
    pub(super) const fn new(codes: Codes) -> Self {
        Table { codes, log: 0, holds: Holds::Nothing }
    }

    /// Returns the logarithm of its length, which is the number of bits of the initial state.
    pub(super) const fn log(&self) -> u32 {
        self.log
    }

    /// Clears the table.
    pub(super) const fn clear(&mut self) {
        self.holds = Holds::Nothing;
    }

    /// Sets the table according to its mode (RFC 8878, section 3.1.1.3.2.1), from the next bytes of the
    /// block.
    pub(super) fn set(&mut self, entries: &mut [u64], mode: u8, r: &mut Reader<'_, LittleEndian>) -> Result<()> {
        let at = r.at();
        let wrong = |need: u8| Error::needing(Kind::Invalid, What::ZSTD_TABLE, at, need.into());
        match mode {
            0 if self.holds == Holds::Predefined => {}
            0 => {
                let (log, counts) = self.codes.predefined();
                self.build(entries, log, counts);
                self.holds = Holds::Predefined;
            }
            1 => {
                let symbol = r.u8(What::ZSTD_TABLE)?;
                let values = self.codes.values();
                let value = values.get(..self.codes.symbols()).and_then(|values| values.get(usize::from(symbol)));
                let value = value.ok_or_else(|| wrong(symbol))?;
                self.log = 0;
                if let Some(first) = entries.first_mut() {
                    *first = value.0;
                }
                self.holds = Holds::Read;
            }
            2 => self.read(entries, r)?,
            _ if self.holds == Holds::Nothing => return Err(wrong(mode)),
            _ => {}
        }
        Ok(())
    }

    /// Reads the table from its description.
    pub(super) fn read(&mut self, entries: &mut [u64], r: &mut Reader<'_, LittleEndian>) -> Result<()> {
        let mut counts = [0; SYMBOLS];
        self.holds = Holds::Nothing;
        let log = read_counts(self.codes, r, &mut counts)?;
        self.build(entries, log, &counts);
        self.holds = Holds::Read;
        Ok(())
    }

    /// Builds the table of these frequencies.
    fn build(&mut self, entries: &mut [u64], log: u32, counts: &[i16]) {
        self.log = log;
        let states = 1usize << (log & 31);
        let Some(entries) = entries.get_mut(..states) else { return };
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
            *entry = value.then(first, bits).0;
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
