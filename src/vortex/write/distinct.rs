//! A table that gives each distinct value a code, in the order of their first occurrence.

use alloc::vec;
use alloc::vec::Vec;

/// The codes of values, by hash. The values are the caller's.
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
    /// code. `None` if there are too many values.
    pub fn code(&mut self, hash: u64, is_same: impl Fn(u32) -> bool) -> Option<u32> {
        if (self.len as usize).saturating_mul(2) >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = place(hash) & mask;
        loop {
            match self.slots.get(at)? {
                (_, 0) => break,
                (known, code) if *known == hash && is_same(code.wrapping_sub(1)) => return Some(code.wrapping_sub(1)),
                _ => at = at.wrapping_add(1) & mask,
            }
        }
        if self.len >= self.most {
            return None;
        }
        let code = self.len;
        self.len = code.wrapping_add(1);
        *self.slots.get_mut(at)? = (hash, self.len);
        Some(code)
    }

    fn grow(&mut self) {
        let len = self.slots.len().saturating_mul(2);
        let mask = len.wrapping_sub(1);
        let old = core::mem::replace(&mut self.slots, vec![(0, 0); len]);
        for (hash, code) in old.into_iter().filter(|(_, code)| *code > 0) {
            let mut at = place(hash) & mask;
            while self.slots.get(at).is_some_and(|(_, code)| *code > 0) {
                at = at.wrapping_add(1) & mask;
            }
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = (hash, code);
            }
        }
    }
}

/// Returns the upper half of a hash, which is mixed best.
const fn place(hash: u64) -> usize {
    (hash >> 32) as usize
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
