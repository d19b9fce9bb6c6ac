//! Sorts the rotations of a block: by their first eight bytes, then by doubling the known prefix.

use alloc::vec;
use alloc::vec::Vec;

/// Returns the rotations of `block` in sorted order, each by its start.
///
/// Rotations with an equal known prefix are sorted by the ranks of the rotations that begin after that
/// prefix, so each pass doubles its length. Equal rotations stay in any order, which makes no difference to
/// the column of their last bytes.
pub(super) fn rotations(block: &[u8]) -> Vec<u32> {
    let len = block.len();
    // The block, followed by its start, as far as a key reaches.
    let around: Vec<u8> = block.iter().chain(block.iter().cycle().take(8)).copied().collect();
    let mut keyed: Vec<(u64, u32)> = around
        .windows(8)
        .take(len)
        .zip(0u32..)
        .map(|(key, at)| (key.iter().fold(0, |n, b| n << 8 | u64::from(*b)), at))
        .collect();
    keyed.sort_unstable();
    let mut order: Vec<u32> = keyed.iter().map(|(_, at)| *at).collect();
    // The rank of a rotation is the start of the group of those with an equal prefix.
    let mut ranks = vec![0; len];
    let mut groups = Vec::new();
    rank(&keyed, 0, &mut ranks, &mut groups);
    drop(keyed);

    let (mut known, mut ties, mut pairs) = (8usize, Vec::new(), Vec::new());
    while known < len && !groups.is_empty() {
        core::mem::swap(&mut groups, &mut ties);
        groups.clear();
        for (first, end) in &ties {
            let Some(group) = order.get_mut(*first..*end) else { continue };
            pairs.clear();
            pairs.extend(group.iter().map(|at| {
                let behind = (*at as usize).wrapping_add(known);
                let behind = if behind >= len { behind.wrapping_sub(len) } else { behind };
                (u64::from(ranks.get(behind).copied().unwrap_or_default()), *at)
            }));
            pairs.sort_unstable();
            for (to, (_, at)) in group.iter_mut().zip(&pairs) {
                *to = *at;
            }
            rank(&pairs, *first, &mut ranks, &mut groups);
        }
        known = known.saturating_mul(2);
    }
    order
}

/// Ranks rotations that are sorted by their keys; the first has the rank `first`. Adds the groups with equal
/// keys to `groups`.
#[allow(clippy::cast_possible_truncation, reason = "a block has at most 900,000 bytes")]
fn rank(sorted: &[(u64, u32)], first: usize, ranks: &mut [u32], groups: &mut Vec<(usize, usize)>) {
    let mut begin = first;
    for group in sorted.chunk_by(|a, b| a.0 == b.0) {
        let end = begin.wrapping_add(group.len());
        for (_, at) in group {
            if let Some(rank) = ranks.get_mut(*at as usize) {
                *rank = begin as u32;
            }
        }
        if group.len() > 1 {
            groups.push((begin, end));
        }
        begin = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests as check;

    #[test]
    fn agrees_with_the_definition() {
        let mut samples = check::samples();
        samples.retain(|sample| (1..400).contains(&sample.len()));
        for period in 1..20 {
            samples.push(check::text(period).repeat(12));
            samples.push([&check::text(period).repeat(12)[..], b"x"].concat());
        }
        for block in samples {
            let rotation = |at: u32| [&block[at as usize..], &block[..at as usize]].concat();
            let mut naive: Vec<u32> = (0..block.len() as u32).collect();
            naive.sort_by_key(|at| rotation(*at));
            let order = rotations(&block);
            assert!(order.iter().map(|at| rotation(*at)).eq(naive.iter().map(|at| rotation(*at))));
            let mut all = order.clone();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..block.len() as u32));
        }
    }
}
