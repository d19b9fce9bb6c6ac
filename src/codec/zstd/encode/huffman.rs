//! Huffman codes of literals, for encoding (RFC 8878, section 4.2).

use super::bits::Codewords;
use super::fse::{Norm, Table, pairs};
use crate::bytes::{FAST, len32, low8, low32};
use crate::codec::greedy::Put;
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
    // Counts above their symbols, in ascending order.
    let (mut sorted, mut n) = ([0u64; SYMBOLS], 0usize);
    for (symbol, count) in (0u64..).zip(counts).filter(|(_, count)| **count > 0) {
        if let Some(slot) = sorted.get_mut(n) {
            *slot = u64::from(*count) << 8 | symbol;
            n = n.wrapping_add(1);
        }
    }
    let sorted = sorted.get_mut(..n).unwrap_or_default();
    sort(sorted);
    let mut work = [0u32; SYMBOLS];
    let work = work.get_mut(..n).unwrap_or_default();
    work.iter_mut().zip(&*sorted).for_each(|(to, from)| *to = low32(*from >> 8));
    depths(work);
    limit(work);
    let mut lengths = [0; SYMBOLS];
    for (key, len) in sorted.iter().zip(&*work) {
        if let Some(to) = lengths.get_mut((*key & 0xff) as usize) {
            *to = low8(*len as usize);
        }
    }
    lengths
}

/// Sorts in ascending order.
fn sort(items: &mut [u64]) {
    // Shell's method: few items, and no code for many.
    for gap in [57usize, 23, 10, 4, 1] {
        for i in gap..items.len() {
            let mut at = i;
            while let Some(before) = at.checked_sub(gap) {
                match (items.get(before), items.get(at)) {
                    (Some(a), Some(b)) if a > b => items.swap(before, at),
                    _ => break,
                }
                at = before;
            }
        }
    }
}

/// Replaces ascending counts by the lengths of their codes, in place: first the parent of each inner node,
/// then its depth, then the depths of the leaves (Moffat and Katajainen, 1995).
fn depths(work: &mut [u32]) {
    let n = work.len();
    let at = |work: &[u32], i: usize| work.get(i).copied().unwrap_or(0);
    let put = |work: &mut [u32], i: usize, value: u32| {
        if let Some(slot) = work.get_mut(i) {
            *slot = value;
        }
    };
    if n < 2 {
        return work.fill(1);
    }
    let (mut leaf, mut root) = (0usize, 0usize);
    for next in 0..n.wrapping_sub(1) {
        let mut sum = 0u32;
        for _ in 0..2 {
            let inner = root < next && (leaf >= n || at(work, root) < at(work, leaf));
            if inner {
                sum = sum.wrapping_add(at(work, root));
                put(work, root, len32(next));
                root = root.wrapping_add(1);
            } else {
                sum = sum.wrapping_add(at(work, leaf));
                leaf = leaf.wrapping_add(1);
            }
        }
        put(work, next, sum);
    }
    let last = n.wrapping_sub(2);
    put(work, last, 0);
    for i in (0..last).rev() {
        let depth = at(work, at(work, i) as usize).wrapping_add(1);
        put(work, i, depth);
    }
    // The number of inner nodes of each depth tells how many leaves it has.
    let (mut free, mut depth, mut inner, mut to) = (1usize, 0u32, n.wrapping_sub(1), n);
    while free > 0 && to > 0 {
        let mut used = 0usize;
        while inner > 0 && at(work, inner.wrapping_sub(1)) == depth {
            used = used.wrapping_add(1);
            inner = inner.wrapping_sub(1);
        }
        while free > used && to > 0 {
            to = to.wrapping_sub(1);
            put(work, to, depth);
            free = free.wrapping_sub(1);
        }
        free = used.wrapping_mul(2);
        depth = depth.wrapping_add(1);
    }
}

/// Shortens codes to the longest that is allowed, and lengthens others for it. The lengths descend.
fn limit(lengths: &mut [u32]) {
    // Space that all codes take, in units of the longest.
    let unit = |len: u32| 1i32 << (LONGEST.wrapping_sub(len) & 31);
    let mut over = unit(0).wrapping_neg();
    for len in &mut *lengths {
        *len = (*len).min(LONGEST);
        over = over.wrapping_add(unit(*len));
    }
    // The longest codes that can be longer: they gain least space, and belong to the rarest symbols.
    while over > 0 {
        let Some(len) = lengths.iter_mut().find(|len| **len < LONGEST) else { return };
        *len = len.wrapping_add(1);
        over = over.wrapping_sub(unit(*len));
    }
    // The surplus goes to the most frequent symbols whose codes can be a bit shorter.
    while over < 0 {
        let fits = |len: &u32| over.wrapping_add(unit(*len)) <= 0;
        let Some(len) = lengths.iter_mut().rev().find(|len| fits(len)) else { return };
        *len = len.wrapping_sub(1);
        over = over.wrapping_add(unit(len.wrapping_add(1)));
    }
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
