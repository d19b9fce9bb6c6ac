//! Encoding with a table of symbols.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::select_unpredictable as select;

use super::ESCAPE;
use crate::encoding::lanes::{self, Found, Longest};
use crate::encoding::texts::Texts;

/// Maximum number of symbols: the codes except [`ESCAPE`].
pub(super) const MOST: usize = 255;

/// Number of pairs of two bytes.
const PAIRS: usize = 1 << 16;

/// Number of slots for symbols of 3 bytes and more.
const SLOTS: usize = 1 << 11;

/// Symbols, and how the one at the start of a text is found.
#[derive(Clone, Debug)]
pub struct Table {
    /// 8 bytes each, padded with zeros.
    symbols: Vec<u8>,
    lengths: Vec<u8>,
    finder: Finder,
}

impl Table {
    /// Chooses at most 255 symbols by a sample of the texts, the same ones in each run.
    #[must_use]
    pub fn train(texts: &Texts<'_>) -> Self {
        let (mut symbols, mut lengths, mut finder) = (Vec::new(), Vec::new(), Finder::new());
        for symbol in super::train::symbols(texts) {
            // All have a place, because the training ran with them.
            finder.insert(symbol);
            symbols.extend_from_slice(&symbol.bytes.to_le_bytes());
            lengths.push(symbol.len);
        }
        Table { symbols, lengths, finder }
    }

    /// Returns the symbols, 8 bytes each, padded with zeros. Those of 2 bytes come first, then longer ones, last those
    /// of 1 byte, because readers of Vortex that encode a text to look it up expect this order.
    #[must_use]
    pub fn symbols(&self) -> &[u8] {
        &self.symbols
    }

    /// Returns the length of each symbol.
    #[must_use]
    pub fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// Appends the codes of all texts to `codes`: at most two bytes for each byte of text. Appends to `ends` the
    /// number of bytes up to the end of each text, counted from the first byte that this call appends.
    pub fn encode(&self, texts: &Texts<'_>, codes: &mut Vec<u8>, ends: &mut Vec<u32>) {
        lanes::encode(&self.finder, texts, codes, ends);
    }
}

/// A symbol: its bytes from the lowest, padded with zeros, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Symbol {
    pub bytes: u64,
    pub len: u8,
}

impl Symbol {
    /// Returns the symbol of the bytes of `self` and then those of `other`, if they are 8 or fewer. None ends in a zero,
    /// because readers of Vortex take zeros at the end for padding when they encode a text to look it up.
    pub(super) fn then(self, other: Symbol) -> Option<Symbol> {
        let len = self.len.wrapping_add(other.len);
        let shift = u32::from(self.len).wrapping_mul(8);
        (len <= 8 && other.bytes.unbounded_shr(u32::from(other.len).wrapping_mul(8).wrapping_sub(8)) != 0)
            .then_some(Symbol { bytes: self.bytes | other.bytes.unbounded_shl(shift), len })
    }
}

/// What the search found: the unit to write in the lowest byte, then a bit for [`ESCAPE`], then from bit 12 the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(u16);

impl Code {
    const ESCAPED: u16 = 1 << 8;
    const BYTE: Code = Code(ESCAPE as u16 | Self::ESCAPED | 1 << 12);

    const fn new(code: u8, len: u8) -> Self {
        Code(code as u16 | (len as u16) << 12)
    }

    const fn unit(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    /// Returns 1 for an escaped byte, else 0.
    pub(super) const fn escaped(self) -> usize {
        (self.0 >> 8 & 1) as usize
    }

    pub(super) const fn len(self) -> usize {
        (self.0 >> 12) as usize
    }

    /// Returns the number of the symbol, or 255 plus the value of an escaped byte.
    pub(super) const fn number(self, byte: u8) -> usize {
        match self.escaped() {
            0 => self.unit() as usize,
            _ => MOST.wrapping_add(byte as usize),
        }
    }
}

/// A symbol of 3 bytes and more.
#[derive(Clone, Copy, Debug)]
struct Slot {
    symbol: u64,
    /// Number of bits of a word that are not compared.
    shift: u32,
    code: Code,
}

impl Slot {
    /// One byte, compared with a number of more bits: never equal.
    const EMPTY: Slot = Slot { symbol: 1 << 8, shift: 56, code: Code::BYTE };
}

/// Finds the longest symbol at the start of a text.
#[derive(Clone, Debug)]
pub(super) struct Finder {
    /// The symbol of 3 to 8 bytes for a hash of the first 3; no two with the same hash.
    slots: Box<[Slot; SLOTS]>,
    /// The symbol of 1 or 2 bytes, or the escaped byte, for the first 2 bytes.
    pairs: Box<[Code; PAIRS]>,
    /// The same for the last byte of a text.
    singles: [Code; 256],
    count: u8,
}

impl Finder {
    pub(super) fn new() -> Self {
        let slots = vec![Slot::EMPTY; SLOTS].into_boxed_slice().try_into();
        let pairs = vec![Code::BYTE; PAIRS].into_boxed_slice().try_into();
        Finder {
            slots: slots.unwrap_or_else(|_| Box::new([Slot::EMPTY; SLOTS])),
            pairs: pairs.unwrap_or_else(|_| Box::new([Code::BYTE; PAIRS])),
            singles: [Code::BYTE; 256],
            count: 0,
        }
    }

    /// Gives the next code to a symbol. Returns whether that was possible: not, if another symbol has its place.
    pub(super) fn insert(&mut self, symbol: Symbol) -> bool {
        let code = Code::new(self.count, symbol.len);
        let word = symbol.bytes;
        let [low, high, ..] = word.to_le_bytes();
        match symbol.len {
            1 => {
                if let Some(single) = self.singles.get_mut(usize::from(low)) {
                    *single = code;
                }
                let starting = self.pairs.iter_mut().skip(low.into()).step_by(256);
                starting.filter(|pair| pair.len() < 2).for_each(|pair| *pair = code);
            }
            2 => {
                if let Some(pair) = self.pairs.get_mut(usize::from(u16::from_le_bytes([low, high]))) {
                    *pair = code;
                }
            }
            len => {
                let Some(slot) = self.slots.get_mut(hash(word)) else { return false };
                if slot.code != Code::BYTE {
                    return false;
                }
                *slot = Slot { symbol: word, shift: 64u32.wrapping_sub(u32::from(len).wrapping_mul(8)), code };
            }
        }
        self.count = self.count.wrapping_add(1);
        true
    }

    /// Returns the code for the start of `word`, of which `left` bytes belong to the text.
    #[inline(always)]
    pub(super) fn find(&self, word: u64, left: usize) -> Code {
        let (low, pair) = (word.to_le_bytes()[0], (word & 0xffff) as usize);
        // All numbers have an entry, so that nothing is checked; all are loaded, so that there is no branch.
        let pair = self.pairs.get(pair).copied().unwrap_or(Code::BYTE);
        let single = self.singles.get(usize::from(low)).copied().unwrap_or(Code::BYTE);
        let slot = self.slots.get(hash(word)).copied().unwrap_or(Slot::EMPTY);
        let short = select(left == 1, single, pair);
        let equal = word & u64::MAX.wrapping_shr(slot.shift) == slot.symbol;
        select(equal & (slot.code.len() <= left), slot.code, short)
    }
}

/// Returns the number of the slot for the first three bytes of a word. It is the function of the readers of Vortex, because
/// they insert the symbols into a table like this one to look a text up, and panic if two symbols have the same slot.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "a remainder")]
const fn hash(word: u64) -> usize {
    let prefix = word & 0xff_ffff;
    (prefix.wrapping_mul(2_971_215_073) ^ prefix >> 15) as usize % SLOTS
}

impl Longest for Finder {
    type Unit = u8;
    const UNITS: usize = 2;

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the first 8 bytes")]
    fn longest(&self, window: u128, left: usize) -> Found<u8> {
        let word = window as u64;
        let code = self.find(word, left);
        let units = [code.unit(), word.to_le_bytes()[0]];
        Found { units, count: 1usize.wrapping_add(code.escaped()), len: code.len() }
    }
}
