//! The choice of symbols: five rounds over a sample, each of which encodes it with the symbols so far, and counts how
//! often each code occurs and which code follows it.

use alloc::vec;
use alloc::vec::Vec;

use super::encode::{Finder, MOST, Symbol};
use crate::encoding::texts::{Sample, Texts, mixed};

/// Bytes of the sample, and at most of one text.
const BUDGET: usize = 1 << 14;
const LONGEST: usize = 512;

/// How many of 128 texts are encoded in each round. The symbols of the first rounds are short, and few texts suffice
/// to find them.
const ROUNDS: [u64; 5] = [8, 38, 68, 98, 128];

/// The first round in which a symbol may grow by the first byte of the next one. In earlier rounds, with few texts, those
/// candidates displace better ones: texts then take up to 6 % more bytes.
const PAIRED: u64 = 68;

/// Numbers of codes: the symbols, then the escaped bytes.
const NUMBERS: usize = MOST + 256;

/// Returns the symbols for `texts` in the order of their codes.
pub(super) fn symbols(texts: &Texts<'_>) -> Vec<Symbol> {
    let sample = Sample::of(texts, BUDGET, LONGEST);
    let Some(sample) = sample.texts() else { return Vec::new() };
    let mut counts = Counts::new();
    let mut symbols = Vec::new();
    for part in ROUNDS {
        counts.count(&sample, &symbols, part);
        symbols = chosen(counts.gains(&symbols, part));
        counts.clear();
    }
    // Symbols of 1 byte come last.
    symbols.sort_unstable_by_key(|symbol| (symbol.len.wrapping_sub(2), *symbol));
    symbols
}

/// How often codes and pairs of codes occur.
struct Counts {
    one: [u16; NUMBERS],
    /// For each code the counts of those that follow.
    two: Vec<u16>,
    /// The places of `two` that are not zero.
    used: Vec<u32>,
}

impl Counts {
    fn new() -> Self {
        Counts { one: [0; NUMBERS], two: vec![0; NUMBERS << 9], used: Vec::with_capacity(BUDGET) }
    }

    fn clear(&mut self) {
        self.one = [0; NUMBERS];
        for at in self.used.drain(..) {
            if let Some(count) = self.two.get_mut(at as usize) {
                *count = 0;
            }
        }
    }

    /// Encodes `part` of 128 texts of the sample.
    fn count(&mut self, sample: &Texts<'_>, symbols: &[Symbol], part: u64) {
        let mut finder = Finder::new();
        for symbol in symbols {
            finder.insert(*symbol);
        }
        let last = part == 128;
        for i in 0..sample.len() {
            if mixed(i as u64) % 128 >= part {
                continue;
            }
            let mut rest = sample.get(i);
            let mut before = None;
            while let Some(byte) = rest.first() {
                let code = finder.find(word(rest), rest.len());
                let number = code.number(*byte);
                self.add_one(number);
                // The first byte of a symbol counts, too: it may be better to have both.
                let single = MOST.saturating_add(usize::from(*byte));
                if code.len() > 1 {
                    self.add_one(single);
                }
                if let Some(before) = before.replace(number)
                    && !last
                {
                    self.add_two(before, number);
                    if code.len() > 1 && part >= PAIRED {
                        self.add_two(before, single);
                    }
                }
                rest = rest.get(code.len()..).unwrap_or_default();
            }
        }
    }

    fn add_one(&mut self, number: usize) {
        if let Some(count) = self.one.get_mut(number) {
            *count = count.saturating_add(1);
        }
    }

    fn add_two(&mut self, before: usize, number: usize) {
        let at = before << 9 | number;
        if let Some(count) = self.two.get_mut(at) {
            if *count == 0 {
                self.used.push(u32::try_from(at).unwrap_or(u32::MAX));
            }
            *count = count.saturating_add(1);
        }
    }

    /// Returns all candidates with the number of bytes that they cover.
    fn gains(&self, symbols: &[Symbol], part: u64) -> Vec<(u32, Symbol)> {
        let symbol = |number: usize| match symbols.get(number) {
            Some(symbol) => *symbol,
            None => Symbol { bytes: number.saturating_sub(MOST) as u64 & 0xff, len: 1 },
        };
        // In the first rounds the counts are small, and rare candidates are chance.
        let least = u32::try_from(part.saturating_mul(5) >> 7).unwrap_or(5);
        let mut all = Vec::new();
        let mut add = |count: u16, symbol: Symbol, weight: u32| {
            let count = u32::from(count);
            if count >= least.max(1) {
                all.push((symbol, count.saturating_mul(u32::from(symbol.len)).saturating_mul(weight)));
            }
        };
        for (number, count) in self.one.iter().enumerate() {
            let symbol = symbol(number);
            // A byte without symbol takes two codes, and a rare byte may come.
            add(*count, symbol, if symbol.len == 1 { 8 } else { 1 });
        }
        for at in &self.used {
            let at = *at as usize;
            if let (Some(both), Some(count)) = (symbol(at >> 9).then(symbol(at & 511)), self.two.get(at)) {
                add(*count, both, 1);
            }
        }
        all.sort_unstable();
        let mut gains: Vec<(u32, Symbol)> = Vec::with_capacity(all.len());
        for (symbol, gain) in all {
            match gains.last_mut() {
                Some((sum, last)) if *last == symbol => *sum = sum.saturating_add(gain),
                _ => gains.push((gain, symbol)),
            }
        }
        gains
    }
}

/// Returns the candidates of most gain that have a place each.
fn chosen(mut gains: Vec<(u32, Symbol)>) -> Vec<Symbol> {
    gains.sort_unstable_by_key(|(gain, symbol)| core::cmp::Reverse((*gain, symbol.len, symbol.bytes)));
    let (mut finder, mut symbols) = (Finder::new(), Vec::with_capacity(MOST));
    for (_, symbol) in gains {
        if symbols.len() == MOST {
            break;
        }
        if finder.insert(symbol) {
            symbols.push(symbol);
        }
    }
    symbols
}

/// Returns the first bytes of a text, padded with zeros.
fn word(text: &[u8]) -> u64 {
    match text.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => text.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}
