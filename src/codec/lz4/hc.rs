//! The thorough encoder: hash chains, and the cheapest way through what they find.

use alloc::vec;
use alloc::vec::Vec;

use super::{Block, LAST_END, LAST_START, MIN, max_len};
use crate::codec::greedy::{Put, Wire as _, common};
use crate::codec::lz::no_room;
use crate::error::Result;

/// So many positions are planned at once; no match goes beyond them.
const PLANNED: usize = 1 << 16;
/// Distances fit two bytes.
const WINDOW: usize = 1 << 16;
const HASH_BITS: u32 = 16;
/// A match as long as this is not searched for a better one, nor are the positions inside it. That
/// bounds the work on long runs.
const ENOUGH: u32 = 32;
/// The shortest match, as plans count.
#[allow(clippy::cast_possible_truncation, reason = "it is 4")]
const SHORTEST: u32 = MIN as u32;
/// Shorter forms of a match are tried up to this length.
const FORMS: u32 = 24;

/// Encodes a block as small as it gets, with memory from the heap (some 1.5 MB).
///
/// `level` is 1 to 12 and doubles the search with each step. The result is an ordinary block.
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the block does not fit; `need`: what is enough.
///
/// ```
/// use pilaster::codec::lz4;
///
/// let text = b"once upon a time, upon a time, a time";
/// let mut block = [0; lz4::max_len(37)];
/// let len = lz4::encode_hc(text, &mut block, 9)?;
/// assert!(len < text.len());
/// let mut bytes = [0; 37];
/// assert_eq!(lz4::decode(&block[..len], &mut bytes)?, 37);
/// assert_eq!(bytes, *text);
/// # Ok::<(), pilaster::Error>(())
/// ```
pub fn encode_hc(src: &[u8], dst: &mut [u8], level: u8) -> Result<usize> {
    let mut wire = Block(Put::new(dst));
    match blocks(src, 1u32 << level.clamp(1, 12).wrapping_sub(1), &mut wire) {
        Some(()) => Ok(wire.0.at),
        None => Err(no_room(max_len(src.len()), 0)),
    }
}

fn blocks(src: &[u8], depth: u32, wire: &mut Block<'_>) -> Option<()> {
    let mut chains = Chains { heads: vec![0; 1 << HASH_BITS], back: vec![0; WINDOW] };
    let mut plan = Vec::new();
    let (mut first, mut literals) = (0usize, 0usize);
    while first < src.len() {
        let len = PLANNED.min(src.len().wrapping_sub(first));
        plan.clear();
        plan.resize(len.wrapping_add(1), Node::default());
        find(src, first, depth, &mut chains, &mut plan)?;
        choose(&mut plan)?;
        let mut at = 0usize;
        while let Some(node) = plan.get(at).filter(|_| at < len) {
            if node.len < SHORTEST {
                at = at.wrapping_add(1);
                continue;
            }
            let start = first.wrapping_add(at);
            wire.sequence(src, literals, start, node.distance as usize, node.len as usize)?;
            at = at.wrapping_add(node.len as usize);
            literals = first.wrapping_add(at);
        }
        first = first.wrapping_add(len);
    }
    wire.end(src, literals)
}

/// A position of the plan: first the longest match that begins here, then the chosen one (0: a
/// literal), what it costs from here to the end of the plan, and how many literals begin here.
#[derive(Clone, Copy, Default)]
struct Node {
    len: u32,
    distance: u32,
    cost: u32,
    run: u32,
}

/// Positions by hash. Heads are positions + 1, links are distances; 0 is none.
struct Chains {
    heads: Vec<u32>,
    back: Vec<u16>,
}

impl Chains {
    /// Puts the position in; gives back the distance of the one before it in its chain.
    fn insert(&mut self, src: &[u8], at: usize) -> Option<usize> {
        let word = u32::from_le_bytes(*src.get(at..)?.first_chunk()?);
        let head = self.heads.get_mut((word.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize)?;
        let now = u32::try_from(at).ok()?.wrapping_add(1);
        let distance = match core::mem::replace(head, now) {
            0 => 0,
            before => u16::try_from(now.wrapping_sub(before)).unwrap_or(0),
        };
        *self.back.get_mut(at & (WINDOW - 1))? = distance;
        Some(distance.into())
    }

    /// The longest match at `at`, which ends before `end`: length and distance.
    fn longest(&self, src: &[u8], at: usize, mut distance: usize, end: usize, depth: u32) -> (usize, usize) {
        let mut best = (MIN.wrapping_sub(1), 0);
        let mut total = distance;
        for _ in 0..depth {
            if distance == 0 || total >= WINDOW || total > at {
                break;
            }
            let from = at.wrapping_sub(total);
            // Only a candidate that agrees at the end of the best so far and behind it can be better.
            let end_of = |at: usize| src.get(at.wrapping_add(best.0).wrapping_sub(3)..)?.first_chunk::<4>();
            if end_of(from) == end_of(at) {
                let len = common(src, at, total, end);
                if len > best.0 {
                    best = (len, total);
                    if at.wrapping_add(len) >= end {
                        break;
                    }
                }
            }
            distance = self.back.get(from & (WINDOW - 1)).copied().unwrap_or(0).into();
            total = total.wrapping_add(distance);
        }
        best
    }
}

/// Fills in the longest match of every position.
fn find(src: &[u8], first: usize, depth: u32, chains: &mut Chains, plan: &mut [Node]) -> Option<()> {
    let len = plan.len().wrapping_sub(1);
    let starts = src.len().saturating_sub(LAST_START);
    let end = src.len().saturating_sub(LAST_END).min(first.wrapping_add(len));
    // What is left of the last match.
    let mut left = Node::default();
    for (node, at) in plan.iter_mut().zip(first..starts.min(first.wrapping_add(len))) {
        let before = chains.insert(src, at)?;
        left.len = left.len.saturating_sub(1);
        if left.len < ENOUGH {
            // Inside of a match, a better one is less likely the longer it is.
            let depth = depth >> (left.len >> 2).min(6);
            let (len, distance) = chains.longest(src, at, before, end, depth);
            let len = u32::try_from(len).ok()?;
            if distance != 0 && len > left.len {
                left = Node { len, distance: u32::try_from(distance).ok()?, ..left };
            }
        }
        if left.len >= SHORTEST {
            *node = left;
        }
    }
    Some(())
}

/// Turns matches found into the choice that costs the fewest bytes, from the end on.
fn choose(plan: &mut [Node]) -> Option<()> {
    let last = plan.len().wrapping_sub(1);
    for at in (0..last).rev() {
        let (head, tail) = plan.split_at_mut_checked(at.wrapping_add(1))?;
        let (node, next) = (head.last_mut()?, tail.first()?);
        let found = *node;
        let run = next.run.wrapping_add(1);
        // A run of literals takes a byte more at 15, and then at every 255.
        let more = u32::from(run >= 15 && run.wrapping_sub(15).is_multiple_of(255));
        *node = Node { len: 0, distance: 0, cost: next.cost.wrapping_add(1).wrapping_add(more), run };
        let mut consider = |len: u32| {
            let rest = tail.get((len as usize).wrapping_sub(1))?;
            let cost = rest.cost.wrapping_add(3).wrapping_add(length_bytes(len));
            if cost < node.cost {
                *node = Node { len, distance: found.distance, cost, run: 0 };
            }
            Some(())
        };
        if found.len >= SHORTEST {
            consider(found.len)?;
            for len in SHORTEST..found.len.min(FORMS) {
                consider(len)?;
            }
        }
    }
    Some(())
}

/// How many bytes the length of a match takes besides the token.
const fn length_bytes(len: u32) -> u32 {
    match len.checked_sub(SHORTEST.wrapping_add(15)) {
        Some(rest) => 1u32.wrapping_add(rest / 255),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode, encode};
    use super::*;
    use crate::codec::{Table, tests as check};

    #[test]
    fn round_trips_at_every_level() {
        for bytes in check::samples() {
            for level in [9, 0, 2, 255] {
                // The others differ in how far they search only.
                if level != 9 && bytes.len() > 5000 {
                    break;
                }
                let block = check::encoded(max_len(bytes.len()), |dst| encode_hc(&bytes, dst, level));
                check::decodes(decode, &block, &bytes);
                assert_eq!(lz4_flex::block::decompress(&block, bytes.len()).unwrap(), bytes, "the rival reads ours");
            }
        }
    }

    #[test]
    fn smaller_than_greedy() {
        let bytes = check::text(200_000);
        let greedy = check::encoded(max_len(bytes.len()), |dst| encode(&bytes, dst, &mut Table::<65_536>::new()));
        let hc = check::encoded(max_len(bytes.len()), |dst| encode_hc(&bytes, dst, 9));
        assert!(hc.len() * 10 < greedy.len() * 9, "{} of {}", hc.len(), greedy.len());
        check::every_room(&check::encoded(400, |dst| encode_hc(&bytes[..300], dst, 9)), max_len(300), |dst| {
            encode_hc(&bytes[..300], dst, 9)
        });
    }
}
