//! A table that gives each distinct value a code, in the order of their first occurrence.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::sample;
use crate::bytes::saturated;
use crate::hash::xxh64;

/// Maximum number of slots that are looked at for a hash. Hashes that are spread need two or three.
const PROBES: usize = 64;

/// The codes of values, by hash. The values are the caller's. The hash must be mixed best in its highest bits, as a product
/// is.
#[derive(Debug)]
pub(in crate::vortex) struct Distinct {
    /// The hash and the code of a value, and 1 added to the code; 0 marks a free slot.
    slots: Vec<(u64, u32)>,
    len: u32,
    most: u32,
}

impl Distinct {
    /// A table of at most `most` values.
    pub fn new(most: usize) -> Self {
        Distinct { slots: vec![(0, 0); 64], len: 0, most: u32::try_from(most).unwrap_or(u32::MAX >> 1) }
    }

    /// Returns the code of a value with this hash, for which `is_same` is true of its code. A new value gets the next
    /// code, and so does a known one if the hashes of very many values collide: then the work stays bounded, and a value
    /// has two codes. `None` if there are too many values.
    pub fn code(&mut self, hash: u64, is_same: impl Fn(u32) -> bool) -> Option<u32> {
        if (self.len as usize).saturating_mul(2) >= self.slots.len() {
            self.grow();
        }
        let mut free = None;
        for at in places(hash, self.slots.len()) {
            match self.slots.get(at)? {
                (_, 0) => {
                    free = Some(at);
                    break;
                }
                (known, code) if *known == hash && is_same(code.wrapping_sub(1)) => return Some(code.wrapping_sub(1)),
                _ => {}
            }
        }
        if self.len >= self.most {
            return None;
        }
        let code = self.len;
        self.len = code.wrapping_add(1);
        if let Some(slot) = free.and_then(|at| self.slots.get_mut(at)) {
            *slot = (hash, self.len);
        }
        Some(code)
    }

    fn grow(&mut self) {
        let len = self.slots.len().saturating_mul(2);
        let old = core::mem::replace(&mut self.slots, vec![(0, 0); len]);
        for (hash, code) in old.into_iter().filter(|(_, code)| *code > 0) {
            let free = places(hash, len).find(|at| self.slots.get(*at).is_some_and(|(_, code)| *code == 0));
            if let Some(slot) = free.and_then(|at| self.slots.get_mut(at)) {
                *slot = (hash, code);
            }
        }
    }
}

/// Returns the slots for a hash in a table of `len` slots, a power of two from 2 on: the first by the highest bits.
fn places(hash: u64, len: usize) -> impl Iterator<Item = usize> {
    let mask = len.wrapping_sub(1);
    let first = saturated(hash >> 64u32.saturating_sub(len.trailing_zeros()).min(63));
    (0..PROBES).map(move |i| first.wrapping_add(i) & mask)
}

/// Odd multiplier: the highest bits of the product depend on all bits of a number.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns a hash of the bits of a number. No two numbers have the same hash, as the multiplier is odd.
pub(in crate::vortex) const fn number_hash(bits: u64) -> u64 {
    bits.wrapping_mul(ODD)
}

/// Returns a hash of a text.
#[allow(clippy::cast_possible_truncation, reason = "halves")]
pub(in crate::vortex) fn text_hash(text: &[u8]) -> u64 {
    // Two words have all bytes of a short text: a product is faster than a general hash.
    let (low, high) = match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) if text.len() <= 16 => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        (Some(_), _) => return xxh64(0, text),
        (None, _) => (text.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0),
    };
    let product = u128::from(low ^ (text.len() as u64) << 56).wrapping_mul(u128::from(high ^ ODD));
    (product as u64 ^ (product >> 64) as u64).wrapping_mul(ODD)
}

/// Returns whether two texts are equal.
pub(in crate::vortex) fn is_same_text(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    // Of a short text, two words are compared faster than a call of the general comparison takes.
    match (a.first_chunk::<8>(), a.last_chunk::<8>(), b.first_chunk::<8>(), b.last_chunk::<8>()) {
        (Some(first), Some(last), Some(start), Some(end)) if a.len() <= 16 => first == start && last == end,
        _ => a == b,
    }
}

/// The codes of rows, and the row that each code stands for.
pub(in crate::vortex) struct Codes {
    /// A missing row has the code after the last one.
    pub codes: Vec<u64>,
    /// The first row with each code.
    pub first: Vec<usize>,
    /// Whether a row is missing.
    pub nulls: bool,
}

/// Returns codes of `len` rows, of which `is_valid` have a value, or `None` if more than `most` are distinct.
pub(in crate::vortex) fn codes(
    len: usize,
    most: usize,
    is_valid: impl Fn(usize) -> bool,
    hash: impl Fn(usize) -> u64,
    are_same: impl Fn(usize, usize) -> bool,
) -> Option<Codes> {
    if most <= len / 2 && sample::is_distinct(len, |rows| distinct(rows, (&is_valid, &hash))) {
        return None;
    }
    let mut known = Distinct::new(most);
    let mut all = Codes { codes: Vec::with_capacity(len), first: Vec::new(), nulls: false };
    for row in 0..len {
        if !is_valid(row) {
            all.codes.push(u64::MAX);
            all.nulls = true;
            continue;
        }
        let first = &all.first;
        let code = known.code(hash(row), |code| first.get(code as usize).is_some_and(|other| are_same(row, *other)))?;
        if code as usize == all.first.len() {
            all.first.push(row);
        }
        all.codes.push(code.into());
    }
    let null = all.first.len() as u64;
    all.codes.iter_mut().filter(|code| **code == u64::MAX).for_each(|code| *code = null);
    Some(all)
}

/// Returns the number of distinct values in some rows, by their hashes; missing rows count as one value.
fn distinct(rows: &[Range<usize>], (is_valid, hash): (impl Fn(usize) -> bool, impl Fn(usize) -> u64)) -> usize {
    let rows = rows.iter().flat_map(Range::clone);
    let mut hashes: Vec<u64> = rows.map(|row| if is_valid(row) { hash(row) } else { 0 }).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes of hashes, each of which is its own value, and the slots that were looked at for each.
    fn probes(hashes: &[u64]) -> (Codes, f64) {
        let found = codes(hashes.len(), hashes.len(), |_| true, |i| hashes[i], |a, b| hashes[a] == hashes[b]).unwrap();
        let mut table = Distinct::new(hashes.len());
        let mut count = 0u32;
        for hash in hashes {
            let slots = places(*hash, table.slots.len().max((table.len as usize + 1).next_power_of_two() * 2));
            count += slots.take_while(|at| table.slots.get(*at).is_some_and(|(_, code)| *code > 0)).count() as u32 + 1;
            table.code(*hash, |code| found.first.get(code as usize).is_some_and(|row| hashes[*row] == *hash));
        }
        (found, f64::from(count) / hashes.len() as f64)
    }

    #[test]
    fn strides_of_every_kind_need_few_probes() {
        const LEN: u64 = 20_000;
        let floats: [fn(u64) -> u64; 3] =
            [|i| (i as f64).to_bits(), |i| (i as f64 / 100.0).to_bits(), |i| u64::from((i as f32).to_bits())];
        let strides = (0..48).map(|shift| (0..LEN).map(|i| i << shift).collect::<Vec<u64>>());
        let odd = [3, 1000, 4096 * 3, 0x0101_0101, 1_000_000_007].map(|step| (0..LEN).map(|i| i * step).collect());
        let floats = floats.map(|of| (0..LEN).map(of).collect());
        for (k, values) in strides.chain(odd).chain(floats).enumerate() {
            let hashes: Vec<u64> = values.iter().map(|value| number_hash(*value)).collect();
            let (found, each) = probes(&hashes);
            assert!(each < 5.0, "pattern {k}: {each}");
            assert!(found.codes.iter().copied().eq(0..LEN), "pattern {k}");
        }
    }

    #[test]
    fn hashes_that_collide_take_bounded_work() {
        // Twice the same values, all with the same highest bits.
        let hashes: Vec<u64> = (0..5000).chain(0..5000).collect();
        let (found, each) = probes(&hashes);
        assert!(each <= PROBES as f64 + 1.0, "{each}");
        // The codes name the values, though some have two.
        let decoded = found.codes.iter().map(|code| hashes[found.first[*code as usize]]);
        assert!(decoded.eq(hashes.iter().copied()));
        assert!((5000..10_000).contains(&found.first.len()), "{}", found.first.len());
    }
}
