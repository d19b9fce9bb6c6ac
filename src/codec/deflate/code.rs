//! Canonical prefix codes, decoded by a table if they are short, else bit by bit.

// See `bits` for the effect of the inline attributes.

use super::bits::{Bits, Ready};
use super::{DISTANCE_BITS, DISTANCES, LITERAL_BITS, LITERALS};
use crate::bytes::{Scratch, low8};
use crate::error::{Error, Kind, Result, What};

/// The meaning of the symbols of a code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinds {
    Literals,
    Distances,
    /// Lengths of codes. Only this code must be complete.
    Lengths,
}

/// Maximum length of a code in bits.
pub(super) const LONGEST: usize = 15;

/// A code in scratch memory.
pub(super) struct Code<'w> {
    kinds: Kinds,
    /// An entry for each value of the next bits; empty on small targets.
    table: &'w mut [u32],
    /// The symbols in the order of their codes.
    symbols: &'w mut [u16],
    /// Number of codes of each length.
    counts: [u16; LONGEST + 1],
}

impl<'w> Code<'w> {
    /// Creates an empty code in memory of `scratch`.
    #[inline(never)]
    pub(super) fn lend<const FAST: bool>(kinds: Kinds, scratch: &mut Scratch<'w>) -> Result<Self> {
        let (bits, symbols) = match kinds {
            Kinds::Distances => (DISTANCE_BITS, DISTANCES),
            _ => (LITERAL_BITS, LITERALS),
        };
        let table = if FAST { scratch.take(1 << bits)? } else { &mut [] };
        Ok(Code { kinds, table, symbols: scratch.take(symbols)?, counts: [0; LONGEST + 1] })
    }

    /// Builds the code from the lengths of its symbols. `at` is the offset of the lengths in the stream.
    pub(super) fn build<const FAST: bool>(&mut self, lengths: &[u8], at: u64) -> Result<()> {
        self.build_of(self.kinds, lengths, at)?;
        if FAST {
            self.fill_table(lengths);
        }
        Ok(())
    }

    /// Like [`build`](Self::build), for symbols of another kind in the same memory, without the table.
    pub(super) fn build_of(&mut self, kinds: Kinds, lengths: &[u8], at: u64) -> Result<()> {
        self.counts = [0; LONGEST + 1];
        for len in lengths {
            if let Some(count) = self.counts.get_mut(usize::from(*len)) {
                *count = count.wrapping_add(1);
            }
        }
        let (mut left, mut offsets, mut total) = (1i32, [0u16; LONGEST + 1], 0u16);
        let mut used = 0;
        // Length 0 means that the symbol has no code.
        let ([_, counts @ ..], [_, firsts @ ..]) = (&self.counts, &mut offsets);
        for (count, offset) in counts.iter().zip(firsts) {
            left = left.wrapping_shl(1).wrapping_sub((*count).into());
            if left < 0 {
                return Err(Error::new(Kind::Invalid, What::DEFLATE_CODE, at));
            }
            *offset = total;
            total = total.wrapping_add(*count);
            used |= *count;
        }
        // As in zlib, an incomplete code is valid if it has no symbols, or a single one of one bit.
        let single = kinds != Kinds::Lengths && total == 1 && self.counts[1] == 1;
        if left > 0 && used != 0 && !single {
            return Err(Error::needing(Kind::Invalid, What::DEFLATE_CODE, at, u64::from(left.cast_unsigned())));
        }
        for (symbol, len) in (0u16..).zip(lengths) {
            if *len == 0 {
                continue;
            }
            if let Some(offset) = offsets.get_mut(usize::from(*len)) {
                if let Some(to) = self.symbols.get_mut(usize::from(*offset)) {
                    *to = symbol;
                }
                *offset = offset.wrapping_add(1);
            }
        }
        Ok(())
    }

    fn fill_table(&mut self, lengths: &[u8]) {
        let width = self.table.len().trailing_zeros();
        if self.table.is_empty() {
            return;
        }
        self.table.fill(0);
        // The first code of each length.
        let (mut next, mut code) = ([0u32; LONGEST + 1], 0u32);
        for (next, count) in next.iter_mut().zip(&self.counts).skip(1) {
            *next = code;
            code = code.wrapping_add((*count).into()) << 1;
        }
        for (symbol, len) in (0u16..).zip(lengths) {
            let Some(next) = next.get_mut(usize::from(*len)).filter(|_| *len != 0) else { continue };
            let code = next.reverse_bits() >> (32u32.wrapping_sub((*len).into()) & 31);
            *next = next.wrapping_add(1);
            if u32::from(*len) > width {
                continue;
            }
            let entry = entry(self.kinds, symbol, *len);
            for to in self.table.iter_mut().skip(code as usize).step_by(1 << (len & 15)) {
                *to = entry;
            }
        }
    }

    /// Returns the table of `N` entries, or `None` if the code has no table.
    #[inline(always)]
    pub(super) fn table<const N: usize>(&self) -> Option<&[u32; N]> {
        self.table.first_chunk()
    }

    /// Reads the next symbol, bit by bit.
    pub(super) fn symbol(&self, bits: &mut Bits<'_>, what: What) -> Result<u16> {
        let at = bits.at();
        let (mut code, mut first, mut index) = (0u32, 0u32, 0u32);
        let [_, counts @ ..] = &self.counts;
        for count in counts {
            let count = u32::from(*count);
            code |= bits.take(1, what);
            let place = code.wrapping_sub(first);
            if place < count {
                let symbol = self.symbols.get(index.wrapping_add(place) as usize);
                return Ok(symbol.copied().unwrap_or_default());
            }
            index = index.wrapping_add(count);
            first = first.wrapping_add(count) << 1;
            code <<= 1;
        }
        Err(Error::needing(Kind::Invalid, what, at, code.into()))
    }
}

/// A table entry: the number of bits of the code (0: not in the table) and of the extra bits after it, a
/// marker for literals and one for matches, and the literal or the minimum of the length or distance.
#[derive(Clone, Copy)]
pub(super) struct Entry(u32);

const LITERAL: u32 = 1 << 8;
const MATCH: u32 = 1 << 9;

fn entry(kinds: Kinds, symbol: u16, bits: u8) -> u32 {
    let base = match kinds {
        Kinds::Literals if symbol < super::END => return u32::from(symbol) << 16 | LITERAL | u32::from(bits),
        Kinds::Literals => length(symbol),
        Kinds::Distances => distance(symbol),
        Kinds::Lengths => None,
    };
    base.map_or(0, |(base, extra)| u32::from(base) << 16 | MATCH | extra << 4 | u32::from(bits))
}

impl Entry {
    /// Returns the entry for the next bits.
    #[inline(always)]
    pub(super) fn look<const N: usize>(table: &[u32; N], bits: &Ready) -> Self {
        Entry(table.get(bits.low(31) as usize & N.wrapping_sub(1)).copied().unwrap_or(0))
    }

    #[inline(always)]
    pub(super) fn literal(self) -> Option<u8> {
        (self.0 & LITERAL != 0).then_some(low8((self.0 >> 16) as usize))
    }

    #[inline(always)]
    pub(super) const fn is_match(self) -> bool {
        self.0 & MATCH != 0
    }

    #[inline(always)]
    pub(super) const fn bits(self) -> u32 {
        self.0 & 15
    }

    /// Reads the code and the extra bits after it. Returns the length or distance.
    #[inline(always)]
    pub(super) const fn take(self, bits: &mut Ready) -> usize {
        let extra = self.0 >> 4 & 15;
        bits.skip(self.bits());
        let number = (self.0 >> 16).wrapping_add(bits.low(extra));
        bits.skip(extra);
        number as usize
    }
}

/// Returns the minimum length of a symbol, and its number of extra bits (RFC 1951, section 3.2.5).
pub(super) const fn length(symbol: u16) -> Option<(u16, u32)> {
    match symbol {
        257..=264 => Some((symbol.wrapping_sub(254), 0)),
        265..=284 => {
            let n = symbol.wrapping_sub(257);
            let extra = (n >> 2).wrapping_sub(1) as u32;
            Some(((((n & 3) | 4) << (extra & 15)).wrapping_add(3), extra))
        }
        285 => Some((258, 0)),
        _ => None,
    }
}

/// Returns the minimum distance of a symbol, and its number of extra bits.
pub(super) const fn distance(symbol: u16) -> Option<(u16, u32)> {
    match symbol {
        0..=3 => Some((symbol.wrapping_add(1), 0)),
        4..=29 => {
            let extra = (symbol >> 1).wrapping_sub(1) as u32;
            Some(((((symbol & 1) | 2) << (extra & 15)).wrapping_add(1), extra))
        }
        _ => None,
    }
}

const _: () = assert!(LITERALS == 288 && DISTANCES == 32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_distances_of_the_rfc() {
        let lengths =
            [(257, 3, 0), (264, 10, 0), (265, 11, 1), (269, 19, 2), (280, 115, 4), (284, 227, 5), (285, 258, 0)];
        for (symbol, base, extra) in lengths {
            assert_eq!(length(symbol), Some((base, extra)), "{symbol}");
        }
        let distances = [(0, 1, 0), (3, 4, 0), (4, 5, 1), (5, 7, 1), (17, 385, 7), (28, 16_385, 13), (29, 24_577, 13)];
        for (symbol, base, extra) in distances {
            assert_eq!(distance(symbol), Some((base, extra)), "{symbol}");
        }
        assert_eq!((length(256), length(286), length(287)), (None, None, None));
        assert_eq!((distance(30), distance(31)), (None, None));
    }
}
