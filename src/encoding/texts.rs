//! Texts that an encoder reads: one slice of bytes and the place of each text.

use alloc::vec::Vec;

use crate::bytes::low32;

/// Maximum length of all texts together, so that twice as many codes still have offsets of 32 bits.
pub const LONGEST: usize = i32::MAX as usize;

/// Consecutive texts, borrowed. A missing text is an empty one.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    bytes: &'a [u8],
    /// Text `i` is from offset `i` to offset `i + 1`.
    offsets: &'a [u32],
}

impl<'a> Texts<'a> {
    /// Creates the texts in `bytes`, each from its offset to the next. `None` unless the offsets ascend (equal
    /// ones are empty texts), end within `bytes` and within the first [`LONGEST`] bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8], offsets: &'a [u32]) -> Option<Self> {
        let end = offsets.last().copied().unwrap_or(0) as usize;
        let ascend = offsets.iter().zip(offsets.get(1..)?).fold(true, |all, (from, to)| all & (from <= to));
        (ascend && end <= LONGEST).then_some(Texts { bytes: bytes.get(..end)?, offsets })
    }

    /// Returns the number of texts.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns whether there are no texts.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes of all texts.
    #[must_use]
    pub fn total(&self) -> usize {
        self.end(self.len()).saturating_sub(self.end(0))
    }

    /// Returns text `i`, empty if there is none.
    #[must_use]
    pub fn get(&self, i: usize) -> &'a [u8] {
        self.bytes.get(self.end(i)..self.end(i.saturating_add(1))).unwrap_or_default()
    }

    /// Returns the bytes that the offsets point into.
    pub(super) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns where the text before `i` ends, which is where text `i` starts.
    #[inline]
    pub(super) fn end(&self, i: usize) -> usize {
        self.offsets.get(i).map_or(self.bytes.len(), |at| *at as usize)
    }

    /// Returns the number of the first text that does not start before `at`.
    pub(super) fn from(&self, at: usize) -> usize {
        self.offsets.partition_point(|start| (*start as usize) < at).min(self.len())
    }
}

/// A sample of texts, copied.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
}

impl Sample {
    /// Copies texts until there are `budget` bytes, at most `longest` bytes of each. The texts are taken from all
    /// parts of the column, in an order without regularity that is the same in each run.
    pub fn of(texts: &Texts<'_>, budget: usize, longest: usize) -> Self {
        Self::in_order(texts, Order::new(texts.len()), budget, longest)
    }

    /// Copies other texts than [`of`](Self::of): the last ones in its order. If there are few, some are the same.
    #[cfg(feature = "vortex")]
    pub fn of_others(texts: &Texts<'_>, budget: usize, longest: usize) -> Self {
        Self::in_order(texts, Order::new(texts.len()).reversed(), budget, longest)
    }

    fn in_order(texts: &Texts<'_>, order: Order, budget: usize, longest: usize) -> Self {
        let mut sample = Sample { bytes: Vec::with_capacity(budget.min(texts.total())), offsets: Vec::new() };
        sample.offsets.push(0);
        for i in order {
            let text = texts.get(i);
            let room = budget.saturating_sub(sample.bytes.len());
            if room == 0 {
                break;
            }
            if text.is_empty() {
                continue;
            }
            // The part of a long text depends on the text's number.
            let from = text.len().saturating_sub(longest);
            let from = low32(mixed(i as u64)).checked_rem(low32(from as u64)).unwrap_or(0) as usize;
            let part = text.get(from..).unwrap_or_default();
            sample.bytes.extend_from_slice(part.get(..longest.min(room)).unwrap_or(part));
            sample.offsets.push(u32::try_from(sample.bytes.len()).unwrap_or(u32::MAX));
        }
        sample
    }

    /// Returns the texts of the sample.
    pub fn texts(&self) -> Option<Texts<'_>> {
        Texts::new(&self.bytes, &self.offsets)
    }
}

/// All numbers below a limit, each once: steps of a length that has no factor in common with the limit.
#[derive(Debug)]
struct Order {
    at: usize,
    step: usize,
    limit: usize,
    left: usize,
}

impl Order {
    fn new(limit: usize) -> Self {
        // About 0.618 of the limit: the numbers so far are spread evenly after any number of steps.
        let step = (limit as u64).wrapping_mul(0x9e37_79b9).wrapping_shr(32) | 1;
        let mut step = usize::try_from(step).unwrap_or(1);
        while common(step, limit) > 1 {
            step = step.saturating_add(2);
        }
        Order { at: 0, step: step.checked_rem(limit).unwrap_or(0), limit, left: limit }
    }

    /// Returns the order from its last number to its first.
    #[cfg(feature = "vortex")]
    fn reversed(self) -> Self {
        // The step of a single number is 0.
        let last = if self.step == 0 { 0 } else { self.limit.saturating_sub(self.step) };
        Order { at: last, step: last, ..self }
    }
}

impl Iterator for Order {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let at = self.at;
        self.at = at.saturating_add(self.step);
        if self.at >= self.limit {
            self.at = self.at.wrapping_sub(self.limit);
        }
        Some(at)
    }
}

/// Returns the greatest common divisor.
fn common(mut a: usize, mut b: usize) -> usize {
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}

/// Mixes the bits of a number.
pub(super) const fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 31)).wrapping_mul(0x7fb5_d329_728e_a185);
    (value ^ (value >> 27)).wrapping_mul(0x81da_def4_bc2d_d44d) >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn offsets_must_ascend_within_the_bytes() {
        assert!(Texts::new(b"abc", &[]).is_none() && Texts::new(b"abc", &[0, 2, 1]).is_none());
        assert!(
            Texts::new(b"abc", &[0, 4]).is_none() && Texts::new(b"abc", &[3]).is_some_and(|texts| texts.is_empty())
        );
        let texts = Texts::new(b"abcd", &[1, 1, 3]).unwrap();
        assert_eq!(
            (texts.len(), texts.total(), texts.get(0), texts.get(1), texts.get(2)),
            (2, 2, &b""[..], &b"bc"[..], &b""[..])
        );
        assert_eq!([0, 1, 2, 3, 4].map(|at| texts.from(at)), [0, 0, 2, 2, 2]);
    }

    #[test]
    fn every_number_comes_once() {
        for limit in (0..300).chain([1000, 4096, 65_535, 65_536]) {
            let mut seen = vec![false; limit];
            for i in Order::new(limit) {
                assert!(!core::mem::replace(&mut seen[i], true), "{i} of {limit}");
            }
            assert!(seen.iter().all(|seen| *seen), "{limit}");
        }
    }

    #[cfg(feature = "vortex")]
    #[test]
    fn the_same_numbers_from_the_last() {
        for limit in (0..300).chain([1000, 4096, 65_535, 65_536]) {
            let mut numbers: Vec<usize> = Order::new(limit).collect();
            numbers.reverse();
            assert!(Order::new(limit).reversed().eq(numbers), "{limit}");
        }
    }

    #[test]
    fn a_sample_has_its_budget() {
        let bytes: Vec<u8> = (0..10_000u32).map(|i| i as u8).collect();
        let offsets: Vec<u32> = (0..=100).map(|i| i * 100).collect();
        let texts = Texts::new(&bytes, &offsets).unwrap();
        for (budget, longest, count) in
            [(0, 9, 0), (250, 100, 3), (250, 50, 5), (20_000, 100, 100), (20_000, 1000, 100)]
        {
            let sample = Sample::of(&texts, budget, longest);
            let part = sample.texts().unwrap();
            assert_eq!(part.len(), count, "{budget} {longest}");
            assert_eq!(part.total(), budget.min(10_000));
            assert!((0..part.len()).all(|i| part.get(i).len() <= longest));
        }
    }
}
