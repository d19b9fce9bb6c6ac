//! Huffman codes of literals, for encoding (RFC 8878, section 4.2).

use super::fse::{Norm, Table, pairs};
use crate::bytes::{FAST, len32, low8, low32};
use crate::codec::bit_writer::Codewords;
use crate::codec::greedy::Put;
use crate::codec::prefix;
use crate::codec::zstd::fse::Codes;
use crate::codec::zstd::huffman::{LONGEST, SYMBOLS};

/// A code: the length of each symbol's code in bits, 0 for symbols without one, and the code in the highest bits.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(super) struct Code([u64; SYMBOLS]);

/// Lengths of the codes of all symbols.
type Lengths = [u8; SYMBOLS];

impl Code {
    /// Returns a code without symbols.
    pub(super) const fn new() -> Self {
        Code([0; SYMBOLS])
    }

    /// Returns the best code for symbols with these counts, of which at least two are not 0.
    pub(super) fn of(counts: &[u32; SYMBOLS]) -> Self {
        let lengths = lengths(counts);
        // The first code of each length: shorter codes are greater.
        let mut first = [0u32; LONGEST as usize + 2];
        for len in &lengths {
            if let Some(count) = first.get_mut(usize::from(*len)).filter(|_| *len > 0) {
                *count = count.wrapping_add(1);
            }
        }
        let mut next = 0u32;
        for slot in first.iter_mut().skip(1).rev() {
            let count = core::mem::replace(slot, next);
            next = next.wrapping_add(count) >> 1;
        }
        let mut code = Code::new();
        for (to, len) in code.0.iter_mut().zip(&lengths) {
            if let Some(next) = first.get_mut(usize::from(*len)).filter(|_| *len > 0) {
                *to = u64::from(*next) << (64u32.wrapping_sub((*len).into()) & 63) | u64::from(*len);
                *next = next.wrapping_add(1);
            }
        }
        code
    }

    /// Returns the length in bits of symbols with these counts; `None` if one of them has no code.
    pub(super) fn cost(&self, counts: &[u32; SYMBOLS]) -> Option<u64> {
        let mut sum = 0u64;
        for (entry, count) in self.0.iter().zip(counts).filter(|(_, count)| **count > 0) {
            let len = Some(*entry & 0xff).filter(|len| *len > 0)?;
            sum = sum.wrapping_add(u64::from(*count).wrapping_mul(len));
        }
        Some(sum)
    }

    /// Writes the description of the code. `None` if it does not fit, or has no form.
    pub(super) fn describe(&self, table: &mut Table, out: &mut Put<'_>) -> Option<()> {
        let longest = self.longest();
        let mut weights = [0u8; SYMBOLS];
        let mut count = 0;
        for ((i, to), entry) in weights.iter_mut().enumerate().zip(&self.0) {
            let len = low32(entry & 0xff);
            if len > 0 {
                *to = low8(longest.wrapping_add(1).wrapping_sub(len) as usize);
                count = i;
            }
        }
        // The last weight follows from the others.
        let weights = weights.get(..count)?;
        let start = out.at;
        let most = if count <= 128 { count.div_ceil(2) } else { 127 };
        if squeezed(weights, table, out).is_some() && out.at.wrapping_sub(start) <= most {
            return Some(());
        }
        out.at = start;
        if count > 128 {
            return None;
        }
        out.byte(low8(count.wrapping_add(127)))?;
        for pair in weights.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            out.byte(pair.first().copied().unwrap_or(0) << 4 | low)?;
        }
        Some(())
    }

    /// Returns the length of the longest code.
    fn longest(&self) -> u32 {
        low32(self.0.iter().fold(0, |most, entry| (entry & 0xff).max(most)))
    }

    /// Writes the codes of all symbols as one stream.
    pub(super) fn stream(&self, symbols: &[u8], out: &mut Put<'_>) -> Option<()> {
        match self.longest() {
            0..=7 if FAST => self.steps::<8, 7>(symbols, out),
            8..=9 if FAST => self.steps::<6, 9>(symbols, out),
            _ => self.steps::<5, LONGEST>(symbols, out),
        }
    }

    /// Writes `STEP` codes of at most `MOST` bits between two flushes.
    fn steps<const STEP: usize, const MOST: u32>(&self, symbols: &[u8], out: &mut Put<'_>) -> Option<()> {
        const { assert!(len32(STEP) * MOST <= 56 && STEP > 0) }
        let mut codes = Codewords::new(out);
        let entry = |symbol: &u8| self.0.get(usize::from(*symbol)).copied().unwrap_or(0);
        let mut steps = symbols.rchunks_exact(STEP);
        for step in steps.by_ref() {
            let Some([last, others @ ..]) = step.first_chunk::<STEP>().map(<[u8; STEP]>::as_slice) else { break };
            let (odd, pairs) = others.as_rchunks::<2>();
            for [second, first] in pairs.iter().rev() {
                codes.add_two(entry(first), entry(second));
            }
            for symbol in odd {
                codes.add(entry(symbol));
            }
            codes.add_last(entry(last));
            codes.flush()?;
        }
        for symbol in steps.remainder().iter().rev() {
            codes.add_last(entry(symbol));
        }
        codes.flush()?;
        codes.bits().mark()
    }
}

/// Writes weights by a finite state entropy code. `None` if they do not fit or have no such code.
fn squeezed(weights: &[u8], table: &mut Table, out: &mut Put<'_>) -> Option<()> {
    let mut counts = [0u32; LONGEST as usize + 2];
    for weight in weights {
        let count = counts.get_mut(usize::from(*weight))?;
        *count = count.wrapping_add(1);
    }
    if counts.iter().filter(|count| **count > 0).count() < 2 {
        return None;
    }
    let norm = Norm::of(&counts, Codes::Weights.most_log());
    let head = out.at;
    out.byte(0)?;
    let start = out.at;
    norm.describe(out)?;
    table.build(&norm);
    pairs(table, weights, out)?;
    let len = u8::try_from(out.at.wrapping_sub(start)).ok().filter(|len| *len < 128)?;
    out.set(head, len)
}

/// Returns the lengths of the codes of symbols with these counts.
fn lengths(counts: &[u32; SYMBOLS]) -> Lengths {
    let mut lengths = [0; SYMBOLS];
    prefix::lengths(counts, LONGEST, &mut lengths);
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn codes_are_complete_and_short() {
        for n in 2..=SYMBOLS {
            for steepness in [1u32, 2, 3, 5] {
                let mut counts = [0; SYMBOLS];
                // From equal counts to Fibonacci numbers, whose best code is the longest.
                let (mut a, mut b) = (1u32, 1u32);
                for (i, count) in counts.iter_mut().take(n).enumerate() {
                    *count = match steepness {
                        1 => 7,
                        2 => 1 + (i as u32 * 37) % 11,
                        3 => a,
                        _ => 1 << (i % 12),
                    };
                    if i < 30 {
                        (a, b) = (b, a + b);
                    }
                }
                let lengths = lengths(&counts);
                let space: u32 =
                    lengths.iter().filter(|len| **len > 0).map(|len| 1 << (LONGEST - u32::from(*len))).sum();
                assert_eq!(space, 1 << LONGEST, "{n} symbols, {steepness}");
                let mut pairs: Vec<_> = counts.iter().zip(lengths).filter(|(count, _)| **count > 0).collect();
                assert_eq!(pairs.len(), n);
                pairs.sort();
                assert!(pairs.windows(2).all(|w| w[0].0 == w[1].0 || w[0].1 >= w[1].1), "{n}, {steepness}: {pairs:?}");
            }
        }
    }

    #[test]
    fn the_best_code_of_a_few() {
        let mut counts = [0; SYMBOLS];
        counts[..5].copy_from_slice(&[5, 1, 1, 2, 9]);
        assert_eq!(lengths(&counts)[..5], [2, 4, 4, 3, 1]);
    }
}
