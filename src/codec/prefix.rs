//! Lengths of prefix codes of limited length, for encoding.

use crate::bytes::{len32, low8, low32};

/// Sets the lengths of the best codes of at most `longest` bits for symbols with these counts; 0 for symbols with a count of 0.
/// A single symbol gets one bit.
pub(super) fn lengths<const N: usize>(counts: &[u32; N], longest: u32, lengths: &mut [u8; N]) {
    // Counts above their symbols, in ascending order.
    let (mut sorted, mut n) = ([0u64; N], 0usize);
    for (symbol, count) in (0u64..).zip(counts).filter(|(_, count)| **count > 0) {
        if let Some(slot) = sorted.get_mut(n) {
            *slot = u64::from(*count) << SYMBOL_BITS | symbol;
            n = n.wrapping_add(1);
        }
    }
    let sorted = sorted.get_mut(..n).unwrap_or_default();
    sort(sorted);
    let mut work = [0u32; N];
    let work = work.get_mut(..n).unwrap_or_default();
    work.iter_mut().zip(&*sorted).for_each(|(to, from)| *to = low32(*from >> SYMBOL_BITS));
    depths(work);
    if n > 1 {
        limit(work, longest);
    }
    lengths.fill(0);
    for (key, len) in sorted.iter().zip(&*work) {
        if let Some(to) = lengths.get_mut((*key & ((1 << SYMBOL_BITS) - 1)) as usize) {
            *to = low8(*len as usize);
        }
    }
}

/// Number of bits of a symbol in a key that is sorted.
const SYMBOL_BITS: u32 = 9;

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
fn limit(lengths: &mut [u32], longest: u32) {
    // Space that all codes take, in units of the longest.
    let unit = |len: u32| 1i32 << (longest.wrapping_sub(len) & 31);
    let mut over = unit(0).wrapping_neg();
    for len in &mut *lengths {
        *len = (*len).min(longest);
        over = over.wrapping_add(unit(*len));
    }
    // The longest codes that can be longer: they gain least space, and belong to the rarest symbols.
    while over > 0 {
        let Some(len) = lengths.iter_mut().find(|len| **len < longest) else { return };
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
